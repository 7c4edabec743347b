"""Numbers stretched where they crowd: waves then tell small ones apart beside a few that are large.

A column of incomes has most of its values within a tenth of its range, where waves of the plain values can hardly
tell them apart. By their ranks alone, all values are told apart alike, but how far apart they are is lost. In
between lies a scale that keeps something of both.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["KNOTS", "learn_stretch", "stretch"]

KNOTS = 64
"""Numbers of a column whose places are known; between them, places lie on a line."""
_STUDIED = 65_536  # rows


def learn_stretch(numbers: Tensor, missing: Tensor, ranks: float) -> tuple[Tensor, Tensor]:
    """Find the place of each number: between its value and the normal score of its rank.

    Parameters
    ----------
    numbers
        In deviations from the mean of their column.
    ranks
        How far from the value to the score the place lies, from 0 to 1.

    Shape
    -----
    ``numbers`` and ``missing`` (n, n_numbers); knots and their places (n_numbers, ``KNOTS``), knots in order.

    Examples
    --------
    >>> numbers = torch.tensor([[0.0], [1.0], [2.0], [1000.0]])
    >>> knots, places = learn_stretch(numbers, torch.zeros(4, 1).bool(), ranks=1.0)
    >>> [round(place, 2) for place in stretch(numbers, knots, places).flatten().tolist()]
    [-1.15, -0.32, 0.32, 1.15]
    """
    every = -(-len(numbers) // _STUDIED)
    knots, places = (torch.empty(numbers.shape[1], KNOTS, dtype=torch.float32) for _ in range(2))
    for column in range(numbers.shape[1]):
        seen = numbers[:, column][~missing[:, column]][::every].cpu()
        values, counts = torch.unique(seen, return_counts=True)
        values = values.double()
        below = (counts.cumsum(0) - counts / 2).double() / counts.sum()
        score = torch.special.ndtri(below)
        if len(values) > KNOTS:
            even = torch.linspace(float(below[0]), float(below[-1]), KNOTS, dtype=torch.float64)
            chosen = torch.unique(torch.searchsorted(below, even).clamp(max=len(values) - 1))
            values, score = values[chosen], score[chosen]
        place = values + ranks * (score - values)
        # What is beyond the last knot goes on as it was.
        beyond = torch.arange(1, KNOTS - len(values) + 1, dtype=torch.float64)
        knots[column] = torch.cat([values, values[-1:] + beyond])
        places[column] = torch.cat([place, place[-1:] + beyond])
    return knots.to(numbers.device), places.to(numbers.device)


def stretch(numbers: Tensor, knots: Tensor, places: Tensor) -> Tensor:
    """Put numbers at their places.

    Shape
    -----
    ``numbers`` and the result (…, n_numbers); ``knots`` and ``places`` by ``learn_stretch``.
    """
    by_column = numbers.movedim(-1, 0)
    value = by_column.flatten(1).contiguous()
    inside = value.clamp(knots[:, :1], knots[:, -1:])
    right = torch.searchsorted(knots, inside).clamp(1, knots.shape[1] - 1)
    (low, high), (first, last) = ((of.gather(1, right - 1), of.gather(1, right)) for of in (knots, places))
    way = (inside - low) / (high - low).clamp(min=torch.finfo(low.dtype).tiny)  # knots may be equal, far out
    return (torch.lerp(first, last, way) + (value - inside)).view(by_column.shape).movedim(0, -1)
