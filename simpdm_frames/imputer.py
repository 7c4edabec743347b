"""The imputer: the only place where frames, codecs and engine meet.

read → encode → train → complete → decode → fill.
"""

from __future__ import annotations

import secrets
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from simpdm_frames import frames
from simpdm_frames.codecs import TableCodec
from simpdm_frames.column import Column
from simpdm_frames.errors import UnfilledColumnsWarning, describe
from simpdm_frames.frames import register
from simpdm_frames.settings import preset as find_preset

if TYPE_CHECKING:  # torch is imported when a fit begins, not when the package is
    from simpdm_frames.engine import Engine

__all__ = ["Imputer", "fit", "fit_impute", "impute", "register"]

FrameT = TypeVar("FrameT")


class Imputer:
    """A model fitted to a frame, which fills the holes of that frame and of others like it.

    Made by ``fit``. Nothing of the training rows is kept but scales, levels and weights.
    """

    def __init__(self, codec: TableCodec, engine: Engine) -> None:
        self._codec = codec
        self._engine = engine

    @property
    def loss_curve_(self) -> tuple[float, ...]:
        """The loss of each training step."""
        return self._engine.loss_curve

    @property
    def device_(self) -> str:
        """The device that the model runs on."""
        return self._engine.device

    def impute(self, frame: FrameT) -> FrameT:
        """Fill the holes of a frame that has the columns of the fit; everything else stays as it is."""
        backend = frames.backend_of(frame)
        return self._fill(backend, frame, _read(backend, frame))

    def _fill(self, backend: frames.Backend, frame: FrameT, columns: Sequence[Column]) -> FrameT:
        fillings = self._codec.decode(columns, self._engine.impute(self._codec.encode(columns)))
        filled: FrameT = backend.write(frame, fillings)
        unfilled = [
            f"{describe([(column.name, column.dtype)])}: {self._codec.why_left(column.name)}"
            for position, column in enumerate(columns)
            if column.missing.any() and position not in fillings
        ]
        if unfilled:
            # The caller's line: past this method, the public function and the accessor.
            warnings.warn(f"holes are left in {'; '.join(unfilled)}", UnfilledColumnsWarning, stacklevel=4)
        return filled

    def __repr__(self) -> str:
        layout, steps = self._codec.layout, len(self.loss_curve_)
        return (
            f"<Imputer of {layout.n_numbers} numbers and {layout.n_categories} categories, "
            f"{steps} steps on {self.device_}>"
        )


def fit(frame: Any, *, random_state: int | None = None, preset: str = "default", **options: Any) -> Imputer:
    """Fit a model to the observed cells of a frame.

    Parameters
    ----------
    random_state
        Makes the fit and its fills repeatable.
    preset
        Name of the settings to start from: ``"default"``, ``"fast"`` or ``"paper"``.
    **options
        Settings by name that replace those of the preset, such as ``steps=500``.
    """
    columns = _read(frames.backend_of(frame), frame)
    return _fit(columns, random_state=random_state, preset=preset, **options)


def impute(frame: FrameT, model: Imputer) -> FrameT:
    """Fill the holes of a frame with a fitted model."""
    return model.impute(frame)


def fit_impute(
    frame: FrameT, *, random_state: int | None = None, preset: str = "default", **options: Any
) -> FrameT:
    """Fit a model to a frame and fill the frame's own holes; parameters are those of ``fit``."""
    backend = frames.backend_of(frame)
    columns = _read(backend, frame)
    if not any(column.missing.any() for column in columns):
        whole: FrameT = backend.write(frame, {})
        return whole
    model = _fit(columns, random_state=random_state, preset=preset, **options)
    return model._fill(backend, frame, columns)  # noqa: SLF001  # what is read once is enough


def _read(backend: frames.Backend, frame: Any) -> list[Column]:
    names = backend.columns(frame)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"columns are matched by name, but these stand more than once: {twice!r}")
    return [backend.read(frame, position) for position in range(len(names))]


def _fit(columns: Sequence[Column], *, random_state: int | None, preset: str, **options: Any) -> Imputer:
    from simpdm_frames.engine import Engine  # noqa: PLC0415  # torch is slow to import

    settings = find_preset(preset).override(**options)
    seed = secrets.randbits(63) if random_state is None else random_state
    codec = TableCodec.learn(columns)
    return Imputer(codec, Engine.fit(codec.encode(columns), settings, seed=seed))
