"""Golden data of random_resized_crop_test.cc: boxes drawn after torchvision's source, and images resized from them."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kernels.testdata.golden import RowRandom, save, source
from kernels.vision.geometry.resize_golden import PILLOW, pillow_resize


def resized_crop_box(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float], random: RowRandom
) -> tuple[int, int, int, int]:
    area = height * width
    log_ratio = math.log(ratio[0]), math.log(ratio[1])
    for _ in range(10):
        target_area = area * random.uniform(*scale)
        aspect_ratio = math.exp(random.uniform(*log_ratio))
        w = int(round(math.sqrt(target_area * aspect_ratio)))
        h = int(round(math.sqrt(target_area / aspect_ratio)))
        if 0 < w <= width and 0 < h <= height:
            i = random.below(height - h + 1)
            j = random.below(width - w + 1)
            return i, j, h, w
    in_ratio = width / height
    if in_ratio < min(ratio):
        w = width
        h = int(round(w / min(ratio)))
    elif in_ratio > max(ratio):
        h = height
        w = int(round(h * max(ratio)))
    else:
        w, h = width, height
    return (height - h) // 2, (width - w) // 2, h, w


def main() -> None:
    image = source()
    boxes = []
    for row in range(60):
        height, width = [(375, 500), (60, 80), (17, 900), (900, 11)][row % 4]
        # The third of each four forces the middle: no box of that ratio fits.
        scale = (0.9, 1.0) if row % 4 >= 2 else (0.08, 1.0)
        box = resized_crop_box(height, width, scale, (3 / 4, 4 / 3), RowRandom(7, 3, 1, row))
        boxes.append((height, width, *box))
    save("resized_crop_boxes", np.array(boxes, dtype=np.int64))
    for row in range(4):
        i, j, h, w = resized_crop_box(60, 80, (0.08, 1.0), (3 / 4, 4 / 3), RowRandom(7, 3, 1, row))
        crop = np.ascontiguousarray(image[i : i + h, j : j + w])
        save(f"resized_crop.{row}.pillow", pillow_resize(crop, (28, 36), PILLOW["bilinear"]))
        save(f"resized_crop.{row}.opencv", cv2.resize(crop, (36, 28), interpolation=cv2.INTER_LINEAR))


if __name__ == "__main__":
    main()
