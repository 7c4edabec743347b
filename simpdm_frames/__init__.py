"""Fill the missing values of data frames with SimpDM, and give back the same frame, completed.

>>> import pandas as pd, simpdm_frames
>>> frame = pd.DataFrame({"x": [1.5, 2.0, None, 4.0] * 5, "y": ["a", "b", "a", None] * 5})
>>> done = frame.simpdm.fit_impute(random_state=0, steps=20)
>>> done.isna().sum().sum(), list(map(str, done.dtypes)) == list(map(str, frame.dtypes))
(np.int64(0), True)
"""

import logging as _logging

from simpdm_frames.accessor import SimpDMAccessor
from simpdm_frames.fitting import fit, fit_impute
from simpdm_frames.frames import register as _register
from simpdm_frames.imputer import Imputer, impute, load
from simpdm_frames.report import Missing, missing, plan
from simpdm_frames.settings import Settings
from simpdm_frames.summary import Summary

__all__ = [
    "Imputer",
    "Missing",
    "Settings",
    "SimpDMAccessor",
    "Summary",
    "fit",
    "fit_impute",
    "impute",
    "load",
    "missing",
    "plan",
]
__version__ = "0.1.0"

_logging.getLogger(__name__).addHandler(_logging.NullHandler())
_register(SimpDMAccessor)
