"""The engine: fit a model to a table with holes, and fill holes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from simpdm_frames.encoded import Completed, Encoded, Layout
from simpdm_frames.engine.advising import Advisers, find_advisers
from simpdm_frames.engine.batches import Batches, Holdout
from simpdm_frames.engine.denoiser import Denoiser
from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.judging import Average, Judge
from simpdm_frames.engine.likeness import Deadline
from simpdm_frames.engine.memory import keep_memory
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.noise import content_keys
from simpdm_frames.engine.objective import Objective
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.residuals import Residuals
from simpdm_frames.engine.sampling import PASS_HEIGHT, Sampler, expectation, pass_height
from simpdm_frames.engine.schedule import Schedule
from simpdm_frames.engine.table import Padding, Scale, Table, tensor
from simpdm_frames.engine.threads import finding_threads
from simpdm_frames.engine.training import Callback, Progress, Run, train
from simpdm_frames.settings import Settings

__all__ = ["Engine"]

_WAVES_AT_ONCE = 2**20  # of a member


class Engine:
    """A fitted model. It is never changed after the fit, so threads may share it.

    Examples
    --------
    >>> layout = Layout(n_numbers=1, cardinalities=(2,))
    >>> numbers = np.array([[0.0], [1.0], [0.0], [1.0]], dtype=np.float32)
    >>> codes = np.array([[0], [1], [0], [1]])
    >>> missing = np.array([[False, False], [False, False], [False, True], [True, False]])
    >>> table = Encoded(layout, numbers, codes, missing)
    >>> engine = Engine.fit(table, Settings(steps=5), seed=0)
    >>> engine.impute(table).probabilities.shape
    (4, 2)
    """

    def __init__(
        self,
        layout: Layout,
        settings: Settings,
        denoiser: Denoiser,
        scale: Scale,
        shares: Tensor,
        residuals: Residuals | None = None,
        advisers: Advisers | None = None,
        *,
        seed: int,
        device: str,
        loss_curve: Sequence[float] = (),
        judged: Sequence[tuple[int, float]] = (),
    ) -> None:
        self.layout = layout
        self.settings = settings
        self.seed = seed
        self.device = device
        self.loss_curve = tuple(loss_curve)
        self.judged = tuple(judged)
        self.scale = scale.to(device)
        self.denoiser = denoiser.to(device).finish()
        self._heads, gaussian, multinomial = _diffusions(layout, settings, device)
        self.shares = shares.to(device)
        self.residuals = None if residuals is None else residuals.to(device)
        described = layout.n_numbers * settings.wave_width if settings.frequencies else 0
        height = pass_height(settings.members * max(described, layout.n_numbers + layout.n_levels))
        self.advisers = advisers or Advisers()
        asked = [adviser for adviser in self.advisers if adviser is not None]
        self._sampler = Sampler(
            self.denoiser, gaussian, multinomial, settings, self.shares, self.residuals, height, asked
        )

    @classmethod
    def fit(
        cls,
        encoded: Encoded,
        settings: Settings,
        *,
        seed: int = 0,
        device: str = "cpu",
        callbacks: Sequence[Callback] = (),
        deadline: Deadline | None = None,
    ) -> Engine:
        """Train a model on the observed cells of a table.

        Parameters
        ----------
        seed
            Fixes weights, masks and noise, through generators of the engine's own.
        callbacks
            Told about the progress every few steps; one that returns True ends the training.
        deadline
            When to be done with what comes after the training.
        """
        layout = encoded.layout
        if layout.n_columns == 0:
            raise ValueError("a fit needs at least 1 column, got none")
        if len(encoded) < 2:
            raise ValueError(f"a fit needs at least 2 rows, got {len(encoded)}")
        _check_seed(seed)
        keep_memory()
        heads = Heads(layout.cardinalities)
        scale = Scale.none(layout.n_numbers) if settings.scale == "none" else Scale.learn(encoded)
        padding = Padding.learn(encoded, heads, scale)
        table = padding.table(encoded, heads, scale).to(device)
        trial = _Trial(table, padding.to(device), layout, settings, seed=seed, device=device)
        with finding_threads() if device == "cpu" else nullcontext() as threads:
            losses = train(
                lambda: trial.start(threads),
                steps=settings.steps,
                learning_rate=settings.learning_rate,
                weight_decay=settings.weight_decay,
                decay=settings.decay == "linear",
                warmup=settings.warmup,
                callbacks=[*callbacks, trial],
            )
            if settings.neighbours and trial.last is not None:
                # How long it takes is not known; but those who watch shall know why it goes on.
                comparing = replace(trial.last, steps=trial.last.step, stage="comparing rows")
                for callback in callbacks:
                    callback(comparing)
            engine = cls(
                layout,
                settings,
                trial.best(len(losses)),
                scale,
                trial.shares(),
                trial.residuals(),
                seed=seed,
                device=device,
                loss_curve=losses,
                judged=trial.judge.curve if trial.judge else (),
            )
            return trial.advised(engine, deadline)

    def advised(self, advisers: Advisers, residuals: Residuals | None) -> Engine:
        """Give the same engine, which also asks others."""
        return Engine(
            self.layout,
            self.settings,
            self.denoiser,
            self.scale,
            self.shares,
            residuals,
            advisers,
            seed=self.seed,
            device=self.device,
            loss_curve=self.loss_curve,
            judged=self.judged,
        )

    def complete(self, table: Table) -> Table:
        """Fill the holes of rows that are in the engine's unit already; what is missing stays marked."""
        numbers, levels = table.numbers.clone(), table.levels.clone()
        for rows in torch.split(table.missing.any(1).nonzero().flatten(), self._sampler.height):
            keys = torch.zeros(len(rows), dtype=torch.int64, device=rows.device)
            numbers[rows], levels[rows] = self._sampler.complete(table.rows(rows), keys, self.seed)
        return Table(numbers, levels, table.missing)

    def impute(
        self,
        encoded: Encoded,
        *,
        seed: int | None = None,
        batch_size: int = PASS_HEIGHT,
        draw: bool = False,
    ) -> Completed:
        """Fill the holes of a table of the same layout.

        Parameters
        ----------
        seed
            Chooses the noise that the fills start from; by default the seed of the fit.
        batch_size
            Rows per pass, at most ``PASS_HEIGHT``. It changes the time, never the result.
        draw
            Draw each fill from the distribution of what it could be, instead of giving the expectation.
        """
        if encoded.layout != self.layout:
            raise ValueError(f"the model was fit to {self.layout}, not to {encoded.layout}")
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}")
        keep_memory()
        holes = np.flatnonzero(encoded.missing.any(axis=1))
        codes = tensor(encoded.codes).where(tensor(~encoded.missing[:, self.layout.n_numbers :]), 0)
        numbers = encoded.numbers.copy()
        probabilities = Heads(self.layout.cardinalities).one_hot(codes).numpy()
        height = min(batch_size, self._sampler.height)
        for begin in range(0, len(holes), height):
            rows = holes[begin : begin + height]
            filled = self._complete(encoded.rows(rows), self.seed if seed is None else seed, draw=draw)
            numbers[rows], probabilities[rows] = (part.cpu().numpy() for part in filled)
        return Completed(self.layout, numbers, probabilities)

    def _complete(self, encoded: Encoded, seed: int, *, draw: bool) -> tuple[Tensor, Tensor]:
        numbers, codes, missing = (tensor(part) for part in (encoded.numbers, encoded.codes, encoded.missing))
        if encoded.keys is not None:
            keys = tensor(encoded.keys)
        elif draw or self._sampler.by_chance:
            keys = content_keys(numbers, codes, missing)
        else:  # nobody asks for them
            keys = torch.zeros(len(encoded), dtype=torch.int64)
        no_number, no_code = missing.tensor_split([self.layout.n_numbers], dim=1)
        table = Table(
            self.scale.apply(numbers.to(self.device)).masked_fill(no_number.to(self.device), 0.0),
            self._heads.one_hot(codes.masked_fill(no_code, 0).to(self.device)),
            missing.to(self.device),
        )
        fill = self._sampler.draw if draw else self._sampler.complete
        filled, probabilities = fill(table, keys.to(self.device), seed)
        observed = numbers.to(self.device)  # to scale there and back would lose a bit
        return torch.where(
            table.missing[:, : len(self.scale.centre)], self.scale.undo(filled), observed
        ), probabilities


class _Trial:
    """One run of the training, started anew if it has to be: networks, batches, and who judges them."""

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
        self._heads, gaussian, multinomial = _diffusions(layout, settings, device)
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

    def advised(self, plain: Engine, deadline: Deadline | None) -> Engine:
        """Give an engine that asks others too, if there are any."""
        found = find_advisers(
            self._table,
            self._layout,
            self._settings,
            self._rates,
            lambda advisers: plain.advised(advisers, plain.residuals).complete,
            self.judge.lessons() if self.judge and self._settings.neighbours else None,
            seed=self._seed,
            deadline=deadline,
        )
        if found is None:
            return plain
        advisers, lessons = found
        residuals, n_numbers = None, self._layout.n_numbers
        if lessons is not None:
            estimates, truth = (part[..., :n_numbers] for part in (lessons.estimates, lessons.truth))
            residuals = _residuals(estimates, truth, lessons.held)
        return plain.advised(advisers, residuals)

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


def _diffusions(
    layout: Layout, settings: Settings, device: str
) -> tuple[Heads, GaussianDiffusion, MultinomialDiffusion]:
    schedule = Schedule.named(settings.schedule, settings.diffusion_steps)
    heads = Heads(layout.cardinalities, device)
    return heads, GaussianDiffusion(schedule, device), MultinomialDiffusion(schedule, heads, device)


def _check_seed(seed: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ValueError(f"seed must be a whole number from 0 to 2^63 - 1, got {seed!r}")
