"""Afterthoughts: what processes tell once neighbours have told what else a row lacks.

A surface is read off at what a row holds. Where the row lacks several cells, estimates stand in these, and how good they
are decides how good the answer is. Neighbours often know them much better than those who were asked before processes, so
the same processes are asked once more at the end.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.processes import Processes
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.trust import Expected, Trust, share_lacking

__all__ = ["Afterthought", "find_afterthought"]

_EXPECTED = Expected(0.5, 0.5)


@dataclass(frozen=True)
class Afterthought:
    """Processes that are asked once more, and how far they are believed then."""

    processes: Processes
    trust: Trust

    def mix(self, table: Table, numbers: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
        """Mix what others estimate for the holes of some rows with what processes make of that; levels are left as they are.

        Shape
        -----
        ``numbers`` (n, n_numbers), ``probabilities`` (n, n_levels); results likewise.
        """
        return self.processes.mix_by(self.trust, table, numbers, probabilities)


def find_afterthought(processes: Processes, lessons: Lessons, n_rows: int) -> tuple[Afterthought, Lessons]:
    """Settle how far to believe processes when they are asked once more.

    Parameters
    ----------
    processes
        With estimates in the holes of their rows that all together made.
    lessons
        What all together say about cells that they were held off.
    n_rows
        Of the table.

    Returns
    -------
    afterthought, lessons
        The lessons as they are with it.
    """
    told, signs = processes.examined(lessons, n_rows), share_lacking(lessons.shown.missing)
    trust, lessons = lessons.believe(told, processes.column, signs, _EXPECTED)
    return Afterthought(processes, trust), lessons
