from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simpdm_frames.codecs import TableCodec
from simpdm_frames.codecs.continuous import ContinuousCodec
from simpdm_frames.codecs.discrete import DiscreteCodec
from simpdm_frames.column import Column, Grid, Kind
from simpdm_frames.encoded import Completed
from simpdm_frames.errors import ColumnsDifferError, MeaningDiffersError


def number(values, *, missing=None, name="x", **rest):
    values = np.array(values, dtype=np.float64)
    missing = np.isnan(values) if missing is None else np.array(missing)
    return Column(name, "float64", Kind.CONTINUOUS, missing, values, **rest)


def label(codes, levels, *, missing=None, name="y"):
    codes = np.array(codes)
    missing = np.zeros(len(codes), dtype=bool) if missing is None else np.array(missing)
    return Column(name, "str", Kind.DISCRETE, missing, codes, levels=tuple(levels), meaning="label")


@given(st.lists(st.integers(-(2**20), 2**20), min_size=1), st.integers(-(2**62), 2**62))
def test_decode_undoes_encode_on_the_grid(values, origin):
    column = number(values, origin=origin, grid=Grid(step=1.0))
    codec = ContinuousCodec.learn(column)
    filling = codec.decode(column, np.arange(len(values)), codec.encode(column))
    np.testing.assert_array_equal(filling.values, column.values)
    assert filling.origin == origin


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1),
    st.lists(st.floats(-50, 50), min_size=1),
    st.sampled_from([0.0, 0.25, 1.0]),
)
def test_fills_lie_on_the_grid_and_inside_the_observed_range(values, estimates, step):
    values = np.round(np.array(values) / step) * step if step else np.array(values)
    column = number(values, grid=Grid(step=step))
    codec = ContinuousCodec.learn(column)
    filled = codec.decode(column, np.arange(len(estimates)), np.array(estimates)).values
    assert filled.min() >= values.min()
    assert filled.max() <= values.max()
    if step:
        np.testing.assert_array_equal(filled, np.round(filled / step) * step)


def test_the_scale_is_learnt_from_observed_cells_only():
    codec = ContinuousCodec.learn(number([0.0, 10.0, 1e9], missing=[False, False, True]))
    assert (codec.low, codec.high) == (0.0, 10.0)


def test_a_constant_column_is_filled_with_its_constant():
    column = number([3.0, 3.0])
    codec = ContinuousCodec.learn(column)
    assert codec.encode(column).tolist() == [0.0, 0.0]
    assert codec.decode(column, np.array([0]), np.array([0.7])).values.tolist() == [3.0]


def test_another_origin_is_the_same_value():
    codec = ContinuousCodec.learn(number([0.0, 10.0], origin=100))
    assert codec.encode(number([5.0], origin=100)) == codec.encode(number([2.0], origin=103))


def test_fills_lie_on_the_coarser_grid_of_fit_and_column():
    whole = number([0.0, 10.0], origin=2000, grid=Grid(step=1.0))
    real = number([0.5, 9.5])
    into_real = ContinuousCodec.learn(whole).decode(real, np.array([0]), np.array([0.13]))
    assert into_real.origin + into_real.values[0] == 2006
    into_whole = ContinuousCodec.learn(real).decode(whole, np.array([0, 1]), np.array([0.13, 5.0]))
    assert (into_whole.origin + into_whole.values).tolist() == [6, 9]


def test_an_outlier_counts_as_far_out():
    codec = ContinuousCodec.learn(number([0.0, 1.0]))
    assert np.isfinite(codec.encode(number([1e300, -1e300, 0.5]))).all()


def test_labels_are_matched_by_value_and_type_not_by_code():
    codec = DiscreteCodec.learn(label([0, 1], ["a", "b"]))
    codes, unknown = codec.encode(label([0, 1, 2], ["b", "new", "a"]))
    assert codes[[0, 2]].tolist() == [1, 0]
    assert unknown.tolist() == [False, True, False]
    mixed = DiscreteCodec.learn(label([0, 1], [1, "1"]))
    assert mixed.encode(label([0], ["1"]))[0].tolist() == [1]
    assert mixed.encode(label([0], [True]))[1].tolist() == [True]


def test_only_observed_labels_are_levels():
    codec = DiscreteCodec.learn(label([0, 1, 2], ["a", "b", "c"], missing=[False, True, False]))
    assert codec.levels == ("a", "c")


def columns():
    return [
        label([0, 1, 0], ["p", "q"], missing=[False, False, True]),
        number([1.0, np.nan, 3.0]),
        Column("z", "object", Kind.OPAQUE, np.array([True, False, False])),
        number([np.nan] * 3, name="empty"),
    ]


def test_a_table_has_numbers_first_and_says_why_it_leaves_a_column():
    codec = TableCodec.learn(columns())
    assert (codec.layout.n_numbers, codec.layout.cardinalities) == (1, (2,))
    assert "dtype" in codec.why_left("z")
    assert "no observed cell" in codec.why_left("empty")
    assert "not there" in codec.why_left("stranger")


def test_a_table_encodes_by_name_and_decodes_by_position():
    codec = TableCodec.learn(columns())
    encoded = codec.encode(columns()[::-1])
    assert encoded.missing.tolist() == [[False, False], [True, False], [False, True]]
    completed = Completed(
        codec.layout,
        np.array([[-1.0], [0.5], [1.0]], dtype=np.float32),
        np.array([[1.0, 0.0], [0.0, 1.0], [0.3, 0.7]], dtype=np.float32),
    )
    fillings = codec.decode(columns(), completed)
    assert set(fillings) == {0, 1}
    assert fillings[0].values.tolist() == [1]
    assert fillings[0].levels == ("p", "q")
    assert fillings[1].rows.tolist() == [1]
    assert fillings[1].values.tolist() == [2.5]


def test_too_many_levels_are_left():
    many = label(np.arange(300), [f"id{k}" for k in range(300)], name="id")
    assert "300 levels" in TableCodec.learn([many]).why_left("id")


def test_a_frame_that_does_not_fit_is_refused_by_column():
    codec = TableCodec.learn(columns())
    with pytest.raises(ColumnsDifferError, match=r"lacks .*'y' \(str\); add"):
        codec.encode([number([1.0])])
    with pytest.raises(MeaningDiffersError, match=r"'y' was a label \(str\), now it is a number \(float64\)"):
        codec.encode([number([1.0]), number([1.0], name="y")])
    dated = replace(number([1.0]), meaning="date", dtype="datetime64[ns]")
    with pytest.raises(MeaningDiffersError, match=r"'x' was a number .* a date \(datetime64\[ns\]\)"):
        codec.encode([dated, label([0], ["p"])])


def test_a_blank_column_can_stand_for_numbers_and_labels():
    codec = TableCodec.learn(columns())
    blank = [Column(name, "object", Kind.BLANK, np.array([True]), np.zeros(1)) for name in ("x", "y")]
    encoded = codec.encode(blank)
    assert encoded.missing.tolist() == [[True, True]]


def test_infinite_values_are_refused_by_column():
    with pytest.raises(ValueError, match=r"'x' \(float64\) holds infinite"):
        TableCodec.learn([number([1.0, np.inf])])
