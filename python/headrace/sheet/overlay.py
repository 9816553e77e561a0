"""Draws masks, boxes and keypoints over images, in colours that differ."""

from __future__ import annotations

import colorsys
import functools

from headrace._arguments.late_numpy import np

__all__ = ["BOX_FORMATS", "colours", "draw_boxes", "draw_keypoints", "with_mask"]

BOX_FORMATS = ("xyxy", "xywh", "cxcywh")
# Neighbours are far apart on the circle of hues, and no two of them meet.
_GOLDEN = 0.6180339887498949


def _distinct(count: int) -> np.ndarray:
    """uint8 of shape (count, 3)."""
    hues = [(number + 1) * _GOLDEN % 1 for number in range(count)]
    drawn = [colorsys.hsv_to_rgb(hue, 1 if number % 2 else 0.75, 1) for number, hue in enumerate(hues)]
    table: np.ndarray = np.rint(np.array(drawn) * 255).astype(np.uint8)
    return table


@functools.cache
def colours() -> np.ndarray:
    """255 of them, uint8 of shape (255, 3)."""
    return _distinct(255)


def with_mask(pixels: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The mean of each pixel and the colour of its value; where the mask is 0, the pixel.

    Takes pixels, uint8 of shape (H, W, 3), and a mask, integers or bool of shape (H, W). The values 1 … 255 have a colour
    each, and others one of these.
    """
    values = mask.astype(np.int64)
    table = colours()
    over = table[(values - 1) % len(table)]
    mixed = ((pixels.astype(np.uint16) + over) // 2).astype(np.uint8)
    return np.where(values[..., None] != 0, mixed, pixels)


def draw_boxes(pixels: np.ndarray, boxes: np.ndarray, box_format: str, scale: tuple[float, float]) -> int:
    """Draws the outlines of boxes, in the order of their colours, as far as they are within the image.

    Takes pixels, uint8 of shape (H, W, 3), which it changes, boxes of shape (n, 4), and by what their x and y are
    multiplied. Returns how many have no area, or no finite numbers, and are left out.
    """
    # As what they are, large numbers would overflow.
    corners = _corners(boxes.astype(np.float64), box_format)
    left_out, table = 0, colours()
    for number, (left, top, right, bottom) in enumerate(corners * np.array(scale * 2)):
        if np.isfinite((left, top, right, bottom)).all() and left < right and top < bottom:
            _draw_box(pixels, (left, top, right, bottom), table[number % len(table)])
        else:
            left_out += 1
    return left_out


def draw_keypoints(pixels: np.ndarray, points: np.ndarray, scale: tuple[float, float]) -> int:
    """Draws a square of three pixels a side for each point, as far as it is within the image; the points of a group
    have one colour, those of the boxes in the same order.

    Takes pixels, uint8 of shape (H, W, 3), which it changes, points of shape (n, 2) or (n, k, 2), and by what their x and
    y are multiplied. Returns how many are outside, or no finite numbers, and are left out.
    """
    height, width = pixels.shape[:2]
    left_out, table = 0, colours()
    for number, group in enumerate(points.astype(np.float64) * np.array(scale)):
        for x, y in group.reshape(-1, 2):
            if not (0 <= x <= width and 0 <= y <= height):
                left_out += 1
                continue
            column, row = min(int(x), width - 1), min(int(y), height - 1)
            square = pixels[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
            square[:] = table[number % len(table)]
    return left_out


def _corners(boxes: np.ndarray, box_format: str) -> np.ndarray:
    """As left, top, right, bottom."""
    if box_format == "xyxy":
        return boxes
    first, size = boxes[:, :2], boxes[:, 2:]
    start = first if box_format == "xywh" else first - size / 2
    return np.concatenate([start, start + size], axis=1)


def _draw_box(pixels: np.ndarray, corners: tuple[float, float, float, float], colour: np.ndarray) -> None:
    """Its first and last rows and columns of pixels; those outside are not drawn."""
    height, width = pixels.shape[:2]
    left, right = _ends(corners[0], corners[2], width)
    top, bottom = _ends(corners[1], corners[3], height)
    across, down = slice(max(left, 0), right + 1), slice(max(top, 0), bottom + 1)
    for row in {top, bottom} & set(range(height)):
        pixels[row, across] = colour
    for column in {left, right} & set(range(width)):
        pixels[down, column] = colour


def _ends(begin: float, end: float, size: int) -> tuple[int, int]:
    """The first and the last pixel that it touches; -1 and `size` stand for all that lie outside."""
    first = int(np.clip(np.floor(begin), -1, size))
    return first, max(first, int(np.clip(np.ceil(end) - 1, -1, size)))
