"""The imputer: the only place where frames, codecs and engine meet.

read → encode → train → complete → decode → fill.
"""

from __future__ import annotations

import operator
import secrets
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from simpdm_frames import frames
from simpdm_frames.codecs import TableCodec
from simpdm_frames.column import Column
from simpdm_frames.errors import (
    GpuUnavailableError,
    GpuUnavailableWarning,
    UnfilledColumnsWarning,
    describe,
    warn,
)
from simpdm_frames.frames import register
from simpdm_frames.settings import choose_device
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
        _warn_of_holes(self._codec, columns)
        return filled

    def __repr__(self) -> str:
        layout, steps = self._codec.layout, len(self.loss_curve_)
        return (
            f"<Imputer of {layout.n_numbers} numbers and {layout.n_categories} categories, "
            f"{steps} steps on {self.device_}>"
        )


def fit(
    frame: Any,
    *,
    random_state: int | None = None,
    gpu: bool | str = "auto",
    device: str | None = None,
    preset: str = "default",
    **options: Any,
) -> Imputer:
    """Fit a model to the observed cells of a frame.

    Parameters
    ----------
    random_state
        Makes the fit and its fills repeatable.
    gpu
        ``"auto"`` takes a GPU if there is one. True warns if there is none, ``"require"`` raises. False
        stays on the CPU.
    device
        A device by torch's name, such as ``"cuda:1"``, instead of ``gpu``.
    preset
        Name of the settings to start from: ``"default"``, ``"fast"`` or ``"paper"``.
    **options
        Settings by name that replace those of the preset, such as ``steps=500``.
    """
    training = _Training(random_state, gpu, device, preset, options)
    columns = _read(frames.backend_of(frame), frame)
    return training.run(columns, TableCodec.learn(columns))


def impute(frame: FrameT, model: Imputer) -> FrameT:
    """Fill the holes of a frame with a fitted model."""
    return model.impute(frame)


def fit_impute(
    frame: FrameT,
    *,
    random_state: int | None = None,
    gpu: bool | str = "auto",
    device: str | None = None,
    preset: str = "default",
    **options: Any,
) -> FrameT:
    """Fit a model to a frame and fill the frame's own holes; parameters are those of ``fit``."""
    training = _Training(random_state, gpu, device, preset, options)
    backend = frames.backend_of(frame)
    columns = _read(backend, frame)
    codec = TableCodec.learn(columns)
    if any(column.missing.any() and codec.knows(column.name) for column in columns):
        model = training.run(columns, codec)
        return model._fill(backend, frame, columns)  # noqa: SLF001  # the columns are read already
    _warn_of_holes(codec, columns)
    whole: FrameT = backend.write(frame, {})
    return whole


class _Training:
    """The options of a fit: checked at once, used when it comes to training."""

    def __init__(
        self,
        random_state: int | None,
        gpu: bool | str,
        device: str | None,
        preset: str,
        options: dict[str, Any],
    ) -> None:
        self._settings = find_preset(preset).override(**options)
        self._seed = _seed(random_state)
        self._gpu, self._device = gpu, device

    def run(self, columns: Sequence[Column], codec: TableCodec) -> Imputer:
        if not codec.layout.n_columns:
            reasons = "; ".join(f"{name!r}: {why}" for name, why in codec.left.items())
            raise ValueError(
                f"there is no column that a model could be fit to ({reasons or 'the frame has none'})"
            )
        from simpdm_frames.engine import Engine  # noqa: PLC0415  # torch is slow to import

        device, complaint = choose_device(self._gpu, self._device)
        if complaint and self._gpu is True:
            warn(f"{complaint}; the model runs on the CPU", GpuUnavailableWarning)
        elif complaint:
            raise GpuUnavailableError(complaint)
        return Imputer(
            codec, Engine.fit(codec.encode(columns), self._settings, seed=self._seed, device=device)
        )


def _read(backend: frames.Backend, frame: Any) -> list[Column]:
    names = backend.columns(frame)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"columns are matched by name, but these stand more than once: {twice!r}; rename them"
        )
    return [backend.read(frame, position) for position in range(len(names))]


def _seed(random_state: int | None) -> int:
    if random_state is None:
        return secrets.randbits(63)
    try:
        seed = operator.index(random_state)  # numpy's integers are welcome
    except TypeError:
        seed = -1
    if not 0 <= seed < 2**63:
        raise ValueError(f"random_state must be None or from 0 to 2^63 - 1, got {random_state!r}")
    return seed


def _warn_of_holes(codec: TableCodec, columns: Sequence[Column]) -> None:
    unfilled = [
        f"{describe([(column.name, column.dtype)])}: {codec.why_left(column.name)}"
        for column in columns
        if column.missing.any() and not codec.knows(column.name)
    ]
    if unfilled:
        warn(f"holes are left in {'; '.join(unfilled)}", UnfilledColumnsWarning)
