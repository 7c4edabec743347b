"""Python's objects, and columns in which nothing is observed."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from libraries import QUICK, Y, fill, model_of

import simpdm_frames
from simpdm_frames.errors import (
    MeaningDiffersError,
    NarrowColumnsWarning,
    UnfilledColumnsWarning,
)

UTC = dt.timezone.utc


@pytest.mark.parametrize(
    "cells",
    [
        [dt.date(9999, 12, 31), dt.date(1969, 5, 1)],
        [dt.date(2500, 1, 1), dt.date(2559, 1, 1)],
        [dt.datetime(9999, 12, 31), dt.datetime(1969, 5, 1, 3)],
        [dt.timedelta(days=200_000), dt.timedelta(seconds=3)],
        [pd.Timestamp("2024-01-01 05:00"), pd.Timestamp("2024-07-01")],
        [pd.Timedelta("3h"), pd.Timedelta("5ns")],
        [dt.time(3, 30), dt.time(23, 59)],
        [10**45, 10**45 + 9],
        [Decimal("1." + "3" * 49), Decimal("1." + "7" * 49)],
        [Decimal("1e-28"), Decimal("1e12")],
    ],
    ids=repr,
)
def test_objects_are_filled_with_their_like_inside_their_range(cells):
    frame = pd.DataFrame({"x": pd.Series([*cells, None] * 10, dtype=object), "y": Y[:30]})
    assert frame.simpdm.missing()["holes"].tolist() == [10, 0]
    done = frame.simpdm.fit_impute(columns="x", **QUICK)["x"]
    assert {type(cell) for cell in done} == {type(cells[0])}
    assert min(cells) <= min(done)
    assert max(done) <= max(cells)


def test_objects_of_numpy_dates_stay_what_they_are():
    cells = [np.datetime64("2024-01-01T03", "ns"), np.datetime64("2024-02-01", "ns"), None] * 10
    done = fill(cells, object)
    assert set(done) <= set(cells[:2])
    assert {type(cell) for cell in done} == {np.datetime64}


def test_an_object_is_filled_alike_whatever_stands_beside_it():
    model = model_of([2.25, 3.0, 4.5] * 10, object)
    alone = pd.DataFrame({"x": pd.Series([None], dtype=object), "y": [0.1]})
    among = pd.DataFrame({"x": pd.Series([None, 3], dtype=object), "y": [0.1, 0.2]})
    assert model.impute(alone)["x"][0] == model.impute(among)["x"][0]


@pytest.mark.parametrize("beside", [Decimal(2), Decimal("2.5"), Decimal("2.25"), None])
def test_decimals_are_filled_alike_whatever_stands_beside_them(beside):
    model = model_of([Decimal("1.25"), Decimal("2.75"), Decimal("3.33")] * 10, object)
    frame = pd.DataFrame({"x": pd.Series([None, beside], dtype=object), "y": [0.1, 0.2]})
    alone = model.impute(frame[:1])["x"][0]
    assert type(alone) is Decimal
    assert model.impute(frame)["x"][0] == alone


@pytest.mark.parametrize(
    "cell", [dt.date(2024, 1, 1), pd.Timestamp("2024-01-01 03:00"), pd.Timedelta("3h"), 2.0, 7]
)
def test_a_lone_object_is_of_the_kind_of_the_fit(cell):
    more = cell + dt.timedelta(days=40) if not isinstance(cell, int | float) else cell * 9
    model = model_of([cell, more] * 10, object)
    alone = pd.DataFrame({"x": pd.Series([None], dtype=object), "y": [0.1]})
    assert type(model.impute(alone)["x"][0]) is type(cell)


def test_infinite_decimals_are_left_alone():
    cells = [Decimal("Infinity"), Decimal(1), None] * 10
    with pytest.warns(UnfilledColumnsWarning, match="'x'"):
        assert fill(cells, object).isna().sum() == 10


def test_fewer_labels_of_several_types_are_no_news():
    for fit_cells, part in (([1.5, "a", 2.5], [1.5, None]), ([1, "a", 2], [1, None])):
        model = model_of(fit_cells * 10, object)
        frame = pd.DataFrame({"x": pd.Series(part, dtype=object), "y": [0.1, 0.2]})
        assert model.impute(frame)["x"][1] in fit_cells
    model = model_of(pd.Categorical([1, 2, "unknown"] * 10))
    frame = pd.DataFrame({"x": pd.Categorical([1, 2, None], [1, 2]), "y": [0.1, 0.2, 0.3]})
    with pytest.warns(NarrowColumnsWarning, match="'unknown'"):
        assert model.impute(frame)["x"][2] in {1, 2}


def test_a_part_of_mixed_objects_is_accepted():
    model = model_of([1, "a", 2] * 10, object)
    part = pd.DataFrame({"x": pd.Series([1, 2, None], dtype=object), "y": [0.1, 0.2, 0.3]})
    assert model.impute(part)["x"][2] in {1, 2, "a"}
    words = model_of(["a", "b"] * 10, object)
    with pytest.raises(MeaningDiffersError, match="'x' was a label"):
        words.impute(part)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, False] * 10, dtype="boolean"),
        pd.Series([True, False] * 10, dtype="bool[pyarrow]"),
        pd.Series(pd.Categorical([5, 7] * 10)),
        pd.Series(pd.Categorical([True, False] * 10)),
        pd.Series(pd.Categorical(["a", "b"] * 10)),
        pd.Series([3, 40] * 10, dtype="Int8"),
        pd.Series(pd.date_range("2024", periods=20)),
        pd.Series(["a", "b"] * 10, dtype="string"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_one_row_with_nothing_in_a_column_is_filled(column):
    model = model_of(column)
    row = pd.DataFrame({"x": column[:1].mask([True]), "y": [0.1]})
    done = model.impute(row)["x"]
    assert done.notna().all()
    assert done.dtype == column.dtype


def test_blank_objects_take_what_objects_can_be():
    blank = pd.DataFrame({"x": pd.Series([None], dtype=object), "y": [0.1]})
    for column in (
        pd.date_range("2024", periods=20),
        pd.to_timedelta(range(20), unit="h"),
        [True, False] * 10,
    ):
        assert model_of(column).impute(blank)["x"].notna().all()
    for column in (
        pd.date_range("2024", periods=20, tz="UTC"),
        pd.period_range("2024-01", periods=20, freq="M"),
    ):
        with pytest.warns(
            UnfilledColumnsWarning, match=r"'x' \(object\): its dtype cannot hold a .*convert it to"
        ):
            assert model_of(column).impute(blank)["x"].isna().all()


@pytest.mark.parametrize("dtype", ["boolean", "float64", "Int64", "datetime64[ns]", "bool[pyarrow]"])
def test_labels_are_not_forced_into_a_dtype_that_cannot_hold_them(dtype):
    model = model_of(["a", "b"] * 10)
    frame = pd.DataFrame({"x": pd.Series([None, None], dtype=dtype), "y": [0.1, 0.2]})
    with pytest.warns(UnfilledColumnsWarning, match=r"cannot hold a label|can hold none of the values"):
        assert model.impute(frame)["x"].isna().all()
    mixed = model_of([1, "a", 1] * 10, object)
    words = pl.DataFrame({"x": ["a", None], "y": [0.1, 0.2]})
    with pytest.warns(NarrowColumnsWarning, match=r"'x' \(String\) cannot hold 1"):
        assert mixed.impute(words)["x"].to_list() == ["a", "a"]


def test_a_dtype_that_is_too_narrow_is_named():
    model = model_of(np.arange(1000, 1040))
    small = pd.DataFrame({"x": pd.Series([None, 5], dtype="Int8"), "y": [0.1, 0.2]})
    with pytest.warns(UnfilledColumnsWarning, match=r"'x' \(Int8\): its dtype can hold none of the values"):
        assert model.impute(small)["x"].isna().sum() == 1
    model = model_of(np.arange(100, 140))
    with pytest.warns(NarrowColumnsWarning, match=r"'x' \(Int8\) cannot hold some of the numbers"):
        assert model.impute(small)["x"].between(5, 127).all()


def test_numbers_may_come_as_categories():
    few = model_of([4, 6, 8, 4] * 10)
    category = pd.DataFrame({"x": pd.Categorical([4, None, 8], [4, 8]), "y": [0.1, 0.2, 0.3]})
    with pytest.warns(NarrowColumnsWarning, match="cannot hold 6"):
        assert few.impute(category)["x"][1] in {4, 8}
    many = model_of(np.arange(40) * 3)
    with pytest.raises(MeaningDiffersError, match=r"now it is a number as a label \(category\)"):
        many.impute(category)
    floats = model_of(pd.Categorical([1.5, 2.5, 3.0] * 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            floats.impute(pl.DataFrame({"x": [3.0, None, 1.5], "y": [0.1, 0.2, 0.3]}))["x"].null_count() == 0
        )


def test_dictionaries_of_arrow_in_any_shape():
    holed = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, None] * 5, pa.int8()), pa.array(["a", None, "b"])
    )
    frame = pa.table({"x": holed, "y": Y[:20]})
    done = simpdm_frames.fit_impute(frame, **QUICK)["x"]
    assert done.type == holed.type
    assert set(done.to_pylist()) == {"a", "b"}
    model = simpdm_frames.fit(
        pa.table({"x": [f"w{k % 200}" for k in range(400)], "y": np.resize(Y, 400)}), categorical="x", **QUICK
    )
    packed = pa.array(["w1", None, "w2"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
    small = pa.table({"x": packed, "y": [0.1, 0.2, 0.3]})
    assert simpdm_frames.impute(small, model)["x"].null_count == 0


def test_views_and_odd_dates_of_arrow_pass_through():
    odd = pa.array([86_400_000 + 5, None] * 10).cast(pa.int64()).view(pa.date64())
    views = pa.array([b"a", None] * 10, pa.binary_view())
    frame = pa.table({"odd": odd, "views": views, "y": Y[:20]})
    with pytest.warns(UnfilledColumnsWarning, match="(?s)'odd'.*'views'"):
        done = simpdm_frames.fit_impute(frame, **QUICK)
    assert done.equals(frame)


def test_categoricals_of_ones_own_are_labels():
    dtype = pl.Categorical(pl.Categories("mine", "ns", pl.UInt8))
    frame = pl.DataFrame({"x": pl.Series(["a", "b", None] * 10).cast(dtype), "y": Y[:30]})
    done = frame.simpdm.fit_impute(**QUICK)
    assert done["x"].dtype == dtype
    assert done["x"].null_count() == 0


def test_a_day_that_was_left_out_of_the_calendar():
    days = pd.Series(pd.date_range("2011-12-20", periods=20)).dt.tz_localize(
        "Pacific/Apia", nonexistent="shift_forward"
    )
    days = days[days.dt.hour == 0].reset_index(drop=True)
    frame = pd.DataFrame({"x": days.mask(np.arange(len(days)) % 3 == 0), "y": Y[: len(days)]})
    assert frame.simpdm.fit_impute(**QUICK)["x"].notna().all()
    assert pl.from_pandas(frame).simpdm.fit_impute(**QUICK)["x"].null_count() == 0
