"""What all libraries share on the way to door 1 and back: whole numbers and time, without loss."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling, Grid, Kind

__all__ = [
    "DAY",
    "NANOSECONDS",
    "fill_real",
    "fill_ticks",
    "fill_whole",
    "meaning_of",
    "real_column",
    "time_column",
    "whole_column",
]

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
DAY = 86_400 * 10**9
_EXACT = 2**53  # up to here float64 holds every whole number


def whole_column(
    name: Hashable,
    dtype: str,
    seen: NDArray[Any],
    missing: NDArray[np.bool_],
    bounds: tuple[int, int],
    *,
    origin: int | None,
    meaning: str = "number",
) -> Column:
    """Make a column of whole numbers of at most 64 bits from its observed cells."""
    values, origin = _count(seen, missing, origin)
    grid = Grid(1.0, float(bounds[0] - origin), float(bounds[1] - origin), whole=True)
    return Column(name, dtype, Kind.CONTINUOUS, missing, values, origin, grid, meaning=meaning)


def time_column(
    name: Hashable,
    dtype: str,
    seen: NDArray[Any],
    missing: NDArray[np.bool_],
    tick: int,
    meaning: str,
    *,
    origin: int | None,
    days: bool = False,
) -> Column:
    """Make a column of time from the observed ticks, each of so many nanoseconds."""
    whole, rest = (None, 0) if origin is None else divmod(origin, tick)
    values, first = _count(seen, missing, whole)
    grid = Grid(float(tick), days=days and len(seen) > 0)
    return Column(
        name,
        dtype,
        Kind.CONTINUOUS,
        missing,
        values * tick - rest,
        first * tick + rest,
        grid,
        meaning=meaning,
    )


def real_column(
    name: Hashable, dtype: str, values: NDArray[np.float64], missing: NDArray[np.bool_], bound: float
) -> Column:
    """Make a column of floats; whole ones are integers that became floats because of their holes."""
    few = values[:1000]  # a look at some rows saves the rest
    whole = (_are_whole(few) or not np.isfinite(few).any()) and _are_whole(values)
    return Column(name, dtype, Kind.CONTINUOUS, missing, values, grid=Grid(0.0, -bound, bound, whole=whole))


def meaning_of(levels: Sequence[Hashable]) -> str:
    """Say in a word what labels are: columns of categories are told apart by what stands in them."""
    kinds = {type(label) for label in levels}
    if kinds and kinds <= {bool}:
        return "truth value"
    return "number" if kinds and kinds <= {int, float} else "label"


def fill_whole(filling: Filling, low: int, high: int) -> NDArray[Any]:
    """Add the origin to a filling, inside bounds: int64, or Python's integers where floats would round.

    A float next to 2^63 would be rounded past the bound.
    """
    values = np.rint(filling.values)
    farthest = float(np.abs(values).max(initial=0.0))
    if farthest < _EXACT and abs(filling.origin) < 2**62:
        inside = (max(low, -(2**63)), min(high, 2**63 - 1))
        return (values.astype(np.int64) + filling.origin).clip(*inside)
    exact = [min(max(filling.origin + int(value), low), high) for value in values.tolist()]
    return np.array(exact, dtype=object)


def fill_ticks(filling: Filling, tick: int, bits: int = 64) -> NDArray[np.int64]:
    """Count the nanoseconds of a filling in ticks of so many bits; the lowest often means a hole."""
    most = 2 ** (bits - 1) - 1
    return (fill_whole(filling, -most * tick, most * tick) // tick).astype(np.int64)


def fill_real(filling: Filling, bound: float) -> NDArray[np.float64]:
    """Add the origin to a filling, as floats that the dtype can hold."""
    return (filling.values + float(filling.origin)).clip(-bound, bound)


def _count(
    seen: NDArray[Any], missing: NDArray[np.bool_], origin: int | None
) -> tuple[NDArray[np.float64], int]:
    """Count whole numbers from an origin, by default the lowest: exact before the conversion to float64."""
    low, high = (int(seen.min()), int(seen.max())) if len(seen) else (0, 0)
    origin = low if origin is None else origin
    # In 64 bits that wrap around the difference is right as long as it fits, signed or unsigned.
    steps = seen.astype(np.uint64) - np.uint64(origin % 2**64)
    if low - origin >= -(2**63) and high - origin < 2**63:
        distances = steps.view(np.int64).astype(np.float64)
    elif low >= origin and high - origin < 2**64:
        distances = steps.astype(np.float64)
    else:
        distances = np.array([float(int(number) - origin) for number in seen])
    if len(seen) == len(missing):
        return distances, origin
    values = np.zeros(len(missing))
    values[~missing] = distances
    return values, origin


def _are_whole(values: NDArray[np.float64]) -> bool:
    """Tell whether there are finite values and all of them are whole."""
    finite = np.isfinite(values)
    return bool(finite.any() and ((values == np.rint(values)) | ~finite).all())
