import itertools

import pytest
import torch

from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.schedule import Schedule

SIZES = (2, 3, 5, 1)
HEADS = Heads(SIZES)
SCHEDULE = Schedule.named("cosine", 10)
DIFFUSION = MultinomialDiffusion(SCHEDULE, HEADS)


def step_matrix(t, k):
    """One step of the chain for k levels: keep, or draw uniformly."""
    keep = SCHEDULE.alpha_bar[t] / SCHEDULE.alpha_bar[t - 1]
    return keep * torch.eye(k, dtype=torch.float64) + (1 - keep) / k


def chain(s, t, k):
    """All steps after s up to t, as one product of matrices."""
    product = torch.eye(k, dtype=torch.float64)
    for step in range(s + 1, t + 1):
        product = product @ step_matrix(step, k)
    return product


def every_combination():
    return torch.tensor(list(itertools.product(*(range(size) for size in SIZES))))


@pytest.mark.parametrize("t", [0, 1, 3, 10])
def test_marginal_is_the_product_of_transition_matrices(t):
    codes = every_combination()
    marginal = DIFFUSION.q_marginal(HEADS.one_hot(codes).log(), torch.full((len(codes),), t)).exp()
    for head, (size, part) in enumerate(zip(SIZES, marginal.split(SIZES, dim=1), strict=True)):
        expected = chain(0, t, size)[codes[:, head]]
        torch.testing.assert_close(part.double(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("t", "s"), [(t, s) for t in (1, 2, 6, 10) for s in range(t)])
def test_posterior_is_bayes_by_brute_force(t, s):
    n = 8
    generator = torch.Generator().manual_seed(t * 100 + s)
    log_x0 = HEADS.log_softmax(3 * torch.randn(n, sum(SIZES), generator=generator))
    codes = torch.stack([torch.randint(size, (n,), generator=generator) for size in SIZES], dim=1)
    posterior = DIFFUSION.q_posterior(log_x0, HEADS.one_hot(codes).log(), t, s).exp()
    for head, size in enumerate(SIZES):
        start = sum(SIZES[:head])
        p_x0 = log_x0[:, start : start + size].double().exp()
        likelihood = chain(s, t, size)[:, codes[:, head]].T  # (row, x_s)
        joint = chain(0, s, size).unsqueeze(0) * likelihood.unsqueeze(1)  # (row, x_0, x_s)
        bayes = joint / joint.sum(2, keepdim=True)
        expected = (p_x0.unsqueeze(2) * bayes).sum(1)
        torch.testing.assert_close(
            posterior[:, start : start + size].double(), expected, rtol=1e-4, atol=1e-6
        )


def test_posterior_of_a_known_category_is_that_of_bayes():
    log_x0 = HEADS.one_hot(torch.tensor([[0, 2, 4, 0]])).log()
    log_x_t = HEADS.one_hot(torch.tensor([[1, 2, 0, 0]])).log()
    posterior = DIFFUSION.q_posterior(log_x0, log_x_t, 5, 4).exp()[0, :2].double()
    joint = chain(0, 4, 2)[0] * chain(4, 5, 2)[:, 1]
    torch.testing.assert_close(posterior, joint / joint.sum(), rtol=1e-5, atol=1e-6)


def test_the_last_step_returns_the_prediction():
    log_x0 = HEADS.log_softmax(torch.randn(4, sum(SIZES), generator=torch.Generator().manual_seed(0)))
    log_x_t = HEADS.one_hot(torch.zeros(4, len(SIZES), dtype=torch.int64)).log()
    torch.testing.assert_close(DIFFUSION.q_posterior(log_x0, log_x_t, 1, 0), log_x0)


def test_sample_follows_the_distribution_and_gives_one_level_per_head():
    n = 100_000
    log_p = HEADS.log_softmax(torch.randn(1, sum(SIZES), generator=torch.Generator().manual_seed(3)))
    uniform = torch.rand(n, sum(SIZES), generator=torch.Generator().manual_seed(4)).clamp(min=1e-9)
    sample = DIFFUSION.sample(log_p.expand(n, -1), uniform)
    assert torch.equal(HEADS.sum(sample), torch.ones(n, len(SIZES)))
    torch.testing.assert_close(sample.mean(0), log_p.exp()[0], rtol=0, atol=0.01)
