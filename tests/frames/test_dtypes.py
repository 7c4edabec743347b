"""Every dtype comes back as it went in: at the door, through the engine, and in the docs."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from dtypes import (
    CANNOT_MISS,
    CASES,
    HOLES,
    LEFT,
    complete_frame,
    dtype_of,
    holed_frame,
    holes_of,
    same_cells,
)

import simpdm_frames
from simpdm_frames import frames
from simpdm_frames.codecs.habit import habit
from simpdm_frames.codecs.labels import as_labels
from simpdm_frames.column import Filling, Grid, Kind
from simpdm_frames.errors import UnfilledColumnsWarning

DOCS = Path(__file__).parents[2] / "docs" / "dtypes.md"
QUICK = {"random_state": 0, "steps": 4, "width": 8, "max_rows": 10**6}
each_dtype = pytest.mark.parametrize(("library", "name"), CASES, ids=[" ".join(case) for case in CASES])
each_fillable = pytest.mark.parametrize(
    ("library", "name"),
    [(library, name) for library, name in CASES if name not in LEFT[library]],
    ids=[f"{library} {name}" for library, name in CASES if name not in LEFT[library]],
)


def truth(complete, column):
    """What a model that knows the complete column would fill in."""
    if complete.kind is Kind.DISCRETE:
        return Filling(np.flatnonzero(HOLES), complete.values[HOLES], levels=complete.levels)
    origin = math.floor(int(min(complete.values)) * complete.unit)
    grid = Grid(habit(complete), days=column.grid.days)
    return Filling(
        np.flatnonzero(HOLES), complete.numbers(origin)[HOLES], origin, grid=grid, meaning=column.meaning
    )


def truth_as_labels(complete):
    """The same as labels: each value is one of those that were observed."""
    labels = as_labels(complete)
    return Filling(
        np.flatnonzero(HOLES), labels.values[HOLES], levels=labels.levels, meaning=complete.meaning
    )


@each_fillable
def test_a_column_is_read_and_filled_exactly(library, name):
    complete, holed = complete_frame(library, name), holed_frame(library, name)
    backend = frames.backend_of(holed)
    column, whole = backend.read(holed, 0), backend.read(complete, 0)
    assert column.kind is whole.kind
    assert column.kind in {Kind.CONTINUOUS, Kind.DISCRETE}
    assert column.meaning == whole.meaning
    expected = np.zeros(len(HOLES), dtype=bool) if (library, name) in CANNOT_MISS else HOLES
    np.testing.assert_array_equal(column.missing, expected)
    for filling in (truth(whole, column), truth_as_labels(whole)):
        done = backend.write(holed, {0: filling}, {})
        assert dtype_of(done) == dtype_of(complete)
        assert same_cells(done, complete, np.ones(len(HOLES), dtype=bool))
    np.testing.assert_array_equal(holes_of(holed), expected)  # the frame that came in is as it was


@each_dtype
def test_a_dtype_comes_back_from_the_engine_as_it_went_in(library, name):
    holed = holed_frame(library, name)
    before = holes_of(holed)
    if name in LEFT[library] and before.any():
        with pytest.warns(UnfilledColumnsWarning, match=r"'x' \("):
            done = simpdm_frames.fit_impute(holed, **QUICK)
        np.testing.assert_array_equal(holes_of(done), before)
    else:
        done = simpdm_frames.fit_impute(holed, **QUICK)
        assert not holes_of(done).any()
    assert dtype_of(done) == dtype_of(holed)
    assert same_cells(done, holed, ~before)
    np.testing.assert_array_equal(holes_of(holed), before)


def dtype_table():
    """What becomes of each dtype, as it is written in the docs."""
    for library in ("pandas", "polars", "pyarrow"):
        names = [name for case, name in CASES if case == library]
        yield f"\n## {library}: {len(names)} columns\n"
        yield "| column | dtype | treated as | holes |"
        yield "|---|---|---|---|"
        for name in names:
            holed = holed_frame(library, name)
            role = simpdm_frames.fit(holed, on_unsupported="ignore", **QUICK).schema_["x"].role.value
            left = "left, and named in a warning" if name in LEFT[library] else "filled"
            fate = "none possible" if (library, name) in CANNOT_MISS else left
            shown = name.replace("[", r"\[")  # or [us][pyarrow] would be a link
            yield f"| {shown} | `{dtype_of(holed)}` | {role} | {fate} |".replace("\n", " ")


def test_the_docs_tell_what_becomes_of_each_dtype():
    """Write the table anew with SIMPDM_WRITE_DOCS=1."""
    head = DOCS.read_text().partition("\n## ")[0] if DOCS.exists() else "# Dtypes"
    text = head.rstrip("\n") + "\n" + "\n".join(dtype_table()) + "\n"
    if os.environ.get("SIMPDM_WRITE_DOCS"):
        DOCS.write_text(text)
    assert DOCS.read_text() == text
    assert sum(library == "pandas" for library, _ in CASES) >= 43
    assert sum(library == "polars" for library, _ in CASES) >= 27
