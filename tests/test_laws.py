"""Laws of the frame contract over drawn frames: with an engine that only guesses, then with the real one."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dtypes import CANNOT_MISS, LEFT, N, columns
from hypothesis import given, settings
from hypothesis import strategies as st

import simpdm_frames
from simpdm_frames import frames
from simpdm_frames.codecs import Choices, TableCodec, mark_all
from simpdm_frames.encoded import Completed
from simpdm_frames.errors import FewRowsWarning, Place, UnfilledColumnsWarning
from simpdm_frames.fitting import Learnt
from simpdm_frames.imputer import Imputer
from simpdm_frames.notices import Notices
from simpdm_frames.options import FitOptions

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # columns that are left are looked at below
LIBRARIES = ("pandas", "polars", "pyarrow")


class Guess:
    """An engine that answers anything: the frame has to come back right whatever it says."""

    device = "cpu"
    loss_curve = ()

    def impute(self, encoded, **_):
        random = np.random.default_rng(len(encoded))
        numbers = random.normal(0, 3, encoded.numbers.shape).astype(np.float32)
        return Completed(
            encoded.layout, numbers, random.random((len(encoded), encoded.layout.n_levels)).astype(np.float32)
        )


def guessed(frame):
    """Fill a frame with guesses, a few rows at a time; tell which columns are filled."""
    learnt = Learnt.of(frame, FitOptions.parse({}))
    model = Imputer(learnt.codec, learnt.choices, Guess())
    done = model.fill(frame, learnt.columns, learnt.choices, {}, Notices(Place.here()), batch_size=7)
    return done, {column.name for column in learnt.columns if not learnt.codec.why_left(column)}


@st.composite
def drawn_frames(draw, library):
    """A frame of some dtypes, its rows drawn with repetition, with holes anywhere."""
    names = draw(st.lists(st.sampled_from(sorted(columns(library))), min_size=1, max_size=4, unique=True))
    rows = draw(st.lists(st.integers(0, N - 1), min_size=2, max_size=25))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.0, 0.3, 0.8]))
    drawn = {name: taken(library, name, rows, random.random(len(rows)) < share) for name in names}
    if library == "pandas":
        index = pd.Index(random.integers(0, 5, len(rows)), name="twice")
        return pd.DataFrame(drawn).set_axis(index)
    return pl.DataFrame(drawn) if library == "polars" else pa.table(drawn)


def taken(library, name, rows, holes):
    """Some rows of a column, with holes."""
    column = columns(library)[name]
    if library == "pandas":
        part = column.iloc[rows].reset_index(drop=True)
        return part if (library, name) in CANNOT_MISS else part.mask(holes)
    if library == "polars":
        part = column.gather(rows).alias(name)
        return (
            part
            if column.dtype == pl.Object
            else part.to_frame().select(pl.when(~pl.Series(holes)).then(name).alias(name)).to_series()
        )
    cells = column.to_pylist()
    return pa.array(
        [None if hole else cells[row] for row, hole in zip(rows, holes, strict=True)], column.type
    )


def series_of(frame, name):
    return frame.column(name) if isinstance(frame, pa.Table) else frame[name]


def missing_in(series):
    if isinstance(series, pd.Series):
        return series.isna().to_numpy(dtype=bool)
    return series.is_null().to_numpy()


def seen_in(series):
    """The observed cells, with their types."""
    if isinstance(series, pd.Series):
        return [(type(cell), cell) for cell in series[~missing_in(series)]]
    if isinstance(series, pl.Series):
        physical = series if series.dtype == pl.Object or series.dtype.is_nested() else series.to_physical()
        return [cell for cell, hole in zip(physical.to_list(), missing_in(series), strict=True) if not hole]
    return [cell for cell in series.to_pylist() if cell is not None]


def names_of(frame):
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def assert_only_holes_changed(frame, done, filled):
    assert type(done) is type(frame)
    assert names_of(done) == names_of(frame)
    for name in names_of(frame):
        before, after = series_of(frame, name), series_of(done, name)
        holes = missing_in(before)
        if isinstance(frame, pa.Table):
            assert after.type == before.type
        else:
            assert after.dtype == before.dtype
        rest = missing_in(after)
        np.testing.assert_array_equal(rest, holes & (name not in filled))
        kept = [cell for cell, hole in zip(cells_of(after), holes, strict=True) if not hole]
        assert kept == seen_in(before)
    if isinstance(frame, pd.DataFrame):
        pd.testing.assert_index_equal(done.index, frame.index, exact=True)
        for name in frame.columns:
            if isinstance(frame[name].dtype, pd.CategoricalDtype):
                assert done[name].cat.categories.equals(frame[name].cat.categories)


def cells_of(series):
    if isinstance(series, pd.Series):
        return [(type(cell), cell) for cell in series]
    if isinstance(series, pl.Series):
        nested = series.dtype == pl.Object or series.dtype.is_nested()
        return (series if nested else series.to_physical()).to_list()
    return series.to_pylist()


@pytest.mark.parametrize("library", LIBRARIES)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_only_holes_change_whatever_the_engine_says(library, data):
    frame = data.draw(drawn_frames(library))
    before = {name: cells_of(series_of(frame, name)) for name in names_of(frame)}
    done, filled = guessed(frame)
    assert_only_holes_changed(frame, done, filled)
    for name in set(names_of(frame)) - filled - LEFT[library]:  # for want of an observed cell, or as text
        series = series_of(frame, name)
        labels = {repr(cell) for cell in seen_in(series)}
        assert not labels or len(labels) > 20
    after = {name: cells_of(series_of(frame, name)) for name in names_of(frame)}
    assert repr(after) == repr(before)  # by repr, because NaN differs from itself


@pytest.mark.parametrize("library", LIBRARIES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_only_holes_change_with_the_engine(library, data):
    frame = data.draw(drawn_frames(library))
    plan = simpdm_frames.plan(frame)
    done = simpdm_frames.fit_impute(frame, random_state=0, steps=2, width=4)
    rows = (
        plan.to_pylist()
        if isinstance(plan, pa.Table)
        else plan.to_dict("records")
        if isinstance(plan, pd.DataFrame)
        else plan.to_dicts()
    )
    assert_only_holes_changed(frame, done, {row["column"] for row in rows if row["filled"]})


@pytest.mark.parametrize("library", LIBRARIES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_complete_frame_comes_back_equal(library, data):
    rows = data.draw(st.lists(st.integers(0, N - 1), min_size=1, max_size=20))
    names = data.draw(
        st.lists(
            st.sampled_from(sorted(set(columns(library)) - {"Null", "null"})),
            min_size=1,
            max_size=5,
            unique=True,
        )
    )
    whole = {name: taken(library, name, rows, np.zeros(len(rows), dtype=bool)) for name in names}
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](whole)
    done = simpdm_frames.fit_impute(frame, steps=10**8)
    assert_only_holes_changed(frame, done, set())


DATES = st.datetimes(pd.Timestamp("1800-01-01").to_pydatetime(), pd.Timestamp("2200-01-01").to_pydatetime())
CELLS = {
    "whole": (st.integers(-(2**63) + 1, 2**63 - 1), "Int64", pl.Int64),
    "unsigned": (st.integers(0, 2**64 - 1), "UInt64", pl.UInt64),
    "small": (st.integers(-3, 3), "Int8", pl.Int8),
    "real": (st.floats(-1e300, 1e300), "Float64", pl.Float64),
    "half": (st.floats(-1e4, 1e4, width=16), "Float32", pl.Float32),
    "text": (st.text(st.characters(exclude_categories=["Cs"]), max_size=3), "string", pl.String),
    "truth": (st.booleans(), "boolean", pl.Boolean),
    "date": (DATES, "datetime64[us]", pl.Datetime("us")),
}


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_all_libraries_give_the_same_numbers(data):
    kinds = data.draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4, unique=True))
    n = data.draw(st.integers(2, 12))
    cells = {kind: data.draw(st.lists(st.none() | CELLS[kind][0], min_size=n, max_size=n)) for kind in kinds}
    lake = pl.DataFrame({kind: pl.Series(cells[kind], dtype=CELLS[kind][2]) for kind in kinds})
    zoo = pd.DataFrame({kind: pd.Series(cells[kind], dtype=CELLS[kind][1]) for kind in kinds})
    encoded = []
    for frame in (lake, zoo, lake.to_arrow(), zoo.convert_dtypes(dtype_backend="pyarrow")):
        names = names_of(frame)
        read = mark_all(frames.read(frame), Choices().resolve(names))
        codec = TableCodec.learn(read)
        assert (
            [codec.plan[name].role for name in kinds] == [encoded[0][0].plan[name].role for name in kinds]
            if encoded
            else True
        )
        encoded.append((codec, codec.encode(read)))
    first = encoded[0][1]
    for codec, other in encoded[1:]:
        assert codec.layout == first.layout
        np.testing.assert_array_equal(other.missing, first.missing)
        number_holes, code_holes = np.split(first.missing, [first.layout.n_numbers], axis=1)
        np.testing.assert_array_equal(other.numbers[~number_holes], first.numbers[~number_holes])
        np.testing.assert_array_equal(other.codes[~code_holes], first.codes[~code_holes])


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_what_is_encoded_is_decoded_on_the_grid(data):
    kind = data.draw(st.sampled_from(["Int64", "UInt64", "Int8", "Decimal", "Date", "Datetime", "String"]))
    low, high = {"Int8": (-128, 127), "UInt64": (0, 2**64 - 1), "Date": (-100_000, 2_000_000)}.get(
        kind, (-(2**63) + 1, 2**63 - 1)
    )
    origin = data.draw(st.integers(low, high))
    reach = min(high, origin + 10**6)  # float32 tells so many steps apart
    whole = data.draw(st.lists(st.integers(origin, reach), min_size=1, max_size=30))
    if kind == "String":
        series = pl.Series([str(number) for number in whole])
    elif kind == "Decimal":
        series = pl.Series([f"{number}e-3" for number in whole]).cast(pl.Decimal(38, 3))
    elif kind in {"Date", "Datetime"}:
        series = pl.Series(whole, dtype=pl.Int32 if kind == "Date" else pl.Int64).cast(
            pl.Datetime("us") if kind == "Datetime" else pl.Date
        )
    else:
        series = pl.Series(whole, dtype=getattr(pl, kind))
    frame = pl.DataFrame({"x": series})
    read = frames.read(frame)
    codec = TableCodec.learn(read, Choices(columns="x"))
    encoded = codec.encode(read)
    hot = (
        np.eye(max(encoded.layout.n_levels, 1), dtype=np.float32)[encoded.codes[:, 0]]
        if encoded.layout.n_levels
        else np.empty((len(series), 0), dtype=np.float32)
    )
    holed = [column.rows(slice(None)) for column in read]
    object.__setattr__(holed[0], "missing", np.ones(len(series), dtype=bool))
    filling = codec.decode(holed, Completed(codec.layout, encoded.numbers, hot))["x"]
    done = frames.backend_of(frame).write(frame, {0: filling}, {})
    assert done.equals(frame)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.lists(st.floats(-1e3, 1e3), min_size=1))
def test_fills_stay_in_the_observed_range(seen, answers):
    frame = pd.DataFrame({"x": [*seen, *[math.nan] * len(answers)]})
    read = frames.read(frame)
    marked = mark_all(read, Choices().resolve(["x"]))
    codec = TableCodec.learn(marked, Choices(ordinal="x"))
    answer = np.array([*[0.0] * len(seen), *answers], dtype=np.float32)[:, None]
    filling = codec.decode(marked, Completed(codec.layout, answer, np.empty((len(answer), 0), np.float32)))[
        "x"
    ]
    assert min(seen) <= (filling.values + filling.origin).min()
    assert (filling.values + filling.origin).max() <= max(seen)


def test_the_warnings_that_are_silenced_here_are_the_expected_ones():
    frame = pd.DataFrame({"x": [1.5, None] * 2, "lists": [[1], None] * 2})
    with pytest.warns() as caught:
        simpdm_frames.fit_impute(frame, steps=1, width=4)
    assert {warning.category for warning in caught} == {FewRowsWarning, UnfilledColumnsWarning}
