"""Arrow's arrays, which pyarrow's tables and some columns of pandas are made of."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Kind
from simpdm_frames.errors import HolesLeftError
from simpdm_frames.frames.decimals import decimal_column, fill_decimals, to_digits
from simpdm_frames.frames.exact import (
    DAY,
    NANOSECONDS,
    fill_real,
    fill_ticks,
    fill_whole,
    real_column,
    time_column,
    to_midnight,
    whole_column,
)

__all__ = ["fill_array", "read_array"]

# Types that hold the same as another one, with which Arrow can do more.
_EASIER = {pa.date64(): pa.date32()}
if hasattr(pa, "string_view"):
    _EASIER[pa.string_view()] = pa.large_string()


def read_array(name: Hashable, dtype: str, array: Any) -> Column:
    """Read a column that is stored as a chunked array."""
    missing = array.is_null().to_numpy()
    kind = array.type
    if kind in _EASIER:
        try:
            return read_array(name, dtype, array.cast(_EASIER[kind]))
        except pa.ArrowInvalid:  # a date with a time of day, which it should not have
            return Column.opaque(name, dtype, missing)
    if pa.types.is_null(kind):
        return Column(name, dtype, Kind.BLANK, missing, allowed=())
    if _label_type(kind):
        return _label_column(name, dtype, array)
    if pa.types.is_integer(kind):
        bounds = np.iinfo(kind.to_pandas_dtype())
        seen = array.drop_null().to_numpy()
        return whole_column(name, dtype, seen, missing, (int(bounds.min), int(bounds.max)))
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        stamps = array.drop_null()
        ticks = stamps.cast(_storage(kind)).to_numpy()
        days = bool(getattr(kind, "tz", None)) and _at_midnight(stamps)
        return time_column(name, dtype, ticks, missing, _tick(kind), _time(kind), days=days)
    if pa.types.is_floating(kind):
        values = array.cast(pa.float64()).fill_null(np.nan).to_numpy()
        return real_column(name, dtype, values, missing, _bound(kind))
    if pa.types.is_decimal(kind):
        digits = [to_digits(value, kind.scale) for value in array.drop_null().to_pylist()]
        return decimal_column(name, dtype, digits, missing, kind.scale, kind.precision)
    return Column.opaque(name, dtype, missing)


def fill_array(name: Hashable, dtype: str, array: Any, filling: Filling) -> Any:
    """Give the array with its holes filled, of the same type."""
    if array.type in _EASIER:
        return fill_array(name, dtype, array.cast(_EASIER[array.type]), filling).cast(array.type)
    try:
        done = _gathered(array, filling)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if not pa.types.is_dictionary(array.type):
            raise HolesLeftError.because(name, dtype) from error
        done = _packed_anew(name, dtype, array, filling)
    if done.take(pa.array(filling.rows)).null_count:
        raise HolesLeftError.because(name, dtype)
    return done


def _gathered(array: Any, filling: Filling) -> Any:
    """Take each cell from the array or from what fills it."""
    place = np.arange(len(array))
    place[filling.rows] = len(array) + np.arange(len(filling.rows))
    both = pa.chunked_array([*array.chunks, _native(array.type, filling)], type=array.type)
    return both.unify_dictionaries().take(pa.array(place))


def _packed_anew(name: Hashable, dtype: str, array: Any, filling: Filling) -> Any:
    """Fill the labels of a dictionary that has nulls inside, or no room, and pack them again."""
    done = fill_array(name, dtype, array.cast(array.type.value_type), filling)
    try:
        return done.dictionary_encode().cast(array.type)
    except pa.ArrowInvalid as error:
        raise HolesLeftError.because(name, dtype) from error


def _label_type(kind: Any) -> type | None:
    """The Python type of the labels that a type holds; None if they are none."""
    if pa.types.is_dictionary(kind):
        numeric = {int: pa.types.is_integer, float: pa.types.is_floating}
        held = next((held for held, test in numeric.items() if test(kind.value_type)), None)
        return held or _label_type(kind.value_type)
    if pa.types.is_boolean(kind):
        return bool
    return str if pa.types.is_string(kind) or pa.types.is_large_string(kind) else None


def _label_column(name: Hashable, dtype: str, array: Any) -> Column:
    """Read labels, sorted, or in the order of an ordered dictionary."""
    kind = array.type
    held: Any = _label_type(kind)
    meaning = {bool: "truth value", int: "number", float: "number"}.get(held, "label")
    order: dict[Hashable, int] = {}
    if pa.types.is_dictionary(kind):
        if kind.ordered and array.num_chunks:
            fullest = max((chunk.dictionary for chunk in array.chunks), key=len)
            order = {label: rank for rank, label in enumerate(fullest.to_pylist())}
        array = array.cast(kind.value_type)  # nulls and doubles inside a dictionary are gone now
    packed = array.combine_chunks().dictionary_encode()
    packed = packed.combine_chunks() if isinstance(packed, pa.ChunkedArray) else packed
    codes = packed.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    labels = packed.dictionary.to_pylist()
    ranks = [order.get(label, len(order)) for label in labels] if order else labels
    sequence = sorted(range(len(labels)), key=ranks.__getitem__)
    position = np.argsort(sequence) if labels else np.zeros(1, dtype=np.int64)
    return Column(
        name,
        dtype,
        Kind.DISCRETE,
        array.is_null().to_numpy(),
        position[codes],
        levels=tuple(labels[code] for code in sequence),
        meaning=meaning,
        holds=frozenset({held}),
        ordered=bool(order),
    )


def _storage(kind: Any) -> Any:
    """Integers of the width that the ticks are stored in."""
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def _tick(kind: Any) -> int:
    return DAY if pa.types.is_date32(kind) else NANOSECONDS[kind.unit]


def _time(kind: Any) -> str:
    if pa.types.is_duration(kind):
        return "duration"
    if pa.types.is_time(kind):
        return "time of day"
    return "date with time zone" if getattr(kind, "tz", None) else "date"


def _at_midnight(seen: Any) -> bool:
    walls = pc.local_timestamp(seen).cast(pa.int64()).to_numpy()
    return not (walls % (DAY // _tick(seen.type))).any()


def _bound(kind: Any) -> float:
    return float(np.finfo(kind.to_pandas_dtype()).max)


def _native(kind: Any, filling: Filling) -> Any:
    """Turn a filling into an array of the column's own type."""
    if pa.types.is_dictionary(kind):
        used, codes = np.unique(filling.values, return_inverse=True)
        labels = pa.array([filling.levels[code] for code in used.tolist()], type=kind.value_type)
        index = pa.array(codes.reshape(-1)).cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(index, labels, ordered=kind.ordered)
    if _label_type(kind):
        return pa.array(filling.levels, type=kind).take(pa.array(filling.values))
    if pa.types.is_integer(kind):
        bounds = np.iinfo(kind.to_pandas_dtype())
        return pa.array(fill_whole(filling, int(bounds.min), int(bounds.max)).tolist(), type=kind)
    if pa.types.is_decimal(kind):
        return pa.array(fill_decimals(filling, kind.scale, kind.precision), type=kind)
    if pa.types.is_floating(kind):
        return pa.array(fill_real(filling, np.dtype(kind.to_pandas_dtype()).type), type=kind)
    ticks = fill_ticks(filling, _tick(kind), kind.bit_width)
    if filling.grid.days and getattr(kind, "tz", None):
        ticks = _to_midnight(kind, filling, ticks)
    return pa.array(ticks).cast(_storage(kind)).cast(kind)


def _to_midnight(kind: Any, filling: Filling, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    naive = pa.timestamp(kind.unit)

    def to_wall(stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(pc.local_timestamp(pa.array(stamps).cast(kind)).cast(pa.int64()).to_numpy())

    def from_wall(walls: NDArray[np.int64]) -> NDArray[np.int64]:
        stamps = pc.assume_timezone(
            pa.array(walls).cast(naive), kind.tz, ambiguous="earliest", nonexistent="latest"
        )
        return np.asarray(stamps.cast(pa.int64()).to_numpy())

    return to_midnight(filling, ticks, _tick(kind), to_wall, from_wall)
