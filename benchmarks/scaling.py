"""How time grows with rows and columns, how fast imputing is beside bare products, and its peak memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from benchmarks.rows import RESULTS, Rows, markdown
from simpdm_frames.encoded import Encoded, Layout
from simpdm_frames.engine import Engine, Progress
from simpdm_frames.engine.sampling import PASS_HEIGHT
from simpdm_frames.presets import preset
from simpdm_frames.settings import Settings

__all__ = ["render", "run"]

ROWS = Rows(
    "scaling",
    keys=("preset", "rows", "columns", "round"),
    values=("fit_us_a_row_visit", "impute_us_a_row", "gflops", "bare_gflops", "peak_mb"),
)
STEPS = 80  # fewer than it takes until scouts are looked at


def make(rows: int, columns: int, seed: int = 0) -> Encoded:
    """Make a table whose columns depend on four hidden numbers, a fifth of its cells missing."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(rows, 4)).astype(np.float32)
    numbers = np.tanh(hidden @ random.normal(size=(4, columns)).astype(np.float32))
    missing = random.random((rows, columns), dtype=np.float32) < 0.2
    missing[:, 0] |= ~missing.any(1)  # every row has work to do
    return Encoded(Layout(columns), numbers, np.empty((rows, 0), dtype=np.int64), missing)


def products(settings: Settings, columns: int) -> list[tuple[int, int]]:
    """List the products of one pass, as widths of input and output."""
    width, waves = settings.width, 2 * settings.frequencies
    out = -(-columns // 16) * 16
    return [
        (2 * columns, width),
        *[(waves, settings.wave_width)] * columns,
        (columns * settings.wave_width, width),
        (columns, width),
        *[(columns, out)] * settings.chain,
        *[(width, width)] * (settings.layers - 1),
        (width, out),
    ]


def bare_rate(settings: Settings, columns: int) -> float:
    """Time torch.mm on the products of one member's pass: operations per second."""
    pairs = [(torch.randn(PASS_HEIGHT, i), torch.randn(i, o)) for i, o in products(settings, columns)]
    work = 2 * PASS_HEIGHT * sum(i * o for i, o in products(settings, columns))
    turns = max(int(2e9 / work), 10)
    for a, b in pairs:
        torch.mm(a, b)
    began = time.perf_counter()
    for _ in range(turns):
        for a, b in pairs:
            torch.mm(a, b)
    return work * turns / (time.perf_counter() - began)


def measure(name: str, rows: int, columns: int) -> dict[str, str]:
    """Fit for a few steps, impute everything, and compare with bare products."""
    table = make(rows, columns)
    settings = preset(name, rows, columns).override(steps=STEPS, patience=1000, neighbours=0)
    looks: list[Progress] = []
    engine = Engine.fit(table, settings, callbacks=[looks.append])
    # Ten steps each; the first ones warm up.
    paces = [(b.seconds - a.seconds) / (b.step - a.step) for a, b in pairwise(looks[1:])]
    visits = min(settings.batch_size, rows) * settings.members
    bare = [bare_rate(settings, columns)]
    held = _now("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    turns = -(-100_000 // rows)  # a short time would be that of whatever else happens
    began = time.perf_counter()
    for _ in range(turns):
        filled = engine.impute(table)
    seconds = (time.perf_counter() - began) / turns
    work = 2 * rows * settings.members * sum(i * o for i, o in products(settings, columns))
    peak = _now("VmHWM") - held - (filled.numbers.nbytes + filled.probabilities.nbytes) / 2**20
    bare.append(bare_rate(settings, columns))
    return {
        "fit_us_a_row_visit": f"{1e6 * statistics.median(paces) / visits:.3f}",
        "impute_us_a_row": f"{1e6 * seconds / rows:.3f}",
        "gflops": f"{work / seconds / 1e9:.1f}",
        "bare_gflops": f"{statistics.mean(bare) / 1e9:.1f}",
        "peak_mb": f"{max(peak, 0):.0f}",
    }


def _now(what: str) -> float:
    """Look up the memory of this process, in mebibytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


def run(sizes: Sequence[tuple[int, int]], preset_name: str, rounds: int) -> None:
    """Measure what is not there yet, sizes taking turns, each in a process of its own."""
    for turn in range(rounds):
        for rows, columns in sizes:
            keys = {"preset": preset_name, "rows": rows, "columns": columns, "round": turn}
            if ROWS.has(**keys):
                continue
            code = (
                "import torch, json; from benchmarks.scaling import measure;"
                f"torch.set_num_threads({torch.get_num_threads()});"
                f"print(json.dumps(measure({preset_name!r}, {rows}, {columns})))"
            )
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            values = __import__("json").loads(done.stdout)
            ROWS.append(**keys, **values)
            print(keys, values, flush=True)


def render() -> str:
    """Take the fastest round, for others can only make it slower; of rates side by side, the median of their ratios."""
    rows = ROWS.read()
    lines = []
    for name, height, width in dict.fromkeys((r["preset"], r["rows"], r["columns"]) for r in rows):
        mine = [r for r in rows if (r["preset"], r["rows"], r["columns"]) == (name, height, width)]
        fit, impute, rate, bare, peak = (
            [float(row[key]) for row in mine]
            for key in ("fit_us_a_row_visit", "impute_us_a_row", "gflops", "bare_gflops", "peak_mb")
        )
        lines.append(
            [
                f"{name}, {int(height):,} × {width}",
                f"{min(fit):.2f}",
                f"{min(impute):.2f}",
                f"{min(impute) / int(width):.3f}",
                f"{statistics.median(rate):.0f}",
                f"{statistics.median(bare):.0f}",
                f"{statistics.median(a / b for a, b in zip(rate, bare, strict=True)):.2f}",
                f"{statistics.median(peak):.0f}",
            ]
        )
    _plot(rows)
    return markdown(
        [
            "", "fit, µs a row-visit", "impute, µs a row", "µs a cell", "GFLOP/s", "bare `torch.mm`",
            "ratio", "peak beside table and result, MB",
        ],
        lines,
    )  # fmt: skip


def _plot(rows: Sequence[dict[str, str]]) -> None:
    """Draw the seconds of imputing over rows and over columns."""
    import matplotlib as mpl  # noqa: PLC0415  # only the harness draws

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, panels = plt.subplots(1, 2, figsize=(7.5, 3))
    for panel, axis, other in ((panels[0], "rows", "columns"), (panels[1], "columns", "rows")):
        fixed = statistics.mode(row[other] for row in rows)
        points = sorted(
            (int(r[axis]), float(r["impute_us_a_row"]) * int(r["rows"]) / 1e6)
            for r in rows
            if r[other] == fixed
        )
        sizes = sorted({size for size, _ in points})
        fastest = [min(s for size, s in points if size == one) for one in sizes]
        panel.plot(sizes, fastest, color="#3b5b7a")
        panel.plot(*zip(*points, strict=True), "o", color="#3b5b7a", alpha=0.5, markersize=4)
        panel.set(
            xscale="log" if axis == "rows" else "linear",
            yscale="log" if axis == "rows" else "linear",
            xlabel=axis,
            ylabel="seconds to impute",
            title=f"{int(fixed):,} {other}",
        )
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
        panel.minorticks_off()
        panel.yaxis.set_major_formatter("{x:g}")
        panel.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(RESULTS / "scaling.svg", metadata={"Date": None})
    plt.close(figure)
