"""The ``paper`` preset with its published settings, beside the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.cells import hidden_cells
from benchmarks.datasets import load
from benchmarks.protocol import interval, score_simpdm
from benchmarks.published import SIMPDM
from benchmarks.rows import Rows, markdown
from simpdm_frames.presets import preset

__all__ = ["render", "run"]

ROWS = Rows(
    "paper",
    keys=("dataset", "steps", "seed"),
    values=("rmse", "seconds"),
)


def run(datasets: Sequence[str], seeds: Sequence[int], steps: int | None) -> None:
    """Measure what is not there yet."""
    for seed in seeds:
        for name in datasets:
            settings = preset("paper", dataset=name)
            settings = settings.override(steps=steps or settings.steps)
            keys = {"dataset": name, "steps": settings.steps, "seed": seed}
            if ROWS.has(**keys):
                continue
            dataset = load(name)
            result = score_simpdm(dataset, hidden_cells(dataset.values, seed), settings, seed)
            ROWS.append(**keys, rmse=f"{result.rmse:.5f}", seconds=f"{result.seconds:.1f}")
            print(keys, f"{result.rmse:.4f}", flush=True)


def render() -> str:
    """Set the mean over each set of five seeds beside the paper's."""
    rows = ROWS.read()
    lines = []
    for name, steps in dict.fromkeys((r["dataset"], r["steps"]) for r in rows):
        chosen = {int(row["seed"]): row for row in rows if (row["dataset"], row["steps"]) == (name, steps)}
        cells = [f"{name}, {steps} steps"]
        for seeds in (range(5), range(1, 6)):
            there = [float(chosen[seed]["rmse"]) for seed in seeds if seed in chosen]
            if there:
                mean, spread = interval(there)
                whole = "" if len(there) == 5 else f" ({len(there)} of 5)"
                cells.append(f"{mean:.4f} ± {spread:.4f}{whole}")
            else:
                cells.append("")
        published, spread = SIMPDM[name]
        seconds = [float(row["seconds"]) for row in chosen.values()]
        lines.append([*cells, f"{published:.4f} ± {spread:.4f}", f"{sum(seconds) / len(seconds):.0f}"])
    return markdown(["", "seeds 0-4", "seeds 1-5", "paper", "seconds"], lines)
