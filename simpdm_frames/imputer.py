"""A fitted model: the place where frames, codecs and engine meet to fill holes.

read → encode → complete → decode → fill.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simpdm_frames import frames
from simpdm_frames.codecs import Choices, TableCodec, Treatment, mark_all
from simpdm_frames.column import Column, Filling
from simpdm_frames.device import settle_device
from simpdm_frames.errors import ColumnsDifferError, Place
from simpdm_frames.notices import Notices
from simpdm_frames.options import CHUNK, ImputeOptions
from simpdm_frames.summary import Summary

if TYPE_CHECKING:  # torch is imported when a fit begins, not when the package is
    from simpdm_frames.engine import Engine

__all__ = ["Imputer", "impute", "indicator_names", "load", "write"]

FrameT = TypeVar("FrameT")


class Imputer:
    """A model fitted to a frame, which fills the holes of that frame and of others like it.

    Made by ``fit``. Nothing of the training rows is kept but scales, levels, their counts and weights, unless ``neighbours`` were
    asked for. It is never changed after the fit, so threads may share it.
    """

    def __init__(self, codec: TableCodec, choices: Choices, engine: Engine) -> None:
        self._codec = codec
        self._choices = choices
        self._engine = engine

    @property
    def loss_curve_(self) -> tuple[float, ...]:
        """The loss of each training step."""
        return self._engine.loss_curve

    @property
    def device_(self) -> str:
        """The device that the model runs on."""
        return self._engine.device

    @property
    def schema_(self) -> Mapping[Hashable, Treatment]:
        """What each column of the fit was treated as, and why, by name."""
        return MappingProxyType(dict(self._codec.plan))

    def impute(self, frame: FrameT, **options: Any) -> FrameT:
        """Fill the holes of a frame that has the columns of the fit; everything else stays as it is.

        See ``simpdm_frames.impute`` for the options.
        """
        wish = ImputeOptions.parse(options)
        empty = frames.head(frame)
        columns = frames.read(empty)
        if not columns:
            return frame
        choices = wish.over(self._choices, self._codec, [column.name for column in columns])
        passed = [column.name for column in columns if column.name not in self._codec.codecs]
        notices = Notices(Place.here())
        # What is wrong with the columns of a query shows before anything is collected.
        self._codec.check(columns, by_dtype=frames.is_lazy(frame))
        notices.of_extra_columns(self._codec, columns)
        added = self.added(choices, columns)

        def fill(batch: Any) -> Any:
            cells = mark_all(columns if batch is empty else frames.read(batch), choices, passed)
            return self.fill(
                batch, cells, choices, added, notices, batch_size=wish.batch_size, seed=wish.seed
            )

        filled: FrameT = frames.by_batches(frame, fill, map(str, added.values()), wish.batch_size)
        return filled

    def added(self, choices: Choices, columns: Sequence[Column]) -> dict[Hashable, Hashable]:
        """Name the indicators to be added, by the column whose holes they tell."""
        chosen: Collection[Hashable] = ()
        if choices.add_indicator is True:
            chosen = [
                name for name, treatment in self._codec.plan.items() if treatment.fill and treatment.holes
            ]
        elif choices.add_indicator:
            chosen = choices.add_indicator
        return indicator_names(chosen, [column.name for column in columns])

    def fill(
        self,
        frame: FrameT,
        columns: Sequence[Column],
        choices: Choices,
        added: Mapping[Hashable, Hashable],
        notices: Notices,
        *,
        batch_size: int = CHUNK,
        seed: int | None = None,
    ) -> FrameT:
        """Fill a frame whose columns are read and marked already."""
        codec = self._codec
        codec.check(columns)
        notices.of_strange_labels(codec, columns, choices)
        notices.of_narrow_columns(codec, columns)
        notices.refuse_holes(codec, columns, choices)
        notices.of_holes(codec, columns, choices)
        wanted = [
            position
            for position, column in enumerate(columns)
            if column.missing.any()
            and not codec.why_left(column)
            and (choices.columns is None or column.name in choices.columns)
        ]
        fillings = self._complete(columns, wanted, batch_size, choices.estimate, seed)
        return write(frame, columns, fillings, added)

    def _complete(
        self,
        columns: Sequence[Column],
        wanted: Sequence[int],
        batch_size: int,
        estimate: str,
        seed: int | None,
    ) -> dict[int, Filling]:
        """Estimate the holes of some columns, so many rows at a time: memory is bounded by the batch."""
        if not wanted:
            return {}
        rows = np.flatnonzero(np.logical_or.reduce([columns[position].missing for position in wanted]))
        modelled = [column for column in columns if column.name in self._codec.codecs]
        parts: dict[Hashable, list[Filling]] = {columns[position].name: [] for position in wanted}
        for begin in range(0, len(rows), batch_size):
            batch = rows[begin : begin + batch_size]
            part = [column.rows(batch) for column in modelled]
            completed = self._engine.impute(self._codec.encode(part), seed=seed, draw=estimate == "draw")
            if estimate == "mode":
                completed = completed.most_probable()
            for name, filling in self._codec.decode(
                [column for column in part if column.name in parts], completed
            ).items():
                parts[name].append(filling.at(batch))
        return {position: Filling.join(parts[columns[position].name]) for position in wanted}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which ``simpdm_frames.load`` reads on any machine.

        A file that is there already is replaced when the new one is whole. Nothing of the training rows is in
        it but scales, levels, their counts and weights; a model that holds rows, because ``neighbours`` was given, is refused.
        """
        from simpdm_frames import modelfile  # noqa: PLC0415  # only those who store models need it

        modelfile.write(path, self._codec, self._choices, self._engine)

    def summary(self) -> Summary:
        """Say what the model was fitted to, how that went and what it does with each column."""
        engine, settings = self._engine, self._engine.settings
        modelled, n_weights = len(self._codec.codecs), sum(w.numel() for w in engine.denoiser.parameters())
        steps, losses = len(engine.loss_curve), engine.loss_curve[-100:]
        several = f" in each of {settings.fits} fits" if settings.fits > 1 else ""
        facts = {
            "columns": f"{len(self._codec.plan)}, {modelled} of them modelled",
            "networks": (
                f"{settings.members}, each of {settings.layers} layers {settings.width} wide; "
                f"{n_weights:,} weights{several}"
            ),
            "training": f"{steps:,} steps{' of the first fit' if several else ''}, loss {sum(losses) / max(len(losses), 1):.4f} in the end",
        }
        if engine.judged:
            step, error = min(engine.judged, key=lambda look: look[1])
            facts["held-out cells"] = f"lowest error {error:.4f}, after {step:,} steps"
        if engine.advisers.neighbours is not None:
            facts["neighbours"] = f"{len(engine.advisers.neighbours):,} rows are remembered"
        facts |= {"estimate": self._choices.estimate, "device": self.device_}
        return Summary(self.schema_, facts, engine.loss_curve, engine.judged)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def __repr__(self) -> str:
        n_columns, steps = self._codec.layout.n_columns, len(self.loss_curve_)
        return f"<Imputer of {n_columns} columns, {steps} steps on {self.device_}>"


def load(path: str | os.PathLike[str], *, gpu: bool | str = "auto", device: str | None = None) -> Imputer:
    """Read a model that ``Imputer.save`` wrote, on whatever machine and library it was fitted.

    Parameters
    ----------
    path
        Of the file. Nothing in it is executed.
    gpu, device
        Where the model is to run, as for ``fit``.

    Examples
    --------
    >>> import pandas as pd, simpdm_frames, tempfile
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, None, 4.0] * 5, "y": ["a", "b", "a", None] * 5})
    >>> model = frame.simpdm.fit(random_state=0, steps=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/clinic.simpdm")
    ...     again = simpdm_frames.load(f"{folder}/clinic.simpdm")
    >>> frame.simpdm.impute(again).equals(frame.simpdm.impute(model))
    True
    """
    from simpdm_frames import modelfile  # noqa: PLC0415  # only those who store models need it

    return Imputer(*modelfile.read(path, settle_device(gpu, device, Place.here())))


def impute(frame: FrameT, model: Imputer, **options: Any) -> FrameT:
    """Fill the holes of a frame with a fitted model; everything else stays as it is.

    A lazy frame stays lazy: it is filled in batches when it is collected or sunk.

    Parameters
    ----------
    frame
        A frame with the columns of the fit, of any library.
    model
        Made by ``fit``.
    columns, missing_values, add_indicator, on_empty, on_unsupported, unseen, inf, nan_is_missing, estimate
        As for ``fit``; by default as they were there.
    random_state : int, optional
        Chooses the draws of ``estimate="draw"``; by default that of the fit.
    batch_size : int
        Rows that are completed at a time. It changes memory and time, never the result.
    """
    if isinstance(model, (str, os.PathLike)):
        raise TypeError(
            f"impute needs a model, got the name {model!r}; load it: simpdm_frames.load({str(model)!r})"
        )
    if not isinstance(model, Imputer):
        raise TypeError(f"impute needs a model that was made by fit, got {type(model).__qualname__}")
    return model.impute(frame, **options)


def indicator_names(columns: Collection[Hashable], taken: Collection[Hashable]) -> dict[Hashable, Hashable]:
    """Name the indicator of each column; in a MultiIndex the last level gets the suffix."""
    names: dict[Hashable, Hashable] = {
        name: (*name[:-1], f"{name[-1]}_missing") if isinstance(name, tuple) else f"{name}_missing"
        for name in columns
    }
    lost = [name for name in columns if name not in taken]
    if lost:
        raise ColumnsDifferError(f"add_indicator names {lost!r}, which the frame does not have; add them")
    counts = Counter([*taken, *names.values()])
    clash = [name for name in names.values() if counts[name] > 1]
    if clash:
        raise ValueError(f"add_indicator would add {clash!r}, which the frame has already; rename them")
    return names


def write(
    frame: FrameT,
    columns: Sequence[Column],
    fillings: Mapping[int, Filling],
    added: Mapping[Hashable, Hashable],
) -> FrameT:
    """Fill a frame, and add the indicators that were asked for."""
    holes = {column.name: column.missing for column in columns}
    indicators = {new: holes[name] for name, new in added.items()}
    filled: FrameT = frames.backend_of(frame).write(frame, fillings, indicators)
    return filled
