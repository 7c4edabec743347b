"""Multinomial diffusion in log space, for heads of different sizes at once, without any network.

A step keeps a category with probability ``1 - beta`` and otherwise draws one of its head's K levels
at random. So does any number of steps, with ``alpha_bar`` in the place of ``1 - beta``: the whole
process is one function, ``transition``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.schedule import Schedule

__all__ = ["MultinomialDiffusion"]

_LOG_NOTHING = -1e30  # exp of it is 0, and unlike minus infinity it may be multiplied by 0


class MultinomialDiffusion:
    """Multinomial diffusion of categories under a schedule.

    Distributions are log-probabilities per level; a known category is a distribution with one
    level at 0 and the others at minus infinity.

    Examples
    --------
    >>> diffusion = MultinomialDiffusion(Schedule.named("cosine", 10), Heads((2, 3)))
    >>> log_x0 = Heads((2, 3)).one_hot(torch.tensor([[1, 0]])).log()
    >>> diffusion.q_marginal(log_x0, torch.tensor([10])).exp().round(decimals=2).tolist()
    [[0.5, 0.5, 0.33000001311302185, 0.33000001311302185, 0.33000001311302185]]
    """

    def __init__(self, schedule: Schedule, heads: Heads, device: str = "cpu") -> None:
        self.schedule = schedule
        self.heads = heads
        self.log_alpha_bar = schedule.alpha_bar.log().float().to(device)

    def transition(self, log_x: Tensor, log_keep: Tensor) -> Tensor:
        """Keep each head's category with probability ``exp(log_keep)``, else draw it uniformly.

        Shape
        -----
        ``log_x`` and the result (…, n_levels); ``log_keep`` (…, n_heads).
        """
        kept, lost = self.heads.spread(log_keep), self.heads.spread(_log1mexp(log_keep) - self.heads.log_size)
        return torch.logaddexp(log_x + kept, lost)

    def q_marginal(self, log_x0: Tensor, t: Tensor) -> Tensor:
        """Give the distribution of x_t given x_0.

        Shape
        -----
        ``log_x0`` and the result (…, n_levels); ``t`` (…) integers from 0 to T.
        """
        return self.transition(log_x0, self._for_each_head(self.log_alpha_bar[t]))

    def q_posterior(self, log_x0: Tensor, log_x_t: Tensor, t: int, s: int) -> Tensor:
        """Give the distribution of x_s given the category x_t and a distribution of x_0.

        The sum over the possible x_0 of the Bayes posteriors, weighted by their probabilities
        (Sec. 3.2 of the paper). The posterior of each x_0 has its own normaliser, so putting the
        mean of x_0 into the formula for one would not be that sum; here the normalisers are
        divided out first, which keeps the cost linear in the number of levels.

        Shape
        -----
        ``log_x0``, ``log_x_t`` and the result (n, n_levels).
        """
        kept_since, kept_before = (self.schedule.signal(*pair) for pair in ((t, s), (s, 0)))
        stride = self._for_each_head(torch.tensor(math.log(kept_since), device=log_x0.device))
        before = self._for_each_head(torch.tensor(math.log(kept_before), device=log_x0.device))
        likelihood = self.transition(log_x_t, stride)  # q(x_t | x_s), as a function of x_s
        evidence = self.transition(likelihood, before)  # q(x_t | x_0), as a function of x_0
        weight = log_x0 - evidence
        uniform = self.heads.logsumexp(weight) - self.heads.log_size + _log1mexp(before)
        mixture = torch.logaddexp(weight + self.heads.spread(before), self.heads.spread(uniform))
        return self.heads.log_softmax(likelihood + mixture)

    def sample(self, log_x: Tensor, uniform: Tensor) -> Tensor:
        """Draw one category per head by the Gumbel-max rule, as ones and zeros.

        Shape
        -----
        ``log_x``, ``uniform`` (in the open unit interval) and the result (n, n_levels).
        """
        # The same race as log_x + Gumbel noise, in exponentials: one logarithm less per level.
        return self.heads.one_hot(self.heads.argmax(log_x.exp() / -torch.log(uniform)))

    def _for_each_head(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1).expand(*value.shape, len(self.heads.cardinalities))


def _log1mexp(log_p: Tensor) -> Tensor:
    """Compute log(1 - exp(log_p)) for log_p ≤ 0, finite also at 0."""
    return torch.log(-torch.expm1(log_p)).clamp(min=_LOG_NOTHING)
