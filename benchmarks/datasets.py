"""The paper's 17 datasets, read from the folder that ``SIMPDM_DATA`` names."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["NAMES", "Dataset", "data_folder", "load"]

NAMES = (
    "iris",
    "yacht",
    "housing",
    "diabetes",
    "blood",
    "energy",
    "german",
    "concrete",
    "yeast",
    "airfoil",
    "wine_red",
    "abalone",
    "wine_white",
    "phoneme",
    "power",
    "ecommerce",
    "california",
)


@dataclass(frozen=True)
class Dataset:
    """A complete table of numbers in the paper's units: every column scaled to the unit interval."""

    name: str
    columns: tuple[str, ...]
    categorical: tuple[int, ...]
    values: NDArray[np.float64]


def data_folder() -> Path:
    """Find the folder of datasets."""
    folder = os.environ.get("SIMPDM_DATA")
    if not folder:
        raise SystemExit("set SIMPDM_DATA to the folder that holds the datasets as CSV files")
    return Path(folder)


def load(name: str) -> Dataset:
    """Read one dataset and scale its columns."""
    path = data_folder() / f"{name}.csv"
    with path.open() as lines:
        columns = tuple(next(lines).strip().split(","))
        raw = np.loadtxt(lines, delimiter=",", ndmin=2)
    about = json.loads((data_folder() / "datasets.json").read_text())[name]
    low, high = raw.min(0), raw.max(0)
    span = np.where(high > low, high - low, 1.0)
    categorical = tuple(columns.index(column) for column in about["categorical"])
    return Dataset(name, columns, categorical, (raw - low) / span)
