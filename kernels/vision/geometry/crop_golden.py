"""Golden data of crop_test.cc: crops after torchvision's documentation and source, and NumPy's padding."""

from __future__ import annotations

import numpy as np

from kernels.testdata.golden import RowRandom, save, source


def center_crop(array: np.ndarray, height: int, width: int) -> np.ndarray:
    h, w = array.shape[:2]
    if height > h or width > w:
        rows = ((height - h) // 2, (height - h + 1) // 2) if height > h else (0, 0)
        columns = ((width - w) // 2, (width - w + 1) // 2) if width > w else (0, 0)
        array = np.pad(array, (rows, columns, (0, 0)))
        h, w = array.shape[:2]
    top, left = int(round((h - height) / 2.0)), int(round((w - width) / 2.0))
    return array[top : top + height, left : left + width]


def random_crop(
    array: np.ndarray, size: tuple[int, int], padding: tuple[int, int, int, int], pad_if_needed: bool, random: RowRandom
) -> np.ndarray:
    left, top, right, bottom = padding
    array = np.pad(array, ((top, bottom), (left, right), (0, 0)))
    if pad_if_needed and array.shape[1] < size[1]:
        missing = size[1] - array.shape[1]
        array = np.pad(array, ((0, 0), (missing, missing), (0, 0)))
    if pad_if_needed and array.shape[0] < size[0]:
        missing = size[0] - array.shape[0]
        array = np.pad(array, ((missing, missing), (0, 0), (0, 0)))
    i = random.below(array.shape[0] - size[0] + 1)
    j = random.below(array.shape[1] - size[1] + 1)
    return array[i : i + size[0], j : j + size[1]]


def crops() -> None:
    image = source()
    for height, width in [(31, 41), (60, 80), (75, 40), (40, 95), (73, 91), (59, 79), (57, 77)]:
        save(f"center_crop.{height}x{width}", center_crop(image, height, width))
    cases = [((32, 40), (0, 0, 0, 0), False), ((60, 80), (4, 4, 4, 4), False), ((50, 70), (1, 2, 3, 4), False)]
    cases += [((70, 90), (0, 0, 0, 0), True)]
    for number, (size, padding, pad_if_needed) in enumerate(cases):
        save(f"random_crop.{number}", random_crop(image, size, padding, pad_if_needed, RowRandom(7, 3, 1, number)))


def pads() -> None:
    image = source()[:7, :9]
    save("pad.source", image)
    for mode in ["edge", "reflect", "symmetric"]:
        save(f"pad.{mode}", np.pad(image, ((2, 4), (1, 3), (0, 0)), mode))
        save(f"pad.{mode}.wide", np.pad(image, ((20, 21), (22, 23), (0, 0)), mode))
    constant = np.empty((7 + 2 + 4, 9 + 1 + 3, 3), np.uint8)
    constant[:] = (10, 20, 30)
    constant[2:9, 1:10] = image
    save("pad.constant", constant)


def main() -> None:
    crops()
    pads()


if __name__ == "__main__":
    main()
