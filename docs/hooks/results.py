"""Put the pictures of the benchmarks among the files of the site, where pages find them as ``results/…``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

__all__ = ["on_files"]

_RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the pictures; MkDocs calls this."""
    for picture in sorted(_RESULTS.glob("*.svg")):
        files.append(File.generated(config, f"results/{picture.name}", abs_src_path=str(picture)))
    return files
