"""Noise without a state: each random number is a hash of what it is for.

A generator gives the next number to whoever asks next, so a fill would depend on batch size and row
order. Here the number for a cell is a function of seed, row key, draw, step and column alone.
Integers in int64 with wrapping products, so that every device gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["content_keys", "normal", "uniform"]

_STRIDE = -7046029254386353131  # 2^64 / golden ratio, odd: successive multiples spread evenly


def uniform(seed: int, keys: Tensor, purpose: Sequence[int], width: int) -> Tensor:
    """Draw numbers from the open unit interval.

    ``purpose`` tells this draw from every other of the same row, such as (draw, step).

    Shape
    -----
    ``keys`` (n,) int64; result (n, width) float32.
    """
    state = _mix(keys + _stride(seed))
    for part in purpose:
        state = _mix(state + _stride(part))
    columns = torch.arange(1, width + 1, device=keys.device) * _STRIDE
    bits = _mix(state.unsqueeze(1) + columns)
    # 23 bits and a half are the most that float32 holds without rounding up to 1.
    return ((bits >> 41 & 0x7FFFFF).float() + 0.5) * 2.0**-23


def normal(seed: int, keys: Tensor, purpose: Sequence[int], width: int) -> Tensor:
    """Draw standard normal numbers; as ``uniform`` otherwise."""
    return torch.erfinv(2 * uniform(seed, keys, purpose, width) - 1) * math.sqrt(2)


def content_keys(numbers: Tensor, codes: Tensor, missing: Tensor) -> Tensor:
    """Make a key of each row from what can be seen of it.

    Shape
    -----
    ``numbers`` (n, n_numbers) float32, ``codes`` (n, n_categories) int64, ``missing``
    (n, n_columns) bool; result (n,) int64.
    """
    bits = (numbers + 0.0).view(torch.int32).long()  # adding 0 makes one zero of the two
    cells = torch.cat([bits, codes], dim=1).masked_fill(missing, -(2**62))
    columns = torch.arange(1, cells.shape[1] + 1, device=cells.device) * _STRIDE
    return _mix(_mix(cells + columns).sum(1))


def _stride(part: int) -> int:
    """Move apart what differs by little; the result fits into int64."""
    return ((part + 1) * _STRIDE + 2**63) % 2**64 - 2**63


def _mix(x: Tensor) -> Tensor:
    """Scramble 64 bits so that each input bit moves half of the output (the splitmix64 finaliser)."""
    x = (x ^ (x >> 30 & 0x3FFFFFFFF)) * -4658895280553007687
    x = (x ^ (x >> 27 & 0x1FFFFFFFFF)) * -7723592293110705685
    return x ^ (x >> 31 & 0x1FFFFFFFF)
