"""Numbers stretched where they crowd."""

from __future__ import annotations

import pytest
import torch

from simpdm_frames.engine.stretch import KNOTS, learn_stretch, stretch


def seen(numbers):
    return torch.zeros(numbers.shape, dtype=torch.bool)


def learn(numbers, ranks):
    return learn_stretch(numbers, seen(numbers), ranks)


@pytest.fixture
def crowded():
    """Two columns: most numbers within a small part of the range, and few values."""
    random = torch.Generator().manual_seed(0)
    skewed = torch.randn(5000, generator=random).mul(2).exp()
    few = torch.randint(3, (5000,), generator=random).float()
    numbers = torch.stack([skewed, few], dim=1)
    return (numbers - numbers.mean(0)) / numbers.std(0)


def test_without_ranks_numbers_stay_where_they_are(crowded):
    assert torch.allclose(stretch(crowded, *learn(crowded, 0.0)), crowded, atol=1e-4)


def test_by_ranks_alone_places_are_those_of_a_normal_distribution(crowded):
    placed = stretch(crowded, *learn(crowded, 1.0))[:, 0]
    levels = torch.tensor([0.1, 0.25, 0.5, 0.75, 0.9])
    assert torch.allclose(placed.quantile(levels), torch.special.ndtri(levels), atol=0.05)


@pytest.mark.parametrize("ranks", [0.0, 0.5, 1.0])
def test_order_is_kept_also_beyond_what_was_seen(crowded, ranks):
    knots, places = learn(crowded, ranks)
    far = torch.linspace(-100, 100, 4001).unsqueeze(1).expand(-1, 2)
    assert (stretch(far, knots, places).diff(dim=0) > 0).all()


def test_beyond_what_was_seen_a_step_is_as_long_as_before(crowded):
    knots, places = learn(crowded, 1.0)
    ends = torch.stack([crowded.amin(0) - 7, crowded.amax(0) + 7])
    inner = torch.stack([crowded.amin(0), crowded.amax(0)])
    moved = stretch(ends, knots, places) - stretch(inner, knots, places)
    assert torch.allclose(moved, torch.tensor([[-7.0], [7.0]]).expand(2, 2), atol=1e-3)


def test_values_of_a_column_with_few_of_them_are_told_apart_exactly(crowded):
    knots, places = learn(crowded, 1.0)
    values = crowded[:, 1].unique()
    assert torch.equal(knots[1, :3], values)
    placed = stretch(values.unsqueeze(1).expand(-1, 2), knots, places)[:, 1]
    assert torch.allclose(placed, places[1, :3], atol=1e-5)


def test_holes_are_not_looked_at(crowded):
    missing = seen(crowded)
    missing[::2] = True
    spoiled = torch.where(missing, 1e9, crowded)
    for part, other in zip(
        learn_stretch(spoiled, missing, 0.5), learn_stretch(crowded[1::2], missing[1::2], 0.5), strict=True
    ):
        assert torch.equal(part, other)


@pytest.mark.parametrize("value", [0.0, 1e8, -1e30])
def test_a_column_of_one_value_has_one_place_halfway_to_the_middle(value):
    numbers = torch.full((4, 1), value)
    knots, places = learn(numbers, 0.5)
    assert knots.shape == places.shape == (1, KNOTS)
    assert torch.equal(stretch(numbers, knots, places), numbers / 2)


def test_rows_do_not_depend_on_those_beside_them(crowded):
    knots, places = learn(crowded, 0.5)
    together = stretch(crowded.view(10, 500, 2), knots, places).view(-1, 2)
    alone = torch.cat([stretch(row, knots, places) for row in crowded.split(1)])
    assert torch.equal(together, alone)
