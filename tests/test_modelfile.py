"""A model comes back from its file as it went in, and nothing else comes out of a file."""

import copy
import json
import pickle
import resource
import signal
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from dtypes import CASES, LEFT, holed_frame
from safetensors.numpy import load as parse
from safetensors.numpy import save

import simpdm_frames
from simpdm_frames import demo
from simpdm_frames.errors import GpuUnavailableError, ModelFileError

TRUTH, HOLES = demo.patients(n_rows=60)
MODEL = HOLES.simpdm.fit(random_state=0, preset="fast", steps=8, width=16, members=2)


@pytest.fixture
def path(tmp_path):
    MODEL.save(tmp_path / "clinic.simpdm")
    return tmp_path / "clinic.simpdm"


def parts(path):
    """Take a file apart: the model's facts and arrays."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])["__metadata__"]
    return json.loads(header["simpdm_frames"]), parse(content)


def test_a_model_fills_as_before(path):
    again = simpdm_frames.load(path)
    pd.testing.assert_frame_equal(again.impute(HOLES), MODEL.impute(HOLES), check_exact=True)
    drawn = {"estimate": "draw", "random_state": 3}
    pd.testing.assert_frame_equal(again.impute(HOLES, **drawn), MODEL.impute(HOLES, **drawn))
    assert again.schema_ == MODEL.schema_
    assert again.loss_curve_ == MODEL.loss_curve_
    assert repr(again) == repr(MODEL)


def test_several_fits_are_one_file(path):
    model = HOLES.simpdm.fit(random_state=0, preset="fast", steps=8, width=16, members=2, fits=3)
    model.save(path)
    again = simpdm_frames.load(path)
    for options in ({}, *({"estimate": "draw", "random_state": seed} for seed in range(3))):
        pd.testing.assert_frame_equal(again.impute(HOLES, **options), model.impute(HOLES, **options))
    _, arrays = parts(path)
    assert {name.partition(".")[0] for name in arrays if name.endswith("shares")} == {
        "shares",
        "fit1",
        "fit2",
    }


def test_a_model_that_was_fit_in_one_library_fills_another(path):
    filled = pl.from_pandas(HOLES).simpdm.impute(simpdm_frames.load(path))
    expected = pl.from_pandas(MODEL.impute(HOLES))
    assert filled.select(pl.selectors.numeric()).equals(expected.select(pl.selectors.numeric()))


def through_a_pickle(model):
    return pickle.loads(pickle.dumps(model))  # noqa: S301  # our own


@pytest.mark.parametrize("again", [copy.deepcopy, through_a_pickle])
def test_a_model_can_be_copied_and_sent_to_another_process(again):
    pd.testing.assert_frame_equal(again(MODEL).impute(HOLES), MODEL.impute(HOLES), check_exact=True)


@pytest.mark.parametrize(("library", "name"), [case for case in CASES if case[1] not in LEFT[case[0]]])
def test_every_dtype_survives_a_file(library, name, tmp_path):
    holed = holed_frame(library, name)
    options = {"random_state": 0, "steps": 2, "width": 8}
    model = simpdm_frames.fit(holed, **options)
    model.save(tmp_path / "model")
    again = simpdm_frames.load(tmp_path / "model")
    assert again.schema_ == model.schema_
    one, other = (frame.impute(holed) for frame in (model, again))
    assert one.equals(other)


def test_choices_survive_a_file(tmp_path):
    frame = HOLES.assign(when=pd.Timestamp("2024-03-31 03:30", tz="Europe/Vienna"))
    bounds = {"when": (pd.Timestamp("2024-01-01", tz="Europe/Vienna"), None)}
    options = {"missing_values": [-1, np.nan, pd.NA, pd.NaT], "bounds": bounds, "steps": 2, "width": 8}
    model = frame.simpdm.fit(**options, add_indicator=True)
    model.save(tmp_path / "model")
    again = simpdm_frames.load(tmp_path / "model")
    one, other = repr(again._choices), repr(model._choices)
    assert one == other
    pd.testing.assert_frame_equal(again.impute(frame), model.impute(frame))


def test_names_of_several_levels_survive_a_file(tmp_path):
    frame = HOLES[["age", "smoker"]].set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2.5)]), axis=1)
    model = frame.simpdm.fit(steps=2, width=8)
    model.save(tmp_path / "model")
    assert list(simpdm_frames.load(tmp_path / "model").schema_) == [("a", 1), ("a", 2.5)]


def test_labels_that_have_no_spelling_are_refused_when_they_are_saved(tmp_path):
    odd = pd.DataFrame({"x": pd.Categorical([frozenset({1}), frozenset({2})] * 6), "y": range(3, 15)})
    model = odd.simpdm.fit(steps=2, width=8)
    with pytest.raises(ModelFileError, match=r"'x' cannot be saved.*frozenset.*convert"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_nothing_of_the_rows_is_in_a_file(path):
    model, arrays = parts(path)
    # Labels are levels; numbers of a column are told by their range alone.
    assert not any(len(HOLES) in array.shape for array in arrays.values())
    seen = set(HOLES["age"].dropna()) - {HOLES["age"].min(), HOLES["age"].max()}
    assert not [age for age in seen if float(age).hex() in json.dumps(model)]


def test_a_device_that_is_not_there_is_refused(path):
    with pytest.raises(GpuUnavailableError):
        simpdm_frames.load(path, gpu="require")
    assert simpdm_frames.load(path, gpu=False).device_ == "cpu"


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        simpdm_frames.load(tmp_path / "nothing")


def rewrite(change):
    """Make a hostile file from a good one: change what is in it, or its bytes."""

    def make(path):
        model, arrays = parts(path)
        arrays = {name: array.copy() for name, array in arrays.items()}
        other = change(model, arrays)
        text = other if isinstance(other, str) else json.dumps(model)
        path.write_bytes(save(arrays, metadata={"simpdm_frames": text}))

    return make


def cut(share):
    def make(path):
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])

    return make


def put(content):
    return lambda path: path.write_bytes(content)


def first_number(model):
    return next(part["ContinuousCodec"] for _, part in model["numbers"] if "ContinuousCodec" in part)


HOSTILE = {
    "empty": put(b""),
    "three bytes": put(b"abc"),
    "text": put(b"name,age\nx,1\n" * 100),
    "a pickle": put(pickle.dumps({"weights": [1, 2, 3]} | {str(k): k for k in range(1000)})),
    "a zip": put(b"PK\x03\x04" + bytes(1000)),
    "huge header": put(struct.pack("<Q", 2**62) + b"{}" * 100),
    "header of 90 MB that is not there": put(struct.pack("<Q", 90 * 2**20) + b"{}" * 100),
    "header that is no JSON": put(struct.pack("<Q", 16) + b"{" * 16 + bytes(100)),
    "header nested a million deep": put(struct.pack("<Q", 10**6) + b"[" * 10**6),
    **{f"cut at {share:.0%}": cut(share) for share in (0.001, 0.1, 0.5, 0.9, 0.999)},
    "foreign tensors": put(save({"weight": np.zeros(3, np.float32)})),
    "newer version": rewrite(lambda m, _a: m.update(version=2)),
    "no version": rewrite(lambda m, _a: m.pop("version")),
    "version in words": rewrite(lambda m, _a: m.update(version="new")),
    "no JSON": rewrite(lambda _m, _a: "{"),
    "a list": rewrite(lambda _m, _a: "[]"),
    "nested a hundred thousand deep": rewrite(lambda _m, _a: "[" * 10**5),
    "a lacking tensor": rewrite(lambda _m, a: a.pop("network.head")),
    "an extra tensor": rewrite(lambda _m, a: a.update(more=np.zeros(2, np.float32))),
    "wrong shape": rewrite(lambda _m, a: a.update({"network.head": a["network.head"][:, :3]})),
    "wrong type": rewrite(lambda _m, a: a.update(shares=a["shares"].astype(np.float64))),
    "NaN weights": rewrite(lambda _m, a: a["network.table"].fill(np.nan)),
    "NaN scales": rewrite(lambda _m, a: a["scale.spread"].fill(np.nan)),
    "negative scales": rewrite(lambda _m, a: a["scale.spread"].fill(-1)),
    "knots out of order": rewrite(lambda _m, a: a["network.knots"].__imul__(-1)),
    "places without end": rewrite(lambda _m, a: a["network.places"].fill(np.inf)),
    "negative shares": rewrite(lambda _m, a: a["shares"].__setitem__(slice(None), [-1, 2])),
    "NaN range": rewrite(lambda m, _a: first_number(m).update(low={"float": "nan"})),
    "range the wrong way round": rewrite(lambda m, _a: first_number(m).update(low={"float": "0x1p99"})),
    "a field too many": rewrite(lambda m, _a: first_number(m).update(more=1)),
    "a field of another type": rewrite(lambda m, _a: first_number(m).update(origin="0")),
    "a class that is not known": rewrite(lambda m, _a: m["numbers"][0].__setitem__(1, {"Path": "/"})),
    "a type that is not known": rewrite(lambda m, _a: first_number(m).update(cell={"type": "eval"})),
    "negative cardinality": rewrite(lambda m, _a: m["engine"].update(cardinalities=[-3])),
    "huge cardinality": rewrite(lambda m, _a: m["engine"].update(cardinalities=[10**12])),
    "huge width": rewrite(lambda m, _a: m["engine"]["settings"].update(width=65_536)),
    "many members": rewrite(lambda m, _a: m["engine"]["settings"].update(members=1024)),
    "many layers": rewrite(lambda m, _a: m["engine"]["settings"].update(layers=64)),
    "many frequencies": rewrite(lambda m, _a: m["engine"]["settings"].update(frequencies=1024)),
    "wide waves": rewrite(lambda m, _a: m["engine"]["settings"].update(wave_width=4096)),
    "many diffusion steps": rewrite(lambda m, _a: m["engine"]["settings"].update(diffusion_steps=10**9)),
    "an unknown setting": rewrite(lambda m, _a: m["engine"]["settings"].update(colour=1)),
    "a seed in words": rewrite(lambda m, _a: m["engine"].update(seeds=["0"])),
    "seeds that are no list": rewrite(lambda m, _a: m["engine"].update(seeds=0)),
    "a fit without arrays": rewrite(
        lambda m, _a: (m["engine"]["settings"].update(fits=2), m["engine"].update(seeds=[0, 1]))
    ),
    "fits without seeds": rewrite(lambda m, _a: m["engine"]["settings"].update(fits=1024)),
    "arrays of a fit too many": rewrite(lambda _m, a: a.update({"fit1.shares": a["shares"]})),
    "no levels": rewrite(lambda m, _a: m["categories"][0][1].popitem()),
    "a column less": rewrite(lambda m, _a: m["categories"].pop()),
    "a plan that lacks a column": rewrite(lambda m, _a: m["plan"].pop(0)),
    "columns that are no pairs": rewrite(lambda m, _a: m.update(numbers=[1, 2])),
    "choices of another class": rewrite(lambda m, _a: m.update(choices=None)),
    "an estimate that is not known": rewrite(lambda m, _a: m["choices"]["Choices"].update(estimate="guess")),
    "a column twice": rewrite(lambda m, _a: m["numbers"].append(m["numbers"][0])),
    "a fraction of ten million digits": rewrite(
        lambda m, _a: first_number(m).update(floor={"fraction": "1e9999999"})
    ),
    "a decimal of a billion digits": rewrite(
        lambda m, _a: m["choices"]["Choices"].update(bounds={"map": [["age", {"decimal": "1e999999999"}]]})
    ),
    "a number of a million digits": rewrite(
        lambda m, _a: json.dumps(m).replace('"seeds": [0]', '"seeds": [' + "9" * 10**6 + "]")
    ),
    "an origin beyond all floats": rewrite(lambda m, _a: first_number(m).update(origin=10**4000)),
    "a zone that is a file": rewrite(
        lambda m, _a: m["choices"]["Choices"].update(
            missing_values={"tuple": [{"datetime": ["2024-01-01T00:00", "../../etc/passwd", 0]}]}
        )
    ),
    "a text of 60 MB": rewrite(lambda _m, _a: "[" + "0," * (30 * 2**20) + "0]"),
    "five million lists": rewrite(lambda _m, _a: "[" + "[]," * (5 * 2**20) + "0]"),
    "as many values as there may be": rewrite(lambda _m, _a: "[" + '{"a":1},' * 499_000 + "0]"),
    "as many texts as there may be": rewrite(lambda _m, _a: "[" + '"😀ab",' * 990_000 + "0]"),
    "an endless number": rewrite(lambda m, _a: first_number(m).update(floor={"fraction": "1/0"})),
}


@contextmanager
def at_most(more):
    """Refuse this process more memory than it has and so many bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_is_refused_by_name_at_once_and_with_little_memory(make, path):
    make(path)
    began = time.process_time()
    with at_most(200 * 2**20), pytest.raises(ModelFileError, match=r"clinic\.simpdm"):
        simpdm_frames.load(path)
    assert time.process_time() - began < 1


def test_the_bound_on_memory_binds(path):
    with at_most(200 * 2**20), pytest.raises(MemoryError):
        np.ones(2**28)
    with at_most(200 * 2**20):
        simpdm_frames.load(path)


SAVE_FOR_EVER = """
import sys, simpdm_frames
model = simpdm_frames.load(sys.argv[1])
print("ready", flush=True)
while True:
    model.save(sys.argv[1])
"""


def test_a_save_that_is_killed_leaves_the_old_file(path):
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    for _ in range(20):
        child = subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0, 0.05))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert path.read_bytes() == whole
    assert simpdm_frames.load(path).impute(HOLES).equals(MODEL.impute(HOLES))
    strange = [other for other in Path(path).parent.iterdir() if other != path]
    assert all(other.name.startswith(".clinic.simpdm.") for other in strange)


def test_a_save_that_fails_leaves_nothing(path, monkeypatch):
    whole = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _file: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        MODEL.save(path)
    assert path.read_bytes() == whole
    assert list(path.parent.iterdir()) == [path]
