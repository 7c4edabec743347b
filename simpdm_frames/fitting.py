"""Fitting: from a frame to a model, and straight on to the completed frame.

read → encode → train.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from simpdm_frames import frames
from simpdm_frames.codecs import Choices, TableCodec, hint, mark_all, refuse_impossible
from simpdm_frames.column import Column
from simpdm_frames.device import settle_device
from simpdm_frames.errors import FewRowsWarning, FewStepsWarning, Place, describe
from simpdm_frames.imputer import Imputer, indicator_names, write
from simpdm_frames.notices import Notices
from simpdm_frames.options import FitOptions, named
from simpdm_frames.progress import HINTS, Listener, Narrator, watching

__all__ = ["Learnt", "fit", "fit_impute"]

FrameT = TypeVar("FrameT")
_FEW_ROWS = 10
_FEW_STEPS = 100
_AIM = 0.97  # of a budget of time: a machine with other work too is late more often than early
_FOR_NETWORKS = 0.85  # of the same; what is left is for finding out which rows are alike


@named
def fit(frame: Any, **options: Any) -> Imputer:
    """Fit a model to the observed cells of a frame.

    It holds no row of the frame, unless ``neighbours`` is given.

    Parameters
    ----------
    frame
        A frame of pandas or polars, a lazy frame of polars, or a table of pyarrow.
    random_state : int, optional
        Makes the fit and its fills repeatable.
    gpu : {"auto", True, False, "require"}
        ``"auto"`` takes a GPU if there is one. True warns if there is none, ``"require"`` raises. False
        stays on the CPU.
    device : str, optional
        A device by torch's name, such as ``"cuda:1"``, instead of ``gpu``.
    preset : {"default", "fast", "best", "paper"}
        The settings to start from: more accuracy for more time, or the method as it was published.
    neighbours : int or "auto", optional
        Let the model remember so many rows of the frame, and compare rows with them when it fills holes, which is often
        more accurate; ``"auto"`` for as many as are worth it. Such a model cannot be saved. By default ``fit``
        remembers none, and ``fit_impute`` as many as are worth it.
    steps, batch_size, … : optional
        Settings by name that replace those of the preset: every field of ``Settings``.
    time_budget : float, optional
        Seconds that the call may take; with ``fit_impute`` the filling is among them. Unless ``steps`` is
        given too, the training goes on until then, or until it no longer gets better; where rows are few and are
        remembered, up to five fits are made in that time and averaged.
    progress : {"auto", True, False} or callable
        A bar on a terminal or in a notebook; or a function that is told about the progress and may end
        the training by returning True.
    verbose : int
        Above 0: what is fitted and how long that will take, on the error stream. It is always logged, by
        the logger ``simpdm_frames``.
    max_rows : int, default 200 000
        A frame with more rows is sampled, each row as likely as any other.
    categorical : name or names
        Columns whose values are labels without an order, whatever their dtype.
    ordinal : name, names or mapping
        Columns whose values are ordered steps; a mapping gives the order, ``{"size": ["S", "M", "L"]}``.
    ignore : name or names
        Columns that are neither filled nor looked at.
    columns : name or names, optional
        The only columns to be filled; the others are looked at. A column that is named here is filled
        even if it looks like an identity or like text.
    bounds : mapping
        Lowest and highest fill by column, ``{"age": (0, 120)}``; None for no bound but the dtype's. By
        default fills stay in the observed range.
    codecs : mapping
        A codec of your own by column, ``{"income": LogCodec}``: a class derived from ``ContinuousCodec``. Such
        a model cannot be saved.
    missing_values : value, values or mapping
        Values that stand for a hole, in all columns or by column, ``{"city": "n/a"}``.
    add_indicator : bool, name or names
        Add a column of truth values, ``"<name>_missing"``, for each filled column that had holes at the
        fit, or for those that are named.
    on_empty, on_unsupported, unseen : {"warn", "raise", "ignore"}
        What to do about a column without an observed cell; about a column with holes whose dtype or
        labels cannot be modelled; about labels that were not there at the fit.
    inf : {"raise", "missing"}
        Refuse infinite values, or fill them.
    nan_is_missing : bool
        False keeps NaN where the library tells it from null, as polars does.
    estimate : {"mean", "mode", "draw"}
        What a hole is filled with: the expectation of a number, which has the lowest squared error; the
        most probable of a number's few values, or label; or a draw from all that it could be, which keeps the
        spread of a column. With ``"mean"`` a label is chosen by its probability over the fourth root of how often it
        occurs, so that rare ones are found too.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, None, 4.0] * 5, "y": ["a", "b", "a", None] * 5})
    >>> fit(frame, random_state=0, steps=20)
    <Imputer of 2 columns, 20 steps on cpu>
    """
    wish = FitOptions.parse(options).forgetful()
    place = Place.here()
    return Learnt.of(frames.gather(frame, wish.max_rows, wish.seed), wish).train(wish, place, n_fills=0)


@named
def fit_impute(frame: FrameT, **options: Any) -> FrameT:
    """Fit a model to a frame and fill the frame's own holes; the options are those of ``fit``.

    Here rows are compared with each other too, which a model that is kept does only with ``neighbours``, because
    it has to hold them. So fills are often more accurate than those of ``fit`` and ``impute``.

    A lazy frame stays lazy: it becomes one node, which trains once when it is collected.
    """
    wish = FitOptions.parse(options)
    place = Place.here()
    added = _promised(frame, wish) if frames.is_lazy(frame) else []
    filled: FrameT = frames.at_once(frame, lambda whole: _fit_impute(whole, wish, place), added)
    return filled


@dataclass(frozen=True)
class Learnt:
    """What is known of a frame before any training."""

    columns: Sequence[Column]
    codec: TableCodec
    choices: Choices
    began: float
    """When the work on the frame began: a budget of time counts from here."""

    @classmethod
    def of(cls, frame: Any, wish: FitOptions) -> Learnt:
        """Read a frame, mark its holes, and learn scales and levels."""
        began = time.perf_counter()
        columns = frames.read(frame)
        choices = wish.choices.resolve([column.name for column in columns])
        if isinstance(wish.choices.missing_values, Mapping):
            refuse_impossible(columns, choices)
        columns = mark_all(columns, choices)
        return cls(columns, TableCodec.learn(columns, choices), choices, began)

    def sample(self, wish: FitOptions) -> list[Column]:
        """Take the columns that a model looks at, and of many rows at most as many as are wished for."""
        columns = [column for column in self.columns if column.name in self.codec.codecs]
        n_rows = len(columns[0])
        if n_rows <= wish.max_rows:
            return columns
        drawn = np.random.default_rng(wish.seed).permutation(n_rows)
        rows = set(drawn[: wish.max_rows].tolist())
        # A column with few observed cells keeps one, or nothing could be learnt about it.
        rows |= {int(drawn[column.known[drawn].argmax()]) for column in columns}
        return [column.rows(sorted(rows)) for column in columns]

    def train(self, wish: FitOptions, place: Place, *, n_fills: int) -> Imputer:
        """Train a model, if there is something to learn from, and leave time to fill so many rows."""
        codec, n_rows = self.codec, len(self.columns[0]) if self.columns else 0
        if n_rows < 2 and self.columns:
            raise ValueError(f"a fit needs at least 2 rows, got {n_rows}")
        Notices(place).refuse_holes(codec, self.columns, self.choices)
        if not codec.layout.n_columns:
            reasons = "; ".join(f"{name!r}: {treatment.why}" for name, treatment in codec.plan.items())
            raise ValueError(
                f"there is no column that a model could be fit to ({reasons or 'the frame has none'})"
            )
        if n_rows < _FEW_ROWS:
            place.warn(f"a model of {n_rows} rows has little to learn from: expect guesses", FewRowsWarning)
        device = settle_device(wish.gpu, wish.device, place)
        from simpdm_frames.engine import Deadline, Engine, TimeBudget, foreseen  # noqa: PLC0415  # torch is slow to import

        sample = self.sample(wish)
        table = codec.encode(sample)
        settings = wish.settings(len(table), table.layout.n_columns, n_fills)
        limit, deadline = None, None
        if wish.time_budget is not None:
            # A step shows its rows in two channels and goes back over them: six times the work of a fill.
            reserve = n_fills / (6 * min(settings.batch_size, len(table)))
            deadline = Deadline(self.began + _AIM * wish.time_budget, n_fills)
            left = deadline.at - time.perf_counter()
            if settings.neighbours:
                beside = (
                    foreseen(len(table), table.layout.n_columns, settings.processes)
                    if settings.processes
                    else 0.0
                )
                left = _FOR_NETWORKS * max(left - beside, left / 2)
            limit = TimeBudget(left, reserve)
        narrator = Narrator(
            f"{len(table):,} rows, {table.layout.n_columns} columns, {settings.members} networks on {device}",
            aloud=wish.verbose > 0,
            limit=wish.time_budget,
        )
        for column in sample:
            if note := hint(column):
                narrator.say(f"{describe([(column.name, column.dtype)])}: {note}", HINTS)
        with closing(narrator), watching(wish.progress) as listeners:
            heard: list[Listener] = [*listeners, narrator]
            if limit is not None:
                heard = [limit, *(_foreseeing(limit, listener) for listener in heard)]
            engine = Engine.fit(
                table, settings, seed=wish.seed, device=device, callbacks=heard, deadline=deadline
            )
        steps = len(engine.loss_curve)
        if limit is not None and steps < min(_FEW_STEPS, settings.steps) and limit(narrator.last):
            place.warn(
                f"time_budget={wish.time_budget:g} ended the training after {steps} steps, which is little: "
                "expect guesses, or allow more time",
                FewStepsWarning,
            )
        return Imputer(codec, self.choices, engine)


def _foreseeing(limit: Any, listener: Listener) -> Listener:
    """Tell a listener how many steps the time allows, where the clock ends the training."""
    return lambda progress: listener(limit.foresee(progress))


def _fit_impute(frame: Any, wish: FitOptions, place: Place) -> Any:
    learnt = Learnt.of(frame, wish)
    columns, codec, choices = learnt.columns, learnt.codec, learnt.choices
    if any(column.missing.any() and not codec.why_left(column) for column in columns):
        rows = np.logical_or.reduce([column.missing for column in columns])
        model = learnt.train(wish, place, n_fills=int(np.count_nonzero(rows)))
        return model.fill(frame, columns, choices, model.added(choices, columns), Notices(place))
    notices = Notices(place)
    notices.refuse_holes(codec, columns, choices)
    notices.of_holes(codec, columns, choices)
    named = () if isinstance(choices.add_indicator, bool) else choices.add_indicator
    return write(frame, columns, {}, indicator_names(named, [column.name for column in columns]))


def _promised(frame: Any, wish: FitOptions) -> list[str]:
    """Name the columns that a query will have in addition; its schema has to be known beforehand."""
    names = [column.name for column in frames.read(frames.head(frame))]
    indicated = wish.choices.resolve(names).add_indicator
    if indicated is True:
        raise ValueError(
            "the schema of a lazy frame has to be known before its holes are; "
            "name the columns, as in add_indicator=['age']"
        )
    return [str(name) for name in indicator_names(indicated or (), names).values()]
