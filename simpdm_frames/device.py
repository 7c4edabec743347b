"""Where a model runs, and what is said when it is not where it was wished for."""

from __future__ import annotations

from simpdm_frames.errors import GpuUnavailableError, GpuUnavailableWarning, Place
from simpdm_frames.settings import choose_device

__all__ = ["settle_device"]


def settle_device(gpu: bool | str, device: str | None, place: Place) -> str:
    """Choose a device; a wish is warned about if it cannot be had, a demand is refused."""
    name, complaint = choose_device(gpu, device)
    if complaint and gpu is not True:
        raise GpuUnavailableError(complaint)
    if complaint:
        place.warn(f"{complaint}; the model runs on the CPU", GpuUnavailableWarning)
    return name
