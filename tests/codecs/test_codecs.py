import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simpdm_frames.codecs import Choices, TableCodec, hint, mark, mark_all
from simpdm_frames.codecs.continuous import ContinuousCodec
from simpdm_frames.codecs.discrete import DiscreteCodec
from simpdm_frames.codecs.few import FewCodec
from simpdm_frames.codecs.habit import habit
from simpdm_frames.codecs.instants import number_of
from simpdm_frames.codecs.ordinal import OrdinalCodec
from simpdm_frames.column import Column, Grid, Kind
from simpdm_frames.encoded import Completed
from simpdm_frames.errors import ColumnsDifferError, InfiniteValuesError, MeaningDiffersError


def number(values, *, missing=None, name="x", **rest):
    values = np.array(values, dtype=np.float64)
    missing = np.isnan(values) if missing is None else np.array(missing)
    return Column(name, "float64", Kind.CONTINUOUS, missing, values, **rest)


def whole(values, **rest):
    values = np.array(values, dtype=object)
    missing = np.array([value is None for value in values])
    steps = np.where(missing, 0, values)
    rest = {"unit": 1, "grid": Grid(1.0), **rest}
    return Column("x", "Int64", Kind.CONTINUOUS, missing, steps, **rest)


def label(codes, levels, *, missing=None, name="y"):
    codes = np.array(codes)
    missing = np.zeros(len(codes), dtype=bool) if missing is None else np.array(missing)
    return Column(name, "str", Kind.DISCRETE, missing, codes, levels=tuple(levels), meaning="label")


@given(st.lists(st.integers(-(2**20), 2**20), min_size=1), st.integers(-(2**62), 2**62))
def test_decode_undoes_encode_on_the_grid(values, origin):
    column = whole([origin + value for value in values])
    codec = ContinuousCodec.learn(column)
    filling = codec.decode(column, np.arange(len(values)), codec.encode(column)[0])
    assert [filling.origin + int(value) for value in filling.values] == column.values.tolist()


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
    assert codec.encode(column)[0].tolist() == [0.0, 0.0]
    assert codec.decode(column, np.array([0]), np.array([0.7])).values.tolist() == [3.0]


def test_a_value_is_the_same_whatever_stands_beside_it():
    codec = ContinuousCodec.learn(whole([2**62, 2**62 + 10]))
    far = whole([2**62 + 5, -(2**62), 3])
    assert codec.encode(far)[0][0] == codec.encode(whole([2**62 + 5]))[0][0] == 0.0


def test_an_origin_need_not_be_a_multiple_of_the_unit():
    assert whole([8, -2], unit=10).numbers(3).tolist() == [77.0, -23.0]
    assert whole([8], unit=Fraction(1, 4)).numbers(-1).tolist() == [3.0]


def test_fills_lie_on_the_coarser_grid_of_fit_and_dtype():
    rows, estimates = np.array([0, 1]), np.array([0.13, 5.0])
    into_real = ContinuousCodec.learn(whole([2000, 2010])).decode(number([0.5, 9.5]), rows, estimates)
    assert (into_real.origin + into_real.values).tolist() == [2006, 2010]
    real = ContinuousCodec.learn(number([0.5, 9.5]))
    assert (real.decode(whole([3]), rows, estimates).values).tolist() == [6, 9]
    assert real.decode(number([3.0, 4.0]), rows, estimates).values.tolist() == [
        5.6,
        9.5,
    ]


def test_a_coarser_unit_stays_inside_the_observed_range():
    second = 10**9
    fine = whole([5 * second + 7, 9 * second - 7], unit=1, grid=Grid(1.0), meaning="date")
    coarse = whole([8], unit=second, grid=Grid(float(second)), meaning="date")
    filling = ContinuousCodec.learn(fine).decode(coarse, np.arange(2), np.array([-1.0, 1.0]))
    assert [filling.origin + int(value) for value in filling.values] == [6 * second, 8 * second]


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
    assert codec.counts == (1, 1)


def test_of_labels_that_are_nearly_as_probable_the_rare_one_is_taken():
    column = label([0] * 81 + [1] * 16, ["common", "rare"])
    codec = DiscreteCodec.learn(column)
    chances = np.array([[0.59, 0.41], [0.61, 0.39], [1.0, 0.0], [0.0, 1.0]])  # (81 / 16) ** 0.25 is 1.5
    taken = codec.decode(column, np.arange(4), chances)
    assert [taken.levels[code] for code in taken.values] == ["rare", "common", "common", "rare"]


def test_a_label_that_is_less_than_half_as_probable_is_not_taken_however_rare():
    column = label([0] * 160_000 + [1], ["common", "rare"])
    codec = DiscreteCodec.learn(column)  # 160 000 ** 0.25 is 20
    taken = codec.decode(column, np.arange(2), np.array([[0.68, 0.32], [0.66, 0.34]]))
    assert [taken.levels[code] for code in taken.values] == ["common", "rare"]


def test_a_label_that_the_column_cannot_hold_is_not_taken_however_rare():
    codec = DiscreteCodec.learn(label([0, 0, 1, 1, 2], ["a", "b", "c"]))
    narrow = replace(label([0], ["a", "b"]), allowed=("a", "b"))
    taken = codec.decode(narrow, np.array([0]), np.array([[0.2, 0.1, 0.7]]))
    assert [taken.levels[code] for code in taken.values] == ["a"]


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
    by_name = {column.name: column for column in columns()}
    assert "dtype cannot be modelled" in codec.why_left(by_name["z"])
    assert "no observed cell" in codec.why_left(by_name["empty"])
    assert "not there" in codec.why_left(number([1.0], name="stranger"))
    assert codec.why_left(by_name["x"]) == ""


def test_a_table_encodes_and_decodes_by_name():
    codec = TableCodec.learn(columns())
    encoded = codec.encode(columns()[::-1])
    assert encoded.missing.tolist() == [[False, False], [True, False], [False, True]]
    completed = Completed(
        codec.layout,
        np.array([[-1.0], [0.5], [1.0]], dtype=np.float32),
        np.array([[1.0, 0.0], [0.0, 1.0], [0.3, 0.7]], dtype=np.float32),
    )
    fillings = codec.decode(columns(), completed)
    assert set(fillings) == {"x", "y"}
    assert fillings["y"].values.tolist() == [1]
    assert fillings["y"].levels == ("p", "q")
    assert fillings["x"].rows.tolist() == [1]
    assert fillings["x"].values.tolist() == [2.0]  # on the grid of whole numbers


def test_too_many_levels_are_left():
    many = label(np.arange(300), [f"id{k}" for k in range(300)], name="id")
    assert "300 labels" in TableCodec.learn([many]).why_left(many)


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


def test_a_column_of_holes_whose_dtype_means_something_else_is_left():
    codec = TableCodec.learn(columns())
    empty = number([np.nan], name="y")
    encoded = codec.encode([number([1.0]), empty])
    assert encoded.missing.tolist() == [[False, True]]
    assert "its dtype cannot hold a label" in codec.why_left(empty)
    with pytest.raises(MeaningDiffersError):
        codec.check([number([1.0]), empty], by_dtype=True)


def test_infinite_values_are_refused_by_column():
    with pytest.raises(InfiniteValuesError, match=r"infinite values in 'x' \(float64\), 'z' \(float64\)"):
        mark_all([number([1.0, np.inf]), number([-np.inf, 1.0], name="z")], Choices().resolve(["x", "z"]))


def test_what_is_no_hole_and_no_number_is_unknown():
    kept = mark(number([1.0, np.nan, 3.0], missing=[False] * 3), Choices(nan_is_missing=False))
    assert not kept.missing.any()
    for codec in (ContinuousCodec.learn(kept), FewCodec.learn(replace(kept, grid=Grid(1.0)))):
        assert codec.encode(kept)[1].tolist() == [False, True, False]


def test_few_numbers_are_filled_by_their_expectation():
    column = number([4.0, 6.0, 8.0, np.nan], grid=Grid(1.0))
    codec = FewCodec.learn(column)
    rows = np.array([3])
    likely = codec.decode(column, rows, np.array([[0.45, 0.1, 0.45]]))
    assert [likely.levels[code] for code in likely.values] == [6]
    assert codec.encode(number([5.1, 100.0, -3.0]))[0].tolist() == [1, 2, 0]
    category = replace(label([0, 1], [8, 4]), meaning="number", allowed=(4, 8))
    assert codec.encode(category)[0].tolist() == [2, 0]
    narrow = codec.decode(category, rows, np.array([[0.3, 0.4, 0.3]]))
    assert narrow.levels[narrow.values[0]] in {4, 8}


def test_numbers_as_labels_match_whatever_dtype_they_come_from():
    codec = DiscreteCodec.learn(number([14.0, 16.5, 18.0]))
    assert codec.levels == (14, 16.5, 18)
    codes, unknown = codec.encode(number([18.0, 14.0, 3.0]))
    assert codes[:2].tolist() == [2, 0]
    assert unknown.tolist() == [False, False, True]
    assert codec.strangers(number([18.0, 3.0])) == [3]


def test_labels_that_are_numbers_stay_exact():
    ids = [0, 2**62 + 1, 2**62 + 2, 2**63 - 1]
    codec = DiscreteCodec.learn(whole(ids))
    assert codec.levels == tuple(ids)
    assert codec.encode(whole([2**62 + 2, 2**62 + 1]))[0].tolist() == [2, 1]
    cents = whole([37, 114, 101], unit=Fraction(1, 100))
    assert DiscreteCodec.learn(cents).levels == (Fraction(37, 100), Fraction(101, 100), Fraction(114, 100))


def test_the_most_frequent_of_very_many_labels_are_kept():
    codes = np.concatenate([np.arange(3000), np.full(9, 2500)])
    codec = DiscreteCodec.learn(label(codes, range(3000)))
    assert len(codec.levels) == 1024
    assert 2500 in codec.levels
    assert codec.rest
    assert codec.strangers(label([0], ["new"])) == []


def test_ranks_are_one_number():
    column = label([0, 1, 2], ["a", "b", "c"])
    codec = OrdinalCodec.learn(column, ["c", "between", "a", "b"])
    assert codec.levels == ("c", "a", "b")
    np.testing.assert_allclose(codec.encode(column)[0], [1 / 3, 1.0, -1.0], rtol=1e-6)
    filling = codec.decode(column, np.arange(2), np.array([-0.2, 0.9]))
    assert [filling.levels[code] for code in filling.values] == ["a", "b"]
    narrow = replace(column, allowed=("c", "b"))
    near = codec.decode(narrow, np.arange(1), np.array([0.1]))
    assert near.levels[near.values[0]] == "b"
    constant = OrdinalCodec.learn(label([0], ["a"]))
    assert constant.encode(label([0], ["a"]))[0].tolist() == [0.0]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([50_000.5 + k * 311 for k in range(90)] + [-999.0] * 5, [-999]),
        ([1.0, 2.0, 3.0, -999.0], [-999]),
        ([-999.0, -998.0, -1000.0], []),
        ([97.0, 98.0, 99.0], []),
        ([0.0, 1.0, 99.0], [99]),
    ],
)
def test_codes_that_stand_out_are_hinted_at(cells, expected):
    assert hint(number(cells)) == (
        f"declare {expected!r} in missing_values if they mean a hole" if expected else ""
    )


@pytest.mark.parametrize(
    ("cells", "step"),
    [
        ([1.0, np.nan, 3.0], 1.0),
        ([1.5, 2.0], 0.1),
        ([9.99, 5.0], 0.01),
        ([1 / 3, 2.0], 0.0),
        ([np.nan], 0.0),
        ([np.nan] * 2000 + [4.0], 1.0),
        ([*range(2000), 0.5], 0.1),
    ],
)
def test_values_have_habits(cells, step):
    assert habit(number(cells)) == step


@pytest.mark.parametrize(("ticks", "step"), [([0, 7200], 3600), ([60, 7200], 60), ([61, 7200], 1)])
def test_times_have_habits(ticks, step):
    column = whole(ticks, unit=10**9, grid=Grid(1e9), meaning="date")
    assert habit(column) == step * 10**9
    codec = ContinuousCodec.learn(column)
    filling = codec.decode(column, np.arange(3), np.array([-0.7, 0.123, 0.9]))
    assert not (filling.values + filling.origin).astype(np.int64).__mod__(step * 10**9).any()


def test_words_that_often_mean_a_hole_are_hinted_at():
    words = label([0, 1, 2], ["Graz", "N/A", "?"])
    assert "'N/A', '?'" in hint(words)
    assert hint(label([0], ["Naples"])) == ""


def test_declared_labels_become_holes():
    column = mark(label([0, 1, 2, 1], ["a", "n/a", "z"]), Choices(), ["n/a"])
    assert column.levels == ("a", "z")
    assert column.missing.tolist() == [False, True, False, True]
    assert column.values[[0, 2]].tolist() == [0, 1]
    category = replace(label([0, 1], [-999.0, 1.5]), meaning="number")
    assert mark(category, Choices(), [-999]).missing.tolist() == [True, False]
    assert mark(label([0, 1], ["n/a", "a"]), Choices(), [np.str_("n/a")]).missing.tolist() == [True, False]


def test_declared_numbers_become_holes_exactly():
    column = mark(whole([0, 2**62, 2**62 + 1, 2**62 + 2]), Choices(), [2**62 + 1, 0.5, 10**30])
    assert column.missing.tolist() == [False, False, True, False]
    narrow = number(np.float32([-99.9, 1.0]), grid=Grid(high=float(np.finfo(np.float32).max)))
    assert mark(narrow, Choices(), [-99.9]).missing.tolist() == [True, False]


@pytest.mark.parametrize(
    ("value", "meaning", "number"),
    [
        (np.int8(3), "number", 3),
        (Decimal("0.1"), "number", Fraction(1, 10)),
        (True, "number", None),
        (np.nan, "number", None),
        (dt.date(1970, 1, 2), "date", 86_400 * 10**9),
        (dt.datetime(1970, 1, 1, 1), "date", 3600 * 10**9),
        (np.datetime64("1970-01-01T01"), "date", 3600 * 10**9),
        (np.datetime64("NaT"), "date", None),
        (dt.datetime(1970, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), "date with time zone", 0),
        (dt.datetime(1970, 1, 1), "date with time zone", None),
        (dt.timedelta(seconds=2), "duration", 2 * 10**9),
        (np.timedelta64(2, "s"), "duration", 2 * 10**9),
        (dt.time(0, 0, 1), "time of day", 10**9),
        (5, "date", None),
    ],
)
def test_values_are_written_in_the_units_of_their_column(value, meaning, number):
    assert number_of(value, meaning) == number
