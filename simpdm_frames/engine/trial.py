"""One run of the training: networks, the batches that they see, who judges them, and what comes out."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from simpdm_frames.encoded import Layout
from simpdm_frames.engine.advising import Advisers, Completing, find_advisers
from simpdm_frames.engine.batches import Batches, Holdout
from simpdm_frames.engine.denoiser import Denoiser
from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.judging import Average, Judge
from simpdm_frames.engine.likeness import Deadline
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.objective import Objective
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.residuals import Residuals
from simpdm_frames.engine.sampling import expectation
from simpdm_frames.engine.schedule import Schedule
from simpdm_frames.engine.table import Padding, Table
from simpdm_frames.engine.training import Progress, Run
from simpdm_frames.settings import Settings

__all__ = ["Trial", "diffusions"]

_WAVES_AT_ONCE = 2**20  # of a member


class Trial:
    """One run of the training, started anew if it has to be."""

    judge: Judge | None = None
    last: Progress | None = None

    def __init__(
        self, table: Table, padding: Padding, layout: Layout, settings: Settings, *, seed: int, device: str
    ) -> None:
        self._table, self._padding, self._layout, self._settings = table, padding, layout, settings
        self._seed, self._device = seed, device
        n_scouts = min(settings.scouts, settings.members)
        # Two kinds of members can be told apart only where both have a scout.
        self._n_scouts = n_scouts
        self._kinds = 2 if settings.smooth_frequency is not None and n_scouts > 1 else 1
        self._heads, gaussian, multinomial = diffusions(layout, settings, device)
        # What never lacks a cell is hidden less often, though often enough to be filled one day.
        whole = ~table.missing.any(0)
        rarely = settings.whole_share if not whole.all() else 1.0
        self._rates = torch.where(whole, rarely, 1.0) * settings.mask_rate
        self._objective = Objective(settings, layout, gaussian, multinomial, self._rates)

    def start(self, threads: Callable[[], None] | None = None) -> Run:
        """Make fresh networks and fresh randomness from the seed; ``threads`` is told of each step."""
        settings, table = self._settings, self._table
        random = torch.Generator().manual_seed(self._seed)
        self._network = Denoiser(self._layout, settings, random).to(self._device).look(table)
        # The draws live on the device; what is left of the weights' stream seeds them.
        draws = torch.Generator(self._device).manual_seed(int(torch.randint(2**62, (), generator=random)))
        self._holdout = (
            Holdout(
                table,
                self._n_scouts,
                settings.holdout,
                self._padding,
                self._heads,
                draws,
                whole_share=settings.whole_share,
            )
            if self._n_scouts
            else None
        )
        self._average = (
            Average(self._network, settings.average) if settings.average or settings.scouts else None
        )
        self.judge = None
        if self._holdout is not None and self._average is not None:
            self.judge = Judge(
                self._average,
                self._predict,
                table,
                self._holdout,
                kinds=self._kinds,
                every=settings.look_every,
                patience=settings.patience,
                together=settings.judging == "together",
            )
        batches = Batches(table, settings.batch_size, draws, settings.members, self._holdout)
        return Run(
            lambda: self._objective.loss(self._network, batches.next(), draws),
            self._network.parameters(),
            batches.halve,
            [told for told in (self._average and self._average.update, threads) if told],
        )

    def __call__(self, progress: Progress) -> bool:
        """Ask the judge whether the training should end."""
        self.last = progress
        return self.judge is not None and self.judge(progress)

    def best(self, steps: int) -> Denoiser:
        """Give the network to be kept after so many steps."""
        if self.judge is not None:
            return self.judge.best(steps)
        return self._network if self._average is None else self._average.network

    def shares(self) -> Tensor:
        """Say how much each member counts."""
        if self.judge is not None:
            return self.judge.shares()
        return torch.full((self._settings.members,), 1 / self._settings.members, dtype=torch.float32)

    def residuals(self) -> Residuals | None:
        """Learn from the scouts' cells how far estimates are from the truth."""
        if self.judge is None or self._holdout is None:
            return None
        truth = self._table.numbers[self._holdout.rows]
        return _residuals(self.judge.predictions()[0], truth, self._holdout.held)

    def advisers(
        self, completing: Completing, deadline: Deadline | None
    ) -> tuple[Advisers, Residuals | None] | None:
        """Find others to ask, if there are any, and how far estimates are from the truth once they are asked."""
        found = find_advisers(
            self._table,
            self._layout,
            self._settings,
            self._rates,
            completing,
            self.judge.lessons() if self.judge and self._settings.neighbours else None,
            seed=self._seed,
            deadline=deadline,
        )
        if found is None:
            return None
        advisers, lessons = found
        residuals, n_numbers = None, self._layout.n_numbers
        if lessons is not None:
            estimates, truth = (part[..., :n_numbers] for part in (lessons.estimates, lessons.truth))
            residuals = _residuals(estimates, truth, lessons.held)
        return advisers, residuals

    def _predict(self, network: Denoiser, table: Table) -> tuple[Tensor, Tensor]:
        """Predict so many rows at a time that the waves of a wide table do not fill the memory."""
        width = 2 * self._settings.frequencies * self._layout.n_numbers + self._layout.n_levels
        height, steps = max(_WAVES_AT_ONCE // max(width, 1), 64), self._settings.diffusion_steps
        parts = [
            expectation(network, self._heads, steps, table.part(begin, height))
            for begin in range(0, len(table), height)
        ]
        numbers, log_levels = zip(*parts, strict=True)
        return torch.cat(numbers, dim=1), torch.cat(log_levels, dim=1)


def _residuals(estimates: Tensor, truth: Tensor, held: Tensor) -> Residuals:
    """Compare estimates of held-out cells with the truth."""
    estimates, truth, held = estimates.cpu(), truth.expand_as(estimates).cpu(), held.cpu()
    return Residuals.learn(
        [(estimates[..., j][held[..., j]], truth[..., j][held[..., j]]) for j in range(estimates.shape[-1])]
    )


def diffusions(
    layout: Layout, settings: Settings, device: str
) -> tuple[Heads, GaussianDiffusion, MultinomialDiffusion]:
    """Give the heads of a layout and its two processes."""
    schedule = Schedule.named(settings.schedule, settings.diffusion_steps)
    heads = Heads(layout.cardinalities, device)
    return heads, GaussianDiffusion(schedule, device), MultinomialDiffusion(schedule, heads, device)
