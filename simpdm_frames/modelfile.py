"""One file for a model: safetensors with its weights, and with all else as JSON in the file's header.

There is no pickle in it and no row of the training. It is written under another name and renamed, so that a
file under the final name is always a whole one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simpdm_frames.codecs import CODECS, Choices, Role, TableCodec, Treatment, refuse_nonsense
from simpdm_frames.column import Grid
from simpdm_frames.errors import ModelFileError
from simpdm_frames.replacing import replacing
from simpdm_frames.spelling import Speller, SpellingError

if TYPE_CHECKING:  # torch is imported when a model is there
    from simpdm_frames.engine import Engine

__all__ = ["read", "write"]

VERSION = 1
_ENTRY = "simpdm_frames"
_WAY_OUT = "give the name of a file that Imputer.save or simpdm fit has written"
_LONGEST_HEADER = 16 * 2**20  # bytes; that of a table with thousands of columns is a few million
_MOST_VALUES = 10**6  # that a header may list; "[]" is two bytes in a file, and sixty in memory
_SPELLER = Speller([*CODECS, Choices, Grid, Role, Treatment])


def write(path: str | os.PathLike[str], codec: TableCodec, choices: Choices, engine: Engine) -> None:
    """Write a model to a file, which is whole or not there."""
    from safetensors.numpy import save  # noqa: PLC0415  # only those who store models need it

    from simpdm_frames.engine.stored import to_arrays  # noqa: PLC0415  # torch is slow to import

    own = [f"{name!r} by {part.__name__}" for name, part in choices.codecs.items()]
    if own:
        raise ModelFileError(
            f"a model with codecs from outside cannot be saved ({', '.join(own)}): a file must not name code to be "
            "run; fit without codecs=, or pickle the model"
        )
    if engine.advisers.neighbours is not None:
        raise ModelFileError(
            f"the model holds {len(engine.advisers.neighbours):,} rows of the table that it was fitted to, and rows do not belong in "
            "a model file; fit without neighbours=, or pickle the model"
        )
    arrays, facts = to_arrays(engine)
    model = {
        "version": VERSION,
        "engine": facts,
        "choices": _spell("the options of the fit", choices),
        "numbers": [[_spell(name, name), _spell(name, part)] for name, part in codec.numbers.items()],
        "categories": [[_spell(name, name), _spell(name, part)] for name, part in codec.categories.items()],
        "plan": [[_spell(name, name), _spell(name, part)] for name, part in codec.plan.items()],
    }
    # One entry: several would be written in an order of chance, and equal models should give equal files.
    text = json.dumps(model)
    content = save(arrays, metadata={_ENTRY: text})
    if int.from_bytes(content[:8], "little") > _LONGEST_HEADER or _count(text) > _MOST_VALUES:
        raise ModelFileError(
            f"the columns and labels of this model need more than {_LONGEST_HEADER >> 20} MiB or {_MOST_VALUES:,} "
            "values; leave out columns with ignore=, or pickle the model"
        )
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read(path: str | os.PathLike[str], device: str) -> tuple[TableCodec, Choices, Engine]:
    """Read a model; whatever is wrong with the file is a ``ModelFileError``."""
    path = Path(path)
    text, arrays = _contents(path)
    if _count(text) > _MOST_VALUES:
        raise ModelFileError(f"{path} lists more than {_MOST_VALUES:,} values; {_WAY_OUT}")
    try:
        model = json.loads(text)
        _refuse_newer(path, model["version"])
        return _make(model, arrays, device)
    except ModelFileError:
        raise
    except (SpellingError, KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        what = f"{error.args[0]!r} is lacking" if isinstance(error, KeyError) else str(error)
        raise ModelFileError(f"{path} is no usable model: {what}; save the model anew") from error


def _make(
    model: Mapping[str, Any], arrays: dict[str, Any], device: str
) -> tuple[TableCodec, Choices, Engine]:
    """Put the parts of a model together."""
    numbers, categories, plan = (_mapping(model[part]) for part in ("numbers", "categories", "plan"))
    codec, choices = TableCodec(numbers, categories, plan), _SPELLER.read(model["choices"])
    refuse_nonsense(codec)
    if not isinstance(choices, Choices):
        raise TypeError("the options of the fit are lacking")
    from simpdm_frames.engine.stored import from_arrays  # noqa: PLC0415  # torch is slow to import

    facts = model["engine"]
    if [facts["n_numbers"], facts["cardinalities"]] != [
        codec.layout.n_numbers,
        list(codec.layout.cardinalities),
    ]:
        raise ValueError("the columns are not those of the network")
    return codec, choices, from_arrays(arrays, facts, device=device)


def _mapping(pairs: Any) -> dict[Hashable, Any]:
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise TypeError("columns must be pairs of a name and what is known of it")
    read = {_SPELLER.read(name): _SPELLER.read(part) for name, part in pairs}
    if len(read) < len(pairs):
        raise ValueError("a column is described twice")
    return read


def _spell(what: Hashable, value: Any) -> Any:
    try:
        return _SPELLER.spell(value)
    except SpellingError as error:
        raise ModelFileError(
            f"{what!r} cannot be saved: {error}; convert the labels to strings and fit again"
        ) from error


def _contents(path: Path) -> tuple[str, dict[str, Any]]:
    """Take a file apart; its header is looked at before anything is read that it announces."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415  # only those who store models need it

    with path.open("rb") as file:
        start = file.read(8)
    size, length = path.stat().st_size, int.from_bytes(start, "little")
    if size < 8 or length > min(size - 8, _LONGEST_HEADER):
        raise ModelFileError(f"{path} is no model file, or only a part of one; {_WAY_OUT}")
    try:
        with safe_open(path, framework="numpy") as parts:
            text = (parts.metadata() or {}).get(_ENTRY)
            if text is None:
                raise ModelFileError(f"{path} holds tensors, but no model of simpdm_frames; {_WAY_OUT}")
            return text, {name: parts.get_tensor(name) for name in parts.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, ValueError, TypeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path} is no model file: {error}; {_WAY_OUT}") from error


def _count(text: str) -> int:
    """Count the values of a JSON text without reading it, rather too many than too few."""
    return sum(map(text.count, "[{,"))


def _refuse_newer(path: Path, version: Any) -> None:
    """Refuse what a newer version of the package has written."""
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ModelFileError(
            f"{path} has the format {version!r}, this version reads up to {VERSION}; "
            "upgrade: pip install -U simpdm_frames"
        )
