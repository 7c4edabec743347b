"""What all libraries share on the way to door 1 and back: whole numbers and time, without loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
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
    "plain",
    "real_column",
    "spread",
    "time_column",
    "to_midnight",
    "whole_column",
]

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
DAY = 86_400 * 10**9
Clock = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""From the ticks of UTC to those of a clock on the wall, or back."""
_EXACT = 2**53  # up to here float64 holds every whole number


def spread(seen: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Put the observed cells of a column back into their rows, zeros into its holes."""
    if len(seen) == len(missing):
        return seen
    whole = np.zeros(len(missing), dtype=seen.dtype)
    whole[~missing] = seen
    return whole


def whole_column(
    name: Hashable,
    dtype: str,
    seen: NDArray[Any],
    missing: NDArray[np.bool_],
    bounds: tuple[int, int],
    meaning: str = "number",
) -> Column:
    """Make a column of whole numbers from its observed cells."""
    grid = Grid(1.0, float(bounds[0]), float(bounds[1]))
    return Column(name, dtype, Kind.CONTINUOUS, missing, spread(seen, missing), 1, grid, meaning=meaning)


def time_column(
    name: Hashable,
    dtype: str,
    seen: NDArray[Any],
    missing: NDArray[np.bool_],
    tick: int,
    meaning: str,
    *,
    days: bool = False,
) -> Column:
    """Make a column of time from the observed ticks, each of so many nanoseconds."""
    low, high = (0.0, float(DAY - tick)) if meaning == "time of day" else (-np.inf, np.inf)
    grid = Grid(float(tick), low, high, days=days and len(seen) > 0)
    return Column(name, dtype, Kind.CONTINUOUS, missing, spread(seen, missing), tick, grid, meaning=meaning)


def real_column(
    name: Hashable, dtype: str, values: NDArray[np.float64], missing: NDArray[np.bool_], bound: float
) -> Column:
    """Make a column of floats."""
    return Column(name, dtype, Kind.CONTINUOUS, missing, values, grid=Grid(0.0, -bound, bound))


def meaning_of(labels: Sequence[Hashable]) -> str:
    """Say in a word what the labels of a dtype are."""
    kinds = {type(label) for label in labels}
    if kinds and kinds <= {bool}:
        return "truth value"
    return "number" if kinds and kinds <= {int, float} else "label"


def plain(label: Any) -> Hashable:
    """Give a label as Python has it; dates of numpy stay, which Python would round."""
    is_plain = isinstance(label, np.bool_ | np.integer | np.floating | np.str_)
    value: Hashable = label.item() if is_plain else label
    return value


def fill_whole(filling: Filling, low: int | None = None, high: int | None = None) -> NDArray[Any]:
    """Give a filling as whole numbers inside bounds: int64, or Python's where floats would round.

    A float next to 2^63 would be rounded past the bound.
    """
    if filling.levels:
        levels: Any = filling.levels
        inside = [_clip(int(level), low, high) for level in levels]
        return np.array(inside, dtype=object)[filling.values]
    low = low if filling.low is None else max(math.ceil(filling.low), _or(low, -math.inf))
    high = high if filling.high is None else min(math.floor(filling.high), _or(high, math.inf))
    values = np.rint(filling.values)
    farthest = float(np.abs(values).max(initial=0.0))
    if farthest < _EXACT and abs(filling.origin) < 2**62:
        floor, ceiling = _clip(-(2**63), low, high), _clip(2**63 - 1, low, high)
        return (values.astype(np.int64) + filling.origin).clip(max(floor, -(2**63)), min(ceiling, 2**63 - 1))
    exact = [_clip(filling.origin + int(value), low, high) for value in values.tolist()]
    return np.array(exact, dtype=object)


def fill_ticks(filling: Filling, tick: int, bits: int = 64) -> NDArray[np.int64]:
    """Count the nanoseconds of a filling in ticks of so many bits; the lowest often means a hole."""
    most = 2 ** (bits - 1) - 1
    return (fill_whole(filling, -most * tick, most * tick) // tick).astype(np.int64)


def fill_real(filling: Filling, kind: type[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Give a filling as floats of a kind, which may have to be rounded inwards to stay inside bounds."""
    if filling.levels:
        levels: Any = filling.levels
        return np.array([float(level) for level in levels]).astype(kind)[filling.values]
    most = float(np.finfo(kind).max)
    low = -most if filling.low is None else max(float(filling.low), -most)
    high = most if filling.high is None else min(float(filling.high), most)
    values = (filling.values + float(filling.origin)).clip(low, high).astype(kind)
    with np.errstate(over="ignore"):
        up, down = np.nextafter(values, kind(np.inf)), np.nextafter(values, kind(-np.inf))
    exact = values.astype(np.float64)
    return np.where(exact < low, up, np.where(exact > high, down, values))


def to_midnight(
    filling: Filling, ticks: NDArray[np.int64], tick: int, to_wall: Clock, from_wall: Clock
) -> NDArray[np.int64]:
    """Move ticks to the nearest midnight of a clock on the wall, if there is one inside the bounds."""
    day = DAY // tick
    most = 2**63 // day - 2
    low = -math.inf if filling.low is None else float(filling.low) / tick
    high = math.inf if filling.high is None else float(filling.high) / tick
    days = np.rint(to_wall(ticks) / day).astype(np.int64).clip(-most, most)
    near = from_wall(days * day)
    days += (near < low).astype(np.int64) - (near > high)
    near = from_wall(days * day)
    return np.where((near < low) | (near > high), ticks, near)


def _or(number: int | None, other: float) -> Any:
    return other if number is None else number


def _clip(number: int, low: int | None, high: int | None) -> int:
    number = number if low is None else max(number, low)
    return number if high is None else min(number, high)
