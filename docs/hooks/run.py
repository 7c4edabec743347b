"""Run the code of a page when the site is built, and show what came out below it.

A page is like a notebook: its Python blocks share one namespace and a folder of their own, in which its bash
blocks run too. The value of a block's last line is shown as in a notebook. What fails, fails the build.

    ```python           run and show
    ```python hidden    run, but leave out of the page
    ```python raises X  run; an error of the type X is what it is to show
    ```bash             run by a shell and show
    ```console          show only: what cannot be run here, such as an installation
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd

mpl.use("agg")

__all__ = ["BlockError", "Notebook", "on_page_markdown"]

_FENCE = re.compile(r"^```(\w+)[ ]?([\w ]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_WIDTH = 92
_SETTINGS = {"POLARS_TBL_WIDTH_CHARS": str(_WIDTH), "COLUMNS": "80"}  # as wide as a terminal


class BlockError(RuntimeError):
    """A block of a page failed, or did not fail when it should have."""


class Notebook:
    """The code of one page, run from top to bottom."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, markdown: str) -> str:
        """Give the page with outputs."""
        with tempfile.TemporaryDirectory() as folder, _there(folder):
            return _FENCE.sub(self._one, markdown)

    def _one(self, found: re.Match[str]) -> str:
        language, flags, source = found[1], found[2].split(), found[3]
        if language == "python":
            shown = self._python(source, raises=flags[1] if flags[:1] == ["raises"] else "")
        elif language == "bash":
            shown = self._bash(source)
        else:
            return found[0]
        return "" if "hidden" in flags else f"```{language}\n{source}```\n{shown}"

    def _python(self, source: str, *, raises: str) -> str:
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        out, value = io.StringIO(), None
        where = f"<{self._name}>"
        try:
            with _captured(out):
                exec(compile(tree, where, "exec"), self._names)  # noqa: S102  # that is what it is for
                if last is not None:
                    value = eval(compile(ast.Expression(last.value), where, "eval"), self._names)  # noqa: S307
        except Exception as error:
            if raises == type(error).__name__:
                return _text(f"{out.getvalue()}{type(error).__name__}: {error}")
            raise BlockError(f"{self._name}: {type(error).__name__}: {error}\n\n{source}") from error
        if raises:
            raise BlockError(f"{self._name}: this should have failed\n\n{source}")
        return f"{_text(out.getvalue())}{_shown(value)}"

    def _bash(self, source: str) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", source],  # noqa: S607  # wherever it is
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # in the order in which a terminal would show both
            text=True,
            check=False,
            env={**os.environ, "PATH": path},
        )
        if done.returncode:
            raise BlockError(f"{self._name}: exit code {done.returncode}\n\n{source}\n{done.stdout}")
        return _text(done.stdout)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Run a page; MkDocs calls this."""
    return Notebook(page.file.src_uri).run(markdown)


def _text(output: str) -> str:
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    return "\n```text\n" + "\n".join(lines) + "\n```\n" if any(lines) else ""


def _shown(value: Any) -> str:
    """Show a value as a notebook does: pictures as pictures, models as pages, frames as text."""
    if value is None:
        return ""
    if hasattr(value, "savefig"):
        file = io.BytesIO()
        value.savefig(file, format="svg", metadata={"Date": None})
        data = base64.b64encode(file.getvalue()).decode()
        return f'\n<img class="picture" alt="the figure that this code draws" src="data:image/svg+xml;base64,{data}">\n'
    if type(value).__module__.startswith("simpdm_frames.") and hasattr(type(value), "_repr_html_"):
        return f'\n<div class="output">{value._repr_html_()}</div>\n'
    return _text(repr(value))


@contextlib.contextmanager
def _captured(out: io.StringIO) -> Iterator[None]:
    """Collect what is printed, warned of and logged aloud."""
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, category, *_, **__: out.write(
            f"{category.__name__}: {message}\n"
        )
        yield


@contextlib.contextmanager
def _there(folder: str) -> Iterator[None]:
    """Work in a folder, with tables that are as wide as a page."""
    before, environment = Path.cwd(), {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(_SETTINGS)
    os.chdir(folder)
    try:
        with pd.option_context(
            "display.width", _WIDTH, "display.max_columns", 20, "display.max_colwidth", 40
        ):
            yield
    finally:
        os.chdir(before)
        for name, value in environment.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
