"""Several fits are one model: their estimates are averaged, their draws are one fit's, their progress is one run's."""

import itertools
import time

import numpy as np
import pytest
from test_engine import MIXED, QUICK

from simpdm_frames.engine import Engine
from simpdm_frames.engine.repeating import repeat
from simpdm_frames.engine.training import Progress

THREE = Engine.fit(MIXED, QUICK.override(fits=3, scouts=1, members=2, average=0.9), seed=3)


def alone(number):
    """Give one of the fits by itself."""
    return (THREE, *THREE.others)[number].beside([])


def test_estimates_are_averaged_and_what_is_observed_keeps_every_bit():
    each = [alone(number).impute(MIXED, seed=3) for number in range(3)]
    done = THREE.impute(MIXED)
    lost = MIXED.missing[:, : MIXED.layout.n_numbers]
    means = np.mean([one.numbers for one in each], axis=0)
    np.testing.assert_allclose(done.numbers[lost], means[lost], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(done.numbers[~lost], MIXED.numbers[~lost])
    shares = np.mean([one.probabilities for one in each], axis=0)
    np.testing.assert_allclose(done.probabilities, shares, rtol=1e-5, atol=1e-6)
    for one, other in itertools.pairwise(each):
        assert (one.numbers[lost] != other.numbers[lost]).all()


def test_a_draw_is_one_fits_and_the_seed_says_whose():
    for seed in range(4):
        drawn = THREE.impute(MIXED, seed=seed, draw=True)
        np.testing.assert_array_equal(
            drawn.numbers, alone(seed % 3).impute(MIXED, seed=seed, draw=True).numbers
        )


def test_the_first_of_several_is_the_fit_of_the_seed_itself():
    single = Engine.fit(MIXED, THREE.settings.override(fits=1), seed=3)
    np.testing.assert_array_equal(single.impute(MIXED).numbers, alone(0).impute(MIXED).numbers)
    assert single.loss_curve == THREE.loss_curve


def test_several_fits_hold_the_laws_of_one():
    done, backward = THREE.impute(MIXED), THREE.impute(MIXED.rows(slice(None, None, -1)), batch_size=7)
    np.testing.assert_array_equal(backward.numbers, done.numbers[::-1])
    np.testing.assert_array_equal(backward.probabilities, done.probabilities[::-1])


def test_neighbouring_seeds_share_no_fit():
    seeds = [set(repeat(lambda own, _: own, 5, seed, [])) for seed in (0, 1, 2**63 - 1)]
    assert sum(map(len, seeds)) == len(set.union(*seeds)) == 15
    assert all(0 <= own < 2**63 for own in set.union(*seeds))


def run(steps, *, stop_at=None):
    """Take so many steps of ten planned ones in each of three fits, and tell what those who watch heard."""
    heard = []

    def watch(progress):
        heard.append((progress.step, progress.steps))
        return progress.step == stop_at

    def fit(_seed, callbacks):
        for step in range(1, steps + 1):
            if any(told(Progress(step, 10, 0.0, 0.1 * step)) for told in callbacks):
                break
        return step

    return repeat(fit, 3, 0, [watch]), heard


def test_progress_counts_the_steps_of_all_fits():
    taken, heard = run(10)
    assert taken == [10, 10, 10]
    assert heard == [(step, 30) for step in range(1, 31)]


def test_a_fit_that_ends_early_leaves_fewer_steps_to_come():
    taken, heard = run(4)
    assert taken == [4, 4, 4]
    assert [planned for _, planned in heard] == [30] * 4 + [24] * 4 + [18] * 4
    assert heard[-1] == (12, 18)


@pytest.mark.parametrize("stop_at", [3, 10, 14])
def test_who_wants_no_more_ends_all_fits(stop_at):
    taken, heard = run(10, stop_at=stop_at)
    assert sum(taken) == stop_at == len(heard)


def test_no_fit_is_begun_that_the_time_does_not_allow(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def fit(seed, _callbacks):
        clock[0] += 10.0
        return seed

    for until, number in ((0.0, 1), (22.4, 1), (22.6, 2), (32.6, 3), (1e9, 5)):
        clock[0] = 0.0
        assert len(repeat(fit, 5, 0, [], until)) == number


def test_a_model_says_how_many_fits_it_was_given_time_for():
    engine = Engine.fit(MIXED, QUICK.override(fits=3), callbacks=[lambda progress: progress.step >= 20])
    assert engine.settings.fits == 1 + len(engine.others) < 3
