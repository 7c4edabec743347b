"""Peak memory of filling a Parquet file as a query, from one file into another."""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

import polars as pl

import simpdm_frames  # noqa: F401  # puts .simpdm on frames
from benchmarks.rows import Rows, markdown
from simpdm_frames.imputer import Imputer

__all__ = ["render", "run"]

ROWS = Rows(
    "lazy", keys=("rows", "preset", "sampling_steps"), values=("batches", "seconds", "peak_mb", "holes_left")
)


def write_table(path: Path, rows: int) -> None:
    """Write 12 floats, 4 integers and 4 strings of 50 levels, a tenth of them holes, as a query."""
    row = pl.int_range(rows, eager=True).alias("row").to_frame().lazy()
    row = row.select(wave=pl.col("row") * 0.37, code=pl.col("row").hash(7))
    columns = [(pl.col("wave") * (k + 1) / 9).sin().alias(f"f{k}") for k in range(12)]
    columns += [(pl.col("code") // 10**k % 10_000).cast(pl.Int32).alias(f"i{k}") for k in range(4)]
    columns += [pl.format("level {}", pl.col("code") // 7**k % 50).alias(f"s{k}") for k in range(4)]
    table = row.select(columns)
    names = table.collect_schema().names()
    holes = [
        pl.when(pl.int_range(pl.len()).hash(seed) % 10 > 0).then(name).alias(name)
        for seed, name in enumerate(names)
    ]
    table.select(holes).sink_parquet(path)


def run(rows: int, preset_name: str, sampling_steps: int) -> None:
    """Write a file, fit to a sample of it, fill it into another file, and look at the peak of memory."""
    keys = {"rows": rows, "preset": preset_name, "sampling_steps": sampling_steps}
    if ROWS.has(**keys):
        return
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "holes.parquet", Path(folder) / "done.parquet"
        writer = multiprocessing.get_context("spawn").Process(target=write_table, args=(source, rows))
        writer.start()  # in a process of its own, whose memory is not looked at
        writer.join()
        print(f"written, peak {_peak():.0f} MB", flush=True)
        model = pl.scan_parquet(source).simpdm.fit(
            random_state=0, preset=preset_name, sampling_steps=sampling_steps, max_rows=50_000
        )
        print(f"fitted, peak {_peak():.0f} MB", flush=True)
        heights = _watch(model)
        began = time.perf_counter()
        pl.scan_parquet(source).simpdm.impute(model).sink_parquet(target)
        seconds = time.perf_counter() - began
        left = pl.scan_parquet(target).null_count().collect(engine="streaming").sum_horizontal().item()
    ROWS.append(
        **keys, batches=len(heights), seconds=f"{seconds:.1f}", peak_mb=f"{_peak():.0f}", holes_left=left
    )


def _watch(model: Imputer) -> list[int]:
    """Note the height of each batch that a model fills."""
    heights: list[int] = []
    fill = model.fill

    def noted(frame: pl.DataFrame, *rest: object, **options: object) -> pl.DataFrame:
        heights.append(frame.height)
        return fill(frame, *rest, **options)  # type: ignore[arg-type]  # as they came

    model.fill = noted  # type: ignore[method-assign,assignment]  # on this one model
    return heights


def _peak() -> float:
    """Most memory that this process has held so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def render() -> str:
    """Show every run."""
    lines = [
        [
            f"{int(row['rows']):,}",
            row["preset"],
            row["sampling_steps"],
            row["batches"],
            row["seconds"],
            row["peak_mb"],
            row["holes_left"],
        ]
        for row in ROWS.read()
    ]
    return markdown(
        ["rows × 20", "preset", "sampling steps", "batches", "seconds", "peak, MB", "holes left"], lines
    )
