"""Masks of a training step, and the strength of perturbation that each state of a cell gets."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from simpdm_frames.engine.dice import uniform
from simpdm_frames.settings import Settings

__all__ = ["Masks", "perturbation_strength"]


@dataclass(frozen=True)
class Masks:
    """Which cells are missing, which are hidden for this step, and which the denoiser may not see.

    Shape
    -----
    All (…, n, n_columns) bool: ``missing`` m, ``pseudo`` m_p, ``condition`` m_c.
    """

    missing: Tensor
    pseudo: Tensor

    @classmethod
    def draw(
        cls, missing: Tensor, rate: Tensor | float, generator: torch.Generator, *, varied: bool = False
    ) -> Masks:
        """Hide a share ``rate`` of the observed cells: ``m_p ~ Bernoulli((1 - m) r_m)``.

        Parameters
        ----------
        rate
            One number, or one for each column.
        varied
            Draw the rate of each row anew, evenly between 0 and twice the rate: a network then meets rows
            that lack a single cell and rows that lack most.
        """
        chance = uniform(generator, *missing.shape)
        if varied:
            rate = rate * uniform(generator, *missing.shape[:-1], 1).mul_(2)
        return cls(missing, (chance < rate) & ~missing)

    @property
    def condition(self) -> Tensor:
        """The cells whose value the denoiser has to tell: ``m_c = m + m_p``."""
        return self.missing | self.pseudo


def perturbation_strength(masks: Masks, settings: Settings) -> Tensor | None:
    """Give the strength p of the extra noise for each cell (Eq. 11), or None for no augmentation.

    The states are read as the prose of Sec. 4.3 means them: observed cells are ``1 - m_c``, pseudo-
    missing ones ``m_p``, missing ones ``m``.

    Shape
    -----
    Result (…, n, n_columns).
    """
    if settings.augmentation == "none":
        return None
    strength = torch.empty(masks.missing.shape, device=masks.missing.device, dtype=torch.float32)
    if settings.augmentation == "strong":
        return strength.fill_(settings.p_ms)
    strength.fill_(settings.p_gt)
    if settings.augmentation == "state":
        strength.masked_fill_(masks.pseudo, settings.p_pm).masked_fill_(masks.missing, settings.p_ms)
    return strength
