"""Numbers on a grid: one codec for floats, integers, dates and durations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid

__all__ = ["ContinuousCodec"]

_FARTHEST = 1e6  # an observed outlier counts as very far out, never as infinite


@dataclass(frozen=True)
class ContinuousCodec:
    """Put the observed range of a column on [-1, 1], and back onto a grid.

    Examples
    --------
    >>> from simpdm_frames.column import Kind
    >>> years = Column("year", "int64", Kind.CONTINUOUS, np.zeros(3, bool), np.array([0.0, 5.0, 10.0]),
    ...                origin=2010, grid=Grid(step=1.0))
    >>> codec = ContinuousCodec.learn(years)
    >>> codec.encode(years).tolist()
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

    @classmethod
    def learn(cls, column: Column) -> ContinuousCodec:
        """Learn the scale from observed cells."""
        seen = column.values[~column.missing]
        low, high = float(seen.min()), float(seen.max())
        return cls(column.dtype, column.meaning, column.origin, column.grid, low, high)

    def encode(self, column: Column) -> NDArray[np.float32]:
        """Scale a column; cells under a hole become 0."""
        shown = np.where(column.missing, 0.0, column.values)
        scaled = (shown + float(column.origin - self.origin) - self._centre) / self._half
        return np.where(column.missing, 0.0, scaled.clip(-_FARTHEST, _FARTHEST)).astype(np.float32)

    def decode(self, column: Column, rows: NDArray[np.int64], scaled: NDArray[np.floating]) -> Filling:
        """Turn estimates into values for a column, inside the range that was observed at the fit.

        They lie on the coarser of two grids: that of the fit and that of the column to be filled.
        """
        coarse = column if column.grid.step > self.grid.step else self
        shift = float(self.origin - coarse.origin)
        values = scaled.astype(np.float64) * self._half + self._centre + shift
        low, high = self.low + shift, self.high + shift
        step = coarse.grid.step
        if step:
            values = np.round(values / step) * step
            low, high = np.ceil(low / step) * step, np.floor(high / step) * step
        if low <= high:  # else the range holds no point of the grid, and the nearest one has to do
            values = values.clip(low, high)
        return Filling(rows, values.clip(coarse.grid.low, coarse.grid.high), coarse.origin)

    @property
    def _centre(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def _half(self) -> float:
        return self.high / 2 - self.low / 2 or 1.0  # a constant column has no spread to scale by
