"""Values that a caller writes down, such as a bound, in the units of door 1."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["number_of"]

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # naive dates are counted from a naive epoch
_AWARE_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
_NANOSECONDS = {
    "W": Fraction(7 * 86_400 * 10**9),
    "D": Fraction(86_400 * 10**9),
    "h": Fraction(3600 * 10**9),
    "m": Fraction(60 * 10**9),
    "s": Fraction(10**9),
    "ms": Fraction(10**6),
    "us": Fraction(10**3),
    "ns": Fraction(1),
    "ps": Fraction(1, 10**3),
    "fs": Fraction(1, 10**6),
    "as": Fraction(1, 10**9),
}
_MICROSECOND = dt.timedelta(microseconds=1)


def number_of(value: Any, meaning: str) -> Fraction | None:
    """Give a value as a number: itself, or nanoseconds for dates and durations; None if it is neither.

    Examples
    --------
    >>> number_of(1.5, "number")
    Fraction(3, 2)
    >>> number_of(dt.date(1970, 1, 2), "date") == 86_400 * 10**9
    True
    >>> number_of("n/a", "number") is None
    True
    """
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _of_numpy(value, meaning)
    if isinstance(value, np.generic):
        value = value.item()
    if meaning == "number":
        finite = type(value) is int or (isinstance(value, float | Decimal) and math.isfinite(value))
        return Fraction(value) if finite else None
    if meaning.startswith("period"):
        same = meaning.endswith(f" {getattr(value, 'freqstr', None)}")
        return Fraction(value.ordinal) if same else None
    whole = _of_time(value, meaning)
    return None if whole is None else Fraction(whole)


def _of_time(value: Any, meaning: str) -> int | None:
    if isinstance(value, dt.datetime | dt.timedelta) and value != value:  # noqa: PLR0124  # pandas' NaT
        return None
    if meaning == "duration" and isinstance(value, dt.timedelta):
        return _nanoseconds(value)
    if meaning == "time of day" and isinstance(value, dt.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**9 + value.microsecond * 1000
    if meaning == "date" and isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    zoned = meaning == "date with time zone"
    if (zoned or meaning == "date") and isinstance(value, dt.datetime) and zoned == bool(value.tzinfo):
        return _nanoseconds(value - (_AWARE_EPOCH if zoned else _EPOCH))
    return None


def _nanoseconds(span: dt.timedelta) -> int:
    # A pandas Timedelta is a timedelta that knows nanoseconds too.
    return span // _MICROSECOND * 1000 + int(getattr(span, "nanoseconds", 0))


def _of_numpy(value: np.datetime64 | np.timedelta64, meaning: str) -> Fraction | None:
    wanted = "date" if isinstance(value, np.datetime64) else "duration"
    if meaning != wanted or np.isnat(value):
        return None
    unit, count = np.datetime_data(value.dtype)
    if unit in {"Y", "M"}:  # of unequal length; a duration of them is none
        return None if wanted == "duration" else _of_numpy(value.astype("M8[D]"), meaning)
    return int(value.astype(np.int64)) * count * _NANOSECONDS[unit]
