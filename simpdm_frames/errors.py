"""Errors and warnings: each names the column, the dtype and the way out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

__all__ = ["ColumnsDifferError", "UnfilledColumnsWarning", "UnknownFrameError", "describe"]


class UnknownFrameError(TypeError):
    """The object is not a frame of a library that is known here."""


class ColumnsDifferError(ValueError):
    """The frame does not fit the model: columns are missing, or mean something else."""


class UnfilledColumnsWarning(UserWarning):
    """Some columns keep their holes; the message says which ones and why."""


def describe(columns: Sequence[tuple[Hashable, str]]) -> str:
    """List columns with their dtypes."""
    return ", ".join(f"{name!r} ({dtype})" for name, dtype in columns)
