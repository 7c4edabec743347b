"""The paper's case study: fills from many initial noises, with and without alignment; and iris as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import hidden_cells, rmse
from benchmarks.datasets import load
from benchmarks.peers import PEERS
from benchmarks.protocol import decode, encode, settings_for
from benchmarks.rows import RESULTS, Rows, markdown
from simpdm_frames.engine import Engine
from simpdm_frames.settings import Settings

__all__ = ["render", "run"]

ROWS = Rows("casestudy", keys=("dataset", "variant", "seed"), values=("spread", "rmse"))
NOISES = 20
STEPS = 1500
VARIANTS = {
    "without alignment": {"alignment": "none"},
    "with alignment": {"alignment": "mse", "alignment_weight": 10.0},
}


def run(datasets: Sequence[str], seeds: Sequence[int]) -> None:
    """Measure what is not there yet, then draw."""
    for seed in seeds:
        for name in datasets:
            for variant in VARIANTS:
                keys = {"dataset": name, "variant": variant, "seed": seed}
                if ROWS.has(**keys):
                    continue
                fills, truth = fills_from_noises(name, variant, seed)
                error = np.sqrt(np.mean((fills[0] - truth) ** 2))
                ROWS.append(**keys, spread=f"{fills.std(0).mean():.5f}", rmse=f"{error:.5f}")
                print(keys, f"spread {fills.std(0).mean():.4f}", flush=True)
    _plot_spread(datasets[0], seeds[0])
    _plot_iris(seeds[0])


def fills_from_noises(name: str, variant: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Train once, fill the hidden cells from many noises: (noises, cells), and the truth."""
    dataset = load(name)
    hidden = hidden_cells(dataset.values, seed)
    table = encode(dataset, hidden)
    settings = Settings(steps=STEPS, width=128, batch_size=256, augmentation="none").override(
        **VARIANTS[variant]
    )
    engine = Engine.fit(table, settings, seed=seed)
    fills = [decode(engine.impute(table, seed=noise).numbers, table)[hidden] for noise in range(NOISES)]
    return np.stack(fills), dataset.values[hidden]


def render() -> str:
    """Give the mean standard deviation of a cell over the noises."""
    rows = ROWS.read()
    lines = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        cells = []
        for variant in VARIANTS:
            mine = [row for row in rows if (row["dataset"], row["variant"]) == (name, variant)]
            cells += [f"{np.mean([float(row[key]) for row in mine]):.4f}" for key in ("spread", "rmse")]
        lines.append([name, *cells])
    return markdown(["", *(f"{variant}: {key}" for variant in VARIANTS for key in ("spread", "RMSE"))], lines)


def _pyplot():  # noqa: ANN202  # matplotlib has no types to name
    import matplotlib as mpl  # noqa: PLC0415  # only the harness draws

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    return plt


def _plot_spread(name: str, seed: int) -> None:
    """Draw the fills of some cells around their truth."""
    plt = _pyplot()
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True)
    for panel, variant in zip(panels, VARIANTS, strict=True):
        fills, truth = fills_from_noises(name, variant, seed)
        chosen = np.linspace(0, len(truth) - 1, 24).astype(int)
        order = chosen[np.argsort(truth[chosen])]
        panel.boxplot(
            fills[:, order], widths=0.6, showfliers=False, medianprops={"color": "C0"}, manage_ticks=False
        )
        panel.plot(range(1, len(order) + 1), truth[order], "k_", markersize=9, label="truth")
        panel.set(title=variant, xlabel="hidden cells", ylabel=f"fill ({name})" if panel is panels[0] else "")
        panel.set_xticks([])
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(RESULTS / "casestudy.svg", metadata={"Date": None})
    plt.close(figure)


def _plot_iris(seed: int) -> None:
    """Draw iris as it was and as it was filled, by t-SNE on all versions together."""
    from sklearn.manifold import TSNE  # noqa: PLC0415

    plt = _pyplot()
    dataset = load("iris")
    hidden = hidden_cells(dataset.values, seed)
    table = encode(dataset, hidden)
    engine = Engine.fit(table, settings_for("default", dataset), seed=seed)
    blank = np.where(hidden, np.nan, dataset.values)
    versions = {
        "complete": dataset.values,
        "SimpDM": decode(engine.impute(table).numbers, table),
        "KNN": PEERS["knn"](blank, seed),
        "mean": PEERS["mean"](blank, seed),
    }
    flat = TSNE(perplexity=30, random_state=0, init="pca").fit_transform(
        np.concatenate(list(versions.values()))
    )
    species = np.repeat([0, 1, 2], 50)  # the file has the three species in this order
    figure, panels = plt.subplots(1, len(versions), figsize=(11, 3), sharex=True, sharey=True)
    parts = np.split(flat, len(versions))
    for panel, (title, values), points in zip(panels, versions.items(), parts, strict=True):
        error = "" if title == "complete" else f", RMSE {rmse(dataset.values, values, hidden):.3f}"
        panel.scatter(*points.T, c=species, s=9, cmap="viridis")
        panel.set(title=f"{title}{error}", xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(RESULTS / "iris.svg", metadata={"Date": None})
    plt.close(figure)
