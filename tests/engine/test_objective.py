import math

import numpy as np
import pytest
import torch

from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine.alignment import alignment_loss
from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.masks import Masks, perturbation_strength
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.objective import Objective
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.schedule import Schedule
from simpdm_frames.engine.table import Padding, Scale, Table
from simpdm_frames.settings import Settings

SIZES = (2, 4)
N_NUMBERS = 3
HEADS = Heads(SIZES)


def objective_for(settings):
    schedule = Schedule.named(settings.schedule, settings.diffusion_steps)
    layout = Layout(N_NUMBERS, SIZES)
    return Objective(settings, layout, GaussianDiffusion(schedule), MultinomialDiffusion(schedule, HEADS))


def table_of(n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    codes = torch.stack([torch.randint(size, (n,), generator=generator) for size in SIZES], dim=1)
    return Table(
        numbers=torch.randn(n, N_NUMBERS, generator=generator),
        levels=HEADS.one_hot(codes),
        missing=torch.rand(n, N_NUMBERS + 2, generator=generator) < 0.25,
    )


class Recorder:
    """A network that keeps what it was shown and predicts zeros that ask for a gradient."""

    def __call__(self, visible, noisy, t, condition):
        self.hybrid, self.t, self.condition = visible + noisy, t, condition
        self.parts = visible, noisy
        self.prediction = torch.zeros_like(noisy, requires_grad=True)
        return self.prediction


def test_pseudo_missing_cells_are_observed_and_hidden_at_the_rate():
    missing = torch.rand(20_000, 4, generator=torch.Generator().manual_seed(1)) < 0.3
    masks = Masks.draw(missing, 0.4, torch.Generator().manual_seed(2))
    assert not (masks.pseudo & missing).any()
    assert float(masks.pseudo[~missing].float().mean()) == pytest.approx(0.4, abs=0.01)
    assert torch.equal(masks.condition, missing | masks.pseudo)


def test_both_channels_share_masks_and_differ_in_step_and_noise():
    network, table = Recorder(), table_of(400)
    objective_for(Settings()).loss(network, table, torch.Generator().manual_seed(0))
    first, second = network.hybrid
    assert network.condition.shape == table.missing.shape  # one mask for both channels
    assert network.condition[table.missing].all()
    assert (network.t[0] != network.t[1]).float().mean() > 0.8
    assert set(network.t.flatten().tolist()) == set(range(1, 11))
    hidden = network.condition[:, :N_NUMBERS]
    assert (first[:, :N_NUMBERS] != second[:, :N_NUMBERS])[hidden].all()


@pytest.mark.parametrize("augmentation", ["none", "state"])
def test_channels_at_the_same_step_have_noise_of_their_own_in_hidden_cells(augmentation):
    # With one diffusion step both channels are at it, so only the noises can tell them apart.
    settings = Settings(diffusion_steps=1, augmentation=augmentation, p_gt=0.5)
    network, table = Recorder(), table_of(4000)
    objective_for(settings).loss(network, table, torch.Generator().manual_seed(0))
    (numbers, levels), (numbers_again, levels_again) = (
        channel.split([N_NUMBERS, sum(SIZES)], dim=1) for channel in network.hybrid
    )
    hidden, hidden_category = network.condition.split([N_NUMBERS, len(SIZES)], dim=1)
    assert (numbers != numbers_again)[hidden].all()
    assert torch.equal(numbers[~hidden], numbers_again[~hidden])
    differ = HEADS.sum((levels != levels_again).float()).bool()
    assert 0.1 < float(differ[hidden_category].float().mean()) < 0.9
    assert not differ[~hidden_category].any()


def test_the_two_parts_of_the_hybrid_input_do_not_overlap():
    network, table = Recorder(), table_of(400)
    objective_for(Settings()).loss(network, table, torch.Generator().manual_seed(0))
    visible, noisy = network.parts
    assert not ((visible != 0) & (noisy != 0)).any()


def test_members_are_views_of_their_own():
    one, table = objective_for(Settings()), table_of(300)
    many = Table(*(part.expand(3, *part.shape) for part in (table.numbers, table.levels, table.missing)))
    network = Recorder()
    one.loss(network, many, torch.Generator().manual_seed(0))
    assert network.hybrid.shape == (2, 3, 300, N_NUMBERS + sum(SIZES))
    assert (network.condition[0] != network.condition[1]).any()
    assert (network.t[:, 0] != network.t[:, 1]).any()


def test_varied_masks_hide_the_same_share_with_more_spread():
    missing = torch.zeros(20_000, 8, dtype=torch.bool)
    even, varied = (
        Masks.draw(missing, 0.3, torch.Generator().manual_seed(3), varied=varied).pseudo.float().mean(1)
        for varied in (False, True)
    )
    assert float(even.mean()) == pytest.approx(float(varied.mean()), abs=0.01)
    assert float(varied.std()) > 1.2 * float(even.std())


def test_columns_may_be_hidden_at_rates_of_their_own():
    rates = torch.tensor([0.1, 0.5])
    masks = Masks.draw(torch.zeros(20_000, 2, dtype=torch.bool), rates, torch.Generator().manual_seed(4))
    torch.testing.assert_close(masks.pseudo.float().mean(0), rates, atol=0.02, rtol=0)


def test_without_augmentation_observed_cells_reach_the_network_unchanged():
    network, table = Recorder(), table_of(400)
    settings = Settings(augmentation="none")
    objective_for(settings).loss(network, table, torch.Generator().manual_seed(0))
    shown = ~network.condition
    shown_levels = HEADS.spread(shown[:, N_NUMBERS:]).bool()
    for channel in network.hybrid:
        numbers, levels = channel.split([N_NUMBERS, sum(SIZES)], dim=1)
        assert torch.equal(numbers[shown[:, :N_NUMBERS]], table.numbers[shown[:, :N_NUMBERS]])
        assert torch.equal(levels[shown_levels], table.levels[shown_levels])
        assert torch.equal(HEADS.sum(levels), torch.ones(400, 2))


def strengths_at_input(settings):
    """Measure the extra noise per state at the network's input, the diffusion's own part removed."""
    table = table_of(60_000)
    generator = torch.Generator().manual_seed(5)
    view = objective_for(settings).view(table, Masks.draw(table.missing, 0.3, generator), generator)
    schedule = Schedule.named(settings.schedule, settings.diffusion_steps)
    signal = schedule.alpha_bar.float()[view.t[0]].unsqueeze(1)
    unknown = view.masks.condition[:, :N_NUMBERS]
    rest = view.hybrid[0, :, :N_NUMBERS] - torch.where(unknown, signal.sqrt(), 1.0) * table.numbers
    extra = rest**2 - torch.where(unknown, 1 - signal, 0.0)
    states = {
        "gt": ~unknown,
        "pm": view.masks.pseudo[:, :N_NUMBERS],
        "ms": view.masks.missing[:, :N_NUMBERS],
    }
    return {state: float(extra[cells].mean().clamp(min=0).sqrt()) for state, cells in states.items()}


def test_state_augmentation_perturbs_each_state_with_its_strength():
    measured = strengths_at_input(Settings(p_gt=0.1, p_pm=0.8, p_ms=2.0))
    assert measured == pytest.approx({"gt": 0.1, "pm": 0.8, "ms": 2.0}, rel=0.03)


@pytest.mark.parametrize(("augmentation", "strength"), [("strong", 1.5), ("weak", 0.4)])
def test_uniform_augmentations_perturb_all_states_alike(augmentation, strength):
    settings = Settings(augmentation=augmentation, p_gt=0.4, p_pm=0.8, p_ms=1.5)
    measured = strengths_at_input(settings)
    assert measured == pytest.approx(dict.fromkeys(("gt", "pm", "ms"), strength), rel=0.04)


def test_no_augmentation_adds_nothing():
    masks = Masks(torch.zeros(2, 2).bool(), torch.zeros(2, 2).bool())
    assert perturbation_strength(masks, Settings(augmentation="none")) is None


def test_state_augmentation_transforms_categories_in_the_same_order_of_strengths():
    settings = Settings(p_gt=0.1, p_pm=0.5, p_ms=1.5, diffusion_steps=4)
    table = table_of(60_000)
    generator = torch.Generator().manual_seed(6)
    view = objective_for(settings).view(table, Masks.draw(table.missing, 0.3, generator), generator)
    kept = HEADS.sum(view.hybrid[1, :, N_NUMBERS:] * table.levels).bool()
    alpha_bar = Schedule.named("cosine", 4).alpha_bar
    states = {
        0.1: (~view.masks.condition[:, N_NUMBERS:], 1.0),
        0.5: (view.masks.pseudo[:, N_NUMBERS:], float(alpha_bar[2])),
        1.5: (view.masks.missing[:, N_NUMBERS:], float(alpha_bar[2])),
    }
    at_two = (view.t[1] == 2).unsqueeze(1)
    rates = []
    for strength, (cells, signal) in states.items():
        for head, size in enumerate(SIZES):
            chosen = (cells & at_two)[:, head]
            keep = signal * math.exp(-strength)
            expected = keep + (1 - keep) / size
            assert float(kept[chosen, head].float().mean()) == pytest.approx(expected, abs=0.025)
        rates.append(float(kept[cells & at_two].float().mean()))
    assert rates == sorted(rates, reverse=True)


def test_gradient_is_zero_outside_pseudo_missing_cells():
    network, table = Recorder(), table_of(200)
    objective = objective_for(Settings(alignment="none"))
    objective.loss(network, table, torch.Generator().manual_seed(0)).backward()
    gradient = network.prediction.grad
    pseudo = network.condition & ~table.missing
    hidden, hidden_levels = pseudo[:, :N_NUMBERS], HEADS.spread(pseudo[:, N_NUMBERS:]).bool()
    assert pseudo.any(0).all()
    for channel in gradient:
        numbers, levels = channel.split([N_NUMBERS, sum(SIZES)], dim=1)
        assert (numbers[~hidden] == 0).all()
        assert (levels[~hidden_levels] == 0).all()
        # The derivative of (prediction - target)² / cells at a prediction of 0.
        torch.testing.assert_close(numbers[hidden], -2 * table.numbers[hidden] / pseudo.numel())
        assert (levels[hidden_levels] != 0).all()


def test_alignment_reaches_all_cells_when_the_channels_disagree():
    class Disagree(Recorder):
        def __call__(self, visible, noisy, t, condition):
            super().__call__(visible, noisy, t, condition)
            offset = torch.zeros_like(noisy)
            offset[0] = torch.linspace(1, 2, noisy.shape[-1])
            return self.prediction + offset

    network, table = Disagree(), table_of(50)
    objective = objective_for(Settings(alignment_weight=3.0))
    objective.loss(network, table, torch.Generator().manual_seed(0)).backward()
    assert (network.prediction.grad != 0).all()


def test_alignment_weighs_a_column_alike_whatever_its_number_of_levels():
    def alignment_of(sizes):
        align = alignment_loss(Settings(), 1 + len(sizes))
        first = torch.zeros(3, 1 + sum(sizes))
        second = first.clone()
        second[:, 0] = 1.0
        return float(align(first, second))

    assert alignment_of(()) == pytest.approx(1.0)
    assert alignment_of((2,)) == pytest.approx(alignment_of((200,))) == pytest.approx(0.5)


def test_gamma_weighs_the_alignment():
    def network(_, noisy, *__):
        return torch.arange(2.0).view(2, 1, 1) * torch.ones_like(noisy)

    def loss(weight):
        objective = objective_for(Settings(alignment_weight=weight))
        return float(objective.loss(network, table_of(50), torch.Generator().manual_seed(0)))

    # The numbers disagree by 1, the heads not at all: softmax does not see a constant.
    assert loss(5.0) - loss(0.0) == pytest.approx(5 * N_NUMBERS / (N_NUMBERS + len(SIZES)), rel=1e-4)


def test_holes_are_padded_with_the_mean_of_their_column():
    layout = Layout(1, (2,))
    encoded = Encoded(
        layout,
        np.array([[1.0], [3.0], [99.0], [8.0]], dtype=np.float32),
        np.array([[0], [1], [1], [77]]),
        np.array([[0, 0], [0, 0], [1, 0], [0, 1]], dtype=bool),
    )
    heads = Heads(layout.cardinalities)
    unscaled = Scale.none(1)
    table = Padding.learn(encoded, heads, unscaled).table(encoded, heads, unscaled)
    torch.testing.assert_close(table.numbers, torch.tensor([[1.0], [3.0], [4.0], [8.0]]))
    third = 1 / 3
    expected = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [third, 2 * third]])
    torch.testing.assert_close(table.levels, expected)
