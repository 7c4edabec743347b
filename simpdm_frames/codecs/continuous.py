"""Numbers on a grid: one codec for floats, integers, dates, durations and decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    grid: Grid
    low: float
    high: float
    floor: Fraction | float | None
    ceiling: Fraction | float | None
    cell: type | None = None

    @classmethod
    def learn(cls, column: Column, bounds: Sequence[Any] | None = None) -> ContinuousCodec:
        """Learn the scale from observed cells."""
        unit = column.unit
        seen = column.values[column.known]
        lowest: Fraction | float = Fraction(int(seen.min())) * unit if unit else float(seen.min())
        highest: Fraction | float = Fraction(int(seen.max())) * unit if unit else float(seen.max())
        origin = math.floor(lowest) if unit else 0
        step = habit(column)
        floor: Fraction | float | None = lowest
        ceiling: Fraction | float | None = highest
        if bounds is not None:
            floor, ceiling = _bounds(column, bounds)
            if not _has_point(floor, ceiling, step):
                step = column.grid.step  # a habit gives way to what the caller wants
            if not _has_point(floor, ceiling, step):
                what = describe([(column.name, column.dtype)])
                raise ValueError(
                    f"bounds of {what} leave no value that the column could hold, got {bounds!r}"
                )
        low, high = float(lowest - origin), float(highest - origin)
        grid = replace(column.grid, step=step)
        return cls(column.dtype, column.meaning, origin, grid, low, high, floor, ceiling, column.cell)

    def encode(self, column: Column) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Scale a column, and say where nothing is known: at holes, and at NaN that is no hole."""
        unknown = ~column.known
        with np.errstate(over="ignore"):  # what overflows counts as far out, as all outliers do
            numbers = np.where(unknown, self._centre, column.numbers(self.origin))
            scaled = (numbers - self._centre) / self._half
        return scaled.clip(-_FARTHEST, _FARTHEST).astype(np.float32), unknown

    def decode(self, column: Column, rows: NDArray[np.int64], scaled: NDArray[np.floating]) -> Filling:
        """Turn estimates into values for a column.

        They lie on the coarser of two grids: that of the fit and that of the dtype to be filled. The habit
        of the column's values does not count, or a fill would depend on the rows beside it.
        """
        step = max(self.grid.step, column.grid.step)
        low = -math.inf if self.floor is None else float(self.floor - self.origin)
        high = math.inf if self.ceiling is None else float(self.ceiling - self.origin)
        with np.errstate(over="ignore"):
            values = (scaled.astype(np.float64) * self._half + self._centre).clip(low, high)
        if step:
            ahead = float(self.origin % int(step)) if step >= 1 else 0.0
            values = _on_grid(values + ahead, step) - ahead
            first, last = _points(self.floor, self.ceiling, step)
            if first <= last:  # else no point of the grid lies inside, and the nearest one has to do
                values = values.clip(float(first - self.origin), float(last - self.origin))
        return Filling(
            rows,
            values,
            self.origin,
            grid=replace(self.grid, step=step),
            meaning=self.meaning,
            low=self.floor,
            high=self.ceiling,
            cell=self.cell,
        )

    def reaches(self, grid: Grid) -> bool:
        """Tell whether a dtype can hold some of the fills."""
        return _or(self.floor, -math.inf) <= grid.high and _or(self.ceiling, math.inf) >= grid.low

    def fits(self, grid: Grid) -> bool:
        """Tell whether a dtype can hold all of the fills, bounds that were left open apart."""
        low, high = grid.low - grid.step, grid.high + grid.step  # the last tick may be a finer one
        return low <= _or(self.floor, grid.low) and _or(self.ceiling, grid.high) <= high

    @property
    def _centre(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def _half(self) -> float:
        return self.high / 2 - self.low / 2 or 1.0  # a constant column has no spread to scale by


def _points(floor: Fraction | float | None, ceiling: Fraction | float | None, step: float) -> tuple[Any, Any]:
    """Give the outermost points of a grid inside bounds."""
    exact = Fraction(step) if step >= 1 else 1 / Fraction(round(1 / step))
    first = -math.inf if floor is None else math.ceil(_near(floor, exact)) * exact
    last = math.inf if ceiling is None else math.floor(_near(ceiling, exact)) * exact
    return first, last


def _has_point(floor: Fraction | float | None, ceiling: Fraction | float | None, step: float) -> bool:
    first, last = _points(floor, ceiling, step) if step else (_or(floor, -math.inf), _or(ceiling, math.inf))
    return bool(first <= last)


def _near(bound: Fraction | float, step: Fraction) -> Fraction:
    """Count a bound in steps; a float is meant to be the decimal that it looks like."""
    exact = bound if isinstance(bound, Fraction | int) else Fraction(repr(float(bound)))
    return exact / step


def _or(bound: Fraction | float | None, other: float) -> Fraction | float:
    return other if bound is None else bound


def _on_grid(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Round to multiples of a step; 0.3 is three tenths to everyone but a computer that multiplies."""
    digits = -round(math.log10(step))
    decimal = step < 1 and math.isclose(step, 10.0**-digits)
    return np.round(values, digits) if decimal else np.round(values / step) * step


def _bounds(column: Column, bounds: Sequence[Any]) -> tuple[Fraction | float | None, Fraction | float | None]:
    """Put the caller's bounds into the units of a column; None is no bound but the dtype's."""
    what = describe([(column.name, column.dtype)])
    low, high = (None if side is None else number_of(side, column.meaning) for side in bounds)
    for side, number in zip(bounds, (low, high), strict=True):
        if side is not None and number is None:
            raise TypeError(f"bounds of {what} must be of its own kind, a {column.meaning}; got {side!r}")
    if low is not None and high is not None and low > high:
        raise ValueError(f"bounds of {what} must rise, got {bounds[0]!r} and {bounds[1]!r}")
    floor: Fraction | float = max(_or(low, -math.inf), column.grid.low)
    ceiling: Fraction | float = min(_or(high, math.inf), column.grid.high)
    return (None if floor == -math.inf else floor), (None if ceiling == math.inf else ceiling)
