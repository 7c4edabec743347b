"""``.simpdm`` on frames: one line per method, over the functions of the same names."""

from __future__ import annotations

from typing import Any

from simpdm_frames import imputer

__all__ = ["SimpDMAccessor"]


class SimpDMAccessor:
    """Fill missing values with SimpDM. It holds the frame and nothing else."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def fit_impute(self, **options: Any) -> Any:
        """Fit a model to this frame and fill its holes; see ``simpdm_frames.fit_impute``."""
        return imputer.fit_impute(self._frame, **options)

    def fit(self, **options: Any) -> imputer.Imputer:
        """Fit a model to this frame; see ``simpdm_frames.fit``."""
        return imputer.fit(self._frame, **options)

    def impute(self, model: imputer.Imputer) -> Any:
        """Fill this frame's holes with a fitted model; see ``simpdm_frames.impute``."""
        return imputer.impute(self._frame, model)
