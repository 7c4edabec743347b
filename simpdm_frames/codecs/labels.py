"""Labels of a column, whatever its kind: what stands in it, one by one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind

__all__ = ["as_labels", "fill_labels", "lookup", "may_hold"]


def as_labels(column: Column) -> Column:
    """See a column of numbers as one of labels, each value being a label; others as they are."""
    if column.kind is not Kind.CONTINUOUS:
        return column
    missing = column.missing | ~np.isfinite(column.values)
    numbers, codes = np.unique(np.where(missing, np.inf, column.values), return_inverse=True)
    numbers = numbers[np.isfinite(numbers)]
    levels = tuple(_label(number, column) for number in numbers.tolist())
    codes = codes.reshape(-1).clip(0, max(len(levels) - 1, 0)).astype(np.int64)
    return replace(column, kind=Kind.DISCRETE, missing=missing, values=codes, levels=levels)


def fill_labels(
    column: Column,
    rows: NDArray[np.int64],
    codes: NDArray[np.int64],
    levels: Sequence[Hashable],
    meaning: str,
) -> Filling:
    """Fill a column with labels; a column of numbers gets them as numbers."""
    numeric = column.kind is Kind.CONTINUOUS or (
        column.kind is Kind.BLANK and meaning not in {"label", "truth value"}
    )
    if not numeric:
        return Filling(rows, codes.astype(np.int64), levels=tuple(levels), meaning=meaning)
    labels: list[Any] = list(levels)
    origin = min((math.floor(label) for label in labels), default=0)
    numbers = np.array([float(label - origin) for label in labels])
    whole = all(isinstance(label, int) for label in labels)
    return Filling(rows, numbers[codes], origin, grid=Grid(float(whole)), meaning=meaning)


def lookup(levels: Sequence[Hashable], column: Column) -> NDArray[np.int64]:
    """Give the position in ``levels`` of each label of a column; -1 for a stranger.

    1, 1.0 and True are equal to Python but not the same label; a whole number is one in any dtype.
    """
    known = {_identity(label): code for code, label in enumerate(levels)}
    return np.array([known.get(_identity(label), -1) for label in column.levels], dtype=np.int64)


def may_hold(column: Column, levels: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Tell which labels the dtype of a column can hold."""
    if column.allowed is None:
        return np.ones(len(levels), dtype=bool)
    allowed = {_identity(label) for label in column.allowed}
    return np.array([_identity(label) in allowed for label in levels], dtype=bool)


def _identity(label: Hashable) -> tuple[type, Hashable]:
    return type(label), label


def _label(number: float, column: Column) -> int | float:
    """Spell a number so that the same value is the same label whatever dtype it comes from."""
    if number.is_integer():
        return column.origin + int(number)
    return column.origin + number
