"""pandas frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind
from simpdm_frames.errors import HolesLeftError, describe
from simpdm_frames.frames.exact import DAY, NANOSECONDS, fill_ticks, fill_whole

__all__ = ["columns", "matches", "read", "register", "write"]


def matches(frame: object) -> bool:
    """Tell whether an object is a pandas frame."""
    return isinstance(frame, pd.DataFrame)


def columns(frame: Any) -> Sequence[Hashable]:
    """List the names of the columns."""
    return list(frame.columns)


def read(frame: Any, position: int) -> Column:
    """Read one column."""
    series = frame.iloc[:, position]
    missing = series.isna().to_numpy(dtype=bool)
    name, dtype = frame.columns[position], str(series.dtype)
    if series.dtype == object and missing.all():
        return Column(name, dtype, Kind.BLANK, missing, np.zeros(len(missing)))
    if _is_discrete(series):
        codes, levels = _codes(series)
        return Column(name, dtype, Kind.DISCRETE, missing, codes, levels=levels, meaning="label")
    if _is_integer(series):
        seen = series.dropna().to_numpy(dtype=_storage(series))
        values, origin = _from_lowest(seen, missing)
        bounds = np.iinfo(seen.dtype)
        grid = Grid(1.0, float(bounds.min - origin), float(bounds.max - origin))
        return Column(name, dtype, Kind.CONTINUOUS, missing, values, origin, grid)
    if _is_time(series):
        tick = NANOSECONDS[series.dt.unit]
        values, origin = _from_lowest(series.dropna().array.asi8, missing)
        grid = Grid(_time_step(series, tick))
        return Column(
            name, dtype, Kind.CONTINUOUS, missing, values * tick, origin * tick, grid, meaning=_time(series)
        )
    if _is_real(series):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        missing = missing | np.isnan(values)  # nullable floats can hold a NaN that is no hole to pandas
        return Column(name, dtype, Kind.CONTINUOUS, missing, values, grid=_grid_of_reals(series, values))
    return Column(name, dtype, Kind.OPAQUE, missing, meaning="something that cannot be modelled")


def write(frame: Any, fillings: Mapping[int, Filling]) -> Any:
    """Give a copy with holes filled; each column keeps its dtype because it stays the same column."""
    done = frame.copy()
    for position, filling in fillings.items():
        series = frame.iloc[:, position].copy()
        series.iloc[filling.rows] = _native(series, filling)
        if series.isna().any():
            what = describe([(frame.columns[position], str(series.dtype))])
            raise HolesLeftError(
                f"{what} cannot hold what the model would fill in; convert it to a wider dtype"
            )
        done.isetitem(position, series)
    return done


def register(accessor: type) -> None:
    """Put the accessor on ``pandas.DataFrame``, once."""
    if getattr(pd.DataFrame, "simpdm", None) is not accessor:
        pd.api.extensions.register_dataframe_accessor("simpdm")(accessor)


def _is_discrete(series: Any) -> bool:
    if isinstance(series.dtype, pd.CategoricalDtype):
        return True
    if series.dtype == object:
        return pd.api.types.infer_dtype(series, skipna=True) in {"string", "boolean"}
    if isinstance(series.dtype, pd.SparseDtype):
        return False
    return bool(pd.api.types.is_bool_dtype(series.dtype) or pd.api.types.is_string_dtype(series.dtype))


def _codes(series: Any) -> tuple[NDArray[np.int64], tuple[Hashable, ...]]:
    """Positions and labels of the levels, in an order that does not depend on the rows."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        # Unused levels are not drawn: only what was observed can be a fill.
        labels = list(series.cat.categories)
        codes = series.cat.codes.to_numpy(dtype=np.int64)
        used = np.unique(codes[codes >= 0])
        return np.searchsorted(used, codes.clip(0)), tuple(_plain(labels[code]) for code in used)
    codes, labels = pd.factorize(series, sort=True)
    return codes.astype(np.int64), tuple(_plain(label) for label in labels)


def _plain(label: Any) -> Hashable:
    value: Hashable = label.item() if isinstance(label, np.generic) else label
    return value


def _storage(series: Any) -> np.dtype[Any]:
    """The numpy dtype behind int8, Int8 and Arrow's int8, which name it in three ways."""
    dtype: np.dtype[Any] = np.dtype(getattr(series.dtype, "numpy_dtype", series.dtype))
    return dtype


def _is_integer(series: Any) -> bool:
    return not isinstance(series.dtype, pd.SparseDtype) and pd.api.types.is_integer_dtype(series.dtype)


def _from_lowest(seen: NDArray[Any], missing: NDArray[np.bool_]) -> tuple[NDArray[np.float64], int]:
    """Count whole numbers from the lowest one; unsigned, because the range may exceed int64."""
    origin = int(seen.min()) if len(seen) else 0
    values = np.zeros(len(missing))
    values[~missing] = seen.astype(np.uint64) - np.uint64(origin % 2**64)
    return values, origin


def _is_time(series: Any) -> bool:
    """Tell dates and durations that are stored as ticks, which Arrow's are not."""
    return isinstance(series.dtype, np.dtype | pd.DatetimeTZDtype) and series.dtype.kind in "mM"


def _time(series: Any) -> str:
    if isinstance(series.dtype, pd.DatetimeTZDtype):
        return "date with time zone"
    return "date" if series.dtype.kind == "M" else "duration"


def _time_step(series: Any, tick: int) -> float:
    """One day for dates at midnight only, else one tick.

    A zone with summer time has days of unequal length, so only days that are whole in UTC count.
    """
    ticks = series.dropna().array.asi8
    at_midnight = series.dtype.kind == "M" and len(ticks) > 0 and not (ticks % (DAY // tick)).any()
    return float(DAY if at_midnight else tick)


def _is_real(series: Any) -> bool:
    return pd.api.types.is_float_dtype(series.dtype) and not isinstance(series.dtype, pd.SparseDtype)


def _grid_of_reals(series: Any, values: NDArray[np.float64]) -> Grid:
    """Whole-number floats are integers that became floats because of their holes."""
    seen = values[np.isfinite(values)]
    bound = float(np.finfo(_storage(series)).max)
    whole = len(seen) > 0 and bool((seen == np.round(seen)).all())
    return Grid(1.0 if whole else 0.0, -bound, bound)


def _native(series: Any, filling: Filling) -> Any:
    """Turn a filling into values of the column's own dtype."""
    if filling.levels:
        return _labels(series, filling)
    if _is_real(series):
        return pd.array(filling.values + filling.origin, dtype=series.dtype)
    if series.dtype == object:
        return (filling.values + filling.origin).astype(object)
    if _is_time(series):
        return _ticks(series, filling)
    bounds = np.iinfo(_storage(series))
    return pd.array(fill_whole(filling, bounds.min, bounds.max), dtype=series.dtype)


def _labels(series: Any, filling: Filling) -> Any:
    labels = np.empty(len(filling.levels), dtype=object)
    labels[:] = filling.levels
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.dtype.categories.get_indexer(pd.Index(labels))[filling.values]
        return pd.Categorical.from_codes(codes, dtype=series.dtype)
    return pd.Series(labels[filling.values], dtype=series.dtype).array


def _ticks(series: Any, filling: Filling) -> Any:
    unit = series.dt.unit
    ticks = np.array(fill_ticks(filling, NANOSECONDS[unit]), dtype=np.int64)
    if isinstance(series.dtype, pd.DatetimeTZDtype):
        stamps = pd.DatetimeIndex(ticks.view(f"M8[{unit}]")).tz_localize("UTC")
        return stamps.tz_convert(series.dtype.tz).array
    return ticks.view(f"{series.dtype.kind}8[{unit}]")
