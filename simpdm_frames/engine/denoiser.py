"""The network: a plain MLP that is told the diffusion step and which cells it may trust."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from simpdm_frames.encoded import Layout

__all__ = ["Denoiser"]

_WAVES = 32  # pairs of sine and cosine that describe a diffusion step


class Denoiser(nn.Module):
    """Predict the values of a table from its hybrid input (Sec. 4.1 of the paper).

    No U-net and no shortcuts. The embedding of the step and a learned projection of the mask are
    added to the first layer's representation. Categories enter as ones and zeros per level, which
    makes their first projection an embedding.

    Shape
    -----
    Input (…, n, n_numbers + n_levels), ``t`` (…, n) integers, ``condition`` (n, n_columns) bool, shared
    by all that stands before n; output as the input: values of the numbers, then unnormalised scores of
    the levels.

    Examples
    --------
    >>> net = Denoiser(Layout(2, (3,)), width=8, layers=2, n_steps=10, generator=torch.Generator())
    >>> net(torch.zeros(4, 5), torch.ones(4, dtype=torch.int64), torch.zeros(4, 3).bool()).shape
    torch.Size([4, 5])
    """

    def __init__(
        self, layout: Layout, *, width: int, layers: int, n_steps: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        d_table = layout.n_numbers + layout.n_levels
        self.table = _linear(d_table, width, generator)
        self.mask = _linear(layout.n_columns, width, generator)
        self.step_in = _linear(2 * _WAVES, width, generator)
        self.step_out = _linear(width, width, generator)
        self.hidden = nn.ModuleList(_linear(width, width, generator) for _ in range(layers - 1))
        self.head = _linear(width, d_table, generator)
        self.register_buffer("waves", _waves(n_steps), persistent=False)

    waves: Tensor

    def forward(self, hybrid: Tensor, t: Tensor, condition: Tensor) -> Tensor:
        """Predict the table."""
        # Few steps, many rows: embed each step once and look it up.
        steps = self.step_out(functional.silu(self.step_in(self.waves)))
        x = self.table(hybrid) + self.mask(condition.float()) + functional.embedding(t, steps)
        # Flat and in place from here: memory is what a step waits for.
        x = functional.relu(x.flatten(0, -2))
        for layer in self.hidden:
            x = layer(x).relu_()
        output: Tensor = self.head(x)
        return output.view_as(hybrid)


def _linear(d_in: int, d_out: int, generator: torch.Generator) -> nn.Linear:
    """Make a linear layer whose weights come from our generator, not from the global one."""
    layer = nn.Linear(d_in, d_out, device="meta", dtype=torch.float32).to_empty(device="cpu")  # draws nothing
    bound = 1 / math.sqrt(max(d_in, 1))
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound, generator=generator)
        layer.bias.uniform_(-bound, bound, generator=generator)
    return layer


def _waves(n_steps: int) -> Tensor:
    """Describe each step 0 … T by sines and cosines of falling frequency."""
    frequencies = torch.exp(torch.arange(_WAVES, dtype=torch.float64) / _WAVES * -math.log(10_000))
    angles = torch.arange(n_steps + 1).unsqueeze(1) * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()
