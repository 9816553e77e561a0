"""Golden data of gaussian_noise_test.cc: torchvision's formulas, with normal numbers of NumPy's functions."""

from __future__ import annotations

import numpy as np

from kernels.testdata.golden import RowRandom, save, source


def normals(row: int, count: int) -> np.ndarray:
    """Box and Muller's, as normal_numbers.h describes them, each pair of two words of 32 bits."""
    random = RowRandom(0, 0, 0, row)
    pairs = [random.next64() for _ in range(-(-count // 2))]
    radius = np.sqrt(-2 * np.log((np.array([pair & 0xFFFFFFFF for pair in pairs], np.float64) + 1) / 2.0**32))
    word = np.array([pair >> 32 for pair in pairs], np.uint64)
    within = (word & np.uint64(0x3FFFFFFF)).astype(np.float64) - 2.0**29 + 0.5
    angle = (word >> np.uint64(30)).astype(np.float64) * (np.pi / 2) + within * (np.pi / 2 / 2.0**30)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:count].astype(np.float32)


def noisy(image: np.ndarray, row: int, mean: float, sigma: float, clip: bool = True) -> np.ndarray:
    normal = normals(row, image.size).reshape(image.shape)
    if image.dtype == np.float32:
        result = image + (np.float32(mean) + normal * np.float32(sigma))
        return np.clip(result, np.float32(0), np.float32(1)) if clip else result
    unit = np.iinfo(image.dtype).max
    noise = np.trunc(np.float32(mean * unit) + normal * np.float32(sigma * unit)).astype(np.int64)
    return np.clip(image.astype(np.int64) + noise, 0, unit).astype(image.dtype)


def main() -> None:
    image = source()[10:40, 20:61]
    unit = (image / np.float32(255)).astype(np.float32)
    save("noise.normal", normals(3, 1001))
    save("noise.uint8", noisy(image, 0, 0.02, 0.1))
    save("noise.uint16", noisy(image.astype(np.uint16) * 257, 0, 0.02, 0.1))
    save("noise.float32", noisy(unit, 0, 0.02, 0.1))
    save("noise.float32.whole", noisy(image.astype(np.float32), 0, 2, 25, clip=False))


if __name__ == "__main__":
    main()
