"""Choices of the caller that have been misread once, and what is said about them."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from libraries import QUICK, Y, fill, table

import simpdm_frames
from simpdm_frames.errors import (
    ColumnsDifferError,
    ExtraColumnsWarning,
    UnfilledColumnsWarning,
    UnseenLabelsError,
    UnseenLabelsWarning,
)

UTC = dt.timezone.utc


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
    codes = pd.DataFrame({"zip": ["01067", "10115", "80331"] * 8})  # as numbers they would lose a digit
    assert codes.simpdm.plan()["hint"].tolist() == [""]


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
    none = frame.simpdm.plan(categorical=None, ignore=None, ordinal=None, columns=None, missing_values=())
    pd.testing.assert_frame_equal(none, frame.simpdm.plan())


@pytest.mark.parametrize(
    ("given", "meant"), [("seed", "random_state"), ("epochs", "steps"), ("lr", "learning_rate")]
)
def test_other_libraries_names_are_understood(given, meant):
    with pytest.raises(TypeError, match=f"unknown option '{given}'; did you mean '{meant}'"):
        pd.DataFrame(table()).simpdm.fit(**{given: 1})


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
