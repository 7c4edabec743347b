"""Clusters: estimates from a few Gaussians that rows are taken to come from.

A hundred rows are too few for a network to find more in them than a line and some noise. What they often do show is
that they are of a few sorts, and how columns hang together in each. Mixtures of Gaussians say just that, and what they
expect of a hole, given what is visible of its row, has a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from simpdm_frames.encoded import Layout
from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.likeness import values_of
from simpdm_frames.engine.ragged import columns_of
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.trust import Expected, Trust

__all__ = ["Clusters", "Mixture", "expect", "find_clusters", "fit_mixture"]

_SIZES = (2, 3, 4, 6, 8, 12)  # Gaussians of a mixture; nobody knows the right number, so all are averaged
_FEWEST_ROWS = 20  # that a Gaussian has to itself
_ROUNDS = 15  # of expectation and maximisation; more of them change nothing
_ROUNDS_TO_START = 8
_BORROWED = 10.0  # rows by which each Gaussian leans on the shape that all have in common
_ROUNDING = 1e-3  # added to each variance: no Gaussian is a point
_EXPECTED = 0.9  # trust in them: few rows leave few cells to judge by, and networks less to learn
_OFF = 0.1  # by so much that may be off where there are …
_FEW = 200  # … so many rows, and with more of them by more
_WIDEST = 24  # numbers and levels: matrices are of their square, and there are many
_AT_ONCE = 2**22  # cells of matrices


class Mixture(NamedTuple):
    """Gaussians, and how many of the rows come from each.

    Shape
    -----
    ``means`` (k, d), ``covariances`` (k, d, d), ``log_shares`` (k,).
    """

    means: Tensor
    covariances: Tensor
    log_shares: Tensor


@dataclass(frozen=True)
class Clusters:
    """Mixtures of Gaussians over numbers and levels, which estimate numbers.

    Parameters
    ----------
    mixtures
        What they expect is averaged.
    column
        The column of each number and level.
    trust
        How far they are believed in each column: 0 for not at all, 1 for nobody else.

    Shape
    -----
    ``column`` (n_numbers + n_levels,), ``trust`` (n_columns,).
    """

    mixtures: Sequence[Mixture]
    column: Tensor
    trust: Tensor

    def mix(self, table: Table, numbers: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
        """Mix what others estimate for the holes of some rows with what clusters expect; levels are left as they are.

        Shape
        -----
        ``numbers`` (n, n_numbers), ``probabilities`` (n, n_levels); results likewise.
        """
        trust = self.trust[: numbers.shape[1]]
        return numbers + trust * (self.estimate(table)[:, : len(trust)] - numbers), probabilities

    def estimate(self, table: Table) -> Tensor:
        """Say what is expected of each number and level; what is visible is expected as it is.

        Shape
        -----
        Result (n, n_numbers + n_levels).
        """
        values, seen = _visible(table, self.column)
        expected = torch.zeros_like(values)
        for mixture in self.mixtures:
            shares, each, _ = expect(mixture, values, seen)
            expected += torch.einsum("nk,nkd->nd", shares, each)
        return (expected / len(self.mixtures)).to(table.numbers)


def find_clusters(
    table: Table,
    layout: Layout,
    restarts: int,
    complete: Callable[[Table], Table],
    lessons: Lessons | None,
    generator: torch.Generator,
) -> tuple[Clusters, Lessons | None] | None:
    """Fit mixtures to a table, and settle how far to believe them; None where there is nothing to tell.

    Parameters
    ----------
    restarts
        How often mixtures of each size are fitted.
    complete
        Fills holes with what networks estimate, which is where the clusters are looked for at first.
    lessons
        What networks say about cells that they were held off; None if nobody was.

    Returns
    -------
    clusters, lessons
        The lessons as they are when networks and clusters answer together.
    """
    sizes = [size for size in _SIZES if size * _FEWEST_ROWS <= len(table)]
    column = columns_of(layout.n_numbers, layout.cardinalities).to(table.missing.device)
    asked = table.missing[:, : layout.n_numbers].any()
    if not restarts or not sizes or not asked or len(column) > _WIDEST:
        return None
    trust = Trust.usual(layout.n_columns, 0, column.device).columns

    def fit(rows: Table) -> Clusters:
        values, seen = _visible(rows, column)
        start = values_of(rows).cpu().double()
        mixtures = [
            fit_mixture(values, seen, start, size, generator) for size in sizes for _ in range(restarts)
        ]
        return Clusters(mixtures, column, trust)

    completed = complete(table)
    if lessons is not None:
        # What is learnt from a cell cannot be judged by it, so this is learnt without the cells held out.
        told = torch.stack(
            [
                fit(lessons.unlearn(completed, lessons.rows, pair, column)).estimate(
                    lessons.shown.member(pair)
                )
                for pair in range(len(lessons.estimates))
            ]
        )
        told[..., layout.n_numbers :] = lessons.estimates[..., layout.n_numbers :]
        expected = Expected(_EXPECTED, _OFF * math.sqrt(len(table) / _FEW))
        learnt, lessons = lessons.believe(told, column, expected=expected)
        trust = learnt.columns.clamp(0.0, 1.0)
    return fit(completed), lessons


def fit_mixture(
    values: Tensor, seen: Tensor, start: Tensor, size: int, generator: torch.Generator
) -> Mixture:
    """Fit a mixture to what is visible of some rows, by expectation and maximisation.

    The covariance of each Gaussian leans on that of all of them, each about its own mean: few rows could not tell it.

    Parameters
    ----------
    start
        The rows with estimates in their holes, whose clusters are the first Gaussians.
    size
        The number of Gaussians.

    Shape
    -----
    ``values``, ``seen`` and ``start`` (n, d).
    """
    n_rows, width = values.shape
    rounding = _ROUNDING * torch.eye(width, dtype=values.dtype)
    means, nearest = _start(start, size, generator)
    apart = start - means[nearest]
    overall = start - start.mean(0)
    shape = (0.9 * apart.T @ apart + 0.1 * overall.T @ overall) / n_rows + rounding
    mixture = Mixture(
        means, shape.expand(size, -1, -1), torch.full((size,), -math.log(size), dtype=values.dtype)
    )
    for _ in range(_ROUNDS):
        shares, each, unknown = expect(mixture, values, seen)
        count = shares.sum(0)
        means = torch.einsum("nk,nkd->kd", shares, each) / count.clamp(min=1e-6).unsqueeze(1)
        apart = (each - means).transpose(0, 1)
        scatter = (apart * shares.T.unsqueeze(-1)).mT @ apart + unknown
        pooled = scatter.sum(0) / n_rows
        covariances = (scatter + _BORROWED * pooled) / (count + _BORROWED).view(-1, 1, 1) + rounding
        mixture = Mixture(means, covariances, ((count + 1) / (n_rows + size)).log())
    return mixture


def expect(mixture: Mixture, values: Tensor, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Say which Gaussian each row may come from, and what each of them expects of it, given what is visible.

    Rows in which the same cells are visible share their matrices.

    Shape
    -----
    ``values`` and ``seen`` (n, d). Results: shares (n, k); expectations (n, k, d); and what cannot be known of rows, their
    covariances summed by share (k, d, d).
    """
    patterns, which = torch.unique(seen, dim=0, return_inverse=True)
    size, width = mixture.means.shape
    shares = values.new_empty(len(values), size)
    expected = values.new_empty(len(values), size, width)
    unknown = torch.zeros_like(mixture.covariances)
    # What a pass holds is bounded: neither many patterns nor many rows of one are worked on at once.
    order, height = which.argsort(stable=True), max(_AT_ONCE // (size * width**2), 1)
    for rows in torch.split(order, height):
        some, pattern = torch.unique(which[rows], return_inverse=True)
        visible = patterns[some].to(values.dtype)
        both = (visible.unsqueeze(-1) * visible.unsqueeze(-2)).unsqueeze(1)
        # Ones stand on the diagonal for what is hidden, so the matrices of all patterns are of one size.
        within = mixture.covariances * both + torch.diag_embed(1 - visible).unsqueeze(1)
        factor = torch.linalg.cholesky(within)
        inverse = torch.cholesky_inverse(factor) * both
        slope = mixture.covariances @ inverse
        log_size = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        apart = (values[rows].unsqueeze(1) - mixture.means) * visible[pattern].unsqueeze(1)
        expected[rows] = mixture.means + torch.einsum("nkde,nke->nkd", slope[pattern], apart)
        distance = (torch.einsum("nkde,nke->nkd", inverse[pattern], apart) * apart).sum(-1)
        shares[rows] = (mixture.log_shares - log_size[pattern] - distance / 2).softmax(1)
        count = values.new_zeros(len(some), size).index_add(0, pattern, shares[rows])
        rest = mixture.covariances - slope @ mixture.covariances
        unknown += torch.einsum("pk,pkde->kde", count, rest)
    return shares, expected, unknown


def _start(rows: Tensor, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Find clusters by the nearest of their means, and give these and whose each row is."""
    means = rows[torch.randperm(len(rows), generator=generator)[:size]]
    for _ in range(_ROUNDS_TO_START):
        nearest = torch.cdist(rows, means).argmin(1)
        whose = functional.one_hot(nearest, size).to(rows.dtype)
        count = whose.sum(0).unsqueeze(1)
        means = torch.where(count > 0, whose.T @ rows / count.clamp(min=1), means)
    return means, torch.cdist(rows, means).argmin(1)


def _visible(table: Table, column: Tensor) -> tuple[Tensor, Tensor]:
    """Give numbers and levels, holes empty, and which of them are visible; in double precision, for matrices are inverted."""
    seen = (~table.missing)[:, column].cpu()
    return values_of(table).cpu().double().where(seen, 0.0), seen
