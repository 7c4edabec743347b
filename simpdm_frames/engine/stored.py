"""A fitted engine as arrays and plain facts, and back. What comes back is checked before it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from simpdm_frames.encoded import Layout
from simpdm_frames.engine.denoiser import Denoiser
from simpdm_frames.engine.engine import Engine
from simpdm_frames.engine.ragged import even
from simpdm_frames.engine.residuals import Residuals
from simpdm_frames.engine.table import Scale, tensor
from simpdm_frames.settings import Settings

__all__ = ["from_arrays", "to_arrays"]

Arrays = Mapping[str, NDArray[Any]]
_NETWORK = "network."
_FIT = "fit"


def to_arrays(engine: Engine) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Give all that an engine knows: weights and scales as arrays, settings and layout as plain facts."""
    arrays = _of_one(engine)
    for number, other in enumerate(engine.others, start=1):
        arrays |= {f"{_FIT}{number}.{name}": array for name, array in _of_one(other).items()}
    facts = {
        "settings": asdict(engine.settings),
        "n_numbers": engine.layout.n_numbers,
        "cardinalities": list(engine.layout.cardinalities),
        "seeds": [fit.seed for fit in (engine, *engine.others)],
    }
    return arrays, facts


def _of_one(engine: Engine) -> dict[str, NDArray[Any]]:
    tensors: dict[str, Tensor] = {
        **{f"{_NETWORK}{name}": weight for name, weight in engine.denoiser.state_dict().items()},
        "scale.centre": engine.scale.centre,
        "scale.spread": engine.scale.spread,
        "shares": engine.shares,
    }
    if engine.residuals is not None:
        tensors["residuals.edges"] = engine.residuals.edges
        tensors["residuals.quantiles"] = engine.residuals.quantiles
    arrays = {name: part.detach().cpu().contiguous().numpy() for name, part in tensors.items()}
    arrays["loss_curve"] = np.array(engine.loss_curve, dtype=np.float64)
    arrays["judged"] = np.array(engine.judged, dtype=np.float64).reshape(-1, 2)
    return arrays


def from_arrays(arrays: Arrays, facts: Mapping[str, Any], *, device: str = "cpu") -> Engine:
    """Make an engine of what ``to_arrays`` gave; a ValueError or TypeError says what does not fit."""
    settings = Settings(**facts["settings"])
    layout = Layout(_whole(facts["n_numbers"]), tuple(_whole(size) for size in facts["cardinalities"]))
    seeds = [_whole(seed) for seed in facts["seeds"]]
    if len(seeds) != settings.fits:
        raise ValueError(f"there are seeds of {len(seeds)} fits, the settings say {settings.fits}")
    first, *others = [
        _one(part, layout, settings, seed, device)
        for part, seed in zip(_parts(arrays, settings.fits), seeds, strict=True)
    ]
    return first.beside(others)


def _parts(arrays: Arrays, fits: int) -> list[dict[str, NDArray[Any]]]:
    """Tell the arrays of each fit apart; those of the first have no name before theirs."""
    parts: list[dict[str, NDArray[Any]]] = [{} for _ in range(fits)]
    prefixes = {f"{_FIT}{number}": number for number in range(1, fits)}
    for name, array in arrays.items():
        prefix, _, own = name.partition(".")
        number = prefixes.get(prefix, 0)
        parts[number][own if number else name] = array
    return parts


def _one(arrays: Arrays, layout: Layout, settings: Settings, seed: int, device: str) -> Engine:
    """Make the engine of one fit."""
    taken = _Taken(arrays)
    weights = {name: array for name, array in arrays.items() if name.startswith(_NETWORK)}
    _refuse_other_sizes(weights, layout, settings)
    network = Denoiser(layout, settings, torch.Generator())
    state = {
        name: taken.finite(f"{_NETWORK}{name}", tuple(weight.shape), weight.dtype)
        for name, weight in network.state_dict().items()
    }
    network.load_state_dict(state)
    if (network.knots.diff(dim=1) < 0).any():
        raise ValueError(f"{_NETWORK}knots must be in order")
    n_numbers = layout.n_numbers
    scale = Scale(taken.finite("scale.centre", (n_numbers,)), taken.finite("scale.spread", (n_numbers,)))
    if (scale.spread <= 0).any():
        raise ValueError("scale.spread must be above 0")
    shares = taken.finite("shares", (settings.members,))
    if (shares < 0).any() or not 0.99 < float(shares.sum()) < 1.01:
        raise ValueError("shares must be at least 0 and add up to 1")
    residuals = None
    if "residuals.edges" in arrays:
        like = Residuals.learn([(torch.zeros(0), torch.zeros(0))] * n_numbers)
        edges = taken.array("residuals.edges", tuple(like.edges.shape))
        residuals = Residuals(edges, taken.finite("residuals.quantiles", tuple(like.quantiles.shape)))
        if edges.isnan().any():
            raise ValueError("residuals.edges must not be NaN")
    losses = taken.array("loss_curve", (None,), torch.float64)
    judged = taken.array("judged", (None, 2), torch.float64)
    taken.refuse_the_rest()
    return Engine(
        layout,
        settings,
        network,
        scale,
        shares,
        residuals,
        seed=seed,
        device=device,
        loss_curve=losses.tolist(),
        judged=[(int(step), error) for step, error in judged.nan_to_num().tolist()],
    )


class _Taken:
    """Arrays by name, each of the shape and type that it must have, each used once."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = dict(arrays)

    def array(self, name: str, shape: tuple[int | None, ...], dtype: torch.dtype = torch.float32) -> Tensor:
        """Take an array; None in a shape is any length."""
        if name not in self._arrays:
            raise ValueError(f"{name} is lacking")
        found = tensor(self._arrays.pop(name))
        fits = len(found.shape) == len(shape) and all(
            want is None or want == has for want, has in zip(shape, found.shape, strict=True)
        )
        if not fits or found.dtype != dtype:
            raise ValueError(
                f"{name} must be {dtype} of shape {shape}, got {found.dtype} of shape {tuple(found.shape)}"
            )
        return found

    def finite(self, name: str, shape: tuple[int | None, ...], dtype: torch.dtype = torch.float32) -> Tensor:
        """Take an array without NaN and infinities."""
        found = self.array(name, shape, dtype)
        if not found.isfinite().all():
            raise ValueError(f"{name} must be finite")
        return found

    def refuse_the_rest(self) -> None:
        """Refuse arrays that nobody asked for."""
        if self._arrays:
            raise ValueError(f"{', '.join(sorted(self._arrays))} is not known")


def _refuse_other_sizes(weights: Arrays, layout: Layout, settings: Settings) -> None:
    """Compare sizes with what is there, before a network is made: a few bytes could ask for terabytes."""
    d_table, d_numbers, members = layout.n_numbers + layout.n_levels, layout.n_numbers, settings.members
    d_described = even(settings.wave_width) if settings.frequencies else 0
    expected = {
        "table": (members, d_table, even(settings.width)),
        "waves": (members, d_numbers, 2 * settings.frequencies, d_described),
    }
    for name, shape in expected.items():
        found = weights.get(f"{_NETWORK}{name}")
        if found is None or found.shape != shape:
            raise ValueError(f"{_NETWORK}{name} must be of shape {shape}")
    depth = sum(name.startswith(f"{_NETWORK}hidden.") for name in weights)
    if depth != settings.layers - 1:
        raise ValueError(f"the network has {depth + 1} layers, its settings say {settings.layers}")


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise TypeError(f"expected a whole number, got {number!r}")
    return number
