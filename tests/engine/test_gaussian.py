import pytest
import torch

from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.schedule import Schedule

PAIRS = [(t, s) for t in (1, 2, 5, 10) for s in range(t)]


@pytest.mark.parametrize("t", [0, 1, 5, 10])
def test_q_sample_has_the_moments_of_the_forward_process(t):
    schedule = Schedule.named("cosine", 10)
    n = 200_000
    noise = torch.randn((n, 1), generator=torch.Generator().manual_seed(0))
    x_t = GaussianDiffusion(schedule).q_sample(torch.full((n, 1), 3.0), torch.full((n,), t), noise)
    signal = float(schedule.alpha_bar[t])
    assert float(x_t.mean()) == pytest.approx(3 * signal**0.5, abs=0.02)
    assert float(x_t.var()) == pytest.approx(1 - signal, abs=0.02)


def test_q_sample_takes_each_row_at_its_own_step():
    diffusion = GaussianDiffusion(Schedule.named("linear", 10))
    x0, noise = torch.ones(3, 2), torch.full((3, 2), -2.0)
    steps = torch.tensor([1, 10, 4])
    together = diffusion.q_sample(x0, steps, noise)
    alone = [diffusion.q_sample(x0[:1], steps[i : i + 1], noise[:1]) for i in range(3)]
    assert torch.equal(together, torch.cat(alone))


@pytest.mark.parametrize("name", ["cosine", "linear"])
@pytest.mark.parametrize(("t", "s"), PAIRS)
def test_posterior_is_bayes_by_brute_force(name, t, s):
    schedule = Schedule.named(name, 10)
    x0, x_t = 0.7, -0.4
    mean, variance = GaussianDiffusion(schedule).q_posterior(
        torch.tensor([[x0]], dtype=torch.float64), torch.tensor([[x_t]], dtype=torch.float64), t, s
    )
    if s == 0:
        assert float(mean) == pytest.approx(x0)
        assert variance == 0
        return
    # Weigh a fine grid of x_s by prior and likelihood, walking the forward chain step by step.
    grid = torch.linspace(-12, 12, 2_000_001, dtype=torch.float64)
    kept, stride = 1.0, 1.0
    for step in range(1, t + 1):
        alpha = float(schedule.alpha_bar[step] / schedule.alpha_bar[step - 1])
        kept, stride = (kept * alpha, stride) if step <= s else (kept, stride * alpha)
    log_prior = -((grid - kept**0.5 * x0) ** 2) / (2 * (1 - kept))
    log_likelihood = -((x_t - stride**0.5 * grid) ** 2) / (2 * (1 - stride))
    weight = torch.softmax(log_prior + log_likelihood, dim=0)
    expected = float((weight * grid).sum())
    assert float(mean) == pytest.approx(expected, abs=1e-6)
    assert variance == pytest.approx(float((weight * (grid - expected) ** 2).sum()), rel=1e-5)
