"""Settings by name: rules that look at the size of a table, never at what is in it.

``fast``, ``default`` and ``best`` are one recipe at three prices. The rules were learnt on masks that no
reported figure uses; ``docs/how-it-works.md`` says what the parts are. ``paper`` is the published
method, as it was published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

from simpdm_frames.settings import Settings

__all__ = ["PAPER_DATASETS", "PRESETS", "in_time", "preset"]

Rule = Callable[[int, int], Settings]
"""Gives the settings for a table of so many rows and columns."""

_RECIPE = Settings(
    batch_size=128,
    learning_rate=4e-3,
    weight_decay=1e-3,
    decay="none",
    warmup=30,
    average=0.998,
    scouts=2,
    look_every=50,
    patience=20,
    layers=3,
    width=128,
    chain=4,
    frequencies=24,
    lowest_frequency=0.05,
    highest_frequency=32.0,
    ranks=0.5,
    scale="deviation",
    masking="varied",
    whole_share=0.2,
    sampling_steps=1,
    start="mean",
)
_MANY = 3000  # rows
_TIME = 7_200.0  # of the training of default, in costs of a step
_LONGER = 10_500.0  # of many rows
_LAYING = 1_000.0  # of such time, through so many rows
_COMPARING = 2.0e-6  # of such time, for each cell compared with one of a neighbour
_MOST_NEIGHBOURS = 8192  # of default
_FEWEST_NEIGHBOURS = 1000  # of a large table: fewer of them are no neighbours
_COMPARED = 40e6  # cells with a row each, in a second, by one core
_FOR_COMPARING = 0.1  # of a budget of time
_FITS = 5  # of best, where rows are few
_FEW = 1000  # rows
_NARROW = 8  # columns: the shape of a Gaussian takes as many numbers as their square
_LAID_THROUGH = 2500  # rows, by Gaussian processes of default: the work grows with their cube
_ENOUGH = 250  # rows: of fewer, nobody could tell how fast a surface changes
_TOO_MANY = 5000  # rows, of which so few tell nothing that networks do not know
_FOR_CLUSTERS = 40.0  # seconds of a budget, at least
_FOR_A_PROCESS = 8.0  # likewise, for each column


def _recipe(n_rows: int, n_columns: int) -> Settings:
    """Give what the three prices have in common.

    Few rows cannot tell a fast wave from chance, so what smooth members see grows with the rows.
    """
    smooth = min(max(n_rows / 2000, _RECIPE.lowest_frequency), 1.0)
    return replace(_RECIPE, smooth_frequency=smooth, clusters=_clusters(n_rows, n_columns))


def _clusters(n_rows: int, n_columns: int) -> int:
    """Say how often to fit Gaussians: to few rows, of which networks have not learnt all that these say."""
    return 2 if n_rows <= _FEW and n_columns <= _NARROW else 0


def _processes(n_rows: int, most: int = _LAID_THROUGH) -> int:
    """Say through how many rows to lay Gaussian processes."""
    return most if _ENOUGH <= n_rows <= _TOO_MANY else 0


def _patient_recipe(n_rows: int, n_columns: int) -> Settings:
    """Give the same to those who have time: of many rows, larger batches and a longer memory pay."""
    recipe = _recipe(n_rows, n_columns)
    if n_rows <= _MANY:
        return recipe
    return replace(recipe, batch_size=256, average=0.999, look_every=100, patience=10)


def _steps(n_columns: int, batch_size: int, time: float = _TIME) -> int:
    """Give as many steps as a time allows, by what a step costs on two cores."""
    cost = 1 + batch_size / 128 * (2 + n_columns / 5.5)
    return int(min(max(time / cost, 800), 4000))


def _patient_steps(n_rows: int, n_columns: int, batch_size: int) -> int:
    """Give more of them where batches are large, for twice the rows take less than twice as long.

    Comparing many rows with their neighbours takes time of its own.
    """
    if n_rows <= _MANY:
        return _steps(n_columns, batch_size)
    compared = n_rows * n_columns * min(n_rows, _neighbours(n_rows, n_columns, _MOST_NEIGHBOURS))
    laying = _LAYING if _processes(n_rows) else 0.0
    return _steps(n_columns, batch_size, _LONGER - compared * _COMPARING - laying)


def _neighbours(n_rows: int, n_columns: int, most: int) -> int:
    """Say how many rows to remember; none where comparing all rows with them would take longer than the rest."""
    affordable = 250_000 * most // (n_rows * n_columns)
    return min(affordable, most) if affordable >= min(n_rows, _FEWEST_NEIGHBOURS) else 0


def _fast(n_rows: int, n_columns: int) -> Settings:
    recipe = _recipe(n_rows, n_columns)
    steps = min(_steps(n_columns, recipe.batch_size) // 5, 600)
    neighbours = _neighbours(n_rows, n_columns, 2048)
    clusters = min(recipe.clusters, 1)
    return replace(
        recipe,
        members=4,
        steps=steps,
        patience=6,
        neighbours=neighbours,
        neighbour_steps=120,
        clusters=clusters,
    )


def _default(n_rows: int, n_columns: int) -> Settings:
    recipe = _patient_recipe(n_rows, n_columns)
    neighbours = _neighbours(n_rows, n_columns, _MOST_NEIGHBOURS)
    return replace(
        recipe,
        members=8,
        steps=_patient_steps(n_rows, n_columns, recipe.batch_size),
        neighbours=neighbours,
        processes=_processes(n_rows),
        likenesses=1 if n_rows > _MANY else 2,
        neighbour_steps=min(max(2000 // n_columns, 200), 400) if n_rows > _MANY else 300,
    )


def _best(n_rows: int, n_columns: int) -> Settings:
    """Average several fits where rows are few; where there are many to learn from, one with more time knows more."""
    if n_rows <= _MANY:
        return replace(_default(n_rows, n_columns), fits=_FITS)
    return _best_single(n_rows, n_columns)


def _best_single(n_rows: int, n_columns: int) -> Settings:
    recipe = _patient_recipe(n_rows, n_columns)
    return replace(
        recipe,
        members=16,
        scouts=4,
        judging="together",
        steps=5 * _patient_steps(n_rows, n_columns, recipe.batch_size) // 2,
        patience=recipe.patience * 3 // 2,
        neighbours=_neighbours(n_rows, n_columns, 3 * _MOST_NEIGHBOURS),
        processes=_processes(n_rows, 2 * _LAID_THROUGH),
        likenesses=4,
        neighbour_steps=600,
    )


_PAPER = Settings(
    steps=30_000,
    batch_size=4096,
    learning_rate=1e-4,
    layers=3,
    width=256,
    alignment_weight=1.0,
    p_gt=0.001,
    p_pm=0.8,
    p_ms=1.0,
)

PRESETS: MappingProxyType[str, Rule] = MappingProxyType(
    {"default": _default, "fast": _fast, "best": _best, "paper": lambda _rows, _columns: _PAPER}
)
"""Rules by name; ``preset`` applies them."""

_FORGETFUL: MappingProxyType[str, Rule] = MappingProxyType({"best": _best_single})
"""Other rules for models that remember no row: what several fits cancel out is mostly chance in whom they believe."""

PAPER_DATASETS: MappingProxyType[str, Settings] = MappingProxyType(
    {
        "yacht": replace(_PAPER, layers=5, alignment_weight=10.0),
        "yeast": replace(_PAPER, steps=10_000, alignment_weight=3.0, p_gt=0.0001, p_pm=0.4, p_ms=0.5),
        "wine_white": replace(_PAPER, width=1024, alignment_weight=0.2),
        "power": replace(_PAPER, layers=5, width=1024, p_pm=1.5, p_ms=2.0),
    }
)
"""The settings that the authors of the paper published, by dataset."""


def in_time(settings: Settings, seconds: float, n_rows: int, n_columns: int, n_fills: int) -> Settings:
    """Leave out what would take more than a small part of a budget of time: rows to compare with, clusters and processes.

    Fits of few rows are over before a large budget is; there are as many of them as it allows.
    """
    cells = n_columns * (n_fills + n_rows) / 2  # of rows that are filled, and of those that are remembered
    affordable = int(_FOR_COMPARING * seconds * _COMPARED / cells)
    few = affordable < min(n_rows, _FEWEST_NEIGHBOURS)
    neighbours = 0 if few else min(settings.neighbours, affordable)
    return replace(
        settings,
        fits=_FITS if neighbours and n_rows <= _MANY else 1,
        neighbours=neighbours,
        clusters=settings.clusters if seconds >= _FOR_CLUSTERS else 0,
        processes=settings.processes if seconds >= _FOR_A_PROCESS * n_columns else 0,
    )


def preset(
    name: str,
    n_rows: int = 1000,
    n_columns: int = 10,
    *,
    dataset: str | None = None,
    remembering: bool = True,
) -> Settings:
    """Look up the settings of a preset for a table of some size.

    Parameters
    ----------
    name
        One of ``PRESETS``.
    n_rows, n_columns
        Size of the table that a model is to be fit to.
    dataset
        With ``"paper"``: one of ``PAPER_DATASETS``, for the settings published for that dataset.
    remembering
        Whether the model may remember rows.

    Examples
    --------
    >>> preset("default", n_rows=150).smooth_frequency, preset("default", n_rows=20_000).smooth_frequency
    (0.075, 1.0)
    >>> preset("paper", dataset="yacht").alignment_weight
    10.0
    """
    if name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(map(repr, PRESETS))}, got {name!r}")
    if dataset is None:
        rule = PRESETS[name] if remembering else _FORGETFUL.get(name, PRESETS[name])
        return rule(n_rows, n_columns)
    if name != "paper":
        raise ValueError(f"only the preset 'paper' has settings by dataset, got preset {name!r}")
    if dataset not in PAPER_DATASETS:
        known = ", ".join(map(repr, PAPER_DATASETS))
        raise ValueError(f"the paper's authors published settings for {known}, not for {dataset!r}")
    return PAPER_DATASETS[dataset]
