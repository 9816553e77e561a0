"""Golden data of random_erasing_test.cc: rectangles drawn and erased after torchvision's source."""

from __future__ import annotations

import math

import numpy as np

from kernels.testdata.golden import RowRandom, save, source

VALUE = (124, 116, 104)


def erased(
    array: np.ndarray, p: float, scale: tuple[float, float], ratio: tuple[float, float], random: RowRandom
) -> np.ndarray:
    array = array.copy()
    if random.uniform() >= p:
        return array
    height, width = array.shape[:2]
    log_ratio = math.log(ratio[0]), math.log(ratio[1])
    for _ in range(10):
        area = height * width * random.uniform(*scale)
        aspect = math.exp(random.uniform(*log_ratio))
        h = int(round(math.sqrt(area * aspect)))
        w = int(round(math.sqrt(area / aspect)))
        if h < height and w < width:
            i = random.below(height - h + 1)
            j = random.below(width - w + 1)
            array[i : i + h, j : j + w] = VALUE
            break
    return array


def main() -> None:
    image = source()[:24, :32]
    for name, scale in [("usual", (0.02, 0.33)), ("large", (0.6, 1.0))]:
        rows = [erased(image, 0.5, scale, (0.3, 3.3), RowRandom(7, 3, 1, row)) for row in range(12)]
        save(f"random_erasing.{name}", np.stack(rows))


if __name__ == "__main__":
    main()
