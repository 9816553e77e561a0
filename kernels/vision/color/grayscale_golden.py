"""Golden data of grayscale_test.cc: Pillow's convert("L"), and for reals the same weights in NumPy."""

from __future__ import annotations

import numpy as np
from PIL import Image

from kernels.testdata.golden import float_source, save, source


def main() -> None:
    save("grayscale", np.asarray(Image.fromarray(source()).convert("L"))[..., None])
    red, green, blue = np.moveaxis(float_source(), -1, 0)
    luma = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue
    save("grayscale.float32", luma[..., None])


if __name__ == "__main__":
    main()
