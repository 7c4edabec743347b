"""Rows for each training step, and cells that scouts never see."""

from __future__ import annotations

import torch
from torch import Tensor

from simpdm_frames.engine.dice import uniform
from simpdm_frames.engine.ragged import Heads
from simpdm_frames.engine.table import Padding, Table

__all__ = ["Batches", "Holdout"]

_MOST_ROWS = 4096  # held-out cells of so many rows tell all there is to tell
_ENOUGH = 10  # observed cells of a column, below which none is held out


class Holdout:
    """Cells that are held out: the first members, the scouts, are neither shown them nor taught them.

    Each pair of scouts, one of each kind of member, holds out cells of its own: so the kinds can be
    compared. The other members learn from all cells, so that little is lost; how well the scouts do on
    what they never saw tells how well all members of their kind do.

    Shape
    -----
    ``rows`` (r,) positions in the table; ``held`` (n_scouts, r, n_columns) bool.
    """

    def __init__(
        self,
        table: Table,
        n_scouts: int,
        share: float,
        padding: Padding,
        heads: Heads,
        generator: torch.Generator,
        *,
        whole_share: float = 1.0,
    ) -> None:
        device = table.missing.device
        self._padding, self.heads = padding, heads
        self.rows = torch.randperm(len(table), generator=generator, device=device)[:_MOST_ROWS]
        seen = ~table.missing[self.rows]
        # A column with few observed cells keeps them: a scout that knows nothing of it could tell nothing.
        weight = torch.where(table.missing.any(0), 1.0, whole_share) * (seen & (seen.sum(0) >= _ENOUGH))
        pairs = -(-n_scouts // 2)
        # One cell of a row at most: more would leave less to be seen than there is when holes are filled.
        place = (uniform(generator, pairs, *seen.shape) * weight).argmax(-1)
        of_row = uniform(generator, pairs, len(self.rows)) < share * seen.sum(1)
        held = torch.nn.functional.one_hot(place, seen.shape[1]).bool() & of_row.unsqueeze(-1) & (weight > 0)
        self.held = held.repeat_interleave(2, dim=0)[:n_scouts]
        # Position of each row among those with held cells; all others share one that holds none.
        self._place = torch.full((len(table),), len(self.rows), device=device)
        self._place[self.rows] = torch.arange(len(self.rows), device=device)
        self._lookup = torch.cat([self.held, torch.zeros_like(self.held[:, :1])], dim=1)

    @property
    def n_scouts(self) -> int:
        """The number of scouts."""
        return len(self.held)

    def hide(self, batch: Table, index: Tensor) -> Table:
        """Hide from the scouts what they are not to see.

        Shape
        -----
        ``batch`` with members first, ``index`` (members, n) positions of its rows in the table.
        """
        scouts = torch.arange(self.n_scouts, device=index.device).unsqueeze(1)
        missing = batch.missing.clone()
        missing[: self.n_scouts] |= self._lookup[scouts, self._place[index[: self.n_scouts]]]
        return self._padding.fill(Table(batch.numbers, batch.levels, missing), self.heads)


class Batches:
    """Rows for each step and member: all of a small table, else a share of one shuffled for each member."""

    def __init__(
        self,
        table: Table,
        size: int,
        generator: torch.Generator,
        members: int = 1,
        holdout: Holdout | None = None,
    ) -> None:
        self._table = table
        self._size = min(size, len(table))
        self._members = members
        self._generator = generator
        self._holdout = holdout
        self._order = torch.empty(members, 0, dtype=torch.int64)
        self._whole: Table | None = None

    def halve(self) -> bool:
        """Take half as many rows from now on; False if there is only one."""
        self._size, can_be = max(self._size // 2, 1), self._size > 1
        return can_be

    def next(self) -> Table:
        """Take the rows of the next step, members first."""
        if self._size < len(self._table):
            return self._take(self._next_index())
        if self._whole is None:  # the same at every step
            device = self._table.missing.device
            self._whole = self._take(torch.arange(self._size, device=device).expand(self._members, -1))
        return self._whole

    def _take(self, index: Tensor) -> Table:
        batch = self._table.rows(index)
        return batch if self._holdout is None else self._holdout.hide(batch, index)

    def _next_index(self) -> Tensor:
        if self._order.shape[1] < self._size:
            device = self._table.missing.device
            self._order = torch.stack(
                [
                    torch.randperm(len(self._table), generator=self._generator, device=device)
                    for _ in range(self._members)
                ]
            )
        index, self._order = self._order.tensor_split([self._size], dim=1)
        return index
