"""What the values of a column have in common, beyond what their dtype demands.

Floats that are all whole, prices in cents, appointments at full hours: a fill should look like them.
"""

from __future__ import annotations

import numpy as np

from simpdm_frames.column import Column

__all__ = ["habit", "is_whole"]

_DECIMALS = (1.0, 0.1, 0.01, 0.001)
_TIMES = (86_400 * 10**9, 3600 * 10**9, 60 * 10**9, 10**9, 10**6, 10**3)
_OF_TIME = {"date", "date with time zone", "duration", "time of day"}
_SOME = 1000  # a look at some rows saves the rest


def habit(column: Column) -> float:
    """Give the coarsest ordinary step that all observed values keep, at least that of the dtype.

    Examples
    --------
    >>> from simpdm_frames.column import Kind
    >>> price = Column("price", "float64", Kind.CONTINUOUS, np.zeros(3, bool), np.array([9.99, 5.0, 0.25]))
    >>> habit(price)
    0.01
    """
    if column.unit and column.meaning not in _OF_TIME:
        return float(column.unit)  # integers, decimals, periods: all values keep it by their nature
    if not column.unit:
        steps = list(_DECIMALS)
    else:
        steps = [float(step) for step in _TIMES if step >= column.grid.step and not step % column.unit]
    for step in steps:
        if _keeps(column.rows(slice(_SOME)), step) and column.known.any() and _keeps(column, step):
            return max(step, column.grid.step)
    return column.grid.step


def is_whole(column: Column) -> bool:
    """Tell whether a column holds whole numbers, whatever its dtype."""
    return column.meaning == "number" and habit(column) == 1


def _keeps(column: Column, step: float) -> bool:
    """Tell whether all observed values are multiples of a step; true of a column of holes."""
    seen = column.values[column.known]
    if column.unit:
        return not np.asarray(seen % int(step / column.unit)).any()
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((seen == np.round(seen, _DECIMALS.index(step))).all())
