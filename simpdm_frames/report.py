"""What is to be said about a frame: its holes, and what its columns are treated as; no training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simpdm_frames import frames, pictures
from simpdm_frames.codecs import Choices, TableCodec, hint, mark
from simpdm_frames.column import Column, Kind
from simpdm_frames.fitting import Learnt
from simpdm_frames.options import FitOptions, named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Missing", "missing", "plan"]

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


class Missing:
    """The holes of a frame, counted, in a small frame of the same library that can also be drawn.

    What it does not know itself, such as ``report["holes"]`` or ``report.to_dict()``, that frame answers; ``frame``
    is the frame.
    """

    def __init__(self, frame: Any, columns: Sequence[Column], source: Any) -> None:
        self.frame = frame
        self._columns = columns
        self._source = source

    def plot(self, done: Any = None) -> Figure:
        """Draw where the holes are; or, given the completed frame, what went into them.

        Without ``done``: which cells are missing, and the share of each column. With it: the density of the
        fills of each column beside that of the observed cells. They need not be alike: cells may be missing
        because of what they hold. But a difference should have a reason.

        Parameters
        ----------
        done
            The same rows, filled.

        Returns
        -------
        matplotlib.figure.Figure
            With ``savefig``; a notebook shows it.
        """
        if done is None:
            return pictures.draw_holes(self._columns)
        if frames.is_lazy(self._source) or frames.is_lazy(done):
            raise TypeError("densities need values: collect the query first")
        before = [mark(column, Choices()) for column in frames.read(self._source)]
        after = [mark(column, Choices()) for column in frames.read(done)]
        heights = [len(columns[0]) if columns else 0 for columns in (before, after)]
        if heights[0] != heights[1]:
            raise ValueError(f"the completed frame must have the same {heights[0]} rows, it has {heights[1]}")
        found = {column.name: column for column in after}
        other = [column.name for column in before if not _agree(column, found.get(column.name))]
        if other:
            raise ValueError(
                f"observed cells differ in {other!r}: are these the same rows in the same order?"
            )
        return pictures.draw_fills(before, after)

    def __getattr__(self, name: str) -> Any:
        # Copying and pickling ask for names before there is a frame.
        if name == "frame" or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return getattr(self.frame, name)

    def __getitem__(self, key: Any) -> Any:
        return self.frame[key]

    def __len__(self) -> int:
        return len(self.frame)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.frame)

    def __repr__(self) -> str:
        return repr(self.frame)


def missing(frame: Any, *, by: Literal["column", "pattern"] = "column") -> Missing:
    """Count the holes of a frame, and draw them with ``missing(frame).plot()``.

    Parameters
    ----------
    by
        ``"column"``: holes of each column. ``"pattern"``: rows that lack the same columns, the most
        frequent pattern first.

    Returns
    -------
    Missing
        A frame of the same library that can be drawn.

    Examples
    --------
    >>> import pandas as pd
    >>> missing(pd.DataFrame({"x": [1.5, None, 2.5, None], "y": [1.0, 2.0, None, 3.0]}))
      column    dtype  holes  share
    0      x  float64      2   0.50
    1      y  float64      1   0.25
    """
    if by not in {"column", "pattern"}:
        raise ValueError(f"by must be 'column' or 'pattern', got {by!r}")
    eager = frames.holes(frame)
    columns = [mark(column, Choices()) for column in frames.read(eager)]
    dtypes = [column.dtype for column in frames.read(frames.head(frame))]
    counted = _shares(columns, dtypes) if by == "column" else _patterns(columns)
    marks = [Column.opaque(column.name, column.dtype, column.missing) for column in columns]  # no values
    return Missing(frames.backend_of(eager).table(counted), marks, frame)


def _agree(before: Column, after: Column | None) -> bool:
    """Tell whether the observed cells of a column are still what they were."""
    if after is None or before.kind is not after.kind or before.kind in {Kind.BLANK, Kind.OPAQUE}:
        return True  # there is nothing to be drawn
    known = before.known
    if before.kind is Kind.CONTINUOUS:
        return bool(np.array_equal(before.numbers(0)[known], after.numbers(0)[known]))
    place = {label: code for code, label in enumerate(after.levels)}
    codes = np.array([place.get(label, -1) for label in before.levels], dtype=np.int64)
    return bool(after.known[known].all() and np.array_equal(codes[before.values[known]], after.values[known]))


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
