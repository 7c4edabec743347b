"""Door 1: one column of a frame, as plain numpy, and what is to be written into its holes.

Every dtype is a number on a grid, a level of a set, or opaque. What it is called and how it is
stored stays with the library that it came from.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
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
    """Where the values of a continuous column may lie.

    Parameters
    ----------
    step
        Distance of neighbouring values that the dtype can hold, counted from 0; 0 for any value.
    low, high
        Lowest and highest value that the dtype can hold.
    days
        True where all observed dates are at midnight of their time zone. Its days are of unequal length
        where clocks change, so it is the library that moves a fill to the nearest midnight.
    """

    step: float = 0.0
    low: float = -np.inf
    high: float = np.inf
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
        CONTINUOUS: float64, or whole numbers of a ``unit``, numpy's or Python's integers. DISCRETE:
        int64 positions in ``levels``. BLANK and OPAQUE: empty. Cells under a hole hold anything.
    unit
        What a whole number counts: 1 for integers, nanoseconds for dates and durations, the last digit
        for decimals. 0 where values are floats. Values stay whole until a codec has taken its origin off,
        so integers above 2^53 and timestamps in nanoseconds lose nothing.
    levels
        The observed labels of a DISCRETE column, in the order of the dtype if it has one, else sorted;
        plain Python values, so that two libraries can compare them.
    meaning
        In a word, what the values are: columns of one meaning can stand for each other.
    allowed
        The labels that the dtype can hold; None for any.
    cell
        What Python's objects are, in a column of them that are numbers or time.
    ordered
        Whether the order of the levels is one that the dtype knows.
    holds
        The types of labels that the dtype can hold, ``object`` for any; None where that is said otherwise.
    """

    name: Hashable
    dtype: str
    kind: Kind
    missing: NDArray[np.bool_]
    values: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    unit: Fraction | int = 0
    grid: Grid = field(default_factory=Grid)
    levels: tuple[Hashable, ...] = ()
    meaning: str = "number"
    allowed: tuple[Hashable, ...] | None = None
    holds: frozenset[type] | None = None
    ordered: bool = False
    cell: type | None = None

    @classmethod
    def opaque(cls, name: Hashable, dtype: str, missing: NDArray[np.bool_]) -> Column:
        """Make a column that is only passed through."""
        return cls(name, dtype, Kind.OPAQUE, missing, meaning="something that cannot be modelled")

    def __len__(self) -> int:
        return len(self.missing)

    def rows(self, index: Any) -> Column:
        """Take some rows."""
        values = self.values[index] if len(self.values) else self.values
        return replace(self, missing=self.missing[index], values=values)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Where a value is observed; a NaN that is no hole is none either."""
        if self.kind in {Kind.BLANK, Kind.OPAQUE}:
            return np.zeros(len(self), dtype=bool)
        if self.kind is Kind.CONTINUOUS and not self.unit:
            return np.asarray(~self.missing & np.isfinite(self.values))
        return ~self.missing

    def numbers(self, origin: int) -> NDArray[np.float64]:
        """Give a CONTINUOUS column as float64 relative to an origin, which is taken off exactly."""
        if not self.unit:
            return np.asarray(self.values - float(origin))
        whole, rest = divmod(Fraction(origin), self.unit)
        return _difference(self.values, int(whole)) * float(self.unit) - float(rest)


@dataclass(frozen=True)
class Filling:
    """What goes into the holes of one column.

    Parameters
    ----------
    rows
        Positions of the holes.
    values
        Numbers: float64 relative to ``origin``, on the grid. Labels: int64 positions in ``levels``, which
        may be numbers too.
    low, high
        What numbers have to keep, exactly; None for no bound.
    grid, cell
        Of the column at the fit.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.float64] | NDArray[np.int64]
    origin: int = 0
    levels: tuple[Hashable, ...] = ()
    grid: Grid = field(default_factory=Grid)
    meaning: str = "number"
    low: Fraction | float | None = None
    high: Fraction | float | None = None
    cell: type | None = None

    def at(self, rows: NDArray[np.int64]) -> Filling:
        """Put a filling for some rows of a column into the column itself."""
        return replace(self, rows=rows[self.rows])

    @staticmethod
    def join(parts: Sequence[Filling]) -> Filling:
        """Make one filling of several for the same column."""
        rows = np.concatenate([part.rows for part in parts])
        return replace(parts[0], rows=rows, values=np.concatenate([part.values for part in parts]))


def _difference(whole: NDArray[Any], origin: int) -> NDArray[np.float64]:
    """Subtract whole numbers exactly, before the conversion to float64."""
    if whole.dtype == object:
        return np.array([float(number - origin) for number in whole])
    if not len(whole):
        return np.empty(0)
    low, high = int(whole.min()) - origin, int(whole.max()) - origin
    # In 64 bits that wrap around the difference is right as long as it fits, signed or unsigned.
    steps = whole.astype(np.uint64) - np.uint64(origin % 2**64)
    if low >= -(2**63) and high < 2**63:
        return np.asarray(steps.view(np.int64).astype(np.float64))
    if low >= 0 and high < 2**64:
        return np.asarray(steps.astype(np.float64))
    return _difference(whole.astype(object), origin)
