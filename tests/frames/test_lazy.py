"""Queries stay queries: sampled for a fit, filled in batches, with the schema known beforehand."""

import inspect
import threading
import warnings

import numpy as np
import polars as pl
import pytest
from libraries import QUICK, table
from polars.testing import assert_frame_equal

import simpdm_frames
from simpdm_frames.errors import MeaningDiffersError, UnfilledColumnsWarning
from simpdm_frames.frames import gather, head
from simpdm_frames.imputer import Imputer
from simpdm_frames.options import CHUNK

EAGER = pl.DataFrame(table(n=400))
MODEL = EAGER.simpdm.fit(**QUICK)


@pytest.fixture
def parquet(tmp_path):
    """A file of many row groups."""
    path = tmp_path / "big.parquet"
    frame = pl.concat([EAGER] * 500)  # 200 000 rows
    frame.with_row_index("row").lazy().sink_parquet(path, row_group_size=10_000)
    return path


@pytest.fixture
def batches(monkeypatch):
    """The heights of the frames that are filled."""
    heights, lock, fill = [], threading.Lock(), Imputer.fill

    def count(self, frame, *args, **options):
        with lock:
            heights.append(frame.height)
        return fill(self, frame, *args, **options)

    monkeypatch.setattr(Imputer, "fill", count)
    return heights


def test_a_chain_gives_what_the_eager_path_gives(tmp_path):
    path = tmp_path / "table.parquet"
    EAGER.write_parquet(path)
    wards = pl.col("age").mean(), pl.col("weight").sum(), pl.col("admitted").max(), pl.len()
    lazy = (
        pl.scan_parquet(path)
        .filter(pl.col("smoker").is_not_null())
        .simpdm.impute(MODEL)
        .group_by("ward", maintain_order=True)
        .agg(*wards)
    )
    assert isinstance(lazy, pl.LazyFrame)
    eager = EAGER.filter(pl.col("smoker").is_not_null()).simpdm.impute(MODEL)
    expected = eager.group_by("ward", maintain_order=True).agg(*wards)
    exact = {"check_row_order": False, "rel_tol": 1e-12, "abs_tol": 0}  # sums depend on their order
    assert_frame_equal(lazy.collect(), expected, **exact)
    assert_frame_equal(lazy.collect(engine="streaming"), expected, **exact)
    rows = pl.scan_parquet(path).filter(pl.col("smoker").is_not_null()).simpdm.impute(MODEL)
    assert_frame_equal(rows.collect(engine="streaming"), eager, check_exact=True)


def test_a_file_is_filled_in_many_batches_in_order(parquet, tmp_path, batches):
    model = EAGER.simpdm.fit(**{**QUICK, "diffusion_steps": 2})
    done = tmp_path / "done.parquet"
    with pytest.warns(UserWarning, match="'row'"):
        query = pl.scan_parquet(parquet).simpdm.impute(model)
    query.sink_parquet(done)
    assert len(batches) >= 10
    assert sum(batches) == 200_000
    assert max(batches) <= CHUNK
    result = pl.read_parquet(done)
    assert result["row"].equals(pl.Series("row", range(200_000), dtype=result["row"].dtype))
    expected = model.impute(EAGER)
    assert_frame_equal(result.drop("row").tail(400), expected, check_exact=True)
    assert_frame_equal(result.drop("row").head(400), expected, check_exact=True)


def test_the_engine_hands_over_batches_not_the_whole(parquet, batches):
    model = EAGER.simpdm.fit(**{**QUICK, "diffusion_steps": 2})
    query = pl.scan_parquet(parquet).drop("row").simpdm.impute(model, batch_size=10**9)
    assert query.collect(engine="streaming").height == 200_000
    assert len(batches) > 1
    assert max(batches) < 200_000


def test_nothing_is_collected_before_it_is_asked_for(batches):
    calls = []

    def watch(frame):
        calls.append(frame.height)
        return frame

    source = EAGER.lazy().map_batches(watch, schema=EAGER.schema)
    query = source.simpdm.impute(MODEL)
    assert query.collect_schema() == EAGER.schema
    assert (calls, batches) == ([], [])
    node = source.simpdm.fit_impute(**QUICK)
    assert node.collect_schema() == EAGER.schema
    assert (calls, batches) == ([], [])


def test_fit_impute_is_one_node_that_trains_once(batches):
    node = EAGER.lazy().simpdm.fit_impute(neighbours=0, **QUICK)
    done = node.select("ward", "age").collect(engine="streaming")
    assert batches == [400]
    assert_frame_equal(done, MODEL.impute(EAGER).select("ward", "age"), check_exact=True)


def test_a_fit_collects_a_uniform_sample():
    rows = pl.LazyFrame({"k": np.arange(20_000)})
    sample = gather(rows, 2000, seed=3)["k"].to_numpy()
    assert len(sample) == 2000
    assert (np.diff(sample) > 0).all()
    share = np.bincount(sample // 2000, minlength=10) / 200
    assert (abs(share - 1) < 0.35).all()
    assert gather(rows, 2000, seed=3)["k"].to_list() == sample.tolist()
    assert gather(rows, 2000, seed=4)["k"].to_list() != sample.tolist()
    assert gather(rows, 10**6, seed=3).height == 20_000


def test_a_sample_is_enough_for_a_fit(monkeypatch):
    heights = []
    read = simpdm_frames.frames.read
    monkeypatch.setattr(
        simpdm_frames.frames, "read", lambda frame: heights.append(frame.height) or read(frame)
    )
    model = pl.concat([EAGER] * 10).lazy().simpdm.fit(max_rows=100, **QUICK)
    assert heights == [100]
    assert MODEL.schema_.keys() == model.schema_.keys()
    eager = pl.concat([EAGER] * 10).simpdm.fit(max_rows=100, **QUICK)
    assert len(eager.loss_curve_) == QUICK["steps"]


def test_what_is_wrong_shows_before_anything_is_collected():
    with pytest.raises(MeaningDiffersError, match="'age' was a number"):
        EAGER.lazy().with_columns(age=pl.lit("old")).simpdm.impute(MODEL)
    with pytest.raises(ValueError, match=r"categorical names 'wart'.*did you mean 'ward'"):
        EAGER.lazy().simpdm.fit_impute(categorical=["wart"])
    with pytest.raises(ValueError, match=r"add_indicator=\['age'\]"):
        EAGER.lazy().simpdm.fit_impute(add_indicator=True)


def test_indicators_are_in_the_schema():
    query = EAGER.lazy().simpdm.impute(MODEL, add_indicator=True)
    assert query.collect_schema()["ward_missing"] == pl.Boolean
    assert query.collect()["ward_missing"].equals(EAGER["ward"].is_null().alias("ward_missing"))
    named = EAGER.lazy().simpdm.fit_impute(add_indicator=["age"], **QUICK)
    assert list(named.collect_schema())[-1] == "age_missing"
    assert named.collect()["age_missing"].sum() == EAGER["age"].null_count()


def test_a_batch_has_no_more_to_say_than_the_first(parquet):
    query = (
        pl.scan_parquet(parquet)
        .drop("row")
        .with_columns(lists=pl.when(pl.col("age") > 30).then(pl.concat_list("age")))
    )
    model = EAGER.with_columns(lists=pl.concat_list("age")).simpdm.fit(**{**QUICK, "diffusion_steps": 2})
    filled = query.simpdm.impute(model)
    line = 1 + _line()
    with pytest.warns(UnfilledColumnsWarning, match="'lists'") as caught:
        filled.collect(engine="streaming")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert caught[0].lineno < line  # the line of the call, not of the collection


def _line():
    return inspect.currentframe().f_back.f_lineno


def test_a_head_has_the_columns_and_no_rows():
    assert head(EAGER.lazy()).schema == EAGER.schema
    assert head(EAGER.lazy()).height == 0
    assert head(EAGER) is EAGER


def test_holes_of_a_query_are_counted_without_its_values():
    lazy = EAGER.with_columns(nan=pl.when(pl.col("age") > 50).then(float("nan"))).lazy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_frame_equal(lazy.simpdm.missing().frame, lazy.collect().simpdm.missing().frame)
        assert_frame_equal(
            lazy.simpdm.missing(by="pattern").frame, lazy.collect().simpdm.missing(by="pattern").frame
        )
        assert_frame_equal(lazy.simpdm.plan(), lazy.collect().simpdm.plan())


@pytest.mark.parametrize("name", ["^a.*$", "*", "^.*$"])
def test_a_name_that_looks_like_a_pattern_is_a_name(name):
    frame = pl.DataFrame({name: [1.5, None, 2.5, 3.5] * 5, "other": ["x", "y", None, "x"] * 5})
    model = frame.simpdm.fit(**QUICK)
    done = frame.simpdm.impute(model)
    assert done.columns == frame.columns
    assert [series.null_count() for series in done.get_columns()] == [0, 0]
    lazy = frame.lazy().simpdm.impute(model).collect()
    assert lazy.columns == frame.columns
    assert lazy.rows() == done.rows()
    assert frame.lazy().simpdm.missing()["holes"].to_list() == [5, 5]
