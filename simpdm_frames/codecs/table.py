"""A whole table: which columns are modelled, in which order the engine sees them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simpdm_frames.codecs.choices import Choices
from simpdm_frames.codecs.continuous import ContinuousCodec
from simpdm_frames.codecs.discrete import DiscreteCodec
from simpdm_frames.codecs.few import FewCodec
from simpdm_frames.codecs.labels import as_labels, may_hold
from simpdm_frames.codecs.ordinal import OrdinalCodec
from simpdm_frames.codecs.policy import Role, Treatment, decide
from simpdm_frames.column import Column, Filling, Kind
from simpdm_frames.encoded import Completed, Encoded, Layout
from simpdm_frames.errors import ColumnsDifferError, HolesLeftError, MeaningDiffersError, describe

__all__ = ["TableCodec"]

NumberCodec = ContinuousCodec | OrdinalCodec
LevelCodec = DiscreteCodec | FewCodec
# What a column that holds anything can be given.
_OBJECTS = {"number", "label", "truth value", "date", "duration", "time of day"}
_BLOCK = 16_384  # rows that are encoded at a time: columns are put side by side while they are in the cache


@dataclass(frozen=True)
class TableCodec:
    """The codecs of all modelled columns: those that are one number first, then those with levels.

    ``plan`` says of every column of the fit what it was treated as.
    """

    numbers: Mapping[Hashable, NumberCodec]
    categories: Mapping[Hashable, LevelCodec]
    plan: Mapping[Hashable, Treatment]

    @classmethod
    def learn(cls, columns: Sequence[Column], choices: Choices | None = None) -> TableCodec:
        """Learn scales and levels from observed cells only; the columns' holes are marked already."""
        choices = (choices or Choices()).resolve([column.name for column in columns])
        numbers: dict[Hashable, NumberCodec] = {}
        categories: dict[Hashable, LevelCodec] = {}
        plan = {column.name: decide(column, choices) for column in columns}
        for column in columns:
            role, name = plan[column.name].role, column.name
            if role is Role.NUMBER:
                codec = choices.codecs.get(name, ContinuousCodec)
                numbers[name] = codec.learn(column, choices.bounds.get(name))
            elif role is Role.ORDINAL:
                numbers[name] = OrdinalCodec.learn(column, choices.ordinal[name])
            elif role is Role.FEW:
                categories[name] = FewCodec.learn(column)
            elif role is Role.LABELS:
                categories[name] = DiscreteCodec.learn(column)
        unbounded = [
            f"{describe([(name, plan[name].dtype)])}, treated as {plan[name].role.value}: {plan[name].why}"
            for name in choices.bounds
            if plan[name].role is not Role.NUMBER
        ]
        if unbounded:
            raise ValueError(f"bounds are for numbers, dates and durations, not for {'; '.join(unbounded)}")
        return cls(numbers, categories, plan)

    @property
    def layout(self) -> Layout:
        """The shape that the engine works on."""
        return Layout(len(self.numbers), tuple(len(codec.levels) for codec in self.categories.values()))

    @cached_property
    def codecs(self) -> dict[Hashable, NumberCodec | LevelCodec]:
        """The codecs of all modelled columns, in the engine's order."""
        return {**self.numbers, **self.categories}

    def why_left(self, column: Column) -> str:
        """Say why the holes of a column stay; nothing if they are filled."""
        treatment = self.plan.get(column.name)
        if treatment is None:
            return "it was not there when the model was fit; fit again to fill it"
        if not treatment.fill:
            return treatment.why
        return _why_unable(column, self.codecs[column.name])

    def by_choice(self, name: Hashable) -> bool:
        """Tell whether the caller chose to leave a column as it is."""
        return name in self.plan and self.plan[name].by_choice

    def strangers(self, columns: Sequence[Column]) -> dict[Hashable, list[Hashable]]:
        """List the labels that were not there at the fit, by column."""
        codecs = self.codecs
        found: dict[Hashable, list[Hashable]] = {}
        for column in columns:
            codec = codecs.get(column.name)
            if isinstance(codec, DiscreteCodec | OrdinalCodec) and not _is_blank(column):
                strange = codec.strangers(column)
                if strange:
                    found[column.name] = strange
        return found

    def narrow(self, columns: Sequence[Column]) -> dict[Hashable, str]:
        """Say of columns with holes which fills their dtype rules out; those that are left apart."""
        found: dict[Hashable, str] = {}
        for column in columns:
            codec = self.codecs.get(column.name)
            if (
                codec is None
                or column.kind is Kind.BLANK
                or not column.missing.any()
                or self.why_left(column)
            ):
                continue
            if isinstance(codec, ContinuousCodec):
                lost = "" if codec.fits(column.grid) else "some of the numbers that the model knows"
            else:
                rest = np.flatnonzero(~may_hold(column, codec.levels)).tolist()
                lost = ", ".join(repr(codec.levels[place]) for place in rest[:5])
            if lost:
                found[column.name] = lost
        return found

    def check(self, columns: Sequence[Column], *, by_dtype: bool = False) -> None:
        """Refuse a frame that lacks columns, or whose columns mean something else than at the fit.

        A column without an observed cell means nothing, unless its dtype alone is asked.
        """
        by_name = {column.name: column for column in columns}
        codecs = self.codecs
        lost = [(name, codec.dtype) for name, codec in codecs.items() if name not in by_name]
        if lost:
            extra = {str(name).casefold(): name for name in by_name if name not in self.plan}
            meant = [(name, extra[str(name).casefold()]) for name, _ in lost if str(name).casefold() in extra]
            hint = "".join(f"; is {other!r} meant to be {name!r}?" for name, other in meant)
            raise ColumnsDifferError(
                f"the frame lacks columns that the model needs: {describe(lost)}; add them, with holes if "
                f"nothing is known, or fit a model without them{hint}"
            )
        changed = [
            f"{name!r} was a {codec.meaning} ({codec.dtype}), now it is {_what(by_name[name])}"
            for name, codec in codecs.items()
            if not _can_stand_for(by_name[name], codec)
            and by_name[name].kind is not Kind.BLANK
            and (by_dtype or not by_name[name].missing.all())
        ]
        if changed:
            raise MeaningDiffersError(
                f"columns mean something else than at the fit: {'; '.join(changed)}; convert them, or fit again"
            )

    def encode(self, columns: Sequence[Column]) -> Encoded:
        """Turn columns into numbers and codes, matched by name."""
        self.check(columns)
        by_name = {column.name: column for column in columns}
        n = len(columns[0]) if columns else 0
        layout = self.layout
        numbers = np.zeros((n, layout.n_numbers), dtype=np.float32)
        codes = np.zeros((n, layout.n_categories), dtype=np.int64)
        missing = np.ones((n, layout.n_columns), dtype=bool)
        for begin in range(0, n, _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            for place, (name, number) in enumerate(self.numbers.items()):
                column = by_name[name].rows(rows)
                if not _is_blank(column):
                    numbers[rows, place], missing[rows, place] = number.encode(column)
            for place, (name, level) in enumerate(self.categories.items(), layout.n_numbers):
                column = by_name[name].rows(rows)
                if not _is_blank(column):
                    codes[rows, place - layout.n_numbers], missing[rows, place] = level.encode(column)
        return Encoded(layout, numbers, codes, missing)

    def decode(self, columns: Sequence[Column], completed: Completed) -> dict[Hashable, Filling]:
        """Turn estimates into fillings, by name, for the holes of columns that can hold them."""
        heads = dict(zip(self.categories, completed.heads(), strict=True))
        places = {name: place for place, name in enumerate(self.numbers)}
        fillings: dict[Hashable, Filling] = {}
        for column in columns:
            rows = np.flatnonzero(column.missing)
            if not len(rows) or column.name not in self.codecs:
                continue
            name = column.name
            estimate = completed.numbers[rows, places[name]] if name in places else heads[name][rows]
            if not np.isfinite(estimate).all():
                what = describe([(name, column.dtype)])
                raise HolesLeftError(f"the model gives no finite value for {what}; fit it anew")
            fillings[name] = self.codecs[name].decode(column, rows, estimate)
        return fillings


def _is_blank(column: Column) -> bool:
    """Tell whether nothing is known of a column, so that its dtype need not mean anything."""
    return column.kind is Kind.BLANK or not column.known.any()


def _can_stand_for(column: Column, codec: NumberCodec | LevelCodec) -> bool:
    """Tell whether the values of a column can be what they were at the fit."""
    same = column.meaning == codec.meaning
    if isinstance(codec, ContinuousCodec):
        return same and column.kind is Kind.CONTINUOUS
    if column.kind not in {Kind.CONTINUOUS, Kind.DISCRETE}:
        return False
    if same or not isinstance(codec, DiscreteCodec):
        return same
    if column.kind is not Kind.DISCRETE and not _holds_anything(column):
        return False
    # Labels of one type may be a part of labels of several types.
    kinds = {type(label) for label in as_labels(column).levels}
    return kinds <= {type(label) for label in codec.levels}


def _why_unable(column: Column, codec: NumberCodec | LevelCodec) -> str:
    """Say why the dtype of a column cannot hold what the model would fill in."""
    if column.kind is Kind.BLANK:
        suits = _holds_anything(column) and codec.meaning in _OBJECTS
    else:
        suits = _can_stand_for(column, codec)
    if not suits:
        return f"its dtype cannot hold a {codec.meaning} that the model knows; convert it to {codec.dtype}"
    if isinstance(codec, ContinuousCodec):
        held = codec.reaches(column.grid)
    else:
        held = bool(may_hold(column, codec.levels).any())
    return (
        ""
        if held
        else "its dtype can hold none of the values that the model knows; convert it to a wider one"
    )


def _holds_anything(column: Column) -> bool:
    return column.holds is not None and object in column.holds


def _what(column: Column) -> str:
    labels = "as a label " if column.kind is Kind.DISCRETE and column.meaning == "number" else ""
    return f"a {column.meaning} {labels}({column.dtype})"
