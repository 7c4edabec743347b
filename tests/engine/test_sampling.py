"""Algorithm 2, step by step, with a network that writes down what it was asked."""

import pytest
import torch

from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.noise import normal, uniform
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.sampling import PASS_HEIGHT, Sampler, pass_height
from simpdm_frames.engine.schedule import Schedule
from simpdm_frames.engine.table import Table
from simpdm_frames.settings import Settings

SIZES, N_NUMBERS, N, SEED = (2, 3), 2, 5, 11
HEADS = Heads(SIZES)
SCHEDULE = Schedule.named("cosine", 6)
GAUSSIAN, MULTINOMIAL = GaussianDiffusion(SCHEDULE), MultinomialDiffusion(SCHEDULE, HEADS)
KEYS = torch.arange(100, 100 + N)


class Recorder:
    """A network of one member that keeps what it was shown."""

    def __init__(self):
        self.calls = []

    def __call__(self, visible, noisy, t, condition):
        # Depends on everything that a network may see.
        hybrid = visible + noisy
        answer = torch.tanh(hybrid.roll(1, dims=-1) + 0.1 * t.unsqueeze(-1) + condition.float().mean())
        self.calls.append((hybrid[0, 0], t[0, 0], condition[0], answer[0, 0]))
        return answer


def table():
    generator = torch.Generator().manual_seed(0)
    codes = torch.stack([torch.randint(size, (N,), generator=generator) for size in SIZES], dim=1)
    missing = torch.rand(N, 4, generator=generator) < 0.5
    return Table(torch.randn(N, N_NUMBERS, generator=generator), HEADS.one_hot(codes), missing)


def walk(n_strides=None, draws=1, start="noise"):
    network, rows = Recorder(), table()
    settings = Settings(diffusion_steps=6, sampling_steps=n_strides, draws=draws, start=start)
    sampler = Sampler(network, GAUSSIAN, MULTINOMIAL, settings, torch.ones(1))
    numbers, probabilities = sampler.complete(rows, KEYS, SEED)
    return network.calls, rows, numbers, probabilities


@pytest.mark.parametrize(("n_strides", "steps"), [(None, [6, 5, 4, 3, 2, 1]), (3, [6, 4, 2]), (1, [6])])
def test_it_visits_the_steps_of_the_descent_from_the_end(n_strides, steps):
    calls, *_ = walk(n_strides)
    assert [set(t.tolist()) for _, t, _, _ in calls] == [{step} for step in steps]


def test_observed_cells_are_clamped_and_the_mask_is_shown_at_every_step():
    calls, rows, *_ = walk()
    seen = ~rows.missing
    seen_levels = HEADS.spread(seen[:, N_NUMBERS:]).bool()
    for hybrid, _, condition, _ in calls:
        assert len(hybrid) == PASS_HEIGHT
        assert torch.equal(condition[:N], rows.missing)
        numbers, levels = hybrid[:N].split([N_NUMBERS, sum(SIZES)], dim=1)
        assert torch.equal(numbers[seen[:, :N_NUMBERS]], rows.numbers[seen[:, :N_NUMBERS]])
        assert torch.equal(levels[seen_levels], rows.levels[seen_levels])
        assert torch.equal(HEADS.sum(levels), torch.ones(N, len(SIZES)))


def test_from_the_mean_of_noise_nothing_is_left_to_chance():
    calls, rows, *_ = walk(1, start="mean")
    hybrid = calls[0][0][:N]
    assert (hybrid[:, :N_NUMBERS][rows.missing[:, :N_NUMBERS]] == 0).all()
    flat = torch.cat([torch.full((size,), 1 / size) for size in SIZES]).expand(N, -1)
    lost_levels = HEADS.spread(rows.missing[:, N_NUMBERS:]).bool()
    torch.testing.assert_close(hybrid[:, N_NUMBERS:][lost_levels], flat[lost_levels])


def test_it_starts_from_noise_and_each_step_is_the_posterior_with_its_own_noise():
    calls, rows, *_ = walk()
    lost, lost_levels = rows.missing[:, :N_NUMBERS], HEADS.spread(rows.missing[:, N_NUMBERS:]).bool()
    assert lost.any()
    assert lost_levels.any()
    first = calls[0][0][:N]
    noise = normal(SEED, KEYS, (0, 6, 0), N_NUMBERS)
    assert torch.equal(first[:, :N_NUMBERS][lost], noise[lost])
    flat = MULTINOMIAL.sample(torch.zeros(N, sum(SIZES)), uniform(SEED, KEYS, (0, 6, 1), sum(SIZES)))
    assert torch.equal(first[:, N_NUMBERS:][lost_levels], flat[lost_levels])
    for (t, s), before, after in zip(SCHEDULE.descent(), calls, calls[1:], strict=False):
        now, then, answer = before[0][:N], after[0][:N], before[3][:N]
        mean, variance = GAUSSIAN.q_posterior(answer[:, :N_NUMBERS], now[:, :N_NUMBERS], t, s)
        assert variance > 0
        expected = mean + variance**0.5 * normal(SEED, KEYS, (0, s, 0), N_NUMBERS)
        torch.testing.assert_close(then[:, :N_NUMBERS][lost], expected[lost])
        log_x0 = HEADS.log_softmax(answer[:, N_NUMBERS:])
        posterior = MULTINOMIAL.q_posterior(log_x0, now[:, N_NUMBERS:].log(), t, s)
        drawn = MULTINOMIAL.sample(posterior, uniform(SEED, KEYS, (0, s, 1), sum(SIZES)))
        assert torch.equal(then[:, N_NUMBERS:][lost_levels], drawn[lost_levels])


def test_the_result_is_the_last_prediction():
    calls, rows, numbers, probabilities = walk()
    last = calls[-1][3][:N]
    lost, lost_levels = rows.missing[:, :N_NUMBERS], HEADS.spread(rows.missing[:, N_NUMBERS:]).bool()
    assert torch.equal(numbers[lost], last[:, :N_NUMBERS][lost])
    predicted = HEADS.log_softmax(last[:, N_NUMBERS:]).exp()
    assert torch.equal(probabilities[lost_levels], predicted[lost_levels])


def test_draws_are_averaged_and_differ():
    calls, rows, numbers, _ = walk(draws=3)
    assert len(calls) == 18
    starts = [calls[draw * 6][0] for draw in range(3)]
    assert not torch.equal(starts[0], starts[1])
    ends = torch.stack([calls[draw * 6 + 5][3][:N, :N_NUMBERS] for draw in range(3)])
    lost = rows.missing[:, :N_NUMBERS]
    torch.testing.assert_close(numbers[lost], ends.mean(0)[lost])


def test_wide_tables_are_taken_fewer_rows_at_a_time():
    assert [pass_height(width) for width in (1, 4 * 1024, 4 * 1024 + 1, 2**20)] == [1024, 1024, 512, 64]
