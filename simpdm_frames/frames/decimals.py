"""Decimals between a library and door 1: whole numbers of their last digit, without loss."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from decimal import Context, Decimal

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind

__all__ = ["decimal_column", "fill_decimals"]

_EXACT = Context(prec=200)  # more digits than any column has, whatever context the user has set


def decimal_column(
    name: Hashable,
    dtype: str,
    seen: Sequence[Decimal],
    missing: NDArray[np.bool_],
    scale: int,
    precision: int,
    *,
    origin: int | None,
) -> Column:
    """Make a column from its observed decimals, counted from a whole number, by default below the lowest."""
    if origin is None:
        origin = math.floor(min(seen)) if len(seen) else 0
    values = np.zeros(len(missing))
    values[~missing] = [float(_EXACT.subtract(value, Decimal(origin))) for value in seen]
    most = float(10 ** (precision - scale))
    return Column(
        name,
        dtype,
        Kind.CONTINUOUS,
        missing,
        values,
        origin,
        Grid(10.0**-scale, -most - origin, most - origin, whole=scale == 0),
    )


def fill_decimals(filling: Filling, scale: int, precision: int) -> list[Decimal]:
    """Add the origin to a filling in units of the last digit, inside the precision."""
    unit, most = 10**scale, 10**precision - 1
    unscaled = (filling.origin * unit + round(value * unit) for value in filling.values.tolist())
    return [_EXACT.scaleb(Decimal(min(max(number, -most), most)), -scale) for number in unscaled]
