"""How far others are believed beside the networks, learnt from cells that were held out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["USUAL", "Expected", "Trust", "learn_trust"]

_CELLS_A_COLUMN = 100  # that all columns together count for in each of them
_CELLS_A_SIGN = 10  # that no difference counts for in what each sign says


@dataclass(frozen=True)
class Expected:
    """What is expected as long as nothing is known, and for how many held-out cells that counts."""

    share: float
    cells: int


USUAL = Expected(0.3, 30)


@dataclass(frozen=True)
class Trust:
    """Shares of others in an estimate: 0 for not at all, 1 for nobody else.

    Parameters
    ----------
    columns
        The share in each column.
    signs
        What each sign of certainty adds to it.

    Shape
    -----
    ``columns`` (n_columns,), ``signs`` (n_signs,).

    Examples
    --------
    >>> trust = Trust(torch.tensor([0.5, 0.2]), torch.tensor([-1.0]))
    >>> trust.of(torch.tensor([[[0.25], [0.5]]])).tolist()
    [[0.25, 0.0]]
    """

    columns: Tensor
    signs: Tensor

    @classmethod
    def usual(cls, n_columns: int, n_signs: int, device: torch.device) -> Trust:
        """Believe in all columns as far as is usual."""
        columns = torch.full((n_columns,), USUAL.share, device=device, dtype=torch.float32)
        return cls(columns, torch.zeros(n_signs, device=device, dtype=torch.float32))

    def of(self, signs: Tensor) -> Tensor:
        """Give the share in each cell.

        Shape
        -----
        ``signs`` (…, n_columns, n_signs), result (…, n_columns).
        """
        # A sum, not a product, which might be rounded in another way for another number of rows.
        return (self.columns + (signs * self.signs).sum(-1)).clamp(0.0, 1.0)


def learn_trust(
    networks: Tensor,
    others: Tensor,
    truth: Tensor,
    held: Tensor,
    column: Tensor,
    noise: Tensor,
    signs: Tensor,
    expected: Expected = USUAL,
) -> Trust:
    """Find the mixture of two estimates that has the least squared error.

    A regression of the networks' errors on how far the others are from them. Few cells tell little about a column, so each
    leans on all others, and all of them on what is expected.

    Parameters
    ----------
    noise
        How much of the squared error of ``networks`` is chance that cancels out among those that will be asked.
    signs
        What may tell for each cell how sure the others are.

    Shape
    -----
    Estimates and ``truth`` (…, n_numbers + n_levels), ``held`` (…, n_columns) bool, ``column`` (n_numbers + n_levels,)
    the column of each value, ``noise`` (n_columns,), ``signs`` (…, n_columns, n_signs).

    Examples
    --------
    >>> truth = torch.zeros(1000, 1)
    >>> where, one = torch.ones(1000, 1, dtype=torch.bool), torch.tensor([0])
    >>> trust = learn_trust(truth + 0.1, truth - 0.2, truth, where, one, torch.zeros(1), torch.zeros(1000, 1, 0))
    >>> 0.3 < trust.columns.item() < 0.34
    True
    """
    n_columns, n_signs, device = held.shape[-1], signs.shape[-1], networks.device
    networks, others, truth, noise, signs = (
        part.cpu().double() for part in (networks, others, truth, noise, signs)
    )
    held, column = held.cpu(), column.cpu()
    apart, wrong = networks - others, networks - truth

    def of_cells(per_value: Tensor) -> Tensor:
        """Sum the values of each column, and take the cells that were held out."""
        per_column = per_value.new_zeros(*per_value.shape[:-1], n_columns)
        return per_column.index_add(-1, column, per_value)[held]

    whose = held.nonzero()[:, -1]
    size, gain, chance = of_cells(apart**2), of_cells(wrong * apart), noise[whose]
    sums = size.new_zeros(2, n_columns).index_add(1, whose, torch.stack([size, chance]))
    real = (1 - sums[1] / sums[0].clamp(min=1e-300)).clamp(min=0.0)  # of how far they are apart
    size = size * real[whose]
    # Chance has no more to play with than the better of both is wrong.
    errors = [of_cells((estimates - truth) ** 2).mean() for estimates in (networks, others)]
    a_cell = torch.stack([size.mean(), *errors]).min().clamp(min=1e-6 * size.mean())
    if not a_cell > 0:  # they say the same, or nothing
        size, gain, chance, a_cell = size * 0, gain * 0, chance * 0, torch.ones_like(noise[0])
    told = torch.nn.functional.one_hot(whose, n_columns).to(size.dtype)
    told = torch.cat([torch.ones_like(told[:, :1]), signs[held], told], dim=1)
    leaning = [expected.cells, *[_CELLS_A_SIGN] * n_signs, *[_CELLS_A_COLUMN] * n_columns]
    leans = a_cell * torch.tensor(leaning, dtype=size.dtype)
    right = told.T @ (gain - chance)
    right[0] += leans[0] * expected.share
    found = torch.linalg.solve((told * size.unsqueeze(1)).T @ told + leans.diag(), right).float().to(device)
    overall, by_sign, by_column = found.split([1, n_signs, n_columns])
    return Trust(overall + by_column, by_sign)
