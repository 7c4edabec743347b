"""How many threads a training runs on: as many as make it fastest, found by trying.

Small products gain little from many threads, and on a machine that has other work too, threads that wait for
each other can make a step take many times as long. Which is the case cannot be known beforehand and may
change, so it is tried, and tried again from time to time. Weights do not depend on it, but for last bits.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

__all__ = ["Threads", "finding_threads"]

_STEPS = 10  # that tell how fast a number of threads is
_FASTER = 0.95  # less than this gain is chance
_HOPELESS = 2.0  # a number of threads that takes so many times as long is not tried to the end
_AGAIN = 15.0  # seconds after which the machine may have become another one
_ONE_AT_A_TIME = threading.Lock()  # torch has one number of threads for all


class Threads:
    """Told after each step, tries half or twice the number of threads, and stays with what is faster.

    Parameters
    ----------
    most
        The number to begin with; it is never exceeded.
    use
        Called with the number of threads that is to be used from now on.
    clock
        Gives seconds.
    """

    def __init__(
        self, most: int, use: Callable[[int], None], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._most, self._use, self._clock = most, use, clock
        self._best = self._tried = most
        self._fewer = True
        self._pace: float | None = None  # seconds of a step with the best number, once they are known
        self._steps: list[float] = []
        self._last = clock()
        self._skipped = _STEPS  # the first steps allocate what later ones use again
        self._resting_until = self._last

    def __call__(self) -> None:
        """Take note that a step is over."""
        now = self._clock()
        taken, self._last = now - self._last, now
        if self._skipped or now < self._resting_until:
            self._skipped = max(self._skipped - 1, 0)
            return
        self._steps.append(taken)
        if self._pace is not None and sum(self._steps) > _HOPELESS * _STEPS * self._pace:
            self._settle()
        elif len(self._steps) == _STEPS:
            pace = statistics.median(self._steps)  # one of them may have waited for something else
            self._steps.clear()
            if self._pace is None or pace < _FASTER * self._pace:
                self._best, self._pace = self._tried, pace
                self._go_on()
            else:
                self._settle()

    def _go_on(self) -> None:
        """Try the next number in the same direction, if there is one."""
        number = self._best // 2 if self._fewer else min(2 * self._best, self._most)
        if number in {0, self._best}:
            self._settle()
        else:
            self._take(number)

    def _settle(self) -> None:
        """Stay with the best number for a while; then try the other direction."""
        self._take(self._best)
        self._steps.clear()
        self._pace = None
        self._resting_until = self._last + _AGAIN
        self._fewer = self._best == self._most or (self._best > 1 and not self._fewer)

    def _take(self, number: int) -> None:
        if number != self._tried:
            self._tried = number
            self._use(number)


@contextmanager
def finding_threads() -> Iterator[Callable[[], None] | None]:
    """Give what is to be told after each step, and leave torch with the threads that it had."""
    most = torch.get_num_threads()
    if most == 1 or not _ONE_AT_A_TIME.acquire(blocking=False):
        yield None
        return
    try:
        yield Threads(most, torch.set_num_threads)
    finally:
        torch.set_num_threads(most)
        _ONE_AT_A_TIME.release()
