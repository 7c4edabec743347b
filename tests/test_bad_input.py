"""What bad input gets, in every library alike: dtypes, labels, devices, threads."""

import datetime as dt
import re
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from libraries import DATA, LIBRARIES, MODEL, QUICK, filled, fit_filled, fitted, table

import simpdm_frames
from simpdm_frames import engine
from simpdm_frames.engine import NonFiniteLossError
from simpdm_frames.errors import (
    ColumnsDifferError,
    MeaningDiffersError,
    UnfilledColumnsWarning,
    UnknownFrameError,
)


def test_another_dtype_of_the_same_meaning_is_accepted():
    frame = LIBRARIES[0].make(DATA)
    other = frame.astype({"age": "Int64", "weight": "float32", "ward": "category", "smoker": "boolean"})
    done, expected = other.simpdm.impute(MODEL), frame.simpdm.impute(MODEL)
    assert list(done.dtypes) == list(other.dtypes)
    assert not done.isna().any(axis=None)
    other = frame.astype({"age": "Int64", "ward": "category", "smoker": "boolean"})
    assert other.simpdm.impute(MODEL)["age"].tolist() == expected["age"].tolist()
    as_objects = frame.astype({"age": object, "ward": object})
    assert as_objects.simpdm.impute(MODEL)["age"].tolist() == expected["age"].tolist()


def test_another_meaning_is_refused_by_name(library):
    with pytest.raises(MeaningDiffersError, match=r"'age' was a number \(float64\), now it is a label \("):
        filled(library, library.make({**DATA, "age": ["x"] * 40}))
    with pytest.raises(MeaningDiffersError, match=r"'smoker' was a truth value .* now it is a number"):
        filled(library, library.make({**DATA, "smoker": [0.5] * 40}))


def zoned(cells, zone):
    return pl.Series(cells, dtype=pl.Datetime("us")).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def test_time_zones_are_converted_and_naive_dates_are_not_mixed_in():
    frame = pl.DataFrame(DATA).with_columns(admitted=zoned(DATA["admitted"], "Europe/Vienna"))
    model = frame.simpdm.fit(**QUICK)
    here, there = (
        model.impute(frame),
        model.impute(frame.with_columns(admitted=zoned(DATA["admitted"], "Asia/Tokyo"))),
    )
    assert there["admitted"].dtype.time_zone == "Asia/Tokyo"
    assert here["admitted"].dt.convert_time_zone("UTC").equals(there["admitted"].dt.convert_time_zone("UTC"))
    with pytest.raises(MeaningDiffersError, match=r"'admitted' was a date with time zone .* a date \("):
        model.impute(pl.DataFrame(DATA))
    with pytest.raises(MeaningDiffersError, match="'admitted' was a date "):
        MODEL.impute(frame)


def test_dates_at_midnight_stay_at_midnight(library):
    days = [dt.datetime(2024, 3, 1) + dt.timedelta(days=k) if k % 4 else None for k in range(40)]
    done = fit_filled(library, {"day": days, "x": [k / 3 for k in range(40)]})["day"]
    assert {(day.hour, day.minute, day.second) for day in done} == {(0, 0, 0)}


@pytest.mark.parametrize("zone", ["Europe/Vienna", "America/Sao_Paulo", "Asia/Kolkata"])
def test_dates_at_midnight_of_their_zone_stay_there(zone):
    days = pd.date_range("2017-09-10", periods=90).tz_localize(zone, nonexistent="shift_forward")
    days = days[days.hour == 0]  # clocks change at midnight in São Paulo
    seen = pd.Series(days.as_unit("us")).mask(np.arange(len(days)) % 4 == 0)
    frame = pd.DataFrame({"day": seen, "x": np.arange(len(days)) / 3})
    done = frame.simpdm.fit_impute(**QUICK)["day"]
    local = done.dt.tz_localize(None)  # one day of São Paulo has no midnight to compare with
    assert (local == local.dt.normalize()).mean() > 0.98
    arrow = frame.astype({"day": f"timestamp[us, tz={zone}][pyarrow]"}).simpdm.fit_impute(**QUICK)["day"]
    assert (arrow.astype(done.dtype) == done).all()
    lake = pl.from_pandas(frame).simpdm.fit_impute(**QUICK)["day"]
    assert lake.dt.convert_time_zone("UTC").to_list() == [
        day.to_pydatetime() for day in done.dt.tz_convert("UTC")
    ]


def test_a_sparse_column_stays_sparse():
    cells = pd.arrays.SparseArray([0.0, np.nan, 1.5, 0.0] * 10, fill_value=0.0)
    frame = pd.DataFrame({"s": cells, "x": np.arange(40) / 3})
    done = frame.simpdm.fit_impute(**QUICK)
    assert done["s"].dtype == frame["s"].dtype
    assert not done["s"].isna().any()


@pytest.mark.parametrize("written", ["{0:%Y-%m-%d}", "{0:%d.%m.%Y}", "{0:%Y-%m-%dT%H:%M:%S}", "{0:%m/%d/%y}"])
def test_dates_that_were_read_as_text_are_named_as_such(library, written):
    days = [written.format(dt.datetime(2024, 1, 1) + dt.timedelta(days=k)) for k in range(60)]
    data = {"day": [None, *days[1:]], "x": [k / 3 for k in range(60)]}
    with pytest.warns(UnfilledColumnsWarning, match=r"'day' \(.*look like dates; convert it .*parse_dates"):
        fit_filled(library, data)


@pytest.mark.parametrize("cells", [[f"text {k}" for k in range(600)], [f"id-{k % 290}" for k in range(600)]])
def test_text_and_identities_are_left_and_named_unless_asked_for(library, cells):
    data = {"t": [None, *cells[1:]], "x": [k / 3 for k in range(600)]}
    with pytest.warns(
        UnfilledColumnsWarning, match=r"'t' \(.*name it in categorical to fill it all the same"
    ):
        assert fit_filled(library, data)["t"][0] is None
    assert fit_filled(library, data, categorical=["t"])["t"][0] in cells
    assert fit_filled(library, data, columns="t")["t"][0] in cells


def test_very_many_labels_never_blow_up_the_model():
    words = pd.Series([f"w{k}" for k in range(3000)] + ["often"] * 50 + [None])
    model = pd.DataFrame({"t": words}).simpdm.fit(categorical="t", **QUICK)
    assert model._engine.layout.cardinalities == (1024,)
    done = pd.DataFrame({"t": words}).simpdm.impute(model)
    assert done["t"].notna().all()


def test_numbers_that_count_or_name_rows_are_left():
    frame = pd.DataFrame(
        {"row": np.arange(1.0, 41), "patient_id": np.random.default_rng(0).permutation(40) + 500.0}
    )
    frame["x"] = np.arange(40) / 3
    frame.iloc[3, :2] = np.nan
    with pytest.warns(
        UnfilledColumnsWarning, match=r"(?s)'row' .* row number.*'patient_id' .* identity"
    ) as caught:
        done = frame.simpdm.fit_impute(**QUICK)
    assert len(caught) == 1
    assert done.iloc[3, :2].isna().all()
    assert frame.simpdm.fit_impute(columns=["row", "patient_id"], **QUICK).notna().all(axis=None)


def test_values_that_stand_for_a_hole_have_to_be_declared(library):
    data = {**DATA, "ward": ["n/a" if cell is None else cell for cell in DATA["ward"]]}
    data["weight"] = [-999.0 if cell is None else cell for cell in DATA["weight"]]
    plan = library.cells(simpdm_frames.plan(library.make(data)))
    hints = dict(zip(plan["column"], plan["hint"], strict=True))
    assert "'n/a'" in hints["ward"]
    assert "[-999]" in hints["weight"]
    assert hints["age"] in {"", None}
    kept = fit_filled(library, data)
    assert "n/a" in kept["ward"]
    assert -999.0 in kept["weight"]
    for declared in (["n/a", -999], {"ward": "n/a", "weight": [-999]}):
        done = fit_filled(library, data, missing_values=declared)
        assert set(done["ward"]) <= {"heart", "general"}
        assert min(done["weight"]) > 0
    model = simpdm_frames.fit(library.make(data), missing_values=["n/a", -999], **QUICK)
    assert "n/a" not in filled(library, library.make(data), model)["ward"]


def test_integers_of_numpy_have_holes_where_they_are_declared():
    frame = pd.DataFrame({"k": np.array([3, 5, 99, 7] * 10, dtype=np.int8), "x": np.arange(40) / 3})
    done = frame.simpdm.fit_impute(missing_values={"k": 99}, **QUICK)
    assert done["k"].dtype == np.int8
    assert set(done["k"]) <= {3, 5, 7}


def test_ignored_columns_are_neither_filled_nor_looked_at(library):
    done = fit_filled(library, DATA, ignore=["ward"])
    assert done["ward"] == DATA["ward"]
    assert None not in done["age"]
    model = fitted(library, ignore="ward", neighbours="auto")
    other = {**DATA, "ward": ["heart"] * 40}
    assert filled(library, library.make(other), model)["age"] == done["age"]
    without = {name: cells for name, cells in DATA.items() if name != "ward"}
    assert filled(library, library.make(without), model)["age"] == done["age"]


def test_only_named_columns_are_filled_and_the_others_looked_at(library):
    done = fit_filled(library, DATA, columns=["ward"])
    assert None not in done["ward"]
    assert done["age"] == DATA["age"]
    assert filled(library, library.make(DATA), columns=["ward"])["age"] == done["age"]


def test_nan_and_null_of_polars():
    frame = pl.DataFrame({"x": [float("nan"), None, 1.5, 2.5] * 10, "y": pl.Series(range(40)) / 7})
    both = frame.simpdm.fit_impute(**QUICK)["x"]
    assert both.is_finite().all()
    kept = frame.simpdm.fit_impute(nan_is_missing=False, **QUICK)["x"]
    assert kept.is_nan().sum() == 10
    assert kept.null_count() == 0
    assert kept.filter(kept.is_not_nan()).is_between(1.5, 2.5).all()


def test_collinear_and_duplicated_columns_are_fine(library):
    done = fit_filled(
        library, {**DATA, "again": DATA["age"], "twice": DATA["weight"], "other": DATA["weight"]}
    )
    assert list(done) == [*DATA, "again", "twice", "other"]
    assert all(None not in cells for cells in done.values())


@pytest.mark.parametrize("series", [pd.Series([1.0]), pl.Series([1.0])])
def test_a_series_is_told_to_become_a_frame(series):
    with pytest.raises(UnknownFrameError, match=r"series\.to_frame\(\)"):
        simpdm_frames.fit_impute(series)


def test_what_is_no_frame_is_refused():
    with pytest.raises(UnknownFrameError, match=r"numpy\.ndarray; .*pandas\.DataFrame\(array\)"):
        simpdm_frames.fit(np.zeros((3, 3)))
    with pytest.raises(
        UnknownFrameError, match=r"expected a frame of pandas or polars or pyarrow, got builtins\.list"
    ):
        simpdm_frames.fit([1, 2])
    with pytest.raises(TypeError, match="needs a model that was made by fit, got int"):
        LIBRARIES[0].make(DATA).simpdm.impute(3)
    with pytest.raises(TypeError, match=r"simpdm_frames\.load\('m\.simpdm'\)"):
        LIBRARIES[0].make(DATA).simpdm.impute("m.simpdm")


class Special(pd.DataFrame):
    """A frame of a user's own."""

    _metadata = ("tag",)

    @property
    def _constructor(self):
        return Special


class Shape:
    """Something that pandas knows nothing about, as a geometry is."""


def test_a_subclass_stays_and_foreign_objects_pass_through():
    frame = Special({**DATA, "shape": [Shape() for _ in range(40)]})
    frame.tag = "mine"
    done = frame.simpdm.fit_impute(**QUICK)
    assert type(done) is Special
    assert done.tag == "mine"
    assert done["shape"].tolist() == frame["shape"].tolist()


def test_a_batch_that_is_too_large_for_the_device_is_halved(monkeypatch):
    heights = []
    loss = engine.trial.Objective.loss

    def small_device(self, network, batch, draws):
        heights.append(len(batch))
        if len(batch) > 16:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return loss(self, network, batch, draws)

    monkeypatch.setattr(engine.trial.Objective, "loss", small_device)
    model = fitted(LIBRARIES[0])
    assert heights[:4] == [40, 20, 10, 10]
    assert len(model.loss_curve_) == QUICK["steps"]
    monkeypatch.setattr(
        engine.trial.Objective, "loss", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("no"))
    )
    with pytest.raises(torch.OutOfMemoryError):
        fitted(LIBRARIES[0])


def test_a_loss_that_is_not_finite_is_a_named_error(monkeypatch):
    monkeypatch.setattr(
        engine.trial.Objective, "loss", lambda *_: torch.tensor(float("nan"), requires_grad=True)
    )
    with pytest.raises(NonFiniteLossError, match="smaller learning_rate"):
        fitted(LIBRARIES[0])


def test_an_interruption_leaves_everything_as_it_was(library):
    frame = library.make(DATA)

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simpdm_frames.fit(frame, progress=interrupt, **QUICK)
    assert library.cells(frame) == library.cells(library.make(DATA))


def test_threads_may_share_a_model():
    frame = LIBRARIES[0].make(table(n=300))
    expected = frame.simpdm.impute(MODEL)
    results = [None] * 4

    def work(place):
        results[place] = frame.simpdm.impute(MODEL)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        pd.testing.assert_frame_equal(result, expected, check_exact=True)


def test_messages_have_a_way_out():
    with pytest.raises(ColumnsDifferError, match="add them, with holes if nothing is known, or fit"):
        MODEL.impute(pd.DataFrame({"age": [1.0]}))
    with pytest.raises(MeaningDiffersError, match="convert them, or fit again"):
        MODEL.impute(LIBRARIES[0].make(DATA).astype({"age": str}))
    assert re.match(r"<Imputer of 5 columns, 8 steps on cpu>", repr(MODEL))
