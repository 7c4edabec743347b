"""The engine: fit a model to a table with holes, and fill holes with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from simpdm_frames.encoded import Completed, Encoded, Layout
from simpdm_frames.engine.denoiser import Denoiser
from simpdm_frames.engine.gaussian import GaussianDiffusion
from simpdm_frames.engine.multinomial import MultinomialDiffusion
from simpdm_frames.engine.noise import content_keys
from simpdm_frames.engine.objective import Objective
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.sampling import PASS_HEIGHT, Sampler
from simpdm_frames.engine.schedule import Schedule
from simpdm_frames.engine.table import Padding, Table, tensor
from simpdm_frames.engine.training import Callback, Run, train
from simpdm_frames.settings import Settings

__all__ = ["Batches", "Engine"]


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
        *,
        seed: int,
        device: str,
        loss_curve: Sequence[float] = (),
    ) -> None:
        self.layout = layout
        self.settings = settings
        self.seed = seed
        self.device = device
        self.loss_curve = tuple(loss_curve)
        self.denoiser = denoiser.to(device).eval().requires_grad_(requires_grad=False)
        self._heads, gaussian, multinomial = _diffusions(layout, settings, device)
        self._sampler = Sampler(
            self.denoiser, gaussian, multinomial, n_strides=settings.sampling_steps, draws=settings.draws
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
    ) -> Engine:
        """Train a model on the observed cells of a table.

        Parameters
        ----------
        seed
            Fixes weights, masks and noise, through generators of the engine's own.
        callbacks
            Told about the progress every few steps; one that returns True ends the training.
        """
        layout = encoded.layout
        if layout.n_columns == 0:
            raise ValueError("a fit needs at least 1 column, got none")
        if len(encoded) < 2:
            raise ValueError(f"a fit needs at least 2 rows, got {len(encoded)}")
        _check_seed(seed)
        cpu_heads = Heads(layout.cardinalities)
        table = Padding.learn(encoded, cpu_heads).table(encoded, cpu_heads).to(device)
        _, gaussian, multinomial = _diffusions(layout, settings, device)
        objective = Objective(settings, layout, gaussian, multinomial)
        networks: list[Denoiser] = []

        def start() -> Run:
            random = torch.Generator().manual_seed(seed)
            network = Denoiser(
                layout,
                width=settings.width,
                layers=settings.layers,
                n_steps=settings.diffusion_steps,
                generator=random,
            ).to(device)
            networks.append(network)
            # The draws live on the device; what is left of the weights' stream seeds them.
            draws = torch.Generator(device).manual_seed(int(torch.randint(2**62, (), generator=random)))
            batches = Batches(table, settings.batch_size, draws)
            return Run(
                lambda: objective.loss(network, batches.next(), draws), network.parameters(), batches.halve
            )

        losses = train(
            start,
            steps=settings.steps,
            learning_rate=settings.learning_rate,
            weight_decay=settings.weight_decay,
            decay=settings.decay == "linear",
            callbacks=callbacks,
        )
        return cls(layout, settings, networks[-1], seed=seed, device=device, loss_curve=losses)

    def impute(
        self, encoded: Encoded, *, seed: int | None = None, batch_size: int = PASS_HEIGHT
    ) -> Completed:
        """Fill the holes of a table of the same layout.

        Parameters
        ----------
        seed
            Chooses the noise that the fills start from; by default the seed of the fit.
        batch_size
            Rows per pass, at most ``PASS_HEIGHT``. It changes the time, never the result.
        """
        if encoded.layout != self.layout:
            raise ValueError(f"the model was fit to {self.layout}, not to {encoded.layout}")
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {batch_size}")
        holes = np.flatnonzero(encoded.missing.any(axis=1))
        codes = tensor(encoded.codes).where(tensor(~encoded.missing[:, self.layout.n_numbers :]), 0)
        numbers = encoded.numbers.copy()
        probabilities = Heads(self.layout.cardinalities).one_hot(codes).numpy()
        height = min(batch_size, PASS_HEIGHT)
        for begin in range(0, len(holes), height):
            rows = holes[begin : begin + height]
            filled = self._complete(encoded.rows(rows), self.seed if seed is None else seed)
            numbers[rows], probabilities[rows] = (part.cpu().numpy() for part in filled)
        return Completed(self.layout, numbers, probabilities)

    def _complete(self, encoded: Encoded, seed: int) -> tuple[Tensor, Tensor]:
        numbers, codes, missing = (tensor(part) for part in (encoded.numbers, encoded.codes, encoded.missing))
        keys = content_keys(numbers, codes, missing) if encoded.keys is None else tensor(encoded.keys)
        no_number, no_code = missing.tensor_split([self.layout.n_numbers], dim=1)
        table = Table(
            numbers.masked_fill(no_number, 0.0).to(self.device),
            self._heads.one_hot(codes.masked_fill(no_code, 0).to(self.device)),
            missing.to(self.device),
        )
        return self._sampler.complete(table, keys.to(self.device), seed)


class Batches:
    """Rows for each step: all of a small table, else a share of a shuffled one."""

    def __init__(self, table: Table, size: int, generator: torch.Generator) -> None:
        self._table = table
        self._size = min(size, len(table))
        self._generator = generator
        self._order = torch.empty(0, dtype=torch.int64)

    def halve(self) -> bool:
        """Take half as many rows from now on; False if there is only one."""
        self._size, can_be = max(self._size // 2, 1), self._size > 1
        return can_be

    def next(self) -> Table:
        """Take the rows of the next step."""
        if self._size == len(self._table):
            return self._table
        if len(self._order) < self._size:
            device = self._table.missing.device
            self._order = torch.randperm(len(self._table), generator=self._generator, device=device)
        index, self._order = self._order.tensor_split([self._size])
        return self._table.rows(index)


def _diffusions(
    layout: Layout, settings: Settings, device: str
) -> tuple[Heads, GaussianDiffusion, MultinomialDiffusion]:
    schedule = Schedule.named(settings.schedule, settings.diffusion_steps)
    heads = Heads(layout.cardinalities, device)
    return heads, GaussianDiffusion(schedule, device), MultinomialDiffusion(schedule, heads, device)


def _check_seed(seed: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise ValueError(f"seed must be a whole number from 0 to 2^63 - 1, got {seed!r}")
