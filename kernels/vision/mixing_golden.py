"""Golden data of mixing_test.cc: the formulas of torchvision's MixUp and CutMix, written out in NumPy."""

from __future__ import annotations

import math

import numpy as np

from kernels.testdata.golden import RowRandom, float_source, save

CLASSES = 4
LABELS = np.array([2, 0, 3, 3, 1])


def images() -> np.ndarray:
    """A batch of float32 (5, 3, 12, 16)."""
    parts = [float_source()[12 * i : 12 * (i + 1), 16 * i : 16 * (i + 1)] for i in range(5)]
    return np.stack(parts).transpose(0, 3, 1, 2).copy()


def beta(alpha: float, random: RowRandom) -> float:
    """Jöhnk's method, for alpha up to 1."""
    while True:
        log_x = math.log(1 - random.uniform()) / alpha
        log_y = math.log(1 - random.uniform()) / alpha
        if math.exp(log_x) + math.exp(log_y) <= 1:
            return 1 / (1 + math.exp(log_y - log_x))


def mixed(values: np.ndarray, weight: float) -> np.ndarray:
    return np.roll(values, 1, 0) * np.float32(1 - weight) + values * np.float32(weight)


def mix_up(row: int) -> tuple[np.ndarray, np.ndarray]:
    weight = beta(0.4, RowRandom(0, 0, 0, row))
    return mixed(images(), weight), mixed(np.eye(CLASSES, dtype=np.float32)[LABELS], weight)


def cut_mix(row: int) -> tuple[np.ndarray, np.ndarray]:
    random = RowRandom(0, 0, 0, row)
    weight = beta(1.0, random)
    batch = images()
    height, width = batch.shape[2:]
    x, y = random.below(width), random.below(height)
    half = 0.5 * math.sqrt(1 - weight)
    half_width, half_height = int(half * width), int(half * height)
    left, right = max(x - half_width, 0), min(x + half_width, width)
    top, bottom = max(y - half_height, 0), min(y + half_height, height)
    batch[..., top:bottom, left:right] = np.roll(images(), 1, 0)[..., top:bottom, left:right]
    share = 1 - (right - left) * (bottom - top) / (width * height)
    return batch, mixed(np.eye(CLASSES, dtype=np.float32)[LABELS], share)


def main() -> None:
    save("mixing.images", images())
    for name, mix in (("mix_up", mix_up), ("cut_mix", cut_mix)):
        pairs = [mix(row) for row in range(4)]
        save(f"mixing.{name}.images", np.stack([pair[0] for pair in pairs]))
        save(f"mixing.{name}.labels", np.stack([pair[1] for pair in pairs]))


if __name__ == "__main__":
    main()
