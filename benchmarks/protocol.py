"""The paper's protocol: hide cells of a complete table, fill them, score them in its units."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import hidden_cells, rmse
from benchmarks.datasets import Dataset
from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine
from simpdm_frames.presets import PAPER_DATASETS, preset
from simpdm_frames.settings import Settings

__all__ = ["Result", "interval", "mean_filled", "paper_settings", "score_mean", "score_simpdm"]


def paper_settings(dataset: str) -> Settings:
    """Take the published settings, or the paper's default ones where none were published."""
    return preset("paper", dataset=dataset if dataset in PAPER_DATASETS else None)


@dataclass(frozen=True)
class Result:
    rmse: float
    fit_seconds: float
    impute_seconds: float


def score_simpdm(dataset: Dataset, seed: int, settings: Settings, scaling: str = "range") -> Result:
    """Train on a table with hidden cells, all columns as numbers, and score the fills."""
    hidden = hidden_cells(dataset.values.shape, seed)
    centre, spread = _scale(dataset, hidden, scaling)
    numbers = ((dataset.values - centre) / spread).astype(np.float32)
    numbers[hidden] = np.nan  # nothing of the truth is left for the engine to see
    layout = Layout(numbers.shape[1])
    table = Encoded(layout, numbers, np.empty((len(numbers), 0), dtype=np.int64), hidden)
    began = time.perf_counter()
    engine = Engine.fit(table, settings, seed=seed)
    fitted = time.perf_counter()
    filled = engine.impute(table).numbers * spread + centre
    ended = time.perf_counter()
    return Result(rmse(dataset.values, filled, hidden), fitted - began, ended - fitted)


def _scale(dataset: Dataset, hidden: NDArray[np.bool_], scaling: str) -> tuple[NDArray[np.float64], ...]:
    """Centre and spread of each column: ``range`` puts the paper's units on [-1, 1]."""
    ones = np.ones(dataset.values.shape[1])
    seen = np.where(hidden, np.nan, dataset.values)
    if scaling == "unit":
        return 0 * ones, ones
    if scaling == "range":
        return 0.5 * ones, 0.5 * ones
    if scaling == "deviation":
        return np.nanmean(seen, axis=0), np.nanstd(seen, axis=0) + 1e-9
    raise ValueError(f"scaling must be 'unit', 'range' or 'deviation', got {scaling!r}")


def mean_filled(dataset: Dataset, hidden: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Fill hidden cells with the mean of their column's visible ones."""
    seen = np.where(hidden, np.nan, dataset.values)
    return np.where(hidden, np.nanmean(seen, axis=0), dataset.values)


def score_mean(dataset: Dataset, seed: int) -> float:
    """Score mean imputation."""
    hidden = hidden_cells(dataset.values.shape, seed)
    return rmse(dataset.values, mean_filled(dataset, hidden), hidden)


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and the ± that the paper prints: 1.96 standard errors of the population's deviation."""
    return float(np.mean(values)), float(1.96 * np.std(values) / len(values) ** 0.5)
