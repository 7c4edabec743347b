"""What each part is worth: the ``fast`` preset with one part taken away or put in another way, on the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.cells import hidden_cells
from benchmarks.datasets import load
from benchmarks.protocol import score_simpdm, settings_for
from benchmarks.published import ABLATED
from benchmarks.rows import Rows, markdown

__all__ = ["VARIANTS", "render", "run"]

_PLAIN = {"alignment": "none", "augmentation": "none"}
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "components": {
        "base": _PLAIN,
        "+SA": {"augmentation": "none"},
        "+AUG": {"alignment": "none"},
        "SimpDM": {},
    },
    "alignment": {
        "base": _PLAIN,
        "+SA (CL)": {"augmentation": "none", "alignment": "contrastive"},
        "+SA (SK)": {"augmentation": "none", "alignment": "sinkhorn"},
        "+SA (MSE)": {"augmentation": "none"},
    },
    "augmentation": {
        "base": _PLAIN,
        "+AUG (strong)": {"alignment": "none", "augmentation": "strong"},
        "+AUG (weak)": {"alignment": "none", "augmentation": "weak"},
        "+AUG (SD)": {"alignment": "none"},
    },
    "recipe": {
        "fast": {},
        "no waves": {"frequencies": 0},
        "slow waves only": {"highest_frequency": 0.5, "smooth_frequency": None},
        "waves of values": {"ranks": 0.0},
        "waves of ranks": {"ranks": 1.0},
        "no smooth members": {"smooth_frequency": None},
        "no neighbours, no clusters": {"neighbours": 0},
        "no clusters": {"clusters": 0},
        "no linear chain": {"chain": 0},
        "a chain of one round": {"chain": 1},
        "one member": {"members": 1, "scouts": 0},
        "no scouts": {"scouts": 0},
        "judged together": {"judging": "together"},
        "no average": {"average": 0.0},
        "even masks": {"masking": "even"},
        "all columns alike": {"whole_share": 1.0},
        "ten noisy steps": {"sampling_steps": None, "start": "noise"},
        "own units": {"scale": "none"},
    },
    "processes": {
        "fast": {},
        "with processes": {"processes": 2500},
    },
    "fits": {
        "fast": {},
        "two fits": {"fits": 2},
        "five fits": {"fits": 5},
    },
}
_OURS = ("recipe", "processes", "fits")  # not the paper's: on masks that no reported figure uses
ROWS = Rows("ablations", keys=("study", "variant", "dataset", "seed"), values=("rmse", "seconds"))


def run(datasets: Sequence[str], seeds: Sequence[int], studies: Sequence[str]) -> None:
    """Measure what is not there yet; the recipe on seeds that no reported figure uses."""
    for study in studies:
        for seed in seeds:
            shifted = seed + 100 if study in _OURS else seed
            for name in datasets:
                dataset = load(name)
                hidden = hidden_cells(dataset.values, shifted)
                for variant, options in VARIANTS[study].items():
                    keys = {"study": study, "variant": variant, "dataset": name, "seed": shifted}
                    if ROWS.has(**keys):
                        continue
                    # What the paper's components are worth shows in the networks, not in what neighbours make up for.
                    alone = {} if study in _OURS else {"neighbours": 0}
                    settings = settings_for("fast", dataset).override(**alone, **options)
                    result = score_simpdm(dataset, hidden, settings, shifted)
                    ROWS.append(**keys, rmse=f"{result.rmse:.5f}", seconds=f"{result.seconds:.2f}")
                    print(keys, f"{result.rmse:.4f} in {result.seconds:.1f} s", flush=True)


def render() -> str:
    """Give the mean over the seeds, the paper's figure in brackets, and the ratio to the whole method."""
    rows = ROWS.read()
    parts = []
    for study, variants in VARIANTS.items():
        mine = [row for row in rows if row["study"] == study]
        names = list(dict.fromkeys(row["dataset"] for row in mine))
        if not mine:
            continue
        whole = "SimpDM" if study == "components" else next(iter(variants))
        lines = []
        for variant in variants:
            cells, ratios = [], []
            for name in names:
                score, base = (_mean(mine, name, v) for v in (variant, whole))
                printed = ABLATED.get(variant, {}).get(name)
                cells.append("" if score is None else f"{score:.4f}" + (f" ({printed})" if printed else ""))
                if score is not None and base is not None:
                    ratios.append(score / base)
            lines.append([variant, *cells, f"{np.exp(np.mean(np.log(ratios))):.3f}" if ratios else ""])
        seeds = ", ".join(sorted({row["seed"] for row in mine}, key=int))
        parts.append(f"**{study}, seeds {seeds}**\n\n" + markdown(["", *names, f"ratio to {whole}"], lines))
    return "\n".join(parts)


def _mean(rows: Sequence[dict[str, str]], dataset: str, variant: str) -> float | None:
    scores = [float(r["rmse"]) for r in rows if (r["dataset"], r["variant"]) == (dataset, variant)]
    return float(np.mean(scores)) if scores else None
