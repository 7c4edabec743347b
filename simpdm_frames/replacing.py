"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["replacing"]


class replacing:  # noqa: N801  # it reads as a verb
    """A context that gives a temporary name beside a path, and renames it to the path if all went well."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def __enter__(self) -> Path:
        folder = self._path.parent
        handle, name = tempfile.mkstemp(prefix=f".{self._path.name}.", suffix=".part", dir=folder)
        os.close(handle)
        self._temporary = Path(name)
        mask = os.umask(0)  # mkstemp lets nobody else read; the final file is like any other
        os.umask(mask)
        self._temporary.chmod(0o666 & ~mask)
        return self._temporary

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._temporary.replace(self._path)
        else:
            with suppress(FileNotFoundError):
                self._temporary.unlink()
