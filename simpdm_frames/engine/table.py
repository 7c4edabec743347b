"""An ``Encoded`` table as tensors: its numbers scaled, its holes padded with what is known of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from simpdm_frames.encoded import Encoded
from simpdm_frames.engine.ragged import Heads

__all__ = ["Padding", "Scale", "Table", "tensor"]

_BLOCK = 16_384  # rows whose levels are laid out at a time: those of all rows are held once, never twice


def tensor(array: NDArray[Any]) -> Tensor:
    """Share an array with torch, which takes neither read-only arrays nor backward strides."""
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))


@dataclass(frozen=True)
class Table:
    """Rows of a table on one device.

    Shape
    -----
    ``numbers`` (…, n, n_numbers); ``levels`` (…, n, n_levels), a distribution per head: certain where the
    category is observed; ``missing`` (…, n, n_columns) bool, numbers first. What stands before n are the
    members of an ensemble, each with rows of its own.
    """

    numbers: Tensor
    levels: Tensor
    missing: Tensor

    @cached_property
    def log_levels(self) -> Tensor:
        """The levels as log-probabilities, for a table that is shown many times."""
        return self.levels.log()

    def __len__(self) -> int:
        return self.missing.shape[-2]

    def rows(self, index: Tensor) -> Table:
        """Take some rows; an index of several axes gives tables of several axes."""
        return Table(self.numbers[index], self.levels[index], self.missing[index])

    def member(self, number: int) -> Table:
        """Take the rows of one member."""
        return Table(self.numbers[number], self.levels[number], self.missing[number])

    def part(self, begin: int, height: int) -> Table:
        """Take so many rows from one on, or those that are left."""
        height = min(height, len(self) - begin)
        parts = (part.narrow(-2, begin, height) for part in (self.numbers, self.levels, self.missing))
        return Table(*parts)

    def to(self, device: str) -> Table:
        """Move the rows to a device."""
        return Table(self.numbers.to(device), self.levels.to(device), self.missing.to(device))


@dataclass(frozen=True)
class Scale:
    """The unit in which the engine sees the numbers of each column.

    Shape
    -----
    ``centre``, ``spread`` (n_numbers,).
    """

    centre: Tensor
    spread: Tensor

    @classmethod
    def none(cls, n_numbers: int) -> Scale:
        """Leave numbers as they are."""
        return cls(*(torch.full((n_numbers,), value, dtype=torch.float32) for value in (0.0, 1.0)))

    @classmethod
    def learn(cls, encoded: Encoded) -> Scale:
        """Learn mean and standard deviation from observed cells."""
        seen = ~tensor(encoded.missing)[:, : encoded.layout.n_numbers]
        numbers = tensor(encoded.numbers).double().where(seen, 0.0)
        count = seen.sum(0).clamp(min=1)
        centre = numbers.sum(0) / count
        spread = ((numbers - centre).where(seen, 0.0).square().sum(0) / count).sqrt()
        # A column without spread, or with none that float32 can tell, is left in its own unit.
        plain = spread <= 1e-6 * (1 + centre.abs())
        return cls(centre.float(), spread.masked_fill(plain, 1.0).float())

    def to(self, device: str) -> Scale:
        """Move the scale to a device."""
        return Scale(self.centre.to(device), self.spread.to(device))

    def apply(self, numbers: Tensor) -> Tensor:
        """Put numbers into the engine's unit."""
        return (numbers - self.centre) / self.spread

    def undo(self, numbers: Tensor) -> Tensor:
        """Put numbers back into the unit they came in."""
        return numbers * self.spread + self.centre


@dataclass(frozen=True)
class Padding:
    """What stands in a hole before anything is estimated: the mean of its column.

    The mean of a categorical column, as ones and zeros, is the share of each level.

    Shape
    -----
    ``means`` (n_numbers,), in the engine's unit, ``shares`` (n_levels,).
    """

    means: Tensor
    shares: Tensor

    @classmethod
    def learn(cls, encoded: Encoded, heads: Heads, scale: Scale) -> Padding:
        """Learn the padding from observed cells; every column needs at least one of them."""
        missing = tensor(encoded.missing)
        empty = missing.all(0).nonzero().flatten().tolist()
        if empty:
            names = ", ".join(encoded.layout.column(position) for position in empty)
            raise ValueError(f"nothing can be learnt about {names}: no observed cell; leave it out")
        seen_numbers, seen_codes = (~missing).tensor_split([encoded.layout.n_numbers], dim=1)
        numbers = scale.apply(tensor(encoded.numbers)).double().where(seen_numbers, 0.0)
        codes = tensor(encoded.codes).where(seen_codes, 0)
        counts = torch.zeros(heads.n_levels, dtype=torch.float64)
        for begin in range(0, len(encoded), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            counts += (heads.one_hot(codes[rows]) * heads.spread(seen_codes[rows])).sum(0)
        return cls(
            means=(numbers.sum(0) / seen_numbers.sum(0)).float(),
            shares=(counts / heads.spread(seen_codes.sum(0))).float(),
        )

    def table(self, encoded: Encoded, heads: Heads, scale: Scale) -> Table:
        """Move a table into tensors and pad its holes."""
        numbers, missing = scale.apply(tensor(encoded.numbers)), tensor(encoded.missing)
        codes = tensor(encoded.codes).masked_fill(missing[:, encoded.layout.n_numbers :], 0)
        levels = torch.empty(len(encoded), heads.n_levels, dtype=torch.float32)
        for begin in range(0, len(encoded), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            part = self.fill(Table(numbers[rows], heads.one_hot(codes[rows]), missing[rows]), heads)
            numbers[rows], levels[rows] = part.numbers, part.levels
        return Table(numbers, levels, missing)

    def fill(self, table: Table, heads: Heads) -> Table:
        """Pad whatever a table marks as missing."""
        no_number, no_code = table.missing.tensor_split([len(self.means)], dim=-1)
        return Table(
            numbers=torch.where(no_number, self.means, table.numbers),
            levels=torch.where(heads.spread(no_code).bool(), self.shares, table.levels),
            missing=table.missing,
        )

    def to(self, device: str) -> Padding:
        """Move the padding to a device."""
        return Padding(self.means.to(device), self.shares.to(device))
