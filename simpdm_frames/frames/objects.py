"""Columns of Python objects, as pandas has them: typed by what stands in them, and objects again."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Kind
from simpdm_frames.frames.decimals import decimal_column, fill_decimals, to_digits
from simpdm_frames.frames.exact import (
    DAY,
    fill_real,
    fill_whole,
    meaning_of,
    plain,
    real_column,
    spread,
    time_column,
)

__all__ = ["fill_objects", "read_objects"]

_ANYTHING = frozenset({object})
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # dates without a zone are counted from one without
_FIRST_DAY = _EPOCH.toordinal()
_MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True)
class _Spelling:
    """How a kind of object is written as whole nanoseconds, and back, between its lowest and its highest."""

    meaning: str
    to_whole: Callable[[Any], int]
    from_whole: Callable[[int], Any]
    low: Any
    high: Any
    tick: int = 1000

    def fill(self, filling: Filling) -> list[Any]:
        """Give a filling as such objects."""
        low, high = (self.to_whole(end) // self.tick * self.tick for end in (self.low, self.high))
        wholes = fill_whole(filling, low, high).tolist()
        return [self.from_whole((whole + self.tick // 2) // self.tick * self.tick) for whole in wholes]


def _span_to_whole(span: dt.timedelta) -> int:
    return span // _MICROSECOND * 1000


def _time_to_whole(time: dt.time) -> int:
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 10**9 + time.microsecond * 1000


_DATE = _Spelling(
    "date",
    lambda day: (day.toordinal() - _FIRST_DAY) * DAY,
    lambda whole: dt.date.fromordinal(whole // DAY + _FIRST_DAY),
    dt.date.min,
    dt.date.max,
    DAY,
)
_DATETIME = _Spelling(
    "date",
    lambda stamp: _span_to_whole(stamp - _EPOCH),
    lambda whole: _EPOCH + dt.timedelta(microseconds=whole // 1000),
    dt.datetime.min,  # noqa: DTZ901  # as above
    dt.datetime.max,  # noqa: DTZ901  # as above
)
_TIMESTAMP = _Spelling(
    "date",
    lambda stamp: _DATETIME.to_whole(stamp.to_pydatetime(warn=False)) + getattr(stamp, "nanosecond", 0),
    lambda whole: pd.Timestamp(_DATETIME.from_whole(whole)) + pd.Timedelta(whole % 1000),
    pd.Timestamp(_DATETIME.low),
    pd.Timestamp(_DATETIME.high),
    1,
)
_TIMEDELTA = _Spelling(
    "duration",
    _span_to_whole,
    lambda whole: dt.timedelta(microseconds=whole // 1000),
    dt.timedelta.min,
    dt.timedelta.max,
)
_PANDAS_SPAN = _Spelling(
    "duration",
    lambda span: _span_to_whole(span.to_pytimedelta()) + span.nanoseconds,
    lambda whole: pd.Timedelta(_TIMEDELTA.from_whole(whole)) + pd.Timedelta(whole % 1000),
    pd.Timedelta.min.ceil("us"),
    pd.Timedelta.max.floor("us"),
    1,
)
_TIME = _Spelling(
    "time of day",
    _time_to_whole,
    lambda whole: (_EPOCH + dt.timedelta(microseconds=whole // 1000)).time(),
    dt.time.min,
    dt.time.max,
)
_BY_TYPE = {
    dt.date: _DATE,
    dt.datetime: _DATETIME,
    pd.Timestamp: _TIMESTAMP,
    dt.timedelta: _TIMEDELTA,
    pd.Timedelta: _PANDAS_SPAN,
    dt.time: _TIME,
}
_BY_MEANING = {"date": _DATETIME, "duration": _TIMEDELTA, "time of day": _TIME}


def read_objects(name: Hashable, dtype: str, cells: NDArray[Any], missing: NDArray[np.bool_]) -> Column:
    """Read a column by what its observed cells are."""
    seen = cells[~missing]
    what = _what(seen)
    if what == "empty":
        return Column(name, dtype, Kind.BLANK, missing, holds=_ANYTHING)
    if what == "integer":
        whole = np.array([*map(int, seen), None], dtype=object)[:-1]
        # Without a grid: what stands there could be a float just as well.
        return Column(
            name, dtype, Kind.CONTINUOUS, missing, spread(whole, missing), 1, holds=_ANYTHING, cell=int
        )
    if what in {"floating", "mixed-integer-float"}:
        values = np.full(len(missing), np.nan)
        values[~missing] = seen.astype(np.float64)
        column = real_column(name, dtype, values, missing, float(np.finfo(np.float64).max))
        return replace(column, holds=_ANYTHING, cell=float)
    if what == "decimal":
        if not all(value.is_finite() for value in seen):
            return Column.opaque(name, dtype, missing)
        scale = _scale(seen)
        column = decimal_column(name, dtype, [to_digits(value, scale) for value in seen], missing, scale)
        return replace(column, holds=_ANYTHING, cell=Decimal)
    spelling = _spelling(seen)
    if spelling is not None:
        ticks = np.array([*(spelling.to_whole(value) // spelling.tick for value in seen), None], dtype=object)
        column = time_column(name, dtype, ticks[:-1], missing, spelling.tick, spelling.meaning)
        return replace(column, holds=_ANYTHING, cell=type(seen[0]))
    if what in {"bytes", "complex"}:
        return Column.opaque(name, dtype, missing)
    try:
        codes, levels = _codes(seen)
    except TypeError:  # unhashable
        return Column.opaque(name, dtype, missing)
    return Column(
        name,
        dtype,
        Kind.DISCRETE,
        missing,
        spread(codes, missing),
        levels=levels,
        meaning=meaning_of(levels),
        holds=_ANYTHING,
    )


def fill_objects(cells: NDArray[Any], filling: Filling) -> NDArray[Any]:
    """Turn a filling into objects of the kind that stands in the column, or that suits its meaning."""
    fillers = np.empty(len(filling.rows), dtype=object)
    others = np.ones(len(cells), dtype=bool)
    others[filling.rows] = False
    seen = cells[others]
    seen = seen[~pd.isna(seen)]
    cell = filling.cell or (type(seen[0]) if len(seen) else None)
    if filling.meaning in _BY_MEANING:
        spelling = _BY_TYPE.get(cell or object, _BY_MEANING[filling.meaning])
        fillers[:] = spelling.fill(filling)
    elif cell is Decimal:
        scale = _scale(seen) if filling.grid.step == 0 else max(0, -round(math.log10(filling.grid.step)))
        fillers[:] = fill_decimals(filling, scale)
    elif filling.levels:
        labels = [float(label) if cell is float and type(label) is int else label for label in filling.levels]
        fillers[:] = [labels[code] for code in filling.values.tolist()]
    elif filling.grid.step >= 1 and cell is not float:
        fillers[:] = fill_whole(filling).tolist()
    else:
        fillers[:] = fill_real(filling, np.float64).tolist()
    return fillers


def _what(seen: NDArray[Any]) -> str:
    return "empty" if not len(seen) else str(pd.api.types.infer_dtype(seen, skipna=False))


def _spelling(seen: NDArray[Any]) -> _Spelling | None:
    """Find how the cells of a column are written, if they are all of one kind of time without a zone."""
    kinds = {type(value) for value in seen}
    if len(kinds) != 1 or any(getattr(value, "tzinfo", None) for value in seen):
        return None
    return _BY_TYPE.get(kinds.pop())


def _scale(seen: NDArray[Any]) -> int:
    """Digits after the point of the finest decimal."""
    exponents = (value.as_tuple().exponent for value in seen if isinstance(value, Decimal))
    return max(0, *(-exponent for exponent in exponents if isinstance(exponent, int)))


def _codes(seen: NDArray[Any]) -> tuple[NDArray[np.int64], tuple[Hashable, ...]]:
    """Positions and labels, by type and value: 1, 1.0, True and "1" are four labels."""
    if _what(seen) in {"string", "boolean"}:
        codes, labels = pd.factorize(seen, sort=True)
        return codes.astype(np.int64), tuple(plain(label) for label in labels)
    places: dict[tuple[type, Hashable], int] = {}
    codes = np.array([places.setdefault((type(value), value), len(places)) for value in seen])
    order = sorted(places, key=lambda place: (place[0].__name__, repr(place[1])))
    position = np.argsort([places[place] for place in order])
    return position[codes], tuple(plain(label) for _, label in order)
