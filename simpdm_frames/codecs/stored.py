"""What codecs must be like that come from a file: those that were learnt are so by themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from simpdm_frames.codecs.continuous import ContinuousCodec
from simpdm_frames.codecs.discrete import DiscreteCodec
from simpdm_frames.codecs.few import FewCodec
from simpdm_frames.codecs.ordinal import OrdinalCodec
from simpdm_frames.codecs.policy import Treatment
from simpdm_frames.codecs.table import TableCodec

__all__ = ["CODECS", "refuse_nonsense"]

CODECS = (ContinuousCodec, OrdinalCodec, FewCodec, DiscreteCodec)


def refuse_nonsense(codec: TableCodec) -> None:
    """Raise a ValueError that names the column if a codec could not have been learnt."""
    _refuse_others(codec.numbers, ContinuousCodec, OrdinalCodec)
    _refuse_others(codec.categories, FewCodec, DiscreteCodec)
    _refuse_others(codec.plan, Treatment)
    for name, part in codec.codecs.items():
        if name not in codec.plan or not codec.plan[name].modelled:
            raise ValueError(f"nothing says what {name!r} is treated as")
        if not _makes_sense(part):
            raise ValueError(f"what is said of {name!r} makes no sense")
    if len(codec.codecs) < len(codec.numbers) + len(codec.categories):
        raise ValueError("a column cannot be both one number and levels")


def _refuse_others(parts: Mapping[Any, Any], *kinds: type) -> None:
    for name, part in parts.items():
        if not isinstance(part, kinds):
            raise ValueError(f"{name!r} is described by a {type(part).__name__}")  # noqa: TRY004  # of a file


def _makes_sense(codec: Any) -> bool:
    if isinstance(codec, ContinuousCodec):
        grid, ends = codec.grid, (codec.floor, codec.ceiling)
        sound = math.isfinite(codec.low) and math.isfinite(codec.high) and codec.low <= codec.high
        sound &= abs(codec.origin) < 10**300  # or sums with it would leave the range of floats
        on_grid = math.isfinite(grid.step) and grid.step >= 0 and grid.low <= grid.high
        return sound and on_grid and not any(isinstance(end, float) and math.isnan(end) for end in ends)
    if not codec.levels or len(set(map(repr, codec.levels))) < len(codec.levels):
        return False
    if isinstance(codec, OrdinalCodec):
        return len(codec.ranks) == len(codec.levels) and _rises(codec.ranks)
    if isinstance(codec, FewCodec):
        return all(isinstance(level, int | Fraction) for level in codec.levels) and _rises(codec.levels)
    return len(codec.counts) == len(codec.levels) and all(
        type(count) is int and 0 < count < 2**63 for count in codec.counts
    )


def _rises(numbers: Any) -> bool:
    return all(low < high for low, high in pairwise(numbers))
