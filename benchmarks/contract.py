"""What imputers do to a frame: the same questions to each, answered by trying."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rows import Rows, markdown

__all__ = ["render", "run"]

ROWS = Rows("contract", keys=("method", "question"), values=("answer",))


def frame() -> pd.DataFrame:
    """Make a small frame of mixed types with holes, and an index that is not a range."""
    random = np.random.default_rng(0)
    size = random.integers(0, 3, 120)
    whole = pd.DataFrame(
        {
            "weight": (10 + 5 * size + random.normal(0, 1, 120)).astype("float32"),
            "pieces": pd.array(size * 20 + random.integers(1, 9, 120), dtype="Int16"),
            "colour": pd.array(np.array(["red", "blue", "green"])[size], dtype="string"),
            "size": pd.Categorical.from_codes(size, pd.Index(["S", "M", "L"]), ordered=True),
            "sent": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(size * 30 + random.integers(0, 9, 120), unit="D"),
        },
        index=pd.Index([f"row {k}" for k in range(120)], name="row"),
    )
    return whole.mask(random.random(whole.shape) < 0.15)


def _ours(table: Any) -> Any:
    import simpdm_frames  # noqa: PLC0415

    return simpdm_frames.fit_impute(table, random_state=0, steps=50)


def _sklearn(make: Callable[[], Any]) -> Callable[[Any], Any]:
    def impute(table: Any) -> Any:
        imputer = make()
        return imputer.set_output(
            transform="polars" if "polars" in type(table).__module__ else "pandas"
        ).fit_transform(table)

    return impute


def _simple() -> Any:
    from sklearn.impute import SimpleImputer  # noqa: PLC0415

    return SimpleImputer(strategy="most_frequent")


def _knn() -> Any:
    from sklearn.impute import KNNImputer  # noqa: PLC0415

    return KNNImputer()


def _iterative() -> Any:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401, PLC0415
    from sklearn.impute import IterativeImputer  # noqa: PLC0415

    return IterativeImputer(random_state=0)


def _miceforest(table: Any) -> Any:
    import miceforest as library  # noqa: PLC0415

    kernel = library.ImputationKernel(table, num_datasets=1, random_state=0)
    kernel.mice(2, verbose=False)
    return kernel.complete_data(0)


def _hyperimpute(table: Any) -> Any:
    from hyperimpute.plugins.imputers import Imputers  # noqa: PLC0415

    return Imputers().get("hyperimpute", random_state=0).fit_transform(table)


METHODS: dict[str, Callable[[Any], Any]] = {
    "simpdm_frames": _ours,
    "SimpleImputer": _sklearn(_simple),
    "KNNImputer": _sklearn(_knn),
    "IterativeImputer": _sklearn(_iterative),
    "miceforest": _miceforest,
    "HyperImpute": _hyperimpute,
}


def _completes(impute: Callable[[Any], Any], table: pd.DataFrame) -> bool:
    return not bool(impute(table).isna().any().any())


def _keeps(impute: Callable[[Any], Any], table: pd.DataFrame) -> bool:
    done = impute(table)
    seen = table.notna()
    return (
        isinstance(done, pd.DataFrame)
        and done.index.equals(table.index)
        and list(done.columns) == list(table.columns)
        and not bool(done.isna().any().any())
        and bool((done.dtypes == table.dtypes).all())
        and all(done[name][seen[name]].equals(table[name][seen[name]]) for name in table)
    )


def _polars(impute: Callable[[Any], Any], table: pd.DataFrame) -> bool:
    import polars as pl  # noqa: PLC0415

    holes = pl.from_pandas(table[["weight", "pieces"]].astype("Float64").astype("float64"))
    done = impute(holes)
    return isinstance(done, pl.DataFrame) and done.null_count().sum_horizontal().item() == 0


def _polars_strings(impute: Callable[[Any], Any], table: pd.DataFrame) -> bool:
    import polars as pl  # noqa: PLC0415

    done = impute(pl.from_pandas(table[["colour"]].assign(other=table["colour"])))
    return isinstance(done, pl.DataFrame) and done.null_count().sum_horizontal().item() == 0


QUESTIONS: dict[str, Callable[[Callable[[Any], Any], pd.DataFrame], bool]] = {
    "fills floats": lambda impute, table: _completes(
        impute, table[["weight"]].assign(two=table["weight"] * 2)
    ),
    "keeps float32": lambda impute, table: _keeps(impute, table[["weight"]].assign(two=table["weight"] * 2)),
    "keeps nullable integers": lambda impute, table: _keeps(
        impute, table[["weight", "pieces"]].astype({"weight": "float64"})
    ),
    "fills strings, kept as strings": lambda impute, table: _keeps(
        impute, table[["pieces", "colour"]].astype({"pieces": "Float64"}).astype({"pieces": "float64"})
    ),
    "fills ordered categories, kept": lambda impute, table: _keeps(
        impute, table[["pieces", "size"]].astype({"pieces": "Float64"}).astype({"pieces": "float64"})
    ),
    "fills dates, kept": lambda impute, table: _keeps(
        impute, table[["pieces", "sent"]].astype({"pieces": "Float64"}).astype({"pieces": "float64"})
    ),
    "takes and gives polars": _polars,
    "fills polars strings": _polars_strings,
}


def run(methods: Sequence[str]) -> None:
    """Ask what was not asked yet; an error is a no."""
    for method in methods:
        for question, ask in QUESTIONS.items():
            keys = {"method": method, "question": question}
            if ROWS.has(**keys):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the answer counts
                try:
                    answer = "yes" if ask(METHODS[method], frame()) else "no"
                except ImportError:
                    raise
                except Exception as error:  # noqa: BLE001  # whatever it is, it is no answer
                    answer = f"no: {type(error).__name__}"
            ROWS.append(**keys, answer=answer)
            print(keys, answer, flush=True)


def render() -> str:
    """Set the answers side by side."""
    rows = {(row["method"], row["question"]): row["answer"] for row in ROWS.read()}
    methods = list(dict.fromkeys(method for method, _ in rows))
    marks = {"yes": "yes", "no": "no"}
    lines = [
        [
            question,
            *(
                marks.get(rows.get((method, question), ""), "error" if (method, question) in rows else "")
                for method in methods
            ),
        ]
        for question in QUESTIONS
    ]
    return markdown(["", *methods], lines)
