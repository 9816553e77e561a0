"""Per-stage limits given to `map`: workers, window, device."""

from typing import NamedTuple

from headrace._arguments import options

__all__ = ["NO_LIMITS", "StageLimits", "given_limits"]


class StageLimits(NamedTuple):
    """Not part of the graph: rows do not depend on it. 0: the engine chooses."""

    workers: int = 0
    window: int = 0
    on_device: bool = False


NO_LIMITS = StageLimits()


def given_limits(of: str, workers: int | None, window: int | None, device: str | None = None) -> StageLimits:
    """GraphError for values that are wrong."""
    return StageLimits(
        0 if workers is None else options.at_once("workers", workers, of),
        0 if window is None else options.at_once("window", window, of),
        device is not None and bool(options.choice("device", device, ("cuda",), of)),
    )
