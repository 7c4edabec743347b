"""What the libraries give at door 1, beyond what every dtype has in common."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import simpdm_frames
from simpdm_frames.column import Filling, Grid, Kind
from simpdm_frames.errors import HolesLeftError
from simpdm_frames.frames import backend_of, read

HOUR = 3600 * 10**9
hours = pd.date_range("2024-03-30 20:00", periods=6, freq="h")
days = pd.date_range("2024-03-30", periods=6)


def write(frame, filling):
    return backend_of(frame).write(frame, {0: filling}, {})


def one(series):
    """Read a single column."""
    if isinstance(series, pd.Series):
        return read(pd.DataFrame({"x": series}))[0]
    return read(pl.DataFrame({"x": series}) if isinstance(series, pl.Series) else pa.table({"x": series}))[0]


def in_all(values, pandas, polars, arrow):
    yield pd.Series(values, dtype=pandas)
    yield pl.Series(values, dtype=polars)
    yield pa.array(values, arrow)
    yield pd.Series(pd.array(pa.array(values, arrow), dtype=pd.ArrowDtype(arrow)))


def test_dates_at_midnight_are_told_by_their_own_clock():
    for stamps, midnight in ((days, True), (hours, False)):
        series = pd.Series(stamps.tz_localize("Europe/Vienna").as_unit("us"))
        for form in (series, pl.Series(series), pa.Array.from_pandas(series)):
            assert one(form).grid.days is midnight


def test_units_of_time_do_not_matter_at_the_door():
    columns = [one(pd.Series(hours.as_unit(unit))) for unit in ("ns", "s")]
    columns += [one(pl.Series(hours).cast(pl.Datetime(unit))) for unit in ("ns", "ms")]
    columns += [one(pa.array(list(hours), pa.timestamp(unit))) for unit in ("us", "s")]
    columns += [one(pd.Series([stamp.to_pydatetime() for stamp in hours], dtype=object))]
    for column in columns:
        assert column.meaning == "date"
        np.testing.assert_array_equal(column.numbers(hours[0].value), np.arange(6) * HOUR)
        assert [value * column.unit for value in column.values.tolist()] == hours.as_unit("ns").asi8.tolist()


def test_integers_over_the_whole_range_are_counted_from_the_lowest():
    for series in in_all([-(2**63), 0, 2**63 - 1, None], "Int64", pl.Int64, pa.int64()):
        column = one(series)
        assert column.values[:3].tolist() == [-(2**63), 0, 2**63 - 1]
        assert column.numbers(-(2**63))[:3].tolist() == [0.0, 2.0**63, 2.0**64]
        assert column.numbers(2**63 - 1)[:3].tolist() == [-(2.0**64), -(2.0**63), 0.0]
        assert column.numbers(-(2**70))[1] == 2.0**70
    frame = pl.DataFrame({"x": [-(2**63), 0, 2**63 - 1, None]})
    done = write(frame, Filling(np.array([3]), np.array([2.0**64]), -(2**63)))
    assert done["x"].to_list() == [-(2**63), 0, 2**63 - 1, 2**63 - 1]


def test_the_bounds_of_the_dtype_are_known():
    for series in in_all([-3, None, 5], "Int8", pl.Int8, pa.int8()):
        column = one(series)
        assert (column.grid.low, column.grid.high) == (-128, 127)
    for series in in_all([3, None, 5], "UInt8", pl.UInt8, pa.uint8()):
        column = one(series)
        assert (column.grid.low, column.grid.high) == (0, 255)


def test_a_fill_beyond_the_dtype_is_brought_inside():
    for series in in_all([1, None, 5], "UInt8", pl.UInt8, pa.uint8()):
        frame = {pd.Series: pd.DataFrame, pl.Series: pl.DataFrame}.get(type(series), pa.table)({"x": series})
        done = write(frame, Filling(np.array([1]), np.array([1e6]), 1))
        assert int(one(done["x"]).values.max()) == 255
    frame = pd.DataFrame({"x": pd.Series([1.5, None], dtype="float16")})
    assert np.isfinite(write(frame, Filling(np.array([1]), np.array([1e30])))["x"]).all()


def test_labels_are_sorted_or_in_the_order_of_the_dtype():
    words, order = ["b", "a", None, "c"], ["c", "b", "never", "a"]
    for series in in_all(words, "string", pl.String, pa.string()):
        assert one(series).levels == ("a", "b", "c")
    assert one(pd.Series(pd.Categorical(words, order))).levels == ("a", "b", "c")
    assert one(pl.Series(words, dtype=pl.Categorical)).levels == ("a", "b", "c")
    for ordered in (
        pd.Series(pd.Categorical(words, order, ordered=True)),
        pl.Series(words, dtype=pl.Enum(order)),
    ):
        column = one(ordered)
        assert column.levels == ("c", "b", "a")
        assert column.allowed == tuple(order)
        assert [column.levels[code] for code in column.values[~column.missing].tolist()] == ["b", "a", "c"]


def test_chunks_and_their_dictionaries_are_one_column():
    parts = [pa.array(["b", None, "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    column = read(pa.table({"x": pa.chunked_array(parts)}))[0]
    assert column.levels == ("a", "b", "c")
    assert column.values[~column.missing].tolist() == [1, 0, 2, 1]


def test_objects_of_several_types_are_told_apart():
    column = one(pd.Series([1, True, 1.0, "1", None, 1], dtype=object))
    assert {(type(label), label) for label in column.levels} == {
        (int, 1),
        (bool, True),
        (float, 1.0),
        (str, "1"),
    }
    assert len(set(column.values[[0, 5]].tolist())) == 1


def test_python_integers_of_any_size_are_exact():
    frame = pd.DataFrame({"x": pd.Series([10**30, 10**30 + 7, None], dtype=object)})
    assert one(frame["x"]).numbers(10**30)[:2].tolist() == [0.0, 7.0]
    assert (
        write(frame, Filling(np.array([2]), np.array([3.0]), 10**30, grid=Grid(1.0)))["x"].tolist()[2]
        == 10**30 + 3
    )


def test_a_column_of_nothing_is_blank_and_takes_anything():
    frame = pd.DataFrame({"x": pd.Series([None, None], dtype=object)})
    assert one(frame["x"]).kind is Kind.BLANK
    rows = np.array([0, 1])
    assert write(frame, Filling(rows, rows, levels=("a", "b")))["x"].tolist() == ["a", "b"]
    assert write(frame, Filling(rows, rows + 0.5, 10))["x"].tolist() == [10.5, 11.5]
    whole = write(frame, Filling(rows, rows + 0.0, 10, grid=Grid(1.0)))["x"].tolist()
    assert (whole, type(whole[0])) == ([10, 11], int)
    dates = Filling(rows, rows * 1.0 * HOUR, hours[0].value, meaning="date")
    assert write(frame, dates)["x"].tolist() == [dt.datetime(2024, 3, 30, 20), dt.datetime(2024, 3, 30, 21)]


def test_a_fill_that_the_dtype_cannot_hold_is_a_named_error():
    stranger = Filling(np.array([1]), np.array([0]), levels=("stranger",))
    for frame, dtype in (
        (pd.DataFrame({"x": pd.Categorical(["a", None])}), "category"),
        (pl.DataFrame({"x": pl.Series(["a", None], dtype=pl.Enum(["a"]))}), "Enum"),
    ):
        with pytest.raises(HolesLeftError, match=rf"'x' \({dtype}.*convert it"):
            write(frame, stranger)


def test_indicators_are_added_at_the_end():
    holes = np.array([False, True])
    for frame in (
        pd.DataFrame({"x": [1.5, None]}, index=[7, 7]),
        pl.DataFrame({"x": [1.5, None]}),
        pa.table({"x": [1.5, None]}),
    ):
        done = backend_of(frame).write(frame, {}, {"x_missing": holes})
        assert [column.name for column in read(done)] == ["x", "x_missing"]
        assert read(done)[1].meaning == "truth value"
        assert read(done)[1].values.tolist() == [0, 1]


def test_metadata_of_an_arrow_table_stays():
    schema = pa.schema([pa.field("x", pa.float64(), metadata={"unit": "m"})], metadata={"source": "clinic"})
    frame = pa.table({"x": [1.5, None]}, schema=schema)
    done = write(frame, Filling(np.array([1]), np.array([2.5])))
    assert done.schema.equals(schema, check_metadata=True)


def test_the_backends_are_found_and_the_accessor_is_registered_once():
    for frame, library in ((pd.DataFrame(), "pandas"), (pl.DataFrame(), "polars"), (pa.table({}), "pyarrow")):
        backend = backend_of(frame)
        assert backend.__name__ == f"simpdm_frames.frames.{library}"
        backend.register(simpdm_frames.SimpDMAccessor)
    for owner in (pd.DataFrame, pl.DataFrame, pl.LazyFrame):
        assert owner.simpdm is simpdm_frames.SimpDMAccessor
