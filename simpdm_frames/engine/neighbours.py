"""Neighbours: estimates from the rows that are most alike.

A network of a few layers smooths over what a table repeats. Rows that nearly repeat each other, or that lie on
a grid, tell more by themselves: a hole is estimated by the mean of its column over other rows, each of which
counts by how much it is like the row in question in what is visible of that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from simpdm_frames.engine.likeness import Laid, Weights, lay_keys, rise, shares, values_of
from simpdm_frames.engine.ragged import even
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.trust import Trust, share_lacking

__all__ = ["SIGNS", "Answer", "Neighbours"]

SIGNS = ("crowd", "spread", "lacking")
"""By what neighbours are believed more or less: how many of them count, how far apart they are, and what a row lacks."""
_QUERIES = 64  # rows that are asked about at a time
_FARTHEST = 1.0  # deviation of a column: who are that far apart know nothing


class Answer(NamedTuple):
    """What neighbours tell about holes, and the signs of how sure they are.

    Shape
    -----
    ``estimates`` (n, n_numbers + n_levels), ``signs`` (n, n_columns, len(SIGNS)).
    """

    estimates: Tensor
    signs: Tensor


@dataclass(frozen=True)
class Neighbours:
    """Rows of a table, and what makes others like them.

    A row says nothing about what it does not know itself; so nothing is told about a hole by the row that has it.

    Parameters
    ----------
    rows
        What is remembered, holes filled with estimates.
    column
        The column of each number and level.
    targets
        The columns that are estimated.
    weights
        One or several sets of weights; what they lead to is averaged.
    trust
        How far neighbours are believed.

    Shape
    -----
    ``rows`` of (n, …), ``column`` (n_numbers + n_levels,).
    """

    rows: Table
    column: Tensor
    targets: Sequence[int]
    weights: Sequence[Weights]
    trust: Trust

    def __len__(self) -> int:
        return len(self.rows)

    def refilled(self, rows: Table) -> Neighbours:
        """Give the same with better estimates in the holes of the rows."""
        return replace(self, rows=rows)

    def mix(self, table: Table, numbers: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
        """Mix what others estimate for the holes of some rows with what neighbours tell.

        Shape
        -----
        ``numbers`` (n, n_numbers), ``probabilities`` (n, n_levels); results likewise.
        """
        others = torch.cat([numbers, probabilities], dim=1)
        answer = self.ask(table, others)
        mixed = others + self.trust.of(answer.signs)[:, self.column] * (answer.estimates - others)
        return mixed[:, : numbers.shape[1]], mixed[:, numbers.shape[1] :]

    @torch.no_grad()
    def ask(self, table: Table, otherwise: Tensor, own: Tensor | None = None) -> Answer:
        """Ask about the holes of some rows.

        Parameters
        ----------
        otherwise
            What stands where there is no hole, or none that neighbours tell about.
        own
            Where each row stands among those remembered, if it is one of them and must not tell about itself.

        Shape
        -----
        ``otherwise`` as the estimates, ``own`` (n,).
        """
        values, seen, result = values_of(table), ~table.missing, otherwise.clone()
        signs = values.new_zeros(*seen.shape, 2)
        told_by, known, laid = self._laid
        for place, target in enumerate(self.targets):
            index = (self.column == target).nonzero().flatten()
            squares = functional.pad(told_by[:, index] ** 2, (0, even(len(index)) - len(index)))
            told = torch.cat([told_by, squares], dim=1)
            for rows in torch.split(table.missing[:, target].nonzero().flatten(), _QUERIES):
                # Always as many rows, because a product of another height may be rounded in another way.
                lacking = _QUERIES - len(rows)
                asked, visible = (functional.pad(part[rows], (0, 0, 0, lacking)) for part in (values, seen))
                selves = None if own is None else functional.pad(own[rows], (0, lacking), value=-1)
                question = (asked, visible, self.column)
                count = [
                    shares(*question, weights.of(place), laid, known[:, target], selves)
                    for weights in self.weights
                ]
                answers = torch.stack([share @ told for share in count])
                means, of_squares = answers[..., : asked.shape[1]], answers[..., told_by.shape[1] :]
                variance = of_squares[..., : len(index)] - means[..., index] ** 2
                estimates = [
                    mean[:, index] + rise(weights.of(place).slope, asked, visible[:, self.column], mean)
                    for weights, mean in zip(self.weights, means, strict=True)
                ]
                result[rows.unsqueeze(1), index] = torch.stack(estimates).mean(0)[: len(rows)]
                crowd = torch.stack([1 / share.square().sum(1) for share in count]).mean(0)
                spread = variance.clamp(min=0.0).sum(-1).mean(0).sqrt()
                sign = (crowd.log() / math.log(max(len(self), 2)), spread.clamp(max=_FARTHEST))
                signs[rows, target] = torch.stack(sign, dim=1)[: len(rows)]
        return Answer(result, torch.cat([signs, share_lacking(table.missing)], dim=-1))

    @cached_property
    def _laid(self) -> tuple[Tensor, Tensor, Laid]:
        """Give values, what is known of them, and their layout, with empty rows and values up to whole vectors: see ``even``."""
        lacking = even(len(self.rows)) - len(self.rows)
        values, known = (
            functional.pad(part, (0, 0, 0, lacking)) for part in (values_of(self.rows), ~self.rows.missing)
        )
        laid = lay_keys(values, known, self.column, self.rows.numbers.shape[1])
        return functional.pad(values, (0, even(values.shape[1]) - values.shape[1])), known, laid
