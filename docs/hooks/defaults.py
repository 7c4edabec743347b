"""Give each parameter on the API page its own type and default.

Where a docstring describes several parameters in one entry, ``layers, width``, griffe shows the type and default of the
first one for all of them.
"""

from __future__ import annotations

from typing import Any

import griffe

__all__ = ["OwnDefaults"]


class OwnDefaults(griffe.Extension):
    """Look up what a docstring's parameters are in the signature, one by one; MkDocs loads this."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Mend all docstrings of the package."""
        _mend(pkg)


def _mend(parent: griffe.Object) -> None:
    for member in parent.members.values():
        if isinstance(member, griffe.Object):
            _mend(member)
    if parent.docstring is None or not isinstance(parent, griffe.Function | griffe.Class):
        return
    for section in parent.docstring.parsed:
        if isinstance(section, griffe.DocstringSectionParameters):
            for described in section.value:
                _correct(described, parent)


def _correct(described: griffe.DocstringParameter, parent: griffe.Function | griffe.Class) -> None:
    """Take a parameter from the signature, or from the fields of a dataclass, which has no signature yet."""
    field = parent.members.get(described.name)
    if described.name in parent.parameters:
        own = parent.parameters[described.name]
        described.annotation, described.value = own.annotation, own.default
    elif isinstance(field, griffe.Attribute):
        described.annotation, described.value = field.annotation, field.value
