"""Labels of a column, whatever its kind: what stands in it, one by one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Kind

__all__ = ["as_labels", "lookup", "may_hold", "same_label"]


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
    near = {label: code for code, label in enumerate(levels) if type(label) in {int, float}}
    found = [
        exact.get((type(label), label), near.get(label, -1) if type(label) in {int, float} else -1)
        for label in column.levels
    ]
    return np.array(found, dtype=np.int64)


def may_hold(column: Column, levels: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Tell which labels the dtype of a column can hold."""
    held = np.ones(len(levels), dtype=bool)
    if column.allowed is not None:
        held &= [any(same_label(label, other) for other in column.allowed) for label in levels]
    if column.holds is not None:
        held &= [type(label) in column.holds or object in column.holds for label in levels]
    return held


def same_label(one: Any, other: Any) -> bool:
    """Tell whether two values are the same label: numbers by value, others by type too."""
    numeric = {int, float}
    if type(one) in numeric and type(other) in numeric:
        return bool(one == other)
    return type(one) is type(other) and bool(one == other)


def _label(number: float, unit: Fraction | int) -> Hashable:
    """Spell a number so that the same value is the same label whatever dtype it comes from."""
    exact = number * unit if unit else number
    if isinstance(exact, float):
        return int(exact) if exact.is_integer() else exact
    return int(exact) if exact == int(exact) else Fraction(exact)
