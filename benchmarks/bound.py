"""How far usual regressions get that know other rows whole, which no filling of the table with its holes does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks import table1
from benchmarks.cells import hidden_cells, rmse
from benchmarks.datasets import load
from benchmarks.published import SIMPDM
from benchmarks.rows import Rows, markdown

__all__ = ["render", "run"]

ROWS = Rows("bound", keys=("dataset", "method", "seed"), values=("rmse",))
_FOLDS = 10
_FIRST = ("1", "2")  # seeds of which ``best`` is shown
Array = NDArray[np.float64]
Learner = Callable[[Array, Array], Array]
"""Gives for each row what it expects of it after it has learnt from others."""


def _by_folds(model: object) -> Learner:
    def learn(features: Array, target: Array) -> Array:
        from sklearn.model_selection import KFold, cross_val_predict  # noqa: PLC0415

        return np.asarray(
            cross_val_predict(model, features, target, cv=KFold(_FOLDS, shuffle=True, random_state=0))
        )

    return learn


def _process(features: Array, target: Array) -> Array:
    """Lay a Gaussian process through ranks; each row is left out in turn, though not for learning the kernel."""
    from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: PLC0415
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel  # noqa: PLC0415
    from sklearn.preprocessing import QuantileTransformer  # noqa: PLC0415

    places = QuantileTransformer(n_quantiles=100).fit_transform(features)
    y = target - target.mean()
    kernel = ConstantKernel(0.3) * Matern([0.5] * places.shape[1], nu=1.5) + WhiteKernel(0.1)
    found = GaussianProcessRegressor(kernel, normalize_y=True).fit(places, y).kernel_
    inverse = np.linalg.inv(found(places))
    return target - inverse @ y / np.diag(inverse)


def _learners() -> dict[str, Learner]:
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor  # noqa: PLC0415
    from sklearn.linear_model import LinearRegression  # noqa: PLC0415

    boosting = GradientBoostingRegressor(
        n_estimators=150, max_depth=3, learning_rate=0.05, subsample=0.6, min_samples_leaf=10, random_state=0
    )
    return {
        "linear": _by_folds(LinearRegression()),
        "forest, leaves of 4": _by_folds(RandomForestRegressor(200, min_samples_leaf=4, random_state=0)),
        "forest, leaves of 10": _by_folds(RandomForestRegressor(200, min_samples_leaf=10, random_state=0)),
        "boosting": _by_folds(boosting),
        "process": _process,
    }


def run(datasets: Sequence[str], seeds: Sequence[int]) -> None:
    """Ask every learner about every hidden cell, given what is visible of its row."""
    for name in datasets:
        values = load(name).values
        known: dict[tuple[tuple[int, ...], int], dict[str, Array]] = {}
        for seed in seeds:
            hidden = hidden_cells(values, seed)
            told: dict[str, Array] = {}
            for pattern in np.unique(hidden[hidden.any(1)], axis=0):
                rows = (hidden == pattern).all(1)
                visible = tuple(np.flatnonzero(~pattern))
                for target in np.flatnonzero(pattern):
                    key = visible, int(target)
                    if key not in known:
                        known[key] = _ask(values[:, list(visible)], values[:, target])
                    for method, estimates in known[key].items():
                        told.setdefault(method, values.copy())[rows, target] = estimates[rows]
            for method, filled in told.items():
                if not ROWS.has(dataset=name, method=method, seed=seed):
                    ROWS.append(
                        dataset=name, method=method, seed=seed, rmse=f"{rmse(values, filled, hidden):.5f}"
                    )


def _ask(features: Array, target: Array) -> dict[str, Array]:
    """Ask all learners, and take the one with the least error, which only the truth can tell."""
    if not features.shape[1]:
        others = (target.sum() - target) / (len(target) - 1)
        answers = dict.fromkeys(_learners(), others)
    else:
        answers = {name: learn(features, target) for name, learn in _learners().items()}
    answers["all, averaged"] = np.mean(list(answers.values()), axis=0)
    best = min(answers.values(), key=lambda answer: float(np.square(answer - target).mean()))
    return {**answers, "whichever is best by the truth": best}


def render() -> str:
    """Give each learner's error by seed."""
    rows = ROWS.read()
    lines = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        mine = [row for row in rows if row["dataset"] == name]
        seeds = list(dict.fromkeys(row["seed"] for row in mine))
        for method in dict.fromkeys(row["method"] for row in mine):
            errors = {row["seed"]: float(row["rmse"]) for row in mine if row["method"] == method}
            lines.append([f"{name}: {method}", *_cells(errors, seeds)])
        for preset in ("default", "best"):
            ours = [r for r in table1.ROWS.read() if (r["dataset"], r["method"]) == (name, preset)]
            errors = {row["seed"]: float(row["rmse"]) for row in ours}
            lines.append([f"{name}: `{preset}`, of the table with its holes", *_cells(errors, seeds)])
        lines.append([f"{name}: SimpDM, as published", *[""] * len(seeds), "", f"{SIMPDM[name][0]:.4f}"])
    return markdown(["", *(f"seed {seed}" for seed in seeds), "mean of 1 and 2", "mean"], lines)


def _cells(errors: dict[str, float], seeds: Sequence[str]) -> list[str]:
    """Show the errors of the seeds that were measured, and means where all of them were."""

    def mean(of: Sequence[str]) -> str:
        return f"{np.mean([errors[seed] for seed in of]):.4f}" if set(of) <= set(errors) else ""

    return [*(mean([seed]) for seed in seeds), mean(_FIRST), mean(seeds)]
