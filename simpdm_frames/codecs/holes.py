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
from simpdm_frames.codecs.labels import key
from simpdm_frames.column import Column, Kind
from simpdm_frames.errors import InfiniteValuesError, describe

__all__ = ["are_dates", "hint", "mark", "mark_all"]

_WORDS = re.compile(r"(?i)\s*(|n/?a|nan|null|none|nil|missing|unknown|\?|-+|\.|#n/a|-?9{2,5})\s*")
_NUMBER = re.compile(r"\s*[-+]?(0|[1-9]\d*)([.,]\d+)?\s*")  # 007 is a code
_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}|\s*\d{1,2}[./]\d{1,2}[./]\d{2,4}")
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


def refuse_impossible(columns: Iterable[Column], choices: Choices) -> None:
    """Refuse values that were declared for a column by name and can never stand in it."""
    for column in columns:
        for value in choices.missing_values.get(column.name, ()):
            if not _can_occur(column, value):
                raise TypeError(
                    f"missing_values of {describe([(column.name, column.dtype)])} must be of its own kind, "
                    f"a {column.meaning}; got {value!r}"
                )


def _can_occur(column: Column, value: Any) -> bool:
    if column.kind is Kind.CONTINUOUS:
        return number_of(value, column.meaning) is not None
    kinds = {type(label) for label in column.levels}
    plain = value.item() if isinstance(value, np.generic) else value
    alike = {int, float} & kinds and type(plain) in {int, float}
    return column.kind is not Kind.DISCRETE or not kinds or type(plain) in kinds or bool(alike)


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
        near = round(steps)
        # A float says -99.9 only nearly, so decimals have to be met nearly.
        slack = abs(near) * 1e-12 if column.unit < 1 else 0
        same = abs(steps - near) <= slack
        return np.asarray(column.values == near) if same else np.zeros(len(column), dtype=bool)
    narrow = next((kind for kind in _FLOATS if float(np.finfo(kind).max) == column.grid.high), np.float64)
    with np.errstate(over="ignore"):
        return np.asarray(column.values.astype(narrow) == narrow(float(number)))


def hint(column: Column) -> str:
    """Point at what often stands for something else: for a hole, for a number, for a date, for an order."""
    if column.kind is Kind.DISCRETE:
        return _hint_of_labels(column)
    if column.kind is not Kind.CONTINUOUS or column.meaning != "number":
        return ""
    seen = column.rows(column.known).numbers(0)
    codes = [int(code) for code in _CODES if _stands_out(seen, code)]
    return f"declare {codes!r} in missing_values if they mean a hole" if codes else ""


def _hint_of_labels(column: Column) -> str:
    words = [label for label in column.levels if isinstance(label, str)]
    holes = [word for word in words if _WORDS.fullmatch(word)]
    rest = [word for word in words if word not in holes][:1000]
    hints = [f"declare {holes!r} in missing_values if they mean a hole"] if holes else []
    if len(rest) > 2 and all(_NUMBER.fullmatch(word) for word in rest):
        hints.append("its labels look like numbers; convert it if they are")
    if are_dates(rest):
        hints.append("its labels look like dates; convert it if they are")
    if column.ordered:
        hints.append("name it in ordinal to use its order")
    return "; ".join(hints)


def are_dates(labels: Sequence[Hashable]) -> bool:
    """Tell whether labels look like dates that a reader of files has left as text."""
    return len(labels) > 2 and all(isinstance(label, str) and _DATE.match(label) for label in labels[:1000])


def _stands_out(seen: NDArray[np.floating[Any]], code: float) -> bool:
    """Tell whether a value lies far from all others, or at their end and much more often than they do."""
    others = seen[seen != code]
    if len(others) == len(seen) or len(others) < 2:
        return False
    gap = max(others.min() - code, code - others.max())
    with np.errstate(over="ignore"):
        spread = others.std()
    often = len(seen) - len(others) > max(2, 3 * len(others) / len(np.unique(others)))
    return bool(gap > 0 and (gap > _FAR * spread or (often and gap > spread)))


def _without_labels(column: Column, sentinels: Sequence[Any]) -> Column:
    """Take labels out of a column; its cells become holes."""
    sentinels = [value.item() if isinstance(value, np.generic) else value for value in sentinels]
    declared = {key(value) for value in sentinels if isinstance(value, Hashable)}
    lost = [key(label) in declared for label in column.levels]
    if not any(lost):
        return column
    kept = np.flatnonzero(~np.array(lost))
    position = np.zeros(len(lost), dtype=np.int64)
    position[kept] = np.arange(len(kept))
    codes = column.values.astype(np.int64)
    holes = column.missing | np.array(lost)[codes]
    levels = tuple(column.levels[place] for place in kept.tolist())
    return replace(column, missing=holes, values=position[codes], levels=levels)
