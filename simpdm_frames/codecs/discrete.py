"""Labels without an order: strings, bools and categories."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.codecs.labels import as_labels, lookup, may_hold
from simpdm_frames.column import Column, Filling

__all__ = ["DiscreteCodec", "standing_out"]

_WIDEST = 1024  # one head of the model is as wide as this at most
_TO_THE_RARE = 0.25  # power of a label's count that its probability is divided by
_NEARLY = 0.5  # of the highest probability, at least


@dataclass(frozen=True)
class DiscreteCodec:
    """Give each observed label a code; of very many labels, the most frequent.

    ``counts`` says how often each was observed. ``rest`` is True where rare labels have no code: they are known, and count
    as unknown.

    Examples
    --------
    >>> from simpdm_frames.column import Kind
    >>> colour = Column("colour", "str", Kind.DISCRETE, np.array([False, False, True]),
    ...                 np.array([0, 1, 0]), levels=("blue", "red"), meaning="label")
    >>> codec = DiscreteCodec.learn(colour)
    >>> codec.decode(colour, np.array([2]), np.array([[0.2, 0.8]])).values.tolist()
    [1]
    """

    dtype: str
    meaning: str
    levels: tuple[Hashable, ...]
    counts: tuple[int, ...]
    rest: bool = False
    cell: type | None = None

    @classmethod
    def learn(cls, column: Column) -> DiscreteCodec:
        """Learn the labels that are observed."""
        labels = as_labels(column)
        counts = np.bincount(labels.values[~labels.missing].astype(np.int64), minlength=len(labels.levels))
        used = np.flatnonzero(counts)
        if len(used) > _WIDEST:
            used = np.sort(used[np.argsort(-counts[used], kind="stable")[:_WIDEST]])
        levels = tuple(labels.levels[code] for code in used.tolist())
        rest = len(levels) < int(np.count_nonzero(counts))
        return cls(column.dtype, column.meaning, levels, tuple(counts[used].tolist()), rest, column.cell)

    def encode(self, column: Column) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Give codes, and where there is none: at holes and at labels that were never seen."""
        labels = as_labels(column)
        codes = np.append(lookup(self.levels, labels), -1)[np.where(labels.missing, -1, labels.values)]
        return codes.clip(0), codes < 0

    def strangers(self, column: Column) -> list[Hashable]:
        """List the labels of a column that were not there at the fit."""
        if self.rest:
            return []
        labels = as_labels(column)
        return [labels.levels[place] for place in np.flatnonzero(lookup(self.levels, labels) < 0).tolist()]

    def decode(self, column: Column, rows: NDArray[np.int64], probabilities: NDArray[np.floating]) -> Filling:
        """Take a label of those that the column can hold, as ``standing_out`` does."""
        held = np.flatnonzero(may_hold(column, self.levels))
        levels = tuple(self.levels[place] for place in held.tolist())
        codes = standing_out(probabilities[:, held], np.array(self.counts)[held])
        return Filling(rows, codes, levels=levels, meaning=self.meaning, cell=self.cell)


def standing_out(probabilities: NDArray[np.floating], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose a level by its probability, and a little by how much that stands out from how often the level occurs.

    Of two levels that are about equally probable, either is right about as often. So it costs next to nothing to take the
    rarer one there, and the rare ones are found more often. One that is less than half as probable as another is never
    taken, however rare. A level that is certain is always taken.

    Shape
    -----
    ``probabilities`` (n, levels), ``counts`` (levels,), at least 1; result (n,).

    Examples
    --------
    >>> standing_out(np.array([[0.52, 0.48], [0.7, 0.3], [1.0, 0.0]]), np.array([80, 20])).tolist()
    [1, 0, 0]
    """
    near = probabilities >= _NEARLY * probabilities.max(axis=1, keepdims=True)
    chosen: NDArray[np.int64] = np.where(near, probabilities / counts**_TO_THE_RARE, -1.0).argmax(axis=1)
    return chosen
