"""The loss of one training step: Algorithm 1 of the paper, for numbers and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from simpdm_frames.encoded import Layout
from simpdm_frames.engine.alignment import alignment_loss
from simpdm_frames.engine.dice import normal, uniform
from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.masks import Masks, perturbation_strength
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.table import Table
from simpdm_frames.settings import Settings

__all__ = ["Network", "Objective", "View"]


class Network(Protocol):
    """Anything that predicts a table from the two parts of its hybrid input."""

    def __call__(self, visible: Tensor, noisy: Tensor, t: Tensor, condition: Tensor) -> Tensor:
        """Predict the table."""


@dataclass(frozen=True)
class View:
    """What the denoiser is shown of some rows, in two channels that share their masks.

    Shape
    -----
    ``visible`` (…, n, n_numbers + n_levels), zero at hidden cells; ``noisy`` (2, …, n, n_numbers +
    n_levels), zero at visible ones; ``t`` (2, …, n); ``masks`` over (…, n, n_columns).
    """

    visible: Tensor
    noisy: Tensor
    t: Tensor
    masks: Masks

    @property
    def hybrid(self) -> Tensor:
        """The hybrid input of both channels (Eq. 9)."""
        return self.visible + self.noisy


class Objective:
    """``L = L_dm1 + L_dm2 + γ L_sa`` (Eq. 10).

    Parameters
    ----------
    rates
        How often each column is hidden; by default all at the settings' ``mask_rate``.
    """

    def __init__(
        self,
        settings: Settings,
        layout: Layout,
        gaussian: GaussianDiffusion,
        multinomial: MultinomialDiffusion,
        rates: Tensor | None = None,
    ) -> None:
        self.settings = settings
        self.gaussian = gaussian
        self.multinomial = multinomial
        self.heads = multinomial.heads
        self._rates = settings.mask_rate if rates is None else rates
        self._align = alignment_loss(settings, layout.n_columns) if settings.alignment_weight else None

    def loss(self, network: Network, table: Table, generator: torch.Generator) -> Tensor:
        """Show some rows in two channels, both in one pass, and score what the network makes of them."""
        varied = self.settings.masking == "varied"
        masks = Masks.draw(table.missing, self._rates, generator, varied=varied)
        view = self.view(table, masks, generator)
        output = network(view.visible, view.noisy, view.t, masks.condition)
        numbers, scores = output.tensor_split([table.numbers.shape[-1]], dim=-1)
        log_levels = self.heads.log_softmax(scores)
        loss = self.denoising_loss(numbers, log_levels, table, masks.pseudo)
        if self._align is not None:
            first, second = torch.cat([numbers, log_levels.exp()], dim=-1)
            loss = loss + self.settings.alignment_weight * self._align(first, second)
        return loss

    def view(self, table: Table, masks: Masks, generator: torch.Generator) -> View:
        """Make the hybrid input (Eq. 9) with augmentation (Eq. 11), each row at a step of its own.

        Channels differ in what stands in hidden cells. What is added to visible cells is the same in both.
        """
        n_numbers, shape = table.numbers.shape[-1], table.missing.shape[:-1]
        last = self.gaussian.schedule.n_steps
        t = torch.randint(1, last + 1, (2, *shape), generator=generator, device=generator.device)
        unknown, unknown_category = masks.condition.tensor_split([n_numbers], dim=-1)
        visible = table.numbers
        noisy = self.gaussian.q_sample(visible, t, normal(generator, 2, *shape, n_numbers))
        log_keep = self.multinomial.log_alpha_bar[t].unsqueeze(-1) * unknown_category
        strength = perturbation_strength(masks, self.settings)
        strength_category: Tensor | None = None
        if strength is not None:
            strength_number, strength_category = strength.tensor_split([n_numbers], dim=-1)
            visible = visible + normal(generator, *shape, n_numbers) * strength_number
            noisy = noisy + normal(generator, 2, *shape, n_numbers) * strength_number
            # Random state transformation: jumps at rate p, so a category is kept with exp(-p).
            log_keep = log_keep - strength_category
        visible, noisy = visible.masked_fill(unknown, 0.0), noisy.masked_fill(~unknown, 0.0)
        if not self.heads.n_levels:
            return View(visible, noisy, t, masks)
        hidden = self.heads.spread(unknown_category)
        levels = (
            table.levels if strength_category is None else self._jump(table, -strength_category, generator)
        )
        visible = torch.cat([visible, levels * (1 - hidden)], dim=-1)
        noisy = torch.cat([noisy, self._jump(table, log_keep, generator) * hidden], dim=-1)
        return View(visible, noisy, t, masks)

    def _jump(self, table: Table, log_keep: Tensor, generator: torch.Generator) -> Tensor:
        """Keep each category with a probability, else draw it from its levels."""
        chance = uniform(generator, *log_keep.shape[:-1], self.heads.n_levels)
        chance.clamp_(min=torch.finfo(chance.dtype).tiny)  # 0 has no logarithm
        return self.multinomial.sample(self.multinomial.transition(table.log_levels, log_keep), chance)

    def denoising_loss(self, numbers: Tensor, log_levels: Tensor, table: Table, pseudo: Tensor) -> Tensor:
        """Squared error and cross-entropy on pseudo-missing cells (Eq. 8), summed over the channels.

        A mean over all cells of the table, hidden or not: the weight of a cell does not depend on how
        many others were hidden with it.
        """
        hidden, hidden_category = pseudo.tensor_split([numbers.shape[-1]], dim=-1)
        error = ((numbers - table.numbers) ** 2 * hidden).sum()
        if self.heads.n_levels:
            error = error - (log_levels * (table.levels * self.heads.spread(hidden_category))).sum()
        return error / pseudo.numel()
