"""Every knob of the engine, validated once and frozen, and the device."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

__all__ = ["Settings", "check_gpu", "choose_device"]

Schedule = Literal["cosine", "linear"]
Alignment = Literal["mse", "contrastive", "sinkhorn", "none"]
Augmentation = Literal["state", "strong", "weak", "none"]
Decay = Literal["linear", "none"]
Judging = Literal["alone", "together"]
Masking = Literal["even", "varied"]
Scale = Literal["none", "deviation"]
Start = Literal["noise", "mean"]


@dataclass(frozen=True)
class Settings:
    """How a model is trained and how it imputes.

    Parameters
    ----------
    fits
        Whole fits, each from a seed of its own, whose estimates are averaged. What is chance in one of them, which cells it
        held out, how long it learnt and whom it believed, cancels out. Each takes as long as one alone.
    steps
        Optimiser steps of a fit.
    batch_size
        Rows per step; a smaller table is used whole.
    learning_rate, weight_decay, decay, warmup
        AdamW's; ``decay="linear"`` lowers the rate to 0 over the steps, after ``warmup`` steps in which it
        rises.
    average
        Decay of the moving average of the weights that is kept instead of the last weights; 0 for none.
    members
        Networks that are trained side by side, each with weights, batches and noise of its own; their
        estimates are averaged.
    scouts, holdout, look_every, patience
        The first ``scouts`` members, or all if there are fewer, never see a share ``holdout`` of the observed cells, one
        of a row at most. Every ``look_every`` steps their error on these cells is looked at; the best state is kept, and the
        training ends after ``patience`` looks without a better one.
    judging
        ``"alone"``: by the errors that scouts make. ``"together"``: by the errors that members would make
        together, of which disagreement cancels out.
    layers, width
        Hidden layers of the denoiser and their width, which is rounded up to a multiple of 16.
    chain
        Rounds of a linear estimate of what is hidden, each from the visible cells and from the round before; the
        network is shown it and adds to it. 0 for none.
    frequencies, lowest_frequency, highest_frequency
        Visible numbers enter also as so many sines and cosines, at frequencies in even ratios, in waves
        per unit of the engine's scale.
    wave_width
        Width of the layer that the waves of a number pass first, each column a layer of its own; rounded up to
        a multiple of 16.
    ranks
        Waves are those of a place between a number's value and the normal score of its rank: 0 for the value,
        1 for the score. Between them, values that crowd lie farther apart, and a few large ones nearer.
    smooth_frequency
        Every second member sees no frequency above this one; None for no such members. How much smooth
        and other members count is settled by their scouts' errors.
    scale
        ``"deviation"`` puts numbers on mean 0 and deviation 1 inside the engine.
    diffusion_steps, schedule
        Length T of the diffusion and its noise schedule.
    mask_rate
        Share of the observed cells that each step hides and learns to restore (r_m).
    masking
        ``"even"`` hides that share in every row; ``"varied"`` draws the share of each row, up to twice as
        much.
    whole_share
        Columns without holes are hidden less often by this factor.
    alignment, alignment_weight
        Self-supervised alignment of the two channels and its weight γ (Eq. 10).
    temperature
        Temperature of the contrastive alignment.
    blur
        Entropic regularisation of the Sinkhorn alignment.
    augmentation
        ``"state"`` perturbs the input by the state of each cell (Eq. 11); ``"strong"`` and
        ``"weak"`` perturb all cells with ``p_ms`` and with ``p_gt``.
    p_gt, p_pm, p_ms
        Perturbation strengths for observed, pseudo-missing and missing cells.
    sampling_steps
        Denoising steps when imputing; None for all ``diffusion_steps``.
    start
        What imputing starts from: ``"noise"``, or the ``"mean"`` of all noises, which with
        ``sampling_steps=1`` leaves nothing to chance.
    draws
        Independent imputations that are averaged.
    neighbours
        Rows of the table that are remembered, at most, to estimate holes from those that are most alike. How far
        neighbours are believed beside the networks is settled on cells that scouts never saw. 0 for none: the model
        then holds no row.
    likenesses, neighbour_steps
        How often it is learnt anew what makes rows alike, the results being averaged, and the steps of each; never more
        than ``steps``.
    clusters
        How often mixtures of 2 to 12 Gaussians are fitted to the table, which estimate numbers beside the networks and are
        believed as neighbours are; 0 for none. It takes ``neighbours``: a Gaussian of few rows is not far from holding them.
    processes
        Rows of the table that Gaussian processes are laid through, at most, which estimate numbers beside the networks and
        are believed as neighbours are; 0 for none. It takes ``neighbours``, for the rows are remembered.

    Examples
    --------
    >>> Settings(mask_rate=1.5)
    Traceback (most recent call last):
        ...
    ValueError: mask_rate must be greater than 0 and less than 1, got 1.5
    """

    fits: int = 1
    steps: int = 2000
    batch_size: int = 512
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    decay: Decay = "linear"
    warmup: int = 0
    average: float = 0.0
    members: int = 1
    scouts: int = 0
    holdout: float = 0.2
    look_every: int = 50
    patience: int = 10
    judging: Judging = "alone"
    layers: int = 3
    width: int = 256
    chain: int = 0
    frequencies: int = 0
    lowest_frequency: float = 0.05
    highest_frequency: float = 1.0
    smooth_frequency: float | None = None
    wave_width: int = 16
    ranks: float = 0.0
    scale: Scale = "none"
    diffusion_steps: int = 10
    schedule: Schedule = "cosine"
    mask_rate: float = 0.3
    masking: Masking = "even"
    whole_share: float = 1.0
    alignment: Alignment = "mse"
    alignment_weight: float = 1.0
    temperature: float = 0.5
    blur: float = 0.05
    augmentation: Augmentation = "state"
    p_gt: float = 0.001
    p_pm: float = 0.8
    p_ms: float = 1.0
    sampling_steps: int | None = None
    start: Start = "noise"
    draws: int = 1
    neighbours: int = 0
    likenesses: int = 1
    neighbour_steps: int = 300
    clusters: int = 0
    processes: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if hasattr(value, "item"):  # numpy's scalars count as what they hold
                object.__setattr__(self, field.name, value.item())
        _check_integer("steps", self.steps, 1, 100_000_000)
        _check_integer("batch_size", self.batch_size, 1, 16_777_216)
        _check_real("learning_rate", self.learning_rate, above=0, at_most=1)
        _check_real("weight_decay", self.weight_decay, at_least=0, at_most=1)
        _check_name("decay", self.decay, Decay)
        _check_integer("warmup", self.warmup, 0, 1_000_000)
        _check_real("average", self.average, at_least=0, below=1)
        _check_integer("members", self.members, 1, 1024)
        _check_integer("scouts", self.scouts, 0, 1024)
        _check_real("holdout", self.holdout, above=0, below=1)
        _check_integer("look_every", self.look_every, 1, 100_000_000)
        _check_integer("patience", self.patience, 1, 100_000_000)
        _check_name("judging", self.judging, Judging)
        _check_integer("layers", self.layers, 1, 64)
        _check_integer("width", self.width, 1, 65_536)
        _check_integer("chain", self.chain, 0, 64)
        _check_integer("frequencies", self.frequencies, 0, 1024)
        _check_real("lowest_frequency", self.lowest_frequency, above=0, at_most=1e3)
        _check_real("highest_frequency", self.highest_frequency, at_least=self.lowest_frequency, at_most=1e3)
        _check_integer("wave_width", self.wave_width, 1, 4096)
        _check_real("ranks", self.ranks, at_least=0, at_most=1)
        if self.smooth_frequency is not None:
            _check_real("smooth_frequency", self.smooth_frequency, above=0, at_most=1e3)
        _check_name("scale", self.scale, Scale)
        _check_integer("diffusion_steps", self.diffusion_steps, 1, 10_000)
        _check_name("schedule", self.schedule, Schedule)
        if self.schedule == "linear":  # a single step would leave most of the signal
            _check_integer("diffusion_steps", self.diffusion_steps, 2, 10_000)
        _check_real("mask_rate", self.mask_rate, above=0, below=1)
        _check_name("masking", self.masking, Masking)
        _check_real("whole_share", self.whole_share, above=0, at_most=1)
        _check_name("alignment", self.alignment, Alignment)
        _check_real("alignment_weight", self.alignment_weight, at_least=0, at_most=1e6)
        _check_real("temperature", self.temperature, above=0, at_most=1e6)
        _check_real("blur", self.blur, above=0, at_most=1e6)
        _check_name("augmentation", self.augmentation, Augmentation)
        for name in ("p_gt", "p_pm", "p_ms"):
            _check_real(name, getattr(self, name), at_least=0, at_most=1e3)
        if self.augmentation == "state" and not self.p_gt < self.p_pm < self.p_ms:
            raise ValueError(
                "augmentation='state' needs p_gt < p_pm < p_ms, "
                f"got p_gt={self.p_gt}, p_pm={self.p_pm}, p_ms={self.p_ms}"
            )
        if self.sampling_steps is not None:
            _check_integer("sampling_steps", self.sampling_steps, 1, self.diffusion_steps)
        _check_name("start", self.start, Start)
        _check_integer("draws", self.draws, 1, 1_000_000)
        _check_integer("neighbours", self.neighbours, 0, 1_000_000)
        _check_integer("likenesses", self.likenesses, 1, 1024)
        _check_integer("neighbour_steps", self.neighbour_steps, 1, 1_000_000)
        for name, least, most in (("fits", 1, 1024), ("clusters", 0, 1024), ("processes", 0, 16_384)):
            _check_integer(name, getattr(self, name), least, most)

    def override(self, **options: Any) -> Settings:
        """Change some settings by name; an unknown name is refused with the nearest known one."""
        known = [field.name for field in fields(self)]
        for name in options:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                raise TypeError(f"unknown setting {name!r}; {hint}")
        return replace(self, **options)


def choose_device(gpu: bool | str = "auto", device: str | None = None) -> tuple[str, str]:
    """Choose where a model runs, and say what was wished for but is not there.

    Parameters
    ----------
    gpu
        ``"auto"``: CUDA, then MPS, then the CPU. True or ``"require"``: a GPU. False: the CPU, without
        a look at CUDA.
    device
        A device by torch's name, such as ``"cuda:1"``, instead of ``gpu``.

    Returns
    -------
    name, complaint
        The device, and why it is not the one asked for; empty where it is.

    Examples
    --------
    >>> choose_device(gpu=False)
    ('cpu', '')
    """
    check_gpu(gpu, device)
    if device is not None:
        return device, _why_not(device)
    if gpu is False:
        return "cpu", ""
    for name in ("cuda", "mps"):
        if not _why_not(name):
            return name, ""
    return "cpu", "" if gpu == "auto" else _why_not("cuda")


def check_gpu(gpu: bool | str, device: str | None) -> None:
    """Refuse what is no wish for a device, without a look at the machine."""
    if gpu not in (True, False, "auto", "require"):
        raise ValueError(f"gpu must be True, False, 'auto' or 'require', got {gpu!r}")
    if device is not None and gpu != "auto":
        raise ValueError(f"pass gpu or device, not both: got gpu={gpu!r} and device={device!r}")


def _why_not(device: str) -> str:
    """Say why a device cannot be used; nothing if it can."""
    import torch  # noqa: PLC0415  # slow to import, and needed only now

    try:
        wanted = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"device must be a name such as 'cpu' or 'cuda:0', got {device!r}") from error
    if wanted.type == "cuda":
        if torch.version.cuda is None:
            return "this build of torch has no CUDA; install one that has, as pytorch.org describes"
        if not torch.cuda.is_available():
            return "torch finds no NVIDIA GPU; nvidia-smi tells whether the driver does"
        if (wanted.index or 0) >= torch.cuda.device_count():
            return f"there is no {device}; torch finds {torch.cuda.device_count()} CUDA devices"
    elif wanted.type == "mps":
        return "" if torch.backends.mps.is_available() else "torch finds no Apple GPU"
    elif wanted.type != "cpu":
        return f"models run on 'cpu', 'cuda' or 'mps', not on {device!r}"
    return ""


def _check_integer(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer from {low} to {high}, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be from {low} to {high}, got {value}")


def _check_real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> None:
    bounds = [
        f"{words} {bound:g}"
        for words, bound in (
            ("greater than", above),
            ("at least", at_least),
            ("less than", below),
            ("at most", at_most),
        )
        if bound is not None
    ]
    text = f"{name} must be {' and '.join(bounds)}, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(text)
    inside = (
        math.isfinite(value)
        and (above is None or value > above)
        and (at_least is None or value >= at_least)
        and (below is None or value < below)
        and (at_most is None or value <= at_most)
    )
    if not inside:
        raise ValueError(text)


def _check_name(name: str, value: Any, choices: Any) -> None:
    known = get_args(choices)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
