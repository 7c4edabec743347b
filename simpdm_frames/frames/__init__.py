"""Room 1, the frames: what a library calls a table.

One file per library, all of one shape. This room knows how columns are stored; it does not know what
they mean to the model.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from importlib import import_module
from typing import cast

from simpdm_frames.column import Column
from simpdm_frames.errors import UnknownFrameError
from simpdm_frames.frames.arrival import when_imported
from simpdm_frames.frames.base import Backend
from simpdm_frames.frames.lazy import at_once, by_batches, gather, head, holes, is_lazy

__all__ = [
    "Backend",
    "add_backend",
    "at_once",
    "backend_of",
    "by_batches",
    "gather",
    "head",
    "holes",
    "is_lazy",
    "read",
    "register",
]

_LIBRARIES = ("pandas", "polars", "pyarrow")
_ADDED: list[Backend] = []
_ACCESSORS: list[type] = []
_WAYS_OUT = {
    ".Series": "; turn it into a frame first: series.to_frame()",
    ".ndarray": "; turn it into a frame first: pandas.DataFrame(array)",
    ".RecordBatch": "; turn it into a table first: pyarrow.Table.from_batches([batch])",
}


def add_backend(backend: Backend) -> None:
    """Let frames of one more library be filled; a backend that was added later is asked earlier."""
    if backend in _ADDED:
        return
    _ADDED.insert(0, backend)
    for accessor in _ACCESSORS:
        backend.register(accessor)


def backend_of(frame: object) -> Backend:
    """Find the backend for a frame; a library that nobody has imported cannot have made it."""
    for backend in _ADDED:
        if backend.matches(frame):
            return backend
    for library in _LIBRARIES:
        if library in sys.modules and _backend(library).matches(frame):
            return _backend(library)
    given = f"{type(frame).__module__}.{type(frame).__qualname__}"
    hint = next((way for end, way in _WAYS_OUT.items() if given.endswith(end)), "")
    raise UnknownFrameError(f"expected a frame of {' or '.join(_LIBRARIES)}, got {given}{hint}")


def read(frame: object) -> list[Column]:
    """Read all columns of a frame."""
    backend = backend_of(frame)
    names = backend.columns(frame)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"columns are matched by name, but these stand more than once: {twice!r}; rename them"
        )
    return [backend.read(frame, position) for position in range(len(names))]


def register(accessor: type) -> None:
    """Put the accessor on the frames of every library that is imported, now or later."""
    _ACCESSORS.append(accessor)
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
