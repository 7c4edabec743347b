"""Time to the accuracy of the ``paper`` preset, interleaved, and where the time of a fit goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.profiler import ProfilerActivity, profile

from benchmarks.cells import hidden_cells
from benchmarks.datasets import Dataset, load
from benchmarks.protocol import encode, score, score_simpdm, settings_for
from benchmarks.rows import RESULTS, Rows, markdown
from simpdm_frames.engine import Engine

__all__ = ["render", "run"]

ROWS = Rows("speed", keys=("dataset", "method", "seed"), values=("rmse", "seconds"))
_PROFILE = "profile.md"
_LENGTHS = (25, 50, 100, 200, 400, 800, 1600)  # steps of ``default``, tried until it is as good as ``paper``


def run(datasets: Sequence[str], seeds: Sequence[int], methods: Sequence[str], steps: int) -> None:
    """Let the methods take turns on the same cells; then look into the last dataset's fit."""
    for seed in seeds:
        for name in datasets:
            dataset = load(name)
            hidden = hidden_cells(dataset.values, seed)
            for method in methods:
                keys = {"dataset": name, "method": method, "seed": seed}
                if ROWS.has(**keys):
                    continue
                result = score(dataset, hidden, method, seed)
                ROWS.append(**keys, rmse=f"{result.rmse:.5f}", seconds=f"{result.seconds:.2f}")
                print(keys, f"{result.rmse:.4f} in {result.seconds:.1f} s", flush=True)
            _reach(dataset, hidden, name, seed)
    (RESULTS / _PROFILE).write_text(_where_time_goes(datasets[-1], steps))


def _reach(dataset: Dataset, hidden: NDArray[np.bool_], name: str, seed: int) -> None:
    """Fit ``default`` for more and more steps, until it is as good as ``paper`` on the same cells."""
    goal = _rmse(name, "paper", seed)
    if goal is None:
        return
    for steps in _LENGTHS:
        keys: dict[str, Any] = {"dataset": name, "method": f"default, {steps} steps", "seed": seed}
        if not ROWS.has(**keys):
            result = score_simpdm(
                dataset, hidden, settings_for("default", dataset).override(steps=steps), seed
            )
            ROWS.append(**keys, rmse=f"{result.rmse:.5f}", seconds=f"{result.seconds:.2f}")
            print(keys, f"{result.rmse:.4f} in {result.seconds:.1f} s", flush=True)
        reached = _rmse(name, keys["method"], seed)
        if reached is not None and reached <= goal:
            return


def _rmse(name: str, method: str, seed: int) -> float | None:
    found = [r for r in ROWS.read() if (r["dataset"], r["method"], r["seed"]) == (name, method, str(seed))]
    return float(found[0]["rmse"]) if found else None


def _where_time_goes(name: str, steps: int) -> str:
    """Count the time of each operation of torch in a fit."""
    dataset = load(name)
    table = encode(dataset, hidden_cells(dataset.values, 1))
    settings = settings_for("default", dataset).override(steps=steps)
    Engine.fit(table, settings.override(steps=10))
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        Engine.fit(table, settings)
    events = sorted(seen.key_averages(), key=lambda event: -event.self_cpu_time_total)
    total = sum(event.self_cpu_time_total for event in events)
    lines = [
        [f"`{event.key}`", f"{event.self_cpu_time_total / total:.1%}", event.count // steps]
        for event in events[:12]
    ]
    return f"`default` on {name}, {steps} steps\n\n" + markdown(["operation", "share", "calls a step"], lines)


def render() -> str:
    """Set errors and seconds side by side, and the shortest ``default`` that is as good as ``paper``."""
    rows = {(row["dataset"], row["method"], row["seed"]): row for row in ROWS.read()}
    lines = []
    for name, seed in dict.fromkeys((name, seed) for name, _, seed in rows):
        mine = {method: row for (n, method, s), row in rows.items() if (n, s) == (name, seed)}
        cells = [_cell(mine.get(method)) for method in ("paper", "default")]
        paper = mine.get("paper")
        enough = [
            (float(row["seconds"]), method)
            for method, row in mine.items()
            if paper and method.startswith("default") and float(row["rmse"]) <= float(paper["rmse"])
        ]
        if paper and enough:
            seconds, method = min(enough)
            cells += [_cell(mine[method]), method, f"1/{float(paper['seconds']) / seconds:.0f}"]
        else:
            cells += ["", "", ""]
        lines.append([f"{name}, seed {seed}", *cells])
    header = ["", "`paper`", "`default`", "shortest as good as `paper`", "which", "of its time"]
    return markdown(header, lines)


def _cell(row: dict[str, str] | None) -> str:
    return f"{float(row['rmse']):.4f} in {float(row['seconds']):.1f} s" if row else ""
