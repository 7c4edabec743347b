"""What a smooth surface over rows may look like, learnt by how likely it makes what they hold."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Kernel", "covariance", "foreseen", "learn_kernel", "noisy", "standard"]

_STEPS = 60  # of the learning of a kernel
_RATE = 0.1
_STUDIED = 400  # rows that a step looks at; the work grows with their cube
_LOOSE = 2.0  # deviation of the logarithms of what is learnt from where they start
_TRIED = 4  # steps that tell how long all of them will take
_SOLVED = 4  # times that the weights of rows are found: where cells are held out and with them, and both with better estimates
_ROUNDING = 1e-4  # of a target's variance, added to what is chance: rows may stand there twice


class Kernel(NamedTuple):
    """How alike what is to be told of two rows is taken to be.

    Shape
    -----
    ``rate`` (d,), how fast the surface may change along each feature; ``slope`` (d,), how steep a plane in it may be;
    ``size`` and ``chance``, the variance of the surface and of what is chance; ``unsure`` (n_columns,), what
    is added to chance where a column is itself an estimate.
    """

    rate: Tensor
    slope: Tensor
    size: Tensor
    chance: Tensor
    unsure: Tensor


def foreseen(n_rows: int, n_columns: int, most: int) -> float:
    """Say how many seconds it will take, by trying: how fast a machine is cannot be known beforehand."""
    generator, n_rows = torch.Generator().manual_seed(0), min(n_rows, most)
    features = torch.rand(min(n_rows, _STUDIED), 2 * n_columns, generator=generator, dtype=torch.float64)
    unsure = torch.zeros(len(features), n_columns, dtype=torch.float64)
    others = torch.ones(2 * n_columns, dtype=torch.bool)
    began = time.perf_counter()
    learn_kernel(features, unsure, features[:, 0], others, generator, steps=_TRIED)
    a_step = (time.perf_counter() - began) / _TRIED
    # Without the way back, a third; of more rows, between their square and their cube.
    a_solution = a_step / 3 * (n_rows / len(features)) ** 2.5
    return float(n_columns * (_STEPS * a_step + _SOLVED * a_solution))


@torch.enable_grad()
def learn_kernel(
    features: Tensor,
    unsure: Tensor,
    target: Tensor,
    others: Tensor,
    generator: torch.Generator,
    *,
    steps: int = _STEPS,
) -> Kernel:
    """Learn how fast a surface changes, and what is chance, by how likely they make what some rows hold.

    Parameters
    ----------
    others
        The features that may tell about the target.

    Shape
    -----
    ``features`` (n, d), ``unsure`` (n, n_columns), ``target`` (n,), ``others`` (d,) bool.
    """
    count, device = max(int(others.sum()), 1), features.device
    y, _, _ = standard(target)

    def at(*shape: int, value: float) -> Tensor:
        return torch.full(shape, value, dtype=torch.float64, device=device)

    # The more features there are, the less each of them says at first.
    starts = Kernel(
        at(len(others), value=-1.0 - 0.5 * math.log(max(count / 8, 1))),
        at(len(others), value=-3.0),
        at(value=0.0),
        at(value=-1.5),
        at(unsure.shape[1], value=-3.0),
    )
    logs = Kernel(*(start.clone().requires_grad_() for start in starts))
    asked = others.double()
    optimiser = torch.optim.Adam(logs, lr=_RATE)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = _RATE * (1 - step / steps)
        some = torch.randperm(len(features), generator=generator, device=device)[:_STUDIED]
        kernel = _of_logs(logs, asked)
        factor = torch.linalg.cholesky(noisy(kernel, features[some], unsure[some]))
        weights = torch.cholesky_solve(y[some].unsqueeze(1), factor)
        unlikely = 0.5 * (y[some] @ weights).sum() + factor.diagonal().log().sum()
        far = torch.stack([((log - start) ** 2).sum() for log, start in zip(logs, starts, strict=True)]).sum()
        loss = unlikely + 0.5 * far / _LOOSE**2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        return _of_logs(logs, asked)


def covariance(kernel: Kernel, left: Tensor, right: Tensor) -> Tensor:
    """Say how much the surface at some rows goes along with that at others: Matérn's 3/2, and a plane.

    Shape
    -----
    ``left`` (n, d), ``right`` (m, d), result (n, m).
    """
    a, b = left * kernel.rate, right * kernel.rate
    squares = (a**2).sum(1, keepdim=True) + (b**2).sum(1) - 2 * a @ b.T
    apart = (3 * squares.clamp(min=1e-10)).sqrt()  # the root of nothing has no slope
    return kernel.size * (1 + apart) * (-apart).exp() + (left * kernel.slope) @ right.T


def _of_logs(logs: Kernel, asked: Tensor) -> Kernel:
    """Take exponentials; a column tells nothing about itself."""
    return Kernel(logs.rate.exp() * asked, logs.slope.exp() * asked, *(log.exp() for log in logs[2:]))


def noisy(kernel: Kernel, features: Tensor, unsure: Tensor) -> Tensor:
    """Give the covariance of what rows hold: that of the surface, and chance."""
    chance = kernel.chance + unsure @ kernel.unsure + _ROUNDING
    return covariance(kernel, features, features) + chance.diag()


def standard(target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Put a column on mean 0 and deviation 1, and give both."""
    target = target.double()
    centre, spread = target.mean(), target.std(correction=0).clamp(min=1e-6)
    return (target - centre) / spread, centre, spread
