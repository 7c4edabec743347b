"""Labels of a column, whatever its kind: what stands in it, one by one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Grid, Kind

__all__ = ["as_labels", "key", "lookup", "may_hold"]


def as_labels(column: Column) -> Column:
    """See a column of numbers as one of labels, each value being a label; others as they are."""
    if column.kind is not Kind.CONTINUOUS:
        return column
    known = column.known
    numbers, places = np.unique(column.values[known], return_inverse=True)
    codes = np.zeros(len(column), dtype=np.int64)
    codes[known] = places.reshape(-1)
    levels = tuple(_label(number, column.unit) for number in numbers.tolist())
    return replace(column, kind=Kind.DISCRETE, missing=~known, values=codes, levels=levels)


def lookup(levels: Sequence[Hashable], column: Column) -> NDArray[np.int64]:
    """Give the position in ``levels`` of each label of a column; -1 for a stranger.

    1, 1.0 and True are equal to Python but not the same label. Where only one of 1 and 1.0 is known, it
    stands for both: a category of floats in one library is a column of integers in another.
    """
    exact = {(type(label), label): code for code, label in enumerate(levels)}
    near = {key(label): code for code, label in enumerate(levels)}
    found = [exact.get((type(label), label), near.get(key(label), -1)) for label in column.levels]
    return np.array(found, dtype=np.int64)


def may_hold(column: Column, levels: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Tell which labels the dtype of a column can hold."""
    held = np.ones(len(levels), dtype=bool)
    if column.allowed is not None:
        allowed = {key(label) for label in column.allowed}
        held &= [key(label) in allowed for label in levels]
    if column.holds is not None:
        held &= [type(label) in column.holds or object in column.holds for label in levels]
    elif column.kind is Kind.CONTINUOUS:
        held &= [_is_on(column.grid, label) for label in levels]
    return held


def key(label: Any) -> tuple[Any, Any]:
    """What tells a label from others: numbers their value, all else their type too."""
    return ("number", label) if type(label) in {int, float} else (type(label), label)


def _is_on(grid: Grid, label: Any) -> bool:
    """Tell whether a number lies on the grid of a dtype."""
    if not grid.low <= label <= grid.high:
        return False
    return grid.step < 1 or Fraction(label) % Fraction(grid.step) == 0


def _label(number: float, unit: Fraction | int) -> Hashable:
    """Spell a number so that the same value is the same label whatever dtype it comes from."""
    exact = number * unit if unit else number
    if isinstance(exact, float):
        return int(exact) if exact.is_integer() else exact
    return int(exact) if exact == int(exact) else Fraction(exact)
