"""Tables in files, by the extension of their name, read and written in pieces by polars."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simpdm_frames.replacing import replacing

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FileError", "check", "scan", "sink", "told"]

_KINDS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "ipc",
    ".arrow": "ipc",
    ".ipc": "ipc",
    ".jsonl": "ndjson",
    ".ndjson": "ndjson",
}


_MOST_DECIMALS = 6  # that someone would write on purpose


class FileError(ValueError):
    """A file cannot be read or written as it was asked for."""


def check(path: Path) -> None:
    """Refuse a name whose extension is not known."""
    _kind(path)


def scan(path: Path, missing_values: Sequence[str] = ()) -> pl.LazyFrame:
    """Read a file as a query.

    In a CSV file an empty field is a hole, and so is each of ``missing_values``; dates in ISO form are dates. In
    JSON lines they are texts. The whole of such a file is looked at to tell the dtypes.
    """
    kind, polars = _kind(path), _polars()
    if not path.exists():
        raise FileError(f"{path} is not there")
    if missing_values and kind != "csv":
        raise FileError(f"--missing-values is about CSV files, where all is text; {path} tells holes itself")
    readers: dict[str, Callable[[], Any]] = {
        "csv": lambda: _scan_csv(path, missing_values),
        "parquet": lambda: polars.scan_parquet(path, glob=False),
        "ipc": lambda: polars.scan_ipc(path, glob=False),
        "ndjson": lambda: polars.scan_ndjson(path, infer_schema_length=None),
    }
    with told(path):
        query: pl.LazyFrame = readers[kind]()
        query.collect_schema()
    return query


def sink(
    query: pl.LazyFrame, path: Path, source: Path | None = None, missing_values: Sequence[str] = ()
) -> None:
    """Write a query to a file, batch by batch; the file is whole or not there.

    From CSV to CSV, what stands in the file that the query reads, ``source``, is written as it stands there.
    """
    kind = _kind(path)
    if source is not None and kind == _kind(source) == "csv":
        query = _as_written(query, source, missing_values)
    with replacing(path) as temporary:
        writers: dict[str, Callable[[], Any]] = {
            "csv": lambda: query.sink_csv(temporary, check_extension=False),
            "parquet": lambda: query.sink_parquet(temporary),
            "ipc": lambda: query.sink_ipc(temporary),
            "ndjson": lambda: query.sink_ndjson(temporary, check_extension=False),
        }
        writers[kind]()


def _scan_csv(path: Path, missing_values: Sequence[str]) -> pl.LazyFrame:
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        header = next(csv.reader(file), [])
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise FileError(f"{path} has columns of the same name: {', '.join(map(repr, twice))}; rename them")
    other = re.search(r"[;\t|]", header[0]) if len(header) == 1 else None
    if other:
        raise FileError(
            f"{path} has one column, {header[0]!r}; if {other[0]!r} separates its fields, save it with commas"
        )
    polars, holes = _polars(), ["", *missing_values]

    def typed(**options: Any) -> pl.LazyFrame:
        query: pl.LazyFrame = polars.scan_csv(
            path, null_values=holes, infer_schema_length=None, try_parse_dates=True, glob=False, **options
        )
        return query

    schema = typed().collect_schema()
    whole = [(place, name) for place, (name, dtype) in enumerate(schema.items()) if dtype.is_integer()]
    if not whole:
        return typed()
    # What begins with a zero is a code, such as 01067, and no number.
    zero_led = [polars.nth(place).str.contains(r"^[-+]?0\d").any().alias(name) for place, name in whole]
    codes = _texts(path).select(zero_led).collect(engine="streaming").row(0, named=True)
    return typed(schema_overrides={name: polars.String for name, is_code in codes.items() if is_code})


def _texts(path: Path) -> pl.LazyFrame:
    """Read a CSV file as it is written."""
    query: pl.LazyFrame = _polars().scan_csv(path, infer_schema=False, glob=False)
    return query


def _as_written(query: pl.LazyFrame, path: Path, missing_values: Sequence[str]) -> pl.LazyFrame:
    """Put the texts of a CSV file in the place of the values that were read from them; only fills are written anew.

    So 01234 keeps its zero and 1.50 its digits, and truth values and times are spelled as those around them.
    """
    polars, texts, holes = _polars(), _texts(path), ["", *missing_values]
    places = range(len(texts.collect_schema()))
    looks = []
    for place in places:
        seen = polars.nth(place).filter(~polars.nth(place).is_in(holes))
        decimals = seen.str.extract(r"^[-+]?\d*\.(\d+)$").str.len_chars()
        looks += [seen.first().alias(f"sample {place}")]
        looks += [decimals.min().alias(f"shortest {place}"), decimals.max().alias(f"longest {place}")]
    look = texts.select(looks).collect(engine="streaming").row(0, named=True)
    both: pl.LazyFrame = polars.concat(
        [
            query.select(polars.nth(place).alias(f"value {place}") for place in places),
            texts.select(polars.nth(place).alias(f"text {place}") for place in places),
        ],
        how="horizontal",
    )
    columns = []
    for place, (name, dtype) in enumerate(query.collect_schema().items()):
        text = polars.col(f"text {place}")
        decimals = (look[f"shortest {place}"], look[f"longest {place}"])
        fill = _spelled(polars.col(f"value {place}"), dtype, look[f"sample {place}"] or "", decimals)
        hole = text.is_null() | text.is_in(holes)
        columns.append(polars.when(hole).then(polars.coalesce(fill, text)).otherwise(text).alias(name))
    return both.select(columns)


def _spelled(
    value: pl.Expr, dtype: pl.DataType, sample: str, decimals: tuple[int | None, int | None]
) -> pl.Expr:
    """Write a value as others of its column are written, with as few and as many decimals as they have."""
    polars = _polars()
    if dtype == polars.Boolean:
        spell = str.title if sample.istitle() else str.upper if sample.isupper() else str.lower
        spelled: pl.Expr = (
            polars.when(value).then(polars.lit(spell("true"))).when(~value).then(polars.lit(spell("false")))
        )
        return spelled
    if isinstance(dtype, polars.Datetime):
        clock = "%H:%M:%S" if sample.count(":") > 1 else "%H:%M"
        between, zone = "T" if "T" in sample else " ", "Z" if sample.endswith("Z") else ""
        digits = len(sample.partition(".")[2].rstrip("Z"))
        fraction = f"%.{3 * -(-digits // 3)}f" if digits else ""
        return value.dt.to_string(f"%Y-%m-%d{between}{clock}{fraction}{zone}")
    fewest, most = decimals
    if dtype.is_float() and most is not None and most <= _MOST_DECIMALS:
        if fewest != most:
            return value.round(most).cast(polars.String)
        fixed = value.cast(polars.Decimal(scale=most), strict=False).cast(polars.String)
        written: pl.Expr = polars.coalesce(fixed, value.cast(polars.String))
        return written
    return value.cast(polars.String)


@contextmanager
def told(path: Path | None) -> Iterator[None]:
    """Say in a line which file it is that polars cannot read or write."""
    try:
        yield
    except Exception as error:
        if path is None or not type(error).__module__.startswith("polars"):
            raise
        first = str(error).strip().splitlines()[0]
        raise FileError(f"{path} cannot be read as {_kind(path)}: {first}") from error


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in _KINDS:
        raise FileError(f"{path} has the extension {suffix!r}; known are {', '.join(_KINDS)}")
    return _KINDS[suffix]


def _polars() -> Any:
    if importlib.util.find_spec("polars") is None:
        raise FileError("the command line reads files with polars; install it: pip install polars")
    import polars as pl  # noqa: PLC0415  # --help does not need it

    return pl
