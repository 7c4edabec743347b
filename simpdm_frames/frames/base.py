"""The five verbs of a frame library."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

from simpdm_frames.column import Column, Filling

__all__ = ["Backend"]


class Backend(Protocol):
    """What a library has to be able to do. A module with these five functions is a backend."""

    def matches(self, frame: object) -> bool:
        """Tell whether an object is a frame of this library, without importing the library."""

    def columns(self, frame: Any) -> Sequence[Hashable]:
        """List the names of the columns, in order."""

    def read(self, frame: Any, position: int) -> Column:
        """Read one column."""

    def write(self, frame: Any, fillings: Mapping[int, Filling]) -> Any:
        """Give a new frame with holes filled, by position of the column; all else as it was."""

    def register(self, accessor: type) -> None:
        """Put the accessor on the library's frames."""
