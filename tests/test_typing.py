"""Types as a user's checker sees them."""

import subprocess
import sys

import pytest

SCRIPT = """
import pandas as pd
import polars as pl
from simpdm_frames import Imputer, fit, fit_impute, impute

lake = pl.DataFrame({"x": [1.5, None]})
zoo = pd.DataFrame({"x": [1.5, None]})
model = fit(lake)
reveal_type(lake.pipe(fit_impute))
reveal_type(lake.lazy().pipe(fit_impute))
reveal_type(lake.pipe(impute, model))
reveal_type(zoo.pipe(fit_impute))
reveal_type(zoo.pipe(impute, model))
reveal_type(fit_impute(zoo, steps=3))
reveal_type(model.impute(lake.lazy()))
reveal_type(model)
"""
EXPECTED = [
    "polars.dataframe.frame.DataFrame",
    "polars.lazyframe.frame.LazyFrame",
    "polars.dataframe.frame.DataFrame",
    "pandas.core.frame.DataFrame",
    "pandas.core.frame.DataFrame",
    "pandas.core.frame.DataFrame",
    "polars.lazyframe.frame.LazyFrame",
    "simpdm_frames.imputer.Imputer",
]


@pytest.mark.filterwarnings("ignore")
def test_a_pipe_keeps_the_type_of_its_frame(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    revealed = [line.split('"')[1] for line in done.stdout.splitlines() if "Revealed type" in line]
    assert revealed == EXPECTED, done.stdout
    assert "error" not in done.stdout
