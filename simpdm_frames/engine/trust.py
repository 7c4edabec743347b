"""How far others are believed beside the networks, learnt from cells that were held out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["USUAL", "Expected", "Trust", "learn_trust", "share_lacking"]

_OF_A_COLUMN = 0.2  # deviation of the share in a column from that in all of them, as far as is expected
_OF_A_SIGN = 0.5  # likewise, what a sign adds
_LEANING = 20  # cells by which the error in a column leans on that in all of them
_CERTAIN = 1e-3  # of the error in all columns: no column is told better than that


@dataclass(frozen=True)
class Expected:
    """What share is expected as long as nothing is known, and how far off that may be: a mean and a deviation."""

    share: float
    deviation: float


USUAL = Expected(0.3, 0.5)


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


def share_lacking(missing: Tensor) -> Tensor:
    """Say, as the only sign, what share of its cells a row lacks: who leans on estimates of the others knows less.

    Shape
    -----
    ``missing`` (…, n_columns), result (…, n_columns, 1).

    Examples
    --------
    >>> share_lacking(torch.tensor([[True, False, True, False]])).flatten().tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    share = missing.sum(-1, keepdim=True).to(torch.float32) / missing.shape[-1]
    return share.expand(*missing.shape).unsqueeze(-1)


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

    A regression of the networks' errors on how far the others are from them, which leans on what is expected. A cell tells
    the less, the larger the errors in its column are where the two are apart: a few cells that are far out would else
    settle what is right for all.

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
    error = of_cells(wrong**2)
    of_columns = size.new_zeros(3, n_columns)
    of_columns.index_add_(1, whose, torch.stack([size, chance, size * error]))
    sizes, chances, errors = of_columns
    # Chance has no more to play with than the two are apart.
    real = (1 - chances / sizes.clamp(min=1e-300)).clamp(min=0.0)
    overall_error = errors.sum() / sizes.sum().clamp(min=1e-300)
    if not overall_error > 0:  # they say the same, or nothing is wrong
        return Trust(
            torch.full((n_columns,), expected.share, device=device, dtype=torch.float32),
            torch.zeros(n_signs, device=device, dtype=torch.float32),
        )
    leaning = _LEANING * size.mean()
    in_column = ((errors + leaning * overall_error) / (sizes + leaning)).clamp(min=_CERTAIN * overall_error)
    weight = ((real > 0) / in_column)[whose]
    told = torch.nn.functional.one_hot(whose, n_columns).to(size.dtype)
    told = torch.cat([torch.ones_like(told[:, :1]), signs[held], told], dim=1)
    deviations = [expected.deviation, *[_OF_A_SIGN] * n_signs, *[_OF_A_COLUMN] * n_columns]
    leans = torch.tensor(deviations, dtype=size.dtype) ** -2
    right = told.T @ (weight * (gain - chance))
    right[0] += leans[0] * expected.share
    left = (told * (weight * size * real[whose]).unsqueeze(1)).T @ told + leans.diag()
    found = torch.linalg.solve(left, right).float().to(device)
    overall, by_sign, by_column = found.split([1, n_signs, n_columns])
    return Trust(overall + by_column, by_sign)
