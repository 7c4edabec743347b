"""Levels of a set: strings, bools and categories."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling

__all__ = ["DiscreteCodec"]


@dataclass(frozen=True)
class DiscreteCodec:
    """Give each observed label a code.

    Examples
    --------
    >>> from simpdm_frames.column import Kind
    >>> colour = Column("colour", "str", Kind.DISCRETE, np.array([False, False, True]),
    ...                 np.array([0, 1, 0]), levels=("blue", "red"))
    >>> codec = DiscreteCodec.learn(colour)
    >>> codec.decode(np.array([2]), np.array([[0.2, 0.8]])).values.tolist()
    [1]
    """

    dtype: str
    meaning: str
    levels: tuple[Hashable, ...]

    @classmethod
    def learn(cls, column: Column) -> DiscreteCodec:
        """Learn the labels that are observed."""
        used = np.unique(column.values[~column.missing]).tolist()
        return cls(column.dtype, column.meaning, tuple(column.levels[int(code)] for code in used))

    def encode(self, column: Column) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Give codes, and where there is none: at holes and at labels that were never seen."""
        # 1, 1.0 and True are equal to Python but not the same label.
        known = {(type(label), label): code for code, label in enumerate(self.levels)}
        codes_of_levels = [known.get((type(label), label), -1) for label in column.levels]
        lookup = np.array([*codes_of_levels, -1], dtype=np.int64)
        codes = lookup[np.where(column.missing, -1, column.values).astype(np.int64)]
        return codes.clip(0), codes < 0

    def decode(self, rows: NDArray[np.int64], probabilities: NDArray[np.floating]) -> Filling:
        """Take the most probable label."""
        return Filling(rows, probabilities.argmax(axis=1), levels=self.levels)
