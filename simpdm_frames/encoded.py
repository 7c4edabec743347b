"""Door 2: the numbers that pass between codecs and engine.

A table is numbers first, then categories. ``Encoded`` is a table with holes, ``Completed`` is what
the engine gives back for it, ``Layout`` is the shape that a model keeps. Plain numpy arrays, so that
neither side has to know what stands behind the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Completed", "Encoded", "Layout"]

_BLOCK = 16_384  # rows that are checked at a time, while they are in the cache


@dataclass(frozen=True)
class Layout:
    """How many columns of each kind a table has.

    Parameters
    ----------
    n_numbers
        Number of continuous columns.
    cardinalities
        Number of levels of each categorical column, in column order.

    Examples
    --------
    >>> layout = Layout(n_numbers=2, cardinalities=(3, 5))
    >>> layout.n_columns, layout.n_levels
    (4, 8)
    """

    n_numbers: int
    cardinalities: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.n_numbers < 0:
            raise ValueError(f"n_numbers must be at least 0, got {self.n_numbers}")
        for position, cardinality in enumerate(self.cardinalities):
            if cardinality < 1:
                raise ValueError(
                    f"category column {position} has cardinality {cardinality}; it needs at least one level"
                )

    @property
    def n_categories(self) -> int:
        """Number of categorical columns."""
        return len(self.cardinalities)

    @property
    def n_columns(self) -> int:
        """Number of columns of both kinds: the width of a mask."""
        return self.n_numbers + self.n_categories

    @property
    def n_levels(self) -> int:
        """Number of levels of all categorical columns together."""
        return sum(self.cardinalities)

    def column(self, position: int) -> str:
        """Say which column of a mask ``position`` is, for error messages."""
        if position < self.n_numbers:
            return f"number column {position}"
        return f"category column {position - self.n_numbers}"


@dataclass(frozen=True)
class Encoded:
    """A table with holes.

    Parameters
    ----------
    layout
        The shape of the table.
    numbers
        Values of the continuous columns, scaled by the codecs. Cells marked missing are never read.
    codes
        Levels of the categorical columns, ``0 … cardinality - 1``. Cells marked missing are never read.
    missing
        True where a cell is to be filled; numbers first, then categories.
    keys
        One integer per row that stands for the row in every random draw, so that a fill does not
        depend on where the row stands. By default the row's own content is its key: equal rows then
        get equal fills.

    Shape
    -----
    ``numbers`` (n, n_numbers) float32, ``codes`` (n, n_categories) int64,
    ``missing`` (n, n_columns) bool, ``keys`` (n,) int64.
    """

    layout: Layout
    numbers: NDArray[np.float32]
    codes: NDArray[np.int64]
    missing: NDArray[np.bool_]
    keys: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        layout, n = self.layout, len(self.missing)
        _check("numbers", self.numbers, (n, layout.n_numbers), np.dtype(np.float32))
        _check("codes", self.codes, (n, layout.n_categories), np.dtype(np.int64))
        _check("missing", self.missing, (n, layout.n_columns), np.dtype(np.bool_))
        if self.keys is not None:
            _check("keys", self.keys, (n,), np.dtype(np.int64))
        wrong = np.zeros(layout.n_columns, dtype=bool)
        for begin in range(0, n, _BLOCK):
            wrong |= self._unusable(slice(begin, begin + _BLOCK))
        if wrong.any():
            names = ", ".join(layout.column(position) for position in np.flatnonzero(wrong).tolist())
            raise ValueError(
                f"observed cells are not finite or not a known level in {names}; mark such cells as missing"
            )

    def __len__(self) -> int:
        return len(self.missing)

    def _unusable(self, rows: slice) -> NDArray[np.bool_]:
        """Tell which columns hold something unusable in some rows."""
        missing, codes = self.missing[rows], self.codes[rows]
        hidden_numbers, hidden_codes = np.split(missing, [self.layout.n_numbers], axis=1)
        strange = ~(np.isfinite(self.numbers[rows]) | hidden_numbers)
        above = codes >= np.array(self.layout.cardinalities, dtype=np.int64)
        out_of_range = ((codes < 0) | above) & ~hidden_codes
        return np.concatenate([strange.any(axis=0), out_of_range.any(axis=0)])

    def rows(self, index: Any) -> Encoded:
        """Take some rows, keys included."""
        keys = None if self.keys is None else self.keys[index]
        return Encoded(self.layout, self.numbers[index], self.codes[index], self.missing[index], keys)


@dataclass(frozen=True)
class Completed:
    """A table without holes: observed cells as they were, the others estimated.

    Categories come back as probabilities, so that the caller decides between the most probable
    level, a draw and an expectation.

    Shape
    -----
    ``numbers`` (n, n_numbers) float32; ``probabilities`` (n, n_levels) float32, the levels of one
    column beside each other.
    """

    layout: Layout
    numbers: NDArray[np.float32]
    probabilities: NDArray[np.float32]

    def heads(self) -> list[NDArray[np.float32]]:
        """Split the probabilities into one (n, cardinality) array per categorical column."""
        return np.split(self.probabilities, np.cumsum(self.layout.cardinalities)[:-1], axis=1)[
            : self.layout.n_categories
        ]

    def most_probable(self) -> Completed:
        """Make the most probable level of each categorical cell certain."""
        certain = [np.eye(head.shape[1], dtype=np.float32)[head.argmax(axis=1)] for head in self.heads()]
        return Completed(
            self.layout, self.numbers, np.concatenate([self.probabilities[:, :0], *certain], axis=1)
        )

    def codes(self) -> NDArray[np.int64]:
        """Take the most probable level of each categorical cell."""
        best = [head.argmax(axis=1) for head in self.heads()]
        return np.stack(best, axis=1) if best else np.empty((len(self.numbers), 0), dtype=np.int64)


def _check(name: str, array: NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(f"{name} must be {dtype} of shape {shape}, got {array.dtype} of shape {array.shape}")
