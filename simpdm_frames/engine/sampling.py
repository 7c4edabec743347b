"""Imputing: Algorithm 2 of the paper, for numbers and categories, and its short cut.

A row's fill depends on the model, the seed, the row and its key alone. Noise comes from
``noise``, and every pass through the network has the same height, because a matrix product of
another height may be rounded in another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.noise import normal, uniform
from simpdm_frames.engine.objective import Network
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.residuals import Residuals
from simpdm_frames.engine.table import Table
from simpdm_frames.settings import Settings

__all__ = ["PASS_HEIGHT", "Adviser", "Sampler", "expectation", "pass_height", "predict"]

PASS_HEIGHT = 1024
"""Rows of a pass through the network, at most; fewer than a model's own height are padded up to it."""
_LARGEST = 2**22  # numbers in a tensor of a pass: memory for more is taken anew each time, which takes longer
_MOST_ROUNDS = 16  # of a draw: beyond it several cells of a row are drawn at once
_ORDER, _DRAWN = -1, -2  # purposes of random numbers; those of the walk count its draws from 0


def pass_height(numbers_a_row: int) -> int:
    """Say how many rows a model takes at a time: fewer of a wide table, and always the same number."""
    height = PASS_HEIGHT
    while height > 64 and height * numbers_a_row > _LARGEST:
        height //= 2
    return height


def predict(
    network: Network, heads: Heads, table: Table, numbers: Tensor, levels: Tensor, t: int
) -> tuple[Tensor, Tensor]:
    """Ask each member once, with something in the place of what is hidden.

    Shape
    -----
    Of the table, ``numbers`` and ``levels`` (members or none, n, …); results: numbers (members, n,
    n_numbers), log-probabilities (members, n, n_levels).
    """
    no_number, no_category = table.missing.tensor_split([table.numbers.shape[-1]], dim=-1)
    no_level = heads.spread(no_category)
    visible = torch.cat([table.numbers.masked_fill(no_number, 0.0), table.levels * (1 - no_level)], dim=-1)
    noisy = torch.cat([numbers * no_number, levels * no_level], dim=-1)
    parts = (part if part.ndim == 3 else part.unsqueeze(0) for part in (visible, noisy, table.missing))
    visible, noisy, missing = parts
    step = torch.full((1, 1, 1), t, device=noisy.device)
    output = network(visible, noisy.unsqueeze(0), step, missing)[0]
    estimate, scores = output.tensor_split([table.numbers.shape[-1]], dim=-1)
    return estimate, heads.log_softmax(scores)


@torch.no_grad()
def expectation(network: Network, heads: Heads, n_steps: int, table: Table) -> tuple[Tensor, Tensor]:
    """Predict in one pass, from the mean of all noises at the end of the diffusion; as ``predict`` otherwise."""
    return predict(network, heads, table, *_mean_of_noise(table, heads), n_steps)


def _mean_of_noise(table: Table, heads: Heads) -> tuple[Tensor, Tensor]:
    numbers = torch.zeros_like(table.numbers)
    return numbers, heads.spread(torch.exp(-heads.log_size)).expand_as(table.levels)


class Adviser(Protocol):
    """Someone who is asked beside the networks."""

    def mix(self, table: Table, numbers: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
        """Mix what others estimate for the holes of some rows with what one has to tell oneself."""


class Sampler:
    """Fill holes by running the diffusion backwards, observed cells clamped at every step.

    With ``start="mean"`` and one step the walk has no noise: it is the network's expectation given what
    is visible.
    """

    def __init__(
        self,
        network: Network,
        gaussian: GaussianDiffusion,
        multinomial: MultinomialDiffusion,
        settings: Settings,
        shares: Tensor,
        residuals: Residuals | None = None,
        height: int = PASS_HEIGHT,
        advisers: Sequence[Adviser] = (),
    ) -> None:
        self.height = height
        self._advisers = advisers
        self._network = network
        self._gaussian = gaussian
        self._multinomial = multinomial
        self._heads = multinomial.heads
        self._descent = gaussian.schedule.descent(settings.sampling_steps)
        self._draws = settings.draws
        self._start = settings.start
        self._shares = shares.view(-1, 1, 1)
        self._residuals = residuals

    @property
    def by_chance(self) -> bool:
        """Whether an estimate depends on the noise."""
        return self._start == "noise" or len(self._descent) > 1

    @torch.no_grad()
    def complete(self, table: Table, keys: Tensor, seed: int) -> tuple[Tensor, Tensor]:
        """Estimate the holes of at most ``height`` rows.

        Shape
        -----
        ``keys`` (n,); results: numbers (n, n_numbers), probabilities (n, n_levels).
        """
        full, full_keys = _padded(table, keys, self.height)
        numbers, probabilities = self._estimate(full, full_keys, seed)
        filled = self._fill(full, full.missing, numbers, probabilities)
        return filled.numbers[: len(table)], filled.levels[: len(table)]

    @torch.no_grad()
    def draw(self, table: Table, keys: Tensor, seed: int) -> tuple[Tensor, Tensor]:
        """Draw the holes of at most ``height`` rows from what is known of them; as ``complete`` otherwise.

        Cell by cell, in a random order of each row, every draw given those before it: so the cells of a
        row fit together. A number is its expectation and an error that scouts made at such an expectation.
        Without scouts the draw is a walk of Algorithm 2.
        """
        full, full_keys = _padded(table, keys, self.height)
        if self._residuals is None:
            by_member, log_levels = self._walk(full, full_keys, seed, 0, "noise")
            race = uniform(seed, full_keys, (_DRAWN, 1), full.levels.shape[1])
            levels = self._multinomial.sample(self._mean(log_levels.exp()).log(), race)
            full = self._fill(full, full.missing, self._mean(by_member), levels)
            return full.numbers[: len(table)], full.levels[: len(table)]
        order = uniform(seed, full_keys, (_ORDER,), full.missing.shape[1])
        turns = _turns(full.missing, order)
        chance = uniform(seed, full_keys, (_DRAWN, 0), full.numbers.shape[1])
        race = uniform(seed, full_keys, (_DRAWN, 1), full.levels.shape[1])
        for turn in range(int(turns.max()) + 1):
            numbers, probabilities = self._estimate(full, full_keys, seed)
            numbers = numbers + self._residuals.draw(numbers, chance)
            levels = self._multinomial.sample(probabilities.log(), race)
            now = turns == turn
            full = self._fill(full, now, numbers, levels)
            full = Table(full.numbers, full.levels, full.missing & ~now)
        return full.numbers[: len(table)], full.levels[: len(table)]

    def _estimate(self, table: Table, keys: Tensor, seed: int) -> tuple[Tensor, Tensor]:
        """Average what all walks and members end at, and mix it with what others tell, one after another."""
        walks = [self._walk(table, keys, seed, number, self._start) for number in range(self._draws)]
        numbers = torch.stack([self._mean(walk[0]) for walk in walks]).mean(0)
        probabilities = torch.stack([self._mean(walk[1].exp()) for walk in walks]).mean(0)
        for adviser in self._advisers:
            numbers, probabilities = adviser.mix(table, numbers, probabilities)
        return numbers, probabilities

    def _mean(self, by_member: Tensor) -> Tensor:
        """Average over members, each by its share."""
        return (by_member * self._shares).sum(0)

    def _walk(self, table: Table, keys: Tensor, seed: int, number: int, start: str) -> tuple[Tensor, Tensor]:
        """Walk once from the start to an estimate, with each member.

        Shape
        -----
        Results: numbers (members, n, n_numbers), log-probabilities (members, n, n_levels).
        """
        n_numbers, n_levels = table.numbers.shape[1], table.levels.shape[1]
        last = self._gaussian.schedule.n_steps
        if start == "mean":
            numbers, levels = _mean_of_noise(table, self._heads)
        else:
            numbers = normal(seed, keys, (number, last, 0), n_numbers)
            flat = torch.zeros_like(table.levels)
            levels = self._multinomial.sample(flat, uniform(seed, keys, (number, last, 1), n_levels))
        for t, s in self._descent:
            estimate, log_levels = predict(self._network, self._heads, table, numbers, levels, t)
            if s == 0:
                break
            mean, variance = self._gaussian.q_posterior(estimate, numbers, t, s)
            numbers = mean + variance**0.5 * normal(seed, keys, (number, s, 0), n_numbers)
            log_levels = self._multinomial.q_posterior(log_levels, levels.log(), t, s)
            levels = self._multinomial.sample(log_levels, uniform(seed, keys, (number, s, 1), n_levels))
        return estimate, log_levels

    def _fill(self, table: Table, cells: Tensor, numbers: Tensor, levels: Tensor) -> Table:
        """Put estimates into some cells."""
        some_numbers, some_categories = cells.tensor_split([numbers.shape[1]], dim=1)
        return Table(
            torch.where(some_numbers, numbers, table.numbers),
            torch.where(self._heads.spread(some_categories).bool(), levels, table.levels),
            table.missing,
        )


def _padded(table: Table, keys: Tensor, height: int) -> tuple[Table, Tensor]:
    """Add empty rows up to the height of a pass."""
    lacking = height - len(table)
    parts = (table.numbers, table.levels, table.missing)
    return Table(*(functional.pad(part, (0, 0, 0, lacking)) for part in parts)), functional.pad(
        keys, (0, lacking)
    )


def _turns(missing: Tensor, order: Tensor) -> Tensor:
    """Say at which turn each missing cell is drawn; -1 for the others.

    Shape
    -----
    ``missing``, ``order`` and the result (n, n_columns).
    """
    rank = order.masked_fill(~missing, 2.0).argsort(1).argsort(1)
    count = missing.sum(1, keepdim=True).clamp(min=1)
    turns = rank * count.clamp(max=_MOST_ROUNDS) // count
    return turns.masked_fill(~missing, -1)
