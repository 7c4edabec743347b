import copy
import functools
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import simpdm_frames
from simpdm_frames import commands, demo
from simpdm_frames.errors import (
    GpuUnavailableError,
    GpuUnavailableWarning,
    MeaningDiffersError,
    UnfilledColumnsWarning,
)

QUICK = {"random_state": 0, "steps": 20, "width": 16}
TRUTH, HOLES = demo.patients(n_rows=80)
MODEL = HOLES.simpdm.fit(**QUICK)


assert_same = functools.partial(pd.testing.assert_frame_equal, check_exact=True)


def test_only_holes_change():
    before = HOLES.copy()
    done = HOLES.simpdm.fit_impute(**QUICK)
    assert_same(HOLES, before)
    assert not done.isna().any(axis=None)
    assert_same(done.where(HOLES.notna()), HOLES.where(HOLES.notna()))
    assert (done.dtypes == HOLES.dtypes).all()
    pd.testing.assert_index_equal(done.index, HOLES.index)


@pytest.mark.parametrize("neighbours", [0, 50])
def test_accessor_function_and_model_agree(neighbours):
    options = {**QUICK, "neighbours": neighbours}
    done, model = HOLES.simpdm.fit_impute(**options), HOLES.simpdm.fit(**options)
    assert_same(HOLES.pipe(simpdm_frames.fit_impute, **options), done)
    assert_same(model.impute(HOLES), done)
    assert_same(HOLES.simpdm.impute(model), done)
    assert_same(simpdm_frames.impute(HOLES, model), done)


def test_a_model_that_is_kept_holds_no_row_unless_asked_to(tmp_path):
    assert MODEL._engine.advisers.neighbours is None
    model = HOLES.simpdm.fit(neighbours=50, **QUICK)
    assert len(model._engine.advisers.neighbours) == 50
    assert "50 rows are remembered" in str(model.summary())
    with pytest.raises(simpdm_frames.errors.ModelFileError, match="holds 50 rows"):
        model.save(tmp_path / "with.simpdm")
    assert not list(tmp_path.iterdir())


def test_one_call_remembers_rows_and_a_model_does_so_when_told_to():
    done = HOLES.simpdm.fit_impute(**QUICK)
    assert not done.equals(MODEL.impute(HOLES))
    assert_same(HOLES.simpdm.fit(neighbours="auto", **QUICK).impute(HOLES), done)
    with pytest.raises(TypeError, match="neighbours must be an integer"):
        HOLES.simpdm.fit(neighbours="all")


def test_a_model_with_neighbours_can_be_copied_and_pickled():
    model = HOLES.simpdm.fit(neighbours=50, **QUICK)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301  # our own
        assert_same(other.impute(HOLES), model.impute(HOLES))


def test_rows_are_filled_alike_wherever_they_stand():
    done = MODEL.impute(HOLES)
    shuffled = HOLES.sample(frac=0.5, random_state=1)
    assert_same(MODEL.impute(shuffled), done.loc[shuffled.index])


def test_columns_in_another_order_come_back_in_that_order():
    turned = HOLES[HOLES.columns[::-1]]
    assert_same(MODEL.impute(turned)[HOLES.columns], MODEL.impute(HOLES))


def test_a_complete_frame_comes_back_equal_without_training():
    done = TRUTH.simpdm.fit_impute(steps=10**8)
    assert_same(done, TRUTH)
    assert done is not TRUTH


def test_options_are_checked_even_when_nothing_is_to_do():
    with pytest.raises(TypeError, match="unknown option 'stepz'; did you mean 'steps'"):
        TRUTH.simpdm.fit_impute(stepz=3)
    with pytest.raises(ValueError, match=r"random_state must be .*got 1\.5"):
        TRUTH.simpdm.fit_impute(random_state=1.5)
    assert len(HOLES.simpdm.fit(**{**QUICK, "random_state": np.int64(0)}).loss_curve_) == 20


LEFT = HOLES.assign(empty=np.nan, lists=[[1], None] * 40)
LEFT_MODEL = LEFT.simpdm.fit(**QUICK)
CALLS = {
    "accessor fit_impute": lambda frame: frame.simpdm.fit_impute(**QUICK),
    "accessor impute": lambda frame: frame.simpdm.impute(LEFT_MODEL),
    "function fit_impute": lambda frame: simpdm_frames.fit_impute(frame, **QUICK),
    "function impute": lambda frame: simpdm_frames.impute(frame, LEFT_MODEL),
    "model": LEFT_MODEL.impute,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_columns_that_keep_holes_are_named_in_one_warning_at_the_callers_line(call):
    with pytest.warns(UnfilledColumnsWarning, match=r"(?s)'empty' \(float64\).*'lists' \(object\)") as caught:
        done = call(LEFT)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert done["empty"].isna().all()


def test_nothing_is_trained_when_no_hole_can_be_filled():
    frame = TRUTH.assign(empty=np.nan)
    with pytest.warns(UnfilledColumnsWarning, match="'empty'"):
        done = frame.simpdm.fit_impute(steps=10**8)
    assert_same(done, frame)


def test_a_frame_without_a_column_to_learn_from_is_refused_with_reasons():
    with pytest.raises(ValueError, match="'empty': it has no observed cell"):
        pd.DataFrame({"empty": [np.nan, np.nan]}).simpdm.fit()
    with pytest.raises(ValueError, match="the frame has none"):
        pd.DataFrame(index=range(5)).simpdm.fit()
    with pytest.raises(ValueError, match="at least 2 rows"):
        HOLES.head(1).simpdm.fit()


def test_integers_that_became_floats_keep_their_origin():
    years = pd.DataFrame({"year": np.arange(2000, 2040), "half": np.arange(40) // 20})
    model = years.simpdm.fit(**QUICK)
    filled = model.impute(pd.DataFrame({"year": [2005, np.nan, 2010], "half": [0, 1, np.nan]}))
    assert 2000 <= filled["year"][1] <= 2039
    assert filled["year"][1] % 1 == 0
    assert filled["half"][2] in {0, 1}


def test_dates_of_another_unit_are_the_same_dates():
    dates = pd.DataFrame({"day": pd.date_range("2020", periods=40).as_unit("ns"), "x": np.arange(40.0)})
    model = dates.simpdm.fit(**QUICK)
    holes = dates.assign(day=dates["day"].where(dates.index % 3 > 0))
    fine = model.impute(holes)
    coarse = model.impute(holes.astype({"day": "datetime64[s]"}))
    assert coarse["day"].dtype == "datetime64[s]"
    assert (coarse["day"] == fine["day"]).all()
    with pytest.raises(MeaningDiffersError, match=r"'day' was a date .* date with time zone"):
        model.impute(holes.assign(day=holes["day"].dt.tz_localize("UTC")))


def test_one_row_with_nothing_in_a_column_is_filled():
    model = pd.DataFrame({"x": [1.5, 2.5] * 20, "w": ["a", "b"] * 20}).simpdm.fit(**QUICK)
    assert model.impute(pd.DataFrame({"x": [1.5], "w": [None]}))["w"][0] in {"a", "b"}
    assert 1.5 <= model.impute(pd.DataFrame({"x": [None], "w": ["a"]}, dtype=object))["x"][0] <= 2.5


def test_the_model_describes_itself():
    assert repr(MODEL) == "<Imputer of 7 columns, 20 steps on cpu>"
    assert len(MODEL.loss_curve_) == 20
    assert MODEL.device_ == "cpu"


def test_a_gpu_that_is_not_there_is_warned_of_or_raised(monkeypatch):
    monkeypatch.setattr("torch.version.cuda", None)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    with pytest.warns(GpuUnavailableWarning, match="no CUDA.* runs on the CPU") as caught:
        done = HOLES.simpdm.fit_impute(gpu=True, neighbours=0, **QUICK)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert_same(done, MODEL.impute(HOLES))
    for wish in ({"gpu": "require"}, {"device": "cuda:0"}):
        with pytest.raises(GpuUnavailableError, match="no CUDA"):
            HOLES.simpdm.fit_impute(**wish, **QUICK)


def python(code):
    """Run code in an interpreter of its own and give what it prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("order", ["{0}, simpdm_frames", "simpdm_frames, {0}"])
def test_importing_imports_no_library_that_is_not_used(library, order):
    heavy = {"pandas", "polars", "torch"}
    code = f"import {order.format(library)}, sys; print(sorted({heavy} & set(sys.modules)))"
    assert python(code) == str([library])
    code = f"import {order.format(library)}; print({library}.DataFrame.simpdm.__name__)"
    assert python(code) == "SimpDMAccessor"


def test_importing_alone_imports_no_library_and_leaves_modules_as_they_are():
    heavy = {"pandas", "polars", "torch"}
    assert python(f"import simpdm_frames, sys; print({heavy} & set(sys.modules))") == "set()"
    code = "import simpdm_frames, polars, sys; print(type(polars.__loader__).__name__, len(sys.meta_path))"
    assert python(code).startswith("SourceFileLoader")


def test_asking_whether_a_library_is_there_does_not_lose_the_accessor():
    ask = "import simpdm_frames, importlib.util as u; u.find_spec('pandas'); u.find_spec('pandas'); import "
    assert python(ask + "pandas; print(pandas.DataFrame.simpdm.__name__)") == "SimpDMAccessor"
    backend = "import simpdm_frames.frames.pandas, pandas; print(pandas.DataFrame.simpdm.__name__)"
    assert python(backend) == "SimpDMAccessor"
    both = "import simpdm_frames, polars, pandas; print(hasattr(pandas.DataFrame, 'simpdm'))"
    assert python(both) == "True"


def test_the_demo_beats_median_and_mode(capsys):
    assert commands.main(["demo"]) == 0
    shown = capsys.readouterr().out
    table = [line.split() for line in shown.split("of median/mode\n")[1].splitlines()[: TRUTH.shape[1]]]
    assert [line[0] for line in table] == list(TRUTH.columns)
    for _, before, after, holes, left, ours, simple in table:
        assert before == after
        assert int(holes) > 0
        assert int(left) == 0
        assert float(ours) < float(simple)
