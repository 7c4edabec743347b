"""``plan``, ``missing`` and ``schema_``: what is to be said about a frame."""

import pandas as pd
import pytest
from libraries import QUICK, table

import simpdm_frames

DATA = {**table(), "id": [f"p{k}" for k in range(40)], "void": [None] * 40, "rate": [1, 2] * 20}


def rows(library, frame):
    cells = library.cells(frame)
    return [dict(zip(cells, values, strict=True)) for values in zip(*cells.values(), strict=True)]


def test_a_plan_says_what_each_column_is_and_why(library):
    plan = simpdm_frames.plan(library.make(DATA), ignore=["smoker"], columns=["age", "ward", "rate"])
    assert type(plan).__name__ == {"pyarrow": "Table"}.get(library.name, "DataFrame")
    by_name = {row["column"]: row for row in rows(library, plan)}
    assert list(by_name) == list(DATA)
    treated = {name: (row["treated as"], row["filled"]) for name, row in by_name.items()}
    assert treated == {
        "age": ("number", True),
        "weight": ("number", False),
        "ward": ("labels", True),
        "smoker": ("ignored", False),
        "admitted": ("number", False),
        "id": ("left: text or identity", False),
        "void": ("left: empty", False),
        "rate": ("number with few values", True),
    }
    assert by_name["age"]["holes"] == DATA["age"].count(None)
    assert by_name["age"]["share"] == DATA["age"].count(None) / 40
    assert "columns does not name it" in by_name["weight"]["why"]
    assert "40 labels in 40 cells; name it in categorical" in by_name["id"]["why"]
    assert "no observed cell" in by_name["void"]["why"]
    assert "dates" in by_name["admitted"]["why"]


def test_a_plan_is_what_a_fit_does(library):
    frame = library.make(DATA)
    planned = {row["column"]: row for row in rows(library, simpdm_frames.plan(frame, categorical="age"))}
    schema = simpdm_frames.fit(frame, categorical="age", **QUICK).schema_
    assert list(schema) == list(planned)
    for name, treatment in schema.items():
        row = planned[name]
        assert (treatment.role.value, treatment.fill, treatment.why) == (
            row["treated as"],
            row["filled"],
            row["why"],
        )
    with pytest.raises(TypeError):
        schema["age"] = None


def test_holes_are_counted_by_column(library):
    counted = rows(library, simpdm_frames.missing(library.make(DATA)).frame)
    assert [row["column"] for row in counted] == list(DATA)
    assert [row["holes"] for row in counted] == [cells.count(None) for cells in DATA.values()]
    assert counted[-2]["share"] == 1.0
    assert all(row["dtype"] for row in counted)


def test_holes_are_counted_by_pattern(library):
    data = {"a": [1.5, None, None, 2.5, None], "b": ["x", None, None, None, "y"]}
    patterns = rows(library, simpdm_frames.missing(library.make(data), by="pattern").frame)
    assert [(row["missing"], row["columns"], row["rows"]) for row in patterns] == [
        ("a, b", 2, 2),
        ("", 0, 1),
        ("b", 1, 1),
        ("a", 1, 1),
    ]
    assert sum(row["share"] for row in patterns) == pytest.approx(1)
    with pytest.raises(ValueError, match="by must be 'column' or 'pattern', got 'row'"):
        simpdm_frames.missing(library.make(data), by="row")


def test_empty_frames_have_reports_too(library):
    for data in ({}, {"a": []}):
        frame = library.make(data)
        assert len(rows(library, simpdm_frames.missing(frame).frame)) == len(data)
        assert rows(library, simpdm_frames.missing(frame, by="pattern").frame) == []
        assert len(rows(library, simpdm_frames.plan(frame))) == len(data)


def test_infinite_values_do_not_stop_a_report():
    frame = pd.DataFrame({"x": [1.5, float("inf"), None]})
    assert frame.simpdm.missing()["holes"].tolist() == [1]
