import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

import simpdm_frames
from simpdm_frames import demo
from simpdm_frames.codecs import TableCodec
from simpdm_frames.column import Filling, Kind
from simpdm_frames.errors import HolesLeftError, UnfilledColumnsWarning
from simpdm_frames.frames import backend_of
from simpdm_frames.frames import pandas as pandas_backend
from simpdm_frames.frames import polars as backend

N = 6
HOLES = np.array([False, True, False, False, True, False])
hours = [dt.datetime(2024, 3, 30, 20) + dt.timedelta(hours=k) for k in range(N)]
days = [dt.datetime(2024, 3, 30) + dt.timedelta(days=k) for k in range(N)]

CONTINUOUS = {
    "Float32": pl.Series([k / 8 for k in range(N)], dtype=pl.Float32),
    "Float64": pl.Series([k / 7 for k in range(N)]),
    "Int8": pl.Series(range(-3, 3), dtype=pl.Int8),
    "Int64": pl.Series([2**63 - 1 - k for k in range(N)], dtype=pl.Int64),
    "UInt64": pl.Series([2**64 - 1 - k for k in range(N)], dtype=pl.UInt64),
    "Int128": pl.Series([2**100 - k for k in range(N)], dtype=pl.Int128),
    "Decimal": pl.Series([Decimal(k) / 4 for k in range(N)], dtype=pl.Decimal(38, 9)),
    "Date": pl.Series([day.date() for day in days]),
    "Datetime us": pl.Series(hours, dtype=pl.Datetime("us")),
    "Datetime ns": pl.Series(days, dtype=pl.Datetime("ns")),
    "Datetime zone": pl.Series(hours, dtype=pl.Datetime("ms", "UTC")).dt.convert_time_zone("Europe/Vienna"),
    "Duration": pl.Series([dt.timedelta(hours=k) for k in range(N)], dtype=pl.Duration("ms")),
    "Time": pl.Series([hour.time() for hour in hours]),
}
DISCRETE = {
    "String": pl.Series(list("abcabc")),
    "Boolean": pl.Series([True, False] * 3),
    "Categorical": pl.Series(list("cabcab"), dtype=pl.Categorical),
    "Enum": pl.Series(list("bcabca"), dtype=pl.Enum(["c", "a", "b", "unused"])),
}
OPAQUE = {
    "List": pl.Series([[k] for k in range(N)]),
    "Struct": pl.Series([{"a": k} for k in range(N)]),
    "Binary": pl.Series([b"x"] * N),
    "Null": pl.Series([None] * N),
}


def with_holes(series):
    return pl.DataFrame({"x": series.zip_with(pl.Series(~HOLES), pl.Series([None] * N, dtype=series.dtype))})


def ids(cases):
    return pytest.mark.parametrize("series", cases.values(), ids=cases.keys())


@ids(CONTINUOUS)
def test_numbers_are_read_exactly_and_filled_in_their_own_dtype(series):
    frame = with_holes(series)
    before = frame.clone()
    column, complete = backend.read(frame, 0), backend.read(series.to_frame("x"), 0)
    assert column.kind is Kind.CONTINUOUS
    np.testing.assert_array_equal(column.missing, HOLES)
    truth = complete.values + float(complete.origin - column.origin)
    np.testing.assert_array_equal(column.values[~HOLES], truth[~HOLES])
    done = backend.write(frame, {0: Filling(np.flatnonzero(HOLES), truth[HOLES], column.origin)})
    assert_series_equal(done["x"], series, check_names=False, check_exact=True)
    assert_frame_equal(frame, before, check_exact=True)


@ids(DISCRETE)
def test_labels_are_read_and_filled_in_their_own_dtype(series):
    frame = with_holes(series)
    column, complete = backend.read(frame, 0), backend.read(series.to_frame("x"), 0)
    assert column.kind is Kind.DISCRETE
    np.testing.assert_array_equal(column.missing, HOLES)
    assert "unused" not in column.levels
    filling = Filling(np.flatnonzero(HOLES), complete.values[HOLES], levels=complete.levels)
    done = backend.write(frame, {0: filling})
    assert_series_equal(done["x"], series, check_names=False)


@ids(OPAQUE)
def test_what_cannot_be_modelled_is_opaque(series):
    assert backend.read(with_holes(series), 0).kind is Kind.OPAQUE


def test_nan_and_null_are_both_holes():
    frame = pl.DataFrame({"x": [1.5, float("nan"), None]})
    assert backend.read(frame, 0).missing.tolist() == [False, True, True]
    done = backend.write(frame, {0: Filling(np.array([1, 2]), np.array([2.5, 3.5]))})
    assert done["x"].to_list() == [1.5, 2.5, 3.5]


def test_a_fill_that_the_dtype_cannot_hold_is_a_named_error():
    frame = pl.DataFrame({"x": pl.Series(["a", None], dtype=pl.Enum(["a"]))})
    with pytest.raises(HolesLeftError, match="'x'"):
        backend.write(frame, {0: Filling(np.array([1]), np.array([0]), levels=("stranger",))})


TRUTH, PANDAS = demo.make_table(n_rows=80)
QUICK = {"random_state": 0, "steps": 20, "width": 16}


def in_polars(frame):
    """The same table in polars, through plain Python values."""
    dtypes = {
        "age": pl.Int16,
        "pressure": pl.Float32,
        "visits": pl.Int64,
        "ward": pl.String,
        "risk": pl.Enum(["low", "medium", "high"]),
        "smoker": pl.Boolean,
        "admitted": pl.Datetime("us"),
    }
    plain = {name: [None if pd.isna(value) else value for value in frame[name].tolist()] for name in frame}
    return pl.DataFrame({name: pl.Series(plain[name], dtype=dtypes[name], strict=False) for name in dtypes})


def test_pandas_and_polars_give_the_same_encoded_table():
    polars = in_polars(PANDAS)
    encoded = []
    for library, frame in ((pandas_backend, PANDAS), (backend, polars)):
        columns = [library.read(frame, position) for position in range(7)]
        encoded.append(TableCodec.learn(columns).encode(columns))
    one, other = encoded
    assert one.layout == other.layout
    np.testing.assert_array_equal(one.missing, other.missing)
    np.testing.assert_array_equal(one.numbers, other.numbers)
    np.testing.assert_array_equal(one.codes[~one.missing[:, 4:]], other.codes[~one.missing[:, 4:]])


def test_a_model_fit_in_one_library_fills_frames_of_the_other_alike():
    polars = in_polars(PANDAS)
    model = PANDAS.simpdm.fit(**QUICK)
    assert_frame_equal(polars.simpdm.impute(model), in_polars(model.impute(PANDAS)), check_exact=True)
    assert_frame_equal(polars.simpdm.fit_impute(**QUICK), polars.simpdm.impute(model), check_exact=True)


def test_only_holes_change():
    polars = in_polars(PANDAS)
    done = simpdm_frames.fit_impute(polars, **QUICK)
    assert done.schema == polars.schema
    assert done.null_count().sum_horizontal().item() == 0
    kept = [pl.when(pl.col(name).is_not_null()).then(done[name]).alias(name) for name in done.columns]
    assert_frame_equal(polars.select(kept), polars, check_exact=True)


def test_columns_that_keep_holes_are_named():
    frame = in_polars(PANDAS).with_columns(pl.Series("lists", [[1], None] * 40))
    with pytest.warns(UnfilledColumnsWarning, match="'lists'") as caught:
        frame.simpdm.fit_impute(**QUICK)
    assert caught[0].filename == __file__


def test_the_backend_is_found_and_the_accessor_registered_once():
    assert backend_of(pl.DataFrame()) is backend
    backend.register(simpdm_frames.SimpDMAccessor)
    assert pl.DataFrame.simpdm is simpdm_frames.SimpDMAccessor
