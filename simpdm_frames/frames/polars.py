"""polars frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Kind
from simpdm_frames.errors import HolesLeftError
from simpdm_frames.frames.decimals import decimal_column, fill_decimals
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

__all__ = ["columns", "matches", "read", "register", "table", "write"]


def matches(frame: object) -> bool:
    """Tell whether an object is a polars frame."""
    return isinstance(frame, pl.DataFrame)


def columns(frame: Any) -> Sequence[Hashable]:
    """List the names of the columns."""
    return list(frame.columns)


def read(frame: Any, position: int) -> Column:
    """Read one column."""
    # polars takes a name such as "^a.*$" for a pattern, so the series works under a plain one.
    series: pl.Series = frame.to_series(position).alias("cells")
    missing = series.is_null().to_numpy()
    name, dtype, kind = frame.columns[position], str(series.dtype), series.dtype
    if kind == pl.Null:
        return Column(name, dtype, Kind.BLANK, missing, allowed=())
    if kind == pl.Boolean:
        return _truth_column(name, series, missing)
    if isinstance(kind, pl.String | pl.Categorical | pl.Enum):
        return _label_column(name, series, missing)
    if kind.is_integer():
        return whole_column(name, dtype, _whole(series.drop_nulls()), missing, _bounds(kind))
    if isinstance(kind, pl.Decimal):
        digits = series.drop_nulls().to_physical().to_list()
        return decimal_column(name, dtype, digits, missing, kind.scale, kind.precision)
    if kind.is_temporal():
        ticks = series.drop_nulls().to_physical().to_numpy()
        days = getattr(kind, "time_zone", None) is not None and _at_midnight(series)
        return time_column(name, dtype, ticks, missing, _tick(kind), _time(kind), days=days)
    if kind.is_float():
        values = series.cast(pl.Float64).fill_null(np.nan).to_numpy()
        return real_column(name, dtype, values, missing, float(np.finfo(_float(kind)).max))
    return Column.opaque(name, dtype, missing)


def write(
    frame: Any, fillings: Mapping[int, Filling], indicators: Mapping[Hashable, NDArray[np.bool_]]
) -> Any:
    """Give a frame with holes filled; each column keeps its dtype because it stays the same column."""
    done: pl.DataFrame = frame.clone()
    for position, filling in fillings.items():
        name, series = frame.columns[position], frame.to_series(position).alias("cells")
        fillers = _native(series.dtype, filling)
        if fillers.null_count():
            raise HolesLeftError.because(name, str(series.dtype))
        # Scattering writes into the series that it is called on, hence into a clone.
        done.replace_column(position, series.clone().scatter(filling.rows, fillers).alias(name))
    return done.with_columns(pl.Series(str(name), holes) for name, holes in indicators.items())


def table(data: Mapping[str, Sequence[Any]]) -> Any:
    """Make a small frame."""
    return pl.DataFrame(dict(data))


def register(accessor: type) -> None:
    """Put the accessor on ``polars.DataFrame`` and ``polars.LazyFrame``, once."""
    if getattr(pl.DataFrame, "simpdm", None) is not accessor:
        pl.api.register_dataframe_namespace("simpdm")(accessor)
        pl.api.register_lazyframe_namespace("simpdm")(accessor)


def _truth_column(name: str, series: pl.Series, missing: NDArray[np.bool_]) -> Column:
    levels = tuple(series.drop_nulls().unique().sort().to_list())
    values = series.fill_null(value=False).to_numpy()
    codes = values.astype(np.int64) if len(levels) == 2 else np.zeros(len(values), dtype=np.int64)
    return Column(
        name,
        "Boolean",
        Kind.DISCRETE,
        missing,
        codes,
        levels=levels,
        meaning="truth value",
        holds=frozenset({bool}),
    )


def _label_column(name: str, series: pl.Series, missing: NDArray[np.bool_]) -> Column:
    """Read labels, sorted; those of an Enum in its own order."""
    seen = series.drop_nulls().unique()
    enum = series.dtype if isinstance(series.dtype, pl.Enum) else None
    labels = (seen.cast(pl.String) if enum is None else seen).sort().cast(pl.String)
    codes = series.cast(pl.String).cast(pl.Enum(labels)).to_physical().fill_null(0).cast(pl.Int64)
    return Column(
        name,
        str(series.dtype) if enum is None else "Enum",
        Kind.DISCRETE,
        missing,
        codes.to_numpy(),
        levels=tuple(labels.to_list()),
        meaning="label",
        allowed=None if enum is None else tuple(enum.categories.to_list()),
        holds=frozenset({str}),
        ordered=enum is not None,
    )


def _whole(seen: pl.Series) -> NDArray[Any]:
    """Whole numbers as numpy has them, or as Python has them beyond 64 bits."""
    return (
        seen.to_numpy() if _bits(seen.dtype) <= 64 else np.array([*seen.to_list(), None], dtype=object)[:-1]
    )


def _bits(dtype: pl.DataType) -> int:
    return int(str(dtype).removeprefix("U").removeprefix("Int"))


def _bounds(dtype: pl.DataType) -> tuple[int, int]:
    bits = _bits(dtype)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype.is_signed_integer() else (0, 2**bits - 1)


def _float(dtype: pl.DataType) -> type[np.floating[Any]]:
    kinds: dict[str, type[np.floating[Any]]] = {"Float16": np.float16, "Float32": np.float32}
    return kinds.get(str(dtype), np.float64)


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
    if isinstance(dtype, pl.Boolean | pl.String | pl.Categorical | pl.Enum):
        plain = pl.Boolean if dtype == pl.Boolean else pl.String
        return pl.Series(filling.levels, dtype=plain).cast(dtype, strict=False).gather(filling.values)
    if dtype.is_integer():
        return pl.Series(fill_whole(filling, *_bounds(dtype)).tolist(), dtype=dtype)
    if isinstance(dtype, pl.Decimal):
        return pl.Series(fill_decimals(filling, dtype.scale, dtype.precision), dtype=dtype)
    if dtype == pl.Date:
        return pl.Series(fill_ticks(filling, DAY, bits=32), dtype=pl.Int32).cast(dtype)
    if dtype.is_temporal():
        ticks = fill_ticks(filling, _tick(dtype))
        if filling.grid.days and isinstance(dtype, pl.Datetime) and dtype.time_zone:
            ticks = _to_midnight(dtype, filling, ticks)
        return pl.Series(ticks, dtype=pl.Int64).cast(dtype)
    # Rounded by numpy, as the other libraries do: from 64 to 16 bits at once.
    return pl.Series(fill_real(filling, _float(dtype)).astype(np.float64)).cast(dtype)


def _to_midnight(dtype: pl.Datetime, filling: Filling, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    naive, zone = pl.Datetime(dtype.time_unit), dtype.time_zone

    def to_wall(stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(pl.Series(stamps).cast(dtype).dt.replace_time_zone(None).to_physical())

    def from_wall(walls: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the first of two midnights, and the hour or the day after one that was left out."""
        stamps = pl.Series([None] * len(walls), dtype=dtype)
        for later in ("0h", "1h", "24h"):
            shifted = pl.Series(walls).cast(naive).dt.offset_by(later)
            there = shifted.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
            stamps = stamps.zip_with(stamps.is_not_null(), there)
        return np.asarray(stamps.to_physical())

    return to_midnight(filling, ticks, _tick(dtype), to_wall, from_wall)
