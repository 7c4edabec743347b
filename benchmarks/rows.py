"""Results as rows of a CSV file: appended one by one, so that a stopped run resumes where it was."""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

__all__ = ["RESULTS", "Rows", "markdown", "provenance"]

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("numpy", "torch", "pandas", "polars", "pyarrow")
_PROVENANCE = ("threads", "commit", "versions", "machine")


class Rows:
    """The rows of one study.

    Parameters
    ----------
    study
        Name of the file under ``results/``.
    keys
        Columns that tell one measurement from another. What is there already is not run again, whatever
        commit it was measured at: to measure anew, delete the rows.
    values
        Columns that are measured.
    """

    def __init__(self, study: str, keys: Sequence[str], values: Sequence[str]) -> None:
        self.path = RESULTS / f"{study}.csv"
        self.keys = tuple(keys)
        self.columns = (*keys, *values, *_PROVENANCE)

    def read(self) -> list[dict[str, str]]:
        """Read all rows that are there."""
        if not self.path.exists():
            return []
        with self.path.open(newline="") as lines:
            return list(csv.DictReader(lines))

    def has(self, **keys: Any) -> bool:
        """Tell whether a measurement is there already."""
        wanted = [str(keys[key]) for key in self.keys]
        return any([row[key] for key in self.keys] == wanted for row in self.read())

    def source(self) -> str:
        """Say in a sentence what the rows were measured with."""
        rows = self.read()

        def distinct(column: str) -> str:
            return " and ".join(dict.fromkeys(row[column] for row in rows))

        return (
            f"Made by `python -m benchmarks {self.path.stem}` with {distinct('versions')} on {distinct('machine')}, "
            f"threads: {distinct('threads')}, commit {distinct('commit')}.\n"
        )

    def append(self, **values: Any) -> None:
        """Write one row at once, so that two processes may share a file."""
        row = {**values, **provenance()}
        self.path.parent.mkdir(exist_ok=True)
        new = not self.path.exists()
        with self.path.open("a", newline="") as lines:
            writer = csv.DictWriter(lines, self.columns, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)


def provenance() -> dict[str, str]:
    """Say what a row was measured with."""
    return {"threads": str(torch.get_num_threads()), **_machine()}


@cache
def _machine() -> dict[str, str]:
    head = _git("rev-parse", "--short", "HEAD")
    changed = "+changes" if _git("status", "--porcelain", "--", "simpdm_frames", "*.py") else ""
    packages = " ".join(f"{name} {version(name)}" for name in _PACKAGES)
    model = platform.machine()
    if Path("/proc/cpuinfo").exists():
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
        model = names[0].partition(":")[2].strip() if names else model
    return {
        "commit": f"{head}{changed}" if head else "unknown",
        "versions": f"python {platform.python_version()} {packages}",
        "machine": f"{model}, {os.cpu_count()} cores",
    }


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], capture_output=True, text=True, check=False, cwd=RESULTS.parents[1]
    )
    return done.stdout.strip()


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Render a table; the first column is text, the others are figures."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"
