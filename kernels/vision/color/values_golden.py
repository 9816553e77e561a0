"""Golden data of values_test.cc: NumPy's arithmetic."""

from __future__ import annotations

import numpy as np

from kernels.testdata.golden import float_source, save, source


def main() -> None:
    mean = np.array([123.675, 116.28, 103.53], np.float32)
    std = np.array([58.395, 57.12, 57.375], np.float32)
    save("normalize.uint8", (source().astype(np.float32) - mean) / std)
    save("normalize.float32", (float_source() - mean) / std)
    save("rescale.uint8", source().astype(np.float32) * np.float32(1 / 255) + np.float32(-0.5))


if __name__ == "__main__":
    main()
