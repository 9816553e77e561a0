"""Writes testdata/painted_outlines.txt: random outlines, and the runs of their masks by pycocotools.

Usage: outline_painter_golden.py   (needs `pip install pycocotools==2.0.11`)
Each line: height, width; the parts of a polygon, x and y in turn; the runs, column by column, of which the first is outside.
"""

import pathlib
import random

import numpy as np
from pycocotools import mask as coco_masks

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = 200


def coordinate(draw: random.Random, size: int) -> float:
    """Mostly within the image; on the grid of fifths, on whole pixels, or anywhere."""
    beyond = draw.choice([0, 0, 0.3, 3])
    value = draw.uniform(-beyond * size, (1 + beyond) * size)
    return draw.choice([round(value), round(value * 10) / 10, round(value, 2), value])


def line(draw: random.Random) -> str:
    height, width = draw.randint(1, 24), draw.randint(1, 24)
    parts = [
        [coordinate(draw, size) for _ in range(draw.choice([3, 3, 4, 5, 8])) for size in (width, height)]
        for _ in range(draw.choice([1, 1, 2, 3]))
    ]
    runs_of_parts = coco_masks.frPyObjects(parts, height, width)
    pixels = coco_masks.decode(coco_masks.merge(runs_of_parts)).ravel(order="F")
    borders = np.flatnonzero(np.diff(pixels, prepend=0)).tolist()
    runs = np.diff([0, *borders, pixels.size]).tolist()
    polygons = " / ".join(" ".join(map(repr, map(float, part))) for part in parts)
    return f"{height} {width} | {polygons} | {' '.join(map(str, runs))}"


def main() -> None:
    draw = random.Random(7)
    lines = [line(draw) for _ in range(SHAPES)]
    (HERE / "testdata/painted_outlines.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
