"""Converts images to what a screen shows: 3 channels of bytes, no larger than a cell."""

from __future__ import annotations

from typing import NamedTuple

from headrace import vision as V
from headrace._arguments.late_numpy import np

__all__ = ["Displayed", "displayed", "fitted"]


class Displayed(NamedTuple):
    pixels: np.ndarray
    """uint8 of shape (H, W, 3)."""
    note: str | None
    """Which values are black and white, if they are not those of the dtype."""


def displayed(image: np.ndarray) -> Displayed:
    """Takes uint8, uint16 or floats of shape (H, W, C) with 1, 3 or 4 channels, the fourth opacity, over white.

    Of uint16 the higher 8 bits are shown. Floats of 0 … 1 go from black to white; where an image has others, it goes from
    its own least value to its greatest. NaN is black.
    """
    pixels, note = _bytes(image)
    if pixels.shape[2] == 4:
        pixels = _over_white(pixels)
    return Displayed(np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels, note)


def _bytes(image: np.ndarray) -> tuple[np.ndarray, str | None]:
    if image.dtype == np.uint8:
        return image, None
    if image.dtype == np.uint16:
        return (image >> 8).astype(np.uint8), None
    values = image.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    note = None
    if low < 0 or high > 1:
        note = f"scaled: {low:.3g} to {high:.3g}"
        values = (values - low) / (high - low) if high > low else np.full_like(values, 0.5)
    filled = np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=0.0)
    return np.rint(filled * 255).astype(np.uint8), note


def _over_white(pixels: np.ndarray) -> np.ndarray:
    colour, opacity = pixels[..., :3].astype(np.uint32), pixels[..., 3:].astype(np.uint32)
    return ((colour * opacity + 255 * (255 - opacity) + 127) // 255).astype(np.uint8)


def fitted(pixels: np.ndarray, side: int) -> np.ndarray:
    """Shrunk to fit into a square of `side`, or enlarged by the largest whole number that does: each pixel a square.

    Takes and gives uint8 of shape (H, W, 3).
    """
    height, width = pixels.shape[:2]
    longer = max(height, width)
    if longer <= side:
        return pixels.repeat(side // longer, axis=0).repeat(side // longer, axis=1)
    size = (max(1, round(height * side / longer)), max(1, round(width * side / longer)))
    resized: np.ndarray = V.Resize(size)(np.ascontiguousarray(pixels), layout="HWC")
    return resized
