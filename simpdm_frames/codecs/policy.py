"""What each column is treated as, and why."""

from __future__ import annotations

import enum
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simpdm_frames.codecs.choices import Choices
from simpdm_frames.codecs.continuous import ContinuousCodec
from simpdm_frames.codecs.few import distinct
from simpdm_frames.codecs.habit import is_whole
from simpdm_frames.codecs.holes import are_dates
from simpdm_frames.column import Column, Kind
from simpdm_frames.errors import describe

__all__ = ["Role", "Treatment", "decide"]

_FEW = 10  # whole numbers with at most so many values are levels …
_REPEATS = 3  # … if each stands so often on average; else there are few only because rows are few
_MOST_LEVELS = 256  # beyond it labels are too rare to learn
_SOME = 20  # with fewer labels than this, no column is taken for text
_ID_NAME = re.compile(r"(?i:(^|[^a-z])(id|uuid|guid)$|^(id|uuid|guid)([^a-z]|$))|[a-z](Id|ID)$")


class Role(enum.Enum):
    """What a column is to the model."""

    NUMBER = "number"
    FEW = "number with few values"
    ORDINAL = "ordered labels"
    LABELS = "labels"
    IDENTITY = "left: text or identity"
    UNSUPPORTED = "left: unsupported"
    EMPTY = "left: empty"
    IGNORED = "ignored"


_MODELLED = {Role.NUMBER, Role.FEW, Role.ORDINAL, Role.LABELS}


@dataclass(frozen=True)
class Treatment:
    """What a column was treated as at the fit.

    Parameters
    ----------
    name, dtype
        Of the column.
    role
        What it is to the model.
    why
        The reason, in words; of a column that is left, with the way out.
    fill
        Whether its holes are filled.
    holes
        Whether it had holes at the fit.
    by_choice
        Whether the caller chose to leave it.
    """

    name: Hashable
    dtype: str
    role: Role
    why: str
    fill: bool
    holes: bool
    by_choice: bool = False

    @property
    def modelled(self) -> bool:
        """Whether the model looks at the column."""
        return self.role in _MODELLED


def decide(column: Column, choices: Choices) -> Treatment:
    """Decide what a column is treated as; the caller's choices come first."""
    role, why = _decide(column, choices)
    wanted = choices.columns is None or column.name in choices.columns
    modelled = role in _MODELLED
    if modelled and not wanted:
        why += "; not filled, as columns does not name it"
    left_by_choice = role is Role.IGNORED or not wanted
    holes = bool(column.missing.any())
    return Treatment(column.name, column.dtype, role, why, modelled and wanted, holes, left_by_choice)


def _decide(column: Column, choices: Choices) -> tuple[Role, str]:
    if column.name in choices.ignore:
        return Role.IGNORED, "ignore names it"
    if column.kind is Kind.OPAQUE:
        return Role.UNSUPPORTED, "its dtype cannot be modelled; convert it, or fill it yourself"
    if not column.known.any():
        return Role.EMPTY, "it has no observed cell; drop it, or fill it yourself"
    if column.name in choices.codecs:
        return _own(column, choices.codecs[column.name])
    if column.name in choices.categorical:
        return Role.LABELS, "categorical names it"
    if column.name in choices.ordinal:
        return _ordinal(column, choices.ordinal[column.name])
    named = choices.columns is not None and column.name in choices.columns
    reason = "" if named else _identity(column)
    if reason:
        return Role.IDENTITY, f"{reason}; {_way_out(column)}"
    if column.kind is Kind.DISCRETE:
        return Role.LABELS, f"{_plural(column.meaning)}, {_count(len(column.levels))}"
    n_values = _few_values(column)
    if n_values and column.name not in choices.bounds:
        return Role.FEW, f"whole numbers, {_count(n_values)}; name it in ordinal for a plain number"
    return Role.NUMBER, _plural(column.meaning)


def _own(column: Column, codec: Any) -> tuple[Role, str]:
    """Take a codec that the caller brings, for a column of numbers."""
    what = describe([(column.name, column.dtype)])
    if not (isinstance(codec, type) and issubclass(codec, ContinuousCodec)):
        raise TypeError(f"codecs gives {what} {codec!r}, which is no class derived from ContinuousCodec")
    if column.kind is not Kind.CONTINUOUS:
        raise TypeError(f"codecs names {what}, whose values are {_plural(column.meaning)}, not numbers")
    return Role.NUMBER, f"codecs names it: {codec.__name__}"


def _ordinal(column: Column, order: Sequence[Hashable] | None) -> tuple[Role, str]:
    """Take numbers as they are, and labels in an order that has to come from somewhere."""
    what = describe([(column.name, column.dtype)])
    if column.kind is Kind.CONTINUOUS:
        if order is not None:
            raise ValueError(
                f"ordinal gives an order to {what}, whose values are {_plural(column.meaning)} and have one; "
                "list its name alone"
            )
        return Role.NUMBER, "ordinal names it"
    if order is None and not column.ordered:
        raise ValueError(
            f"{what} has no order of its own; "
            f"give one, as in ordinal={{{column.name!r}: [lowest, …, highest]}}"
        )
    return Role.ORDINAL, f"ordinal names it: {' < '.join(map(str, order or column.levels))}"


def _few_values(column: Column) -> int:
    """Count the values of a column of whole numbers that has few of them; 0 for any other."""
    if not is_whole(column) or _span(column) >= 2**53:
        return 0
    n_values = distinct(column, _FEW)
    repeats = _REPEATS * n_values <= np.count_nonzero(column.known)
    return n_values if n_values <= _FEW and repeats else 0


def _span(column: Column) -> int:
    """The distance of the lowest and the highest whole number."""
    seen = column.values[column.known]
    return int(seen.max()) - int(seen.min())


def _identity(column: Column) -> str:
    """Say why a column looks like an identity or like text, if it does."""
    n_seen = int(np.count_nonzero(column.known))
    if column.kind is Kind.DISCRETE:
        n_levels = len(column.levels)
        if n_levels > _MOST_LEVELS:
            return f"it has {n_levels} labels, more than {_MOST_LEVELS}"
        if n_levels > _SOME and 2 * n_levels > n_seen:
            return f"it looks like text or an identity: {n_levels} labels in {n_seen} cells"
        return ""
    if n_seen <= _SOME or not is_whole(column):
        return ""
    if _counts_rows(column.rows(slice(1000))) and _counts_rows(column):
        return "it looks like a row number: it counts the rows"
    if _ID_NAME.search(str(column.name)) and len(np.unique(column.values[column.known])) == n_seen:
        return "it looks like an identity: its name says so and no value repeats"
    return ""


def _way_out(column: Column) -> str:
    """Say what makes the model look at a column that looks like an identity or like text."""
    if are_dates(column.levels):
        return (
            "its labels look like dates; convert it to dates, or have it read so (parse_dates in pandas, "
            "try_parse_dates in polars)"
        )
    option = "categorical" if column.kind is Kind.DISCRETE else "ordinal"
    wish = "to fill it all the same" if column.missing.any() else "if the model shall look at it"
    return f"name it in {option} {wish}"


def _counts_rows(column: Column) -> bool:
    """Tell whether each number is that of its row, counted from 0 or 1; true of a column of holes."""
    offsets = (column.numbers(0) - np.arange(len(column)))[column.known]
    return not len(offsets) or bool((offsets == offsets[0]).all() and offsets[0] in {0, 1})


def _plural(meaning: str) -> str:
    """Say what several values are: dates with time zone, times of day."""
    first, _, rest = meaning.partition(" ")
    return f"{meaning}s" if meaning == "truth value" else f"{first}s {rest}".strip()


def _count(number: int) -> str:
    return "all the same" if number == 1 else f"{number} different ones"
