"""The loss of one training step: Algorithm 1 of the paper, for numbers and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from simpdm_frames.engine.alignment import alignment_loss
from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.masks import Masks, perturbation_strength
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.table import Table
from simpdm_frames.settings import Settings

__all__ = ["Network", "Objective", "View"]


class Network(Protocol):
    """Anything that predicts a table from its hybrid input."""

    def __call__(self, hybrid: Tensor, t: Tensor, condition: Tensor) -> Tensor:
        """Predict the table."""


@dataclass(frozen=True)
class View:
    """What the denoiser is shown of some rows.

    Shape
    -----
    ``hybrid`` (n, n_numbers + n_levels), ``t`` (n,), ``masks`` over (n, n_columns).
    """

    hybrid: Tensor
    t: Tensor
    masks: Masks


class Objective:
    """``L = L_dm1 + L_dm2 + γ L_sa`` (Eq. 10)."""

    def __init__(
        self, settings: Settings, gaussian: GaussianDiffusion, multinomial: MultinomialDiffusion
    ) -> None:
        self.settings = settings
        self.gaussian = gaussian
        self.multinomial = multinomial
        self.heads = multinomial.heads
        self._align = alignment_loss(settings) if settings.alignment_weight else None

    def loss(self, network: Network, rows: Table, generator: torch.Generator) -> Tensor:
        """Draw two channels of some rows and compare what the network makes of them.

        Both channels go through the network in one pass, the second below the first.
        """
        table = rows.twice()
        view = self.view(
            table, Masks.draw(rows.missing, self.settings.mask_rate, generator).twice(), generator
        )
        prediction = network(view.hybrid, view.t, view.masks.condition)
        numbers, log_levels = self.split(prediction)
        # The mean over both channels' rows, so twice it is the sum of the channels' losses.
        loss = 2 * self.denoising_loss(numbers, log_levels, table, view.masks.pseudo)
        if self._align is not None:
            outputs = torch.cat([numbers, log_levels.exp()], dim=1)
            loss = loss + self.settings.alignment_weight * self._align(*outputs.chunk(2))
        return loss

    def view(self, table: Table, masks: Masks, generator: torch.Generator) -> View:
        """Make the hybrid input (Eq. 9) with augmentation (Eq. 11), each row at a step of its own."""
        n, device = len(table), table.missing.device
        n_numbers = table.numbers.shape[1]
        t = torch.randint(1, self.gaussian.schedule.n_steps + 1, (n,), generator=generator, device=device)
        noise = torch.randn(table.numbers.shape, generator=generator, device=device)
        unknown, unknown_category = masks.condition.tensor_split([n_numbers], dim=1)
        numbers = torch.where(unknown, self.gaussian.q_sample(table.numbers, t, noise), table.numbers)
        log_keep = self.multinomial.log_alpha_bar[t].unsqueeze(1) * unknown_category
        strength = perturbation_strength(masks, self.settings)
        if strength is not None:
            strength_number, strength_category = strength.tensor_split([n_numbers], dim=1)
            xi = torch.randn(table.numbers.shape, generator=generator, device=device)
            numbers = numbers + xi * strength_number
            # Random state transformation: jumps at rate p, so a category is kept with exp(-p).
            log_keep = log_keep - strength_category
        if table.levels.shape[1]:
            chance = torch.rand(table.levels.shape, generator=generator, device=device)
            levels = self.multinomial.sample(
                self.multinomial.transition(table.levels.log(), log_keep),
                chance.clamp(min=torch.finfo(chance.dtype).tiny),
            )
            return View(torch.cat([numbers, levels], dim=1), t, masks)
        return View(numbers, t, masks)

    def split(self, prediction: Tensor) -> tuple[Tensor, Tensor]:
        """Split a network's output into numbers and log-probabilities of the levels."""
        numbers, scores = prediction.tensor_split([prediction.shape[1] - self.heads.n_levels], dim=1)
        return numbers, self.heads.log_softmax(scores)

    def denoising_loss(self, numbers: Tensor, log_levels: Tensor, table: Table, pseudo: Tensor) -> Tensor:
        """Squared error and cross-entropy on pseudo-missing cells (Eq. 8), as a mean over all cells."""
        hidden, hidden_category = pseudo.tensor_split([numbers.shape[1]], dim=1)
        error = ((numbers - table.numbers) ** 2 * hidden).sum()
        if log_levels.shape[1]:
            error = error - (log_levels * table.levels * self.heads.spread(hidden_category)).sum()
        return error / pseudo.numel()
