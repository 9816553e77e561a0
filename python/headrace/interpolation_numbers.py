"""The numbers by which MXNet and im2rec name interpolations: those of OpenCV, and 9. Each stands for one of
`headrace.vision.Resize` with `antialias=False`."""

from typing import Literal

__all__ = ["INTERPOLATIONS", "NUMBERS", "Interpolation"]

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
