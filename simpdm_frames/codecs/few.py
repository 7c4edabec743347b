"""Whole numbers of which there are few: levels to the model, numbers to everyone else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.codecs.labels import fill_labels
from simpdm_frames.column import Column, Filling

__all__ = ["FewCodec", "distinct"]


@dataclass(frozen=True)
class FewCodec:
    """Give each observed number a code, and take the number that is nearest to the expectation.

    A number that was never seen counts as the nearest one that was.

    Examples
    --------
    >>> from simpdm_frames.column import Grid, Kind
    >>> cylinders = Column("cylinders", "Int8", Kind.CONTINUOUS, np.array([False, False, False, True]),
    ...                    np.array([0.0, 2.0, 4.0, 0.0]), origin=4, grid=Grid(1.0, whole=True))
    >>> codec = FewCodec.learn(cylinders)
    >>> codec.levels
    (4, 6, 8)
    >>> filling = codec.decode(cylinders, np.array([3]), np.array([[0.1, 0.7, 0.2]]))
    >>> (filling.origin + filling.values).tolist()
    [6.0]
    """

    dtype: str
    meaning: str
    levels: tuple[int, ...]

    @classmethod
    def learn(cls, column: Column) -> FewCodec:
        """Learn the numbers that are observed."""
        numbers = np.unique(_seen(column)).tolist()
        return cls(column.dtype, column.meaning, tuple(column.origin + round(number) for number in numbers))

    def encode(self, column: Column) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Give codes, and where nothing is known."""
        unknown = column.missing | ~np.isfinite(column.values)
        return self._nearest(np.where(unknown, 0.0, column.values), column.origin), unknown

    def decode(self, column: Column, rows: NDArray[np.int64], probabilities: NDArray[np.floating]) -> Filling:
        """Take the level nearest to the expectation: the lowest squared error on this grid."""
        origin = self.levels[0]
        numbers = np.array([float(level - origin) for level in self.levels])
        expected = probabilities.astype(np.float64) @ numbers
        codes = self._nearest(expected, origin)
        return fill_labels(column, rows, codes, self.levels, self.meaning)

    def _nearest(self, values: NDArray[np.float64], origin: int) -> NDArray[np.int64]:
        numbers = np.array([float(level - origin) for level in self.levels])
        return np.searchsorted((numbers[1:] + numbers[:-1]) / 2, values).astype(np.int64)


def distinct(column: Column, most: int) -> int:
    """Count the values of a column, up to one more than ``most``; a look at some rows saves the rest."""
    few = len(np.unique(_seen(column.rows(slice(10_000)))))
    return few if few > most or len(column) <= 10_000 else len(np.unique(_seen(column)))


def _seen(column: Column) -> NDArray[np.float64]:
    seen: NDArray[np.float64] = column.values[~column.missing].astype(np.float64)
    return seen[np.isfinite(seen)]
