"""Every dtype that is promised, as complete columns; tests put holes into them.

``LEFT`` are those whose holes cannot be filled.
"""

import datetime as dt
from decimal import Decimal
from itertools import compress

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N = 24
HOLES = np.isin(np.arange(N), [1, 4, 5, 11, 19])

whole = np.arange(N) % 12
real = np.arange(N) / 7
words = [("red", "green", "blue")[k % 3] for k in range(N)]
truths = [k % 3 == 0 for k in range(N)]
days = pd.date_range("2024-03-20", periods=N)  # clocks change inside
hours = pd.date_range("2024-03-30 20:00", periods=N, freq="h")
late = [2**63 - 1 - 11 * k for k in range(N)]
nanoseconds = pd.DatetimeIndex(np.datetime64("2262-01-01", "ns") + np.arange(N) * 7)
cents = [Decimal(k * 37) / 100 for k in range(N)]
long_decimals = [Decimal("12345678901234567890123456789.123456789") - k for k in range(N)]
spans = pd.to_timedelta(whole, unit="h")


def series(values, dtype=None):
    return pd.Series(values, dtype=dtype)


def arrow(values, kind):
    return pd.Series(pd.array(pa.array(values, type=kind), dtype=pd.ArrowDtype(kind)))


PANDAS = {
    **{f"float{bits}": series(real, f"float{bits}") for bits in (16, 32, 64)},
    **{
        f"{kind}{bits}": series(whole, f"{kind}{bits}")
        for kind in ("int", "uint")
        for bits in (8, 16, 32, 64)
    },
    "bool": series(truths, "bool"),
    **{
        f"{kind}{bits}": series(whole, f"{kind}{bits}")
        for kind in ("Int", "UInt")
        for bits in (8, 16, 32, 64)
    },
    "Int64 near 2^63": series(late, "Int64"),
    **{f"Float{bits}": series(real, f"Float{bits}") for bits in (32, 64)},
    "boolean": series(truths, "boolean"),
    "object of bool": series(truths, object),
    "object of int": series([int(k) for k in whole], object),
    "object of float": series(real.tolist(), object),
    "object of str": series(words, object),
    "object of Decimal": series(cents, object),
    "object of date": series([day.date() for day in days], object),
    "object of datetime": series([dt.datetime(2024, 1, 1, k) for k in range(N)], object),
    "object of timedelta": series([dt.timedelta(hours=int(k)) for k in whole], object),
    "object of time": series([dt.time(k, 30) for k in range(N)], object),
    "object, mixed": series([(1, "a", "1")[k % 3] for k in range(N)], object),
    "object of lists": series([[k] for k in range(N)], object),
    "object of bytes": series([b"a", b"b"] * (N // 2), object),
    "str": series(words, "str"),
    "str, python": series(words, pd.StringDtype("python", na_value=np.nan)),
    "string, pyarrow": series(words, pd.StringDtype("pyarrow")),
    "string, python": series(words, pd.StringDtype("python")),
    "category": series(pd.Categorical(words)),
    "category, ordered": series(pd.Categorical(words, ["green", "red", "blue"], ordered=True)),
    "category of int": series(pd.Categorical(whole % 3 + 5)),
    "category of dates": series(pd.Categorical(days[:3].repeat(N // 3))),
    "category, unused level": series(pd.Categorical(words, ["never", "red", "green", "blue"])),
    **{f"datetime64[{unit}]": series(hours.as_unit(unit)) for unit in ("s", "ms", "us", "ns")},
    "datetime64[ns], to the nanosecond": series(nanoseconds),
    "datetime64[us] at midnight": series(days.as_unit("us")),
    **{
        f"datetime64[{unit}, Europe/Vienna]": series(
            hours.tz_localize("UTC").tz_convert("Europe/Vienna").as_unit(unit)
        )
        for unit in ("s", "ms", "us", "ns")
    },
    "datetime64[us, Europe/Vienna] at midnight": series(days.tz_localize("Europe/Vienna").as_unit("us")),
    **{f"timedelta64[{unit}]": series(spans.as_unit(unit)) for unit in ("s", "ms", "us", "ns")},
    "period[M]": series(pd.period_range("2020-01", periods=N, freq="M")),
    "period[D]": series(pd.period_range("2020-01-01", periods=N, freq="D")),
    "interval": series(pd.cut(real, [-1, 1, 2, 5]).astype(pd.IntervalDtype("float64", "right"))),
    "Sparse[float64]": series(pd.arrays.SparseArray(real)),
    "Sparse[int64]": series(pd.arrays.SparseArray(whole)),
    "complex128": series(real * 1j),
    **{
        f"{kind}[pyarrow]": series(whole, f"{kind}[pyarrow]") for kind in ("int8", "int64", "uint8", "uint64")
    },
    **{f"{kind}[pyarrow]": series(real, f"{kind}[pyarrow]") for kind in ("float", "double")},
    "bool[pyarrow]": series(truths, "bool[pyarrow]"),
    "string[pyarrow] by ArrowDtype": arrow(words, pa.string()),
    "large_string[pyarrow]": arrow(words, pa.large_string()),
    "decimal128(38, 9)[pyarrow]": arrow(long_decimals, pa.decimal128(38, 9)),
    "date32[pyarrow]": arrow([day.date() for day in days], pa.date32()),
    "date64[pyarrow]": arrow([day.date() for day in days], pa.date64()),
    "timestamp[us][pyarrow]": arrow(list(hours), pa.timestamp("us")),
    "timestamp[us, tz][pyarrow]": arrow(list(hours.tz_localize("UTC")), pa.timestamp("us", "Europe/Vienna")),
    "timestamp[s, tz][pyarrow] at midnight": arrow(
        list(days.tz_localize("Europe/Vienna")), pa.timestamp("s", "Europe/Vienna")
    ),
    "duration[ms][pyarrow]": arrow(list(spans), pa.duration("ms")),
    "time64[us][pyarrow]": arrow([dt.time(k, 30) for k in range(N)], pa.time64("us")),
    "dictionary[pyarrow]": arrow(words, pa.dictionary(pa.int8(), pa.string())),
    "binary[pyarrow]": arrow([b"a", b"b"] * (N // 2), pa.binary()),
    "list[pyarrow]": arrow([[k] for k in range(N)], pa.list_(pa.int64())),
}

POLARS = {
    **{
        f"{kind}{bits}": pl.Series(whole.tolist(), dtype=getattr(pl, f"{kind}{bits}"))
        for kind in ("Int", "UInt")
        for bits in (8, 16, 32, 64, 128)
    },
    "Int64 near 2^63": pl.Series(late, dtype=pl.Int64),
    "Int128 near 2^127": pl.Series([2**127 - 1 - 11 * k for k in range(N)], dtype=pl.Int128),
    **{f"Float{bits}": pl.Series(real).cast(getattr(pl, f"Float{bits}")) for bits in (16, 32, 64)},
    "Boolean": pl.Series(truths),
    "String": pl.Series(words),
    "Categorical": pl.Series(words, dtype=pl.Categorical),
    "Enum": pl.Series(words, dtype=pl.Enum(["green", "never", "red", "blue"])),
    "Date": pl.Series([day.date() for day in days]),
    **{f"Datetime({unit})": pl.Series(hours).cast(pl.Datetime(unit)) for unit in ("ms", "us", "ns")},
    "Datetime(ns), to the nanosecond": pl.Series(nanoseconds),
    "Datetime(us) at midnight": pl.Series(days).cast(pl.Datetime("us")),
    **{
        f"Datetime({unit}, Europe/Vienna)": pl.Series(hours.tz_localize("UTC"))
        .cast(pl.Datetime(unit, "UTC"))
        .dt.convert_time_zone("Europe/Vienna")
        for unit in ("ms", "us", "ns")
    },
    "Datetime(us, Europe/Vienna) at midnight": pl.Series(days)
    .cast(pl.Datetime("us"))
    .dt.replace_time_zone("Europe/Vienna"),
    **{f"Duration({unit})": pl.Series(spans).cast(pl.Duration(unit)) for unit in ("ms", "us", "ns")},
    "Time": pl.Series([dt.time(k, 30) for k in range(N)]),
    "Decimal(10, 2)": pl.Series(cents, dtype=pl.Decimal(10, 2)),
    "Decimal(38, 9)": pl.Series(long_decimals, dtype=pl.Decimal(38, 9)),
    "Null": pl.Series([None] * N, dtype=pl.Null),
    "List": pl.Series([[k] for k in range(N)]),
    "Array": pl.Series([[k, k] for k in range(N)], dtype=pl.Array(pl.Int64, 2)),
    "Struct": pl.Series([{"a": k} for k in range(N)]),
    "Binary": pl.Series([b"a", b"b"] * (N // 2)),
    "Object": pl.Series([object()] * N, dtype=pl.Object),
}

ARROW = {
    **{str(kind): pa.array(whole.tolist(), kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{
        str(kind): pa.array(whole.tolist(), kind)
        for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    },
    **{str(kind): pa.array(real).cast(kind) for kind in (pa.float16(), pa.float32(), pa.float64())},
    "bool": pa.array(truths),
    **{str(kind): pa.array(words, kind) for kind in (pa.string(), pa.large_string(), pa.string_view())},
    "dictionary of string": pa.array(words).dictionary_encode(),
    "dictionary of int64": pa.array((whole % 3).tolist()).dictionary_encode(),
    "date32": pa.array([day.date() for day in days], pa.date32()),
    "date64": pa.array([day.date() for day in days], pa.date64()),
    **{f"timestamp[{unit}]": pa.array(list(hours), pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    "timestamp[us, Europe/Vienna]": pa.array(
        list(hours.tz_localize("UTC")), pa.timestamp("us", "Europe/Vienna")
    ),
    "timestamp[us, Europe/Vienna] at midnight": pa.array(
        list(days.tz_localize("Europe/Vienna")), pa.timestamp("us", "Europe/Vienna")
    ),
    "duration[ms]": pa.array(list(spans), pa.duration("ms")),
    "time32[ms]": pa.array([dt.time(k, 30) for k in range(N)], pa.time32("ms")),
    "time64[us]": pa.array([dt.time(k, 30) for k in range(N)], pa.time64("us")),
    "decimal128(10, 2)": pa.array(cents, pa.decimal128(10, 2)),
    "decimal128(38, 9)": pa.array(long_decimals, pa.decimal128(38, 9)),
    "null": pa.nulls(N),
    "list": pa.array([[k] for k in range(N)]),
    "struct": pa.array([{"a": k} for k in range(N)]),
    "binary": pa.array([b"a", b"b"] * (N // 2)),
}

LEFT = {
    "pandas": {"object of lists", "object of bytes", "complex128", "binary[pyarrow]", "list[pyarrow]"},
    "polars": {"Null", "List", "Array", "Struct", "Binary", "Object"},
    "pyarrow": {"null", "list", "struct", "binary"},
}
CANNOT_MISS = {
    ("pandas", name)
    for name in (
        "bool",
        "Sparse[int64]",
        *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    )
}


def columns(library):
    """All columns of a library, by name."""
    return {"pandas": PANDAS, "polars": POLARS, "pyarrow": ARROW}[library]


def complete_frame(library, name):
    """A frame of the column and of another one beside it."""
    column = columns(library)[name]
    if library == "pandas":
        return pd.DataFrame({"x": column, "y": real})
    if library == "polars":
        return pl.DataFrame({"x": column, "y": real})
    return pa.table({"x": column, "y": real})


def holed_frame(library, name):
    """The same frame with holes in the column, if its dtype can have any."""
    column = columns(library)[name]
    if library == "pandas":
        kept = column if (library, name) in CANNOT_MISS else column.mask(HOLES)
        return pd.DataFrame({"x": kept, "y": real})
    if library == "polars":
        frame = pl.DataFrame({"x": column, "y": real})
        if column.dtype == pl.Object:  # polars cannot put a hole into a column of objects
            return frame
        return frame.with_columns(pl.when(~pl.Series(HOLES)).then("x").alias("x"))
    cells = [None if hole else cell for hole, cell in zip(HOLES, column.to_pylist(), strict=True)]
    return pa.table({"x": pa.array(cells, column.type), "y": real})


def dtype_of(frame):
    """The dtype of the column, as the library has it."""
    if isinstance(frame, pa.Table):
        return frame.column("x").type
    return frame["x"].dtype


def holes_of(frame):
    """Where the column has holes."""
    if isinstance(frame, pd.DataFrame):
        return frame["x"].isna().to_numpy(dtype=bool)
    if isinstance(frame, pl.DataFrame):
        return frame["x"].is_null().to_numpy()
    return frame.column("x").is_null().to_numpy()


def same_cells(one, other, rows):
    """Tell whether some cells of two columns of one dtype are the same, to the bit and to the type."""
    if isinstance(one, pa.Table):
        cells = (compress(frame.column("x").to_pylist(), rows) for frame in (one, other))
        return list(next(cells)) == list(next(cells))
    if isinstance(one, pl.DataFrame):
        keep = pl.Series(rows)
        if one["x"].dtype == pl.Object:
            return one["x"].to_list() == other["x"].to_list()
        return one["x"].filter(keep).equals(other["x"].filter(keep), null_equal=True)
    left, right = one["x"][rows], other["x"][rows]
    pd.testing.assert_series_equal(left, right, check_exact=True)
    return [type(cell) for cell in left] == [type(cell) for cell in right]


CASES = [(library, name) for library in ("pandas", "polars", "pyarrow") for name in columns(library)]
