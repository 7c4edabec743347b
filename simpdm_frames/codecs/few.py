"""Whole numbers of which there are few: levels to the model, numbers to everyone else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.codecs.labels import as_labels, may_hold
from simpdm_frames.column import Column, Filling, Kind

__all__ = ["FewCodec", "distinct"]


@dataclass(frozen=True)
class FewCodec:
    """Give each observed number a code, and take the number that is nearest to the expectation.

    A number that was never seen counts as the nearest one that was.

    Examples
    --------
    >>> from simpdm_frames.column import Grid
    >>> cylinders = Column("cylinders", "Int8", Kind.CONTINUOUS, np.array([False, False, False, True]),
    ...                    np.array([4, 6, 8, 0]), unit=1, grid=Grid(1.0))
    >>> codec = FewCodec.learn(cylinders)
    >>> codec.levels
    (4, 6, 8)
    >>> filling = codec.decode(cylinders, np.array([3]), np.array([[0.1, 0.7, 0.2]]))
    >>> [filling.levels[code] for code in filling.values]
    [6]
    """

    dtype: str
    meaning: str
    levels: tuple[int, ...]
    cell: type | None = None

    @classmethod
    def learn(cls, column: Column) -> FewCodec:
        """Learn the numbers that are observed."""
        levels: Any = as_labels(column).levels
        return cls(column.dtype, column.meaning, tuple(sorted(levels)), column.cell)

    def encode(self, column: Column) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Give codes, and where nothing is known."""
        known = column.known
        if column.kind is Kind.DISCRETE:  # the same numbers as categories
            labels: Any = column.levels
            distances = np.array([float(label - self.levels[0]) for label in labels] or [0.0])
            numbers = distances[np.where(known, column.values, 0)]
        else:
            numbers = np.where(known, column.numbers(self.levels[0]), 0.0)
        return self._nearest(numbers), ~known

    def decode(self, column: Column, rows: NDArray[np.int64], probabilities: NDArray[np.floating]) -> Filling:
        """Take the level nearest to the expectation: the lowest squared error that can be had.

        Only levels that the column can hold count.
        """
        held = may_hold(column, self.levels)
        expected = probabilities.astype(np.float64) @ self._numbers
        narrow = FewCodec(self.dtype, self.meaning, tuple(np.array(self.levels, dtype=object)[held].tolist()))
        codes = narrow._nearest(expected + float(self.levels[0] - narrow.levels[0]))
        return Filling(rows, codes, levels=narrow.levels, meaning=self.meaning, cell=self.cell)

    @property
    def _numbers(self) -> NDArray[np.float64]:
        return np.array([float(level - self.levels[0]) for level in self.levels])

    def _nearest(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Give the code of the level nearest to each number, counted from the first level."""
        levels = self._numbers
        return np.searchsorted((levels[1:] + levels[:-1]) / 2, numbers).astype(np.int64)


def distinct(column: Column, most: int) -> int:
    """Count the values of a column, up to one more than ``most``; a look at some rows saves the rest."""
    some = column.rows(slice(10_000))
    few = len(np.unique(some.values[some.known]))
    return few if few > most or len(column) <= 10_000 else len(np.unique(column.values[column.known]))
