"""Draws: one of the values that a hole could have, instead of their mean."""

import numpy as np
import pytest

from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine
from simpdm_frames.settings import Settings

SETTINGS = Settings(
    steps=400,
    width=32,
    members=4,
    scouts=2,
    average=0.98,
    decay="none",
    learning_rate=5e-3,
    scale="deviation",
    sampling_steps=1,
    start="mean",
    patience=100,
)


def noisy_line(n=1500, seed=0):
    """Two numbers that depend on a third one and on a common chance, and a label that depends on one."""
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    common = random.normal(size=n)
    numbers = np.stack([x, x + common, x + common + 0.1 * random.normal(size=n)], axis=1).astype(np.float32)
    codes = (random.random(n) < 1 / (1 + np.exp(-2 * x))).astype(np.int64)[:, None]
    missing = random.random((n, 4)) < 0.3
    missing[:, 0] = False
    missing[: n // 4, 1:3] = True
    return Encoded(Layout(3, (2,)), numbers, codes, missing)


TABLE = noisy_line()
ENGINE = Engine.fit(TABLE, SETTINGS, seed=1)
DRAWN, MEAN = ENGINE.impute(TABLE, draw=True), ENGINE.impute(TABLE)


def test_draws_have_the_spread_of_the_truth_and_means_less():
    lost = TABLE.missing[:, 1]
    truth, drawn, mean = (part[lost, 1] for part in (TABLE.numbers, DRAWN.numbers, MEAN.numbers))
    assert drawn.std() == pytest.approx(truth.std(), rel=0.12)
    assert mean.std() < 0.9 * truth.std()
    error = {name: np.sqrt(((part - truth) ** 2).mean()) for name, part in (("draw", drawn), ("mean", mean))}
    assert error["mean"] < error["draw"]


def test_cells_that_are_drawn_in_one_row_fit_together():
    both = TABLE.missing[:, 1] & TABLE.missing[:, 2]
    gap = DRAWN.numbers[both, 1] - DRAWN.numbers[both, 2]
    # Drawn apart, the common chance would be drawn twice: a gap of about 1.4.
    assert gap.std() < 0.7


def test_labels_are_drawn_at_their_rates():
    lost = TABLE.missing[:, 3]
    head = DRAWN.probabilities[lost]
    assert set(np.unique(head)) == {0.0, 1.0}
    for low, high in ((-3, -0.5), (-0.5, 0.5), (0.5, 3)):
        rows = lost & (TABLE.numbers[:, 0] > low) & (TABLE.numbers[:, 0] <= high)
        share, truth = DRAWN.probabilities[rows, 1].mean(), TABLE.codes[rows, 0].mean()
        assert share == pytest.approx(truth, abs=0.15)


def test_draws_repeat_with_the_seed_and_differ_with_another():
    np.testing.assert_array_equal(ENGINE.impute(TABLE, draw=True).numbers, DRAWN.numbers)
    assert (ENGINE.impute(TABLE, draw=True, seed=7).numbers != DRAWN.numbers).any()


def test_a_draw_does_not_depend_on_the_rows_beside_it():
    some = np.random.default_rng(3).permutation(1500)[:300]
    part = ENGINE.impute(TABLE.rows(some), draw=True, batch_size=50)
    np.testing.assert_array_equal(part.numbers, DRAWN.numbers[some])
    np.testing.assert_array_equal(part.probabilities, DRAWN.probabilities[some])


def test_observed_cells_are_never_drawn():
    seen = ~TABLE.missing[:, :3]
    np.testing.assert_array_equal(DRAWN.numbers[seen], TABLE.numbers[seen])


def test_wide_rows_are_drawn_in_few_turns():
    random = np.random.default_rng(0)
    numbers = random.normal(size=(40, 30)).astype(np.float32)
    wide = Encoded(Layout(30), numbers, np.empty((40, 0), dtype=np.int64), random.random((40, 30)) < 0.8)
    engine = Engine.fit(wide, SETTINGS.override(steps=5))
    assert np.isfinite(engine.impute(wide, draw=True).numbers).all()


def test_without_scouts_a_draw_is_a_walk_from_noise():
    engine = Engine.fit(TABLE, SETTINGS.override(steps=20, scouts=0, sampling_steps=None))
    drawn = engine.impute(TABLE, draw=True)
    assert (drawn.numbers != engine.impute(TABLE).numbers).any()
    assert set(np.unique(drawn.probabilities)) == {0.0, 1.0}
