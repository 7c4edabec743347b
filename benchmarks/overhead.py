"""Cost of a training step beside a bare torch loop of the same matrix sizes, interleaved."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from benchmarks.cells import hidden_cells
from benchmarks.datasets import load
from benchmarks.mixed import encode
from benchmarks.protocol import paper_settings
from benchmarks.rows import Rows, markdown
from simpdm_frames.encoded import Encoded
from simpdm_frames.engine import Engine
from simpdm_frames.settings import Settings

__all__ = ["render", "run"]

ROWS = Rows(
    "overhead",
    keys=("dataset", "rows_per_step", "steps", "round"),
    values=("engine_ms", "bare_ms", "ratio"),
)


def bare_seconds(encoded: Encoded, settings: Settings, rows: int) -> float:
    """Time forward, backward and AdamW of a plain MLP on one constant input: no masks, no noise."""
    width, depth = settings.width, settings.layers
    d = encoded.layout.n_numbers + encoded.layout.n_levels
    sizes = [d, *[width] * depth]
    layers: list[nn.Module] = []
    for d_in, d_out in itertools.pairwise(sizes):
        layers += [nn.Linear(d_in, d_out), nn.ReLU()]
    network = nn.Sequential(*layers, nn.Linear(width, d))
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-4, fused=True)
    table = torch.randn(2 * rows, d)
    began = time.perf_counter()
    for _ in range(settings.steps):
        loss = ((network(table) - table) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return time.perf_counter() - began


def engine_seconds(encoded: Encoded, settings: Settings) -> float:
    """Time a whole fit."""
    began = time.perf_counter()
    Engine.fit(encoded, settings)
    return time.perf_counter() - began


def run(datasets: Sequence[str], rounds: int, steps: int, batch_size: int) -> None:
    """Alternate the two loops, so that both meet the same load of the machine."""
    for name in datasets:
        dataset = load(name)
        encoded, _ = encode(dataset, hidden_cells(dataset.values, 1))
        settings = paper_settings(name).override(steps=steps, batch_size=batch_size)
        rows = min(batch_size, len(encoded))
        for turn in range(rounds):
            keys = {"dataset": name, "rows_per_step": rows, "steps": steps, "round": turn}
            if ROWS.has(**keys):
                continue
            mine, bare = engine_seconds(encoded, settings), bare_seconds(encoded, settings, rows)
            ROWS.append(
                **keys,
                engine_ms=f"{1000 * mine / steps:.3f}",
                bare_ms=f"{1000 * bare / steps:.3f}",
                ratio=f"{mine / bare:.3f}",
            )
            print(keys, f"{1000 * mine / steps:.2f} ms, bare {1000 * bare / steps:.2f} ms", flush=True)


def render() -> str:
    """Take medians over the rounds."""
    rows = ROWS.read()
    lines = []
    for name, height in dict.fromkeys((row["dataset"], row["rows_per_step"]) for row in rows):
        chosen = [row for row in rows if (row["dataset"], row["rows_per_step"]) == (name, height)]
        medians = [
            np.median([float(row[key]) for row in chosen]) for key in ("engine_ms", "bare_ms", "ratio")
        ]
        lines.append([f"{name}, {height} rows", *(f"{median:.2f}" for median in medians)])
    return markdown(["", "engine, ms a step", "bare, ms a step", "ratio"], lines)
