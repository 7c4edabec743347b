"""Decimals between a library and door 1: whole numbers of their last digit."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind
from simpdm_frames.frames.exact import spread

__all__ = ["decimal_column", "fill_decimals", "to_digits"]

_EXACT = Context(prec=1000)  # more digits than any column has, whatever context the user has set


def decimal_column(
    name: Hashable,
    dtype: str,
    digits: Sequence[int],
    missing: NDArray[np.bool_],
    scale: int,
    precision: int | None = None,
) -> Column:
    """Make a column from the observed decimals, given in units of their last digit."""
    # Python's decimals have no precision of their own, and no scale but by habit.
    most = np.inf if precision is None else float(10 ** (precision - scale))
    grid = Grid() if precision is None else Grid(10.0**-scale, -most, most)
    seen = np.empty(len(digits), dtype=object)
    seen[:] = digits
    unit = Fraction(10) ** -scale
    return Column(name, dtype, Kind.CONTINUOUS, missing, spread(seen, missing), unit, grid)


def to_digits(value: Decimal, scale: int) -> int:
    """Give a decimal in units of its last digit."""
    return int(_EXACT.scaleb(value, scale))


def fill_decimals(filling: Filling, scale: int, precision: int | None = None) -> list[Decimal]:
    """Give a filling as decimals inside their precision."""
    unit = Fraction(10) ** scale
    if filling.levels:
        levels: Any = filling.levels
        exact = [round(Fraction(level) * unit) for level in levels]
        digits = [exact[code] for code in filling.values.tolist()]
    else:
        start = filling.origin * unit
        digits = [round(start + Fraction(value) * unit) for value in filling.values.tolist()]
        if filling.low is not None:
            digits = [max(number, math.ceil(filling.low * unit)) for number in digits]
        if filling.high is not None:
            digits = [min(number, math.floor(filling.high * unit)) for number in digits]
    if precision is not None:
        most = 10**precision - 1
        digits = [min(max(number, -most), most) for number in digits]
    return [_EXACT.scaleb(Decimal(number), -scale) for number in digits]
