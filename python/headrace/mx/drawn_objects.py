"""Draws the boxes of objects on their images, as `ImageDetIter.draw_next` does."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headrace.sheet.lettering import ADVANCE, lettered
from headrace.sheet.overlay import colours

__all__ = ["Drawing"]

# From a box's corner to its name.
_INDENT = 5


class Drawing(NamedTuple):
    """How boxes and images are drawn."""

    color: Sequence[float] | None
    """Red, green and blue of all boxes; None: one for each class."""
    thickness: int
    mean: np.ndarray | None
    """What is added to the values after `std`; None: nothing."""
    std: np.ndarray | None
    """What they are multiplied by; None: nothing."""
    clip: bool
    """Whether values are cut off at 0 and 255, or wrap around."""
    names: Mapping[int, str]
    """Those of the classes."""

    def image(self, data: np.ndarray, objects: np.ndarray) -> np.ndarray:
        """uint8 of shape (height, width, 3), in the order blue, green, red, as OpenCV shows it.

        Args:
            data: (3, height, width), in the order red, green, blue.
            objects: (n, 5 or more): class, xmin, ymin, xmax, ymax as parts of the sides; a class below 0 is none.
        """
        values = data.transpose(1, 2, 0).astype(np.float64)
        if self.std is not None:
            values *= self.std
        if self.mean is not None:
            values += self.mean
        if self.clip:
            values = values.clip(0, 255)
        pixels = values.astype(np.int64).astype(np.uint8)
        for each in objects[objects[:, 0] >= 0]:
            self._draw(pixels, int(each[0]), each[1:5])
        return np.ascontiguousarray(pixels[:, :, ::-1])

    def _draw(self, pixels: np.ndarray, kind: int, corners: np.ndarray) -> None:
        height, width = pixels.shape[:2]
        left, top, right, bottom = (corners.astype(np.float64) * (width, height, width, height)).astype(np.int64)
        table = colours()
        colour = table[kind % len(table)] if self.color is None else np.asarray(self.color).astype(np.uint8)
        # As wide as OpenCV draws them.
        reach = 0 if self.thickness == 1 else (self.thickness + 1) // 2
        across, down = _span(left - reach, right + reach), _span(top - reach, bottom + reach)
        for middle in (top, bottom):
            pixels[_span(middle - reach, middle + reach), across] = colour
        for middle in (left, right):
            pixels[down, _span(middle - reach, middle + reach)] = colour
        if name := self.names.get(kind, ""):
            place = pixels[top + _INDENT :, left + _INDENT :]
            text = lettered([name], ADVANCE * len(name) - 1)[: place.shape[0], : place.shape[1]]
            place[: text.shape[0], : text.shape[1]] = text


def _span(first: int, last: int) -> slice:
    return slice(max(first, 0), max(last + 1, 0))
