"""Room 2, the codecs: what a column means.

Columns become numbers and categories for the engine, and estimates become values on a column's grid.
This room knows numpy alone: neither a frame library nor the engine.
"""

from simpdm_frames.codecs.choices import Choices
from simpdm_frames.codecs.continuous import ContinuousCodec
from simpdm_frames.codecs.discrete import standing_out
from simpdm_frames.codecs.holes import hint, mark, mark_all, refuse_impossible
from simpdm_frames.codecs.policy import Role, Treatment
from simpdm_frames.codecs.stored import CODECS, refuse_nonsense
from simpdm_frames.codecs.table import TableCodec

__all__ = [
    "CODECS",
    "Choices",
    "ContinuousCodec",
    "Role",
    "TableCodec",
    "Treatment",
    "hint",
    "mark",
    "mark_all",
    "refuse_impossible",
    "refuse_nonsense",
    "standing_out",
]
