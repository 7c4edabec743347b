"""Fitting several times from seeds of their own, as one run in the eyes of those who watch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from simpdm_frames.engine.training import Callback, Progress

__all__ = ["repeat"]

T = TypeVar("T")
_APART = 0x9E3779B97F4A7C15  # between seeds: runs that begin at neighbouring seeds share none
_SEEDS = 2**63
_WITH_FILLING = 1.25  # times as long as a fit takes, with what it adds to the filling


def repeat(
    fit: Callable[[int, Sequence[Callback]], T],
    times: int,
    seed: int,
    callbacks: Sequence[Callback],
    until: float | None = None,
) -> list[T]:
    """Fit so many times, or until a callback wants no more; the first fit is that of the seed itself.

    Parameters
    ----------
    until
        By the clock of ``time``: no fit is begun that would hardly be over by then if it took as long as the one before.

    Examples
    --------
    >>> repeat(lambda own_seed, callbacks: own_seed, 2, 5, [])
    [5, 2177342782468422682]
    """
    done: list[T] = []
    run = _Run(times)
    for number in range(times):
        began = time.perf_counter()
        done.append(fit((seed + number * _APART) % _SEEDS, [run.told(callback) for callback in callbacks]))
        now = time.perf_counter()
        if run.ended or (until is not None and now + _WITH_FILLING * (now - began) > until):
            break
        run.next()
    return done


class _Run:
    """How far several fits have come together."""

    ended = False

    def __init__(self, times: int) -> None:
        self._left = times - 1
        self._began = time.perf_counter()
        self._before, self._seconds = 0, 0.0
        self._step = self._planned = 0

    def told(self, callback: Callback) -> Callback:
        """Tell a callback of all fits together; one that wants no more ends them all."""

        def tell(progress: Progress) -> bool:
            self._step, self._planned = progress.step, max(progress.steps, self._planned)
            whole = replace(
                progress,
                step=self._before + progress.step,
                steps=self._before + progress.steps + self._planned * self._left,
                seconds=self._seconds + progress.seconds,
            )
            answer = bool(callback(whole))
            self.ended |= answer
            return answer

        return tell

    def next(self) -> None:
        """Go on to the next fit."""
        self._left -= 1
        self._before += self._step
        self._seconds = time.perf_counter() - self._began
