"""Imputing: Algorithm 2 of the paper, for numbers and categories.

A row's fill depends on the model, the seed, the row and its key alone. Noise comes from
``noise``, and every pass through the network has the same height, because a matrix product of
another height may be rounded in another way.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.noise import normal, uniform
from simpdm_frames.engine.objective import Network
from simpdm_frames.engine.table import Table

__all__ = ["PASS_HEIGHT", "Sampler"]

PASS_HEIGHT = 256
"""Rows of each pass through the network; fewer are padded up to it."""


class Sampler:
    """Fill holes by running the diffusion backwards, observed cells clamped at every step."""

    def __init__(
        self,
        network: Network,
        gaussian: GaussianDiffusion,
        multinomial: MultinomialDiffusion,
        *,
        n_strides: int | None,
        draws: int,
    ) -> None:
        self._network = network
        self._gaussian = gaussian
        self._multinomial = multinomial
        self._heads = multinomial.heads
        self._descent = gaussian.schedule.descent(n_strides)
        self._draws = draws

    @torch.no_grad()
    def complete(self, table: Table, keys: Tensor, seed: int) -> tuple[Tensor, Tensor]:
        """Fill the holes of at most ``PASS_HEIGHT`` rows.

        Shape
        -----
        ``keys`` (n,); results: numbers (n, n_numbers), probabilities (n, n_levels).
        """
        n = len(table)
        padding = (0, 0, 0, PASS_HEIGHT - n)
        full = Table(
            functional.pad(table.numbers, padding),
            functional.pad(table.levels, padding),
            functional.pad(table.missing, padding),
        )
        full_keys = functional.pad(keys, (0, PASS_HEIGHT - n))
        draws = [self._draw(full, full_keys, seed, draw) for draw in range(self._draws)]
        numbers = torch.stack([draw[0] for draw in draws]).mean(0)[:n]
        probabilities = torch.stack([draw[1] for draw in draws]).mean(0)[:n]
        no_number, no_category = table.missing.tensor_split([numbers.shape[1]], dim=1)
        return (
            torch.where(no_number, numbers, table.numbers),
            torch.where(self._heads.spread(no_category).bool(), probabilities, table.levels),
        )

    def _draw(self, table: Table, keys: Tensor, seed: int, draw: int) -> tuple[Tensor, Tensor]:
        """Walk once from noise to an estimate."""
        n_numbers, n_levels = table.numbers.shape[1], table.levels.shape[1]
        no_number, no_category = table.missing.tensor_split([n_numbers], dim=1)
        no_level = self._heads.spread(no_category).bool()
        last = self._gaussian.schedule.n_steps
        numbers = normal(seed, keys, (draw, last, 0), n_numbers)
        flat = torch.zeros_like(table.levels)
        levels = self._multinomial.sample(flat, uniform(seed, keys, (draw, last, 1), n_levels))
        for t, s in self._descent:
            numbers = torch.where(no_number, numbers, table.numbers)
            levels = torch.where(no_level, levels, table.levels)
            step = torch.full((len(table),), t, device=keys.device)
            output = self._network(torch.cat([numbers, levels], dim=1), step, table.missing)
            estimate, scores = output.tensor_split([n_numbers], dim=1)
            log_levels = self._heads.log_softmax(scores)
            if s == 0:
                break
            mean, variance = self._gaussian.q_posterior(estimate, numbers, t, s)
            numbers = mean + variance**0.5 * normal(seed, keys, (draw, s, 0), n_numbers)
            log_levels = self._multinomial.q_posterior(log_levels, levels.log(), t, s)
            levels = self._multinomial.sample(log_levels, uniform(seed, keys, (draw, s, 1), n_levels))
        return estimate, log_levels.exp()
