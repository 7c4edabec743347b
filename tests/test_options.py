"""What a caller may choose, and what happens to a choice that makes no sense."""

import datetime as dt
import inspect
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from libraries import LIBRARIES, QUICK, fitted, table

import simpdm_frames
from simpdm_frames.codecs import Role
from simpdm_frames.errors import FewStepsWarning
from simpdm_frames.options import FitOptions

DATA = table()
FRAME = pd.DataFrame(DATA)
X = np.arange(40) / 3


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("stepz", "steps"),
        ("categoricals", "categorical"),
        ("randomstate", "random_state"),
        ("bound", "bounds"),
    ],
)
def test_an_unknown_option_is_answered_with_the_nearest_name(library, given, meant):
    frame = library.make(DATA)
    for call in (simpdm_frames.fit, simpdm_frames.fit_impute, simpdm_frames.plan):
        with pytest.raises(TypeError, match=rf"unknown option '{given}'; did you mean '{meant}'"):
            call(frame, **{given: 1})


def test_the_options_show_in_the_signatures():
    accessor = FRAME.simpdm
    for function in (
        simpdm_frames.fit,
        simpdm_frames.fit_impute,
        simpdm_frames.plan,
        accessor.fit,
        accessor.plan,
    ):
        shown = inspect.signature(function).parameters
        assert {"random_state", "gpu", "preset", "max_rows", "bounds", "steps", "draws"} <= set(shown)
        assert shown["unseen"].default == "warn"
        assert str(shown["steps"]) == "steps=<of the preset>"
        assert all(p.kind is p.KEYWORD_ONLY for name, p in shown.items() if name != "frame")


def test_options_of_the_fit_are_refused_when_imputing():
    model = fitted(LIBRARIES[0])
    with pytest.raises(TypeError, match="'steps' must be passed to fit"):
        FRAME.simpdm.impute(model, steps=3)
    with pytest.raises(TypeError, match="unknown option 'unsen'; did you mean 'unseen'"):
        FRAME.simpdm.impute(model, unsen="raise")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("gpu", "yes", "gpu must be True, False, 'auto' or 'require'"),
        ("progress", "loud", "progress must be 'auto', True, False or a function"),
        ("time_budget", 0, "time_budget must be None or a number of seconds above 0, got 0"),
        ("time_budget", "long", "time_budget must be"),
        ("max_rows", 1, "max_rows must be a whole number of at least 2, got 1"),
        ("max_rows", 2.5, "max_rows must be a whole number"),
        ("random_state", -1, "random_state must be None or a whole number"),
        ("on_empty", "shrug", "on_empty must be one of 'warn', 'raise', 'ignore', got 'shrug'"),
        ("on_unsupported", None, "on_unsupported must be one of"),
        ("unseen", True, "unseen must be one of"),
        ("inf", "keep", "inf must be one of 'raise', 'missing'"),
        ("nan_is_missing", 1, "nan_is_missing must be True or False"),
        ("bounds", [("age", 0)], "bounds must map columns to"),
        ("bounds", {"age": 3}, r"bounds of 'age' must be \(low, high\), got 3"),
        ("bounds", {"age": (3, 1)}, r"bounds of 'age' \(float64\) must rise, got 3 and 1"),
        (
            "bounds",
            {"age": ("a", None)},
            r"bounds of 'age' \(float64\) must be of its own kind, a number; got 'a'",
        ),
        ("bounds", {"ward": (0, 1)}, r"bounds are for numbers, dates and durations, not for 'ward' \(str\)"),
        (
            "bounds",
            {"agee": (0, 1)},
            "bounds names 'agee', which the frame does not have; did you mean 'age'?",
        ),
        ("categorical", ["wards"], "categorical names 'wards'.*did you mean 'ward'?"),
        ("ordinal", {"wardd": []}, "ordinal names 'wardd'"),
        ("ordinal", {"ward": ["heart"]}, r"ordinal gives 'ward' \(str\) an order without 'general'"),
        ("ignore", "nothing", "ignore names 'nothing'"),
        ("columns", ["q"], "columns names 'q'"),
        ("missing_values", {"q": -1}, "missing_values names 'q'"),
        ("add_indicator", ["q"], "add_indicator names 'q'"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused_before_any_work(option, value, message):
    with pytest.raises((TypeError, ValueError), match=message):
        FRAME.simpdm.fit(**{option: value}, steps=10**8)


def test_a_column_cannot_be_two_things():
    with pytest.raises(ValueError, match="'ward' cannot be both in categorical and in ignore"):
        FRAME.simpdm.plan(categorical="ward", ignore=["ward"])
    with pytest.raises(ValueError, match="'age' cannot be both in categorical and in ordinal"):
        FRAME.simpdm.plan(categorical="age", ordinal=["age"])


def roles(frame, **options):
    plan = frame.simpdm.plan(**options)
    return dict(zip(plan["column"], plan["treated as"], strict=True))


def test_few_whole_numbers_are_levels_unless_the_caller_says_otherwise():
    frame = pd.DataFrame({"k": [4, 6, 8, None] * 10, "x": X})
    assert roles(frame) == {"k": Role.FEW.value, "x": Role.NUMBER.value}
    assert roles(frame, ordinal="k")["k"] == Role.NUMBER.value
    assert roles(frame, categorical="k")["k"] == Role.LABELS.value
    assert roles(frame, bounds={"k": (0, 20)})["k"] == Role.NUMBER.value
    for options in ({}, {"categorical": "k"}):
        assert set(frame.simpdm.fit_impute(**options, **QUICK)["k"]) <= {4, 6, 8}
    assert frame.simpdm.fit_impute(ordinal="k", **QUICK)["k"].between(4, 8).all()


def test_many_whole_numbers_are_numbers():
    assert roles(pd.DataFrame({"k": [*range(11), None] * 3}))["k"] == Role.NUMBER.value
    assert roles(pd.DataFrame({"k": [7, 3, 9, 4] * 2}))["k"] == Role.NUMBER.value
    late = np.zeros(20_000)
    late[-20:] = np.arange(20)
    assert roles(pd.DataFrame({"k": late}))["k"] == Role.NUMBER.value


def test_numbers_and_dates_can_be_labels(library):
    dates = [dt.datetime(2024, 1, 1), dt.datetime(2024, 7, 1, 5), None, dt.datetime(2024, 1, 1)] * 10
    data = {
        "day": dates,
        "zip": [1010, 8010, None, 6020] * 10,
        "x": X.tolist(),
        "z": [0.25, None, 1.5, 0.25] * 10,
    }
    frame = library.make(data)
    done = simpdm_frames.fit_impute(frame, categorical=["day", "zip", "z"], **QUICK)
    assert library.dtypes(done) == library.dtypes(frame)
    cells = library.cells(done)
    assert set(cells["day"]) <= {cell for cell in dates if cell}
    assert set(cells["zip"]) <= {1010, 8010, 6020}
    assert set(cells["z"]) <= {0.25, 1.5}


def test_labels_with_an_order_are_filled_with_labels(library):
    sizes = ["S", "M", "L", None] * 10
    frame = library.make({"size": sizes, "x": X.tolist()})
    model = simpdm_frames.fit(frame, ordinal={"size": ["S", "M", "L", "XL"]}, **QUICK)
    assert model.schema_["size"].role is Role.ORDINAL
    done = simpdm_frames.impute(frame, model)
    assert library.dtypes(done) == library.dtypes(frame)
    assert set(library.cells(done)["size"]) <= {"S", "M", "L"}
    assert model.schema_["size"].why == "ordinal names it: S < M < L < XL"
    with pytest.raises(
        ValueError, match=r"'size' \(.*has no order of its own; give one, as in ordinal={'size'"
    ):
        simpdm_frames.fit(frame, ordinal=["size"], **QUICK)


def test_an_ordered_category_is_ordered_as_it_says():
    labels = pd.Categorical(["low", "high", None, "mid"] * 10, ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"risk": labels, "x": X})
    model = frame.simpdm.fit(ordinal="risk", **QUICK)
    assert model._codec.numbers["risk"].levels == ("low", "mid", "high")
    assert frame.simpdm.impute(model)["risk"].notna().all()


def test_bounds_replace_the_observed_range(library):
    data = {
        "x": X.tolist(),
        "v": [10.5, None, 11.5, 12.25] * 10,
        "day": [dt.datetime(2024, 1, 1, 3), None, dt.datetime(2024, 1, 9), None] * 10,
    }
    frame = library.make(data)
    bounds = {"v": (11, 11.25), "day": (dt.datetime(2024, 1, 5), None)}
    cells = library.cells(simpdm_frames.fit_impute(frame, bounds=bounds, **QUICK))
    fills = [done for done, cell in zip(cells["v"], data["v"], strict=True) if cell is None]
    assert all(11 <= fill <= 11.25 for fill in fills)
    days = [done for done, cell in zip(cells["day"], data["day"], strict=True) if cell is None]
    assert min(days) >= dt.datetime(2024, 1, 5)
    assert [done for done, cell in zip(cells["v"], data["v"], strict=True) if cell is not None] == [
        v for v in data["v"] if v
    ]


def test_bounds_are_taken_in_the_units_of_the_column():
    frame = pl.DataFrame(
        {
            "price": pl.Series([Decimal("1.25"), None, Decimal("9.75")] * 10, dtype=pl.Decimal(10, 2)),
            "span": pl.Series([dt.timedelta(hours=1), None, dt.timedelta(hours=9)] * 10),
            "time": pl.Series([dt.time(8), None, dt.time(20)] * 10),
            "zone": pl.Series(
                [dt.datetime(2024, 1, 1), None, dt.datetime(2024, 1, 9)] * 10
            ).dt.replace_time_zone("UTC"),
            "x": pl.Series(range(30)) / 7,
        }
    )
    noon = dt.datetime(2024, 1, 3, 12, tzinfo=dt.timezone.utc)
    bounds = {
        "price": (Decimal("5.55"), Decimal("5.56")),
        "span": (dt.timedelta(hours=3), np.timedelta64(4, "h")),
        "time": (dt.time(12), dt.time(12, 30)),
        "zone": (noon, noon + dt.timedelta(hours=30)),
    }
    done = frame.simpdm.fit_impute(bounds=bounds, **QUICK)[1::3]
    bounds["span"] = (dt.timedelta(hours=3), dt.timedelta(hours=4))
    for name, (low, high) in bounds.items():
        assert done[name].is_between(low, high).all()
    with pytest.raises(TypeError, match=r"bounds of 'zone' \(Datetime.*a date with time zone; got"):
        frame.simpdm.fit(bounds={"zone": (dt.datetime(2024, 1, 1), None)})


def test_indicators_tell_the_holes(library):
    frame = library.make({**DATA, "full": list(range(40))})
    model = simpdm_frames.fit(frame, add_indicator=not library.is_lazy, **QUICK)
    done = simpdm_frames.impute(frame, model, add_indicator=True)
    cells = library.cells(done)
    assert list(cells)[6:] == [f"{name}_missing" for name in DATA]
    for name, column in DATA.items():
        assert cells[f"{name}_missing"] == [cell is None for cell in column]
    if not library.is_lazy:
        assert library.cells(simpdm_frames.impute(frame, model)) == cells
        assert (
            library.cells(simpdm_frames.fit_impute(frame, add_indicator=True, neighbours=0, **QUICK)) == cells
        )
    some = library.cells(simpdm_frames.fit_impute(frame, add_indicator=["full", "age"], **QUICK))
    assert list(some)[6:] == ["full_missing", "age_missing"]
    assert not any(some["full_missing"])


def test_indicators_have_names_that_are_free():
    with pytest.raises(
        ValueError, match=r"add_indicator would add \['age_missing'\], which the frame has already"
    ):
        FRAME.assign(age_missing=1).simpdm.fit_impute(add_indicator=True, **QUICK)
    upper = FRAME.set_axis(pd.MultiIndex.from_product([["a"], FRAME.columns]), axis=1)
    done = upper.simpdm.fit_impute(add_indicator=[("a", "age")], **QUICK)
    assert done[("a", "age_missing")].sum() == FRAME["age"].isna().sum()


def test_a_complete_frame_gets_its_indicators_too():
    whole = pd.DataFrame({"x": X})
    assert list(whole.simpdm.fit_impute(add_indicator="x")["x_missing"]) == [False] * 40


def test_steps_time_and_progress_are_heeded():
    assert len(FRAME.simpdm.fit(steps=3, width=8).loss_curve_) == 3
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewStepsWarning)  # how many steps there are depends on the machine
        model = FRAME.simpdm.fit(steps=10**7, width=8, time_budget=0.5, progress=told.append)
    assert len(model.loss_curve_) < 10**5
    assert all(news.steps < 10**5 for news in told)  # as many as the time allows, not as were asked for
    told = []
    model = FRAME.simpdm.fit(
        steps=10**7, width=8, progress=lambda news: told.append(news.step) or news.step >= 30
    )
    assert told == [10, 20, 30]
    assert len(model.loss_curve_) == 30


def test_a_training_that_hardly_began_is_not_passed_over_in_silence():
    with pytest.warns(FewStepsWarning, match=r"time_budget=0.0001 ended the training after 10 steps"):
        FRAME.simpdm.fit(width=8, time_budget=1e-4)
    FRAME.simpdm.fit(width=8, time_budget=60, steps=10)  # as was asked for: no warning


def test_with_a_budget_the_clock_ends_the_training_unless_steps_are_given():
    def steps(**options):
        return FitOptions.parse({"time_budget": 5, **options}).settings(100, 5).steps

    assert steps() > 10**6 > steps(steps=70) == 70
    assert steps(preset="paper") == 30_000  # its learning rate falls with the steps


def test_progress_is_shown_to_those_who_watch(capsys, monkeypatch):
    FRAME.simpdm.fit(**QUICK)
    assert capsys.readouterr().err == ""
    FRAME.simpdm.fit(progress=True, **QUICK)
    assert "simpdm" in capsys.readouterr().err
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("simpdm_frames.progress._DELAY", 0.0)
    FRAME.simpdm.fit(progress="auto", **{**QUICK, "steps": 500})
    assert "loss=" in capsys.readouterr().err
    monkeypatch.setenv("TQDM_DISABLE", "1")
    FRAME.simpdm.fit(progress="auto", **QUICK)
    assert capsys.readouterr().err == ""


def test_those_who_watch_are_told_when_rows_are_compared(capsys):
    told = []
    FRAME.simpdm.fit_impute(progress=told.append, **QUICK)
    assert [news.stage for news in told][-2:] == ["training", "comparing rows"]
    assert told[-1].step == told[-1].steps == told[-2].step
    FRAME.simpdm.fit_impute(progress=True, verbose=1, **QUICK)
    shown = capsys.readouterr().err
    assert "simpdm, comparing rows" in shown
    assert "simpdm: fit: comparing rows" in shown


def test_a_model_that_remembers_nothing_is_one_fit():
    def fits(*, kept=False, **options):
        wish = FitOptions.parse({"preset": "best", **options})
        return (wish.forgetful() if kept else wish).settings(1000, 8).fits

    assert fits() == fits(kept=True, neighbours="auto") == fits(kept=True, neighbours=100) == 5
    assert fits(kept=True) == fits(neighbours=0) == 1
    assert fits(time_budget=60.0) == fits(time_budget=60.0, preset="default") == 5
    assert fits(time_budget=60.0, kept=True) == fits(time_budget=60.0, steps=50) == 1
    assert fits(kept=True, fits=3) == fits(fits=3) == 3


def test_a_frame_with_more_rows_than_max_rows_is_sampled(monkeypatch):
    heights = []
    codec = simpdm_frames.fitting.TableCodec
    encode = codec.encode
    monkeypatch.setattr(
        codec, "encode", lambda self, columns: heights.append(len(columns[0])) or encode(self, columns)
    )
    model = FRAME.simpdm.fit(max_rows=25, **QUICK)
    assert heights == [25]
    assert model.impute(FRAME, unseen="ignore").notna().all(axis=None)


def test_what_was_chosen_at_the_fit_holds_when_imputing():
    frame = pd.DataFrame({"x": [1.5, -999, 2.5, np.inf] * 10, "y": X})
    model = frame.simpdm.fit(missing_values=-999, inf="missing", **QUICK)
    assert frame.simpdm.impute(model)["x"].between(1.5, 2.5).all()
    assert -999 in frame.simpdm.impute(model, missing_values=())["x"].tolist()
    with pytest.raises(ValueError, match="infinite values in 'x'"):
        frame.simpdm.impute(model, inf="raise")


def test_an_estimate_is_a_mean_a_mode_or_a_draw():
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    # Mostly 0, sometimes 10: the mean of what is unknown is near neither.
    k = np.where(random.random(400) < 0.3, 10, np.where(random.random(400) < 0.5, 0, 5))
    frame = pd.DataFrame({"x": x, "y": x + random.normal(size=400), "k": pd.array(k, dtype="Int64")})
    frame.loc[::3, "y"] = np.nan
    frame.loc[1::3, "k"] = pd.NA
    model = frame.simpdm.fit(random_state=0, preset="fast", steps=150)
    done = {name: frame.simpdm.impute(model, estimate=name) for name in ("mean", "mode", "draw")}
    assert done["draw"]["y"].std() > 1.05 * done["mean"]["y"].std()
    lost = frame["k"].isna()
    assert set(done["draw"].loc[lost, "k"]) == {0, 5, 10}
    assert (done["mean"].loc[lost, "k"] == 5).mean() > (done["mode"].loc[lost, "k"] == 5).mean()
    pd.testing.assert_frame_equal(frame.simpdm.impute(model), done["mean"])
    again = frame.simpdm.impute(model, estimate="draw", random_state=5)
    assert not again.equals(done["draw"])
    drawn = frame.simpdm.fit_impute(random_state=0, preset="fast", steps=150, estimate="draw", neighbours=0)
    pd.testing.assert_frame_equal(drawn, done["draw"])
    with pytest.raises(ValueError, match=r"estimate must be .*'median'"):
        frame.simpdm.impute(model, estimate="median")
