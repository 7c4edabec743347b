"""Errors and warnings: each names the column, the dtype and the way out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Sequence
from types import FrameType

__all__ = [
    "ColumnsDifferError",
    "GpuUnavailableError",
    "GpuUnavailableWarning",
    "HolesLeftError",
    "MeaningDiffersError",
    "UnfilledColumnsWarning",
    "UnknownFrameError",
]


class UnknownFrameError(TypeError):
    """The object is not a frame of a library that is known here."""


class ColumnsDifferError(ValueError):
    """The frame lacks columns that the model needs."""


class MeaningDiffersError(TypeError):
    """A column means something else than it did when the model was fit."""


class HolesLeftError(RuntimeError):
    """A column that should have been filled still has holes."""


class GpuUnavailableError(RuntimeError):
    """The device that was required is not there."""


class GpuUnavailableWarning(UserWarning):
    """A GPU was wished for but is not there; the CPU does the work."""


class UnfilledColumnsWarning(UserWarning):
    """Some columns keep their holes; the message says which ones and why."""


def describe(columns: Sequence[tuple[Hashable, str]]) -> str:
    """List columns with their dtypes."""
    return ", ".join(f"{name!r} ({dtype})" for name, dtype in columns)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code that led here, however deep in the package we are."""
    level = 1
    frame: FrameType | None = sys._getframe()  # noqa: SLF001  # what the warnings module itself does
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "simpdm_frames":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
