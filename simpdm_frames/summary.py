"""What there is to know about a fitted model, as text and as a page for notebooks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from simpdm_frames.codecs import Treatment

__all__ = ["Summary"]

_HEAD = ("column", "dtype", "treated as", "had holes", "filled", "why")
_WIDTH, _HEIGHT, _MARGIN = 420, 120, 8
_TRAINING, _HELD_OUT = "#5a8fbf", "#e07b39"  # seen on white as well as on black
_POINTS = 200  # of the curve; more would not be seen


@dataclass(frozen=True, repr=False)
class Summary:
    """What a model was fitted to and how that went; shows itself.

    Parameters
    ----------
    columns
        What each column was treated as, by name.
    facts
        Everything else that is worth a line, by name.
    losses
        The loss of each training step.
    judged
        Steps at which the model was tried on held-out cells, and its error there.
    """

    columns: Mapping[Hashable, Treatment]
    facts: Mapping[str, str]
    losses: Sequence[float]
    judged: Sequence[tuple[int, float]]

    def __str__(self) -> str:
        width = max(map(len, self.facts))
        lines = [f"{name:<{width}}  {fact}" for name, fact in self.facts.items()]
        rows = [_HEAD, *self._rows()]
        widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
        table = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        return "\n".join(["SimpDM imputer", *lines, "", *table])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(fact)}</td></tr>"
            for name, fact in self.facts.items()
        )
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in _HEAD)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        return (
            "<div><strong>SimpDM imputer</strong>"
            f"<table><tbody>{facts}</tbody></table>{self._curve()}"
            f"<details{' open' if len(self.columns) <= 20 else ''}><summary>{len(self.columns)} columns</summary>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></details></div>"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                str(name),
                treatment.dtype,
                treatment.role.value,
                "yes" if treatment.holes else "no",
                "yes" if treatment.fill else "no",
                treatment.why,
            )
            for name, treatment in self.columns.items()
        ]

    def _curve(self) -> str:
        """Draw the loss, and the error on held-out cells if there were any, as SVG; each on its own scale."""
        if len(self.losses) < 2:
            return ""
        n_steps = len(self.losses)
        size = -(-n_steps // _POINTS)
        means = [
            (begin + len(part) / 2, sum(part) / len(part))
            for begin in range(0, n_steps, size)
            for part in [self.losses[begin : begin + size]]
        ]
        lines = [_line(means, n_steps, _TRAINING)]
        legend = f"<tspan fill='{_TRAINING}'>training loss</tspan>"
        if len(self.judged) > 1:
            lines.append(_line(self.judged, n_steps, _HELD_OUT))
            legend += f" <tspan fill='{_HELD_OUT}' dx='8'>error on held-out cells</tspan>"
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {_HEIGHT + 16}' width='{_WIDTH}' "
            f"role='img' aria-label='loss curve' font-family='sans-serif' font-size='11'>"
            f"{''.join(lines)}"
            f"<text x='{_MARGIN}' y='{_HEIGHT + 10}'>{legend}</text>"
            f"<text x='{_WIDTH - _MARGIN}' y='{_HEIGHT + 10}' text-anchor='end' fill='#888888'>"
            f"{n_steps:,} steps</text></svg>"
        )


def _line(points: Sequence[tuple[float, float]], n_steps: int, colour: str) -> str:
    """Draw points as a line that uses the whole height."""
    low, high = min(value for _, value in points), max(value for _, value in points)
    across, down = (_WIDTH - 2 * _MARGIN) / n_steps, (_HEIGHT - 2 * _MARGIN) / ((high - low) or 1.0)
    path = " ".join(
        f"{_MARGIN + step * across:.1f},{_MARGIN + (high - value) * down:.1f}" for step, value in points
    )
    return f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='1.5'/>"
