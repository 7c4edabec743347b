"""polars frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind
from simpdm_frames.errors import HolesLeftError, describe
from simpdm_frames.frames.exact import DAY, NANOSECONDS, fill_ticks, fill_whole

__all__ = ["columns", "matches", "read", "register", "write"]


def matches(frame: object) -> bool:
    """Tell whether an object is a polars frame."""
    return isinstance(frame, pl.DataFrame)


def columns(frame: Any) -> Sequence[Hashable]:
    """List the names of the columns."""
    return list(frame.columns)


def read(frame: Any, position: int) -> Column:
    """Read one column."""
    series: pl.Series = frame.to_series(position)
    missing = series.is_null().to_numpy()
    name, dtype = series.name, str(series.dtype)
    if _is_discrete(series.dtype):
        labels = series.drop_nulls().unique().sort().cast(_label_dtype(series.dtype))  # an Enum in its order
        codes = series.cast(_label_dtype(series.dtype)).replace_strict(
            labels, np.arange(len(labels)), default=0, return_dtype=pl.Int64
        )
        levels = tuple(labels.to_list())
        return Column(name, dtype, Kind.DISCRETE, missing, codes.to_numpy(), levels=levels, meaning="label")
    if series.dtype.is_integer():
        values, origin = _from_lowest(series)
        low, high = _bounds(series.dtype)
        grid = Grid(1.0, float(low - origin), float(high - origin))
        return Column(name, dtype, Kind.CONTINUOUS, missing, values, origin, grid)
    if series.dtype.is_temporal():
        tick = _tick(series.dtype)
        values, origin = _from_lowest(series.to_physical())
        grid = Grid(_time_step(series, tick))
        meaning = _time(series.dtype)
        return Column(
            name, dtype, Kind.CONTINUOUS, missing, values * tick, origin * tick, grid, meaning=meaning
        )
    if series.dtype.is_float() or series.dtype.is_decimal():
        values = series.cast(pl.Float64).fill_null(np.nan).to_numpy()
        grid = _grid_of_reals(series.dtype, values)
        return Column(name, dtype, Kind.CONTINUOUS, missing | np.isnan(values), values, grid=grid)
    return Column(name, dtype, Kind.OPAQUE, missing, meaning="something that cannot be modelled")


def write(frame: Any, fillings: Mapping[int, Filling]) -> Any:
    """Give a frame with holes filled; each column keeps its dtype because it stays the same column."""
    done: pl.DataFrame = frame.clone()
    for position, filling in fillings.items():
        series = frame.to_series(position)
        # One filler per row, of which only those at holes are taken: the one way for every dtype.
        place = np.zeros(len(series), dtype=np.int64)
        place[filling.rows] = np.arange(len(filling.rows))
        hole = np.zeros(len(series), dtype=bool)
        hole[filling.rows] = True
        fillers = _native(series.dtype, filling).gather(place)
        filled = fillers.zip_with(pl.Series(hole), series).alias(series.name)
        if filled.null_count():
            what = describe([(series.name, str(series.dtype))])
            raise HolesLeftError(
                f"{what} cannot hold what the model would fill in; convert it to a wider dtype"
            )
        done.replace_column(position, filled)
    return done


def register(accessor: type) -> None:
    """Put the accessor on ``polars.DataFrame``, once."""
    if getattr(pl.DataFrame, "simpdm", None) is not accessor:
        pl.api.register_dataframe_namespace("simpdm")(accessor)


def _is_discrete(dtype: pl.DataType) -> bool:
    return dtype in (pl.Boolean, pl.String, pl.Categorical, pl.Enum)


def _label_dtype(dtype: pl.DataType) -> type[pl.DataType]:
    return pl.Boolean if dtype == pl.Boolean else pl.String


def _bounds(dtype: pl.DataType) -> tuple[int, int]:
    bits = int(str(dtype).removeprefix("U").removeprefix("Int"))
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype.is_signed_integer() else (0, 2**bits - 1)


def _from_lowest(whole: pl.Series) -> tuple[NDArray[np.float64], int]:
    """Count whole numbers from the lowest one; in 128 bits, because the range may exceed 64."""
    lowest: Any = whole.min()
    origin = 0 if lowest is None else int(lowest)
    values = (whole.cast(pl.Int128) - pl.Series([origin], dtype=pl.Int128)).cast(pl.Float64).fill_null(0.0)
    return values.to_numpy(), origin


def _tick(dtype: pl.DataType) -> int:
    """Nanoseconds that one step of the stored integer stands for."""
    if dtype == pl.Date:
        return DAY
    return NANOSECONDS[getattr(dtype, "time_unit", "ns")]  # times of day count in nanoseconds


def _time(dtype: pl.DataType) -> str:
    if dtype == pl.Duration:
        return "duration"
    if dtype == pl.Time:
        return "time of day"
    return "date with time zone" if getattr(dtype, "time_zone", None) else "date"


def _time_step(series: pl.Series, tick: int) -> float:
    """One day for dates at midnight only, else one tick; in zones, days that are whole in UTC count."""
    ticks = series.to_physical().drop_nulls()
    at_midnight = (
        series.dtype == pl.Datetime and len(ticks) > 0 and not (ticks.to_numpy() % (DAY // tick)).any()
    )
    return float(DAY if at_midnight else tick)


def _grid_of_reals(dtype: pl.DataType, values: NDArray[np.float64]) -> Grid:
    """Decimals have a scale; whole-number floats may be integers that came from elsewhere."""
    if isinstance(dtype, pl.Decimal):
        return Grid(10.0**-dtype.scale)
    seen = values[np.isfinite(values)]
    whole = len(seen) > 0 and bool((seen == np.round(seen)).all())
    return Grid(1.0 if whole else 0.0)


def _native(dtype: pl.DataType, filling: Filling) -> Any:
    """Turn a filling into values of the column's own dtype."""
    if filling.levels:
        labels = pl.Series(list(filling.levels), dtype=_label_dtype(dtype)).cast(dtype, strict=False)
        return labels.gather(pl.Series(filling.values))
    if dtype.is_integer():
        return pl.Series(fill_whole(filling, *_bounds(dtype)), dtype=dtype)
    if dtype.is_temporal():
        physical = pl.Int32 if dtype == pl.Date else pl.Int64
        return pl.Series(fill_ticks(filling, _tick(dtype)), dtype=physical).cast(dtype)
    return pl.Series(filling.values + filling.origin, dtype=pl.Float64).cast(dtype)
