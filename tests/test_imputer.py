import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import simpdm_frames
from simpdm_frames import demo
from simpdm_frames.errors import ColumnsDifferError, UnfilledColumnsWarning

QUICK = {"random_state": 0, "steps": 20, "width": 16}
TRUTH, HOLES = demo.make_table(n_rows=80)
MODEL = HOLES.simpdm.fit(**QUICK)


def test_only_holes_change():
    before = HOLES.copy()
    done = HOLES.simpdm.fit_impute(**QUICK)
    pd.testing.assert_frame_equal(HOLES, before)
    assert not done.isna().any(axis=None)
    pd.testing.assert_frame_equal(done.where(HOLES.notna()), HOLES.where(HOLES.notna()))
    assert (done.dtypes == HOLES.dtypes).all()
    pd.testing.assert_index_equal(done.index, HOLES.index)


def test_accessor_function_and_model_agree():
    done = HOLES.simpdm.fit_impute(**QUICK)
    pd.testing.assert_frame_equal(HOLES.pipe(simpdm_frames.fit_impute, **QUICK), done)
    pd.testing.assert_frame_equal(MODEL.impute(HOLES), done)
    pd.testing.assert_frame_equal(HOLES.simpdm.impute(MODEL), done)


def test_rows_are_filled_alike_wherever_they_stand():
    done = MODEL.impute(HOLES)
    shuffled = HOLES.sample(frac=0.5, random_state=1)
    pd.testing.assert_frame_equal(MODEL.impute(shuffled), done.loc[shuffled.index])


def test_columns_in_another_order_come_back_in_that_order():
    turned = HOLES[HOLES.columns[::-1]]
    pd.testing.assert_frame_equal(MODEL.impute(turned)[HOLES.columns], MODEL.impute(HOLES))


def test_a_complete_frame_comes_back_equal_without_training():
    done = TRUTH.simpdm.fit_impute(steps=10**8)
    pd.testing.assert_frame_equal(done, TRUTH)
    assert done is not TRUTH


def test_columns_that_keep_holes_are_named_in_one_warning_at_the_callers_line():
    frame = HOLES.assign(empty=np.nan, lists=[[1], None] * 40)
    with pytest.warns(UnfilledColumnsWarning, match=r"'empty' \(float64\).*'lists' \(object\)") as caught:
        done = frame.simpdm.fit_impute(**QUICK)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert done["empty"].isna().all()


def test_an_extra_column_with_holes_is_named():
    with pytest.warns(UnfilledColumnsWarning, match="'extra'.*not there when the model was fit"):
        MODEL.impute(HOLES.assign(extra=np.nan))


def test_no_warning_without_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MODEL.impute(HOLES.assign(extra=1.0))


def test_missing_columns_and_duplicates_are_refused():
    with pytest.raises(ColumnsDifferError, match="'ward'"):
        MODEL.impute(HOLES.drop(columns="ward"))
    twice = pd.DataFrame([[1.0, None]], columns=["a", "a"])
    with pytest.raises(ValueError, match="'a'"):
        twice.simpdm.fit()


def test_an_unknown_option_is_answered_with_the_nearest_name():
    with pytest.raises(TypeError, match="did you mean 'steps'"):
        HOLES.simpdm.fit_impute(step=3)


def test_the_model_describes_itself():
    assert repr(MODEL) == "<Imputer of 4 numbers and 3 categories, 20 steps on cpu>"
    assert len(MODEL.loss_curve_) == 20
    assert MODEL.device_ == "cpu"


def test_importing_does_not_import_torch():
    code = "import sys, simpdm_frames; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_demo_beats_median_and_mode(capsys):
    demo.run()
    shown = capsys.readouterr().out
    table = [line.split() for line in shown.split("of median/mode\n")[1].splitlines()[: TRUTH.shape[1]]]
    assert [line[0] for line in table] == list(TRUTH.columns)
    for _, before, after, holes, left, ours, simple in table:
        assert before == after
        assert int(holes) > 0
        assert int(left) == 0
        assert float(ours) < float(simple)
