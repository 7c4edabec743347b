"""The verbs of a frame library."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling

__all__ = ["Backend"]


class Backend(Protocol):
    """What a library has to be able to do. A module with these functions is a backend."""

    def matches(self, frame: object) -> bool:
        """Tell whether an object is a frame of this library, without importing the library."""

    def columns(self, frame: Any) -> Sequence[Hashable]:
        """List the names of the columns, in order."""

    def read(self, frame: Any, position: int) -> Column:
        """Read one column."""

    def write(
        self,
        frame: Any,
        fillings: Mapping[int, Filling],
        indicators: Mapping[Hashable, NDArray[np.bool_]],
    ) -> Any:
        """Give a new frame with holes filled, by position of the column; all else as it was.

        Indicators are columns of truth values to be added at the end.
        """

    def table(self, data: Mapping[str, Sequence[Any]]) -> Any:
        """Make a small frame from lists, for reports."""

    def register(self, accessor: type) -> None:
        """Put the accessor on the library's frames."""
