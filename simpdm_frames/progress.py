"""A progress bar for those who watch, silence for everyone else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

__all__ = ["Listener", "check_progress", "watching"]

Listener = Callable[[Any], bool | None]
"""Told how a fit is going, every few steps; True ends the training."""

_DELAY = 2.0  # seconds; what is over sooner needs no bar


def check_progress(progress: Any) -> None:
    """Refuse what is no way to show progress."""
    if progress not in (True, False, "auto") and not callable(progress):
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


class _Bar:
    """tqdm's bar, on the error stream, with the loss beside it."""

    def __init__(self, *, wait: bool) -> None:
        from tqdm.auto import tqdm  # noqa: PLC0415  # needed only by those who watch

        self._bar: Any = tqdm(desc="simpdm", unit="step", leave=False, delay=_DELAY if wait else 0.0)

    def __call__(self, progress: Any) -> None:
        self._bar.total = progress.steps
        self._bar.set_postfix(loss=f"{progress.loss:.4f}", refresh=False)
        self._bar.update(progress.step - self._bar.n)

    def close(self) -> None:
        self._bar.close()
