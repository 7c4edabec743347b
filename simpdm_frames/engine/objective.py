"""The loss of one training step: Algorithm 1 of the paper, for numbers and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from simpdm_frames.encoded import Layout
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
    """What the denoiser is shown of some rows, in two channels that share their masks.

    Shape
    -----
    ``hybrid`` (2, n, n_numbers + n_levels), ``t`` (2, n), ``masks`` over (n, n_columns).
    """

    hybrid: Tensor
    t: Tensor
    masks: Masks


class Objective:
    """``L = L_dm1 + L_dm2 + γ L_sa`` (Eq. 10)."""

    def __init__(
        self,
        settings: Settings,
        layout: Layout,
        gaussian: GaussianDiffusion,
        multinomial: MultinomialDiffusion,
    ) -> None:
        self.settings = settings
        self.gaussian = gaussian
        self.multinomial = multinomial
        self.heads = multinomial.heads
        self._align = alignment_loss(settings, layout.n_columns) if settings.alignment_weight else None

    def loss(self, network: Network, table: Table, generator: torch.Generator) -> Tensor:
        """Show some rows in two channels, both in one pass, and score what the network makes of them."""
        masks = Masks.draw(table.missing, self.settings.mask_rate, generator)
        view = self.view(table, masks, generator)
        output = network(view.hybrid, view.t, masks.condition)
        numbers, scores = output.tensor_split([table.numbers.shape[1]], dim=-1)
        log_levels = self.heads.log_softmax(scores)
        loss = self.denoising_loss(numbers, log_levels, table, masks.pseudo)
        if self._align is not None:
            first, second = torch.cat([numbers, log_levels.exp()], dim=-1)
            loss = loss + self.settings.alignment_weight * self._align(first, second)
        return loss

    def view(self, table: Table, masks: Masks, generator: torch.Generator) -> View:
        """Make the hybrid input (Eq. 9) with augmentation (Eq. 11), each row at a step of its own."""
        device, n_numbers = table.missing.device, table.numbers.shape[1]
        two = (2, len(table))
        t = torch.randint(1, self.gaussian.schedule.n_steps + 1, two, generator=generator, device=device)
        noise = torch.randn(*two, n_numbers, generator=generator, device=device, dtype=torch.float32)
        unknown, unknown_category = masks.condition.tensor_split([n_numbers], dim=1)
        numbers = torch.where(unknown, self.gaussian.q_sample(table.numbers, t, noise), table.numbers)
        log_keep = self.multinomial.log_alpha_bar[t].unsqueeze(-1) * unknown_category
        strength = perturbation_strength(masks, self.settings)
        if strength is not None:
            strength_number, strength_category = strength.tensor_split([n_numbers], dim=1)
            xi = torch.randn(*two, n_numbers, generator=generator, device=device, dtype=torch.float32)
            numbers = numbers + xi * strength_number
            # Random state transformation: jumps at rate p, so a category is kept with exp(-p).
            log_keep = log_keep - strength_category
        if not self.heads.n_levels:
            return View(numbers, t, masks)
        n_levels = self.heads.n_levels
        chance = torch.rand(*two, n_levels, generator=generator, device=device, dtype=torch.float32)
        chance.clamp_(min=torch.finfo(chance.dtype).tiny)  # 0 has no logarithm
        levels = self.multinomial.sample(self.multinomial.transition(table.log_levels, log_keep), chance)
        return View(torch.cat([numbers, levels], dim=-1), t, masks)

    def denoising_loss(self, numbers: Tensor, log_levels: Tensor, table: Table, pseudo: Tensor) -> Tensor:
        """Squared error and cross-entropy on pseudo-missing cells (Eq. 8), summed over the channels.

        A mean over all cells of the table, hidden or not: the weight of a cell does not depend on how
        many others were hidden with it.
        """
        hidden, hidden_category = pseudo.tensor_split([numbers.shape[-1]], dim=1)
        error = ((numbers - table.numbers) ** 2 * hidden).sum()
        if self.heads.n_levels:
            error = error - (log_levels * (table.levels * self.heads.spread(hidden_category))).sum()
        return error / pseudo.numel()
