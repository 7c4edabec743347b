"""Errors and warnings: each names the column, the dtype and the way out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

__all__ = [
    "ColumnsDifferError",
    "ExtraColumnsWarning",
    "FewRowsWarning",
    "FewStepsWarning",
    "GpuUnavailableError",
    "GpuUnavailableWarning",
    "HolesLeftError",
    "InfiniteValuesError",
    "MeaningDiffersError",
    "ModelFileError",
    "NarrowColumnsWarning",
    "Place",
    "UnfilledColumnsError",
    "UnfilledColumnsWarning",
    "UnknownFrameError",
    "UnseenLabelsError",
    "UnseenLabelsWarning",
    "describe",
]


class UnknownFrameError(TypeError):
    """The object is not a frame of a library that is known here."""


class ColumnsDifferError(ValueError):
    """The frame lacks columns that the model needs."""


class MeaningDiffersError(TypeError):
    """A column means something else than it did when the model was fit."""


class ModelFileError(ValueError):
    """A file holds no model that can be used, or a model cannot be written to a file."""


class InfiniteValuesError(ValueError):
    """Columns hold infinite values, and nothing was said about them."""


class UnfilledColumnsError(ValueError):
    """Columns would keep holes, and the caller asked to be told so by an error."""


class UnseenLabelsError(ValueError):
    """A column holds labels that were not there at the fit, and the caller asked for an error."""


class HolesLeftError(RuntimeError):
    """A column that should have been filled still has holes."""

    @classmethod
    def because(cls, name: Hashable, dtype: str) -> HolesLeftError:
        """Say that a dtype is too narrow."""
        return cls(
            f"{describe([(name, dtype)])} cannot hold what the model would fill in; convert it to a wider dtype"
        )


class GpuUnavailableError(RuntimeError):
    """The device that was required is not there."""


class GpuUnavailableWarning(UserWarning):
    """A GPU was wished for but is not there; the CPU does the work."""


class UnfilledColumnsWarning(UserWarning):
    """Some columns keep their holes; the message says which ones and why."""


class UnseenLabelsWarning(UserWarning):
    """Some columns hold labels that were not there at the fit; they stay and count as unknown."""


class NarrowColumnsWarning(UserWarning):
    """The dtype of some columns rules out values that the model knows; fills are among the others."""


class ExtraColumnsWarning(UserWarning):
    """The frame has columns that were not there at the fit; they are passed through."""


class FewRowsWarning(UserWarning):
    """There are too few rows to learn much from."""


class FewStepsWarning(UserWarning):
    """A budget of time ended the training before much was learnt."""


def describe(columns: Sequence[tuple[Hashable, str]]) -> str:
    """List columns with their dtypes."""
    return ", ".join(f"{name!r} ({dtype})" for name, dtype in columns)


# Ourselves, and the libraries whose pipe and map call us.
_NOT_THE_USER = {"simpdm_frames", "pandas", "polars", "pyarrow"}


@dataclass(frozen=True)
class Place:
    """A line of the user's code that warnings point at, however deep in the package or late they come."""

    filename: str
    line: int
    module: str
    registry: dict[Any, Any] = field(repr=False, compare=False)  # where Python notes what it has shown

    @classmethod
    def here(cls) -> Place:
        """Find the line that called the package."""
        frame: FrameType | None = sys._getframe()  # noqa: SLF001  # what the warnings module itself does
        while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USER:
            frame = frame.f_back
        if frame is None:
            return cls("<simpdm_frames>", 1, "simpdm_frames", {})
        module = frame.f_globals.get("__name__", "__main__")
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        return cls(frame.f_code.co_filename, frame.f_lineno, module, registry)

    def warn(self, message: str, category: type[Warning]) -> None:
        """Warn at this line."""
        warnings.warn_explicit(
            message, category, self.filename, self.line, self.module, registry=self.registry
        )
