"""How much rows are like each other in what is visible of them, and what their mean lacks, learnt from the table itself."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from simpdm_frames.engine.masks import Masks
from simpdm_frames.engine.table import Table

__all__ = [
    "Deadline",
    "Laid",
    "Likeness",
    "Weights",
    "lay_keys",
    "learn_weights",
    "rise",
    "shares",
    "values_of",
]

_STUDIED = 128  # rows that a step of the learning asks about
_KEYS = 12_288  # rows that it asks, at most: among fewer, nobody would learn how near the nearest are
_TARGETS = 8  # columns that it estimates, at most
_RATE = 0.07
_ALIKE = 2.0  # how much the columns to be estimated are held to one measure, in rows
_ALIKE_IN_WAVES = 10.0  # likewise; there are more of them, so chance has more to play with
_FLAT = 20.0  # how much slopes are held to none, in rows
_GENTLE = 0.1  # of what a step changes otherwise, in slopes
_TAIL = 0.5  # logarithm of it, at first
_FREQUENCIES = [0.2 * (512 / 0.2) ** (number / 9) for number in range(10)]  # waves in a deviation
_FARTHEST = 50.0  # deviations: farther out, squares would lose the digits that tell rows apart
_LONGEST = 4  # times the planned steps, where a deadline allows it
_BACKWARD = 2  # times the work of asking is that of learning from the answer, at least


class Weights(NamedTuple):
    """What counts how much in the distance of two rows, and by what a row is above those that are like it.

    Shape
    -----
    ``known``, of cells that the other row knows, ``estimated``, of cells that it does not, and ``unknown``, what
    not knowing adds: (n_targets, n_columns) each. ``waves``, how much nearer waves that swing together bring two
    numbers: (n_targets, n_numbers, n_frequencies). ``tail`` (n_targets,): the smaller, the more those count who are farther
    off. ``slope`` (n_targets, n_numbers + n_levels). Without the first axis they are those of one target.
    """

    known: Tensor
    estimated: Tensor
    unknown: Tensor
    waves: Tensor
    tail: Tensor
    slope: Tensor

    def of(self, target: int) -> Weights:
        """Take the weights of one target."""
        return Weights(*(part[target] for part in self))


class Laid(NamedTuple):
    """Rows laid out so that distances to all of them are products, see ``lay_keys``.

    Shape
    -----
    ``squares`` (n_keys, n_columns + 6 (n_numbers + n_levels)), ``waves`` (n_keys, 2 n_frequencies n_numbers).
    """

    squares: Tensor
    waves: Tensor

    def rows(self, index: Tensor) -> Laid:
        """Take some rows."""
        return Laid(self.squares[index], self.waves[index])


@dataclass(frozen=True)
class Deadline:
    """When a fit and the filling of so many rows after it are to be over, by the clock of ``time``."""

    at: float
    n_fills: int

    def part(self, number: int) -> Deadline:
        """Give the end of the first of so many equal parts of the time that is left."""
        now = time.perf_counter()
        return Deadline(now + (self.at - now) / number, -(-self.n_fills // number))


class Likeness:
    """The distance of two rows, for each column that is to be estimated.

    A sum over the visible columns of squared differences, each with a weight. Where the other row does not know
    a column, the estimate that stands there counts by a smaller weight, and something is added for not knowing. Numbers
    that both rows know are nearer by the cosines of their difference at several frequencies, each with a weight: fast
    waves bring together what is equal or nearly so, and do not push what is farther off any farther, as a square
    does. The logarithm of a weight is a sum: what the column weighs, how far the target looks, and a part for both,
    which is held small because few rows cannot tell it from chance.

    Shares fall with a power of the distance, so that a row with nobody near it is told by those who are far. Where all who
    are asked are on one side, a slope corrects their mean; labels have none.
    """

    def __init__(self, targets: Sequence[int], column: Tensor, n_columns: int, n_numbers: int) -> None:
        n_targets, device = len(targets), column.device

        def start(*shape: int, value: float = 0.0) -> Tensor:
            return torch.full(shape, value, device=device, dtype=torch.float32).requires_grad_()

        # All rows of a wide table are far apart, so each of its columns counts less at first.
        self._column = start(1, n_columns, value=-0.5 * math.log(max(n_columns / 8, 1)))
        self._estimated, self._unknown = start(1, n_columns, value=-1.0), start(1, n_columns, value=-1.0)
        self._target, self._target_unknown = start(n_targets, 1), start(n_targets, 1)
        self._both = [start(n_targets, n_columns) for _ in range(3)]
        n_waves = len(_FREQUENCIES)
        self._waves, self._target_waves = start(1, n_numbers, n_waves, value=-2.5), start(n_targets, 1, 1)
        self._both_waves = start(n_targets, n_numbers, n_waves)
        self._tail, self._target_tail = start(1, value=_TAIL), start(n_targets)
        self._slope = start(n_targets, len(column))
        self._sloping = torch.tensor(targets, device=device).unsqueeze(1) < n_numbers

    @property
    def parameters(self) -> list[Tensor]:
        """All that is learnt."""
        single = [self._column, self._estimated, self._unknown, self._target, self._target_unknown]
        waves = [self._waves, self._target_waves, self._both_waves]
        return [*single, *self._both, *waves, self._tail, self._target_tail, self._slope]

    def weights(self) -> Weights:
        """Give the weights of the distance."""
        known = (2 * (self._column + self._target + self._both[0])).exp()
        estimated = known * (self._estimated + self._both[1]).exp()
        unknown = (self._unknown + self._target_unknown + self._both[2]).exp()
        waves = (self._waves + self._target_waves + self._both_waves).exp()
        tail = (self._tail + self._target_tail).exp()
        return Weights(known, estimated, unknown, waves, tail, self._slopes())

    def _slopes(self) -> Tensor:
        return _GENTLE * self._slope * self._sloping

    def excess(self) -> Tensor:
        """Give the size of what is to be held small, in rows."""
        squares = torch.stack([(part**2).sum() for part in (*self._both, self._target_tail)]).sum()
        waves, slopes = (self._both_waves**2).sum(), (self._slopes() ** 2).sum()
        return _ALIKE * squares + _ALIKE_IN_WAVES * waves + _FLAT * slopes


def values_of(table: Table) -> Tensor:
    """Put numbers and levels beside each other; what is far out is as far out as anything can be."""
    return torch.cat([table.numbers.clamp(-_FARTHEST, _FARTHEST), table.levels], dim=-1)


def lay_keys(values: Tensor, known: Tensor, column: Tensor, n_numbers: int) -> Laid:
    """Lay rows out so that distances to all of them are products with the rows in question.

    Of ``Σ w (q - k)² = Σ w q² · 1 - 2 w q · k + w · k²``, these are the right-hand factors: once for cells
    that are known, once for those that are estimated. Then those of ``cos f (q - k) = cos fq cos fk + sin fq sin fk``.

    Shape
    -----
    ``values`` (n_keys, n_numbers + n_levels), ``known`` (n_keys, n_columns), ``column`` (n_numbers + n_levels,) the
    column of each value.
    """
    knows = known.to(values.dtype)
    parts = [1 - knows]
    for of_value in (knows[:, column], 1 - knows[:, column]):
        parts += [of_value, of_value * values, of_value * values**2]
    waves = _swing(values[:, :n_numbers], knows[:, :n_numbers].unsqueeze(-1))
    return Laid(torch.cat(parts, dim=1), waves)


def _swing(numbers: Tensor, weights: Tensor) -> Tensor:
    """Give the cosines and the sines of numbers, weighted.

    Shape
    -----
    ``numbers`` (n, n_numbers), ``weights`` (n, n_numbers, n_frequencies or 1); result (n, 2 n_numbers x n_frequencies).
    """
    turns = torch.tensor(_FREQUENCIES, dtype=numbers.dtype, device=numbers.device)
    angles = 2 * math.pi * turns * numbers.unsqueeze(-1)
    return torch.cat([(angles.cos() * weights).flatten(1), (angles.sin() * weights).flatten(1)], dim=1)


def shares(
    values: Tensor,
    seen: Tensor,
    column: Tensor,
    weights: Weights,
    laid: Laid,
    known: Tensor,
    own: Tensor | None = None,
) -> Tensor:
    """Say how much each key counts for one target; the shares for a row add up to 1.

    Parameters
    ----------
    weights
        Those of the target.
    known
        Which keys know the target; the others are not asked.
    own
        The key of each row that is the row itself, which is not asked either; -1 for none.

    Shape
    -----
    ``values`` (n, n_numbers + n_levels) and ``seen`` (n, n_columns) of the rows in question; ``laid`` by ``lay_keys``; ``known`` (n_keys,) bool; ``own`` (n,); result (n, n_keys).
    """
    n_numbers, sees = len(weights.waves), seen.to(values.dtype)
    parts = [sees * weights.unknown]
    for weight in (weights.known, weights.estimated):
        by_value = (sees * weight)[:, column]
        parts += [by_value * values**2, -2 * by_value * values, by_value]
    distance = (torch.cat(parts, dim=1) @ laid.squares.T).clamp(min=0.0)  # rounding may have made it less
    waves = _swing(values[:, :n_numbers], sees[:, :n_numbers].unsqueeze(-1) * weights.waves)
    barred = torch.zeros_like(laid.squares[:, 0]).masked_fill(~known, -torch.inf)
    # The nearer, the more a key counts.
    nearness = torch.addmm(barred, waves, laid.waves.T) - weights.tail * torch.log1p(distance / weights.tail)
    if own is not None:
        there = (own >= 0).nonzero().flatten()
        nearness[there, own[there]] = -torch.inf
    return nearness.softmax(-1)


def rise(slope: Tensor, asked: Tensor, visible: Tensor, mean: Tensor) -> Tensor:
    """Say by how much rows are above those that they are like, which are not quite like them.

    Shape
    -----
    ``slope`` (n_numbers + n_levels,) of a target; of the rows, ``asked`` (n, n_numbers + n_levels) what they hold, ``visible``
    likewise, bool, and ``mean`` what those hold on average that they are like; result (n, 1).
    """
    return ((asked - mean) * visible * slope).sum(1, keepdim=True)


@torch.enable_grad()
def learn_weights(
    table: Table,
    column: Tensor,
    targets: Sequence[int],
    rates: Tensor,
    generator: torch.Generator,
    *,
    steps: int,
    deadline: Deadline | None = None,
) -> Weights:
    """Learn what makes rows alike, by estimating cells of some rows from all others.

    Parameters
    ----------
    table
        Rows whose holes are filled with estimates.
    targets
        The columns to be estimated.
    rates
        How often each column is hidden.
    steps
        Of Adam, or up to four times as many where a deadline allows it.
    """
    n_rows, n_numbers, device = len(table), table.numbers.shape[-1], table.missing.device
    likeness = Likeness(targets, column, table.missing.shape[1], n_numbers)
    values, known = values_of(table), ~table.missing
    laid = lay_keys(values, known, column, n_numbers)
    places = [(column == target).nonzero().flatten() for target in targets]
    optimiser = torch.optim.Adam(likeness.parameters, lr=_RATE)
    began = time.perf_counter()
    steps = steps * min(-(-len(targets) // _TARGETS), 2)
    for step in itertools.count():
        done = step / steps
        if deadline is not None:
            done = max(done / _LONGEST, _spent(step, began, deadline, n_rows, len(targets)))
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = _RATE * (1 - done)
        order = torch.randperm(n_rows, generator=generator, device=device)
        rows, keys = order[:_STUDIED], order[:_KEYS]
        masks = Masks.draw(table.missing[rows], rates, generator, varied=True)
        asking, telling, laid_out = values[rows], values[keys], laid.rows(keys)
        weights, knowing = likeness.weights(), known[keys]
        error, n_cells = values.new_zeros(()), 0
        for place in torch.randperm(len(targets), generator=generator, device=device)[:_TARGETS].tolist():
            knows = knowing[:, targets[place]]
            # There has to be someone to ask beside the row itself.
            some = (masks.pseudo[:, targets[place]] & (knows.sum() > 1)).nonzero().flatten()
            if not len(some):
                continue
            asked, seen, own_weights = asking[some], ~masks.condition[some], weights.of(place)
            # Rows are the first of the keys.
            mean = shares(asked, seen, column, own_weights, laid_out, knows, some) @ telling
            told = mean[:, places[place]] + rise(own_weights.slope, asked, seen[:, column], mean)
            error = error + ((told - asked[:, places[place]]) ** 2).sum()
            n_cells += len(some)
        if not n_cells:
            continue
        loss = error / n_cells + likeness.excess() / n_rows
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        optimiser.step()
    with torch.no_grad():
        return likeness.weights()


def _spent(step: int, began: float, deadline: Deadline, n_rows: int, n_targets: int) -> float:
    """Say which share of the time is over, that of filling taken off at the pace of the steps so far."""
    now = time.perf_counter()
    a_question = (now - began) / max(step, 1) / min(n_rows, _STUDIED) / _BACKWARD
    more = n_rows / min(n_rows, _KEYS) * n_targets / min(n_targets, _TARGETS)
    n_questions = deadline.n_fills + 2 * n_rows  # rows that are remembered are filled anew, and judged
    left = deadline.at - began - a_question * more * n_questions
    return (now - began) / left if left > 0 else 1.0
