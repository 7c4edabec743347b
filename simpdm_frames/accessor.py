"""``.simpdm`` on frames: one line per method, over the functions of the same names."""

from __future__ import annotations

from typing import Any, Literal

from simpdm_frames import fitting, imputer, report
from simpdm_frames.options import named

__all__ = ["SimpDMAccessor"]


class SimpDMAccessor:
    """Fill missing values with SimpDM. It holds the frame and nothing else."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    @named
    def fit_impute(self, **options: Any) -> Any:
        """Fit a model to this frame and fill its holes; see ``simpdm_frames.fit_impute``."""
        return fitting.fit_impute(self._frame, **options)

    @named
    def fit(self, **options: Any) -> imputer.Imputer:
        """Fit a model to this frame; see ``simpdm_frames.fit``."""
        return fitting.fit(self._frame, **options)

    def impute(self, model: imputer.Imputer, **options: Any) -> Any:
        """Fill this frame's holes with a fitted model; see ``simpdm_frames.impute``."""
        return imputer.impute(self._frame, model, **options)

    @named
    def plan(self, **options: Any) -> Any:
        """Say what each column would be treated as and why; see ``simpdm_frames.plan``."""
        return report.plan(self._frame, **options)

    def missing(self, *, by: Literal["column", "pattern"] = "column") -> report.Missing:
        """Count the holes of this frame, and draw them with ``.plot()``; see ``simpdm_frames.missing``."""
        return report.missing(self._frame, by=by)

    def __repr__(self) -> str:
        kind = f"{type(self._frame).__module__.partition('.')[0]}.{type(self._frame).__qualname__}"
        return f"<.simpdm of a {kind}: fit_impute, fit, impute, plan, missing>"
