"""The very cells that the paper hid, rebuilt from its seeds.

Its simulator draws every mechanism and rate from one legacy generator, in a fixed order, so a mask
is reached by replaying the draws of all masks before it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["MECHANISMS", "RATES", "hidden_cells", "rmse"]

MECHANISMS = ("MAR", "MNAR", "MCAR")
RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
_MOST_COLUMNS = 8


def hidden_cells(
    values: NDArray[np.float64], seed: int, rate: float = 0.3, mechanism: str = "MCAR"
) -> NDArray[np.bool_]:
    """Give the mask of hidden cells, for one of the paper's seeds.

    Parameters
    ----------
    values
        The complete table; what is missing at random depends on it, what is missing completely at random
        on its shape alone.
    rate
        Share of the cells that are hidden in the columns that lose any.
    mechanism
        ``"MCAR"``: completely at random. ``"MAR"``: the chance depends on columns that are all visible.
        ``"MNAR"``: as ``"MAR"``, but the columns that it depends on lose cells too.
    """
    if rate not in RATES or mechanism not in MECHANISMS:
        raise ValueError(f"there is {MECHANISMS} at {RATES}, got {mechanism!r} at {rate!r}")
    found = (mask for name, share, mask in _replay(values, seed) if (name, share) == (mechanism, rate))
    return next(found)


def _replay(values: NDArray[np.float64], seed: int) -> Iterator[tuple[str, float, NDArray[np.bool_]]]:
    """Walk through all masks of a seed, in the order in which they were drawn."""
    random = np.random.RandomState(seed)
    n_rows, n_columns = values.shape
    d = min(_MOST_COLUMNS, n_columns)
    n_causes = max(int(0.5 * d), 1)
    for mechanism in MECHANISMS:
        for rate in RATES:
            columns = random.choice(n_columns, size=d, replace=False)
            mask = np.zeros((n_rows, d), dtype=bool)
            if mechanism == "MCAR":
                mask[:] = random.rand(n_rows, d) < rate
            else:
                causes = random.choice(d, n_causes, replace=False)
                others = np.setdiff1d(np.arange(d), causes)
                weights = random.rand(n_causes, len(others))
                chances = _chances(values[:, columns[causes]], weights, rate)
                mask[:, others] = random.rand(n_rows, len(others)) < chances
                if mechanism == "MNAR":
                    mask[:, causes] = random.rand(n_rows, n_causes) < rate
            hidden = np.zeros(values.shape, dtype=bool)
            hidden[:, columns] = mask
            yield mechanism, rate, hidden


def _chances(causes: NDArray[np.float64], weights: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Give a logistic chance of each cell that depends on other columns and is ``rate`` on average."""
    scores = causes @ weights
    spread = scores.std(axis=0)
    scores = scores / np.where(spread > 0, spread, 1.0)
    low, high = np.full(scores.shape[1], -50.0), np.full(scores.shape[1], 50.0)
    for _ in range(60):  # bisection: the mean chance rises with the offset
        offset = (low + high) / 2
        too_low = _sigmoid(scores + offset).mean(axis=0) < rate
        low, high = np.where(too_low, offset, low), np.where(too_low, high, offset)
    return _sigmoid(scores + offset)


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))


def rmse(truth: NDArray[np.float64], estimate: NDArray[np.floating], hidden: NDArray[np.bool_]) -> float:
    """Root of the mean squared error over the hidden cells of all columns together."""
    return float(np.sqrt(np.mean((estimate[hidden] - truth[hidden]) ** 2)))
