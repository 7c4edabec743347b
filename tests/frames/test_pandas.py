import numpy as np
import pandas as pd
import pytest

from simpdm_frames.column import Filling, Kind
from simpdm_frames.errors import HolesLeftError, UnknownFrameError
from simpdm_frames.frames import backend_of
from simpdm_frames.frames import pandas as backend

N = 6
HOLES = np.array([False, True, False, False, True, False])
whole = np.arange(N)
days = pd.date_range("2024-01-01", periods=N)
hours = pd.date_range("2024-03-30 20:00", periods=N, freq="h")

CONTINUOUS = {
    "float32": pd.Series(whole / 7, dtype="float32"),
    "float64": pd.Series(whole / 7),
    "Float64": pd.Series(whole / 7, dtype="Float64"),
    "Int8": pd.Series(whole - 3, dtype="Int8"),
    "UInt64": pd.Series([2**64 - 1 - k for k in range(N)], dtype="UInt64"),
    "Int64": pd.Series([2**63 - 1 - k for k in range(N)], dtype="Int64"),
    "int32[pyarrow]": pd.Series(whole, dtype="int32[pyarrow]"),
    "datetime64[us]": pd.Series(hours.as_unit("us")),
    "datetime64[ns]": pd.Series(days.as_unit("ns")),
    "datetime64[s, zone]": pd.Series(hours.tz_localize("UTC").tz_convert("Europe/Vienna").as_unit("s")),
    "timedelta64[ms]": pd.Series(pd.to_timedelta(whole, unit="h").as_unit("ms")),
}
DISCRETE = {
    "string": pd.Series(list("abcabc"), dtype="string"),
    "str": pd.Series(list("abcabc"), dtype="str"),
    "object of strings": pd.Series(list("abcabc"), dtype=object),
    "object of bools": pd.Series([True, False] * 3, dtype=object),
    "boolean": pd.Series([True, False] * 3, dtype="boolean"),
    "category": pd.Series(pd.Categorical(list("bcabca"), ["c", "a", "b", "unused"], ordered=True)),
    "category of integers": pd.Series(pd.Categorical([5, 3, 4, 5, 3, 4])),
}
OPAQUE = {
    "lists": pd.Series([[k] for k in whole], dtype=object),
    "mixed": pd.Series([1, "a", 2, "b", 3, "c"], dtype=object),
    "complex": pd.Series(whole * 1j),
    "sparse": pd.Series(pd.arrays.SparseArray(whole.astype(float))),
    "sparse integers": pd.Series(pd.arrays.SparseArray(whole)),
}


def with_holes(series):
    return pd.DataFrame({"x": series.mask(HOLES)})


def ids(cases):
    return pytest.mark.parametrize("series", cases.values(), ids=cases.keys())


def refill(column, values):
    """Write a column's own values into its holes, as a model that knows the truth would."""
    return Filling(np.flatnonzero(HOLES), values[HOLES], column.origin, column.levels)


@ids(CONTINUOUS)
def test_numbers_are_read_exactly_and_filled_in_their_own_dtype(series):
    frame = with_holes(series)
    before = frame.copy()
    column, complete = backend.read(frame, 0), backend.read(series.to_frame("x"), 0)
    assert column.kind is Kind.CONTINUOUS
    np.testing.assert_array_equal(column.missing, HOLES)
    truth = complete.values + float(complete.origin - column.origin)
    np.testing.assert_array_equal(column.values[~HOLES], truth[~HOLES])
    done = backend.write(frame, {0: refill(column, truth)})
    pd.testing.assert_series_equal(done["x"], series, check_names=False, check_exact=True)
    pd.testing.assert_frame_equal(frame, before)


@ids(DISCRETE)
def test_labels_are_read_and_filled_in_their_own_dtype(series):
    frame = with_holes(series)
    column, complete = backend.read(frame, 0), backend.read(series.to_frame("x"), 0)
    assert column.kind is Kind.DISCRETE
    np.testing.assert_array_equal(column.missing, HOLES)
    assert "unused" not in column.levels
    done = backend.write(frame, {0: refill(complete, complete.values)})
    pd.testing.assert_series_equal(done["x"], series, check_names=False, check_exact=True)


@ids(OPAQUE)
def test_what_cannot_be_modelled_is_opaque(series):
    assert backend.read(with_holes(series), 0).kind is Kind.OPAQUE


def test_whole_number_floats_lie_on_a_grid_of_whole_numbers():
    assert backend.read(pd.DataFrame({"x": [1.0, None, 3.0]}), 0).grid.step == 1
    assert backend.read(pd.DataFrame({"x": [1.5, None, 3.0]}), 0).grid.step == 0


def test_dates_at_midnight_lie_on_a_grid_of_days():
    assert backend.read(with_holes(CONTINUOUS["datetime64[ns]"]), 0).grid.step == 86_400 * 10**9
    assert backend.read(with_holes(CONTINUOUS["datetime64[us]"]), 0).grid.step == 1000


def test_units_of_time_do_not_matter_at_the_door():
    fine, coarse = (backend.read(with_holes(pd.Series(hours.as_unit(unit))), 0) for unit in ("ns", "s"))
    assert fine.origin == coarse.origin
    np.testing.assert_array_equal(fine.values, coarse.values)


def test_integers_over_the_whole_range_are_counted_from_the_lowest():
    frame = pd.DataFrame({"x": pd.Series([-(2**63), 0, 2**63 - 1, None], dtype="Int64")})
    column = backend.read(frame, 0)
    assert column.values[:3].tolist() == [0.0, 2.0**63, 2.0**64]
    done = backend.write(frame, {0: Filling(np.array([3]), np.array([2.0**64]), column.origin)})
    assert done["x"].tolist() == [-(2**63), 0, 2**63 - 1, 2**63 - 1]


def test_a_nan_in_a_nullable_float_is_a_hole():
    values = pd.array([0.0, 1.0, 2.5, None], dtype="Float64")
    frame = pd.DataFrame({"x": values / pd.array([0.0, 1.0, 1.0, 1.0], dtype="Float64")})
    assert backend.read(frame, 0).missing.tolist() == [True, False, False, True]


def test_a_column_of_nothing_is_blank_and_takes_anything():
    frame = pd.DataFrame({"x": pd.Series([None, None], dtype=object)})
    assert backend.read(frame, 0).kind is Kind.BLANK
    rows = np.array([0, 1])
    assert backend.write(frame, {0: Filling(rows, rows, levels=("a", "b"))})["x"].tolist() == ["a", "b"]
    assert backend.write(frame, {0: Filling(rows, rows + 0.5, 10)})["x"].tolist() == [10.5, 11.5]


def test_a_fill_that_the_dtype_cannot_hold_is_a_named_error():
    frame = pd.DataFrame({"x": pd.Categorical(["a", None])})
    with pytest.raises(HolesLeftError, match=r"'x' \(category\)"):
        backend.write(frame, {0: Filling(np.array([1]), np.array([0]), levels=("stranger",))})


def test_the_bounds_of_the_dtype_are_relative_to_the_origin():
    column = backend.read(with_holes(CONTINUOUS["Int8"]), 0)
    assert (column.grid.low + column.origin, column.grid.high + column.origin) == (-128, 127)


def test_index_order_and_names_stay():
    index = pd.MultiIndex.from_arrays([[1, 1, 2], ["a", "a", "b"]])
    frame = pd.DataFrame({("u", 1): [1.5, None, 2.0], 7: ["p", "q", None]}, index=index)
    done = backend.write(frame, {0: Filling(np.array([1]), np.array([1.75]))})
    pd.testing.assert_index_equal(done.index, frame.index)
    pd.testing.assert_index_equal(done.columns, frame.columns)
    assert done.iloc[1, 0] == 1.75


def test_other_objects_are_refused_with_a_way_out():
    assert backend_of(pd.DataFrame()) is backend
    with pytest.raises(UnknownFrameError, match="to_frame"):
        backend_of(pd.Series([1]))
    with pytest.raises(UnknownFrameError, match=r"builtins\.list"):
        backend_of([1, 2])
