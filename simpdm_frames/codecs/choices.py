"""What the caller decides about columns, checked against the columns that there are."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

__all__ = ["Choices", "nearest"]

Reaction = Literal["warn", "raise", "ignore"]
Infinite = Literal["raise", "missing"]
Estimate = Literal["mean", "mode", "draw"]
_APART = (
    ("categorical", "ordinal"),
    ("categorical", "ignore"),
    ("categorical", "codecs"),
    ("ordinal", "ignore"),
    ("ordinal", "codecs"),
    ("columns", "ignore"),
    ("codecs", "ignore"),
)


@dataclass(frozen=True)
class Choices:
    """The options that are about columns.

    Parameters
    ----------
    categorical
        Columns whose values are labels without an order, whatever their dtype.
    ordinal
        Columns whose values are ordered steps; a mapping also gives the order of the labels.
    ignore
        Columns that are neither filled nor looked at.
    columns
        The only columns to be filled; the others are looked at. Naming a column here also fills one that
        would be left as an identity or as text.
    bounds
        Lowest and highest fill by column; None for no bound but the dtype's.
    codecs
        By column, a codec of the caller's own: a class derived from ``ContinuousCodec``.
    missing_values
        Values that stand for a hole, in all columns or by column.
    add_indicator
        Add a column of truth values that tells the holes, for each column that had holes at the fit or
        for those that are listed.
    on_empty, on_unsupported, unseen
        ``"warn"``, ``"raise"`` or ``"ignore"`` when a column has no observed cell, when its dtype or its
        labels cannot be modelled, when a label was not there at the fit.
    inf
        ``"raise"`` at infinite values, or take them as ``"missing"``.
    nan_is_missing
        False keeps NaN where the library tells it from null.
    estimate
        What a hole is filled with: ``"mean"``, the expectation of a number; ``"mode"``, the most probable
        of a number's few values, or label; ``"draw"``, one of the values it could have. Labels have no mean:
        one is chosen by its probability over the fourth root of how often it occurs.
    """

    categorical: Any = ()
    ordinal: Any = ()
    ignore: Any = ()
    columns: Any = None
    bounds: Mapping[Hashable, Sequence[Any]] = field(default_factory=dict)
    codecs: Mapping[Hashable, Any] = field(default_factory=dict)
    missing_values: Any = ()
    add_indicator: Any = False
    on_empty: Reaction = "warn"
    on_unsupported: Reaction = "warn"
    unseen: Reaction = "warn"
    inf: Infinite = "raise"
    nan_is_missing: bool = True
    estimate: Estimate = "mean"

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if isinstance(value, Iterator):  # it could be looked at only once
                object.__setattr__(self, option.name, tuple(value))
        for name in ("on_empty", "on_unsupported", "unseen"):
            _check_name(name, getattr(self, name), get_args(Reaction))
        _check_name("inf", self.inf, get_args(Infinite))
        _check_name("estimate", self.estimate, get_args(Estimate))
        if not isinstance(self.nan_is_missing, bool):
            raise TypeError(f"nan_is_missing must be True or False, got {self.nan_is_missing!r}")
        if not isinstance(self.bounds, Mapping):
            raise TypeError(f"bounds must map columns to (low, high), got {self.bounds!r}")
        for column, pair in self.bounds.items():
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"bounds of {column!r} must be (low, high), got {pair!r}")
        if not isinstance(self.codecs, Mapping):
            raise TypeError(f"codecs must map columns to classes, got {self.codecs!r}")

    def resolve(self, names: Collection[Hashable]) -> Choices:
        """Give the same choices with every name checked against the frame and in plain collections."""
        names = dict.fromkeys(names)  # by hash: to compare a number with () makes numpy complain
        given, order, flags = self.missing_values, self.ordinal, self.add_indicator
        ranked = order if isinstance(order, Mapping) else dict.fromkeys(_names(order, names))
        marks = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
        resolved = replace(
            self,
            categorical=_names(self.categorical, names),
            ordinal={name: _order(name, labels) for name, labels in ranked.items()},
            ignore=_names(self.ignore, names),
            columns=None if self.columns is None else _names(self.columns, names),
            missing_values={name: _values(values) for name, values in marks.items()},
            add_indicator=flags if isinstance(flags, bool) else _names(flags, names),
        )
        for option in ("categorical", "ordinal", "ignore", "columns", "bounds", "codecs", "missing_values"):
            _refuse_strangers(option, getattr(resolved, option) or (), names)
        if not isinstance(flags, bool):
            _refuse_strangers("add_indicator", resolved.add_indicator, names)
        for one, other in _APART:
            both = [name for name in getattr(resolved, one) or () if name in getattr(resolved, other)]
            if both:
                raise ValueError(f"{', '.join(map(repr, both))} cannot be both in {one} and in {other}")
        return resolved


def nearest(word: str, known: Iterable[str]) -> str:
    """Say which known word was probably meant."""
    words = list(known)
    near = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(words)}"


def _names(given: Any, names: Collection[Hashable]) -> tuple[Hashable, ...]:
    """Take one name or several; a tuple can be a name itself, as in a MultiIndex."""
    if given is None:
        return ()
    if isinstance(given, Mapping):
        raise TypeError(f"expected names of columns, got {given!r}; list the names alone")
    if isinstance(given, str) or (isinstance(given, Hashable) and given in names):
        return (given,)
    return tuple(given) if isinstance(given, Iterable) else (given,)


def _order(name: Hashable, labels: Any) -> tuple[Hashable, ...] | None:
    if labels is None:
        return None
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"ordinal gives {name!r} the order {labels!r}; list its labels from low to high")
    return tuple(labels)


def _values(given: Any) -> tuple[Any, ...]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        return (given,)
    return tuple(given)


def _refuse_strangers(option: str, given: Iterable[Hashable], names: Collection[Hashable]) -> None:
    strangers = [name for name in given if name not in names]
    if strangers:
        known = {str(name): name for name in names}
        hint = nearest(str(strangers[0]), known)
        raise ValueError(
            f"{option} names {', '.join(map(repr, strangers))}, which the frame does not have; {hint}"
        )


def _check_name(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
