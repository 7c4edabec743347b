import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simpdm_frames.engine.schedule import Schedule

names = st.sampled_from(["cosine", "linear"])
lengths = st.integers(1, 1000)


@given(names, lengths)
def test_signal_starts_whole_falls_and_never_vanishes(name, n_steps):
    alpha_bar = Schedule.named(name, n_steps).alpha_bar
    assert alpha_bar.dtype == torch.float64
    assert alpha_bar[0] == 1
    assert len(alpha_bar) == n_steps + 1
    assert (alpha_bar.diff() < 0).all()
    assert alpha_bar[-1] > 0


def test_cosine_follows_its_formula_until_the_clip():
    alpha_bar = Schedule.named("cosine", 10).alpha_bar
    f = [math.cos((t / 10 + 0.008) / 1.008 * math.pi / 2) ** 2 for t in range(10)]
    assert alpha_bar[:10].tolist() == pytest.approx([value / f[0] for value in f], rel=1e-12)
    assert float(alpha_bar[10] / alpha_bar[9]) == pytest.approx(0.001, rel=1e-9)


def test_linear_is_the_published_one_at_1000_steps():
    beta = 1 - Schedule.named("linear", 1000).alpha_bar[1:] / Schedule.named("linear", 1000).alpha_bar[:-1]
    assert float(beta[0]) == pytest.approx(1e-4)
    assert float(beta[-1]) == pytest.approx(0.02)


@given(names, lengths, st.data())
def test_descent_leads_from_the_end_to_zero(name, n_steps, data):
    n_strides = data.draw(st.integers(1, n_steps))
    descent = Schedule.named(name, n_steps).descent(n_strides)
    assert descent[0][0] == n_steps
    assert descent[-1][1] == 0
    assert len(descent) == n_strides
    assert all(t > s for t, s in descent)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(descent))


def test_unknown_schedule_is_named():
    with pytest.raises(ValueError, match="'cubic'"):
        Schedule.named("cubic", 10)
