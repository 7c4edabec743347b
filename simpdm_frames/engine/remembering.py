"""Which rows of a table are remembered, what makes rows like them, and how far they are believed."""

from __future__ import annotations

from collections.abc import Callable

import torch

from simpdm_frames.encoded import Layout
from simpdm_frames.engine.judging import Lessons
from simpdm_frames.engine.likeness import Deadline, Weights, learn_weights
from simpdm_frames.engine.neighbours import SIGNS, Neighbours
from simpdm_frames.engine.ragged import columns_of
from simpdm_frames.engine.table import Table
from simpdm_frames.engine.trust import Trust
from simpdm_frames.settings import Settings

__all__ = ["find_neighbours"]

_WIDEST = 256  # numbers and levels; to compare rows by more of them would cost more than all the rest


def find_neighbours(
    table: Table,
    layout: Layout,
    settings: Settings,
    rates: torch.Tensor,
    complete: Callable[[Table], Table],
    lessons: Lessons | None,
    generator: torch.Generator,
    deadline: Deadline | None = None,
) -> tuple[Neighbours, Lessons | None] | None:
    """Remember rows, and learn what makes others like them; None where there is nothing to ask or too much.

    Parameters
    ----------
    rates
        How often each column is hidden.
    complete
        Fills holes with what networks estimate.
    lessons
        What networks say about cells that they were held off; None if nobody was.

    Returns
    -------
    neighbours, lessons
        The lessons as they are when networks and neighbours answer together.
    """
    column = columns_of(layout.n_numbers, layout.cardinalities).to(table.missing.device)
    if not settings.neighbours or len(column) > _WIDEST:
        return None
    kept = torch.randperm(len(table), generator=generator, device=column.device)[: settings.neighbours]
    remembered = complete(table.rows(kept))
    askable = remembered.missing.any(0) & ((~remembered.missing).sum(0) >= 2)
    targets = askable.nonzero().flatten().tolist()
    if not targets:
        return None
    steps, number = min(settings.neighbour_steps, settings.steps), settings.likenesses
    trust = Trust.usual(layout.n_columns, len(SIGNS), column.device)
    weights: list[Weights] = []

    def study(rows: Table) -> Neighbours:
        """Learn once more what makes rows alike, and give neighbours by this alone."""
        until = None if deadline is None else deadline.part(number - len(weights))
        weights.append(learn_weights(rows, column, targets, rates, generator, steps=steps, deadline=until))
        return Neighbours(remembered, column, targets, weights[-1:], trust)

    if lessons is not None:
        # What is learnt from a cell cannot be judged by it, so this is learnt without the cells held out.
        lessons = lessons.first(number)
        own = lessons.among(kept, len(table))
        told = []
        for pair, estimates in enumerate(lessons.estimates):
            neighbours = study(lessons.unlearn(remembered, own, pair, column))
            told.append(neighbours.ask(lessons.shown.member(pair), estimates, own))
        answers, signs = (torch.stack(parts) for parts in zip(*told, strict=True))
        trust, lessons = lessons.believe(answers, column, signs)
    while len(weights) < number:
        study(remembered)
    return Neighbours(remembered, column, targets, weights, trust), lessons
