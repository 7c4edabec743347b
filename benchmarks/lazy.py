"""Peak memory of filling a Parquet file into another one: as a query, and by the command line."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchmarks.rows import Rows, markdown

__all__ = ["render", "run"]

ROWS = Rows("lazy", keys=("way", "rows", "preset"), values=("seconds", "peak_mb", "holes_left"))
_QUERY = """
import sys, polars as pl, simpdm_frames
source, target, preset = sys.argv[1:]
model = pl.scan_parquet(source).simpdm.fit(random_state=0, preset=preset)
pl.scan_parquet(source).simpdm.impute(model).sink_parquet(target)
"""
WAYS = {
    "query": lambda source, target, preset: ["-c", _QUERY, source, target, preset],
    "command": lambda source, target, preset: [
        *("-m", "simpdm_frames", "impute", source, "-o", target, "--preset", preset, "--seed", "0")
    ],
}


def write_table(path: Path, rows: int) -> None:
    """Write 12 floats, 4 integers and 4 strings of 50 levels, a tenth of them holes, as a query."""
    row = pl.int_range(rows, eager=True).alias("row").to_frame().lazy()
    row = row.select(wave=pl.col("row") * 0.37, code=pl.col("row").hash(7))
    columns = [(pl.col("wave") * (k + 1) / 9).sin().alias(f"f{k}") for k in range(12)]
    columns += [(pl.col("code") // 10**k % 10_000).cast(pl.Int32).alias(f"i{k}") for k in range(4)]
    columns += [pl.format("level {}", pl.col("code") // 7**k % 50).alias(f"s{k}") for k in range(4)]
    table = row.select(columns)
    names = table.collect_schema().names()
    holes = [
        pl.when(pl.int_range(pl.len()).hash(seed) % 10 > 0).then(name).alias(name)
        for seed, name in enumerate(names)
    ]
    table.select(holes).sink_parquet(path)


def run(rows: int, preset_name: str, ways: Sequence[str]) -> None:
    """Write a file, fill it into another one in a process of its own, and look at the peak of its memory."""
    for way in ways:
        keys = {"way": way, "rows": rows, "preset": preset_name}
        if ROWS.has(**keys):
            continue
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "holes.parquet", Path(folder) / "done.parquet"
            writer = multiprocessing.get_context("spawn").Process(target=write_table, args=(source, rows))
            writer.start()  # in a process of its own: what it needs is not looked at
            writer.join()
            began = time.perf_counter()
            command = [sys.executable, *map(str, WAYS[way](source, target, preset_name))]
            child = subprocess.Popen(command)
            _, status, used = os.wait4(child.pid, 0)
            seconds, child.returncode = time.perf_counter() - began, os.waitstatus_to_exitcode(status)
            if child.returncode:
                raise RuntimeError(f"{way} ended with exit code {child.returncode}")
            left = pl.scan_parquet(target).null_count().collect(engine="streaming").sum_horizontal().item()
        values = {"seconds": f"{seconds:.1f}", "peak_mb": f"{used.ru_maxrss / 1000:.0f}", "holes_left": left}
        ROWS.append(**keys, **values)
        print(keys, values, flush=True)


def render() -> str:
    """Show every run."""
    lines = [
        [
            row["way"],
            f"{int(row['rows']):,}",
            row["preset"],
            row["seconds"],
            row["peak_mb"],
            row["holes_left"],
        ]
        for row in ROWS.read()
    ]
    return markdown(["", "rows × 20", "preset", "seconds", "peak, MB", "holes left"], lines)
