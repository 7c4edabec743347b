"""pandas frames."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Kind
from simpdm_frames.errors import HolesLeftError, describe
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
from simpdm_frames.frames.objects import fill_objects, read_objects

__all__ = ["columns", "matches", "read", "register", "table", "write"]

_COPIES_ON_WRITE = int(pd.__version__.split(".")[0]) >= 3


def matches(frame: object) -> bool:
    """Tell whether an object is a pandas frame."""
    return isinstance(frame, pd.DataFrame)


def columns(frame: Any) -> Sequence[Hashable]:
    """List the names of the columns."""
    return list(frame.columns)


def read(frame: Any, position: int, origin: int | None = None) -> Column:
    """Read one column."""
    series = frame.iloc[:, position]
    name, dtype = frame.columns[position], str(series.dtype)
    if isinstance(series.dtype, pd.ArrowDtype):
        from simpdm_frames.frames.arrow import read_array  # noqa: PLC0415  # pyarrow is there: see the dtype

        return read_array(name, dtype, series.array.__arrow_array__(), origin)
    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    missing = series.isna().to_numpy(dtype=bool)
    if series.dtype == object:
        return read_objects(name, dtype, series.to_numpy(), missing, origin)
    if _holds_labels(series.dtype):
        codes, levels, allowed = _codes(series)
        return Column(
            name,
            dtype,
            Kind.DISCRETE,
            missing,
            codes,
            levels=levels,
            meaning=meaning_of(levels),
            allowed=allowed,
        )
    if pd.api.types.is_integer_dtype(series.dtype):
        seen = _seen(series, missing).to_numpy(dtype=_storage(series.dtype))
        return whole_column(name, dtype, seen, missing, _bounds(series.dtype), origin=origin)
    if isinstance(series.dtype, pd.PeriodDtype):
        ordinals = _seen(series, missing).array.asi8
        meaning = f"period of frequency {series.dtype.freq.freqstr}"
        bounds = -(2**63) + 1, 2**63 - 1
        return whole_column(name, dtype, ordinals, missing, bounds, origin=origin, meaning=meaning)
    if _holds_time(series.dtype):
        ticks = _seen(series, missing).array.asi8
        tick = NANOSECONDS[series.dt.unit]
        days = _at_midnight(series, tick)
        return time_column(name, dtype, ticks, missing, tick, _time(series.dtype), origin=origin, days=days)
    if pd.api.types.is_float_dtype(series.dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return real_column(name, dtype, values, missing, _bound(series.dtype))
    return Column(name, dtype, Kind.OPAQUE, missing, meaning="something that cannot be modelled")


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


def _holds_labels(dtype: Any) -> bool:
    if isinstance(dtype, pd.CategoricalDtype | pd.IntervalDtype):
        return True
    return bool(pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_string_dtype(dtype))


def _codes(
    series: Any,
) -> tuple[NDArray[np.int64], tuple[Hashable, ...], tuple[Hashable, ...] | None]:
    """Positions and labels of the observed levels, and the labels that the dtype can hold."""
    if not isinstance(series.dtype, pd.CategoricalDtype):
        codes, labels = pd.factorize(series, sort=True)
        return codes.astype(np.int64), tuple(_plain(label) for label in labels), None
    labels = [_plain(label) for label in series.cat.categories]
    codes = series.cat.codes.to_numpy(dtype=np.int64)
    order = np.unique(codes[codes >= 0]).tolist()
    if not series.cat.ordered:
        with contextlib.suppress(TypeError):  # labels of several types have no order but the dtype's
            order.sort(key=lambda code: labels[code])
    position = np.zeros(len(labels) + 1, dtype=np.int64)
    position[order] = np.arange(len(order))
    return position[codes], tuple(labels[code] for code in order), tuple(labels)


def _plain(label: Any) -> Hashable:
    value: Hashable = label.item() if isinstance(label, np.generic) else label
    return value


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
    if series.dtype.kind != "M":
        return False
    walls = series.dt.tz_localize(None) if isinstance(series.dtype, pd.DatetimeTZDtype) else series
    return not (walls.dropna().array.asi8 % (DAY // tick)).any()


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
        what = describe([(name, str(dtype))])
        raise HolesLeftError(f"{what} cannot hold what the model would fill in; convert it to a wider dtype")
    return done


def _native(dtype: Any, filling: Filling) -> Any:
    """Turn a filling into values of the column's own dtype."""
    if isinstance(dtype, pd.CategoricalDtype):
        codes = dtype.categories.get_indexer(pd.Index(_labels(filling)))[filling.values]
        return pd.Categorical.from_codes(codes, dtype=dtype)
    if filling.levels:
        return pd.array(_labels(filling)[filling.values], dtype=dtype)
    if isinstance(dtype, pd.PeriodDtype):
        ordinals = fill_whole(filling, -(2**63) + 1, 2**63 - 1).astype(np.int64)
        return pd.arrays.PeriodArray(ordinals, dtype=dtype)
    if _holds_time(dtype):
        return _stamps(dtype, filling)
    if pd.api.types.is_float_dtype(dtype):
        return pd.array(fill_real(filling, _bound(dtype)), dtype=dtype)
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
    stamps = pd.DatetimeIndex(ticks.view(f"M8[{unit}]"))
    zone = getattr(dtype, "tz", None)
    if zone is not None:
        stamps = stamps.tz_localize("UTC").tz_convert(zone)
    if filling.grid.days:
        walls = stamps.tz_localize(None).round("D")
        early = np.ones(len(walls), dtype=bool)  # the first of two midnights where the clock goes back
        stamps = walls.tz_localize(zone, ambiguous=early, nonexistent="shift_forward")
    return stamps.as_unit(unit).array
