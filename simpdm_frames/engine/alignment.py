"""Self-supervised alignment: how far the predictions of the two channels are from each other.

All losses take one prediction per row and channel, numbers beside the probabilities of every head,
and compare rows that stand at the same place (Sec. 4.2 and Table 3 of the paper).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from simpdm_frames.settings import Settings

__all__ = ["alignment_loss", "contrastive", "mse", "sinkhorn"]

_SINKHORN_ITERATIONS = 50


def alignment_loss(settings: Settings, n_columns: int) -> Callable[[Tensor, Tensor], Tensor] | None:
    """Choose the loss that the settings name, or None.

    The squared differences of a head's levels count together as one cell, as the denoising loss counts
    them: γ then weighs a column alike whether it has two levels or two hundred.

    Shape
    -----
    Of the loss: ``a``, ``b`` (…, n, d); what stands before n, members that know nothing of each other, is
    averaged over.
    """
    if settings.alignment == "mse":
        return lambda a, b: mse(a, b) * (a.shape[-1] / n_columns)
    if settings.alignment == "contrastive":
        return _for_each_member(lambda a, b: contrastive(a, b, settings.temperature))
    if settings.alignment == "sinkhorn":
        return _for_each_member(lambda a, b: sinkhorn(a, b, settings.blur))
    return None


def _for_each_member(loss: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Average a loss that compares the rows of one table over all tables."""

    def mean(a: Tensor, b: Tensor) -> Tensor:
        pairs = zip(*(x.reshape(-1, *x.shape[-2:]) for x in (a, b)), strict=True)
        return torch.stack([loss(one, other) for one, other in pairs]).mean()

    return mean


def mse(a: Tensor, b: Tensor) -> Tensor:
    """Mean squared difference of two predictions.

    Shape
    -----
    ``a``, ``b`` (…, d); result a scalar.
    """
    return functional.mse_loss(a, b)


def contrastive(a: Tensor, b: Tensor, temperature: float = 0.5) -> Tensor:
    """SimCLR's loss: a row should be nearer to itself in the other channel than to any other row.

    Shape
    -----
    ``a``, ``b`` (n, d); result a scalar. Time and memory grow with n².
    """
    n = len(a)
    rows = functional.normalize(torch.cat([a, b]), dim=1)
    similarity = rows @ rows.T / temperature
    itself = torch.eye(2 * n, dtype=torch.bool, device=a.device)
    partner = torch.arange(2 * n, device=a.device).roll(n)
    return functional.cross_entropy(similarity.masked_fill(itself, -math.inf), partner)


def sinkhorn(a: Tensor, b: Tensor, blur: float = 0.05) -> Tensor:
    """Sinkhorn divergence of the two sets of rows under squared distance.

    ``OT(a, b) - OT(a, a) / 2 - OT(b, b) / 2`` with entropic regularisation ``blur``: zero when the
    sets agree, whatever the order of their rows.

    Shape
    -----
    ``a`` (n, d), ``b`` (m, d); result a scalar. Time and memory grow with n·m.
    """
    return _transport(a, b, blur) - (_transport(a, a, blur) + _transport(b, b, blur)) / 2


def _transport(a: Tensor, b: Tensor, blur: float) -> Tensor:
    """Entropic transport cost between uniform weights on the rows of a and b.

    The potentials are found without a gradient; at their optimum the gradient of the cost is that of
    the dual value with potentials held fixed, so one more half step carries it.
    """
    squares = (a**2).sum(1).unsqueeze(1) + (b**2).sum(1)
    cost = torch.addmm(squares, a, b.T, alpha=-2).clamp(min=0)
    log_a, log_b = -math.log(len(a)), -math.log(len(b))
    with torch.no_grad():
        fixed = cost.detach()
        g = torch.zeros(len(b), device=a.device, dtype=a.dtype)
        for _ in range(_SINKHORN_ITERATIONS):
            f = -blur * torch.logsumexp((g - fixed) / blur + log_b, dim=1)
            g = -blur * torch.logsumexp((f.unsqueeze(1) - fixed) / blur + log_a, dim=0)
    f = -blur * torch.logsumexp((g - cost) / blur + log_b, dim=1)
    return f.mean() + g.mean()
