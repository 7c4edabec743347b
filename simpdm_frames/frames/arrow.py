"""Arrow's arrays, which pyarrow's tables and some columns of pandas are made of."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Kind
from simpdm_frames.errors import HolesLeftError, describe
from simpdm_frames.frames.decimals import decimal_column, fill_decimals
from simpdm_frames.frames.exact import (
    DAY,
    NANOSECONDS,
    fill_real,
    fill_ticks,
    fill_whole,
    meaning_of,
    real_column,
    time_column,
    whole_column,
)

__all__ = ["fill_array", "read_array"]

# Types that hold the same as another one, with which Arrow can do more.
_EASIER = {pa.string_view(): pa.large_string(), pa.date64(): pa.date32()}


def read_array(name: Hashable, dtype: str, array: Any, origin: int | None = None) -> Column:
    """Read a column that is stored as a chunked array."""
    missing = array.is_null().to_numpy()
    kind = array.type
    if kind in _EASIER:
        return read_array(name, dtype, array.cast(_EASIER[kind]), origin)
    if pa.types.is_null(kind):
        return Column(name, dtype, Kind.BLANK, missing, allowed=())
    if _holds_labels(kind):
        codes, levels = _codes(array)
        return Column(name, dtype, Kind.DISCRETE, missing, codes, levels=levels, meaning=meaning_of(levels))
    seen = array.drop_null()
    if pa.types.is_integer(kind):
        bounds = np.iinfo(kind.to_pandas_dtype())
        limits = int(bounds.min), int(bounds.max)
        return whole_column(name, dtype, seen.to_numpy(), missing, limits, origin=origin)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        ticks = seen.cast(_storage(kind)).to_numpy()
        days = _at_midnight(seen, ticks)
        return time_column(name, dtype, ticks, missing, _tick(kind), _time(kind), origin=origin, days=days)
    if pa.types.is_floating(kind):
        values = array.cast(pa.float64()).fill_null(np.nan).to_numpy()
        return real_column(name, dtype, values, missing, _bound(kind))
    if pa.types.is_decimal(kind):
        return decimal_column(
            name, dtype, seen.to_pylist(), missing, kind.scale, kind.precision, origin=origin
        )
    return Column(name, dtype, Kind.OPAQUE, missing, meaning="something that cannot be modelled")


def fill_array(name: Hashable, dtype: str, array: Any, filling: Filling) -> Any:
    """Give the array with its holes filled, of the same type."""
    if array.type in _EASIER:
        return fill_array(name, dtype, array.cast(_EASIER[array.type]), filling).cast(array.type)
    fillers = _native(array.type, filling)
    if fillers.null_count:
        what = describe([(name, dtype)])
        raise HolesLeftError(f"{what} cannot hold what the model would fill in; convert it to a wider dtype")
    place = np.arange(len(array))
    place[filling.rows] = len(array) + np.arange(len(filling.rows))
    both = pa.chunked_array([*array.chunks, fillers], type=array.type)
    return both.unify_dictionaries().take(pa.array(place))


def _holds_labels(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _holds_labels(kind.value_type) or pa.types.is_integer(kind.value_type)
    return any(test(kind) for test in (pa.types.is_boolean, pa.types.is_string, pa.types.is_large_string))


def _codes(array: Any) -> tuple[NDArray[np.int64], tuple[Hashable, ...]]:
    """Positions and labels of the observed levels; sorted, or in the order of an ordered dictionary."""
    ordered = pa.types.is_dictionary(array.type) and array.type.ordered
    whole = array.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # what combining gives for an empty column
        whole = pa.array([], type=array.type)
    packed = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    codes = packed.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    labels = packed.dictionary.to_pylist()
    used = np.unique(codes[packed.is_valid().to_numpy(zero_copy_only=False)]).tolist()
    order = used if ordered else sorted(used, key=lambda code: labels[code])
    position = np.zeros(len(labels) + 1, dtype=np.int64)
    position[order] = np.arange(len(order))
    return position[codes], tuple(labels[code] for code in order)


def _storage(kind: Any) -> Any:
    """Integers of the width that the ticks are stored in."""
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def _tick(kind: Any) -> int:
    if pa.types.is_date32(kind):
        return DAY
    return NANOSECONDS[kind.unit]


def _time(kind: Any) -> str:
    if pa.types.is_duration(kind):
        return "duration"
    if pa.types.is_time(kind):
        return "time of day"
    return "date with time zone" if getattr(kind, "tz", None) else "date"


def _at_midnight(seen: Any, ticks: NDArray[Any]) -> bool:
    kind = seen.type
    if not pa.types.is_timestamp(kind):
        return False
    if kind.tz:
        ticks = pc.local_timestamp(seen).cast(pa.int64()).to_numpy()
    return not (ticks % (DAY // _tick(kind))).any()


def _bound(kind: Any) -> float:
    return float(np.finfo(kind.to_pandas_dtype()).max)


def _native(kind: Any, filling: Filling) -> Any:
    """Turn a filling into an array of the column's own type."""
    if pa.types.is_dictionary(kind):
        labels = pa.array(filling.levels, type=kind.value_type)
        codes = pa.array(filling.values, type=kind.index_type)
        return pa.DictionaryArray.from_arrays(codes, labels, ordered=kind.ordered)
    if filling.levels:
        return pa.array(filling.levels, type=kind).take(pa.array(filling.values))
    if pa.types.is_integer(kind):
        bounds = np.iinfo(kind.to_pandas_dtype())
        return pa.array(fill_whole(filling, int(bounds.min), int(bounds.max)), type=kind)
    if pa.types.is_decimal(kind):
        return pa.array(fill_decimals(filling, kind.scale, kind.precision), type=kind)
    if pa.types.is_floating(kind):
        return pa.array(fill_real(filling, _bound(kind))).cast(kind)
    ticks = fill_ticks(filling, _tick(kind), kind.bit_width)
    fillers = pa.array(ticks).cast(_storage(kind)).cast(kind)
    return _to_midnight(fillers) if filling.grid.days else fillers


def _to_midnight(stamps: Any) -> Any:
    """Move stamps to the nearest midnight of their own time zone."""
    kind = stamps.type
    if not pa.types.is_timestamp(kind):
        return stamps
    if not kind.tz:
        return pc.round_temporal(stamps, unit="day")
    walls = pc.round_temporal(pc.local_timestamp(stamps), unit="day")
    return pc.assume_timezone(walls, kind.tz, ambiguous="earliest", nonexistent="latest")
