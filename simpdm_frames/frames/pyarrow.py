"""pyarrow tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from simpdm_frames.column import Column, Filling
from simpdm_frames.frames.arrow import fill_array, read_array

__all__ = ["columns", "matches", "read", "register", "table", "write"]


def matches(frame: object) -> bool:
    """Tell whether an object is a pyarrow table."""
    return isinstance(frame, pa.Table)


def columns(frame: Any) -> Sequence[Hashable]:
    """List the names of the columns."""
    return list(frame.column_names)


def read(frame: Any, position: int) -> Column:
    """Read one column."""
    field = frame.schema.field(position)
    return read_array(field.name, str(field.type), frame.column(position))


def write(
    frame: Any, fillings: Mapping[int, Filling], indicators: Mapping[Hashable, NDArray[np.bool_]]
) -> Any:
    """Give a table with holes filled; each field stays the same field."""
    done = frame
    for position, filling in fillings.items():
        field = frame.schema.field(position)
        filled = fill_array(field.name, str(field.type), frame.column(position), filling)
        done = done.set_column(position, field, filled)
    for name, holes in indicators.items():
        done = done.append_column(name, pa.array(holes))
    return done


def table(data: Mapping[str, Sequence[Any]]) -> Any:
    """Make a small table."""
    return pa.table(dict(data))


def register(accessor: type) -> None:
    """Do nothing: pyarrow's tables take no accessors, and the functions serve them."""
