"""The numbers by which MXNet and im2rec name interpolations: those of OpenCV, and 9. Each stands for one of
`headrace.vision.Resize` with `antialias=False`."""

from typing import Any, Literal

from headrace._arguments.options import shown
from headrace.errors import UnsupportedError

__all__ = ["INTERPOLATIONS", "NUMBERS", "Interpolation", "interpolation_of"]

Interpolation = Literal["nearest", "bilinear", "bicubic", "area", "lanczos", "auto"]

INTERPOLATIONS: dict[int, Interpolation] = {
    0: "nearest",
    1: "bilinear",
    2: "bicubic",
    3: "area",
    4: "lanczos",
    9: "auto",
}
NUMBERS = "0 (nearest), 1 (bilinear), 2 (bicubic), 3 (area), 4 (Lanczos) or 9 (by the sizes)"
"""What messages say of them."""


def interpolation_of(number: Any, name: str, of: str, why: str = "") -> Interpolation:
    """What the parameter `name` of `of` stands for. UnsupportedError, which ends with `why`, for another number."""
    if number not in INTERPOLATIONS:
        raise UnsupportedError(f"{of}: {name} is {shown(number)}; it must be {NUMBERS}{why}")
    return INTERPOLATIONS[number]
