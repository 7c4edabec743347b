"""The mask recipe, checked against the paper's own figures for mean imputation."""

import os

import numpy as np
import pytest

from benchmarks.cells import MECHANISMS, RATES, hidden_cells
from benchmarks.datasets import NAMES, load
from benchmarks.protocol import interval, score_mean
from benchmarks.published import MEAN, SIMPDM

needs_data = pytest.mark.skipif("SIMPDM_DATA" not in os.environ, reason="SIMPDM_DATA is not set")


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_mean_imputation_is_that_of_the_paper_to_four_digits(name):
    dataset = load(name)
    mean, spread = interval([score_mean(dataset, seed) for seed in range(5)])
    assert (round(mean, 4), round(spread, 4)) == MEAN[name]


TABLE = np.random.default_rng(0).random((4000, 12))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("rate", RATES)
def test_at_most_eight_columns_are_hidden_at_the_rate(mechanism, rate):
    hidden = hidden_cells(TABLE, 3, rate, mechanism)
    touched = hidden.any(axis=0)
    assert touched.sum() == (4 if mechanism == "MAR" else 8)
    assert hidden[:, touched].mean() == pytest.approx(rate, abs=0.02)


def test_what_is_missing_at_random_depends_on_what_is_visible():
    hidden = hidden_cells(TABLE, 3, 0.3, "MAR")
    whole, touched = (TABLE[:, hidden.any(axis=0) == flag] for flag in (False, True))
    lost = hidden[:, hidden.any(axis=0)]
    # Weights are positive: rows that are large in the columns behind it lose more.
    gaps = [[column[gone].mean() - column[~gone].mean() for column in whole.T] for gone in lost.T]
    assert np.max(gaps, axis=1).min() > 0.05
    own = [column[gone].mean() - column[~gone].mean() for column, gone in zip(touched.T, lost.T, strict=True)]
    assert np.abs(own).max() < 0.05


def test_seeds_hide_different_cells_and_repeat_themselves():
    small = TABLE[:50, :5]
    np.testing.assert_array_equal(hidden_cells(small, 1), hidden_cells(small, 1))
    assert (hidden_cells(small, 1) != hidden_cells(small, 2)).any()


def test_unknown_scenes_are_refused():
    with pytest.raises(ValueError, match=r"'MCAR' at 0\.2"):
        hidden_cells(TABLE, 1, 0.2)


def test_every_dataset_has_its_published_figures():
    assert set(NAMES) == set(MEAN) == set(SIMPDM)
