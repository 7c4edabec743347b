"""Plain values as JSON, and back: what stands in a model file beside its numbers.

JSON knows strings, truth values, whole numbers and nothing. Everything else is an object with one
name that says what it is: ``{"float": "0x1.8p+0"}``. Only names that are listed here are read, so a file can
make no object that the package does not know.
"""

from __future__ import annotations

import datetime as dt
import enum
import re
import types
import typing
import zoneinfo
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Speller", "SpellingError"]

_MICROSECOND = dt.timedelta(microseconds=1)
_MOST_DIGITS = 4000  # before and behind the point
_FRACTION = re.compile(r"-?\d{1,4000}(/\d{1,4000})?", re.ASCII)
_CELLS: dict[str, type] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "decimal": Decimal,
    "date": dt.date,
    "datetime": dt.datetime,
    "time": dt.time,
    "timedelta": dt.timedelta,
}
_PANDAS_CELLS = ("Timestamp", "Timedelta")


class SpellingError(ValueError):
    """A value has no spelling, or a spelling has no value."""


class Speller:
    """Spell values, among them frozen dataclasses and enumerations of some classes.

    Examples
    --------
    >>> speller = Speller(())
    >>> speller.spell(("a", 1.5, Fraction(1, 3)))
    {'tuple': ['a', {'float': '0x1.8000000000000p+0'}, {'fraction': '1/3'}]}
    >>> speller.read({"tuple": ["a", {"fraction": "1/3"}]})
    ('a', Fraction(1, 3))
    """

    def __init__(self, classes: Sequence[type]) -> None:
        self._classes = {known.__name__: known for known in classes}
        self._readers: dict[str, Callable[[Any], Any]] = {
            "tuple": lambda parts: tuple(self.read(part) for part in _list(parts)),
            "map": self._read_map,
            "type": _read_type,
            **_READERS,
            "pandas.Interval": self._read_interval,
        }

    def spell(self, value: Any) -> Any:
        """Give a value as JSON."""
        if value is None or type(value) in {bool, int, str}:
            return value
        if type(value).__name__ in self._classes:
            return {type(value).__name__: self._spell_known(value)}
        if isinstance(value, tuple | list):
            return {"tuple": [self.spell(part) for part in value]}
        if isinstance(value, Mapping):
            return {"map": [[self.spell(key), self.spell(part)] for key, part in value.items()]}
        if isinstance(value, type):
            return {"type": _spell_type(value)}
        if type(value).__name__ == "Interval" and _is_of_pandas(type(value)):
            return {"pandas.Interval": [self.spell(value.left), self.spell(value.right), value.closed]}
        return _spell_scalar(value)

    def read(self, spelt: Any) -> Any:
        """Give the value of a spelling; anything that is none is refused."""
        if spelt is None or type(spelt) in {bool, int, str}:
            return spelt
        if not isinstance(spelt, dict) or len(spelt) != 1:
            raise SpellingError(f"{_short(spelt)} is no spelling of a value")
        ((name, content),) = spelt.items()
        if name in self._classes:
            return self._read_known(self._classes[name], content)
        if name not in self._readers:
            raise SpellingError(f"{_short(name)} is no kind of value")
        try:
            return self._readers[name](content)
        except (TypeError, ValueError, ArithmeticError, AttributeError, KeyError) as error:
            if isinstance(error, SpellingError):
                raise
            raise SpellingError(f"{_short(content)} is no {name}") from error

    def _spell_known(self, value: Any) -> Any:
        if isinstance(value, enum.Enum):
            return value.name
        return {field.name: self.spell(getattr(value, field.name)) for field in fields(value)}

    def _read_known(self, known: type, content: Any) -> Any:
        """Make an object of a class that is known; each field has to be there and of its type."""
        if issubclass(known, enum.Enum):
            if not isinstance(content, str) or content not in known.__members__:
                raise SpellingError(f"{_short(content)} is no {known.__name__}")
            return known[content]
        names = [field.name for field in fields(known)] if is_dataclass(known) else []
        if not isinstance(content, dict) or sorted(content) != sorted(names):
            raise SpellingError(f"{known.__name__} has the fields {', '.join(names)}, not {_short(content)}")
        values = {name: self.read(content[name]) for name in names}
        hints = typing.get_type_hints(known)
        for name, value in values.items():
            if not _fits(value, hints[name]):
                raise SpellingError(f"{name} of {known.__name__} cannot be {_short(value)}")
        try:
            return known(**values)
        except (TypeError, ValueError) as error:
            raise SpellingError(str(error)) from error

    def _read_map(self, pairs: Any) -> dict[Hashable, Any]:
        read = [tuple(self.read(part) for part in _list(pair, 2)) for pair in _list(pairs)]
        return dict(read)

    def _read_interval(self, content: Any) -> Any:
        left, right, closed = _list(content, 3)
        return _pandas().Interval(self.read(left), self.read(right), closed)


def _spell_scalar(value: Any) -> Any:
    """Spell a value that has no parts."""
    kind = type(value).__name__
    if isinstance(value, np.datetime64 | np.timedelta64):
        return {kind: [int(value.astype(np.int64)), np.datetime_data(value.dtype)[0]]}
    if isinstance(value, np.generic):
        return Speller(()).spell(value.item())
    if _is_of_pandas(type(value)):
        return _spell_pandas(value, kind)
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, Fraction | Decimal):
        return {kind.lower(): str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return _spell_time(value)


def _spell_time(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return {"datetime": [value.replace(tzinfo=None).isoformat(), _zone(value.tzinfo, value), value.fold]}
    if isinstance(value, dt.date):
        return {"date": value.isoformat()}
    if isinstance(value, dt.time) and value.tzinfo is None:
        return {"time": value.isoformat()}
    if isinstance(value, dt.timedelta):
        return {"timedelta": value // _MICROSECOND}
    raise SpellingError(f"{_short(value)} of type {type(value).__qualname__} cannot be written to a file")


def _spell_pandas(value: Any, kind: str) -> Any:
    if kind in {"NAType", "NaTType"}:
        return {"pandas": kind}
    if kind == "Period":
        return {"pandas.Period": [value.ordinal, value.freqstr]}
    if kind == "Timedelta":
        return {"pandas.Timedelta": [value.isoformat(), value.unit]}
    if kind == "Timestamp":
        zone = _zone(value.tzinfo, value)
        plain = value if value.tzinfo is None else value.tz_convert("UTC").tz_localize(None)
        return {"pandas.Timestamp": [plain.isoformat(), value.unit, zone]}
    raise SpellingError(f"{_short(value)} of type {kind} cannot be written to a file")


def _zone(zone: dt.tzinfo | None, moment: dt.datetime) -> str | int | None:
    """Name a time zone, or give its distance from UTC in microseconds."""
    if zone is None:
        return None
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    offset = moment.utcoffset()
    return str(name) if name or offset is None else offset // _MICROSECOND


def _read_zone(zone: Any) -> dt.tzinfo | None:
    if zone is None:
        return None
    return zoneinfo.ZoneInfo(zone) if isinstance(zone, str) else dt.timezone(zone * _MICROSECOND)


def _read_datetime(content: Any) -> dt.datetime:
    moment, zone, fold = _list(content, 3)
    return dt.datetime.fromisoformat(moment).replace(tzinfo=_read_zone(zone), fold=fold)


def _read_timestamp(content: Any) -> Any:
    moment, unit, zone = _list(content, 3)
    plain = _pandas().Timestamp(moment).as_unit(unit)
    return plain if zone is None else plain.tz_localize("UTC").tz_convert(_read_zone(zone))


def _read_period(content: Any) -> Any:
    ordinal, frequency = _list(content, 2)
    return _pandas().Period(ordinal=ordinal, freq=frequency)


def _read_numpy(kind: type[Any]) -> Callable[[Any], Any]:
    return lambda content: kind(*_list(content, 2))


def _spell_type(cell: type) -> str:
    for name, known in _CELLS.items():
        if cell is known:
            return name
    if _is_of_pandas(cell) and cell.__name__ in _PANDAS_CELLS:
        return f"pandas.{cell.__name__}"
    raise SpellingError(f"cells of type {cell.__qualname__} cannot be written to a file")


def _read_type(name: Any) -> type:
    if isinstance(name, str) and name.removeprefix("pandas.") in _PANDAS_CELLS:
        return typing.cast("type", getattr(_pandas(), name.removeprefix("pandas.")))
    return _CELLS[name]


def _is_of_pandas(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "pandas"


def _pandas() -> Any:
    """Import pandas for a value that only pandas has."""
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError:
        raise SpellingError("the model knows values of pandas; install it: pip install pandas") from None
    return pd


def _list(content: Any, length: int | None = None) -> list[Any]:
    if not isinstance(content, list) or (length is not None and len(content) != length):
        raise SpellingError(f"{_short(content)} is no list of the right length")
    return content


def _short(value: Any) -> str:
    """Show a value, but not all of what a stranger wrote."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _read_fraction(text: Any) -> Fraction:
    """Read what ``str`` wrote; of a power of ten, which Fraction takes too, a few letters could fill the memory."""
    if not _FRACTION.fullmatch(text):
        raise SpellingError(f"{_short(text)} is no fraction")
    return Fraction(text)


def _read_decimal(text: Any) -> Decimal:
    """Read a decimal that can be made a whole number in no time, too."""
    number = Decimal(text)
    if number.is_finite() and abs(number.adjusted()) > _MOST_DIGITS:
        raise SpellingError(f"{_short(text)} has too many digits")
    return number


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float.fromhex,
    "fraction": _read_fraction,
    "decimal": _read_decimal,
    "bytes": bytes.fromhex,
    "datetime": _read_datetime,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda count: count * _MICROSECOND,
    "datetime64": _read_numpy(np.datetime64),
    "timedelta64": _read_numpy(np.timedelta64),
    "pandas": lambda kind: {"NAType": _pandas().NA, "NaTType": _pandas().NaT}[kind],
    "pandas.Period": _read_period,
    "pandas.Timedelta": lambda content: _pandas().Timedelta(_list(content, 2)[0]).as_unit(content[1]),
    "pandas.Timestamp": _read_timestamp,
}


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of the type that a field of a dataclass declares."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in {typing.Union, types.UnionType}:
        return any(_fits(value, part) for part in parts)
    if origin is typing.Literal:
        return value in parts
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(part, parts[0]) for part in value)
    if origin is type or hint is type:
        return isinstance(value, type)
    if isinstance(origin, type):  # a mapping; what is in it is checked by those who use it
        return isinstance(value, origin)
    if hint is type(None):
        return value is None
    if hint is Hashable:
        return isinstance(value, Hashable)
    # A truth value is a whole number to Python, but to nobody who declares one.
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
