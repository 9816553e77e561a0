"""The work that every peer does: decode, random-resized-crop, flip, normalise, float32 CHW, in batches."""

import math
import pathlib
import random

SIDE = 224
BATCH = 32
SCALE = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)
# In the units of the pixels, 0 to 255.
MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)
# The batch size of the rows that need no work.
ROWS_A_BATCH = 256
SHUFFLE_WINDOW = 1000


def images(folder: str) -> list[str]:
    """The files of all class folders, in order."""
    return sorted(str(file) for file in pathlib.Path(folder).glob("*/*") if file.is_file())


def crop_box(width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, width and height, drawn as torchvision's RandomResizedCrop does; for peers without one."""
    for _ in range(10):
        area = width * height * random.uniform(*SCALE)
        ratio = math.exp(random.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, width - w), random.randint(0, height - h), w, h
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, side, side
