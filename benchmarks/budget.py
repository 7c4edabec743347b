"""Whether a call with a budget of time takes as long as it may: what ``time_budget`` promises."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

import simpdm_frames
from benchmarks.cells import hidden_cells
from benchmarks.datasets import load
from benchmarks.rows import Rows, markdown

__all__ = ["render", "run"]

ROWS = Rows("budget", keys=("dataset", "budget", "round"), values=("seconds", "share"))


def run(datasets: Sequence[str], budgets: Sequence[float], rounds: int) -> None:
    """Complete whole frames, budgets taking turns."""
    for turn in range(rounds):
        for name in datasets:
            dataset = load(name)
            hidden = hidden_cells(dataset.values, 1)
            frame = pd.DataFrame(np.where(hidden, np.nan, dataset.values), columns=list(dataset.columns))
            for budget in budgets:
                keys = {"dataset": name, "budget": budget, "round": turn}
                if ROWS.has(**keys):
                    continue
                began = time.perf_counter()
                simpdm_frames.fit_impute(frame, time_budget=budget, random_state=1, gpu=False)
                seconds = time.perf_counter() - began
                ROWS.append(**keys, seconds=f"{seconds:.2f}", share=f"{seconds / budget:.3f}")
                print(keys, f"{seconds:.2f} s", flush=True)


def render() -> str:
    """Give the shortest and the longest call of each budget."""
    rows = ROWS.read()
    lines = []
    for name, budget in dict.fromkeys((row["dataset"], row["budget"]) for row in rows):
        seconds = sorted(
            float(row["seconds"]) for row in rows if (row["dataset"], row["budget"]) == (name, budget)
        )
        lines.append([f"{name}, {float(budget):g} s", f"{seconds[0]:.2f}", f"{seconds[-1]:.2f}"])
    furthest = max(abs(float(row["share"]) - 1) for row in rows)
    return f"Furthest from its budget: {furthest:.1%}.\n\n" + markdown(
        ["", "shortest, s", "longest, s"], lines
    )
