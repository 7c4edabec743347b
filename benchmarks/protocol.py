"""The paper's protocol: hide cells of a complete table, fill them, score them in its units."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import hidden_cells, rmse
from benchmarks.datasets import Dataset
from benchmarks.peers import PEERS
from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine
from simpdm_frames.presets import PAPER_DATASETS, PRESETS, preset
from simpdm_frames.settings import Settings

__all__ = ["METHODS", "Result", "interval", "paper_settings", "score", "score_simpdm", "settings_for"]

METHODS = (*PRESETS, *PEERS)


def paper_settings(dataset: str) -> Settings:
    """Take the published settings, or the paper's default ones where none were published."""
    return preset("paper", dataset=dataset if dataset in PAPER_DATASETS else None)


def settings_for(name: str, dataset: Dataset) -> Settings:
    """Settle a preset as a fit would."""
    return paper_settings(dataset.name) if name == "paper" else preset(name, *dataset.values.shape)


@dataclass(frozen=True)
class Result:
    """An error, and seconds for fit and imputing together."""

    rmse: float
    seconds: float
    steps: int = 0


def score(dataset: Dataset, hidden: NDArray[np.bool_], method: str, seed: int) -> Result:
    """Fill hidden cells by a preset of ours or by a peer."""
    if method in PRESETS:
        return score_simpdm(dataset, hidden, settings_for(method, dataset), seed)
    table = np.where(hidden, np.nan, dataset.values)
    began = time.perf_counter()
    filled = PEERS[method](table, seed)
    seconds = time.perf_counter() - began
    if not np.isfinite(filled).all():
        raise RuntimeError(f"{method} left holes in {dataset.name}")
    return Result(rmse(dataset.values, filled, hidden), seconds)


def score_simpdm(dataset: Dataset, hidden: NDArray[np.bool_], settings: Settings, seed: int) -> Result:
    """Train on a table with hidden cells, all columns as numbers, and score the fills."""
    table = encode(dataset, hidden)
    began = time.perf_counter()
    engine = Engine.fit(table, settings, seed=seed)
    filled = decode(engine.impute(table).numbers, table)
    seconds = time.perf_counter() - began
    return Result(rmse(dataset.values, filled, hidden), seconds, len(engine.loss_curve))


def encode(dataset: Dataset, hidden: NDArray[np.bool_]) -> Encoded:
    """Put the paper's unit interval on [-1, 1], as the codec of numbers does, and hide cells."""
    numbers = (dataset.values * 2 - 1).astype(np.float32)
    numbers[hidden] = np.nan  # nothing of the truth is left for the engine to see
    layout = Layout(numbers.shape[1])
    return Encoded(layout, numbers, np.empty((len(numbers), 0), dtype=np.int64), hidden)


def decode(numbers: NDArray[np.float32], table: Encoded) -> NDArray[np.float64]:
    """Put fills back into the paper's units, and into the observed range of their column, as the codec does."""
    low, high = np.nanmin(table.numbers, axis=0), np.nanmax(table.numbers, axis=0)
    return (numbers.clip(low, high).astype(np.float64) + 1) / 2


def score_mean(dataset: Dataset, seed: int) -> float:
    """Score mean imputation."""
    return score(dataset, hidden_cells(dataset.values, seed), "mean", seed).rmse


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and the ± that the paper prints: 1.96 standard errors of the population's deviation."""
    return float(np.mean(values)), float(1.96 * np.std(values) / len(values) ** 0.5)
