"""What is to be said about a frame before any training: its holes, and what its columns are treated as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from simpdm_frames import frames
from simpdm_frames.codecs import Choices, TableCodec, hint, mark
from simpdm_frames.column import Column
from simpdm_frames.fitting import Learnt
from simpdm_frames.options import FitOptions, named

__all__ = ["missing", "plan"]

Report = dict[str, list[Any]]


@named
def plan(frame: Any, **options: Any) -> Any:
    """Say what each column would be treated as and why, without training; options are those of ``fit``.

    Returns
    -------
    frame
        Of the same library, one row per column: its dtype and holes, what it is treated as, whether it is
        filled, why, and a hint where values look as if they stood for a hole.
    """
    wish = FitOptions.parse(options)
    eager = frames.gather(frame, wish.max_rows, wish.seed)
    learnt = Learnt.of(eager, wish)
    return frames.backend_of(eager).table(_plan(learnt.columns, learnt.codec))


def missing(frame: Any, *, by: Literal["column", "pattern"] = "column") -> Any:
    """Count the holes of a frame.

    Parameters
    ----------
    by
        ``"column"``: holes of each column. ``"pattern"``: rows that lack the same columns, the most
        frequent pattern first.

    Returns
    -------
    frame
        Of the same library.
    """
    if by not in {"column", "pattern"}:
        raise ValueError(f"by must be 'column' or 'pattern', got {by!r}")
    eager = frames.holes(frame)
    columns = [mark(column, Choices()) for column in frames.read(eager)]
    dtypes = [column.dtype for column in frames.read(frames.head(frame))]
    return frames.backend_of(eager).table(_shares(columns, dtypes) if by == "column" else _patterns(columns))


def _shares(columns: Sequence[Column], dtypes: Sequence[str]) -> Report:
    """Count the holes of each column."""
    counts = [int(column.missing.sum()) for column in columns]
    return {
        "column": [column.name for column in columns],
        "dtype": list(dtypes),
        "holes": counts,
        "share": [_share(count, len(column)) for count, column in zip(counts, columns, strict=True)],
    }


def _patterns(columns: Sequence[Column]) -> Report:
    """Count the rows that lack the same columns, the most frequent first."""
    n_rows = len(columns[0]) if columns else 0
    masks = (
        np.stack([column.missing for column in columns], axis=1) if columns else np.zeros((0, 0), dtype=bool)
    )
    packed = np.packbits(masks, axis=1)
    _, first, counts = np.unique(packed, axis=0, return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    lacking = [
        [str(columns[place].name) for place in np.flatnonzero(masks[first[row]]).tolist()] for row in order
    ]
    rows = [int(counts[row]) for row in order]
    return {
        "missing": [", ".join(names) for names in lacking],
        "columns": [len(names) for names in lacking],
        "rows": rows,
        "share": [_share(count, n_rows) for count in rows],
    }


def _plan(columns: Sequence[Column], codec: TableCodec) -> Report:
    """Say of each column what it is treated as and why."""
    treatments = [codec.plan[column.name] for column in columns]
    return {
        **_shares(columns, [column.dtype for column in columns]),
        "treated as": [treatment.role.value for treatment in treatments],
        "filled": [treatment.fill for treatment in treatments],
        "why": [treatment.why for treatment in treatments],
        "hint": [hint(column) for column in columns],
    }


def _share(count: int, of: int) -> float:
    return count / of if of else 0.0
