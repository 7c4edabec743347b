"""Frames that are not there yet: polars' LazyFrame. Other frames are taken as they are.

Fitting needs rows, so it collects some of them. Filling needs one batch at a time, so it becomes a node
of the query, with its schema known.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import polars as pl

__all__ = ["at_once", "by_batches", "gather", "head", "holes", "is_lazy"]

_INDEX = "__simpdm_row__"
# What comes after the node must not be moved before it: all columns count, and a filter may ask for a fill.
_NO_SHORT_CUTS = {"predicate_pushdown": False, "projection_pushdown": False, "slice_pushdown": False}


def is_lazy(frame: object) -> TypeGuard[pl.LazyFrame]:
    """Tell whether a frame is a query; polars is not imported to look."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(frame, polars.LazyFrame)


def gather(frame: Any, max_rows: int, seed: int) -> Any:
    """Collect at most so many rows of a query, each as likely as any other, in their order."""
    if not is_lazy(frame):
        return frame
    import polars as pl  # noqa: PLC0415  # it is there: the frame is one of its own

    # A row's place in the draw is a hash of its number, so that one pass over the data is enough.
    drawn = (
        frame.with_row_index(_INDEX)
        .bottom_k(max_rows, by=pl.col(_INDEX).hash(seed % 2**64))
        .sort(_INDEX)
        .drop(_INDEX)
    )
    return drawn.collect(engine="streaming")


def head(frame: Any) -> Any:
    """Give a frame without rows that has the columns of a query; known before anything is collected."""
    return frame.collect_schema().to_frame() if is_lazy(frame) else frame


def holes(frame: Any) -> Any:
    """Give a frame with holes where a query has them and nothing else; other frames as they are."""
    if not is_lazy(frame):
        return frame
    import polars as pl  # noqa: PLC0415  # as above

    marks = [
        pl.when(pl.nth(place).is_not_nan() if dtype.is_float() else pl.nth(place).is_not_null())
        .then(statement=True)
        .alias(name)
        for place, (name, dtype) in enumerate(frame.collect_schema().items())
    ]
    return frame.select(marks).collect(engine="streaming")


def by_batches(frame: Any, fill: Callable[[Any], Any], added: Iterable[str], height: int) -> Any:
    """Fill a query batch by batch, at most so many rows in each; other frames at once.

    An engine cuts large batches, and works on several of them at a time.
    """
    if not is_lazy(frame):
        return fill(frame)
    import polars as pl  # noqa: PLC0415  # as above

    def fill_slices(batch: pl.DataFrame) -> Any:
        if batch.height <= height:
            return fill(batch)
        return pl.concat([fill(part) for part in batch.iter_slices(height)])

    return frame.map_batches(fill_slices, schema=_schema(frame, added), streamable=True, **_NO_SHORT_CUTS)


def at_once(frame: Any, fill: Callable[[Any], Any], added: Iterable[str]) -> Any:
    """Fill a query when it is collected, all rows in one call; other frames at once."""
    if not is_lazy(frame):
        return fill(frame)
    return frame.map_batches(fill, schema=_schema(frame, added), **_NO_SHORT_CUTS)


def _schema(frame: pl.LazyFrame, added: Iterable[str]) -> dict[str, Any]:
    import polars as pl  # noqa: PLC0415  # as above

    return {**frame.collect_schema(), **dict.fromkeys(added, pl.Boolean)}
