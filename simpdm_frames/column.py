"""Door 1: one column of a frame, as plain numpy, and what is to be written into its holes.

Every dtype is a number on a grid, a level of a set, or opaque. What it is called and how it is
stored stays with the library that it came from.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Column", "Filling", "Grid", "Kind"]


class Kind(enum.Enum):
    """What a column can be."""

    CONTINUOUS = "continuous"
    DISCRETE = "discrete"
    BLANK = "blank"  # nothing observed, in a dtype that could hold anything
    OPAQUE = "opaque"


@dataclass(frozen=True)
class Grid:
    """Where the values of a continuous column may lie: by its dtype, and by the habit of its values.

    Parameters
    ----------
    step
        Distance of neighbouring values, counted from the origin; 0 for any value.
    low, high
        Bounds that the dtype itself sets.
    whole
        True where all observed values are whole numbers, as those of integers that became floats because
        of their holes.
    days
        True where all observed dates are at midnight. A calendar has days of unequal length where clocks
        change, so it is the library that moves a fill to the nearest midnight of the column's own time
        zone.
    """

    step: float = 0.0
    low: float = -np.inf
    high: float = np.inf
    whole: bool = False
    days: bool = False


@dataclass(frozen=True)
class Column:
    """A column as read from a frame.

    Parameters
    ----------
    name, dtype
        As the library calls them, for matching and for messages.
    missing
        True where there is a hole.
    values
        CONTINUOUS: float64 relative to ``origin``; dates and durations count in nanoseconds whatever
        their unit, which is their grid. DISCRETE: int64 positions in ``levels``. BLANK and OPAQUE: empty.
        Cells under a hole hold anything.
    origin
        Whole number that was subtracted before the conversion to float64, so that timestamps in
        nanoseconds and integers above 2^53 keep their precision.
    levels
        The observed labels of a DISCRETE column, in the order of the dtype if it has one, else sorted;
        plain Python values, so that two libraries can compare them.
    meaning
        In a word, what the values are: columns of one meaning can stand for each other.
    allowed
        The labels that the dtype can hold; None for any.
    """

    name: Hashable
    dtype: str
    kind: Kind
    missing: NDArray[np.bool_]
    values: NDArray[np.float64] | NDArray[np.int64] = field(default_factory=lambda: np.empty(0))
    origin: int = 0
    grid: Grid = field(default_factory=Grid)
    levels: tuple[Hashable, ...] = ()
    meaning: str = "number"
    allowed: tuple[Hashable, ...] | None = None

    def __len__(self) -> int:
        return len(self.missing)

    def rows(self, index: Any) -> Column:
        """Take some rows."""
        values = self.values[index] if len(self.values) else self.values
        return replace(self, missing=self.missing[index], values=values)


@dataclass(frozen=True)
class Filling:
    """What goes into the holes of one column.

    Parameters
    ----------
    rows
        Positions of the holes.
    values
        Numbers: float64 relative to ``origin``, on the grid. Labels: int64 positions in ``levels``.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.float64] | NDArray[np.int64]
    origin: int = 0
    levels: tuple[Hashable, ...] = ()
    grid: Grid = field(default_factory=Grid)
    meaning: str = "number"

    def at(self, rows: NDArray[np.int64]) -> Filling:
        """Put a filling for some rows of a column into the column itself."""
        return replace(self, rows=rows[self.rows])

    @staticmethod
    def join(parts: Sequence[Filling]) -> Filling:
        """Make one filling of several for the same column."""
        rows = np.concatenate([part.rows for part in parts])
        return replace(parts[0], rows=rows, values=np.concatenate([part.values for part in parts]))
