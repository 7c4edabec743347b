"""Labels with an order: one number to the model, the rank."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.codecs.labels import as_labels, key, lookup, may_hold
from simpdm_frames.column import Column, Filling
from simpdm_frames.errors import describe

__all__ = ["OrdinalCodec"]


@dataclass(frozen=True)
class OrdinalCodec:
    """Put the ranks of the observed labels on [-1, 1], and take the label of the nearest rank.

    Examples
    --------
    >>> from simpdm_frames.column import Kind
    >>> size = Column("size", "str", Kind.DISCRETE, np.array([False, False, False, True]),
    ...               np.array([0, 1, 2, 0]), levels=("L", "M", "S"), meaning="label")
    >>> codec = OrdinalCodec.learn(size, ["S", "M", "L"])
    >>> codec.encode(size)[0].tolist()[:3]
    [1.0, 0.0, -1.0]
    >>> codec.decode(size, np.array([3]), np.array([0.6])).values.tolist()
    [2]
    """

    dtype: str
    meaning: str
    levels: tuple[Hashable, ...]
    ranks: tuple[int, ...]

    @classmethod
    def learn(cls, column: Column, order: Sequence[Hashable] | None = None) -> OrdinalCodec:
        """Learn the labels that are observed, in a given order or in that of the column."""
        used = np.unique(column.values[~column.missing]).tolist()
        observed = [column.levels[code] for code in used]
        order = column.levels if order is None else order
        given = {key(_plain(label)): rank for rank, label in enumerate(order)}
        # 0 and 1 may stand for False and True.
        ranks = {
            code: given.get(key(label), given.get(("number", label), -1) if type(label) is bool else -1)
            for code, label in zip(used, observed, strict=True)
        }
        lacking = [column.levels[code] for code, rank in ranks.items() if rank < 0]
        if lacking:
            raise ValueError(
                f"ordinal gives {describe([(column.name, column.dtype)])} an order without "
                f"{', '.join(map(repr, lacking))}; list every label"
            )
        codes = sorted(ranks, key=ranks.__getitem__)
        levels = tuple(column.levels[code] for code in codes)
        return cls(column.dtype, column.meaning, levels, tuple(ranks[code] for code in codes))

    def encode(self, column: Column) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Give scaled ranks, and where there is none: at holes and at labels that were never seen."""
        labels = as_labels(column)
        codes = np.append(lookup(self.levels, labels), -1)[np.where(labels.missing, -1, labels.values)]
        return np.where(codes < 0, 0.0, self._scaled[codes]).astype(np.float32), codes < 0

    def strangers(self, column: Column) -> list[Hashable]:
        """List the labels of a column that were not there at the fit."""
        labels = as_labels(column)
        return [labels.levels[place] for place in np.flatnonzero(lookup(self.levels, labels) < 0).tolist()]

    def decode(self, column: Column, rows: NDArray[np.int64], scaled: NDArray[np.floating]) -> Filling:
        """Take the label of the nearest rank of those that the column can hold."""
        held = np.flatnonzero(may_hold(column, self.levels))
        levels = tuple(self.levels[place] for place in held.tolist())
        ranks = self._scaled[held]
        codes = np.searchsorted((ranks[1:] + ranks[:-1]) / 2, scaled).astype(np.int64)
        return Filling(rows, codes, levels=levels, meaning=self.meaning)

    @property
    def _scaled(self) -> NDArray[np.float64]:
        ranks = np.array(self.ranks, dtype=np.float64)
        spread = float(ranks[-1] - ranks[0]) or 1.0
        return np.asarray(2 * (ranks - ranks[0]) / spread - (len(ranks) > 1))


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
