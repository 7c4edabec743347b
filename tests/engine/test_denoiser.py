import pytest
import torch

from simpdm_frames.encoded import Layout
from simpdm_frames.engine import denoiser
from simpdm_frames.engine.denoiser import Denoiser
from simpdm_frames.settings import Settings


def network(layout, **options):
    return Denoiser(layout, Settings(width=16, **options), torch.Generator().manual_seed(0))


def ask(net, visible, hidden):
    """Ask once, with nothing where something is hidden."""
    shown = visible.unsqueeze(0)
    step = torch.ones(1, 1, len(visible), dtype=torch.int64)
    return net(shown, torch.zeros_like(shown).unsqueeze(0), step, hidden.unsqueeze(0))[0, 0]


@torch.no_grad()
def test_a_chain_can_be_the_conditional_mean_of_a_gaussian_whatever_is_hidden():
    precision = torch.tensor([[2.0, 0.6, 0.3], [0.6, 1.5, -0.4], [0.3, -0.4, 1.0]])
    net = network(Layout(3), chain=60)
    net.chain[0, :, :3] = (-precision / precision.diagonal().unsqueeze(1)).T
    net.head.zero_()
    net.head_bias.zero_()
    truth = torch.tensor([[1.0, -2.0, 0.5]])
    for mask in ([True, False, False], [True, True, False], [False, True, True]):
        hidden = torch.tensor([mask])
        h, v = hidden[0], ~hidden[0]
        expected = -torch.linalg.solve(precision[h][:, h], precision[h][:, v] @ truth[0, v])
        told = ask(net, truth.masked_fill(hidden, 0.0), hidden)[0, h]
        torch.testing.assert_close(told, expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_in_a_chain_no_column_tells_about_itself():
    net = network(Layout(1, (3, 2)), chain=1)
    net.chain.fill_(1.0)
    net.head.zero_()
    net.head_bias.zero_()
    shown = torch.tensor([[5.0, 0, 1, 0, 1, 0]])
    told = ask(net, shown, torch.zeros(1, 3, dtype=torch.bool))
    assert told.tolist() == [[2.0, 6, 6, 6, 6, 6]]


def test_a_chain_is_left_out_of_a_very_wide_table():
    assert network(Layout(200, (56,)), chain=4).chain.numel()
    wide = network(Layout(200, (57,)), chain=4)
    assert not wide.chain.numel()
    assert not wide.others.numel()  # as large as the square of a table's width


@pytest.mark.parametrize("own_rows", [False, True])
def test_columns_that_are_described_in_parts_come_out_as_if_described_at_once(monkeypatch, own_rows):
    net = network(Layout(5), frequencies=3, members=2)
    shown = torch.randn(2 if own_rows else 1, 4, 5, generator=torch.Generator().manual_seed(1))
    asked = (torch.zeros(1, *shown.shape), torch.ones(1, 1, 4, dtype=torch.int64), shown > 0)
    whole = net(shown.masked_fill(shown > 0, 0.0), *asked)
    whole.square().sum().backward()
    slopes = [weight.grad.clone() for weight in net.parameters() if weight.grad is not None]
    net.zero_grad()
    monkeypatch.setattr(denoiser, "_MOST_WAVES", len(shown) * 4 * 2 * 3 * 2)  # two columns
    parts = net(shown.masked_fill(shown > 0, 0.0), *asked)
    parts.square().sum().backward()
    torch.testing.assert_close(parts, whole)
    for weight, slope in zip((w for w in net.parameters() if w.grad is not None), slopes, strict=True):
        torch.testing.assert_close(weight.grad, slope)
