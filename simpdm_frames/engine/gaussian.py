"""Gaussian diffusion: the forward process and its posterior, without any network."""

from __future__ import annotations

from torch import Tensor

from simpdm_frames.engine.schedule import Schedule

__all__ = ["GaussianDiffusion"]


class GaussianDiffusion:
    """Gaussian diffusion of numbers under a schedule.

    Examples
    --------
    >>> import torch
    >>> diffusion = GaussianDiffusion(Schedule.named("cosine", 10))
    >>> x0 = torch.zeros(4, 2)
    >>> diffusion.q_sample(x0, torch.tensor([1, 4, 7, 10]), torch.ones(4, 2)).shape
    torch.Size([4, 2])
    """

    def __init__(self, schedule: Schedule, device: str = "cpu") -> None:
        self.schedule = schedule
        alpha_bar = schedule.alpha_bar
        self._signal = alpha_bar.sqrt().float().to(device)
        self._noise = (1 - alpha_bar).sqrt().float().to(device)

    def q_sample(self, x0: Tensor, t: Tensor, noise: Tensor) -> Tensor:
        """Draw x_t given x_0: ``sqrt(alpha_bar_t) x_0 + sqrt(1 - alpha_bar_t) noise``.

        Shape
        -----
        ``x0``, ``noise`` and the result (…, d); ``t`` (…) integers from 0 to T.
        """
        return self._signal[t].unsqueeze(-1) * x0 + self._noise[t].unsqueeze(-1) * noise

    def q_posterior(self, x0: Tensor, x_t: Tensor, t: int, s: int) -> tuple[Tensor, float]:
        """Give mean and variance of x_s given x_t and x_0, for 0 ≤ s < t.

        With ``s = t - 1`` this is the posterior of Ho et al.; a larger stride is the same Bayes rule
        with several steps taken together. At ``s = 0`` it is x_0 itself.

        Shape
        -----
        ``x0``, ``x_t`` and the mean (n, d); the variance is one number.
        """
        before, stride, now = self.schedule.signal(s), self.schedule.signal(t, s), self.schedule.signal(t)
        variance = (1 - before) * (1 - stride) / (1 - now)
        weight_x0 = before**0.5 * (1 - stride) / (1 - now)
        weight_x_t = stride**0.5 * (1 - before) / (1 - now)
        return weight_x0 * x0 + weight_x_t * x_t, variance
