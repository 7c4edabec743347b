"""Noise schedules: how much of a value is left after t diffusion steps.

Everything else about the diffusion follows from ``alpha_bar``, which is computed in float64 because
the differences ``1 - alpha_bar`` that matter at small t are lost in float32.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Schedule"]

_MAX_BETA = 0.999  # keeps alpha_bar above 0, so that every posterior is defined


@dataclass(frozen=True)
class Schedule:
    """The share of signal ``alpha_bar[t]`` that is left after t steps; ``alpha_bar[0]`` is 1.

    Shape
    -----
    ``alpha_bar`` (T + 1,) float64, falling.

    Examples
    --------
    >>> schedule = Schedule.named("cosine", 10)
    >>> schedule.n_steps, round(float(schedule.alpha_bar[5]), 3)
    (10, 0.494)
    """

    alpha_bar: Tensor

    @classmethod
    def named(cls, name: str, n_steps: int) -> Schedule:
        """Make the cosine schedule of Nichol and Dhariwal, or the linear one of Ho et al."""
        t = torch.arange(n_steps + 1, dtype=torch.float64)
        if name == "cosine":
            signal = torch.cos((t / n_steps + 0.008) / 1.008 * math.pi / 2) ** 2
            beta = 1 - signal[1:] / signal[:-1]
        elif name == "linear":
            # The published range is for 1000 steps; shorter diffusions take longer strides.
            beta = torch.linspace(1e-4, 0.02, n_steps, dtype=torch.float64) * (1000 / n_steps)
        else:
            raise ValueError(f"schedule must be 'cosine' or 'linear', got {name!r}")
        alpha_bar = torch.cumprod(1 - beta.clamp(max=_MAX_BETA), dim=0)
        return cls(torch.cat([torch.ones(1, dtype=torch.float64), alpha_bar]))

    @property
    def n_steps(self) -> int:
        """The length T of the diffusion."""
        return len(self.alpha_bar) - 1

    def signal(self, t: int, s: int = 0) -> float:
        """Give the share of signal at t that was there at the earlier step s."""
        return float(self.alpha_bar[t] / self.alpha_bar[s])

    def descent(self, n_strides: int | None = None) -> list[tuple[int, int]]:
        """List the pairs (t, s) that lead from T down to 0 in ``n_strides`` strides.

        Examples
        --------
        >>> Schedule.named("cosine", 10).descent(3)
        [(10, 7), (7, 3), (3, 0)]
        """
        stops = torch.linspace(self.n_steps, 0, (n_strides or self.n_steps) + 1, dtype=torch.float64)
        path: list[int] = stops.round().int().tolist()
        return list(itertools.pairwise(path))
