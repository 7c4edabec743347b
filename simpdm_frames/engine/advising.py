"""Who is asked beside the networks: each learns from the table, and is believed as far as held-out cells say."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from simpdm_frames.encoded import Layout
from simpdm_frames.engine.afterthought import Afterthought, find_afterthought
from simpdm_frames.engine.clusters import Clusters, find_clusters
from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.likeness import Deadline
from simpdm_frames.engine.neighbours import Neighbours
from simpdm_frames.engine.processes import Processes, find_processes
from simpdm_frames.engine.remembering import find_neighbours
from simpdm_frames.engine.table import Table
from simpdm_frames.settings import Settings

__all__ = ["Advisers", "Completing", "find_advisers"]


class Advisers(NamedTuple):
    """Those who are asked, one after another."""

    clusters: Clusters | None = None
    processes: Processes | None = None
    neighbours: Neighbours | None = None
    afterthought: Afterthought | None = None


Completing = Callable[[Advisers], Callable[[Table], Table]]
"""Gives what fills the holes of rows by networks and some advisers."""


def find_advisers(
    table: Table,
    layout: Layout,
    settings: Settings,
    rates: torch.Tensor,
    completing: Completing,
    lessons: Lessons | None,
    *,
    seed: int,
    deadline: Deadline | None = None,
) -> tuple[Advisers, Lessons | None] | None:
    """Find those who know something; None if there are none.

    What rows do not know themselves is estimated by the networks at first, then by all together, whereupon processes
    are asked once more. Who remembers no row
    has no other advisers either: what they know is not far from rows.

    Parameters
    ----------
    rates
        How often each column is hidden.
    lessons
        What networks say about cells that they were held off; None if nobody was.

    Returns
    -------
    advisers, lessons
        The lessons as they are when all answer together.
    """
    if not settings.neighbours:
        return None
    device = table.missing.device
    advisers = Advisers()

    def source(of: torch.device) -> torch.Generator:
        return torch.Generator(of).manual_seed(seed)

    grouped = find_clusters(
        table, layout, settings.clusters, completing(advisers), lessons, source(torch.device("cpu"))
    )
    if grouped is not None:
        clusters, lessons = grouped
        advisers = advisers._replace(clusters=clusters)
    laid = find_processes(table, layout, settings.processes, completing(advisers), lessons, source(device))
    if laid is not None:
        processes, lessons = laid
        advisers = advisers._replace(processes=processes)
    found = find_neighbours(
        table, layout, settings, rates, completing(advisers), lessons, source(device), deadline
    )
    if found is None:
        return None
    neighbours, lessons = found
    complete = completing(advisers._replace(neighbours=neighbours))
    advisers = advisers._replace(neighbours=neighbours.refilled(complete(neighbours.rows)))
    if advisers.processes is not None:
        refilled = advisers.processes.refilled(complete(advisers.processes.rows))
        advisers = advisers._replace(processes=refilled)
        if lessons is not None:
            afterthought, lessons = find_afterthought(refilled, lessons, len(table))
            advisers = advisers._replace(afterthought=afterthought)
    return advisers, lessons
