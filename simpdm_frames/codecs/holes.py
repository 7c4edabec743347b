"""What counts as a hole: NaN, infinite values and values that were declared to mean one."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.codecs.choices import Choices
from simpdm_frames.codecs.instants import number_of
from simpdm_frames.codecs.labels import same_label
from simpdm_frames.column import Column, Kind
from simpdm_frames.errors import InfiniteValuesError, describe

__all__ = ["hint", "mark", "mark_all"]

_WORDS = re.compile(r"(?i)\s*(|n/?a|nan|null|none|nil|missing|unknown|\?|-+|\.|#n/a)\s*")
_CODES = (-9.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0)
_FLOATS: tuple[type[np.floating[Any]], ...] = (np.float16, np.float32)
_FAR = 3.0  # a code that stands for a hole lies farther out than this many spreads of the others


def mark_all(columns: Iterable[Column], choices: Choices, passed: Collection[Hashable] = ()) -> list[Column]:
    """Mark the holes of all columns that are looked at; refuse infinite values unless they are holes.

    Columns that are only passed through may hold anything.
    """
    untouched = {*choices.ignore, *passed}
    marked = [
        column
        if column.name in untouched
        else mark(column, choices, choices.missing_values.get(column.name, ()))
        for column in columns
    ]
    infinite = [
        (column.name, column.dtype)
        for column in marked
        if column.kind is Kind.CONTINUOUS
        and not column.unit
        and column.name not in untouched
        and (np.isinf(column.values) & ~column.missing).any()
    ]
    if infinite:
        raise InfiniteValuesError(
            f"infinite values in {describe(infinite)}; pass inf='missing' to fill them, or replace them"
        )
    return marked


def mark(column: Column, choices: Choices, sentinels: Sequence[Any] = ()) -> Column:
    """Mark as missing what stands for a hole in one column."""
    if column.kind is Kind.DISCRETE:
        return _without_labels(column, sentinels) if sentinels else column
    if column.kind is not Kind.CONTINUOUS:
        return column
    holes = column.missing
    if choices.nan_is_missing and not column.unit:
        holes = holes | np.isnan(column.values)
    if choices.inf == "missing" and not column.unit:
        holes = holes | np.isinf(column.values)
    for sentinel in sentinels:
        number = number_of(sentinel, column.meaning)
        if number is not None:
            holes = holes | _equal(column, number)
    return replace(column, missing=holes) if holes is not column.missing else column


def _equal(column: Column, number: Fraction) -> NDArray[np.bool_]:
    """Tell which cells of a column are a number, as exactly as its dtype can say it."""
    if column.unit:
        steps = number / column.unit
        return column.values == int(steps) if steps.denominator == 1 else np.zeros(len(column), dtype=bool)
    narrow = next((kind for kind in _FLOATS if float(np.finfo(kind).max) == column.grid.high), np.float64)
    with np.errstate(over="ignore"):
        return np.asarray(column.values.astype(narrow) == narrow(float(number)))


def hint(column: Column) -> str:
    """Point at observed values that often stand for a hole."""
    if column.kind is Kind.DISCRETE:
        words = [label for label in column.levels if isinstance(label, str) and _WORDS.fullmatch(label)]
        return f"declare {words!r} in missing_values if they mean a hole" if words else ""
    if column.kind is not Kind.CONTINUOUS or column.meaning != "number":
        return ""
    seen = column.rows(column.known).numbers(0)
    codes = [code for code in _CODES if _stands_out(seen, code)]
    return f"declare {codes!r} in missing_values if they mean a hole" if codes else ""


def _stands_out(seen: NDArray[np.floating[Any]], code: float) -> bool:
    others = seen[seen != code]
    if len(others) == len(seen) or len(others) < 2:
        return False
    low, high = others.min(), others.max()
    gap = max(low - code, code - high)
    return bool(gap > _FAR * others.std() and gap > 0)


def _without_labels(column: Column, sentinels: Sequence[Any]) -> Column:
    """Take labels out of a column; its cells become holes."""
    sentinels = [value.item() if isinstance(value, np.generic) else value for value in sentinels]
    lost = [any(same_label(label, sentinel) for sentinel in sentinels) for label in column.levels]
    if not any(lost):
        return column
    kept = np.flatnonzero(~np.array(lost))
    position = np.zeros(len(lost), dtype=np.int64)
    position[kept] = np.arange(len(kept))
    codes = column.values.astype(np.int64)
    holes = column.missing | np.array(lost)[codes]
    levels = tuple(column.levels[place] for place in kept.tolist())
    return replace(column, missing=holes, values=position[codes], levels=levels)
