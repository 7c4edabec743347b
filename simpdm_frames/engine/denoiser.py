"""The network: plain MLPs side by side, told the diffusion step and which cells they may trust."""

from __future__ import annotations

import copy
import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from simpdm_frames.encoded import Layout
from simpdm_frames.engine.ragged import columns_of, even
from simpdm_frames.engine.stretch import KNOTS, learn_stretch, stretch
from simpdm_frames.engine.table import Table
from simpdm_frames.settings import Settings

__all__ = ["Denoiser"]

_WIDEST_CHAIN = 256  # numbers and levels; a chain of more of them would cost more than all the rest
_MOST_WAVES = 2**22  # in a tensor: memory for more is taken anew each time, which takes longer
_WAVES = 32  # pairs of sine and cosine that describe a diffusion step


class _Ready(NamedTuple):
    """What is the same for all rows of a pass.

    Shape
    -----
    ``first`` (members, n_numbers + n_levels + n_columns, width): the weights of the table and of the mask;
    ``steps`` (members, diffusion steps + 1, width): each step embedded.
    """

    first: Tensor
    steps: Tensor


class Denoiser(nn.Module):
    """Predict the values of a table from its hybrid input (Sec. 4.1 of the paper).

    No U-net. The embedding of the step and a learned projection of the mask are added to the first
    layer's representation. Categories enter as ones and zeros per level, which makes their first
    projection an embedding. With ``frequencies``, visible numbers enter also as sines and cosines, through
    a small layer of each column, from which a network learns what is not smooth. With ``chain``, a linear
    estimate of what is hidden is made first, refined in rounds; the network is shown it and learns what
    it lacks.

    The hybrid input of Eq. 9 comes in its two parts, which are zero where the other is not: ``visible``
    is the same for both channels, so its share of the first layer is computed once.

    All members are one network to torch: weights have a leading axis, layers are batched products.

    Shape
    -----
    ``visible`` (members or 1, n, n_numbers + n_levels), ``noisy`` and the result
    (channels, members, n, n_numbers + n_levels), ``t`` (channels, members or 1, n or 1) integers, ``condition``
    (members or 1, n, n_columns) bool. The result holds values of the numbers, then unnormalised scores of
    the levels.

    Examples
    --------
    >>> net = Denoiser(Layout(2, (3,)), Settings(width=8, members=4), torch.Generator())
    >>> table, hidden = torch.zeros(1, 6, 5), torch.zeros(1, 6, 3).bool()
    >>> net(table, table.unsqueeze(0), torch.ones(1, 1, 6, dtype=torch.int64), hidden).shape
    torch.Size([1, 4, 6, 5])
    """

    def __init__(self, layout: Layout, settings: Settings, generator: torch.Generator) -> None:
        super().__init__()
        members, width = settings.members, even(settings.width)
        d_table = layout.n_numbers + layout.n_levels
        d_waves, d_numbers = 2 * settings.frequencies, layout.n_numbers
        d_described = even(settings.wave_width) if settings.frequencies else 0
        d_first = d_table + d_numbers * d_described
        self.n_numbers = d_numbers

        def weight(d_in: int, d_out: int, fan_in: int | None = None) -> nn.Parameter:
            bound = 1 / math.sqrt(max(fan_in or d_in, 1))
            values = torch.rand(members, d_in, d_out, generator=generator, dtype=torch.float32)
            return nn.Parameter((2 * values - 1) * bound)

        def bias(d_in: int, d_out: int) -> nn.Parameter:
            values = torch.rand(members, 1, d_out, generator=generator, dtype=torch.float32)
            return nn.Parameter((2 * values - 1) / math.sqrt(max(d_in, 1)))

        self.table = weight(d_table, width, d_first)
        self.mask = weight(layout.n_columns, width)
        self.first_bias = bias(d_first, width)
        # One small layer for each column: batched products over members and columns.
        waves = weight(d_numbers * d_waves, d_described, d_waves)
        self.waves = nn.Parameter(waves.detach().view(members, d_numbers, d_waves, d_described))
        waves_bias = bias(d_waves, d_numbers * d_described)
        self.waves_bias = nn.Parameter(waves_bias.detach().view(members, d_numbers, 1, d_described))
        self.described = weight(d_numbers * d_described, width, d_first)
        self.step_in, self.step_in_bias = weight(2 * _WAVES, width), bias(2 * _WAVES, width)
        self.step_out, self.step_out_bias = weight(width, width), bias(width, width)
        depth = settings.layers - 1
        self.hidden = nn.ParameterList(weight(width, width) for _ in range(depth))
        self.hidden_bias = nn.ParameterList(bias(width, width) for _ in range(depth))
        self.head, self.head_bias = weight(width, even(d_table)), bias(width, even(d_table))
        self._rounds = settings.chain if d_table <= _WIDEST_CHAIN else 0
        # Nothing at first: what is not linear shall not have to undo it.
        self.chain = nn.Parameter(
            torch.zeros(members if self._rounds else 0, d_table, even(d_table), dtype=torch.float32)
        )
        column = (
            columns_of(layout.n_numbers, layout.cardinalities)
            if self._rounds
            else torch.empty(0, dtype=torch.int64)
        )
        self.register_buffer("column", column, persistent=False)
        self.register_buffer("others", _others(column), persistent=False)
        self.register_buffer("steps", _steps(settings.diffusion_steps), persistent=False)
        self.register_buffer("frequencies", _frequencies(settings), persistent=False)
        self.register_buffer("rough", _rough(settings), persistent=False)
        self._ranks = settings.ranks if d_described else 0.0
        for name in ("knots", "places"):
            empty = torch.zeros(d_numbers, KNOTS, dtype=torch.float32)
            self.register_buffer(name, empty, persistent=self._ranks > 0)

    column: Tensor
    others: Tensor
    steps: Tensor
    frequencies: Tensor
    rough: Tensor
    knots: Tensor
    places: Tensor
    _ready: _Ready | None = None
    _joined: Tensor | None = None

    @property
    def members(self) -> int:
        """The number of networks."""
        return len(self.table)

    def look(self, table: Table) -> Denoiser:
        """Learn from a table at which places its numbers are described by waves."""
        if self._ranks:
            no_number = table.missing[:, : self.n_numbers]
            self.knots, self.places = learn_stretch(table.numbers, no_number, self._ranks)
        return self

    def forward(self, visible: Tensor, noisy: Tensor, t: Tensor, condition: Tensor) -> Tensor:
        """Predict the table with each member."""
        channels, n, members = noisy.shape[0], noisy.shape[2], self.members
        hidden = condition.to(visible.dtype)
        shown = torch.cat([visible, hidden], dim=-1).expand(members, -1, -1)
        ready = self._ready or self._prepare()
        steps = _looked_up(ready.steps, t.expand(-1, members, -1).transpose(0, 1))
        alike = channels == t.shape[-1] == 1  # as in imputing: then a step is as good as a bias
        # In place where it can be, for these are the largest tensors.
        x = torch.baddbmm(self.first_bias + steps[:, 0] if alike else self.first_bias, shown, ready.first)
        if self.waves.numel():
            numbers, no_number = visible[..., : self.n_numbers], hidden[..., : self.n_numbers]
            for part in self._parts(numbers):
                described = self._describe(numbers[..., part], 1 - no_number[..., part], part)
                x = x.baddbmm_(described, self._first_layer(part))
        linear = None
        if self._rounds:
            hidden = hidden[..., self.column]
            linear = self._linear(visible, hidden)
            noisy = noisy + linear[..., : noisy.shape[-1]] * hidden
        # Members first, then channels: one batched product serves both channels.
        noisy = noisy.expand(-1, members, -1, -1).transpose(0, 1).flatten(1, 2)
        if alike:
            x = x.baddbmm_(noisy, self.table)
        else:
            x = x.unsqueeze(1) + torch.bmm(noisy, self.table).view(members, channels, n, -1)
            x = (x + steps).flatten(1, 2)
        x = x.relu_()
        for weight, bias in zip(self.hidden, self.hidden_bias, strict=True):
            x = torch.baddbmm(bias, x, weight).relu_()
        output = torch.baddbmm(self.head_bias, x, self.head).view(members, channels, n, -1)
        if linear is not None:
            output = output + linear.unsqueeze(1)
        return output[..., : noisy.shape[-1]].transpose(0, 1)

    def first(self, number: int) -> Denoiser:
        """Give a network of the first members only, which shares their weights, also when they change."""
        part = copy.deepcopy(self)
        for mine, theirs in zip(part.parameters(), self.parameters(), strict=True):
            mine.data = theirs.data[:number]
        part.rough = self.rough[:number]
        return part

    def finish(self) -> Denoiser:
        """Make ready for imputing: no weight changes any more."""
        self.eval().requires_grad_(requires_grad=False)
        self._ready, self._joined = self._prepare(), self._join()
        return self

    def _prepare(self) -> _Ready:
        """Compute what is the same for all rows: there are few steps, so each is embedded once."""
        steps = functional.silu(self.step_in_bias + self.steps @ self.step_in)
        return _Ready(
            first=torch.cat([self.table, self.mask], dim=1),
            steps=torch.baddbmm(self.step_out_bias, steps, self.step_out),
        )

    def _parts(self, numbers: Tensor) -> list[slice]:
        """Say which columns to describe at a time: the waves of all columns of a wide table are too many."""
        waves_a_column = numbers[..., 0].numel() * 2 * len(self.frequencies)
        width = max(_MOST_WAVES // max(waves_a_column, 1), 1)
        return [slice(begin, begin + width) for begin in range(0, self.n_numbers, width)]

    def _first_layer(self, part: slice) -> Tensor:
        """Give the weights of the first layer that belong to what is described of some columns."""
        if part.stop >= self.n_numbers and not part.start:  # all: the gradient of a slice would be copied
            return self.described
        d_described = self.waves.shape[-1]
        return self.described[:, part.start * d_described : part.stop * d_described]

    def _describe(self, numbers: Tensor, seen: Tensor, part: slice) -> Tensor:
        """Describe visible numbers by waves, put through a small layer of each column; hidden ones by zeros.

        Shape
        -----
        ``numbers`` and ``seen`` (members or 1, n, columns of the part); result (members, n, columns x
        wave_width).
        """
        if self._ranks:
            numbers = stretch(numbers, self.knots[part], self.places[part])
        angles = numbers.transpose(1, 2).unsqueeze(-1) * self.frequencies
        seen = seen.transpose(1, 2).unsqueeze(-1)
        # In place, for it is large; and before it is looked at in another shape, or gradients would be copied.
        if len(numbers) == self.members:
            waves = torch.cat([angles.sin(), angles.cos()], dim=-1)
            layers = (self.waves_bias[:, part], waves, self._seen_waves()[:, part])
            described = torch.baddbmm(*(layer.flatten(0, 1) for layer in layers))
            described = described.mul_(seen.flatten(0, 1)).relu_().view(*waves.shape[:3], -1)
        else:  # all members see the same rows: one product for all, the bias as the weight of a one
            waves = torch.cat([angles.sin(), angles.cos(), torch.ones_like(seen)], dim=-1)[0].mul_(seen[0])
            weights = self._join() if self._joined is None else self._joined
            described = torch.bmm(waves, weights[part]).relu_()
            described = described.view(*waves.shape[:2], self.members, -1).permute(2, 0, 1, 3)
        return described.transpose(1, 2).flatten(2)

    def _join(self) -> Tensor:
        """Put the layers of all members side by side, their biases below, for rows that all of them see."""
        return torch.cat([self._seen_waves(), self.waves_bias], dim=2).permute(1, 2, 0, 3).flatten(2)

    def _seen_waves(self) -> Tensor:
        """Take away what a smooth member does not see: fast waves."""
        return self.waves * self.rough.repeat(1, 2).view(self.members, 1, -1, 1)

    def _linear(self, visible: Tensor, hidden: Tensor) -> Tensor:
        """Estimate each column from the others, what is hidden of them as estimated in the round before.

        So chained equations do, and a Gaussian's conditional mean comes out whatever is hidden.

        Shape
        -----
        ``visible`` and ``hidden`` (members or 1, n, n_numbers + n_levels); result (members, n, at least that).
        """
        chain = self.chain * self.others
        shown = visible.expand(self.members, -1, -1)
        estimate = torch.bmm(shown, chain)
        for _ in range(self._rounds - 1):
            estimate = torch.bmm(shown + estimate[..., : shown.shape[-1]] * hidden, chain)
        return estimate


def _looked_up(steps: Tensor, t: Tensor) -> Tensor:
    """Give the embedding of each row's step.

    Shape
    -----
    ``steps`` (members, diffusion steps + 1, width), ``t`` (members, channels, n); result (members, channels, n, width).
    """
    first = torch.arange(len(steps), device=t.device).view(-1, 1, 1) * steps.shape[1]
    return functional.embedding(t + first, steps.flatten(0, 1))


def _others(column: Tensor) -> Tensor:
    """Say as ones and zeros what may tell about what: a column tells nothing about itself."""
    width = len(column)
    others = (column.unsqueeze(1) != column).float()
    return functional.pad(others, (0, even(width) - width))


def _frequencies(settings: Settings) -> Tensor:
    """Give angular frequencies in even ratios."""
    low, high = (math.log(f) for f in (settings.lowest_frequency, settings.highest_frequency))
    powers = torch.linspace(low, high, settings.frequencies, dtype=torch.float64)
    return (2 * math.pi * powers.exp()).float()


def _rough(settings: Settings) -> Tensor:
    """Say which member sees which frequency, as ones and zeros."""
    seen = torch.ones(settings.members, settings.frequencies, dtype=torch.float32)
    if settings.smooth_frequency is not None:
        seen[1::2] = (_frequencies(settings) <= 2 * math.pi * settings.smooth_frequency).float()
    return seen


def _steps(n_steps: int) -> Tensor:
    """Describe each step 0 … T by sines and cosines of falling frequency."""
    frequencies = torch.exp(torch.arange(_WAVES, dtype=torch.float64) / _WAVES * -math.log(10_000))
    angles = torch.arange(n_steps + 1).unsqueeze(1) * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()
