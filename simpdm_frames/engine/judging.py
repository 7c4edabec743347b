"""A running average of the weights, and the judge that says which of its states is the best."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from simpdm_frames.engine.batches import Holdout
from simpdm_frames.engine.denoiser import Denoiser
from simpdm_frames.engine.ragged import columns_of
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.training import Progress
from simpdm_frames.engine.trust import USUAL, Expected, Trust, learn_trust

__all__ = ["Average", "Judge", "Lessons"]

_OPEN = 3.0  # times the share that is open, as far as it is below 1, what is expected may be off
_NEVER_SURE = 0.01  # of it, at least: a regression cannot lean on what is certain
_MOST_UNKNOWN = 1024  # rows with holes, in which members may disagree
_LATER = 2  # times as many steps as a single network takes until its labels are best
_KEPT = float("inf")  # no step is due
_HASTE = 10  # the average reaches back over one part in so many of the steps, until ``decay`` is reached

Predict = Callable[[Denoiser, Table], tuple[Tensor, Tensor]]
"""Gives numbers and log-probabilities of the levels of each member for a table."""


class Average:
    """An exponential moving average of a network's weights.

    At every step it is about as good as a network whose learning rate was lowered to zero, so a training
    may end at any time.
    """

    def __init__(self, network: Denoiser, decay: float) -> None:
        self.network = copy.deepcopy(network).eval().requires_grad_(requires_grad=False)
        self._decay = decay
        self._mine: list[Tensor] = list(self.network.parameters())
        self._theirs: list[Tensor] = list(network.parameters())
        self._step = 0

    @torch.no_grad()
    def update(self) -> None:
        """Take the weights of one more step into account."""
        self._step += 1
        decay = min(self._decay, self._step / (self._step + _HASTE))
        theirs = [weight.detach() for weight in self._theirs]
        torch._foreach_lerp_(self._mine, theirs, 1 - decay)


@dataclass(frozen=True)
class Lessons:
    """What networks that do not know some cells say about them, and the truth.

    Shape
    -----
    ``estimates`` (pairs, r, n_numbers + n_levels) of ``shown``, a table of (pairs, r, …); ``truth`` (r, n_numbers +
    n_levels); ``held`` (pairs, r, n_columns) the cells in question; ``noise`` (n_columns,), how much of the squared
    error is chance that cancels out among all members; ``rows`` (r,) their positions in the table.
    ``open`` is the share of the estimates that still is the networks' alone.
    """

    estimates: Tensor
    shown: Table
    truth: Tensor
    held: Tensor
    noise: Tensor
    rows: Tensor
    open: float = 1.0

    def first(self, number: int) -> Lessons:
        """Take the lessons of the first pairs."""
        shown = Table(self.shown.numbers[:number], self.shown.levels[:number], self.shown.missing[:number])
        return replace(self, estimates=self.estimates[:number], shown=shown, held=self.held[:number])

    def among(self, kept: Tensor, n_rows: int) -> Tensor:
        """Say where each row stands among those of a table of so many that are kept, -1 if it does not.

        Shape
        -----
        ``kept`` (any,) positions in the table; result (r,).
        """
        place = torch.full((n_rows,), -1, device=kept.device)
        place[kept] = torch.arange(len(kept), device=kept.device)
        return place[self.rows]

    def unlearn(self, table: Table, own: Tensor, pair: int, column: Tensor) -> Table:
        """Take what a pair was held off out of a table: it is missing there, and estimates stand in its place.

        Shape
        -----
        ``own`` (r,) where each row stands in the table, -1 if it does not; ``column`` (n_numbers + n_levels,).
        """
        there = own >= 0
        place, held = own[there], self.held[pair][there]
        missing, values = table.missing.clone(), torch.cat([table.numbers, table.levels], dim=-1)
        missing[place] |= held
        values[place] = torch.where(held[:, column], self.estimates[pair][there], values[place])
        n_numbers = table.numbers.shape[-1]
        return Table(values[:, :n_numbers], values[:, n_numbers:], missing)

    def believe(
        self, told: Tensor, column: Tensor, signs: Tensor | None = None, expected: Expected = USUAL
    ) -> tuple[Trust, Lessons]:
        """Say how far to believe others who tell about the same cells, and give the lessons as all together answer.

        The further those are believed who were asked before, the less is expected of who comes next; and where little is
        left to tell, the surer that is.

        Shape
        -----
        ``told`` as ``estimates``; ``signs`` (pairs, r, n_columns, n_signs) of how sure they are, if there are any.
        """
        if signs is None:
            signs = told.new_empty(*self.held.shape, 0)
        deviation = expected.deviation * min(max(_OPEN * self.open, _NEVER_SURE), 1.0)
        expected = Expected(expected.share * self.open, deviation)
        trust = learn_trust(self.estimates, told, self.truth, self.held, column, self.noise, signs, expected)
        shares = trust.of(signs)
        together = self.estimates + shares[..., column] * (told - self.estimates)
        count = self.held.sum((0, 1)).clamp(min=1)
        of_column = (shares * self.held).sum((0, 1)) / count
        of_all = float((of_column * count).sum() / count.sum())
        return trust, replace(
            self,
            estimates=together,
            noise=self.noise * (1 - of_column) ** 2,
            open=self.open * (1 - of_all),
        )


class Judge:
    """Look at the scouts from time to time, keep the best state, and end what no longer gets better.

    Members are of one kind, or of two that take turns; each kind has a best state of its own.

    What single networks learn by heart differs from one to another, so a vote of several goes on getting better
    when each alone no longer does. How much it gains cannot be known without knowing the right labels. So
    where labels are to be filled, a kind's training is kept as it is after twice the steps of its best state.

    Parameters
    ----------
    average
        The weights to be judged.
    predict
        How they fill a table.
    table, holdout
        The table, and the cells of it that scouts never see.
    kinds
        1 or 2.
    every
        Steps between two looks.
    patience
        Looks without an improvement after which the training ends.
    together
        Judge the members of a kind by the error that they make together. It is that of one of them less what
        cancels out, and by how much they disagree shows in real holes: nobody needs to know the truth. So a
        training goes on while its networks get worse alone but better together.
    """

    def __init__(
        self,
        average: Average,
        predict: Predict,
        table: Table,
        holdout: Holdout,
        *,
        kinds: int,
        every: int,
        patience: int,
        together: bool = False,
    ) -> None:
        self._average, self._predict, self._holdout = average, predict, holdout
        self._kinds, self._every, self._patience, self._together = kinds, every, patience, together
        self._scouts = average.network.first(holdout.n_scouts)
        self._truth = table.rows(holdout.rows)
        self._codes = holdout.heads.argmax(self._truth.levels)
        index = holdout.rows.expand(holdout.n_scouts, -1)
        self._shown = holdout.hide(table.rows(index), index)
        lacking = table.missing.any(0)
        self._counts = lacking if lacking.any() else ~lacking  # what is to be filled is what matters
        holes = holdout.rows[self._truth.missing.any(1)]
        self._unknown = table.rows(holes[:_MOST_UNKNOWN])
        votes = self._counts[table.numbers.shape[-1] :].any() and average.network.members > kinds
        self._later = _LATER if votes else 1
        self._best, self._alone = [float("inf")] * kinds, [float("inf")] * kinds
        self._waited, self._last = [0] * kinds, 0
        self._due: list[float] = [0.0] * kinds  # the step whose state is to be kept; none once it is
        self._state = copy.deepcopy(average.network.state_dict())
        self.curve: list[tuple[int, float]] = []

    def __call__(self, progress: Progress) -> bool:
        """Look if it is time to; True ends the training."""
        if progress.step - self._last >= self._every:
            self.look(progress.step)
        return min(self._waited) >= self._patience and min(self._due) == _KEPT

    def look(self, step: int) -> None:
        """See how the scouts do, and keep the weights of a kind that has never done better, or in due time."""
        self._last = step
        alone = self._errors()
        errors = [error - relief for error, relief in zip(alone, self._reliefs(), strict=True)]
        self.curve.append((step, sum(errors) / len(errors)))
        for kind, error in enumerate(errors):
            self._waited[kind] += 1
            if error < self._best[kind]:
                self._best[kind], self._alone[kind], self._waited[kind] = error, alone[kind], 0
                self._due[kind] = self._later * step
            if step >= self._due[kind]:
                self._keep(kind)

    def best(self, step: int) -> Denoiser:
        """Look once more after the last step, and give the network that was kept."""
        if step > self._last:
            self.look(step)
        for kind, due in enumerate(self._due):
            if due != _KEPT:  # as near to it as the training came
                self._keep(kind)
        self._average.network.load_state_dict(self._state)
        return self._average.network

    def shares(self) -> Tensor:
        """Say how much each member counts in an average: the less, the larger the error of its kind.

        An excess that is no larger than chance would make it counts for little, and chance is the smaller
        the more cells are held out.

        Shape
        -----
        Result (members,).
        """
        members = self._average.network.members
        best = torch.tensor(self._alone, dtype=torch.float32)
        excess = best / best.min().clamp(min=1e-12) - 1
        cells = (self._holdout.held & self._counts).sum() / self._kinds
        shares = torch.exp(-excess.clamp(max=1e6) * cells.cpu().sqrt()).repeat(members)[:members]
        return shares / shares.sum()

    def predictions(self) -> tuple[Tensor, Tensor]:
        """Give what the scouts make of all rows with held-out cells; see ``Holdout.held`` for the cells.

        Shape
        -----
        Numbers (n_scouts, r, n_numbers) and log-probabilities (n_scouts, r, n_levels).
        """
        return self._predict(self._scouts, self._shown)

    def lessons(self) -> Lessons:
        """Give what pairs of scouts, who are held off the same cells, make of these cells together."""
        numbers, log_levels = self.predictions()
        each = torch.cat([numbers, log_levels.exp()], dim=-1)
        every = self.shares().to(each.device)
        pairs = torch.split(every[: len(each)], 2)
        weights = [pair / pair.sum() for pair in pairs]
        together = [
            (weight.view(-1, 1, 1) * estimate).sum(0)
            for weight, estimate in zip(weights, torch.split(each, 2), strict=True)
        ]
        variance = self._variance().repeat(len(every), 1)[: len(every)]  # of each member
        of_pairs = torch.stack([(weight**2) @ variance[: len(weight)] for weight in weights]).mean(0)
        shown, held = self._shown, self._holdout.held[::2]
        return Lessons(
            torch.stack(together),
            Table(shown.numbers[::2], shown.levels[::2], shown.missing[::2]),
            torch.cat([self._truth.numbers, self._truth.levels], dim=-1),
            held,
            (of_pairs - (every**2) @ variance).clamp(min=0.0),
            self._holdout.rows,
        )

    def _variance(self) -> Tensor:
        """Say how much members of a kind disagree about real holes, where none of them knows the truth.

        Shape
        -----
        Result (kinds, n_columns).
        """
        holes = self._unknown.missing
        result = torch.zeros(self._kinds, holes.shape[1], device=holes.device, dtype=torch.float32)
        if self._average.network.members < 2 * self._kinds or not len(holes):
            return result
        numbers, log_levels = self._predict(self._average.network, self._unknown)
        each = torch.cat([numbers, log_levels.exp()], dim=-1)
        column = columns_of(numbers.shape[-1], self._holdout.heads.cardinalities).to(each.device)
        for kind in range(self._kinds):
            spread = (each[kind :: self._kinds].var(0) * holes[:, column]).sum(0)
            result[kind].index_add_(0, column, spread)
        return result / holes.sum(0).clamp(min=1)

    def _keep(self, kind: int) -> None:
        """Keep the weights of a kind as they are now."""
        for name, weight in self._average.network.state_dict().items():
            self._state[name][kind :: self._kinds] = weight[kind :: self._kinds]
        self._due[kind] = _KEPT

    def _errors(self) -> list[float]:
        """Give the mean over held-out cells of squared error and of wrong labels, for each kind.

        Cross-entropy would end the training too early: it punishes a single network that has become too sure
        of itself, while several of them together, and the label that they vote for, still get better.
        """
        numbers, log_levels = self.predictions()
        wrong = self._holdout.heads.argmax(log_levels) != self._codes
        error = torch.cat([(numbers - self._truth.numbers) ** 2, wrong.to(numbers.dtype)], dim=-1)
        counted = self._holdout.held & self._counts
        sums, counts = (error * counted).sum((1, 2)), counted.sum((1, 2))
        return [
            float(sums[kind :: self._kinds].sum() / counts[kind :: self._kinds].sum().clamp(min=1))
            for kind in range(self._kinds)
        ]

    def _reliefs(self) -> list[float]:
        """Say how much smaller the error of all members of a kind is together than that of one of them.

        That of numbers, that is; of labels it cannot be known without knowing the right ones.
        """
        each = self._average.network.members // self._kinds
        missing = self._unknown.missing
        holes = missing[:, : self._unknown.numbers.shape[-1]]
        if not self._together or each < 2 or not holes.any():
            return [0.0] * self._kinds
        numbers, _ = self._predict(self._average.network, self._unknown)
        spreads = [numbers[kind :: self._kinds].var(0) for kind in range(self._kinds)]
        return [(1 - 1 / each) * float(spread[holes].sum() / missing.sum()) for spread in spreads]
