"""The engine: fit a model to a table with holes, and fill holes with it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from simpdm_frames.encoded import Completed, Encoded, Layout
from simpdm_frames.engine.advising import Advisers
from simpdm_frames.engine.denoiser import Denoiser
from simpdm_frames.engine.likeness import Deadline
from simpdm_frames.engine.memory import keep_memory
from simpdm_frames.engine.noise import content_keys
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.repeating import repeat
from simpdm_frames.engine.residuals import Residuals
from simpdm_frames.engine.sampling import PASS_HEIGHT, Sampler, pass_height
from simpdm_frames.engine.table import Padding, Scale, Table, tensor
from simpdm_frames.engine.threads import finding_threads
from simpdm_frames.engine.training import Callback, train
from simpdm_frames.engine.trial import Trial, diffusions
from simpdm_frames.settings import Settings

__all__ = ["Engine"]


class Engine:
    """A fitted model. It is never changed after the fit, so threads may share it.

    With ``settings.fits`` above 1 it holds ``others``, engines of other seeds, whose estimates are averaged with its own.
    What is told of it, such as its ``loss_curve``, is of the first fit.

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
        self.others: tuple[Engine, ...] = ()
        self.scale = scale.to(device)
        self.denoiser = denoiser.to(device).finish()
        self._heads, gaussian, multinomial = diffusions(layout, settings, device)
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
            When to be done with what comes after the training; of several fits, as many are made as can be by then.
        """
        if encoded.layout.n_columns == 0:
            raise ValueError("a fit needs at least 1 column, got none")
        if len(encoded) < 2:
            raise ValueError(f"a fit needs at least 2 rows, got {len(encoded)}")
        _check_seed(seed)
        keep_memory()

        def fit(own_seed: int, listeners: Sequence[Callback]) -> Engine:
            return cls._fit_once(
                encoded, settings, seed=own_seed, device=device, callbacks=listeners, deadline=deadline
            )

        until = None if deadline is None else deadline.at
        first, *others = repeat(fit, settings.fits, seed, callbacks, until)
        return first.beside(others)

    @classmethod
    def _fit_once(
        cls,
        encoded: Encoded,
        settings: Settings,
        *,
        seed: int,
        device: str,
        callbacks: Sequence[Callback],
        deadline: Deadline | None,
    ) -> Engine:
        layout = encoded.layout
        heads = Heads(layout.cardinalities)
        scale = Scale.none(layout.n_numbers) if settings.scale == "none" else Scale.learn(encoded)
        padding = Padding.learn(encoded, heads, scale)
        table = padding.table(encoded, heads, scale).to(device)
        trial = Trial(table, padding.to(device), layout, settings, seed=seed, device=device)
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
            plain = cls(
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
            found = trial.advisers(
                lambda advisers: plain.advised(advisers, plain.residuals).complete, deadline
            )
            return plain if found is None else plain.advised(*found)

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

    def beside(self, others: Sequence[Engine]) -> Engine:
        """Give the same engine, whose estimates are averaged with those of others."""
        together = copy.copy(self)
        together.others = tuple(others)
        together.settings = replace(self.settings, fits=1 + len(others))
        return together

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
        seed = self.seed if seed is None else seed
        engines = (self, *self.others)
        if draw:  # a draw is of what could be, so it is one fit's; which one is chance too
            engines = engines[seed % len(engines) :][:1]
        holes = np.flatnonzero(encoded.missing.any(axis=1))
        codes = tensor(encoded.codes).where(tensor(~encoded.missing[:, self.layout.n_numbers :]), 0)
        numbers = encoded.numbers.copy()
        probabilities = Heads(self.layout.cardinalities).one_hot(codes).numpy()
        height = min(batch_size, self._sampler.height)
        for begin in range(0, len(holes), height):
            rows = holes[begin : begin + height]
            part = encoded.rows(rows)
            each = zip(*(engine.fill(part, seed, draw=draw) for engine in engines), strict=True)
            filled, probabilities[rows] = (torch.stack(ones).mean(0).cpu().numpy() for ones in each)
            # To scale what was observed there and back, or to average it, would lose a bit.
            lost = part.missing[:, : self.layout.n_numbers]
            numbers[rows] = np.where(lost, filled, part.numbers)
        return Completed(self.layout, numbers, probabilities)

    def fill(self, encoded: Encoded, seed: int, *, draw: bool) -> tuple[Tensor, Tensor]:
        """Give what this fit alone makes of some rows, at most as many as a pass takes; what is observed may lose a bit."""
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
        return self.scale.undo(filled), probabilities


def _check_seed(seed: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ValueError(f"seed must be a whole number from 0 to 2^63 - 1, got {seed!r}")
