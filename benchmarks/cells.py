"""The very cells that the paper hid, rebuilt from its seeds.

Its simulator draws every mechanism and rate from one legacy generator, in a fixed order, so a mask
is reached by replaying the draws of all masks before it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["RATES", "hidden_cells", "rmse"]

RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
_MOST_COLUMNS = 8


def hidden_cells(shape: tuple[int, int], seed: int, rate: float = 0.3) -> NDArray[np.bool_]:
    """Give the mask of cells hidden completely at random, for one of the paper's seeds.

    Parameters
    ----------
    shape
        Rows and columns of the table.
    """
    for share, columns, mask in _replay(shape, seed):
        if share == rate:
            hidden = np.zeros(shape, dtype=bool)
            hidden[:, columns] = mask
            return hidden
    raise ValueError(f"rate must be one of {RATES}, got {rate}")


def _replay(
    shape: tuple[int, int], seed: int
) -> Iterator[tuple[float, NDArray[np.int64], NDArray[np.bool_]]]:
    """Walk through all masks of a seed; of the mechanisms before MCAR only the draws matter here."""
    random = np.random.RandomState(seed)
    n_rows, n_columns = shape
    d = min(_MOST_COLUMNS, n_columns)
    known = max(int(0.5 * d), 1)
    for mechanism in ("MAR", "MNAR", "MCAR"):
        for rate in RATES:
            columns = random.choice(n_columns, size=d, replace=False)
            if mechanism == "MCAR":
                yield rate, columns, random.rand(n_rows, d) < rate
                continue
            random.choice(d, known, replace=False)
            random.rand(known, d - known)
            random.rand(n_rows, d - known)
            if mechanism == "MNAR":
                random.rand(n_rows, known)


def rmse(truth: NDArray[np.float64], estimate: NDArray[np.floating], hidden: NDArray[np.bool_]) -> float:
    """Root of the mean squared error over the hidden cells of all columns together."""
    return float(np.sqrt(np.mean((estimate[hidden] - truth[hidden]) ** 2)))
