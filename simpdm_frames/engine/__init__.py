"""Room 3, the engine: the mathematics of SimpDM on arrays.

It knows torch, ``Encoded`` and ``Settings``. It does not know what a column means or where a table
came from, so it runs by itself: ``Engine.fit(encoded, settings).impute(encoded)``.
"""

from simpdm_frames.engine.engine import Engine
from simpdm_frames.engine.kernel import foreseen
from simpdm_frames.engine.likeness import Deadline
from simpdm_frames.engine.training import (
    Callback,
    EarlyStop,
    NonFiniteLossError,
    Progress,
    TimeBudget,
)

__all__ = [
    "Callback",
    "Deadline",
    "EarlyStop",
    "Engine",
    "NonFiniteLossError",
    "Progress",
    "TimeBudget",
    "foreseen",
]
