"""A mixed table with its categories as categories: accuracy on hidden cells beside the mode's."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import hidden_cells
from benchmarks.datasets import Dataset, load
from benchmarks.rows import Rows, markdown
from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine
from simpdm_frames.presets import preset

__all__ = ["encode", "render", "run"]

ROWS = Rows(
    "mixed",
    keys=("dataset", "preset", "steps", "seed"),
    values=(
        "accuracy",
        "mode_accuracy",
        "cells",
        "invalid_codes",
        "loss_first_tenth",
        "loss_last_tenth",
        "fit_seconds",
    ),
)


def encode(dataset: Dataset, hidden: NDArray[np.bool_]) -> tuple[Encoded, NDArray[np.int64]]:
    """Put numbers on [-1, 1] and give each category a code; also return all true codes."""
    categorical = list(dataset.categorical)
    numeric = [place for place in range(len(dataset.columns)) if place not in categorical]
    numbers = (dataset.values[:, numeric] * 2 - 1).astype(np.float32)
    codes = np.empty((len(numbers), len(categorical)), dtype=np.int64)
    for head, place in enumerate(categorical):
        codes[:, head] = np.unique(dataset.values[:, place], return_inverse=True)[1]
    missing = hidden[:, numeric + categorical]
    layout = Layout(len(numeric), tuple(int(column.max()) + 1 for column in codes.T))
    shown_numbers = np.where(missing[:, : len(numeric)], np.nan, numbers).astype(np.float32)
    shown_codes = np.where(missing[:, len(numeric) :], -1, codes)
    return Encoded(layout, shown_numbers, shown_codes, missing), codes


def mode_codes(encoded: Encoded) -> NDArray[np.int64]:
    """Give the most frequent visible code of each category."""
    return np.array([np.bincount(column[column >= 0]).argmax() for column in encoded.codes.T])


def run(datasets: Sequence[str], seeds: Sequence[int], preset_name: str, steps: int | None) -> None:
    """Measure what is not there yet."""
    for seed in seeds:
        for name in datasets:
            settings = preset(preset_name)
            settings = settings.override(steps=steps or settings.steps)
            keys = {"dataset": name, "preset": preset_name, "steps": settings.steps, "seed": seed}
            if ROWS.has(**keys):
                continue
            dataset = load(name)
            encoded, truth = encode(dataset, hidden_cells(dataset.values.shape, seed))
            began = time.perf_counter()
            engine = Engine.fit(encoded, settings, seed=seed)
            seconds = time.perf_counter() - began
            filled = engine.impute(encoded).codes()
            holes = encoded.missing[:, encoded.layout.n_numbers :]
            right = (filled == truth)[holes].mean()
            right_mode = (mode_codes(encoded) == truth)[holes].mean()
            tenth = max(settings.steps // 10, 1)
            first, last = np.mean(engine.loss_curve[:tenth]), np.mean(engine.loss_curve[-tenth:])
            invalid = int(((filled < 0) | (filled >= np.array(encoded.layout.cardinalities))).sum())
            ROWS.append(
                **keys,
                accuracy=f"{right:.4f}",
                mode_accuracy=f"{right_mode:.4f}",
                cells=int(holes.sum()),
                invalid_codes=invalid,
                loss_first_tenth=f"{first:.4f}",
                loss_last_tenth=f"{last:.4f}",
                fit_seconds=f"{seconds:.1f}",
            )
            print(keys, f"{right:.4f} against {right_mode:.4f}", flush=True)


def render() -> str:
    """Give a line per run."""
    lines = [
        [
            f"{row['dataset']}, {row['preset']}, {row['steps']} steps, seed {row['seed']}",
            row["accuracy"],
            row["mode_accuracy"],
            row["cells"],
            row["invalid_codes"],
            f"{row['loss_first_tenth']} → {row['loss_last_tenth']}",
        ]
        for row in ROWS.read()
    ]
    return markdown(
        ["", "accuracy", "of the mode", "hidden cells", "invalid codes", "loss, first → last tenth"], lines
    )
