"""Memory that stays: what a step frees, the next one takes again.

The C library gives large blocks back to the system when they are freed. The next step gets new ones, which are
filled with zeros page by page; that took up to a third of the time of imputing. The library of Linux keeps blocks, and
twice as much free memory, up to the largest block that it has ever seen freed, but never more than its limit.
So it is shown a block of just that size. Elsewhere this does nothing, and costs nothing.
"""

from __future__ import annotations

import torch

__all__ = ["keep_memory"]

_LIMIT = 32 * 2**20  # bytes, of the GNU library on machines of 64 bits
_HEAD = 2**14  # more than what is added to a block: its own description, and what fills its last page


def keep_memory() -> None:
    """Ask that freed memory be kept, for the whole process and once for all; none is used for it."""
    torch.empty(_LIMIT - _HEAD, dtype=torch.uint8)
