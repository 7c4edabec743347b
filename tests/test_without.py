"""Each library alone: what is not installed is not needed."""

import subprocess
import sys

import pytest

HIDE = """
import sys
from importlib.machinery import PathFinder
class Without:
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {hidden!r} else PathFinder.find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Without()
"""
COLUMNS = "{'x': [1.5, 2.5, None, 4.0] * 5, 'w': ['a', None, 'b', 'a'] * 5, 'k': [3, 14, 15, None] * 5}"
QUICK = "random_state=0, steps=5, width=8"
PANDAS = f"""
import pandas as pd, simpdm_frames
frame = pd.DataFrame({COLUMNS})
done = frame.simpdm.fit_impute({QUICK})
assert not done.isna().any(axis=None) and list(done.dtypes) == list(frame.dtypes)
model = frame.simpdm.fit({QUICK}, neighbours='auto')
assert frame.simpdm.impute(model).equals(done)
assert len(frame.simpdm.plan()) == len(frame.simpdm.missing()) == 3
"""
POLARS = f"""
import polars as pl, simpdm_frames
frame = pl.DataFrame({COLUMNS})
done = frame.simpdm.fit_impute({QUICK})
assert done.null_count().sum_horizontal().item() == 0 and done.schema == frame.schema
model = frame.lazy().simpdm.fit({QUICK}, neighbours='auto')
assert frame.lazy().simpdm.impute(model).collect().equals(done)
assert len(frame.simpdm.plan()) == len(frame.lazy().simpdm.missing()) == 3
"""
ARROW = f"""
import pyarrow as pa, simpdm_frames
frame = pa.table({COLUMNS})
done = simpdm_frames.fit_impute(frame, {QUICK})
assert done.schema == frame.schema and sum(column.null_count for column in done.columns) == 0
model = simpdm_frames.fit(frame, {QUICK}, neighbours='auto')
assert simpdm_frames.impute(frame, model).equals(done)
assert len(simpdm_frames.plan(frame)) == len(simpdm_frames.missing(frame)) == 3
"""


def run(code):
    """Run code in an interpreter of its own, warnings being errors, and give what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("hidden", "code"),
    [
        (("polars", "pyarrow"), PANDAS),
        (("polars",), PANDAS),
        (("pyarrow",), PANDAS),
        (("pandas", "pyarrow"), POLARS),
        (("pandas",), POLARS),
        (("pyarrow",), POLARS),
        (("pandas", "polars"), ARROW),
        (("tqdm", "polars"), PANDAS),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else "",
)
def test_a_library_works_without_the_others(hidden, code):
    loaded = run(HIDE.format(hidden=set(hidden)) + code + f"print(sorted({set(hidden)} & set(sys.modules)))")
    assert loaded == "[]"


def test_without_any_library_the_package_can_still_be_imported():
    hide = HIDE.format(hidden={"pandas", "polars", "pyarrow"})
    code = (
        "import simpdm_frames\ntry:\n    simpdm_frames.fit([1])\nexcept TypeError as error:\n    print(error)"
    )
    assert run(hide + code) == "expected a frame of pandas or polars or pyarrow, got builtins.list"


@pytest.mark.parametrize(
    ("others", "code"),
    [({"polars"}, PANDAS), ({"pandas"}, POLARS), ({"polars"}, ARROW)],  # pyarrow itself looks for pandas
    ids=["pandas", "polars", "pyarrow"],
)
def test_a_library_does_not_bring_the_others(others, code):
    assert run("import sys" + code + f"print(sorted({others} & set(sys.modules)))") == "[]"


def test_importing_imports_neither_torch_nor_a_library():
    heavy = {"torch", "pandas", "polars", "pyarrow", "tqdm", "matplotlib"}
    assert run(f"import sys, simpdm_frames; print(sorted({heavy} & set(sys.modules)))") == "[]"
    for library, other in (("pandas", "polars"), ("polars", "pandas")):
        code = (
            f"import sys, {library}, simpdm_frames; print('torch' in sys.modules, {other!r} in sys.modules)"
        )
        assert run(code) == "False False"
