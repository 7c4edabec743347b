import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from simpdm_frames.engine.alignment import alignment_loss, contrastive, mse, sinkhorn
from simpdm_frames.settings import Settings


def two_clouds(n=6, d=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(n, d, generator=generator, dtype=torch.float64) for _ in range(2))


def dual_transport(a, b, blur):
    """Entropic transport by maximising its dual with a general optimiser: shares no code with ours."""
    cost = ((a[:, None] - b[None]) ** 2).sum(2)
    n, m = cost.shape

    def negative_dual(z):
        f, g = z[:n], z[n:]
        plan = np.exp((f[:, None] + g[None] - cost) / blur) / (n * m)
        gradient = np.concatenate([1 / n - plan.sum(1), 1 / m - plan.sum(0)])
        return -(f.mean() + g.mean() - blur * (plan.sum() - 1)), -gradient

    best = minimize(negative_dual, np.zeros(n + m), jac=True, method="BFGS", options={"gtol": 1e-9})
    return -best.fun


@pytest.mark.parametrize("blur", [0.1, 1.0])
def test_sinkhorn_divergence_equals_a_reference(blur):
    a, b = two_clouds()
    x, y = a.numpy(), b.numpy()
    reference = dual_transport(x, y, blur) - (dual_transport(x, x, blur) + dual_transport(y, y, blur)) / 2
    assert float(sinkhorn(a, b, blur)) == pytest.approx(reference, rel=1e-3)


def test_sinkhorn_of_two_points_is_their_squared_distance():
    a, b = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]])
    assert float(sinkhorn(a, b)) == pytest.approx(25.0)


@given(st.integers(0, 50))
def test_sinkhorn_is_zero_between_reordered_sets_and_positive_between_others(seed):
    a, b = two_clouds(seed=seed)
    assert float(sinkhorn(a, a.flip(0))) == pytest.approx(0, abs=1e-9)
    assert float(sinkhorn(a, b)) > 0


def test_sinkhorn_has_the_gradient_of_finite_differences():
    a, b = two_clouds(4, 2)
    a.requires_grad_()
    sinkhorn(a, b, 0.5).backward()
    step = torch.zeros_like(a)
    step[1, 0] = 1e-5
    with torch.no_grad():
        slope = (sinkhorn(a + step, b, 0.5) - sinkhorn(a - step, b, 0.5)) / 2e-5
    assert float(a.grad[1, 0]) == pytest.approx(float(slope), rel=1e-3)


def test_contrastive_is_simclr_written_as_a_loop():
    a, b = two_clouds()
    rows = [*a, *b]
    n, temperature = len(a), 0.5

    def similarity(i, j):
        return float(torch.cosine_similarity(rows[i], rows[j], dim=0)) / temperature

    total = 0.0
    for i in range(2 * n):
        others = sum(math.exp(similarity(i, j)) for j in range(2 * n) if j != i)
        total -= math.log(math.exp(similarity(i, (i + n) % (2 * n))) / others)
    assert float(contrastive(a, b, temperature)) == pytest.approx(total / (2 * n))


def test_mse_is_the_mean_over_all_entries():
    assert float(mse(torch.zeros(2, 2), torch.tensor([[2.0, 0.0], [0.0, 0.0]]))) == 1.0


def test_settings_choose_the_loss():
    a, b = two_clouds()
    d = a.shape[1]
    assert alignment_loss(Settings(alignment="none"), d) is None
    assert alignment_loss(Settings(), d)(a, b) == mse(a, b)
    chosen = alignment_loss(Settings(alignment="contrastive", temperature=0.1), d)
    assert chosen(a, b) == contrastive(a, b, 0.1)
    assert alignment_loss(Settings(alignment="sinkhorn", blur=0.2), d)(a, b) == sinkhorn(a, b, 0.2)
