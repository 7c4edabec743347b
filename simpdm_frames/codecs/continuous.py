"""Numbers on a grid: one codec for floats, integers, dates, durations and decimals."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.codecs.instants import number_of
from simpdm_frames.column import Column, Filling, Grid
from simpdm_frames.errors import describe

__all__ = ["ContinuousCodec"]

_DAY = 86_400 * 10**9
_FARTHEST = 1e6  # an observed outlier counts as very far out, never as infinite


@dataclass(frozen=True)
class ContinuousCodec:
    """Put the observed range of a column on [-1, 1], and back onto a grid.

    Fills stay between ``floor`` and ``ceiling``: the observed range, or bounds that the caller set.

    Examples
    --------
    >>> from simpdm_frames.column import Kind
    >>> years = Column("year", "int64", Kind.CONTINUOUS, np.zeros(3, bool), np.array([0.0, 5.0, 10.0]),
    ...                origin=2010, grid=Grid(step=1.0))
    >>> codec = ContinuousCodec.learn(years)
    >>> codec.encode(years)[0].tolist()
    [-1.0, 0.0, 1.0]
    >>> codec.decode(years, np.array([0]), np.array([0.47])).values.tolist()
    [7.0]
    """

    dtype: str
    meaning: str
    origin: int
    grid: Grid
    low: float
    high: float
    floor: float
    ceiling: float

    @classmethod
    def learn(cls, column: Column, bounds: Sequence[Any] | None = None) -> ContinuousCodec:
        """Learn the scale from observed cells."""
        seen = column.values[~column.missing]
        seen = seen[np.isfinite(seen)]
        low, high = float(seen.min()), float(seen.max())
        floor, ceiling = (low, high) if bounds is None else _bounds(column, bounds)
        grid = replace(column.grid, step=max(column.grid.step, float(column.grid.whole)))
        return cls(column.dtype, column.meaning, column.origin, grid, low, high, floor, ceiling)

    def encode(self, column: Column) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Scale a column, and say where nothing is known: at holes, and at NaN that is no hole."""
        unknown = column.missing | ~np.isfinite(column.values)
        shift = float(column.origin - self.origin) - self._centre
        scaled = (np.where(unknown, -shift, column.values) + shift) / self._half
        return scaled.clip(-_FARTHEST, _FARTHEST).astype(np.float32), unknown

    def decode(self, column: Column, rows: NDArray[np.int64], scaled: NDArray[np.floating]) -> Filling:
        """Turn estimates into values for a column.

        They lie on the coarser of two grids: that of the fit and that of the dtype to be filled. The habit
        of the column's values does not count, or a fill would depend on the rows beside it.
        """
        coarse = column if column.grid.step > self.grid.step else self
        shift = float(self.origin - coarse.origin)
        values = scaled.astype(np.float64) * self._half + self._centre + shift
        low, high = self.floor + shift, self.ceiling + shift
        step = coarse.grid.step
        if step:
            values = np.round(values / step) * step
            low, high = np.ceil(_near(low / step)) * step, np.floor(_near(high / step)) * step
        if low <= high:  # else the range holds no point of the grid, and the nearest one has to do
            values = values.clip(low, high)
        return Filling(
            rows,
            values.clip(coarse.grid.low, coarse.grid.high),
            coarse.origin,
            grid=Grid(step, days=self.grid.days),
            meaning=self.meaning,
        )

    @property
    def _centre(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def _half(self) -> float:
        return self.high / 2 - self.low / 2 or 1.0  # a constant column has no spread to scale by


def _near(ratio: float) -> float:
    """Take a number for whole if only rounding tells it apart: 1.001 / 0.001 is 1001."""
    if math.isinf(ratio):
        return ratio
    whole = float(np.round(ratio))
    return whole if abs(ratio - whole) <= 1e-9 + 1e-15 * abs(ratio) else ratio


def _bounds(column: Column, bounds: Sequence[Any]) -> tuple[float, float]:
    """Put the caller's bounds into the units of a column; None is no bound."""
    sides = [None if side is None else number_of(side, column.meaning) for side in bounds]
    if column.grid.days:
        sides = [
            _midnight(side, number, up=up)
            for side, number, up in zip(bounds, sides, (True, False), strict=True)
        ]
    for side, number in zip(bounds, sides, strict=True):
        if side is not None and number is None:
            raise TypeError(
                f"bounds of {describe([(column.name, column.dtype)])} must be of its own kind, "
                f"a {column.meaning}; got {side!r}"
            )
    low, high = (None if number is None else float(number - column.origin) for number in sides)
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    if low > high:
        raise ValueError(
            f"bounds of {describe([(column.name, column.dtype)])} must rise, "
            f"got {bounds[0]!r} and {bounds[1]!r}"
        )
    return low, high


def _midnight(bound: Any, number: Fraction | None, *, up: bool) -> Fraction | None:
    """Move a bound inwards to a midnight of its own clock, so that the nearest midnight is never outside."""
    if number is None:
        return None
    offset = getattr(bound, "utcoffset", lambda: None)() or dt.timedelta()
    ahead = offset // dt.timedelta(microseconds=1) * 1000
    days = (number + ahead) / _DAY
    return (math.ceil(days) if up else math.floor(days)) * Fraction(_DAY) - ahead
