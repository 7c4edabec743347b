"""Cost of reading, encoding, decoding and writing a frame, without the engine, beside copying the frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks.rows import Rows, markdown
from simpdm_frames import frames
from simpdm_frames.codecs import Choices, TableCodec, mark_all
from simpdm_frames.encoded import Completed, Encoded
from simpdm_frames.errors import Place
from simpdm_frames.imputer import Imputer
from simpdm_frames.notices import Notices

__all__ = ["make_columns", "render", "run"]

STAGES = ("read", "learn", "encode", "fill")
ROWS = Rows(
    "frames",
    keys=("library", "rows", "round"),
    values=(*(f"{stage}_s" for stage in STAGES), "total_s", "copy_s", "ratio"),
)


class NoEngine:
    """Answers at once, the same for every row: what is left is the cost of everything else."""

    def impute(self, encoded: Encoded, **_: object) -> Completed:
        chances = np.linspace(0, 1, encoded.layout.n_levels, dtype=np.float32)
        probabilities = np.broadcast_to(chances, (len(encoded), encoded.layout.n_levels))
        return Completed(encoded.layout, encoded.numbers, probabilities)


def make_columns(rows: int, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """12 floats, 4 integers and 4 strings of 50 levels; a tenth of the cells are holes, as None or NaN."""
    random = np.random.default_rng(seed)
    words = np.array([f"level {k}" for k in range(50)], dtype=object)
    columns: dict[str, np.ndarray[Any, Any]] = {f"f{k}": random.normal(size=rows) for k in range(12)}
    columns |= {f"i{k}": random.integers(0, 10_000, rows) for k in range(4)}
    columns |= {f"s{k}": words[random.integers(0, 50, rows)] for k in range(4)}
    return columns


def make_frame(library: str, rows: int) -> Any:
    """Put the columns into a frame; integers in a dtype that can hold holes."""
    random = np.random.default_rng(1)
    columns = {name: (values, random.random(rows) < 0.1) for name, values in make_columns(rows).items()}
    arrays = {name: pa.array(values, mask=holes) for name, (values, holes) in columns.items()}
    if library == "pyarrow":
        return pa.table(arrays)
    if library == "polars":
        return pl.DataFrame(arrays)
    data: dict[str, Any] = {}
    for name, (values, holes) in columns.items():
        if name[0] == "f":
            data[name] = np.where(holes, np.nan, values)
        else:
            dtype = "Int64" if name[0] == "i" else "str"
            data[name] = pd.Series(values, dtype=dtype).mask(holes)
    return pd.DataFrame(data)


COPIES: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda frame: frame.copy(deep=True),
    # Both share memory unless they have to join pieces.
    "polars": lambda frame: pl.concat([frame[: len(frame) // 2], frame[len(frame) // 2 :]], rechunk=True),
    "pyarrow": lambda frame: pa.concat_tables(
        [frame[: len(frame) // 2], frame[len(frame) // 2 :]]
    ).combine_chunks(),
}


def stages(frame: Any) -> tuple[list[float], Any]:
    """Time each stage of a call, with an engine that takes no time."""
    clock = [time.perf_counter()]
    choices = Choices().resolve(frames.backend_of(frame).columns(frame))
    columns = mark_all(frames.read(frame), choices)
    clock.append(time.perf_counter())
    codec = TableCodec.learn(columns, choices)
    clock.append(time.perf_counter())
    codec.encode(columns)
    clock.append(time.perf_counter())
    model = Imputer(codec, choices, NoEngine())  # type: ignore[arg-type]  # all that a fill asks of an engine
    done = model.fill(frame, columns, choices, {}, Notices(Place.here()))
    clock.append(time.perf_counter())
    return np.diff(clock).tolist(), done


def run(libraries: Sequence[str], rows: int, rounds: int) -> None:
    """Alternate the libraries, so that all meet the same load of the machine."""
    made = {library: make_frame(library, rows) for library in libraries}
    for turn in range(rounds):
        for library, frame in made.items():
            keys = {"library": library, "rows": rows, "round": turn}
            if ROWS.has(**keys):
                continue
            seconds, done = stages(frame)
            if any(column.missing.any() for column in frames.read(done)):
                raise AssertionError("holes are left")
            del done
            began = time.perf_counter()
            COPIES[library](frame)
            copy, total = time.perf_counter() - began, sum(seconds)
            ROWS.append(
                **keys,
                **{f"{stage}_s": f"{second:.3f}" for stage, second in zip(STAGES, seconds, strict=True)},
                total_s=f"{total:.3f}",
                copy_s=f"{copy:.3f}",
                ratio=f"{total / copy:.1f}",
            )
            print(keys, [f"{second:.2f}" for second in seconds], f"copy {copy:.3f} s", flush=True)


def render() -> str:
    """Take medians over the rounds."""
    rows = ROWS.read()
    columns = [f"{stage}_s" for stage in STAGES] + ["total_s", "copy_s", "ratio"]
    lines = []
    for library, height in dict.fromkeys((row["library"], row["rows"]) for row in rows):
        chosen = [row for row in rows if (row["library"], row["rows"]) == (library, height)]
        medians = [np.median([float(row[column]) for row in chosen]) for column in columns]
        lines.append([f"{library}, {int(height):,} rows", *(f"{median:.3g}" for median in medians)])
    header = [
        "",
        "read, s",
        "learn, s",
        "encode, s",
        "encode again, decode, write, s",
        "total, s",
        "copy, s",
        "ratio",
    ]
    return markdown(header, lines)
