"""What people use instead, each from the library that they would take it from.

Every peer takes a table with NaN for holes and gives the completed table. It is imported when it is
asked for, so that a study runs without those that are not installed.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PEERS", "Peer"]

_DRAWS = 5  # of a peer that draws: a single draw has twice the squared error of a mean
Peer = Callable[[NDArray[np.float64], int], NDArray[np.float64]]


def mean(table: NDArray[np.float64], _seed: int) -> NDArray[np.float64]:
    return np.where(np.isnan(table), np.nanmean(table, axis=0), table)


def knn(table: NDArray[np.float64], _seed: int) -> NDArray[np.float64]:
    from sklearn.impute import KNNImputer  # noqa: PLC0415

    return KNNImputer(n_neighbors=5, weights="distance", keep_empty_features=True).fit_transform(table)


def mice(table: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Chained equations with Bayesian ridge regression, scikit-learn's default."""
    return _chained(table, None, seed, rounds=20)


def missforest(table: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Chained forests: missForest's 100 trees, a third of the columns at each split, and five rounds."""
    from sklearn.ensemble import RandomForestRegressor  # noqa: PLC0415

    forest = RandomForestRegressor(100, max_features=1 / 3, n_jobs=-1, random_state=seed)
    return _chained(table, forest, seed, rounds=5)


def _chained(table: NDArray[np.float64], model: Any, seed: int, rounds: int) -> NDArray[np.float64]:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401, PLC0415
    from sklearn.impute import IterativeImputer  # noqa: PLC0415

    low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it could go on; the number of rounds is ours
        imputer = IterativeImputer(
            model, max_iter=rounds, random_state=seed, min_value=low, max_value=high, tol=1e-3
        )
        return imputer.fit_transform(table)


def miceforest(table: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """LightGBM in chained equations with mean matching, five rounds; five draws and their mean.

    miceforest 6.0.5 calls a private function of LightGBM that 4.7 no longer has in that form; it needs an
    older one, in an environment of its own.
    """
    import miceforest as library  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    frame = pd.DataFrame(table, columns=[f"c{place}" for place in range(table.shape[1])])
    kernel = library.ImputationKernel(frame, num_datasets=_DRAWS, random_state=seed)
    kernel.mice(5, verbose=False)
    return np.mean([kernel.complete_data(draw).to_numpy(dtype=np.float64) for draw in range(_DRAWS)], axis=0)


def hyperimpute(table: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Automatic choice of a model per column, in the Python that ``HYPERIMPUTE_PYTHON`` names."""
    python = os.environ.get("HYPERIMPUTE_PYTHON")
    if not python:
        raise RuntimeError(
            "HyperImpute needs an environment of its own, with numpy < 2, pandas < 2 and scikit-learn 1.2.2; "
            "put the path of its Python into HYPERIMPUTE_PYTHON"
        )
    with tempfile.TemporaryDirectory() as folder:
        shown, filled = Path(folder, "table.npy"), Path(folder, "filled.npy")
        np.save(shown, table)
        script = Path(__file__).with_name("hyperimpute_alone.py")
        subprocess.run([python, script, shown, filled, str(seed)], check=True)
        return np.load(filled)


PEERS: dict[str, Peer] = {
    "mean": mean,
    "knn": knn,
    "mice": mice,
    "missforest": missforest,
    "miceforest": miceforest,
    "hyperimpute": hyperimpute,
}
