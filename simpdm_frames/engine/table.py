"""An ``Encoded`` table as tensors, its holes padded with what is known of their columns."""

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

__all__ = ["Padding", "Table", "tensor"]


def tensor(array: NDArray[Any]) -> Tensor:
    """Share an array with torch, which takes neither read-only arrays nor backward strides."""
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))


@dataclass(frozen=True)
class Table:
    """Rows of a table on one device.

    Shape
    -----
    ``numbers`` (n, n_numbers); ``levels`` (n, n_levels), a distribution per head: certain where the
    category is observed; ``missing`` (n, n_columns) bool, numbers first.
    """

    numbers: Tensor
    levels: Tensor
    missing: Tensor

    @cached_property
    def log_levels(self) -> Tensor:
        """The levels as log-probabilities, for a table that is shown many times."""
        return self.levels.log()

    def __len__(self) -> int:
        return len(self.missing)

    def rows(self, index: Tensor) -> Table:
        """Take some rows."""
        return Table(self.numbers[index], self.levels[index], self.missing[index])

    def to(self, device: str) -> Table:
        """Move the rows to a device."""
        return Table(self.numbers.to(device), self.levels.to(device), self.missing.to(device))


@dataclass(frozen=True)
class Padding:
    """What stands in a hole before anything is estimated: the mean of its column.

    The mean of a categorical column, as ones and zeros, is the share of each level.

    Shape
    -----
    ``means`` (n_numbers,), ``shares`` (n_levels,).
    """

    means: Tensor
    shares: Tensor

    @classmethod
    def learn(cls, encoded: Encoded, heads: Heads) -> Padding:
        """Learn the padding from observed cells; every column needs at least one of them."""
        missing = tensor(encoded.missing)
        empty = missing.all(0).nonzero().flatten().tolist()
        if empty:
            names = ", ".join(encoded.layout.column(position) for position in empty)
            raise ValueError(f"nothing can be learnt about {names}: no observed cell; leave it out")
        seen_numbers, seen_codes = (~missing).tensor_split([encoded.layout.n_numbers], dim=1)
        numbers = tensor(encoded.numbers).double().where(seen_numbers, 0.0)
        codes = tensor(encoded.codes).where(seen_codes, 0)
        hot = heads.one_hot(codes) * heads.spread(seen_codes)
        return cls(
            means=(numbers.sum(0) / seen_numbers.sum(0)).float(),
            shares=(hot.double().sum(0) / heads.spread(seen_codes.sum(0))).float(),
        )

    def table(self, encoded: Encoded, heads: Heads) -> Table:
        """Move a table into tensors and pad its holes."""
        missing = tensor(encoded.missing)
        no_number, no_code = missing.tensor_split([encoded.layout.n_numbers], dim=1)
        codes = tensor(encoded.codes).masked_fill(no_code, 0)
        return Table(
            numbers=torch.where(no_number, self.means, tensor(encoded.numbers)),
            levels=torch.where(heads.spread(no_code).bool(), self.shares, heads.one_hot(codes)),
            missing=missing,
        )
