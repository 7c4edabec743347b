"""Who may import whom: a room is entered by its door, never by a window."""

import ast
from pathlib import Path

import pytest

import simpdm_frames

PACKAGE = Path(simpdm_frames.__file__).parent
LIBRARIES = {"pandas", "polars", "pyarrow"}

CALL = {"options", "notices", "progress"}  # what a call is asked, what it says, and how it shows

# For each room: what of ours it may import, and which outside packages beyond the standard library.
# A name ending in a dot stands for a whole room.
RULES = {
    "": ({"accessor", "fitting", "frames.", "imputer", "report", "settings", "summary"}, set()),
    "__main__": ({"commands"}, set()),
    "commands": ({"", "demo", "files"}, set()),
    "files": ({"replacing"}, {"polars"}),
    "replacing": (set(), set()),
    "demo": ({"", "fitting"}, {"numpy", *LIBRARIES}),
    "accessor": ({"fitting", "imputer", "report", "options"}, set()),
    "fitting": (
        {"frames.", "codecs.", "engine.", "device", "errors", "column", *CALL, "imputer"},
        {"numpy"},
    ),
    "imputer": (
        {"frames.", "codecs.", "engine.", "device", "errors", "column", *CALL, "modelfile", "summary"},
        {"numpy"},
    ),
    "modelfile": ({"codecs.", "engine.", "column", "errors", "replacing", "spelling"}, {"safetensors"}),
    "spelling": (set(), {"numpy", "pandas"}),
    "device": ({"errors", "settings"}, set()),
    "report": (
        {"frames.", "codecs.", "column", *CALL, "fitting", "pictures"},
        {"numpy", "matplotlib"},
    ),
    "pictures": ({"column"}, {"numpy", "matplotlib"}),
    "summary": ({"codecs."}, set()),
    "options": ({"codecs.", "presets", "settings", "progress"}, set()),
    "notices": ({"codecs.", "column", "errors"}, set()),
    "progress": (set(), {"tqdm"}),
    "presets": ({"settings"}, set()),
    "settings": (set(), {"torch"}),
    "errors": (set(), set()),
    "column": (set(), {"numpy"}),
    "encoded": (set(), {"numpy"}),
    "frames.": ({"frames.", "column", "errors"}, {"numpy", *LIBRARIES}),
    "codecs.": ({"codecs.", "column", "encoded", "errors"}, {"numpy"}),
    "engine.": ({"engine.", "encoded", "settings"}, {"numpy", "torch"}),
}
# Files of the frames room that are no backend themselves, and the backend whose library is theirs.
OWNERS = {"frames.arrow": "frames.pyarrow", "frames.objects": "frames.pandas", "frames.lazy": "frames.polars"}
STANDARD = set(__import__("sys").stdlib_module_names) | {"typing_extensions"}


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts)
        yield name.removesuffix("__init__") if name.endswith("__init__") else name, path


def imports(source, name):
    """All modules that a source imports, at any depth of nesting; relative ones made absolute."""
    package = ["simpdm_frames", *name.split(".")[:-1]]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def room_of(name):
    return name.split(".")[0] + "." if "." in name else name


def violations(name, source):
    """Name each import of a module that its room does not allow."""
    ours, outside = RULES[room_of(name)]
    siblings = {f"frames.{library}" for library in LIBRARIES} - {name, OWNERS.get(name)}
    for target in imports(source, name):
        top, _, rest = target.partition(".")
        if top != "simpdm_frames":
            of_a_sibling = room_of(name) == "frames." and f"frames.{top}" in siblings
            if top not in STANDARD | outside or of_a_sibling:
                yield target
            continue
        first = rest.split(".")[0]
        room = next((known for known in (first + ".", first) if known in RULES), "")
        enters_a_sibling = name.startswith("frames.") and ".".join(rest.split(".")[:2]) in siblings
        if room not in ours or enters_a_sibling:
            yield target


@pytest.mark.parametrize(("name", "path"), [pytest.param(*m, id=m[0] or "__init__") for m in modules()])
def test_a_module_imports_only_what_its_room_allows(name, path):
    assert list(violations(name, path.read_text())) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("engine.training", "import pandas"),
        ("engine.training", "from simpdm_frames.codecs import table"),
        ("engine.training", "from simpdm_frames import column"),
        ("engine.training", "from ..column import Column"),
        ("codecs.table", "import torch"),
        ("codecs.table", "def f():\n    from simpdm_frames.engine import Engine"),
        ("codecs.table", "import polars as pl"),
        ("frames.pandas", "import torch"),
        ("frames.pandas", "import polars"),
        ("frames.pandas", "from simpdm_frames.frames.polars import read"),
        ("frames.polars", "from simpdm_frames.frames import pandas"),
        ("frames.polars", "from . import pandas"),
        ("frames.pandas", "import pyarrow"),
        ("frames.arrow", "import pandas"),
        ("frames.lazy", "import pandas"),
        ("codecs.policy", "from simpdm_frames.options import FitOptions"),
        ("notices", "import torch"),
        ("frames.pandas", "from simpdm_frames.codecs.table import Codec"),
        ("encoded", "from simpdm_frames.column import Column"),
        ("column", "import torch"),
        ("accessor", "from simpdm_frames.engine import Engine"),
        ("errors", "import numpy"),
    ],
)
def test_the_rules_catch_a_window(name, source):
    assert list(violations(name, source)) != []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("engine.training", "import torch, math\nfrom simpdm_frames.encoded import Encoded"),
        ("frames.pandas", "import pandas\nfrom simpdm_frames.column import Column"),
        ("codecs.table", "from simpdm_frames.codecs.discrete import Discrete\nimport numpy"),
    ],
)
def test_the_rules_let_a_door_be_used(name, source):
    assert list(violations(name, source)) == []
