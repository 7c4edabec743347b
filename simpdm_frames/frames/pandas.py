"""pandas frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind

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
    if _is_discrete(series):
        codes, labels = _codes(series)
        return Column(name, dtype, Kind.DISCRETE, missing, codes, levels=tuple(labels))
    whole = _whole_numbers(series)
    if whole is not None:
        seen, grid = whole
        origin = int(seen.min()) if len(seen) else 0
        values = np.zeros(len(series))
        values[~missing] = (seen - np.array(origin, dtype=seen.dtype)).astype(np.float64)
        return Column(name, dtype, Kind.CONTINUOUS, missing, values, origin, _from_origin(grid, origin))
    if _is_real(series):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Column(name, dtype, Kind.CONTINUOUS, missing, values, grid=_grid_of_reals(series, values))
    return Column(name, dtype, Kind.OPAQUE, missing)


def write(frame: Any, fillings: Mapping[int, Filling]) -> Any:
    """Give a copy with holes filled; each column keeps its dtype because it stays the same column."""
    done = frame.copy()
    for position, filling in fillings.items():
        series = frame.iloc[:, position].copy()
        series.iloc[filling.rows] = _native(series, filling)
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
    return bool(pd.api.types.is_bool_dtype(series.dtype) or pd.api.types.is_string_dtype(series.dtype))


def _codes(series: Any) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Positions and labels of the levels, in an order that does not depend on the rows."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        # Unused levels are not drawn: only what was observed can be a fill.
        labels = list(series.cat.categories)
        codes = series.cat.codes.to_numpy(dtype=np.int64)
        used = np.unique(codes[codes >= 0])
        return np.searchsorted(used, codes.clip(0)), [_plain(labels[code]) for code in used]
    codes, labels = pd.factorize(series, sort=True)
    return codes.astype(np.int64), [_plain(label) for label in labels]


def _plain(label: Any) -> Hashable:
    value: Hashable = label.item() if isinstance(label, np.generic) else label
    return value


def _whole_numbers(series: Any) -> tuple[NDArray[Any], Grid] | None:
    """Observed cells of a dtype that counts in whole units, exact, and where they may lie."""
    seen = series.dropna()
    if pd.api.types.is_integer_dtype(series.dtype):
        # int8, Int8 and Arrow's int8 name their numpy counterpart in three ways.
        storage = getattr(series.dtype, "numpy_dtype", series.dtype)
        bounds = np.iinfo(storage)
        return seen.to_numpy(dtype=storage), Grid(1.0, bounds.min, bounds.max)
    if _is_time(series):
        ticks = seen.array.asi8
        return ticks, Grid(_tick_step(series, ticks), -(2**63) + 1, 2**63 - 1)  # -2^63 is NaT
    return None


def _is_time(series: Any) -> bool:
    """Tell dates and durations that are stored as ticks, which Arrow's are not."""
    return isinstance(series.dtype, np.dtype | pd.DatetimeTZDtype) and series.dtype.kind in "mM"


def _tick_step(series: Any, ticks: NDArray[np.int64]) -> float:
    """One day for dates at midnight only, else one tick.

    A zone with summer time has days of unequal length, so only days that are whole in UTC count.
    """
    day = int(np.timedelta64(1, "D") / np.timedelta64(1, series.dt.unit))
    at_midnight = series.dtype.kind == "M" and len(ticks) > 0 and not (ticks % day).any()
    return float(day) if at_midnight else 1.0


def _from_origin(grid: Grid, origin: int) -> Grid:
    return Grid(grid.step, grid.low - origin, grid.high - origin)


def _is_real(series: Any) -> bool:
    return pd.api.types.is_float_dtype(series.dtype) and not isinstance(series.dtype, pd.SparseDtype)


def _grid_of_reals(series: Any, values: NDArray[np.float64]) -> Grid:
    """Whole-number floats are integers that became floats because of their holes."""
    seen = values[np.isfinite(values)]
    storage = np.dtype(getattr(series.dtype, "numpy_dtype", series.dtype))
    bound = float(np.finfo(storage).max)
    whole = len(seen) > 0 and bool((seen == np.round(seen)).all())
    return Grid(1.0 if whole else 0.0, -bound, bound)


def _native(series: Any, filling: Filling) -> Any:
    """Turn a filling into values of the column's own dtype."""
    if filling.levels:
        labels = np.empty(len(filling.levels), dtype=object)
        labels[:] = filling.levels
        return pd.Series(labels[filling.values], dtype=series.dtype).array
    if _is_real(series):
        return pd.array(filling.values, dtype=series.dtype)
    ticks = np.array([filling.origin + int(value) for value in filling.values], dtype=object)
    if _is_time(series):
        ticks = ticks.astype(np.int64)
        unit = series.dt.unit
        if isinstance(series.dtype, pd.DatetimeTZDtype):
            stamps = pd.DatetimeIndex(ticks.view(f"M8[{unit}]")).tz_localize("UTC")
            return stamps.tz_convert(series.dtype.tz).array
        return ticks.view(f"{series.dtype.kind}8[{unit}]")
    return pd.array(ticks, dtype=series.dtype)
