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
        "csv": lambda: polars.scan_csv(
            path,
            null_values=["", *missing_values],
            infer_schema_length=None,
            try_parse_dates=True,
            glob=False,
        ),
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


def sink(query: pl.LazyFrame, path: Path) -> None:
    """Write a query to a file, batch by batch; the file is whole or not there."""
    kind = _kind(path)
    with replacing(path) as temporary:
        writers: dict[str, Callable[[], Any]] = {
            "csv": lambda: query.sink_csv(temporary, check_extension=False),
            "parquet": lambda: query.sink_parquet(temporary),
            "ipc": lambda: query.sink_ipc(temporary),
            "ndjson": lambda: query.sink_ndjson(temporary, check_extension=False),
        }
        writers[kind]()


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
