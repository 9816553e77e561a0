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


# Weights of the batch, or of each row.
Weights = float | np.ndarray


def mixed(values: np.ndarray, weights: Weights) -> np.ndarray:
    weights = np.reshape(weights, (-1,) + (1,) * (values.ndim - 1))
    return np.roll(values, 1, 0) * (1 - weights).astype(np.float32) + values * weights.astype(np.float32)


def mixed_labels(weights: Weights) -> np.ndarray:
    return mixed(np.eye(CLASSES, dtype=np.float32)[LABELS], weights)


def mix_up(row: int) -> tuple[np.ndarray, np.ndarray]:
    weight = beta(0.4, RowRandom(0, 0, 0, row))
    return mixed(images(), weight), mixed_labels(weight)


def mix_up_by_row(row: int) -> tuple[np.ndarray, np.ndarray]:
    random = RowRandom(0, 0, 0, row)
    weights = np.array([beta(0.4, random) for _ in LABELS])
    return mixed(images(), weights), mixed_labels(weights)


def rectangle(random: RowRandom, height: int, width: int) -> tuple[slice, slice]:
    weight = beta(1.0, random)
    x, y = random.below(width), random.below(height)
    half = 0.5 * math.sqrt(1 - weight)
    half_width, half_height = int(half * width), int(half * height)
    return (
        slice(max(y - half_height, 0), min(y + half_height, height)),
        slice(max(x - half_width, 0), min(x + half_width, width)),
    )


def share(rows: slice, columns: slice, height: int, width: int) -> float:
    return 1 - (columns.stop - columns.start) * (rows.stop - rows.start) / (width * height)


def cut_mix(row: int) -> tuple[np.ndarray, np.ndarray]:
    batch = images()
    height, width = batch.shape[2:]
    box = rectangle(RowRandom(0, 0, 0, row), height, width)
    batch[..., box[0], box[1]] = np.roll(images(), 1, 0)[..., box[0], box[1]]
    return batch, mixed_labels(share(*box, height, width))


def cut_mix_by_row(row: int) -> tuple[np.ndarray, np.ndarray]:
    batch = images()
    height, width = batch.shape[2:]
    random = RowRandom(0, 0, 0, row)
    boxes = [rectangle(random, height, width) for _ in LABELS]
    for image, other, box in zip(batch, np.roll(images(), 1, 0), boxes, strict=True):
        image[:, box[0], box[1]] = other[:, box[0], box[1]]
    return batch, mixed_labels(np.array([share(*box, height, width) for box in boxes]))


def main() -> None:
    save("mixing.images", images())
    for mix in (mix_up, mix_up_by_row, cut_mix, cut_mix_by_row):
        pairs = [mix(row) for row in range(4)]
        save(f"mixing.{mix.__name__}.images", np.stack([pair[0] for pair in pairs]))
        save(f"mixing.{mix.__name__}.labels", np.stack([pair[1] for pair in pairs]))


if __name__ == "__main__":
    main()
