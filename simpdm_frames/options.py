"""Every option of a call, checked at once and by name, before any work begins."""

from __future__ import annotations

import inspect
import operator
import secrets
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from simpdm_frames.codecs import Choices, TableCodec
from simpdm_frames.codecs.choices import nearest
from simpdm_frames.presets import in_time
from simpdm_frames.presets import preset as find_preset
from simpdm_frames.progress import check_progress
from simpdm_frames.settings import Settings, check_gpu

__all__ = ["CHUNK", "FitOptions", "ImputeOptions", "named"]

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_MAX_ROWS = 200_000
_ENDLESS = 100_000_000  # steps, as many as a setting may have
CHUNK = 16_384
"""Rows that are completed at a time."""
# What other libraries call the same.
_SYNONYMS = {
    "seed": "random_state",
    "random_seed": "random_state",
    "epochs": "steps",
    "n_steps": "steps",
    "max_iter": "steps",
    "lr": "learning_rate",
    "cat_features": "categorical",
    "exclude": "ignore",
    "timeout": "time_budget",
}
_CHOICES = tuple(field.name for field in fields(Choices))
_SETTINGS = tuple(field.name for field in fields(Settings))
_RUN = ("random_state", "gpu", "device", "preset", "time_budget", "progress", "verbose", "max_rows")
_WHEN_IMPUTING = (
    "columns",
    "missing_values",
    "add_indicator",
    "on_empty",
    "on_unsupported",
    "unseen",
    "inf",
    "nan_is_missing",
    "estimate",
)
_HOW_IMPUTING = ("batch_size", "random_state")


@dataclass(frozen=True)
class FitOptions:
    """How a model is to be fit."""

    preset: str
    given: Mapping[str, Any]
    choices: Choices
    seed: int
    gpu: bool | str = "auto"
    device: str | None = None
    time_budget: float | None = None
    progress: Any = "auto"
    verbose: int = 0
    max_rows: int = _MAX_ROWS
    remembering: bool = False

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> FitOptions:
        """Sort options by name: those of the run, those about columns, and the engine's settings."""
        _refuse_unknown(options, (*_RUN, *_CHOICES, *_SETTINGS))
        run = {name: options[name] for name in _RUN if name in options}
        random_state, preset = run.pop("random_state", None), run.pop("preset", "default")
        check_gpu(run.get("gpu", "auto"), run.get("device"))
        check_progress(run.get("progress", "auto"))
        budget = run.get("time_budget")
        if budget is not None and (
            isinstance(budget, bool) or not isinstance(budget, (int, float)) or not budget > 0
        ):
            raise ValueError(f"time_budget must be None or a number of seconds above 0, got {budget!r}")
        verbose = run.get("verbose", 0)
        run["verbose"] = _whole("verbose", int(verbose) if isinstance(verbose, bool) else verbose, 0)
        run["max_rows"] = _whole("max_rows", run.get("max_rows", _MAX_ROWS), 2)
        given = {name: options[name] for name in _SETTINGS if name in options}
        run["remembering"] = isinstance(given.get("neighbours"), str) and given["neighbours"] == "auto"
        if run["remembering"]:
            del given["neighbours"]
        find_preset(preset).override(**given)  # checked at once
        return cls(
            preset=preset,
            given=given,
            choices=Choices(**{name: options[name] for name in _CHOICES if name in options}),
            seed=_seed(random_state),
            **run,
        )

    def forgetful(self) -> FitOptions:
        """Give the same for a model that is to be kept, which remembers rows only if it is told to."""
        return replace(self, given={"neighbours": 0, **self.given}) if not self.remembering else self

    def settings(self, n_rows: int, n_columns: int, n_fills: int = 0) -> Settings:
        """Settle the preset for a table of some size, and put over it what the caller gave."""
        remembering = self.given.get("neighbours") != 0
        settled = find_preset(self.preset, n_rows, n_columns, remembering=remembering)
        if self.time_budget is not None and settled.decay == "none":
            settled = settled.override(steps=_ENDLESS)  # the clock tells when to stop
        if self.time_budget is not None:
            settled = in_time(settled, self.time_budget, n_rows, n_columns, n_fills)
            if "steps" in self.given or not remembering:
                settled = settled.override(fits=1)
        return settled.override(**self.given)


@dataclass(frozen=True)
class ImputeOptions:
    """How a frame is to be filled with a model; what is not given is as it was at the fit."""

    choices: Mapping[str, Any]
    batch_size: int = CHUNK
    seed: int | None = None

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> ImputeOptions:
        """Take the options that make sense once a model is there."""
        late = [
            name
            for name in options
            if name in (*_RUN, *_CHOICES, *_SETTINGS) and name not in (*_WHEN_IMPUTING, *_HOW_IMPUTING)
        ]
        if late:
            raise TypeError(
                f"{', '.join(map(repr, late))} must be passed to fit; the model is fitted already"
            )
        _refuse_unknown(options, (*_WHEN_IMPUTING, *_HOW_IMPUTING))
        choices = {name: value for name, value in options.items() if name not in _HOW_IMPUTING}
        Choices(**choices)  # checked at once
        random_state = options.get("random_state")
        return cls(
            choices,
            _whole("batch_size", options.get("batch_size", CHUNK), 1),
            None if random_state is None else _seed(random_state),
        )

    def over(self, fitted: Choices, codec: TableCodec, names: Collection[Hashable]) -> Choices:
        """Put what is given now over what was given at the fit."""
        now = Choices(**self.choices).resolve(names)
        for name in now.columns or ():
            treatment = codec.plan.get(name)
            if treatment is None or not treatment.fill:
                why = "it was not there at the fit" if treatment is None else treatment.why
                raise ValueError(f"columns names {name!r}, which the model does not fill: {why}; fit again")
        return replace(fitted, **{name: getattr(now, name) for name in self.choices})


def named(function: FunctionT) -> FunctionT:
    """Show the options of a fit in the signature of a function that takes them as ``**options``.

    Completion and ``help`` then tell them; the function itself stays as it is.
    """
    shown = inspect.signature(function)
    known = {
        **{field.name: field.default for field in fields(FitOptions) if field.name in _RUN},
        "random_state": None,
        "preset": "default",
        **{field.name: getattr(Choices(), field.name) for field in fields(Choices)},
        **dict.fromkeys(_SETTINGS, _FromPreset()),
    }
    own = [
        parameter
        for parameter in shown.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in known.items()
    ]
    function.__signature__ = shown.replace(parameters=[*own, *options])  # type: ignore[attr-defined]  # how inspect finds it
    return function


class _FromPreset:
    """The default of a setting."""

    def __repr__(self) -> str:
        return "<of the preset>"


def _refuse_unknown(options: Mapping[str, Any], known: Collection[str]) -> None:
    for name in options:
        if name not in known:
            hint = f"did you mean {_SYNONYMS[name]!r}?" if name in _SYNONYMS else nearest(name, known)
            raise TypeError(f"unknown option {name!r}; {hint}")


def _whole(name: str, value: Any, low: int) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        whole = low - 1
    if isinstance(value, bool) or whole < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {value!r}")
    return whole


def _seed(random_state: Any) -> int:
    if random_state is None:
        return secrets.randbits(63)
    try:
        seed = operator.index(random_state)  # numpy's integers are welcome
    except TypeError:
        seed = -1
    if not 0 <= seed < 2**63:
        raise ValueError(
            f"random_state must be None or a whole number from 0 to 2^63 - 1, got {random_state!r}"
        )
    return seed
