"""Errors of estimates, learnt and drawn."""

import pytest
import torch

from simpdm_frames.engine.residuals import Residuals


def drawn(residuals, estimate, n=4000):
    chance = torch.rand(n, 1, generator=torch.Generator().manual_seed(2))
    return residuals.draw(torch.full((n, 1), estimate), chance)


def test_errors_are_drawn_as_they_were_made():
    generator = torch.Generator().manual_seed(0)
    estimate = torch.rand(5000, generator=generator)
    error = torch.randn(5000, generator=generator) * 0.3 + 0.1
    some = drawn(Residuals.learn([(estimate, estimate + error)]), 0.5)
    assert float(some.mean()) == pytest.approx(0.1, abs=0.05)
    assert float(some.std()) == pytest.approx(0.3, rel=0.15)


def test_errors_may_grow_with_the_estimate():
    generator = torch.Generator().manual_seed(1)
    estimate = torch.rand(5000, generator=generator)
    residuals = Residuals.learn([(estimate, estimate + torch.randn(5000, generator=generator) * estimate)])
    assert float(drawn(residuals, 0.95).std()) > 3 * float(drawn(residuals, 0.1).std())


@pytest.mark.parametrize("n", [0, 1, 5])
def test_few_errors_are_better_than_none(n):
    truth = torch.arange(float(n))
    some = drawn(Residuals.learn([(torch.zeros(n), truth)]), 0.0)
    assert some.isfinite().all()
    assert float(some.max()) <= max(n - 1, 0)


def test_columns_have_errors_of_their_own():
    zero = torch.zeros(100)
    residuals = Residuals.learn([(zero, zero + 1), (zero, zero - 2)])
    assert residuals.draw(torch.zeros(1, 2), torch.full((1, 2), 0.5)).tolist() == [[1.0, -2.0]]
