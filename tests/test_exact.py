"""Fills stay exact and inside their range, beyond 2^53 and at the ends."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from libraries import QUICK, Y, answers, fill, model_of

import simpdm_frames
from simpdm_frames.errors import (
    HolesLeftError,
    MeaningDiffersError,
    UnfilledColumnsWarning,
)

UTC = dt.timezone.utc


def test_a_declared_hole_is_no_wider_than_its_value():
    b = 2**62
    done = fill([0, b, b + 1, b + 2, 7] * 12, "Int64", missing_values=b + 1, columns="x")
    assert done[[0, 1, 3, 4]].tolist() == [0, b, b + 2, 7]
    assert done[2] != b + 1


@pytest.mark.parametrize("options", [{}, {"categorical": "x"}, {"ordinal": "x"}])
def test_large_integers_are_filled_inside_their_range(options):
    ids = np.random.default_rng(1).integers(0, 2**63 - 1, 6).tolist()
    cells = [None if k % 5 == 0 else ids[k % 6] for k in range(60)]
    done = fill(cells, "Int64", **options)
    if options.get("categorical"):
        assert set(done) <= set(ids)
    assert min(ids) <= done.min()
    assert done.max() <= max(ids)
    assert [a for a, b in zip(done, cells, strict=True) if b is not None] == [
        b for b in cells if b is not None
    ]


def test_dates_as_labels_are_dates_that_were_observed():
    days = pd.to_datetime(np.random.default_rng(2).integers(0, 6 * 10**17, 15)).as_unit("us")
    cells = pd.Series(np.resize(days, 60)).mask(np.arange(60) % 4 == 0)
    assert set(fill(cells, categorical="x")) <= set(days)


def test_decimals_as_labels_do_not_depend_on_the_rows_beside_them():
    cents = [Decimal("0.37"), Decimal("1.14"), Decimal("1.01")] * 10
    frame = pl.DataFrame({"c": pl.Series(cents, dtype=pl.Decimal(10, 2)), "y": Y[:30]})
    model = frame.simpdm.fit(categorical="c", **QUICK)
    fills = set()
    for beside in cents[:3]:
        row = pl.DataFrame(
            {"c": pl.Series([cents[1], beside], dtype=pl.Decimal(10, 2)), "y": [None, 0.1]},
            schema_overrides={"y": pl.Float64},
        )
        fills.add(model.impute(row)["y"][0])
    assert len(fills) == 1
    assert set(frame.with_columns(c=pl.when(pl.col("y") > 0).then("c")).simpdm.impute(model)["c"]) <= set(
        cents
    )


def test_the_whole_range_of_128_bits():
    low, high = -(2**127), 2**127 - 1
    frame = pl.DataFrame({"x": pl.Series([low, high, 0, None] * 5, dtype=pl.Int128), "y": Y[:20]})
    done = frame.simpdm.fit_impute(ordinal="x", **QUICK)["x"]
    assert done.null_count() == 0
    assert done.to_list()[:3] == [low, high, 0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([0, 2**53 + 3, 5], dtype="Int64"),
        pd.Series([0, 2**64 - 1, 5], dtype="UInt64"),
        pd.Series(pd.to_datetime([0, 10**18 + 77, 5])),
        pd.Series([Decimal(1) / 3, Decimal(10**16) + Decimal("0.01"), Decimal(7)], dtype=object),
        pd.Series([Decimal("0.12345678901234567890")] * 3, dtype=object),
        pd.Series([0.0, 0.1, 0.07], dtype="float32"),
        pd.Series([0.1, 0.3, 0.7], dtype="float16"),
        pd.Series([1e-300, 3e-300, 2e-300]),
        pd.Series([-1e308, 1e308, 0.5]),
    ],
    ids=lambda column: f"{column.dtype} {column[1]}",
)
@pytest.mark.parametrize("answer", [-50.0, 50.0])
def test_no_answer_leaves_the_observed_range(column, answer, monkeypatch):
    cells = pd.concat([column] * 8, ignore_index=True)
    frame = pd.DataFrame({"x": cells, "y": Y[:24]})
    model = frame.simpdm.fit(columns=["x", "y"], ordinal=["x"], **QUICK)
    monkeypatch.setattr(model._engine, "impute", answers(answer))
    done = model.impute(frame.assign(x=cells.mask(np.arange(24) % 2 == 0)))["x"]
    assert min(column) <= min(done)
    assert max(done) <= max(column)
    assert (max(done) if answer > 0 else min(done)) == (max(column) if answer > 0 else min(column))


def test_bounds_hold_in_narrow_floats(monkeypatch):
    frame = pd.DataFrame({"x": pd.Series([0.01, 0.5, None] * 10, dtype="float32"), "y": Y[:30]})
    model = frame.simpdm.fit(bounds={"x": (0, 0.1)}, **QUICK)
    monkeypatch.setattr(model._engine, "impute", answers(50.0))
    assert float(model.impute(frame)["x"][2]) <= 0.1


def test_many_categories_are_no_reason_to_wait():
    labels = [f"c{k}" for k in range(50_000)]
    codes = np.arange(400) % 150 + 49_000
    frame = pd.DataFrame({"x": pd.Categorical.from_codes(codes, labels), "y": np.resize(Y, 400)})
    holed = frame.assign(x=frame["x"].mask(np.arange(400) % 7 == 0))
    done = holed.simpdm.impute(frame.simpdm.fit(columns=["x"], **QUICK))
    assert done["x"].dtype == frame["x"].dtype
    assert set(done["x"]) <= set(frame["x"])


def test_dates_of_numpy_beyond_nanoseconds_are_understood():
    days = pd.Series(pd.to_datetime(["2400-01-01", "2450-06-01", "9999-12-31"] * 10)).dt.as_unit("us")
    done = fill(
        days, missing_values=np.datetime64("9999-12-31"), bounds={"x": (None, np.datetime64("2500-01-01"))}
    )
    assert done.between(
        pd.Timestamp("1900-01-01").as_unit("us"), pd.Timestamp("2500-01-01").as_unit("us")
    ).all()
    assert (done == done.dt.normalize()).all()


def test_one_shot_iterators_are_good_for_all_columns():
    frame = pl.DataFrame({"a": [1.5, None] * 10, "y": Y[:20]})
    kept = frame.lazy().simpdm.fit_impute(ignore=(name for name in ["a"]), **QUICK).collect()
    assert kept["a"].null_count() == 10
    words = pd.DataFrame({"a": ["x", "?"] * 10, "b": ["z", "?"] * 10})
    assert not words.simpdm.fit_impute(missing_values=iter(["?"]), **QUICK).eq("?").any(axis=None)


def test_a_column_that_became_something_else_is_refused():
    model = model_of([1.5, 2.5, 7.5] * 10)
    with pytest.raises(MeaningDiffersError, match=r"'x' was a number .* something that cannot be modelled"):
        model.impute(pl.DataFrame({"x": [[1], [2]], "y": [None, 0.1]}))
    with pytest.raises(MeaningDiffersError, match="'x' was a number"):
        model.impute(pd.DataFrame({"x": pd.Series([[1], None], dtype=object), "y": [None, 0.1]}))


def test_a_habit_gives_way_to_bounds():
    assert fill([1.0, 2.0, 3.0, None] * 8, bounds={"x": (0.2, 0.8)}, ordinal="x")[3] <= 0.8
    days = pd.Series(pd.date_range("2024-01-01", periods=30)).mask(np.arange(30) % 3 == 0)
    low, high = pd.Timestamp("2024-01-05 06:00"), pd.Timestamp("2024-01-05 18:00")
    for series in (days, days.dt.tz_localize("Europe/Vienna"), days.astype(object).where(days.notna(), None)):
        zone = getattr(series.dtype, "tz", None)
        ends = [end.tz_localize(zone) for end in (low, high)]
        assert pd.Series(fill(series, bounds={"x": ends})[::3]).between(*ends).all()


def test_numbers_that_a_dtype_cannot_hold_are_not_bent():
    for levels, dtype in (([300, 400, 500], "Int8"), ([-5, -4, -3], "UInt8")):
        small = pd.DataFrame({"x": pd.Series([None, 5], dtype=dtype), "y": [0.1, 0.2]})
        with pytest.warns(UnfilledColumnsWarning, match="can hold none of the values"):
            assert model_of(levels * 10).impute(small)["x"].isna().sum() == 1


def test_bounds_without_a_value_inside_are_refused():
    for dtype, bounds in (("Int64", (2.2, 2.8)), ("UInt8", (300, 400))):
        with pytest.raises(
            ValueError, match=rf"bounds of 'x' \({dtype}\) leave no value that the column could hold"
        ):
            fill([1, 2, 30, None] * 5, dtype, bounds={"x": bounds})


def test_bounds_of_dates_are_kept_whatever_their_clock():
    days = pd.Series(pd.date_range("2024-01-10", periods=30, tz="Europe/Vienna")).mask(np.arange(30) % 3 == 0)
    low = dt.datetime(2024, 1, 20, tzinfo=UTC)
    for series in (days, days.astype("timestamp[us, tz=Europe/Vienna][pyarrow]")):
        done = fill(series, bounds={"x": (low, low + dt.timedelta(days=3))})[::3].astype(days.dtype)
        assert (done >= low).all()
        assert (done <= low + dt.timedelta(days=3)).all()
        assert (done == done.dt.normalize()).all()
    lake = pl.DataFrame({"x": pl.Series(days), "y": Y[:30]})
    done = lake.simpdm.fit_impute(bounds={"x": (low, low + dt.timedelta(days=3))}, **QUICK)["x"].gather_every(
        3
    )
    assert done.dt.convert_time_zone("UTC").is_between(low, low + dt.timedelta(days=3)).all()


def test_a_time_of_day_stays_one(monkeypatch):
    frame = pl.DataFrame({"x": [dt.time(0, 1), None, dt.time(23, 59)] * 10, "y": Y[:30]})
    model = frame.simpdm.fit(bounds={"x": (None, None)}, **QUICK)
    for answer in (-50.0, 50.0):
        monkeypatch.setattr(model._engine, "impute", answers(answer))
        for form in (
            frame,
            frame.to_arrow(),
            pd.DataFrame({"x": pd.Series(frame["x"].to_list(), dtype=object), "y": Y[:30]}),
        ):
            done = model.impute(form)["x"]
            end = done.to_pylist()[1] if isinstance(form, pa.Table) else done[1]
            assert end == (dt.time(0, 0) if answer < 0 else dt.time(23, 59))


def test_bounds_say_why_they_do_not_apply():
    with pytest.raises(
        ValueError, match=r"not for 'x' \(float64\), treated as left: empty: it has no observed"
    ):
        fill([np.nan] * 20, bounds={"x": (0, 1)})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    "cells", [[1.5, None, 2.5], [1, None, 300], [dt.datetime(2024, 1, 1, 3), None, dt.datetime(2024, 5, 1)]]
)
def test_an_answer_that_is_no_number_is_an_error(library, cells, monkeypatch):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    frame = make({"x": cells * 10, "y": Y[:30]})
    model = simpdm_frames.fit(frame, **QUICK)
    monkeypatch.setattr(model._engine, "impute", answers(np.nan))
    with pytest.raises(HolesLeftError, match=r"no finite value for 'x' \("):
        model.impute(frame)
