"""The frame contract, and what bad input gets, in every library alike."""

import warnings

import libraries
import numpy as np
import pandas as pd
import polars as pl
import pytest
from libraries import DATA, LIBRARIES, MODEL, QUICK, filled, fit_filled, fitted, head

import simpdm_frames
from simpdm_frames.errors import (
    ColumnsDifferError,
    ExtraColumnsWarning,
    FewRowsWarning,
    InfiniteValuesError,
    NarrowColumnsWarning,
    UnfilledColumnsError,
    UnfilledColumnsWarning,
    UnseenLabelsError,
    UnseenLabelsWarning,
)


def test_only_holes_change(library):
    frame = library.make(DATA)
    done = simpdm_frames.fit_impute(frame, **QUICK)
    assert type(done) is type(frame)
    assert library.dtypes(done) == library.dtypes(frame)
    before, after = library.cells(frame), library.cells(done)
    assert list(before) == list(after)
    for name, cells in before.items():
        assert None in cells
        assert None not in after[name]
        assert [a for a, b in zip(after[name], cells, strict=True) if b is not None] == [
            b for b in cells if b is not None
        ]
    assert library.cells(frame) == library.cells(library.make(DATA))  # the frame itself is as it was


def test_a_model_fills_alike_in_every_library(library):
    first = LIBRARIES[0]
    expected = filled(first, first.make(DATA))
    assert filled(library, library.make(DATA)) == expected
    assert filled(library, library.make(DATA), fitted(library)) == expected


def test_rows_do_not_depend_on_the_rows_beside_them(library):
    every = filled(library, library.make(DATA))
    turned = filled(library, library.make({name: cells[::-1] for name, cells in DATA.items()}), batch_size=7)
    assert {name: cells[::-1] for name, cells in turned.items()} == every


def test_a_row_alone_is_filled_as_it_is_among_others():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "real": np.where(np.arange(60) % 2, np.arange(60.0), random.normal(size=60)),
            "stamp": pd.to_datetime(random.integers(-(10**18), 10**18, 60)),
            "mixed": pd.to_datetime(
                np.where(np.arange(60) % 2, 86_400 * 10**9, 12_345_678_901) * np.arange(60)
            ),
            "big": pd.array(random.integers(-(2**62), 2**62, 60), dtype="Int64"),
            "count": np.arange(60.0) % 37,
        }
    )
    holes = frame.mask(random.random(frame.shape) < 0.3)
    for model in (frame.simpdm.fit(**QUICK), pl.from_pandas(frame).simpdm.fit(**QUICK)):
        done = model.impute(holes)
        alone = pd.concat([model.impute(holes.iloc[[row]]) for row in range(60)])
        pd.testing.assert_frame_equal(alone, done, check_exact=True)
        lake = pl.from_pandas(holes)
        parts = pl.concat([model.impute(part) for part in lake.iter_slices(7)])
        assert parts.equals(model.impute(lake))
        assert parts.equals(pl.from_pandas(done))


def test_no_rows(library):
    frame = library.make(head(0))
    with pytest.raises(ValueError, match="at least 2 rows, got 0"):
        simpdm_frames.fit(frame)
    done = simpdm_frames.impute(frame, MODEL)
    assert library.dtypes(done) == library.dtypes(frame)
    assert library.cells(done) == library.cells(frame)


def test_no_columns(library):
    frame = library.make({})
    with pytest.raises(ValueError, match="the frame has none"):
        simpdm_frames.fit(frame)
    assert library.cells(simpdm_frames.impute(frame, MODEL)) == {}


def test_nothing_missing_returns_at_once(library):
    complete = {"x": [1.5, 2.5, 4.0] * 5, "w": ["a", "b", "a"] * 5}
    frame = library.make(complete)
    done = simpdm_frames.fit_impute(frame, steps=10**8)
    assert done is not frame or library.name == "pyarrow"  # whose tables never change
    assert library.cells(done) == complete
    assert len(simpdm_frames.fit(frame, **QUICK).loss_curve_) == QUICK["steps"]


def test_a_column_of_holes_is_kept_and_named(library):
    data = {**DATA, "empty": [None] * 40}
    with pytest.warns(UnfilledColumnsWarning, match=r"'empty' \(.*\): it has no observed cell"):
        done = fit_filled(library, data)
    assert done["empty"] == [None] * 40
    assert None not in done["ward"]
    for call in (simpdm_frames.fit, lambda *a, **k: library.cells(simpdm_frames.fit_impute(*a, **k))):
        with pytest.raises(UnfilledColumnsError, match=r"on_empty='raise', .* 'empty'"):
            call(library.make(data), on_empty="raise", **QUICK)


def test_a_row_of_holes_is_filled(library):
    data = {name: [*cells, None] for name, cells in DATA.items()}
    done = fit_filled(library, data)
    assert all(cells[-1] is not None for cells in done.values())
    assert 20 <= done["age"][-1] < 90
    assert done["ward"][-1] in {"heart", "general"}


def test_a_constant_column_is_filled_with_its_constant(library):
    done = fit_filled(library, {**DATA, "c": [7.25, None] * 20, "k": ["z", None] * 20})
    assert set(done["c"]) == {7.25}
    assert set(done["k"]) == {"z"}


def test_one_row(library):
    row = {name: [next(cell for cell in cells if cell is not None)] for name, cells in DATA.items()}
    with pytest.raises(ValueError, match="at least 2 rows, got 1"):
        simpdm_frames.fit(library.make(row))
    frame = library.make({name: [None, *cells] for name, cells in DATA.items()})
    done = filled(library, library.head(frame, 1))
    assert done["ward"][0] in {"heart", "general"}
    assert 20 <= done["age"][0] < 90
    assert all(cells[0] is not None for cells in done.values())


def test_few_rows_are_warned_of(library):
    with pytest.warns(FewRowsWarning, match="9 rows"):
        simpdm_frames.fit(library.make(head(9)), **QUICK)


def test_infinite_values(library):
    data = {**DATA, "weight": [float("inf"), *DATA["weight"][1:]]}
    known, data = data, {**data, "other": [-float("inf"), *[1.5] * 39]}
    frame = library.make(data)
    with pytest.raises(InfiniteValuesError, match=r"'weight' \(.*'other' \(.*inf='missing'"):
        library.cells(simpdm_frames.fit_impute(frame, **QUICK))
    done = fit_filled(library, data, inf="missing")
    assert np.isfinite(done["weight"]).all()
    assert done["other"] == [1.5] * 40
    with pytest.raises(InfiniteValuesError, match="'weight'"):
        filled(library, library.make(known))
    assert np.isfinite(filled(library, library.make(known), inf="missing")["weight"]).all()


def test_large_and_unsigned_integers(library):
    data = {
        "big": [2**63 - 1 - 12 * k if k % 5 else None for k in range(40)],
        "x": [k / 3 for k in range(40)],
    }
    if library.name == "pandas-numpy":
        data["big"] = [cell or 2**63 - 1 for cell in data["big"]]  # numpy's integers have no holes
    if library.name in {"pandas-nullable", "pandas-pyarrow"}:
        dtype = "Int64" if library.name == "pandas-nullable" else "int64[pyarrow]"
        frame = pd.DataFrame({"big": pd.array(data["big"], dtype=dtype), "x": data["x"]})
    else:
        frame = library.make(data)
    done = library.cells(simpdm_frames.fit_impute(frame, **QUICK))["big"]
    assert [a for a, b in zip(done, data["big"], strict=True) if b is not None] == [
        b for b in data["big"] if b
    ]
    assert min(b for b in data["big"] if b) <= min(done)
    assert max(done) <= 2**63 - 1


def test_duplicate_names_are_listed():
    twice = pd.DataFrame([[1.0, None, 2.0]] * 12, columns=["a", "a", "b"])
    with pytest.raises(ValueError, match=r"\['a'\]; rename"):
        twice.simpdm.fit_impute()


def test_names_and_indexes_of_any_kind_stay():
    frame = pd.DataFrame(np.arange(60.0).reshape(20, 3)).mask(lambda f: f % 7 == 0)
    frame.columns = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["up", "down"])
    frame.index = pd.MultiIndex.from_arrays([[1, 1] * 10, pd.date_range("2024", periods=20)[::-1]])
    frame.attrs["source"] = "clinic"
    done = frame.simpdm.fit_impute(columns=[("a", 1), ("a", 2), ("b", 1)], **QUICK)
    pd.testing.assert_index_equal(done.columns, frame.columns)
    pd.testing.assert_index_equal(done.index, frame.index)
    assert done.attrs == {"source": "clinic"}
    assert not done.isna().any(axis=None)
    numbered = frame.set_axis([0, 1.5, None], axis=1).reset_index(drop=True).set_axis([3] * 20)
    done = numbered.simpdm.fit_impute(**QUICK)
    assert list(done.columns[:2]) == [0, 1.5]
    assert list(done.index) == [3] * 20
    assert not done.isna().any(axis=None)


def test_objects_are_typed_inside_and_stay_objects():
    frame = pd.DataFrame(
        {
            "i": pd.Series([1, 20, None, 300] * 10, dtype=object),
            "f": pd.Series([1.5, None, 2.5, 3.0] * 10, dtype=object),
            "b": pd.Series([True, None, False, True] * 10, dtype=object),
            "s": pd.Series(["a", "b", None, "a"] * 10, dtype=object),
            "m": pd.Series([1, "1", None, "a"] * 10, dtype=object),
        }
    )
    done = frame.simpdm.fit_impute(**QUICK)
    assert {str(dtype) for dtype in done.dtypes} == {"object"}
    assert [{type(cell) for cell in done[name]} for name in "ifbs"] == [{int}, {float}, {bool}, {str}]
    assert {(type(cell), cell) for cell in done["m"]} == {(int, 1), (str, "1"), (str, "a")}


def test_a_mixed_column_of_many_values_is_left_and_named():
    mixed = pd.Series([k if k % 2 else f"w{k}" for k in range(39)] + [None], dtype=object)
    with pytest.warns(UnfilledColumnsWarning, match=r"'m' \(object\): it looks like text"):
        done = pd.DataFrame({"m": mixed, "x": np.arange(40) / 3}).simpdm.fit_impute(**QUICK)
    assert done["m"].isna().sum() == 1


def test_unsupported_columns_pass_and_are_named_if_they_have_holes(library):
    lists = [[k] for k in range(40)]
    data = {**DATA, "whole": lists, "holed": [None, *lists[1:]]}
    with pytest.warns(UnfilledColumnsWarning, match=r"'holed' \(") as caught:
        done = fit_filled(library, data)
    assert "'whole'" not in str(caught[0].message)
    assert [list(cell) for cell in done["whole"]] == lists
    assert done["holed"][0] is None
    with pytest.raises(UnfilledColumnsError, match=r"on_unsupported='raise', .*'holed'"):
        fit_filled(library, data, on_unsupported="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_filled(library, data, on_unsupported="ignore")


def test_only_observed_labels_are_drawn_and_categories_stay():
    labels = pd.Categorical(["lo", "hi", None, "hi"] * 10, ["never", "lo", "hi"], ordered=True)
    frame = pd.DataFrame({"c": labels, "x": np.arange(40) / 3})
    done = frame.simpdm.fit_impute(**QUICK)
    assert done["c"].dtype == frame["c"].dtype
    assert set(done["c"]) == {"lo", "hi"}
    enum = pl.DataFrame({"c": pl.Series(["lo", "hi", None, "hi"] * 10, dtype=pl.Enum(["never", "lo", "hi"]))})
    done = enum.with_columns(x=pl.int_range(40) / 3).simpdm.fit_impute(**QUICK)
    assert done["c"].dtype == enum["c"].dtype
    assert set(done["c"]) == {"lo", "hi"}


def test_a_category_that_lacks_a_label_gets_one_that_it_has():
    model = pd.DataFrame({"c": ["a", "b", "a"] * 10, "x": np.arange(30) / 7}).simpdm.fit(**QUICK)
    narrow = pd.DataFrame({"c": pd.Categorical(["b", None, None], ["b", "z"]), "x": [0.1, 0.2, 0.3]})
    with pytest.warns(NarrowColumnsWarning, match=r"'c' \(category\) cannot hold 'a'"):
        assert narrow.simpdm.impute(model, unseen="ignore")["c"].tolist() == ["b"] * 3
    stranger = pd.DataFrame({"c": pd.Categorical([None, None], ["z"]), "x": [0.1, 0.2]})
    with pytest.warns(
        UnfilledColumnsWarning, match=r"'c' \(category\): its dtype can hold none of the values"
    ):
        assert stranger.simpdm.impute(model)["c"].isna().all()


def test_unseen_labels_stay_and_are_named(library):
    frame = library.make(head(12, ward=["burns", None, "eyes"] * 4))
    with pytest.warns(UnseenLabelsWarning, match=r"'ward' \(.*\): 'burns', 'eyes'") as caught:
        done = filled(library, frame)
    assert len(caught) == 1
    assert caught[0].filename == libraries.__file__  # the line that called
    assert done["ward"][0::3] == ["burns"] * 4
    assert set(done["ward"][1::3]) <= {"heart", "general"}
    with pytest.raises(UnseenLabelsError, match=r"'ward'.*'burns'"):
        filled(library, frame, unseen="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert filled(library, frame, unseen="ignore") == done


def test_fewer_labels_are_no_news(library):
    done = filled(library, library.make(head(12, ward=["heart", None, "heart"] * 4)))
    assert None not in done["ward"]


def test_a_missing_column_is_named_before_anything_is_collected(library):
    data = {name: cells for name, cells in DATA.items() if name not in {"ward", "age"}}
    with pytest.raises(ColumnsDifferError, match=r"lacks .*'age' \(.*'ward' \("):
        simpdm_frames.impute(library.make(data), MODEL)


def test_an_extra_column_passes_with_one_warning(library):
    frame = library.make(head(12, extra=["p", "q"] * 6, more=[0.5] * 12))
    with pytest.warns(ExtraColumnsWarning, match=r"'extra' \(.*'more' \(") as caught:
        done = filled(library, frame)
    assert len(caught) == 1
    assert caught[0].filename == libraries.__file__  # the line that called
    assert done["extra"] == ["p", "q"] * 6
    with pytest.warns() as both:
        done = filled(library, library.make(head(12, extra=["p", None] * 6)))
    assert {warning.category for warning in both} == {ExtraColumnsWarning, UnfilledColumnsWarning}
    assert done["extra"] == ["p", None] * 6


def test_columns_are_matched_by_name_and_come_back_in_their_order(library):
    turned = {name: DATA[name] for name in reversed(DATA)}
    done = filled(library, library.make(turned))
    assert list(done) == list(turned)
    assert {name: done[name] for name in DATA} == filled(library, library.make(DATA))
