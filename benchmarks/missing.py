"""Other ways of missing: rates from 10 to 70 %, and cells that are missing (not) at random, beside peers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.cells import hidden_cells
from benchmarks.datasets import load
from benchmarks.protocol import score
from benchmarks.rows import RESULTS, Rows, markdown
from simpdm_frames.presets import PRESETS

__all__ = ["render", "run"]

ROWS = Rows("missing", keys=("method", "dataset", "mechanism", "rate", "seed"), values=("rmse", "seconds"))
SCENES = (("MCAR", 0.1), ("MCAR", 0.3), ("MCAR", 0.5), ("MCAR", 0.7), ("MAR", 0.3), ("MNAR", 0.3))


def run(datasets: Sequence[str], seeds: Sequence[int], methods: Sequence[str]) -> None:
    """Measure what is not there yet."""
    for seed in seeds:
        for name in datasets:
            dataset = load(name)
            for mechanism, rate in SCENES:
                hidden = hidden_cells(dataset.values, seed, rate, mechanism)
                for method in methods:
                    keys = {
                        "method": method,
                        "dataset": name,
                        "mechanism": mechanism,
                        "rate": rate,
                        "seed": seed,
                    }
                    if ROWS.has(**keys):
                        continue
                    result = score(dataset, hidden, method, seed)
                    ROWS.append(**keys, rmse=f"{result.rmse:.5f}", seconds=f"{result.seconds:.2f}")
                    print(keys, f"{result.rmse:.4f} in {result.seconds:.1f} s", flush=True)


def render() -> str:
    """Give a line per dataset and scene, the lowest in bold, and how often each preset is below all peers."""
    rows = ROWS.read()
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines, curves = [], {}
    lowest = dict.fromkeys((method for method in methods if method in PRESETS), 0)
    for name, mechanism, rate in dict.fromkeys((r["dataset"], r["mechanism"], r["rate"]) for r in rows):
        scores = {}
        for method in methods:
            mine = [
                float(r["rmse"])
                for r in rows
                if (r["method"], r["dataset"], r["mechanism"], r["rate"]) == (method, name, mechanism, rate)
            ]
            if mine:
                scores[method] = float(np.mean(mine))
                if mechanism == "MCAR":
                    curves.setdefault((name, method), []).append((float(rate), scores[method]))
        best = min(scores.values())
        of_others = min((v for m, v in scores.items() if m not in PRESETS), default=np.inf)
        for method in lowest:
            lowest[method] += scores.get(method, np.inf) < of_others
        cells = [f"**{v:.4f}**" if v == best else f"{v:.4f}" for v in scores.values()]
        lines.append([f"{name}, {mechanism} {float(rate):.0%}", *cells])
    _plot(curves)
    seeds = ", ".join(sorted({row["seed"] for row in rows}, key=int))
    wins = ", ".join(f"`{method}` in {number}" for method, number in lowest.items())
    said = f"Below all peers: {wins} of {len(lines)} lines. Mean over seeds {seeds}.\n\n"
    return said + markdown(["", *methods], lines)


def _plot(curves: dict[tuple[str, str], list[tuple[float, float]]]) -> None:
    """Draw the error over the rate, one panel per dataset."""
    import matplotlib as mpl  # noqa: PLC0415  # only the harness draws

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    names = list(dict.fromkeys(name for name, _ in curves))
    figure, panels = plt.subplots(
        1, len(names), figsize=(2.7 * len(names), 3), squeeze=False, layout="constrained"
    )
    for panel, name in zip(panels[0], names, strict=True):
        for method in dict.fromkeys(m for n, m in curves if n == name):
            points = sorted(curves[name, method])
            ours = method in {"fast", "default", "best"}
            panel.plot(
                *zip(*points, strict=True),
                marker="o",
                markersize=3,
                label=f"SimpDM ({method})" if ours else method,
                linewidth=2.2 if ours else 1.1,
            )
        panel.set(title=name, xlabel="missing rate", ylabel="RMSE" if panel is panels[0][0] else "")
        panel.spines[["top", "right"]].set_visible(False)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, fontsize=9)
    figure.savefig(RESULTS / "missing.svg", metadata={"Date": None})
    plt.close(figure)
