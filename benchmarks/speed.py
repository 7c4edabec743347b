"""Time to the accuracy of the ``paper`` preset, interleaved, and where the time of a fit goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch.profiler import ProfilerActivity, profile

from benchmarks.cells import hidden_cells
from benchmarks.datasets import load
from benchmarks.protocol import encode, score, settings_for
from benchmarks.rows import RESULTS, Rows, markdown
from simpdm_frames.engine import Engine

__all__ = ["render", "run"]

ROWS = Rows("speed", keys=("dataset", "method", "seed"), values=("rmse", "seconds"))
_PROFILE = "profile.md"


def run(datasets: Sequence[str], seeds: Sequence[int], methods: Sequence[str], steps: int) -> None:
    """Let the methods take turns on the same cells; then look into the first dataset's fit."""
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
    (RESULTS / _PROFILE).write_text(_where_time_goes(datasets[-1], steps))


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
    """Set errors and seconds side by side."""
    rows = ROWS.read()
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        cells = []
        for method in methods:
            mine = [row for row in rows if (row["dataset"], row["method"]) == (name, method)]
            if mine:
                error = np.mean([float(row["rmse"]) for row in mine])
                seconds = np.mean([float(row["seconds"]) for row in mine])
                cells.append(f"{error:.4f} in {seconds:.1f} s")
            else:
                cells.append("")
        lines.append([name, *cells])
    return markdown(["", *methods], lines)
