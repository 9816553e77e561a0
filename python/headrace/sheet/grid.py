"""Images in a grid, and an image as a PNG."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headrace import vision as V
from headrace._arguments.late_numpy import np

__all__ = ["GAP", "grid", "png"]

GAP = 4
_WHITE = 255


def grid(tiles: Sequence[np.ndarray]) -> np.ndarray:
    """One image of all tiles, row by row, about as many rows as columns, on white.

    Takes uint8 of shape (H, W, 3), at least one, and gives the same. Each cell has the size of the highest and the widest
    tile, and the tile in its top left corner.
    """
    across = math.ceil(math.sqrt(len(tiles)))
    down = math.ceil(len(tiles) / across)
    high = max(tile.shape[0] for tile in tiles) + GAP
    wide = max(tile.shape[1] for tile in tiles) + GAP
    sheet = np.full((down * high + GAP, across * wide + GAP, 3), _WHITE, np.uint8)
    for number, tile in enumerate(tiles):
        top, left = GAP + number // across * high, GAP + number % across * wide
        sheet[top : top + tile.shape[0], left : left + tile.shape[1]] = tile
    return sheet


def png(image: np.ndarray) -> bytes:
    """Takes uint8 of shape (H, W, 3)."""
    encoded: bytes = V.EncodePng(6)(image)
    return encoded
