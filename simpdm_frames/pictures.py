"""Pictures of holes and of what went into them, for those who have matplotlib."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simpdm_frames.column import Column, Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_fills", "draw_holes"]

# Two colours that everyone can tell apart, also in grey print.
_OBSERVED, _FILLED, _INK = "#3b5b7a", "#e07b39", "#333333"
_BANDS = 400  # of rows; finer than that no eye can see
_MOST_COLUMNS = 60
_MOST_PANELS = 24
_MOST_BARS = 12
_POINTS = 256
_HOURS = {"duration", "time of day"}
_CALENDAR = (-719_162, 2_932_896)  # from the year 1 to the year 9999, in days from 1970
_REACH = 3  # bandwidths that a curve goes beyond the outermost value


def draw_holes(columns: Sequence[Column]) -> Figure:
    """Draw which cells are missing, all rows from top to bottom, and the share of each column below."""
    plt = _pyplot()
    shown = _with_most_holes(columns)
    missing = (
        np.stack([column.missing for column in shown], axis=1) if shown else np.zeros((0, 0), dtype=bool)
    )
    n_rows = len(missing)
    width = min(max(4.0, 1.2 + 0.5 * len(shown)), 14.0)
    figure, (top, below) = plt.subplots(
        2, 1, figsize=(width, 5.2), sharex=True, height_ratios=[3, 1], layout="constrained"
    )
    if n_rows and shown:
        colours = plt.matplotlib.colors.LinearSegmentedColormap.from_list("holes", [_OBSERVED, _FILLED])
        extent = (-0.5, len(shown) - 0.5, n_rows, 0)
        top.imshow(
            _bands(missing),
            aspect="auto",
            interpolation="nearest",
            cmap=colours,
            vmin=0,
            vmax=1,
            extent=extent,
        )
    for edge in np.arange(1, len(shown)) - 0.5:
        top.axvline(edge, color="white", linewidth=1)
    top.set_ylabel("row")
    top.tick_params(length=0)
    top.spines[:].set_visible(False)
    lacking = missing.mean(axis=0) if n_rows else np.zeros(len(shown))
    bars = below.bar(range(len(shown)), 100 * lacking, color=_FILLED, width=0.75)
    if len(shown) <= _MOST_COLUMNS // 2:
        texts = [f"{100 * share:.0f}" if share == 0 or share >= 0.01 else "<1" for share in lacking]
        below.bar_label(bars, texts, fontsize=8, color=_INK, padding=1)
    below.margins(y=0.2)
    below.set_ylabel("missing, %")
    below.spines[["top", "right"]].set_visible(False)
    below.set_xticks(range(len(shown)), [_short(column.name) for column in shown])
    below.tick_params(axis="x", length=0)
    if sum(len(_short(column.name)) for column in shown) > 8 * width:
        plt.setp(below.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
    total = sum(int(column.missing.sum()) for column in columns)
    cells = sum(map(len, columns))
    cut = (
        f" (the {len(shown)} columns with most holes, of {len(columns)})" if len(shown) < len(columns) else ""
    )
    share = 100 * total / cells if cells else 0.0
    return _finished(plt, figure, f"missing: {total:,} of {cells:,} cells, {share:.1f} %{cut}")


def draw_fills(before: Sequence[Column], after: Sequence[Column]) -> Figure:
    """Draw for each column that was filled how its fills are spread beside what was observed."""
    plt = _pyplot()
    found = {column.name: column for column in after}
    pairs = [
        (column, found[column.name])
        for column in before
        if column.missing.any()
        and column.known.any()
        and column.name in found
        and (column.missing & found[column.name].known).any()
    ]
    if not pairs:
        raise ValueError("there is nothing to draw: no hole of this frame is filled in the other one")
    left_out = len(pairs) - _MOST_PANELS
    pairs = (
        sorted(pairs, key=lambda pair: -int(pair[0].missing.sum()))[:_MOST_PANELS] if left_out > 0 else pairs
    )
    across = min(len(pairs), 4 if len(pairs) > 6 else 2 if len(pairs) == 4 else 3)
    down = -(-len(pairs) // across)
    figure, panels = plt.subplots(
        down, across, figsize=(2.9 * across, 2.3 * down + 0.4), squeeze=False, layout="constrained"
    )
    for panel, (observed, filled) in zip(panels.flat, pairs, strict=False):
        n_filled = int((observed.missing & filled.known).sum())
        panel.set_title(f"{_short(observed.name)}, {n_filled:,} filled", fontsize=9, loc="left")
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.tick_params(labelsize=8)
        numbers = observed.kind is Kind.CONTINUOUS and filled.kind is Kind.CONTINUOUS
        panel.set_ylabel("density" if numbers else "share, %", fontsize=8, color=_INK)
        (_curves if numbers else _bars)(panel, observed, filled)
    for panel in panels.flat[len(pairs) :]:
        panel.axis("off")
    more = f" (the {_MOST_PANELS} with most holes of {_MOST_PANELS + left_out})" if left_out > 0 else ""
    return _finished(plt, figure, f"filled{more}")


def _curves(panel: Axes, observed: Column, filled: Column) -> None:
    """Draw two densities, on one axis that knows of dates."""
    origin = int(observed.numbers(0)[observed.known][0])
    seen = observed.numbers(origin)[observed.known]
    fills = filled.numbers(origin)[observed.missing & filled.known]
    width = _bandwidth(seen)
    low, high = min(seen.min(), fills.min()), max(seen.max(), fills.max())
    grid = np.linspace(low - _REACH * width, high + _REACH * width, _POINTS)
    axis = _axis(observed, grid, origin)
    for values, colour, depth in ((seen, _OBSERVED, 0.35), (fills, _FILLED, 0.2)):
        height = _density(values, grid, width)
        panel.fill_between(axis, height, color=colour, alpha=depth, linewidth=0)
        panel.plot(axis, height, color=colour, linewidth=1.6)
    panel.margins(x=0)  # a calendar ends at the year 9999
    panel.set_ylim(bottom=0)
    panel.set_yticks([])  # the height of a density depends on the unit, and tells nobody anything
    if observed.meaning.startswith("date"):
        panel.xaxis_date()
        panel.xaxis.set_major_locator(_dates().AutoDateLocator(minticks=2, maxticks=6))
        panel.xaxis.set_major_formatter(_dates().ConciseDateFormatter(panel.xaxis.get_major_locator()))
    else:
        panel.locator_params(axis="x", nbins=5)
    if observed.meaning in _HOURS:
        panel.set_xlabel("hours", fontsize=8)


def _axis(column: Column, grid: NDArray[np.float64], origin: int) -> NDArray[np.float64]:
    """Give the points of an axis in what people read: dates in days, as matplotlib counts them, times in hours."""
    if column.meaning.startswith("date"):
        return np.clip((grid + origin) / 8.64e13, *_CALENDAR)
    return np.asarray((grid + origin) / (3.6e12 if column.meaning in _HOURS else 1))


def _bars(panel: Axes, observed: Column, filled: Column) -> None:
    """Draw the shares of labels side by side, the most frequent ones by name."""
    counts = [
        Counter(_labels(column, rows))
        for column, rows in ((observed, observed.known), (filled, observed.missing & filled.known))
    ]
    order: list[Any] = list(observed.levels) or sorted(counts[0])
    order += [label for label in counts[1] if label not in counts[0] and label not in order]
    kept = {label for label, _ in (counts[0] + counts[1]).most_common(_MOST_BARS)}
    order = [label for label in order if label in kept]
    for shift, part, colour in ((-0.2, 0, _OBSERVED), (0.2, 1, _FILLED)):
        shares = [100 * counts[part][label] / max(counts[part].total(), 1) for label in order]
        panel.bar(np.arange(len(order)) + shift, shares, width=0.4, color=colour, alpha=0.85)
    texts = [_short(label, 12) for label in order]
    if len({*texts}) < len(texts):  # 1 and "1" are two labels
        texts = [_short(repr(label), 12) for label in order]
    crowded = sum(map(len, texts)) > 26
    panel.set_xticks(
        range(len(order)),
        texts,
        rotation=40 if crowded else 0,
        ha="right" if crowded else "center",
        rotation_mode="anchor",
    )
    panel.tick_params(length=0)
    panel.locator_params(axis="y", nbins=4)


def _labels(column: Column, rows: NDArray[np.bool_]) -> list[Any]:
    if column.kind is Kind.DISCRETE:
        return [column.levels[code] for code in column.values[rows].tolist()]
    numbers: list[Any] = column.numbers(0)[rows].tolist()
    return numbers


def _density(values: NDArray[np.float64], grid: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Smooth a histogram on an even grid with a bell: a kernel density that does not care how many values."""
    step = grid[1] - grid[0]
    edges = np.append(grid - step / 2, grid[-1] + step / 2)
    counts = np.histogram(values, edges)[0] / max(len(values), 1)
    reach = int(np.ceil(4 * width / step))
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    smooth = np.convolve(counts, bell / bell.sum(), mode="full")
    return np.asarray(smooth[reach : reach + len(grid)] / step)


def _bandwidth(values: NDArray[np.float64]) -> float:
    """Choose how wide the bell is by Silverman's rule; a column of one value gets a narrow one."""
    quarter, three_quarters = np.quantile(values, [0.25, 0.75])
    spread = min(float(values.std()), float(three_quarters - quarter) / 1.34) or float(values.std())
    return 0.9 * spread * len(values) ** -0.2 or max(abs(float(values[0])), 1.0) / 100


def _bands(missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Give the share of holes in bands of neighbouring rows, where there are more rows than can be seen."""
    if len(missing) <= _BANDS:
        return missing.astype(np.float64)
    starts = np.linspace(0, len(missing), _BANDS, endpoint=False).astype(int)
    counts = np.diff(np.append(starts, len(missing)))
    return np.asarray(np.add.reduceat(missing.astype(np.float64), starts, axis=0) / counts[:, None])


def _with_most_holes(columns: Sequence[Column]) -> list[Column]:
    """Take the columns that can be shown, those with most holes if there are too many, in their order."""
    if len(columns) <= _MOST_COLUMNS:
        return list(columns)
    counts = [-int(column.missing.sum()) for column in columns]
    kept = sorted(np.argsort(counts, kind="stable")[:_MOST_COLUMNS].tolist())
    return [columns[place] for place in kept]


def _short(name: Any, most: int = 18) -> str:
    text = str(name)
    text = text if len(text) <= most else f"{text[: most - 1]}…"
    return text.replace("$", r"\$")  # which would begin a formula


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415  # only those who draw need it
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "simpdm_frames[plot]"') from error
    return plt


def _dates() -> Any:
    from matplotlib import dates  # noqa: PLC0415  # as above

    return dates


def _finished(plt: Any, figure: Figure, other: str) -> Figure:
    """Say what is blue and what is not; a notebook shows what a cell returns, and an open figure once more."""
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in (_OBSERVED, _FILLED)]
    names = ["observed", other]
    figure.legend(handles, names, loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    if "inline" in plt.get_backend():
        plt.close(figure)
    return figure
