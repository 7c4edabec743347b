"""Random numbers of the training, from a generator and on its device, in float32 whatever torch's default."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["normal", "uniform"]


def uniform(generator: torch.Generator, *shape: int) -> Tensor:
    """Draw numbers from [0, 1)."""
    return torch.rand(shape, generator=generator, device=generator.device, dtype=torch.float32)


def normal(generator: torch.Generator, *shape: int) -> Tensor:
    """Draw standard normal numbers."""
    return torch.randn(shape, generator=generator, device=generator.device, dtype=torch.float32)
