"""Corners of dtypes, options and queries, each of which has been wrong once."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from libraries import QUICK, table

import simpdm_frames
from simpdm_frames.encoded import Completed
from simpdm_frames.errors import (
    ColumnsDifferError,
    ExtraColumnsWarning,
    HolesLeftError,
    MeaningDiffersError,
    NarrowColumnsWarning,
    UnfilledColumnsWarning,
    UnseenLabelsError,
    UnseenLabelsWarning,
)

Y = np.random.default_rng(0).normal(size=60)
UTC = dt.timezone.utc


def fill(values, dtype=None, **options):
    """Complete one pandas column beside another."""
    column = pd.Series(values, dtype=dtype)
    frame = pd.DataFrame({"x": column, "y": Y[: len(column)]})
    return frame.simpdm.fit_impute(**{**QUICK, **options})["x"]


def model_of(values, dtype=None, **options):
    return pd.DataFrame({"x": pd.Series(values, dtype=dtype), "y": Y[: len(values)]}).simpdm.fit(
        **QUICK, **options
    )


# Exactness beyond 2^53


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


# Objects


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


# Columns in which nothing is observed


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


# Bounds


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


def answers(value):
    def impute(encoded):
        levels = np.full((len(encoded), encoded.layout.n_levels), value, dtype=np.float32)
        return Completed(encoded.layout, np.full_like(encoded.numbers, value), levels)

    return impute


def test_bounds_say_why_they_do_not_apply():
    with pytest.raises(
        ValueError, match=r"not for 'x' \(float64\), treated as left: empty: it has no observed"
    ):
        fill([np.nan] * 20, bounds={"x": (0, 1)})


# Answers of the engine


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


# Names and options


@pytest.mark.parametrize("name", ["paid", "valid", "grid", "covid", "bid", "humid"])
def test_a_word_that_ends_in_id_is_no_identity(name):
    plan = pd.DataFrame({name: np.random.default_rng(0).permutation(50) + 7}).simpdm.plan()
    assert plan["filled"].tolist() == [True]


@pytest.mark.parametrize("name", ["id", "ID", "patient_id", "patientId", "userID", "id_patient", "row.uuid"])
def test_a_name_that_says_id_is_one(name):
    plan = pd.DataFrame({name: np.random.default_rng(0).permutation(50) + 7}).simpdm.plan()
    assert plan["filled"].tolist() == [False]


def test_columns_that_a_model_does_not_fill_cannot_be_asked_for():
    frame = pd.DataFrame(table())
    for options in ({"ignore": "ward"}, {"columns": ["age"]}):
        model = frame.simpdm.fit(**options, **QUICK)
        with pytest.raises(
            ValueError, match=r"columns names 'ward', which the model does not fill: .*fit again"
        ):
            model.impute(frame, columns=["ward"])


def test_an_order_may_be_an_array_or_stand_for_truth_values():
    sizes = pd.DataFrame({"s": ["S", "M", "L", None] * 10, "f": [True, False, None, True] * 10, "y": Y[:40]})
    order = {"s": np.array(["S", "M", "L"]), "f": [0, 1]}
    done = sizes.simpdm.fit_impute(ordinal=order, **QUICK)
    assert set(done["s"]) <= {"S", "M", "L"}
    assert {type(cell) for cell in done["f"]} == {bool}
    with pytest.raises(
        ValueError, match=r"ordinal gives an order to 'y' \(float64\), whose values are numbers"
    ):
        sizes.simpdm.fit(ordinal={"y": [3, 1, 2]})
    with pytest.raises(TypeError, match="ordinal gives 's' the order 5; list its labels"):
        sizes.simpdm.fit(ordinal={"s": 5})


def test_only_columns_that_were_asked_for_are_spoken_of():
    frame = pd.DataFrame(
        {**table(), "lists": [[1], None] * 20, "empty": np.nan, "text": [f"t{k}" for k in range(39)] + [None]}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = frame.simpdm.fit_impute(columns=["age"], on_unsupported="raise", on_empty="raise", **QUICK)
    assert done["age"].notna().all()


@pytest.mark.parametrize(
    ("values", "declared"),
    [([1, 2, 3], "-999"), (["a", "b", "c"], -999), (pd.date_range("2024", periods=3), "1900-01-01")],
)
def test_a_declared_hole_of_another_kind_is_refused(values, declared):
    frame = pd.DataFrame({"x": np.resize(np.array(values, dtype=object), 30)}).infer_objects()
    with pytest.raises(TypeError, match=r"missing_values of 'x' \(.*must be of its own kind, a .*; got"):
        frame.simpdm.fit(missing_values={"x": declared})
    frame.simpdm.plan(missing_values=[declared])  # for all columns it may suit another


def test_plans_hint_at_what_is_stored_as_something_else():
    frame = pd.DataFrame(
        {"n": ["12", "7.5", "-3", "12"] * 8, "d": ["2024-01-01", "2024-02-03", "2023-01-01", None] * 8}
    )
    frame["o"] = pd.Categorical(["lo", "hi", "mid", "hi"] * 8, ["lo", "mid", "hi"], ordered=True)
    hints = frame.simpdm.plan()["hint"].tolist()
    assert "look like numbers" in hints[0]
    assert "look like dates" in hints[1]
    assert "name it in ordinal" in hints[2]


def test_a_column_of_another_case_is_asked_about():
    model = pd.DataFrame(table()).simpdm.fit(**QUICK)
    with pytest.raises(ColumnsDifferError, match="is 'AGE' meant to be 'age'"):
        model.impute(pd.DataFrame(table()).rename(columns={"age": "AGE"}))


def test_names_are_listed_not_mapped():
    with pytest.raises(TypeError, match="expected names of columns"):
        pd.DataFrame(table()).simpdm.fit(categorical={"age": [1, 2]})


def test_the_accessor_says_what_it_is():
    assert (
        repr(pl.LazyFrame({"x": [1]}).simpdm)
        == "<.simpdm of a polars.LazyFrame: fit_impute, fit, impute, plan, missing>"
    )


def test_fills_look_like_the_values_beside_them():
    hours = pd.Series(pd.date_range("2024-01-01 05:00", periods=30, freq="7h")).mask(np.arange(30) % 4 == 0)
    assert (fill(hours) == fill(hours).dt.floor("h")).all()
    cents = pd.Series(np.round(np.arange(30) * 1.37, 2)).mask(np.arange(30) % 4 == 0)
    assert all(f"{cell:.2f}" == f"{cell:.12g}" or cell == round(cell, 2) for cell in fill(cents))


def test_periods_can_be_bounds_and_declared_holes():
    months = pd.Series(pd.period_range("2020-01", periods=30, freq="M")).mask(np.arange(30) % 3 == 0)
    low, high = pd.Period("2020-06", "M"), pd.Period("2020-08", "M")
    done = fill(months, bounds={"x": (low, high)})[::3]
    assert done.between(low, high).all()
    assert months[1] not in fill(months, missing_values={"x": months[1]}, bounds={"x": (low, high)}).tolist()


def test_a_column_of_nan_that_is_kept_is_empty():
    frame = pl.DataFrame({"x": [float("nan")] * 20, "y": Y[:20]})
    plan = frame.simpdm.plan(nan_is_missing=False)
    assert plan["treated as"].to_list() == ["left: empty", "number"]
    assert frame.simpdm.fit_impute(nan_is_missing=False, **QUICK).equals(frame, null_equal=True)


def test_indicators_that_would_collide_are_refused():
    frame = pd.DataFrame({1: [1.5, None] * 10, "1": [None, 2.5] * 10})
    with pytest.raises(ValueError, match="add_indicator would add"):
        frame.simpdm.fit_impute(add_indicator=True, **QUICK)
    model = pd.DataFrame(table()).simpdm.fit(ignore="ward", add_indicator=["ward"], **QUICK)
    with pytest.raises(ColumnsDifferError, match=r"add_indicator names .*'ward'"):
        model.impute(pd.DataFrame(table()).drop(columns="ward"))


def test_a_sample_does_not_change_what_a_column_is():
    frame = pd.DataFrame(
        {"row": np.arange(1.0, 201), "rare": [1.5, 2.5, *[np.nan] * 198], "x": np.resize(Y, 200)}
    )
    frame.loc[7, "x"] = np.nan
    whole, sampled = frame.simpdm.plan(), frame.simpdm.plan(max_rows=20)
    assert (
        whole["treated as"].tolist()
        == sampled["treated as"].tolist()
        == ["left: text or identity", "number", "number"]
    )
    model = frame.simpdm.fit(max_rows=20, add_indicator=True, **QUICK)
    done = model.impute(frame)
    assert done["rare"].between(1.5, 2.5).all()
    assert list(done.columns[3:]) == ["rare_missing", "x_missing"]


def test_an_extra_column_may_hold_anything():
    frame = pd.DataFrame(table())
    model = frame.simpdm.fit(**QUICK)
    with pytest.warns(ExtraColumnsWarning):
        done = model.impute(frame.assign(extra=np.inf))
    assert np.isinf(done["extra"]).all()


def test_none_is_no_name():
    frame = pd.DataFrame(table())
    frame.simpdm.plan(categorical=None, ignore=None, ordinal=None, columns=None, missing_values=())


@pytest.mark.parametrize(
    ("given", "meant"), [("seed", "random_state"), ("epochs", "steps"), ("lr", "learning_rate")]
)
def test_other_libraries_names_are_understood(given, meant):
    with pytest.raises(TypeError, match=f"unknown option '{given}'; did you mean '{meant}'"):
        pd.DataFrame(table()).simpdm.fit(**{given: 1})


# Categories of numbers, dictionaries, other libraries


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


# Queries and warnings


def test_a_query_may_be_collected_twice():
    model = pl.DataFrame(table()).simpdm.fit(**QUICK)
    new = pl.DataFrame({**table(), "ward": ["burns"] * 40}).lazy()
    strict, loose = new.simpdm.impute(model, unseen="raise"), new.simpdm.impute(model)
    for _ in range(2):
        with pytest.raises(UnseenLabelsError):
            strict.collect()
    with pytest.warns(UnseenLabelsWarning):
        first = loose.collect()
    assert first.equals(loose.collect())


def test_what_follows_a_query_is_not_moved_before_it():
    eager = pl.DataFrame(table(n=200))
    model = eager.simpdm.fit(**QUICK)
    done, query = model.impute(eager), eager.lazy().simpdm.impute(model)
    assert query.filter(pl.col("age") > 50).collect().equals(done.filter(pl.col("age") > 50))
    assert query.select("ward").collect().equals(done.select("ward"))
    assert query.slice(3, 7).collect().equals(done.slice(3, 7))
    assert query.head(5).select("age").collect(engine="streaming").equals(done.head(5).select("age"))
    node = eager.lazy().simpdm.fit_impute(**QUICK)
    assert node.head(7).collect().equals(eager.simpdm.fit_impute(**QUICK).head(7))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_warning_in_a_pipe_points_at_the_user(make):
    frame = make({"x": [1.5, None] * 10, "lists": [[1], None] * 10})
    with pytest.warns(UnfilledColumnsWarning, match="'lists'") as caught:
        frame.pipe(simpdm_frames.fit_impute, **QUICK)
    assert caught[0].filename == __file__
