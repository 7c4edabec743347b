"""Softmax heads of different sizes, side by side in one tensor.

The levels of all categorical columns lie beside each other in one (n, n_levels) tensor. Every
operation per head is one tensor operation over all of them: sums are a product with a 0/1 matrix,
maxima a gather into a rectangle that is padded with the head's own first level, which changes no
maximum.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["Heads"]


class Heads:
    """The heads of a table and what can be computed per head.

    Shape
    -----
    *Per level* means (n, n_levels), *per head* means (n, n_heads).

    Examples
    --------
    >>> heads = Heads((2, 3))
    >>> heads.softmax(torch.zeros(1, 5)).tolist()[0][:2]
    [0.5, 0.5]
    """

    def __init__(self, cardinalities: Sequence[int], device: str = "cpu") -> None:
        self.cardinalities = tuple(cardinalities)
        sizes = torch.tensor(self.cardinalities, dtype=torch.int64)
        n_heads, n_levels = len(sizes), int(sizes.sum())
        starts = sizes.cumsum(0) - sizes
        head_of_level = torch.repeat_interleave(torch.arange(n_heads), sizes)
        place = torch.arange(max(self.cardinalities, default=1))
        rectangle = starts.unsqueeze(1) + torch.where(place < sizes.unsqueeze(1), place, 0)
        self.n_levels = n_levels
        self._n_heads = n_heads
        self._starts = starts.to(device)
        self._head_of_level = head_of_level.to(device)
        self._rectangle = rectangle.reshape(-1).to(device)
        self._members = torch.nn.functional.one_hot(head_of_level, max(n_heads, 1)).float().to(device)
        self._members = self._members[:, :n_heads]
        self.log_size = sizes.double().log().float().to(device)
        self.log_size_of_level = self.spread(self.log_size)

    def spread(self, per_head: Tensor) -> Tensor:
        """Repeat a value per head for each of its levels."""
        return per_head.index_select(-1, self._head_of_level)

    def sum(self, per_level: Tensor) -> Tensor:
        """Sum the levels of each head."""
        return per_level @ self._members

    def max(self, per_level: Tensor) -> Tensor:
        """Take the largest level of each head."""
        return self._as_rectangle(per_level).amax(-1)

    def argmax(self, per_level: Tensor) -> Tensor:
        """Take the position of the largest level of each head, counted inside the head."""
        return self._as_rectangle(per_level).argmax(-1)

    def one_hot(self, codes: Tensor) -> Tensor:
        """Turn a code per head into ones and zeros per level."""
        hot = torch.zeros(len(codes), self.n_levels, device=codes.device)
        return hot.scatter_(1, codes + self._starts, 1.0)

    def logsumexp(self, per_level: Tensor) -> Tensor:
        """Log of the summed exponentials of each head, safe for any finite range of values."""
        top = self.max(per_level.detach())
        return self.sum((per_level - self.spread(top)).exp()).log() + top

    def log_softmax(self, scores: Tensor) -> Tensor:
        """Normalise each head to a distribution, in log space."""
        return scores - self.spread(self.logsumexp(scores))

    def softmax(self, scores: Tensor) -> Tensor:
        """Normalise each head to a distribution."""
        return self.log_softmax(scores).exp()

    def _as_rectangle(self, per_level: Tensor) -> Tensor:
        width = max(self.cardinalities, default=1)
        return per_level.index_select(1, self._rectangle).view(len(per_level), self._n_heads, width)
