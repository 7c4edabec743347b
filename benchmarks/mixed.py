"""Mixed tables with their categories as categories: accuracy and macro-F1 on hidden cells, beside peers."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import hidden_cells
from benchmarks.datasets import Dataset, load
from benchmarks.rows import Rows, markdown
from simpdm_frames.codecs import standing_out
from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine
from simpdm_frames.presets import PRESETS, preset

__all__ = ["encode", "render", "run"]

ROWS = Rows(
    "mixed",
    keys=("method", "dataset", "seed"),
    values=("accuracy", "macro_f1", "cells", "invalid", "seconds"),
)
Codes = NDArray[np.int64]
_MODE = ", mode"  # of ours, beside what is chosen by itself: the most probable label, estimate="mode"


def encode(dataset: Dataset, hidden: NDArray[np.bool_]) -> tuple[Encoded, Codes]:
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


def mode_codes(encoded: Encoded, _seed: int) -> Codes:
    """Fill with the most frequent visible code of each category."""
    modes = np.array([np.bincount(column[column >= 0]).argmax() for column in encoded.codes.T])
    return np.broadcast_to(modes, encoded.codes.shape)


def knn_codes(encoded: Encoded, _seed: int) -> Codes:
    """Vote among the nearest rows, categories as ones and zeros, as one does with scikit-learn."""
    from sklearn.impute import KNNImputer  # noqa: PLC0415

    table, starts = _one_hot(encoded)
    filled = KNNImputer(n_neighbors=5, weights="distance", keep_empty_features=True).fit_transform(table)
    return _argmax(filled, starts)


def missforest_codes(encoded: Encoded, seed: int) -> Codes:
    """Chained forests: classifiers for categories, regressors for numbers, the fullest column first."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: PLC0415

    options: dict[str, Any] = {"n_estimators": 100, "n_jobs": -1, "random_state": seed}
    n_numbers = encoded.layout.n_numbers
    table = np.concatenate([encoded.numbers, encoded.codes.astype(np.float64)], axis=1)
    missing = encoded.missing
    starts = [
        np.nanmean(np.where(missing[:, j], np.nan, table[:, j])) if j < n_numbers else mode
        for j, mode in enumerate([*np.zeros(n_numbers), *mode_codes(encoded, 0)[0]])
    ]
    table = np.where(missing, starts, table)
    for _ in range(4):
        for j in np.argsort(missing.sum(0), kind="stable"):
            lost = missing[:, j]
            if lost.any():
                kind = RandomForestRegressor if j < n_numbers else RandomForestClassifier
                others = np.delete(table, j, axis=1)
                model = kind(**options).fit(others[~lost], table[~lost, j])
                table[lost, j] = model.predict(others[lost])
    return table[:, n_numbers:].astype(np.int64)


def _one_hot(encoded: Encoded) -> tuple[NDArray[np.float64], list[int]]:
    parts: list[NDArray[Any]] = [(encoded.numbers + 1) / 2]
    starts = [encoded.layout.n_numbers]
    for column, size in zip(encoded.codes.T, encoded.layout.cardinalities, strict=True):
        hot = np.eye(size)[column.clip(0)]
        hot[column < 0] = np.nan
        parts.append(hot)
        starts.append(starts[-1] + size)
    return np.concatenate(parts, axis=1), starts


def _argmax(table: NDArray[np.float64], starts: Sequence[int]) -> Codes:
    return np.stack([table[:, a:b].argmax(1) for a, b in itertools.pairwise(starts)], axis=1)


def simpdm_codes(name: str) -> Callable[[Encoded, int], dict[str, Codes]]:
    """Fill by a preset of ours, and choose labels both as by itself and as ``estimate="mode"`` does."""

    def fill(encoded: Encoded, seed: int) -> dict[str, Codes]:
        settings = preset(name, len(encoded), encoded.layout.n_columns)
        heads = Engine.fit(encoded, settings, seed=seed).impute(encoded).heads()
        shown = [
            np.bincount(codes[codes >= 0], minlength=size)
            for codes, size in zip(encoded.codes.T, encoded.layout.cardinalities, strict=True)
        ]
        # As the codec of labels does, which has never heard of a label that nobody shows.
        chosen = [standing_out(head, count.clip(1)) for head, count in zip(heads, shown, strict=True)]
        return {name: np.stack(chosen, axis=1), name + _MODE: np.stack([h.argmax(1) for h in heads], axis=1)}

    return fill


def peer(name: str, fill: Callable[[Encoded, int], Codes]) -> Callable[[Encoded, int], dict[str, Codes]]:
    """Fill by a peer, who has one way to choose."""
    return lambda encoded, seed: {name: fill(encoded, seed)}


_PEERS = {"mode": mode_codes, "knn": knn_codes, "missforest": missforest_codes}
METHODS = {name: simpdm_codes(name) for name in PRESETS} | {n: peer(n, fill) for n, fill in _PEERS.items()}


def run(datasets: Sequence[str], seeds: Sequence[int], methods: Sequence[str]) -> None:
    """Measure what is not there yet."""
    for seed in seeds:
        for name in datasets:
            dataset = load(name)
            encoded, truth = encode(dataset, hidden_cells(dataset.values, seed))
            holes = encoded.missing[:, encoded.layout.n_numbers :]
            if not holes.any():  # this seed hides cells of other columns
                continue
            for method in methods:
                keys = {"method": method, "dataset": name, "seed": seed}
                if ROWS.has(**keys):
                    continue
                began = time.perf_counter()
                chosen = METHODS[method](encoded, seed)
                seconds = time.perf_counter() - began
                sizes = np.array(encoded.layout.cardinalities)
                for label, filled in chosen.items():
                    accuracy = (filled == truth)[holes].mean()
                    ROWS.append(
                        method=label,
                        dataset=name,
                        seed=seed,
                        accuracy=f"{accuracy:.4f}",
                        macro_f1=f"{_macro_f1(truth, filled, holes):.4f}",
                        cells=int(holes.sum()),
                        invalid=int(((filled < 0) | (filled >= sizes)).sum()),
                        seconds=f"{seconds:.2f}",
                    )
                    print(label, name, seed, f"{accuracy:.4f} in {seconds:.1f} s", flush=True)


def _macro_f1(truth: Codes, filled: Codes, holes: NDArray[np.bool_]) -> float:
    """Average F1 over the labels of a column, then over columns."""
    from sklearn.metrics import f1_score  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a label that is never hidden has no F1
        scores = [
            f1_score(truth[lost, head], filled[lost, head], average="macro", zero_division=0.0)
            for head, lost in enumerate(holes.T)
            if lost.any()
        ]
    return float(np.mean(scores))


def render() -> str:
    """Give accuracy and macro-F1 of each method, mean over the seeds; the best is bold."""
    rows = ROWS.read()
    there = {row["method"] for row in rows}
    methods = [label for method in METHODS for label in (method, method + _MODE) if label in there]
    lines = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        for measure in ("accuracy", "macro_f1"):
            means = {
                m: float(
                    np.mean([float(r[measure]) for r in rows if (r["dataset"], r["method"]) == (name, m)])
                )
                for m in methods
                if any((r["dataset"], r["method"]) == (name, m) for r in rows)
            }
            best = max(means.values())
            cells = [f"**{v:.4f}**" if v == best else f"{v:.4f}" for v in means.values()]
            lines.append([f"{name}, {measure.replace('_f1', '-F1')}", *cells])
    invalid = sum(int(row["invalid"]) for row in rows)
    seeds = ", ".join(sorted({row["seed"] for row in rows}, key=int))
    return f"Mean over seeds {seeds}; codes that are none: {invalid}.\n\n" + markdown(["", *methods], lines)
