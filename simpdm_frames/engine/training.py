"""A training loop. Nothing in this file has anything to do with diffusion or with tables.

It takes steps, lowers the learning rate, tells callbacks how it is going and stops when one of them
says so. The losses stay on their device and are looked at together every few steps, so that the
loop never waits for a step to finish.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

__all__ = ["Callback", "EarlyStop", "NonFiniteLossError", "Progress", "Run", "TimeBudget", "train"]

_LOOK_EVERY = 10
_RESTART_FACTOR = 0.1


class NonFiniteLossError(RuntimeError):
    """The loss became infinite or NaN, and did so again with a smaller learning rate."""


@dataclass(frozen=True)
class Progress:
    """How a run is going: steps done, steps planned, mean loss since the last look, seconds.

    The stage is ``"training"``, and at the end of a fit once ``"comparing rows"``, where rows are remembered. Of several fits
    all are counted.
    """

    step: int
    steps: int
    loss: float
    seconds: float
    stage: str = "training"


Callback = Callable[[Progress], bool | None]
"""Called every few steps; True stops the run."""


@dataclass
class EarlyStop:
    """Stop when the loss has not fallen for a while.

    Parameters
    ----------
    patience
        Steps without improvement that are tolerated.
    tolerance
        Relative fall of the loss that counts as an improvement.
    """

    patience: int
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        self._best = float("inf")
        self._best_step = 0

    def __call__(self, progress: Progress) -> bool:
        """Say whether patience has run out."""
        if progress.step <= self._best_step:  # a new run
            self._best, self._best_step = float("inf"), 0
        if progress.loss < self._best * (1 - self.tolerance):
            self._best, self._best_step = progress.loss, progress.step
        return progress.step - self._best_step >= self.patience


@dataclass(frozen=True)
class TimeBudget:
    """Stop after a number of seconds.

    Parameters
    ----------
    seconds
        Of the training and of what comes after it.
    reserve
        How many steps take as long as what comes after it.
    """

    seconds: float
    reserve: float = 0.0

    def __call__(self, progress: Progress) -> bool:
        """Say whether time has run out, or would during the steps until the next look."""
        a_step = progress.seconds / progress.step
        return progress.seconds + a_step * (self.reserve + _LOOK_EVERY / 2) >= self.seconds

    def foresee(self, progress: Progress) -> Progress:
        """Say how a run is going whose steps are as many as the time allows."""
        a_step = max(progress.seconds, 1e-9) / progress.step
        allowed = int(self.seconds / a_step - self.reserve)
        return replace(progress, steps=min(max(allowed, progress.step), progress.steps))


@dataclass(frozen=True)
class Run:
    """What the loop drives: a function that gives the next loss, and the parameters it depends on.

    ``relieve`` is called when the device runs out of memory; True if the step is worth another try.
    Those ``after`` a step are called when it is over.
    """

    loss: Callable[[], Tensor]
    parameters: Iterable[torch.nn.Parameter]
    relieve: Callable[[], bool] = bool
    after: Sequence[Callable[[], None]] = ()


def train(
    start: Callable[[], Run],
    *,
    steps: int,
    learning_rate: float,
    weight_decay: float = 0.0,
    decay: bool = True,
    warmup: int = 0,
    callbacks: Sequence[Callback] = (),
) -> list[float]:
    """Train with AdamW and return the loss of each step.

    A loss that is not finite ends the run; it is started anew once with a learning rate ten times
    smaller, then refused.

    Parameters
    ----------
    start
        Called at the beginning of a run, and again for the second one: gives fresh parameters.
    decay
        Lower the learning rate to 0 along a line.
    warmup
        Steps over which the learning rate rises to its value.
    """
    began = time.perf_counter()
    for rate in (learning_rate, learning_rate * _RESTART_FACTOR):
        run = start()
        optimiser = torch.optim.AdamW(run.parameters, lr=rate, weight_decay=weight_decay, fused=True)
        losses = _take_steps(
            run, optimiser, steps=steps, decay=decay, warmup=warmup, callbacks=callbacks, began=began
        )
        if losses is not None:
            return losses
    raise NonFiniteLossError(
        f"the loss became non-finite with learning_rate={learning_rate:g} and again with {rate:g}; "
        "pass a smaller learning_rate, and look for extreme values in the data"
    )


@torch.enable_grad()
def _take_steps(
    run: Run,
    optimiser: torch.optim.Optimizer,
    *,
    steps: int,
    decay: bool,
    warmup: int,
    callbacks: Sequence[Callback],
    began: float,
) -> list[float] | None:
    """Take all steps of one run, or give None as soon as a loss that is not finite is seen."""
    rates = [group["lr"] for group in optimiser.param_groups]
    losses: list[float] = []
    recent: list[Tensor] = []
    for step in range(1, steps + 1):
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * min(1, step / (warmup + 1)) * (1 - (step - 1) / steps if decay else 1)
        loss = _gradient(run, optimiser)
        optimiser.step()
        for told in run.after:
            told()
        recent.append(loss)
        if step % _LOOK_EVERY and step < steps:
            continue
        seen = torch.stack(recent)
        recent.clear()
        if not seen.isfinite().all():
            return None
        losses += seen.tolist()
        progress = Progress(step, steps, float(seen.mean()), time.perf_counter() - began)
        answers = [callback(progress) for callback in callbacks]  # each one is told, whoever stops
        if any(answers):
            break
    return losses


def _gradient(run: Run, optimiser: torch.optim.Optimizer) -> Tensor:
    """Compute the loss and its gradient, with less at a time when memory runs out."""
    try:
        loss = run.loss()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    except torch.OutOfMemoryError:
        if not run.relieve():
            raise
        return _gradient(run, optimiser)
    return loss.detach()
