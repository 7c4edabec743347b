"""What a model, a fit and a report say about themselves."""

import copy
import logging
import pickle
import xml.etree.ElementTree as ET  # it reads what was written here

import pandas as pd
import pytest
from libraries import QUICK, table

import simpdm_frames
from simpdm_frames.engine.training import Progress
from simpdm_frames.progress import Narrator

FRAME = pd.DataFrame({**table(), "odd <b>": ["x", "y"] * 20})


@pytest.fixture(scope="module")
def model():
    return FRAME.simpdm.fit(ignore=["smoker"], **QUICK)


def test_a_summary_has_a_line_for_each_column_with_what_was_done(model):
    text = str(model.summary())
    lines = {line.split("  ")[0]: line for line in text.splitlines()}
    for name, treatment in model.schema_.items():
        assert treatment.role.value in lines[str(name)]
        assert treatment.why in lines[str(name)]
    assert "6, 5 of them modelled" in text
    assert "8 steps" in text
    assert lines["device"].endswith(model.device_)
    assert repr(model.summary()) == text


def test_a_notebook_gets_well_formed_html_with_a_curve(model):
    page = ET.fromstring(model._repr_html_().replace("<details open>", "<details>"))  # noqa: S314
    cells = ["".join(cell.itertext()) for cell in page.iter("td")]
    assert "odd <b>" in cells  # escaped
    (svg,) = page.iter("{http://www.w3.org/2000/svg}svg")
    (curve,) = svg.iter("{http://www.w3.org/2000/svg}polyline")
    points = [tuple(map(float, point.split(","))) for point in curve.get("points").split()]
    assert len(points) == len(model.loss_curve_) == 8
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    # The highest loss is drawn the highest, which in SVG is the smallest y.
    highest = max(range(8), key=lambda step: model.loss_curve_[step])
    assert points[highest][1] == min(y for _, y in points)


def test_the_error_on_held_out_cells_is_in_the_summary():
    model = FRAME.simpdm.fit(random_state=0, steps=120, width=8, members=2)
    summary = model.summary()
    assert len(summary.judged) > 1
    step, error = min(summary.judged, key=lambda look: look[1])
    assert summary.facts["held-out cells"] == f"lowest error {error:.4f}, after {step} steps"
    assert summary._repr_html_().count("<polyline") == 2


def test_a_loaded_model_has_the_same_summary(model, tmp_path):
    model.save(tmp_path / "m.simpdm")
    assert str(simpdm_frames.load(tmp_path / "m.simpdm").summary()) == str(model.summary())


def test_a_fit_is_logged_and_silent(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="simpdm_frames"):
        FRAME.simpdm.fit(random_state=0, steps=40, width=8)
    texts = [record.getMessage() for record in caplog.records]
    assert texts[0] == "fit: 40 rows, 6 columns, 8 networks on cpu"
    assert texts[-1].startswith("fit: 40 steps in ")
    assert capsys.readouterr() == ("", "")


def test_verbose_says_so_aloud(capsys):
    FRAME.simpdm.fit_impute(random_state=0, steps=40, width=8, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert {line.split(":")[0] for line in err.splitlines()} == {"simpdm"}


@pytest.mark.parametrize(("limit", "expected"), [(None, 43), (20.0, 20)])
def test_the_end_of_a_fit_is_foretold_once_its_pace_is_known(limit, expected, caplog):
    with caplog.at_level(logging.INFO, logger="simpdm_frames"):
        narrator = Narrator("a fit", aloud=False, limit=limit)
        # Ten steps take 3 s while everything warms up, and a tenth of that afterwards.
        for look in range(10):
            narrator(Progress(10 * (look + 1), 1350, 0.5, 3 + 0.3 * look))
    assert [record.getMessage() for record in caplog.records] == [
        "fit: a fit",
        f"fit: at most about {expected} s",
    ]


def test_values_that_may_mean_a_hole_are_pointed_at(caplog):
    frame = FRAME.assign(sent=[-999.0, *range(39)], coded=["n/a", "x", "x", "y"] * 10)
    with caplog.at_level(logging.INFO, logger="simpdm_frames"):
        frame.simpdm.fit(random_state=0, steps=3, width=8)
    texts = [record.getMessage() for record in caplog.records]
    assert "'sent' (float64): declare [-999] in missing_values if they mean a hole" in texts
    assert any("'n/a'" in text for text in texts)


@pytest.mark.parametrize("verbose", [-1, "much"])
def test_a_wrong_verbose_is_refused(verbose):
    with pytest.raises(ValueError, match=f"verbose must be a whole number of at least 0, got {verbose!r}"):
        FRAME.simpdm.fit(verbose=verbose)


def test_the_logger_has_a_null_handler():
    assert any(isinstance(h, logging.NullHandler) for h in logging.getLogger("simpdm_frames").handlers)


def test_a_report_behaves_as_its_frame():
    report = FRAME.simpdm.missing()
    assert isinstance(report.frame, pd.DataFrame)
    assert report["holes"].sum() == FRAME.isna().sum().sum()
    assert list(report) == list(report.frame)
    assert report.shape == (6, 4)
    assert repr(report) == repr(report.frame)
    for twin in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):  # noqa: S301
        assert twin.frame.equals(report.frame)
    with pytest.raises(AttributeError, match="nonsense"):
        report.nonsense  # noqa: B018
