"""HyperImpute in a Python of its own: ``python hyperimpute_alone.py TABLE.npy FILLED.npy SEED``.

HyperImpute 0.1.17 needs numpy < 2, pandas < 2 and scikit-learn 1.2.2; with newer ones it falls back to
fills near the mean without a word. So nothing else of this folder is imported here.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd


def main(table: str, filled: str, seed: str) -> None:
    """Fill a table by HyperImpute's own choice of models."""
    from hyperimpute.plugins.imputers import Imputers  # noqa: PLC0415

    imputer = Imputers().get("hyperimpute", random_state=int(seed))
    np.save(filled, np.asarray(imputer.fit_transform(pd.DataFrame(np.load(table))), dtype=np.float64))


if __name__ == "__main__":
    main(*sys.argv[1:])
