"""Columns of Python objects, as pandas has them: typed by what stands in them, and objects again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind
from simpdm_frames.frames.decimals import decimal_column, fill_decimals
from simpdm_frames.frames.exact import DAY, fill_whole, meaning_of, real_column, time_column

__all__ = ["fill_objects", "read_objects"]

_EPOCH = dt.date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class _Spelling:
    """How a kind of object is written as a whole number of nanoseconds, and back."""

    meaning: str
    to_whole: Callable[[Any], int]
    from_whole: Callable[[int], Any]
    tick: int = 1000


def _to_time(whole: int) -> dt.time:
    whole = min(max(whole, 0), DAY - 1000)
    midnight = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # a time of day has no zone
    return (midnight + dt.timedelta(microseconds=whole // 1000)).time()


_SPELLINGS = {
    "date": _Spelling(
        "date",
        lambda day: (day.toordinal() - _EPOCH) * DAY,
        lambda whole: dt.date.fromordinal(whole // DAY + _EPOCH),
        DAY,
    ),
    "datetime": _Spelling(
        "date",
        lambda stamp: pd.Timestamp(stamp).as_unit("ns").value,
        lambda whole: pd.Timestamp(whole).to_pydatetime(),
    ),
    "timedelta": _Spelling(
        "duration",
        lambda span: pd.Timedelta(span).as_unit("ns").value,
        lambda whole: pd.Timedelta(whole).to_pytimedelta(),
    ),
    "time": _Spelling(
        "time of day",
        lambda time: ((time.hour * 60 + time.minute) * 60 + time.second) * 10**9 + time.microsecond * 1000,
        _to_time,
    ),
}
_BY_MEANING = {spelling.meaning: spelling for spelling in reversed(_SPELLINGS.values())} | {
    "date": _SPELLINGS["datetime"]
}


def read_objects(
    name: Hashable, dtype: str, cells: NDArray[Any], missing: NDArray[np.bool_], origin: int | None = None
) -> Column:
    """Read a column by what its observed cells are."""
    seen = cells[~missing]
    what = _what(seen)
    if what == "empty":
        return Column(name, dtype, Kind.BLANK, missing)
    if what in {"integer", "floating", "mixed-integer-float"}:
        if what == "integer":
            return _integer_column(name, dtype, seen, missing, origin)
        values = np.full(len(missing), np.nan)
        values[~missing] = seen.astype(np.float64)
        return real_column(name, dtype, values, missing, float(np.finfo(np.float64).max))
    if what == "decimal" and all(value.is_finite() for value in seen):
        return decimal_column(name, dtype, seen.tolist(), missing, _scale(seen), 38, origin=origin)
    if what in _SPELLINGS and not any(getattr(value, "tzinfo", None) for value in seen):
        spelling = _SPELLINGS[what]
        ticks = np.array([spelling.to_whole(value) for value in seen]) // spelling.tick
        days = what == "datetime" and not (ticks % (DAY // spelling.tick)).any()
        return time_column(
            name, dtype, ticks, missing, spelling.tick, spelling.meaning, origin=origin, days=days
        )
    if what in {"bytes", "complex"}:
        return _opaque(name, dtype, missing)
    try:
        codes, levels = _codes(seen)
    except TypeError:  # unhashable
        return _opaque(name, dtype, missing)
    values = np.zeros(len(missing), dtype=np.int64)
    values[~missing] = codes
    return Column(name, dtype, Kind.DISCRETE, missing, values, levels=levels, meaning=meaning_of(levels))


def fill_objects(cells: NDArray[Any], filling: Filling) -> NDArray[Any]:
    """Turn a filling into objects of the kind that stands in the column, or that suits its meaning."""
    fillers = np.empty(len(filling.rows), dtype=object)
    if filling.levels:
        fillers[:] = [filling.levels[code] for code in filling.values.tolist()]
        return fillers
    others = np.ones(len(cells), dtype=bool)
    others[filling.rows] = False
    seen = cells[others]
    seen = seen[~pd.isna(seen)]
    what = _what(seen)
    if what == "decimal":
        fillers[:] = fill_decimals(filling, _scale(seen), 38)
    elif filling.meaning != "number":
        spelling = _SPELLINGS.get(what, _BY_MEANING[filling.meaning])
        step = DAY if filling.grid.days else spelling.tick
        wholes = fill_whole(filling, -(2**63) + 1, 2**63 - 1).tolist()
        fillers[:] = [spelling.from_whole(round(whole / step) * step) for whole in wholes]
    elif what == "integer" or (what == "empty" and filling.grid.step >= 1):
        fillers[:] = fill_whole(filling, -(10**40), 10**40).tolist()
    else:
        fillers[:] = (filling.values + float(filling.origin)).tolist()
    return fillers


def _what(seen: NDArray[Any]) -> str:
    return "empty" if not len(seen) else str(pd.api.types.infer_dtype(seen, skipna=False))


def _integer_column(
    name: Hashable, dtype: str, seen: NDArray[Any], missing: NDArray[np.bool_], origin: int | None
) -> Column:
    """Read Python's integers, which may be of any size, so the origin is taken off before all else."""
    exact = [int(value) for value in seen]
    origin = min(exact) if origin is None else origin
    values = np.zeros(len(missing))
    values[~missing] = [float(value - origin) for value in exact]
    return Column(name, dtype, Kind.CONTINUOUS, missing, values, origin, Grid(1.0, whole=True))


def _scale(seen: NDArray[Any]) -> int:
    """Digits after the point of the finest decimal."""
    exponents = (value.as_tuple().exponent for value in seen if isinstance(value, Decimal))
    return max(0, *(-exponent for exponent in exponents if isinstance(exponent, int)))


def _codes(seen: NDArray[Any]) -> tuple[NDArray[np.int64], tuple[Hashable, ...]]:
    """Positions and labels, by type and value: 1, 1.0, True and "1" are four labels."""
    if _what(seen) in {"string", "boolean"}:
        codes, labels = pd.factorize(seen, sort=True)
        return codes.astype(np.int64), tuple(_plain(label) for label in labels)
    places: dict[tuple[type, Hashable], int] = {}
    codes = np.array([places.setdefault((type(value), value), len(places)) for value in seen])
    order = sorted(places, key=lambda place: (place[0].__name__, repr(place[1])))
    position = np.argsort([places[place] for place in order])
    return position[codes], tuple(_plain(label) for _, label in order)


def _plain(label: Any) -> Hashable:
    value: Hashable = label.item() if isinstance(label, np.generic) else label
    return value


def _opaque(name: Hashable, dtype: str, missing: NDArray[np.bool_]) -> Column:
    return Column(name, dtype, Kind.OPAQUE, missing, meaning="something that cannot be modelled")
