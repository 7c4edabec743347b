"""Tables in files, by the extension of their name, read and written in pieces by polars."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simpdm_frames.replacing import replacing

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FileError", "scan", "sink"]

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


class FileError(ValueError):
    """A file cannot be read or written as it was asked for."""


def scan(path: Path, missing_values: Sequence[str] = ()) -> pl.LazyFrame:
    """Read a file as a query.

    In a CSV file an empty field is a hole, and so is each of ``missing_values``; dates in ISO form are dates. In
    JSON lines they are texts. The whole of such a file is looked at to tell the dtypes.
    """
    kind, polars = _kind(path), _polars()
    if not path.exists():
        raise FileError(f"{path} is not there")
    readers: dict[str, Callable[[], Any]] = {
        "csv": lambda: _scan_csv(path, missing_values),
        "parquet": lambda: polars.scan_parquet(path, glob=False),
        "ipc": lambda: polars.scan_ipc(path, glob=False),
        "ndjson": lambda: polars.scan_ndjson(path, infer_schema_length=None),
    }
    query: pl.LazyFrame = readers[kind]()
    try:
        query.collect_schema()
    except (polars.exceptions.PolarsError, OSError) as error:
        raise FileError(f"{path} cannot be read as {kind}: {error}") from error
    return query


def sink(query: pl.LazyFrame, path: Path, like: Path | None = None) -> None:
    """Write a query to a file, batch by batch; the file is whole or not there.

    From CSV to CSV truth values are spelled as they are in the file that the query reads, ``like``.
    """
    kind = _kind(path)
    if like is not None and kind == _kind(like) == "csv":
        query = _spelled(query, like)
    with replacing(path) as temporary:
        writers: dict[str, Callable[[], Any]] = {
            "csv": lambda: query.sink_csv(temporary, check_extension=False),
            "parquet": lambda: query.sink_parquet(temporary),
            "ipc": lambda: query.sink_ipc(temporary),
            "ndjson": lambda: query.sink_ndjson(temporary, check_extension=False),
        }
        writers[kind]()


def _scan_csv(path: Path, missing_values: Sequence[str], **options: Any) -> pl.LazyFrame:
    holes = ["", *missing_values]
    query: pl.LazyFrame = _polars().scan_csv(
        path, null_values=holes, infer_schema_length=None, try_parse_dates=True, glob=False, **options
    )
    return query


def _spelled(query: pl.LazyFrame, path: Path) -> pl.LazyFrame:
    """Turn truth values into the words that stand for them in a CSV file."""
    pl = _polars()
    names = [name for name, dtype in query.collect_schema().items() if dtype == pl.Boolean]
    if not names:
        return query
    texts = _scan_csv(path, (), schema_overrides=dict.fromkeys(names, pl.String))
    found = texts.select(pl.col(names).drop_nulls().unique().implode()).collect(engine="streaming")
    words = {name: {word.casefold(): word for word in found[name].item()} for name in names}
    return query.with_columns(
        pl.when(pl.col(name))
        .then(pl.lit(words[name].get("true", "true")))
        .when(~pl.col(name))
        .then(pl.lit(words[name].get("false", "false")))
        .alias(name)
        for name in names
    )


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
