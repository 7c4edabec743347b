"""A progress bar for those who watch, words for those who ask, silence for everyone else."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

__all__ = ["HINTS", "LOGGER", "Listener", "Narrator", "check_progress", "watching"]

LOGGER = logging.getLogger("simpdm_frames")
"""What a fit has to say goes here; nobody has to listen."""

HINTS = LOGGER.getChild("hints")
"""What a fit has to say about values that may not be what they look like."""

Listener = Callable[[Any], bool | None]
"""Told how a fit is going, every few steps; True ends the training."""

_DELAY = 2.0  # seconds; what is over sooner needs no bar
_WATCHED = 1.0  # seconds that tell the pace of a fit, on a machine that has other work too


def check_progress(progress: Any) -> None:
    """Refuse what is no way to show progress."""
    if not isinstance(progress, bool) and progress != "auto" and not callable(progress):
        raise ValueError(f"progress must be 'auto', True, False or a function, got {progress!r}")


@contextmanager
def watching(progress: Any) -> Iterator[list[Listener]]:
    """Give the listeners of a fit, and take the bar away afterwards."""
    if callable(progress):
        yield [progress]
    elif progress is True or (progress == "auto" and _someone_watches()):
        with closing(_Bar(wait=progress == "auto")) as bar:
            yield [bar]
    else:
        yield []


def _someone_watches() -> bool:
    if os.environ.get("TQDM_DISABLE", "") not in ("", "0"):
        return False
    in_notebook = "ZMQInteractiveShell" in repr(getattr(sys.modules.get("IPython"), "get_ipython", str)())
    return in_notebook or bool(getattr(sys.stderr, "isatty", bool)())


class Narrator:
    """Say what a fit is about to do, how long that will take, and what it did.

    Parameters
    ----------
    what
        What is fitted, and where.
    aloud
        Also on the error stream.
    limit
        Seconds that the fit may take; None for as long as its steps take.
    """

    def __init__(self, what: str, *, aloud: bool, limit: float | None) -> None:
        self._aloud, self._limit = aloud, limit
        self._first: Any = None
        self._told = False
        self.last: Any = None
        """How the fit was going when it was last heard of."""
        self.say(f"fit: {what}")

    def say(self, text: str, logger: logging.Logger = LOGGER) -> None:
        """Log a line, and show it above a bar if there is one."""
        logger.info(text)
        if self._aloud:
            from tqdm.auto import tqdm  # noqa: PLC0415  # needed only by those who watch

            tqdm.write(f"simpdm: {text}", file=sys.stderr)

    def __call__(self, progress: Any) -> None:
        """Listen to the fit, and foretell its end once its pace is known; its first steps had to warm up."""
        self.last = progress
        if self._first is None:
            self._first = progress
        elif progress.stage != "training":
            self.say(f"fit: {progress.stage}")
        elif not self._told and progress.seconds - self._first.seconds >= _WATCHED:
            self._told = True
            pace = (progress.seconds - self._first.seconds) / max(progress.step - self._first.step, 1)
            whole = progress.seconds + pace * (progress.steps - progress.step)
            self.say(f"fit: at most about {min(whole, self._limit or whole):.0f} s")

    def close(self) -> None:
        """Say how it went."""
        if self.last is not None:
            self.say(f"fit: {self.last.step:,} steps in {self.last.seconds:.1f} s, loss {self.last.loss:.4f}")


class _Bar:
    """tqdm's bar, on the error stream, with the loss beside it."""

    def __init__(self, *, wait: bool) -> None:
        from tqdm.auto import tqdm  # noqa: PLC0415  # needed only by those who watch

        self._bar: Any = tqdm(desc="simpdm", unit="step", leave=False, delay=_DELAY if wait else 0.0)

    def __call__(self, progress: Any) -> None:
        self._bar.total = progress.steps
        training = progress.stage == "training"
        self._bar.set_description("simpdm" if training else f"simpdm, {progress.stage}", refresh=False)
        self._bar.set_postfix(loss=f"{progress.loss:.4f}", refresh=False)
        self._bar.update(progress.step - self._bar.n)

    def close(self) -> None:
        self._bar.close()
