"""Softmax heads of different sizes, side by side in one tensor.

The levels of all categorical columns lie beside each other in one (n, n_levels) tensor. Every
operation per head is one tensor operation over all of them: to sum over a head, or to repeat a value
for its levels, is a product with a matrix of zeros and ones, which for tens of heads is faster than an
indexed copy and its gradient; a maximum is taken over a rectangle that is padded with the head's own first level, which
changes no maximum.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["Heads", "columns_of", "even"]

_LANES = 16  # numbers that a processor adds at once


def even(width: int) -> int:
    """Round the width of a product up to whole vectors.

    What is left over beside whole vectors is summed in an order that depends on the row's position, so
    that a row would not get the same bits everywhere.
    """
    return -(-width // _LANES) * _LANES


def columns_of(n_numbers: int, cardinalities: Sequence[int]) -> Tensor:
    """Say which column each number and each level belongs to.

    Examples
    --------
    >>> columns_of(2, (3,)).tolist()
    [0, 1, 2, 2, 2]
    """
    sizes = torch.tensor([1] * n_numbers + list(cardinalities), dtype=torch.int64)
    return torch.repeat_interleave(torch.arange(len(sizes)), sizes)


class Heads:
    """The heads of a table and what can be computed per head.

    Shape
    -----
    *Per level* means (…, n_levels), *per head* means (…, n_heads).

    Examples
    --------
    >>> heads = Heads((2, 3))
    >>> heads.sum(torch.tensor([[0.25, 0.75, 0.5, 0.5, 1.0]])).tolist()
    [[1.0, 2.0]]
    """

    def __init__(self, cardinalities: Sequence[int], device: str = "cpu") -> None:
        self.cardinalities = tuple(cardinalities)
        sizes = torch.tensor(self.cardinalities, dtype=torch.int64)
        n_heads, n_levels = len(sizes), int(sizes.sum())
        starts = sizes.cumsum(0) - sizes
        head_of_level = torch.repeat_interleave(torch.arange(n_heads), sizes)
        place = torch.arange(max(self.cardinalities, default=1))
        rectangle = starts + torch.where(place.unsqueeze(1) < sizes, place.unsqueeze(1), 0)
        self.n_levels = n_levels
        self._starts = starts.to(device)
        self._rectangle = rectangle.to(device)
        self._members = (head_of_level.unsqueeze(1) == torch.arange(n_heads)).float().to(device)
        # A product of another width may round a row by where it stands, see ``even``.
        self._adding = torch.nn.functional.pad(self._members, (0, even(n_heads) - n_heads))
        self.log_size = sizes.double().log().float().to(device)

    def spread(self, per_head: Tensor) -> Tensor:
        """Repeat a finite value per head for each of its levels."""
        return per_head.to(self._members.dtype) @ self._members.T

    def sum(self, per_level: Tensor) -> Tensor:
        """Sum the levels of each head."""
        return (per_level @ self._adding)[..., : len(self.cardinalities)]

    def max(self, per_level: Tensor) -> Tensor:
        """Take the largest level of each head."""
        return self._per_row(self._rectangles(per_level).amax(0), per_level)

    def argmax(self, per_level: Tensor) -> Tensor:
        """Take the position of the largest level of each head, counted inside the head.

        Of equal ones it is the first, so never a level of the padding.
        """
        return self._per_row(self._rectangles(per_level).max(0).indices, per_level)

    def one_hot(self, codes: Tensor) -> Tensor:
        """Turn a code per head into ones and zeros per level."""
        hot = torch.zeros(*codes.shape[:-1], self.n_levels, device=codes.device, dtype=torch.float32)
        return hot.scatter_(-1, codes + self._starts, 1.0)

    def logsumexp(self, per_level: Tensor) -> Tensor:
        """Log of the summed exponentials of each head, safe for any finite range of values."""
        top = self.max(per_level.detach())
        return self.sum((per_level - self.spread(top)).exp()).log() + top

    def log_softmax(self, scores: Tensor) -> Tensor:
        """Normalise each head to a distribution, in log space."""
        return scores - self.spread(self.logsumexp(scores))

    def _rectangles(self, per_level: Tensor) -> Tensor:
        """Lay the levels out as (place in the head, head, row)."""
        # With rows last, whole rows are copied and compared at once: four times as fast.
        rows_last = per_level.flatten(0, -2).T.contiguous()
        picked = rows_last.index_select(0, self._rectangle.flatten())
        return picked.view(*self._rectangle.shape, rows_last.shape[1])

    def _per_row(self, rows_last: Tensor, like: Tensor) -> Tensor:
        return rows_last.T.reshape(*like.shape[:-1], self._rectangle.shape[1])
