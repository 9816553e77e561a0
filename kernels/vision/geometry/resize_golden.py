"""Golden data of resize_test.cc: images resized by Pillow and OpenCV."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image

from kernels.testdata.golden import float_source, save, source

PILLOW = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "area": Image.Resampling.BOX,
    "lanczos": Image.Resampling.LANCZOS,
}
OPENCV = {
    "nearest": cv2.INTER_NEAREST,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "area": cv2.INTER_AREA,
    "lanczos": cv2.INTER_LANCZOS4,
}
SIZES = [(23, 31), (97, 111), (60, 45), (90, 80), (40, 100)]


def pillow_resize(array: np.ndarray, size: tuple[int, int], filter_: Image.Resampling) -> np.ndarray:
    height, width = size
    if array.dtype == np.uint8:
        return np.asarray(Image.fromarray(array).resize((width, height), filter_))
    # Modes F and I;16.
    planes = [Image.fromarray(np.ascontiguousarray(array[..., c])) for c in range(array.shape[2])]
    return np.dstack([np.asarray(plane.resize((width, height), filter_)) for plane in planes])


def main() -> None:
    image, floats = source(), float_source()
    for name in PILLOW:
        for height, width in SIZES:
            stem = f"resize.{name}.{height}x{width}"
            save(f"{stem}.pillow", pillow_resize(image, (height, width), PILLOW[name]))
            save(f"{stem}.opencv", cv2.resize(image, (width, height), interpolation=OPENCV[name]))
        save(f"resize.{name}.float32.pillow", pillow_resize(floats, (23, 31), PILLOW[name]))
        save(f"resize.{name}.float32.opencv", cv2.resize(floats, (31, 23), interpolation=OPENCV[name]))
        words = image.astype(np.uint16) * 257
        save(f"resize.{name}.uint16.opencv", cv2.resize(words, (31, 23), interpolation=OPENCV[name]))
        # So far from the ends of the range that no filter leaves it, as Pillow's values wrap around there.
        inner = image.astype(np.uint16) * 173 + 9999
        save(f"resize.{name}.uint16.pillow", pillow_resize(inner, (23, 31), PILLOW[name]))
        save(f"resize.{name}.grey.pillow", pillow_resize(image[..., 1], (41, 100), PILLOW[name]))
    # torchvision's Resize(32) of 60 × 80: the shorter side becomes 32, the longer int(32 · 80 / 60).
    save("resize.shorter", pillow_resize(image, (32, int(32 * 80 / 60)), PILLOW["bilinear"]))
    save("resize.shorter_upright", pillow_resize(image.transpose(1, 0, 2), (int(32 * 80 / 60), 32), PILLOW["bilinear"]))


if __name__ == "__main__":
    main()
