"""How far estimates of numbers are from the truth, learnt from cells that were held out."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["Residuals"]

_GROUPS = 16  # of estimates of similar size, each with errors of its own …
_PER_GROUP = 30  # … if there are at least so many in each
_POINTS = 65  # of the distribution of the errors of a group


class Residuals:
    """The distribution of the error of each column, given the estimate.

    Estimates that are near to each other make a group. So the errors may grow with the estimate, lean to
    one side or have two peaks.

    Shape
    -----
    ``edges`` (n_numbers, groups - 1) between groups, ``quantiles`` (n_numbers, groups, points) of errors.

    Examples
    --------
    >>> estimate = torch.linspace(0, 1, 200)
    >>> errors = Residuals.learn([(estimate, estimate + 0.5)])
    >>> errors.draw(torch.tensor([[0.2]]), torch.tensor([[0.9]])).tolist()
    [[0.5]]
    """

    def __init__(self, edges: Tensor, quantiles: Tensor) -> None:
        self.edges = edges
        self.quantiles = quantiles

    @classmethod
    def learn(cls, columns: Sequence[tuple[Tensor, Tensor]]) -> Residuals:
        """Learn from estimates and truths of each column."""
        edges = torch.full((len(columns), _GROUPS - 1), float("inf"), dtype=torch.float32)
        quantiles = torch.zeros(len(columns), _GROUPS, _POINTS, dtype=torch.float32)
        points = torch.linspace(0, 1, _POINTS, dtype=torch.float64)
        for place, (estimate, truth) in enumerate(columns):
            order = estimate.argsort()
            n_groups = min(max(len(order) // _PER_GROUP, 1), _GROUPS)
            groups = order.tensor_split(n_groups)
            for group, members in enumerate(groups):
                if len(members):
                    errors = (truth - estimate)[members].double()
                    quantiles[place, group] = torch.quantile(errors, points).float()
                if group:
                    edges[place, group - 1] = (estimate[groups[group - 1][-1]] + estimate[members[0]]) / 2
        return cls(edges, quantiles)

    def to(self, device: str) -> Residuals:
        """Move to a device."""
        return Residuals(self.edges.to(device), self.quantiles.to(device))

    def draw(self, estimate: Tensor, chance: Tensor) -> Tensor:
        """Draw an error for each estimate, by the inverse of its distribution.

        Shape
        -----
        ``estimate``, ``chance`` (in the unit interval) and the result (n, n_numbers).
        """
        group = torch.searchsorted(self.edges, estimate.T.contiguous()).T
        column = torch.arange(estimate.shape[1], device=estimate.device)
        place = chance * (_POINTS - 1)
        below = place.long().clamp(max=_POINTS - 2)
        low, high = self.quantiles[column, group, below], self.quantiles[column, group, below + 1]
        return low + (high - low) * (place - below)
