"""Backends and codecs from outside; the whole of each is in ``docs/extending.md``, which the site runs."""

import pickle

import numpy as np
import pandas as pd
import pytest
from libraries import QUICK

import simpdm_frames
from simpdm_frames import frames
from simpdm_frames.codecs import ContinuousCodec
from simpdm_frames.errors import UnknownFrameError

FRAME = pd.DataFrame(
    {"x": [1.0, 10.0, None, 1000.0] * 10, "y": [0.0, 1.0, 2.0, None] * 10, "z": ["a", "b"] * 20}
)


class Doubled(ContinuousCodec):
    """Fills are twice what they would be, so that one sees them, in the observed range all the same."""

    def decode(self, column, rows, scaled):
        return super().decode(column, rows, 2 * scaled)


def test_a_codec_from_outside_is_used_and_told():
    plain = FRAME.simpdm.fit_impute(neighbours=0, **QUICK)
    own = FRAME.simpdm.fit_impute(codecs={"x": Doubled}, neighbours=0, **QUICK)
    holes = FRAME["x"].isna()
    assert not own["x"][holes].equals(plain["x"][holes])
    assert own["x"][holes].between(1, 1000).all()
    assert own["y"].equals(plain["y"])
    plan = FRAME.simpdm.plan(codecs={"x": Doubled}).set_index("column")
    assert plan.loc["x", "treated as"] == "number"
    assert plan.loc["x", "why"] == "codecs names it: Doubled"


def test_a_model_with_a_codec_from_outside_is_pickled_but_not_saved(tmp_path):
    model = FRAME.simpdm.fit(codecs={"x": Doubled}, **QUICK)
    twin = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert FRAME.simpdm.impute(twin).equals(FRAME.simpdm.impute(model))
    with pytest.raises(simpdm_frames.errors.ModelFileError, match=r"'x' by Doubled.*or pickle the model"):
        model.save(tmp_path / "model.simpdm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("codecs", "error", "message"),
    [
        ({"q": Doubled}, ValueError, "codecs names 'q', which the frame does not have"),
        ({"x": 3}, TypeError, "codecs gives 'x' \\(float64\\) 3, which is no class derived from"),
        ({"z": Doubled}, TypeError, "codecs names 'z' .* whose values are labels, not numbers"),
        (Doubled, TypeError, "codecs must map columns to classes"),
    ],
)
def test_a_codec_that_does_not_suit_is_refused(codecs, error, message):
    with pytest.raises(error, match=message):
        FRAME.simpdm.plan(codecs=codecs)


def test_a_column_cannot_be_both():
    with pytest.raises(ValueError, match="'x' cannot be both in categorical and in codecs"):
        FRAME.simpdm.plan(codecs={"x": Doubled}, categorical=["x"])


class Wrapped:
    """A frame of a library that nobody knows."""

    def __init__(self, frame):
        self.frame = frame


class WrappedBackend:
    """A backend that leaves the work to that of pandas."""

    def __init__(self):
        self._pandas = frames.backend_of(FRAME)

    def matches(self, frame):
        return isinstance(frame, Wrapped)

    def columns(self, frame):
        return self._pandas.columns(frame.frame)

    def read(self, frame, position):
        return self._pandas.read(frame.frame, position)

    def write(self, frame, fillings, indicators):
        return Wrapped(self._pandas.write(frame.frame, fillings, indicators))

    def table(self, data):
        return Wrapped(self._pandas.table(data))

    def register(self, accessor):
        Wrapped.simpdm = property(accessor)


def test_a_backend_from_outside_is_used(monkeypatch):
    with pytest.raises(UnknownFrameError):
        simpdm_frames.fit(Wrapped(FRAME))
    monkeypatch.setattr(frames, "_ADDED", [])
    backend = WrappedBackend()
    frames.add_backend(backend)
    frames.add_backend(backend)
    assert len(frames._ADDED) == 1
    assert Wrapped(FRAME).simpdm.fit_impute(**QUICK).frame.equals(FRAME.simpdm.fit_impute(**QUICK))
    done = simpdm_frames.fit_impute(Wrapped(FRAME), **QUICK)
    assert done.frame.equals(FRAME.simpdm.fit_impute(**QUICK))
    assert isinstance(simpdm_frames.plan(Wrapped(FRAME)), Wrapped)
    assert np.array_equal(simpdm_frames.missing(Wrapped(FRAME)).frame.frame["holes"], [10, 10, 0])
