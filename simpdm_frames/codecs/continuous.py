"""Numbers on a grid: one codec for floats, integers, dates, durations and decimals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid

__all__ = ["ContinuousCodec"]


@dataclass(frozen=True)
class ContinuousCodec:
    """Put the observed range of a column on [-1, 1], and back onto its grid.

    Examples
    --------
    >>> from simpdm_frames.column import Kind
    >>> years = Column("year", "int64", Kind.CONTINUOUS, np.zeros(3, bool), np.array([0.0, 5.0, 10.0]),
    ...                origin=2010, grid=Grid(step=1.0))
    >>> codec = ContinuousCodec.learn(years)
    >>> codec.encode(years).tolist()
    [-1.0, 0.0, 1.0]
    >>> codec.decode(np.array([0]), np.array([0.47])).values.tolist()
    [7.0]
    """

    origin: int
    grid: Grid
    low: float
    high: float

    @classmethod
    def learn(cls, column: Column) -> ContinuousCodec:
        """Learn the scale from observed cells."""
        seen = column.values[~column.missing]
        return cls(column.origin, column.grid, float(seen.min()), float(seen.max()))

    def encode(self, column: Column) -> NDArray[np.float32]:
        """Scale a column; cells under a hole become 0."""
        values = column.values + float(column.origin - self.origin)
        scaled = (values - self._centre) / self._half
        return np.where(column.missing, 0.0, scaled).astype(np.float32)

    def decode(self, rows: NDArray[np.int64], scaled: NDArray[np.floating]) -> Filling:
        """Turn estimates into values on the grid, inside the observed range."""
        values = scaled.astype(np.float64) * self._half + self._centre
        if self.grid.step:
            values = np.round(values / self.grid.step) * self.grid.step
        values = values.clip(max(self.low, self.grid.low), min(self.high, self.grid.high))
        return Filling(rows, values, self.origin)

    @property
    def _centre(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def _half(self) -> float:
        return self.high / 2 - self.low / 2 or 1.0  # a constant column has no spread to scale by
