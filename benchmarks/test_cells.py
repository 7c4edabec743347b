"""The mask recipe, checked against the paper's own figures for mean imputation."""

import os

import numpy as np
import pytest

from benchmarks.cells import RATES, hidden_cells
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


def test_at_most_eight_columns_are_hidden_at_the_rate():
    for rate in RATES:
        hidden = hidden_cells((4000, 12), seed=3, rate=rate)
        touched = hidden.any(axis=0)
        assert touched.sum() == 8
        assert hidden[:, touched].mean() == pytest.approx(rate, abs=0.02)


def test_seeds_hide_different_cells_and_repeat_themselves():
    np.testing.assert_array_equal(hidden_cells((50, 5), 1), hidden_cells((50, 5), 1))
    assert (hidden_cells((50, 5), 1) != hidden_cells((50, 5), 2)).any()


def test_every_dataset_has_its_published_figures():
    assert set(NAMES) == set(MEAN) == set(SIMPDM)
