"""The same table in every library, so that one test runs on all of them."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import simpdm_frames
from simpdm_frames.encoded import Completed

QUICK = {"random_state": 0, "steps": 8, "width": 8}


@dataclass(frozen=True)
class Library:
    """A way to make frames from columns of plain Python values, None being a hole."""

    name: str

    def make(self, data):
        """Make a frame."""
        if self.name == "pandas-numpy":
            return pd.DataFrame(data)
        if self.name == "pandas-nullable":
            return pd.DataFrame(data).convert_dtypes()
        if self.name == "pandas-pyarrow":
            return pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow")
        if self.name == "pyarrow":
            return pa.table(data)
        return pl.LazyFrame(data) if self.is_lazy else pl.DataFrame(data)

    @property
    def is_lazy(self):
        return self.name == "polars-lazy"

    @property
    def is_pandas(self):
        return self.name.startswith("pandas")

    def head(self, frame, n):
        """Take the first rows."""
        return frame.slice(0, n) if isinstance(frame, pa.Table) else frame.head(n)

    def cells(self, frame):
        """Give the columns of a frame as plain values again, NaN being a hole too."""
        if isinstance(frame, pl.LazyFrame):
            frame = frame.collect()
        if isinstance(frame, pd.DataFrame):
            columns = {name: frame[name].tolist() for name in frame.columns}
        elif isinstance(frame, pl.DataFrame):
            columns = frame.to_dict(as_series=False)
        else:
            columns = frame.to_pydict()
        return {name: [None if is_hole(cell) else cell for cell in cells] for name, cells in columns.items()}

    def dtypes(self, frame):
        """Give the dtypes of a frame; a query's without collecting it."""
        if isinstance(frame, pl.LazyFrame):
            return dict(frame.collect_schema())
        if isinstance(frame, pa.Table):
            return {field.name: field.type for field in frame.schema}
        return dict(zip(frame.columns, frame.dtypes, strict=True))


def is_hole(cell):
    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and np.isnan(cell))


LIBRARIES = [
    Library(name)
    for name in ("pandas-numpy", "pandas-nullable", "pandas-pyarrow", "polars", "polars-lazy", "pyarrow")
]


def table(n=40, seed=0, holes=0.2):
    """Columns of several kinds that depend on each other, with holes."""
    random = np.random.default_rng(seed)
    age = random.integers(20, 90, n)
    data = {
        "age": age.tolist(),
        "weight": (60 + age / 3 + random.normal(0, 3, n)).tolist(),
        "ward": np.where(age > 55, "heart", "general").tolist(),
        "smoker": (random.random(n) < 0.4).tolist(),
        "admitted": [dt.datetime(2024, 1, 1) + dt.timedelta(days=int(k), hours=5) for k in age],
    }
    return {
        name: [None if random.random() < holes else cell for cell in cells] for name, cells in data.items()
    }


def fitted(library, **options):
    """A model of the table, in a library."""
    return simpdm_frames.fit(library.make(table()), **{**QUICK, **options})


DATA = table()
MODEL = fitted(LIBRARIES[0])


def head(n, **columns):
    """The first rows of the table, with other columns beside or instead."""
    return {**{name: cells[:n] for name, cells in DATA.items()}, **columns}


def filled(library, frame, model=MODEL, **options):
    """The cells of a frame that a model has filled."""
    return library.cells(simpdm_frames.impute(frame, model, **options))


def fit_filled(library, data, **options):
    """The cells of a frame that is filled with a model of its own."""
    return library.cells(simpdm_frames.fit_impute(library.make(data), **{**QUICK, **options}))


Y = np.random.default_rng(0).normal(size=60)


def fill(values, dtype=None, **options):
    """Complete one pandas column beside another."""
    column = pd.Series(values, dtype=dtype)
    frame = pd.DataFrame({"x": column, "y": Y[: len(column)]})
    return frame.simpdm.fit_impute(**{**QUICK, **options})["x"]


def model_of(values, dtype=None, **options):
    """A model of one pandas column beside another."""
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype), "y": Y[: len(values)]})
    return frame.simpdm.fit(**QUICK, **options)


def answers(value):
    """An engine that always says the same."""

    def impute(encoded, **_):
        levels = np.full((len(encoded), encoded.layout.n_levels), value, dtype=np.float32)
        return Completed(encoded.layout, np.full_like(encoded.numbers, value), levels)

    return impute
