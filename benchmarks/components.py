"""The components ablation: base model, alignment, augmentation, both, on the same cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.datasets import load
from benchmarks.protocol import paper_settings, score_simpdm
from benchmarks.published import COMPONENTS
from benchmarks.rows import Rows, markdown

__all__ = ["render", "run"]

VARIANTS = {
    "base": {"alignment": "none", "augmentation": "none"},
    "+SA": {"augmentation": "none"},
    "+AUG": {"alignment": "none"},
    "SimpDM": {},
}
ROWS = Rows(
    "components",
    keys=("dataset", "variant", "steps", "learning_rate", "seed"),
    values=("rmse", "fit_seconds"),
)


def run(
    datasets: Sequence[str], seeds: Sequence[int], variants: Sequence[str], steps: int, learning_rate: float
) -> None:
    """Measure what is not there yet."""
    for seed in seeds:
        for name in datasets:
            for variant in variants:
                keys = {
                    "dataset": name,
                    "variant": variant,
                    "steps": steps,
                    "learning_rate": learning_rate,
                    "seed": seed,
                }
                if ROWS.has(**keys):
                    continue
                settings = paper_settings(name).override(
                    steps=steps, learning_rate=learning_rate, **VARIANTS[variant]
                )
                result = score_simpdm(load(name), seed, settings)
                ROWS.append(**keys, rmse=f"{result.rmse:.5f}", fit_seconds=f"{result.fit_seconds:.1f}")
                print(keys, f"{result.rmse:.4f}", flush=True)


def render() -> str:
    """Set each variant's mean over the seeds beside the paper's figure."""
    rows = ROWS.read()
    lines = []
    for name, steps, rate in dict.fromkeys((r["dataset"], r["steps"], r["learning_rate"]) for r in rows):
        mine = [r for r in rows if (r["dataset"], r["steps"], r["learning_rate"]) == (name, steps, rate)]
        cells = []
        for variant in VARIANTS:
            scores = [float(r["rmse"]) for r in mine if r["variant"] == variant]
            cells.append(f"{np.mean(scores):.4f} ({COMPONENTS[name][variant]:.3f})" if scores else "")
        seeds = ",".join(sorted({r["seed"] for r in mine}, key=int))
        lines.append([f"{name}, {steps} steps, lr {rate}, seeds {seeds}", *cells])
    return markdown(["ours (paper's, at full length)", *VARIANTS], lines)
