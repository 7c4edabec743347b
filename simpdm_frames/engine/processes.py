"""Processes: estimates from a smooth surface over rows, laid through all of them at once.

A network of a few hundred steps has not learnt all that some thousand rows say about a smooth dependence. A Gaussian
process finds the surface that fits them best, given how fast it may change along each column and how much of a cell is
chance; both are learnt by how likely they make the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from simpdm_frames.encoded import Layout
from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.kernel import Kernel, covariance, learn_kernel, noisy, standard
from simpdm_frames.engine.likeness import values_of
from simpdm_frames.engine.ragged import columns_of, even
from simpdm_frames.engine.stretch import learn_stretch, stretch
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.trust import Expected, Trust, share_lacking

__all__ = ["Processes", "find_processes"]

_HALFWAY = 0.5  # from the value of a number to its rank: steps of either kind may matter
_QUERIES = 64  # rows that are asked about at a time
_WIDEST = 64  # numbers and levels: of more, surfaces tell less and take longer
_FEWEST = 8  # rows that know a column
# More than held-out cells show: rows are filled by scouts alone there, and better later.
_EXPECTED = Expected(0.8, 0.15)


@dataclass(frozen=True)
class Processes:
    """A Gaussian process for each column that lacks numbers, over what all other columns hold.

    Parameters
    ----------
    rows
        What is remembered, holes filled with estimates.
    kept
        Where they stand in the table that they come from.
    column
        The column of each number and level.
    knots, places
        Where numbers are put for the second time, see ``learn_stretch``: half-way to their ranks.
    targets
        The columns that are estimated.
    kernels
        One for each of them.
    trust
        How far processes are believed, by the share of its cells that a row lacks.

    Shape
    -----
    ``rows`` of (n, …), ``kept`` (n,), ``column`` (n_numbers + n_levels,).
    """

    rows: Table
    kept: Tensor
    column: Tensor
    knots: Tensor
    places: Tensor
    targets: Sequence[int]
    kernels: Sequence[Kernel]
    trust: Trust

    def refilled(self, rows: Table) -> Processes:
        """Give the same with better estimates in the holes of the rows."""
        return replace(self, rows=rows)

    def mix(self, table: Table, numbers: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
        """Mix what others estimate for the holes of some rows with what processes tell; levels are left as they are.

        Shape
        -----
        ``numbers`` (n, n_numbers), ``probabilities`` (n, n_levels); results likewise.
        """
        return self.mix_by(self.trust, table, numbers, probabilities)

    def mix_by(
        self, trust: Trust, table: Table, numbers: Tensor, probabilities: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Do so by some other trust."""
        others = torch.cat([numbers, probabilities], dim=1)
        apart = self.ask(table, others)[:, : numbers.shape[1]] - numbers
        shares = trust.of(share_lacking(table.missing))
        return numbers + shares[:, : numbers.shape[1]] * apart, probabilities

    def examined(self, lessons: Lessons, n_rows: int) -> Tensor:
        """Say what they tell about cells that were held out, while their own rows do not know these either.

        Shape
        -----
        ``n_rows`` of the table that rows come from; result as ``lessons.estimates``.
        """
        own = lessons.among(self.kept, n_rows)
        return torch.stack(
            [
                self.refilled(lessons.unlearn(self.rows, own, pair, self.column)).ask(
                    lessons.shown.member(pair), estimates
                )
                for pair, estimates in enumerate(lessons.estimates)
            ]
        )

    @torch.no_grad()
    def ask(self, table: Table, others: Tensor) -> Tensor:
        """Ask about the holes of some rows.

        Parameters
        ----------
        others
            What others estimate, which stands in the holes that are not asked about, and where nobody is to be asked.

        Shape
        -----
        ``others`` and the result (n, n_numbers + n_levels).
        """
        result = others.clone()
        hidden = table.missing[:, self.column]
        n_numbers = table.numbers.shape[1]
        values = torch.where(hidden, others, values_of(table))
        features = _features(values, n_numbers, self.knots, self.places)
        for target, kernel, (keys, weights, centre, spread) in zip(
            self.targets, self.kernels, self._solved, strict=True
        ):
            for rows in torch.split(table.missing[:, target].nonzero().flatten(), _QUERIES):
                # Always as many rows, because a product of another height may be rounded in another way.
                asked = functional.pad(features[rows], (0, 0, 0, _QUERIES - len(rows)))
                told = (covariance(kernel, asked, keys) @ weights)[: len(rows), 0]
                result[rows, target] = (centre + spread * told).to(result)
        return result

    @cached_property
    def _solved(self) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Give for each target the rows that know it, their weights, and the unit; in double, for matrices are inverted."""
        numbers = self.rows.numbers
        features = _features(values_of(self.rows), numbers.shape[1], self.knots, self.places)
        unsure = self.rows.missing.double()
        return [
            _solve(kernel, features[known], unsure[known], numbers[known, target])
            for target, kernel in zip(self.targets, self.kernels, strict=True)
            for known in [~self.rows.missing[:, target]]
        ]


def find_processes(
    table: Table,
    layout: Layout,
    most: int,
    complete: Callable[[Table], Table],
    lessons: Lessons | None,
    generator: torch.Generator,
) -> tuple[Processes, Lessons | None] | None:
    """Lay surfaces through rows, and settle how far to believe them; None where there is nothing to tell.

    Parameters
    ----------
    most
        Rows that are remembered, at most.
    complete
        Fills holes with what others estimate.
    lessons
        What others say about cells that they were held off; None if nobody was.

    Returns
    -------
    processes, lessons
        The lessons as they are when all answer together.
    """
    column = columns_of(layout.n_numbers, layout.cardinalities).to(table.missing.device)
    if not most or len(column) > _WIDEST:
        return None
    kept = torch.randperm(len(table), generator=generator, device=column.device)[:most]
    remembered = complete(table.rows(kept))
    lacking, known = remembered.missing.any(0), (~remembered.missing).sum(0)
    targets = [target for target in range(layout.n_numbers) if lacking[target] and known[target] >= _FEWEST]
    if not targets:
        return None
    knots, places = learn_stretch(table.numbers, table.missing[:, : layout.n_numbers], _HALFWAY)
    trust = Trust.usual(layout.n_columns, 1, column.device)

    def study(rows: Table) -> Processes:
        features = _features(values_of(rows), layout.n_numbers, knots, places)
        kernels = []
        for target in targets:
            knows = ~rows.missing[:, target]
            others = torch.cat([column != target, column[: layout.n_numbers] != target])
            kernels.append(
                learn_kernel(
                    features[knows],
                    rows.missing[knows].double(),
                    rows.numbers[knows, target],
                    others,
                    generator,
                )
            )
        return Processes(rows, kept, column, knots, places, targets, kernels, trust)

    if lessons is None:
        return study(remembered), None
    # What is learnt from a cell cannot be judged by it, so this is learnt without the cells held out.
    own, unlearnt = lessons.among(kept, len(table)), remembered
    for pair in range(len(lessons.estimates)):
        unlearnt = lessons.unlearn(unlearnt, own, pair, column)
    processes = study(unlearnt).refilled(remembered)
    told, signs = processes.examined(lessons, len(table)), share_lacking(lessons.shown.missing)
    trust, lessons = lessons.believe(told, column, signs, _EXPECTED)
    return replace(processes, trust=trust), lessons


def _solve(
    kernel: Kernel, features: Tensor, unsure: Tensor, target: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Weigh rows so that their covariances with another row add up to what is expected of it."""
    y, centre, spread = standard(target)
    factor = torch.linalg.cholesky(noisy(kernel, features, unsure))
    weights = torch.cholesky_solve(y.unsqueeze(1), factor)
    lacking = even(len(features)) - len(features)  # whole vectors: see ``even``
    keys = functional.pad(features, (0, 0, 0, lacking))
    return keys, functional.pad(weights, (0, even(1) - 1, 0, lacking)), centre, spread


def _features(values: Tensor, n_numbers: int, knots: Tensor, places: Tensor) -> Tensor:
    """Give what surfaces lie over: numbers, levels, and the places of numbers between value and rank.

    Shape
    -----
    ``values`` (n, n_numbers + n_levels), result (n, 2 n_numbers + n_levels).
    """
    return torch.cat([values, stretch(values[:, :n_numbers], knots, places)], dim=1).double()
