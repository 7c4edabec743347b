"""How far others are believed beside the networks, learnt from cells that were held out."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["FAIR", "USUAL", "trust"]

USUAL = 0.3
"""What is expected as long as nothing is known."""
FAIR = 0.85
"""Of what held-out cells say: networks that are held off them have learnt from less than the others."""
_CELLS = 30  # that this counts for
_CELLS_A_COLUMN = 100  # that all columns together count for in each of them


def trust(
    networks: Tensor,
    others: Tensor,
    truth: Tensor,
    held: Tensor,
    column: Tensor,
    noise: Tensor,
    *,
    fair: float = FAIR,
) -> Tensor:
    """Find the mixture of two estimates that has the least squared error, for each column.

    Few cells tell little about a column, so each leans on all others, and all of them on what is usual.

    Parameters
    ----------
    noise
        How much of the squared error of ``networks`` is chance that cancels out among those that will be asked.
    fair
        Which share of what comes out is believed.

    Shape
    -----
    Estimates and ``truth`` (…, n_numbers + n_levels), ``held`` (…, n_columns) bool, ``column`` (n_numbers + n_levels,)
    the column of each value, ``noise`` (n_columns,). Result (n_columns,), 0 for networks and 1 for the others alone.

    Examples
    --------
    >>> truth = torch.zeros(1000, 1)
    >>> where, one = torch.ones(1000, 1, dtype=torch.bool), torch.tensor([0])
    >>> trust(truth + 0.1, truth - 0.2, truth, where, one, torch.zeros(1)).item() > 0.25
    True
    """
    networks, others, truth = networks.double(), others.double(), truth.double()
    apart, wrong, counted = networks - others, networks - truth, held[..., column]

    def by_column(per_value: Tensor) -> Tensor:
        summed = (per_value * counted).flatten(0, -2).sum(0)
        return torch.zeros(held.shape[-1], dtype=summed.dtype, device=summed.device).index_add(
            0, column, summed
        )

    chance = noise.double() * held.flatten(0, -2).sum(0)
    gain, size = by_column(wrong * apart) - chance, (by_column(apart**2) - chance).clamp(min=0.0)
    a_cell = size.sum() / held.sum().clamp(min=1)
    if not a_cell > 0:  # they say the same
        return torch.full_like(noise, USUAL)
    usual = (gain.sum() + _CELLS * a_cell * USUAL) / (size.sum() + _CELLS * a_cell)
    leaning = _CELLS_A_COLUMN * a_cell
    return fair * ((gain + leaning * usual) / (size + leaning)).clamp(0.0, 1.0).to(noise.dtype)
