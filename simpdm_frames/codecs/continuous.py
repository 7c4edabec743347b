"""Numbers on a grid: one codec for floats, integers, dates, durations and decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.codecs.habit import habit
from simpdm_frames.codecs.instants import number_of
from simpdm_frames.column import Column, Filling, Grid
from simpdm_frames.errors import describe

__all__ = ["ContinuousCodec"]

_FARTHEST = 1e6  # an observed outlier counts as very far out, never as infinite


@dataclass(frozen=True)
class ContinuousCodec:
    """Put the observed range of a column on [-1, 1], and back onto a grid.

    All numbers count from ``origin``. Fills stay between ``floor`` and ``ceiling``: the observed range,
    or bounds that the caller set.

    Examples
    --------
    >>> from simpdm_frames.column import Kind
    >>> years = Column("year", "int64", Kind.CONTINUOUS, np.zeros(3, bool), np.array([2010, 2015, 2020]),
    ...                unit=1, grid=Grid(step=1.0))
    >>> codec = ContinuousCodec.learn(years)
    >>> codec.encode(years)[0].tolist()
    [-1.0, 0.0, 1.0]
    >>> filling = codec.decode(years, np.array([0]), np.array([0.47]))
    >>> (filling.origin + filling.values).tolist()
    [2017.0]
    """

    dtype: str
    meaning: str
    origin: int
    step: float
    days: bool
    low: float
    high: float
    floor: float
    ceiling: float

    @classmethod
    def learn(cls, column: Column, bounds: Sequence[Any] | None = None) -> ContinuousCodec:
        """Learn the scale from observed cells."""
        grid, unit = column.grid, column.unit
        seen = column.values[column.known]
        lowest, highest = seen.min(), seen.max()
        origin = math.floor(int(lowest) * unit) if unit else 0
        low, high = (float(int(end) * unit - origin) if unit else float(end) for end in (lowest, highest))
        step = habit(column)
        floor, ceiling = (low, high) if bounds is None else _bounds(column, bounds, origin, step)
        return cls(column.dtype, column.meaning, origin, step, grid.days, low, high, floor, ceiling)

    def encode(self, column: Column) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Scale a column, and say where nothing is known: at holes, and at NaN that is no hole."""
        unknown = ~column.known
        numbers = np.where(unknown, self._centre, column.numbers(self.origin))
        scaled = (numbers - self._centre) / self._half
        return scaled.clip(-_FARTHEST, _FARTHEST).astype(np.float32), unknown

    def decode(self, column: Column, rows: NDArray[np.int64], scaled: NDArray[np.floating]) -> Filling:
        """Turn estimates into values for a column.

        They lie on the coarser of two grids: that of the fit and that of the dtype to be filled. The habit
        of the column's values does not count, or a fill would depend on the rows beside it.
        """
        step = max(self.step, column.grid.step)
        values = (scaled.astype(np.float64) * self._half + self._centre).clip(self.floor, self.ceiling)
        if step:
            low, high, ahead = _inside(self.floor, self.ceiling, step, self.origin)
            values = _on_grid(values + ahead, step) - ahead
            if low <= high:  # else no point of the grid lies inside, and the nearest one has to do
                values = values.clip(low, high)
        limits = Grid(step, self.origin + self.floor, self.origin + self.ceiling, days=self.days)
        return Filling(rows, values, self.origin, grid=limits, meaning=self.meaning)

    def reaches(self, grid: Grid) -> bool:
        """Tell whether a dtype can hold some of the fills."""
        return self.origin + self.floor <= grid.high and self.origin + self.ceiling >= grid.low

    def fits(self, grid: Grid) -> bool:
        """Tell whether a dtype can hold all of the fills, bounds that were left open apart."""
        low, high = max(self.floor, self.low), min(self.ceiling, self.high)
        return grid.low <= self.origin + low and self.origin + high <= grid.high

    @property
    def _centre(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def _half(self) -> float:
        return self.high / 2 - self.low / 2 or 1.0  # a constant column has no spread to scale by


def _inside(low: float, high: float, step: float, origin: int) -> tuple[float, float, float]:
    """Give the outermost points of a grid inside bounds, and how far the origin lies ahead of the grid."""
    ahead = float(origin % int(step)) if step >= 1 else 0.0
    first = math.inf if math.isinf(low) else math.ceil(_near((low + ahead) / step))
    last = math.inf if math.isinf(high) else math.floor(_near((high + ahead) / step))
    return (
        low if math.isinf(low) else first * step - ahead,
        high if math.isinf(high) else last * step - ahead,
        ahead,
    )


def _on_grid(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Round to multiples of a step; 0.3 is three tenths to everyone but a computer that multiplies."""
    digits = -round(math.log10(step))
    decimal = step < 1 and math.isclose(step, 10.0**-digits)
    return np.round(values, digits) if decimal else np.round(values / step) * step


def _near(ratio: float) -> float:
    """Take a number for whole if only rounding tells it apart: 1.001 / 0.001 is 1001."""
    whole = float(np.round(ratio))
    return whole if abs(ratio - whole) <= 1e-9 + 1e-15 * abs(ratio) else ratio


def _bounds(column: Column, bounds: Sequence[Any], origin: int, step: float) -> tuple[float, float]:
    """Put the caller's bounds into the units of a column; None is no bound but the dtype's."""
    what = describe([(column.name, column.dtype)])
    numbers = [None if side is None else number_of(side, column.meaning) for side in bounds]
    for side, number in zip(bounds, numbers, strict=True):
        if side is not None and number is None:
            raise TypeError(f"bounds of {what} must be of its own kind, a {column.meaning}; got {side!r}")
    floor, ceiling = (_relative(number, origin) for number in numbers)
    floor, ceiling = -math.inf if floor is None else floor, math.inf if ceiling is None else ceiling
    if floor > ceiling:
        raise ValueError(f"bounds of {what} must rise, got {bounds[0]!r} and {bounds[1]!r}")
    floor, ceiling = max(floor, column.grid.low - origin), min(ceiling, column.grid.high - origin)
    first, last, _ = _inside(floor, ceiling, step, origin) if step else (floor, ceiling, 0.0)
    if first > last:
        raise ValueError(f"bounds of {what} leave no value that the column could hold, got {bounds!r}")
    return floor, ceiling


def _relative(number: Fraction | None, origin: int) -> float | None:
    return None if number is None else float(number - origin)
