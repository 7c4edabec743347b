"""A whole table: which columns are modelled, in which order the engine sees them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simpdm_frames.codecs.continuous import ContinuousCodec
from simpdm_frames.codecs.discrete import DiscreteCodec
from simpdm_frames.column import Column, Filling, Kind
from simpdm_frames.encoded import Completed, Encoded, Layout
from simpdm_frames.errors import ColumnsDifferError, MeaningDiffersError, describe

__all__ = ["TableCodec"]

_MOST_LEVELS = 256  # beyond it a column is text or an identity, and its levels are too rare to learn


@dataclass(frozen=True)
class TableCodec:
    """The codecs of all modelled columns: numbers first, then categories.

    ``left`` says of the other columns why they are not modelled.
    """

    numbers: Mapping[Hashable, ContinuousCodec]
    categories: Mapping[Hashable, DiscreteCodec]
    left: Mapping[Hashable, str]

    @classmethod
    def learn(cls, columns: Sequence[Column]) -> TableCodec:
        """Learn scales and levels from observed cells only."""
        numbers: dict[Hashable, ContinuousCodec] = {}
        categories: dict[Hashable, DiscreteCodec] = {}
        left: dict[Hashable, str] = {}
        for column in columns:
            if column.kind is Kind.OPAQUE:
                left[column.name] = "its dtype cannot be modelled, so convert or fill it yourself"
            elif column.missing.all():
                left[column.name] = "it has no observed cell"
            elif column.kind is Kind.CONTINUOUS:
                _refuse_infinite(column)
                numbers[column.name] = ContinuousCodec.learn(column)
            elif len(column.levels) > _MOST_LEVELS:
                left[column.name] = f"it has {len(column.levels)} levels, more than {_MOST_LEVELS}"
            else:
                categories[column.name] = DiscreteCodec.learn(column)
        return cls(numbers, categories, left)

    @property
    def layout(self) -> Layout:
        """The shape that the engine works on."""
        return Layout(len(self.numbers), tuple(len(codec.levels) for codec in self.categories.values()))

    def knows(self, name: Hashable) -> bool:
        """Tell whether a column is modelled."""
        return name in self.numbers or name in self.categories

    def why_left(self, name: Hashable) -> str:
        """Say why a column is not filled."""
        return self.left.get(name, "it was not there when the model was fit, so fit again to fill it")

    def encode(self, columns: Sequence[Column]) -> Encoded:
        """Turn columns into numbers and codes, matched by name."""
        by_name = {column.name: column for column in columns}
        self._refuse_others(by_name)
        n = len(columns[0].missing) if columns else 0
        layout = self.layout
        numbers = np.zeros((n, layout.n_numbers), dtype=np.float32)
        codes = np.zeros((n, layout.n_categories), dtype=np.int64)
        missing = np.zeros((n, layout.n_columns), dtype=bool)
        for place, (name, scale) in enumerate(self.numbers.items()):
            _refuse_infinite(by_name[name])
            numbers[:, place] = scale.encode(by_name[name])
            missing[:, place] = by_name[name].missing
        for place, (name, levels) in enumerate(self.categories.items()):
            codes[:, place], missing[:, layout.n_numbers + place] = levels.encode(by_name[name])
        return Encoded(layout, numbers, codes, missing)

    def decode(self, columns: Sequence[Column], completed: Completed) -> dict[int, Filling]:
        """Turn estimates into fillings, by position of the column, for holes only."""
        heads = dict(zip(self.categories, completed.heads(), strict=True))
        places = {name: place for place, name in enumerate(self.numbers)}
        fillings: dict[int, Filling] = {}
        for position, column in enumerate(columns):
            rows = np.flatnonzero(column.missing)
            if not len(rows):
                continue
            if column.name in self.numbers:
                estimate = completed.numbers[rows, places[column.name]]
                fillings[position] = self.numbers[column.name].decode(column, rows, estimate)
            elif column.name in self.categories:
                fillings[position] = self.categories[column.name].decode(rows, heads[column.name][rows])
        return fillings

    def _refuse_others(self, by_name: Mapping[Hashable, Column]) -> None:
        codecs: dict[Hashable, ContinuousCodec | DiscreteCodec] = {**self.numbers, **self.categories}
        lost = [(name, codec.dtype) for name, codec in codecs.items() if name not in by_name]
        if lost:
            raise ColumnsDifferError(
                f"the frame lacks columns that the model needs: {describe(lost)}; add them, with holes if "
                "nothing is known, or fit a model without them"
            )
        changed = [
            f"{name!r} was a {codec.meaning} ({codec.dtype}), now it is {_what(by_name[name])}"
            for name, codec in codecs.items()
            if not _can_stand_for(by_name[name], codec)
        ]
        if changed:
            raise MeaningDiffersError(
                f"columns mean something else than at the fit: {'; '.join(changed)}; convert them, or fit again"
            )


def _can_stand_for(column: Column, codec: ContinuousCodec | DiscreteCodec) -> bool:
    if column.kind is Kind.BLANK:
        return codec.meaning in {"number", "label"}  # what a column that holds anything can be given
    return column.meaning == codec.meaning


def _what(column: Column) -> str:
    return f"blank ({column.dtype})" if column.kind is Kind.BLANK else f"a {column.meaning} ({column.dtype})"


def _refuse_infinite(column: Column) -> None:
    if np.isinf(column.values[~column.missing]).any():
        raise ValueError(
            f"{describe([(column.name, column.dtype)])} holds infinite values; replace them, "
            "or make them missing"
        )
