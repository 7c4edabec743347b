"""Do something when a library has been imported, now or later, without importing it.

``import simpdm_frames`` should cost no import of pandas to a user of polars, and the accessor should be
there whichever of the two imports comes first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["when_imported"]


def when_imported(library: str, action: Callable[[], object]) -> None:
    """Call ``action`` once ``library`` is imported: at once if it is there already."""
    if library in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Watch(library, action))


class _Watch(MetaPathFinder):
    """Sees every import first, lets all pass, and puts the action behind the one that it waits for."""

    def __init__(self, library: str, action: Callable[[], object]) -> None:
        self._library = library
        self._action = action

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._library:
            return None
        # Many only ask whether a library is there, so the watch goes on until it is really loaded.
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenAct(spec.loader, self._arrived)
        return spec

    def _arrived(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self._action()


class _ThenAct(Loader):
    """Loads as the loader that it stands for, gives it back its place, and acts."""

    def __init__(self, loader: Loader, action: Callable[[], object]) -> None:
        self._loader = loader
        self._action = action

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._action()
