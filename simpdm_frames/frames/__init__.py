"""Room 1, the frames: what a library calls a table.

One file per library, all of one shape. This room knows how columns are stored; it does not know what
they mean to the model.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import cast

from simpdm_frames.errors import UnknownFrameError
from simpdm_frames.frames.arrival import when_imported
from simpdm_frames.frames.base import Backend

__all__ = ["Backend", "backend_of", "register"]

_LIBRARIES = ("pandas", "polars")


def backend_of(frame: object) -> Backend:
    """Find the backend for a frame; a library that nobody has imported cannot have made it."""
    for library in _LIBRARIES:
        if library in sys.modules and _backend(library).matches(frame):
            return _backend(library)
    given = f"{type(frame).__module__}.{type(frame).__qualname__}"
    hint = "; turn it into a frame first: series.to_frame()" if given.endswith(".Series") else ""
    raise UnknownFrameError(f"expected a frame of {' or '.join(_LIBRARIES)}, got {given}{hint}")


def register(accessor: type) -> None:
    """Put the accessor on the frames of every library that is imported, now or later."""
    for library in _LIBRARIES:
        # In two steps, because the import of a backend may itself be what brings the library: the
        # library brings its backend, and the backend, once it is whole, takes the accessor.
        when_imported(_path(library), partial(_take, library, accessor))
        when_imported(library, partial(_backend, library))


def _take(library: str, accessor: type) -> None:
    _backend(library).register(accessor)


def _backend(library: str) -> Backend:
    return cast("Backend", import_module(_path(library)))


def _path(library: str) -> str:
    return f"simpdm_frames.frames.{library}"
