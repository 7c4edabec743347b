"""polars frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind
from simpdm_frames.errors import HolesLeftError, describe
from simpdm_frames.frames.decimals import fill_decimals
from simpdm_frames.frames.exact import (
    DAY,
    NANOSECONDS,
    fill_real,
    fill_ticks,
    fill_whole,
    real_column,
    time_column,
    whole_column,
)

__all__ = ["columns", "matches", "read", "register", "table", "write"]


def matches(frame: object) -> bool:
    """Tell whether an object is a polars frame."""
    return isinstance(frame, pl.DataFrame)


def columns(frame: Any) -> Sequence[Hashable]:
    """List the names of the columns."""
    return list(frame.columns)


def read(frame: Any, position: int, origin: int | None = None) -> Column:
    """Read one column."""
    series: pl.Series = frame.to_series(position)
    missing = series.is_null().to_numpy()
    name, dtype, kind = series.name, str(series.dtype), series.dtype
    if kind == pl.Null:
        return Column(name, dtype, Kind.BLANK, missing, allowed=())
    if kind == pl.Boolean:
        return _truth_column(series, missing)
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return _label_column(series, missing)
    if kind.is_integer() and _bits(kind) <= 64:
        seen = series.drop_nulls().to_numpy()
        return whole_column(name, dtype, seen, missing, _bounds(kind), origin=origin)
    if kind.is_integer() or isinstance(kind, pl.Decimal):
        return _wide_column(series, missing, origin)
    if kind.is_temporal():
        ticks = series.drop_nulls().to_physical().to_numpy()
        days = kind == pl.Datetime and _at_midnight(series)
        return time_column(name, dtype, ticks, missing, _tick(kind), _time(kind), origin=origin, days=days)
    if kind.is_float():
        values = series.cast(pl.Float64).fill_null(np.nan).to_numpy()
        return real_column(name, dtype, values, missing, _bound(kind))
    return Column(name, dtype, Kind.OPAQUE, missing, meaning="something that cannot be modelled")


def write(
    frame: Any, fillings: Mapping[int, Filling], indicators: Mapping[Hashable, NDArray[np.bool_]]
) -> Any:
    """Give a frame with holes filled; each column keeps its dtype because it stays the same column."""
    done: pl.DataFrame = frame.clone()
    for position, filling in fillings.items():
        series = frame.to_series(position)
        fillers = _native(series.dtype, filling)
        if fillers.null_count():
            what = describe([(series.name, str(series.dtype))])
            raise HolesLeftError(
                f"{what} cannot hold what the model would fill in; convert it to a wider dtype"
            )
        # Scattering writes into the series that it is called on, hence into a clone.
        done.replace_column(position, series.clone().scatter(filling.rows, fillers))
    return done.with_columns(pl.Series(str(name), holes) for name, holes in indicators.items())


def table(data: Mapping[str, Sequence[Any]]) -> Any:
    """Make a small frame."""
    return pl.DataFrame(dict(data))


def register(accessor: type) -> None:
    """Put the accessor on ``polars.DataFrame`` and ``polars.LazyFrame``, once."""
    if getattr(pl.DataFrame, "simpdm", None) is not accessor:
        pl.api.register_dataframe_namespace("simpdm")(accessor)
        pl.api.register_lazyframe_namespace("simpdm")(accessor)


def _truth_column(series: pl.Series, missing: NDArray[np.bool_]) -> Column:
    values = series.fill_null(value=False).to_numpy()
    levels = tuple(series.drop_nulls().unique().sort().to_list())
    codes = values.astype(np.int64) if len(levels) == 2 else np.zeros(len(values), dtype=np.int64)
    return Column(series.name, "Boolean", Kind.DISCRETE, missing, codes, levels=levels, meaning="truth value")


def _label_column(series: pl.Series, missing: NDArray[np.bool_]) -> Column:
    """Read labels, sorted; those of an Enum in its own order."""
    enum = isinstance(series.dtype, pl.Enum)
    seen = series.drop_nulls().unique()
    labels = (seen if enum else seen.cast(pl.String)).sort().cast(pl.String)
    places = pl.Enum(labels)
    codes = series.cast(pl.String).cast(places).to_physical().fill_null(0).cast(pl.Int64)
    allowed = tuple(series.dtype.categories.to_list()) if isinstance(series.dtype, pl.Enum) else None
    return Column(
        series.name,
        str(series.dtype) if not enum else "Enum",
        Kind.DISCRETE,
        missing,
        codes.to_numpy(),
        levels=tuple(labels.to_list()),
        meaning="label",
        allowed=allowed,
    )


def _wide_column(series: pl.Series, missing: NDArray[np.bool_], origin: int | None) -> Column:
    """Read whole numbers of 128 bits, and decimals, which count their last digit in them."""
    unit = 10**series.dtype.scale if isinstance(series.dtype, pl.Decimal) else 1
    digits = series.to_physical()
    lowest: Any = digits.min()
    if origin is None:
        origin = 0 if lowest is None else int(lowest) // unit
    values = (digits - pl.Series([origin * unit], dtype=digits.dtype)).cast(pl.Float64).fill_null(0.0)
    low, high = _bounds(series.dtype)
    grid = Grid(1.0 / unit, float(low - origin), float(high - origin), whole=unit == 1)
    return Column(
        series.name, str(series.dtype), Kind.CONTINUOUS, missing, values.to_numpy() / unit, origin, grid
    )


def _bits(dtype: pl.DataType) -> int:
    return int(str(dtype).removeprefix("U").removeprefix("Int"))


def _bounds(dtype: pl.DataType) -> tuple[int, int]:
    if isinstance(dtype, pl.Decimal):
        most = 10 ** (dtype.precision - dtype.scale)
        return -most, most
    bits = _bits(dtype)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype.is_signed_integer() else (0, 2**bits - 1)


def _bound(dtype: pl.DataType) -> float:
    return float(np.finfo(f"float{str(dtype).removeprefix('Float')}").max)


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


def _at_midnight(series: pl.Series) -> bool:
    walls = series.drop_nulls().dt.replace_time_zone(None).to_physical().to_numpy()
    return not (walls % (DAY // _tick(series.dtype))).any()


def _native(dtype: pl.DataType, filling: Filling) -> Any:
    """Turn a filling into values of the column's own dtype."""
    if filling.levels:
        plain = pl.Boolean if dtype == pl.Boolean else pl.String
        return pl.Series(filling.levels, dtype=plain).cast(dtype, strict=False).gather(filling.values)
    if dtype.is_integer():
        return pl.Series(fill_whole(filling, *_bounds(dtype)).tolist(), dtype=dtype)
    if isinstance(dtype, pl.Decimal):
        return pl.Series(fill_decimals(filling, dtype.scale, dtype.precision), dtype=dtype)
    if dtype == pl.Date:
        return pl.Series(fill_ticks(filling, DAY, bits=32), dtype=pl.Int32).cast(dtype)
    if dtype.is_temporal():
        stamps = pl.Series(fill_ticks(filling, _tick(dtype)), dtype=pl.Int64).cast(dtype)
        return _to_midnight(stamps) if filling.grid.days and dtype == pl.Datetime else stamps
    return pl.Series(fill_real(filling, _bound(dtype)), dtype=pl.Float64).cast(dtype)


def _to_midnight(stamps: Any) -> Any:
    """Move stamps to the nearest midnight of their own time zone, or to the hour after one left out."""
    zone = getattr(stamps.dtype, "time_zone", None)
    walls = stamps.dt.replace_time_zone(None).dt.round("1d")
    if zone is None:
        return walls
    days, later = (
        wall.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
        for wall in (walls, walls.dt.offset_by("1h"))
    )
    return days.zip_with(days.is_not_null(), later)
