"""pandas frames."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Kind
from simpdm_frames.errors import HolesLeftError
from simpdm_frames.frames.exact import (
    DAY,
    NANOSECONDS,
    fill_real,
    fill_ticks,
    fill_whole,
    meaning_of,
    plain,
    real_column,
    time_column,
    to_midnight,
    whole_column,
)
from simpdm_frames.frames.objects import fill_objects, read_objects

__all__ = ["columns", "matches", "read", "register", "table", "write"]

_COPIES_ON_WRITE = int(pd.__version__.split(".")[0]) >= 3


def matches(frame: object) -> bool:
    """Tell whether an object is a pandas frame."""
    return isinstance(frame, pd.DataFrame)


def columns(frame: Any) -> Sequence[Hashable]:
    """List the names of the columns."""
    return list(frame.columns)


def read(frame: Any, position: int) -> Column:
    """Read one column."""
    series = frame.iloc[:, position]
    name, dtype = frame.columns[position], str(series.dtype)
    if isinstance(series.dtype, pd.ArrowDtype):
        from simpdm_frames.frames.arrow import read_array  # noqa: PLC0415  # pyarrow is there: see the dtype

        return read_array(name, dtype, series.array.__arrow_array__())
    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    missing = series.isna().to_numpy(dtype=bool)
    if series.dtype == object:
        return read_objects(name, dtype, series.to_numpy(), missing)
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _category_column(name, series, missing)
    held = _label_type(series.dtype)
    if held is not None:
        codes, labels = pd.factorize(series, sort=True)
        return Column(
            name,
            dtype,
            Kind.DISCRETE,
            missing,
            codes.astype(np.int64),
            levels=tuple(plain(label) for label in labels),
            meaning="truth value" if held is bool else "label",
            holds=frozenset({held}),
        )
    if pd.api.types.is_integer_dtype(series.dtype):
        seen = _seen(series, missing).to_numpy(dtype=_storage(series.dtype))
        return whole_column(name, dtype, seen, missing, _bounds(series.dtype))
    if isinstance(series.dtype, pd.PeriodDtype):
        ordinals = _seen(series, missing).array.asi8
        meaning = f"period of frequency {dtype[7:-1]}"  # as in period[M]
        return whole_column(name, dtype, ordinals, missing, (-(2**63) + 1, 2**63 - 1), meaning)
    if _holds_time(series.dtype):
        ticks = _seen(series, missing).array.asi8
        tick = NANOSECONDS[series.dt.unit]
        days = _at_midnight(series, tick)
        return time_column(name, dtype, ticks, missing, tick, _time(series.dtype), days=days)
    if pd.api.types.is_float_dtype(series.dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return real_column(name, dtype, values, missing, _bound(series.dtype))
    return Column.opaque(name, dtype, missing)


def write(
    frame: Any, fillings: Mapping[int, Filling], indicators: Mapping[Hashable, NDArray[np.bool_]]
) -> Any:
    """Give a copy with holes filled; each column keeps its dtype because it stays the same column."""
    done = frame.copy(deep=not _COPIES_ON_WRITE)
    for position, filling in fillings.items():
        done.isetitem(position, _filled(frame.columns[position], frame.iloc[:, position], filling))
    for name, holes in indicators.items():
        done[name] = holes
    return done


def table(data: Mapping[str, Sequence[Any]]) -> Any:
    """Make a small frame."""
    return pd.DataFrame({name: list(values) for name, values in data.items()})


def register(accessor: type) -> None:
    """Put the accessor on ``pandas.DataFrame``, once."""
    if getattr(pd.DataFrame, "simpdm", None) is not accessor:
        pd.api.extensions.register_dataframe_accessor("simpdm")(accessor)


def _label_type(dtype: Any) -> type | None:
    """The Python type of the labels that a dtype holds; None if they are none."""
    if isinstance(dtype, pd.IntervalDtype):
        return pd.Interval
    if pd.api.types.is_bool_dtype(dtype):
        return bool
    return str if pd.api.types.is_string_dtype(dtype) else None


def _category_column(name: Hashable, series: Any, missing: NDArray[np.bool_]) -> Column:
    """Read the labels that are used, sorted, or in the order of an ordered category."""
    labels = [plain(label) for label in series.cat.categories]
    codes = series.cat.codes.to_numpy(dtype=np.int64)
    order = np.unique(codes[codes >= 0]).tolist()
    if not series.cat.ordered:
        with contextlib.suppress(TypeError):  # labels of several types have no order but the dtype's
            order.sort(key=lambda code: labels[code])
    position = np.zeros(len(labels) + 1, dtype=np.int64)
    position[order] = np.arange(len(order))
    return Column(
        name,
        str(series.dtype),
        Kind.DISCRETE,
        missing,
        position[codes],
        levels=tuple(labels[code] for code in order),
        meaning=meaning_of(labels),
        allowed=tuple(labels),
        ordered=bool(series.cat.ordered),
    )


def _seen(series: Any, missing: NDArray[np.bool_]) -> Any:
    return series[~missing] if missing.any() else series


def _storage(dtype: Any) -> np.dtype[Any]:
    """The numpy dtype behind int8 and Int8."""
    plain: np.dtype[Any] = np.dtype(getattr(dtype, "numpy_dtype", dtype))
    return plain


def _bounds(dtype: Any) -> tuple[int, int]:
    bounds = np.iinfo(_storage(dtype))
    return int(bounds.min), int(bounds.max)


def _bound(dtype: Any) -> float:
    return float(np.finfo(_storage(dtype)).max)


def _holds_time(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype | pd.DatetimeTZDtype) and dtype.kind in "mM"


def _time(dtype: Any) -> str:
    if isinstance(dtype, pd.DatetimeTZDtype):
        return "date with time zone"
    return "date" if dtype.kind == "M" else "duration"


def _at_midnight(series: Any, tick: int) -> bool:
    if not isinstance(series.dtype, pd.DatetimeTZDtype):
        return False
    return not (series.dropna().dt.tz_localize(None).array.asi8 % (DAY // tick)).any()


def _filled(name: Hashable, series: Any, filling: Filling) -> Any:
    """Give a copy of a column with its holes filled."""
    dtype = series.dtype
    if isinstance(dtype, pd.ArrowDtype):
        from simpdm_frames.frames.arrow import fill_array  # noqa: PLC0415  # as in read

        whole = fill_array(name, str(dtype), series.array.__arrow_array__(), filling)
        return pd.Series(pd.array(whole, dtype=dtype), index=series.index)
    if isinstance(dtype, pd.SparseDtype):
        whole = _filled(name, series.sparse.to_dense(), filling)
        return pd.Series(pd.arrays.SparseArray(whole, dtype=dtype), index=series.index)
    fillers = fill_objects(series.to_numpy(), filling) if series.dtype == object else _native(dtype, filling)
    done = series.copy()
    if not pd.isna(fillers).any():
        done.iloc[filling.rows] = fillers
    if pd.isna(fillers).any() or done.dtype != dtype:
        raise HolesLeftError.because(name, str(dtype))
    return done


def _native(dtype: Any, filling: Filling) -> Any:
    """Turn a filling into values of the column's own dtype."""
    if isinstance(dtype, pd.CategoricalDtype):
        codes = dtype.categories.get_indexer(pd.Index(_labels(filling)))[filling.values]
        return pd.Categorical.from_codes(codes, dtype=dtype)
    if _label_type(dtype):
        return pd.array(_labels(filling)[filling.values], dtype=dtype)
    if isinstance(dtype, pd.PeriodDtype):
        ordinals = fill_whole(filling, -(2**63) + 1, 2**63 - 1).astype(np.int64)
        return pd.arrays.PeriodArray(ordinals, dtype=dtype)
    if _holds_time(dtype):
        return _stamps(dtype, filling)
    if pd.api.types.is_float_dtype(dtype):
        return pd.array(fill_real(filling, _storage(dtype).type), dtype=dtype)
    return pd.array(fill_whole(filling, *_bounds(dtype)).astype(_storage(dtype)), dtype=dtype)


def _labels(filling: Filling) -> NDArray[Any]:
    labels = np.empty(len(filling.levels), dtype=object)
    labels[:] = filling.levels
    return labels


def _stamps(dtype: Any, filling: Filling) -> Any:
    unit = np.datetime_data(dtype)[0] if isinstance(dtype, np.dtype) else dtype.unit
    ticks = fill_ticks(filling, NANOSECONDS[unit])
    if dtype.kind == "m":
        return ticks.view(f"m8[{unit}]")
    zone = getattr(dtype, "tz", None)
    if filling.grid.days and zone is not None:
        ticks = _to_midnight(unit, zone, filling, ticks)
    stamps = pd.DatetimeIndex(ticks.view(f"M8[{unit}]"))
    return (stamps if zone is None else stamps.tz_localize("UTC").tz_convert(zone)).as_unit(unit).array


def _to_midnight(unit: str, zone: Any, filling: Filling, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    def to_wall(stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        local = pd.DatetimeIndex(stamps.view(f"M8[{unit}]")).tz_localize("UTC").tz_convert(zone)
        return np.asarray(local.tz_localize(None).as_unit(unit).asi8)

    def from_wall(walls: NDArray[np.int64]) -> NDArray[np.int64]:
        early = np.ones(len(walls), dtype=bool)  # the first of two midnights where the clock goes back
        naive = pd.DatetimeIndex(walls.view(f"M8[{unit}]"))
        local = naive.tz_localize(zone, ambiguous=early, nonexistent="shift_forward")
        return np.asarray(local.as_unit(unit).asi8)

    return to_midnight(filling, ticks, NANOSECONDS[unit], to_wall, from_wall)
