"""Whole numbers and ticks of time between a library and door 1, without loss."""

from __future__ import annotations

from simpdm_frames.column import Filling

__all__ = ["DAY", "NANOSECONDS", "fill_ticks", "fill_whole"]

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
DAY = 86_400 * 10**9


def fill_whole(filling: Filling, low: int, high: int) -> list[int]:
    """Add the origin in Python's integers: a float next to 2^63 would round past the bound."""
    return [min(max(filling.origin + round(value), low), high) for value in filling.values.tolist()]


def fill_ticks(filling: Filling, tick: int) -> list[int]:
    """Count the nanoseconds of a filling in ticks of 64 bits; the lowest of them often means a hole."""
    nanoseconds = fill_whole(filling, (-(2**63) + 1) * tick, (2**63 - 1) * tick)
    return [value // tick for value in nanoseconds]
