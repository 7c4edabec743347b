"""``python -m simpdm_frames`` is ``simpdm``."""

from __future__ import annotations

from simpdm_frames.commands import script

if __name__ == "__main__":
    script()
