"""The main job on a generated example: ``python -m simpdm_frames demo``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from simpdm_frames.fitting import fit_impute

__all__ = ["patients", "report", "save"]

_HIDDEN_SHARE = 0.2


def patients(n_rows: int = 600, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make a complete table of patients, and the same table with holes.

    All columns depend on age and on a hidden state of health, so that what is left of a row says
    something about what is hidden.
    """
    random = np.random.default_rng(seed)
    age = random.uniform(20, 90, n_rows)
    health = random.normal(0, 1, n_rows) - (age - 55) / 35
    pressure = 125 - 12 * health + random.normal(0, 4, n_rows)
    visits = random.poisson(np.exp(0.9 - 0.5 * health))
    ward = np.select([health < -0.8, health < 0.6], ["cardiology", "general"], "outpatient")
    risk = np.digitize(pressure + age / 4 + random.normal(0, 2, n_rows), [132, 145])
    admitted = pd.Timestamp("2024-06-01") - pd.to_timedelta(np.round(60 * health), unit="D")
    truth = pd.DataFrame(
        {
            "age": pd.array(np.round(age).astype(int), dtype="Int16"),
            "pressure": pressure.astype(np.float32),
            "visits": pd.array(visits, dtype="Int64"),
            "ward": pd.array(ward, dtype="string"),
            "risk": pd.Categorical.from_codes(risk, pd.Index(["low", "medium", "high"]), ordered=True),
            "smoker": pd.array(random.random(n_rows) < 1 / (1 + np.exp(2 * health)), dtype="boolean"),
            "admitted": admitted,
        },
        index=pd.Index(range(1000, 1000 + n_rows), name="patient"),
    )
    holes = truth.mask(
        pd.DataFrame(random.random(truth.shape) < _HIDDEN_SHARE)
        .set_axis(truth.index)
        .set_axis(truth.columns, axis=1)
    )
    return truth, holes


def save(path: Path) -> None:
    """Save the table with holes, with the patients' numbers as its first column."""
    table = patients()[1].reset_index(names="patient_id")
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    else:
        raise ValueError(f"{path} must end in .csv or .parquet")


def simple_fill(frame: pd.DataFrame) -> pd.DataFrame:
    """Fill each column with its median or its most frequent label: what a model has to beat."""
    done: pd.DataFrame = frame.copy()
    for name in frame.columns:
        seen = frame[name].dropna()
        ordinary = _is_number(seen)
        middle = seen.sort_values().iloc[len(seen) // 2] if ordinary else seen.mode().iloc[0]
        done[name] = frame[name].fillna(middle)
    return done


def error(truth: pd.Series, filled: pd.Series, hidden: pd.Series) -> float:
    """Mean absolute error in units of the column's spread, or the share of wrong labels."""
    if not _is_number(truth):
        return float((truth[hidden] != filled[hidden]).mean())
    spread = (truth - truth.mean()).abs().mean()
    return float((truth[hidden] - filled[hidden]).abs().mean() / spread)


def report() -> str:
    """Hide cells of a table whose truth is known, fill them, and tell how close the fills are."""
    truth, holes = patients()
    done = fit_impute(holes, random_state=0, preset="fast")
    simple = simple_fill(holes)
    hidden = holes.isna()
    summary = pd.DataFrame(
        {
            "dtype before": holes.dtypes.astype(str),
            "dtype after": done.dtypes.astype(str),
            "holes before": hidden.sum(),
            "holes after": done.isna().sum(),
            "error of SimpDM": [error(truth[name], done[name], hidden[name]) for name in truth],
            "of median/mode": [error(truth[name], simple[name], hidden[name]) for name in truth],
        }
    )
    return "\n\n".join(
        [
            f"With holes:\n{holes.head().to_string()}",
            f"Completed:\n{done.head().to_string()}",
            summary.to_string(float_format="{:.3f}".format),
            (
                "Error on hidden cells: mean distance in units of the column's mean deviation for numbers and "
                "dates, share of wrong labels for the others."
            ),
        ]
    )


def _is_number(series: pd.Series) -> bool:
    is_label = isinstance(series.dtype, pd.CategoricalDtype | pd.StringDtype | pd.BooleanDtype)
    return not is_label
