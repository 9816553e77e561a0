"""Golden data of encode_test.cc: OpenCV's imencode, by a libjpeg-turbo, libpng and zlib of its own.

JPEGs are compared byte by byte, so one of OpenCV's settings that changes shows. PNGs of other builds of zlib differ in
bytes, so the test decodes them; with a level their sizes are near each other."""

from __future__ import annotations

import cv2
import numpy as np

from kernels.testdata.golden import source, write


def encoded(kind: str, array: np.ndarray, *settings: int) -> bytes:
    done, data = cv2.imencode(kind, array[..., ::-1] if array.ndim == 3 else array, list(settings))
    assert done
    return data.tobytes()


def main() -> None:
    colour = source()
    for quality in (1, 50, 95, 100):
        write(f"encode.{quality}.jpg", encoded(".jpg", colour, cv2.IMWRITE_JPEG_QUALITY, quality))
    write("encode.odd.jpg", encoded(".jpg", colour[:37, :53], cv2.IMWRITE_JPEG_QUALITY, 90))
    write("encode.grey.jpg", encoded(".jpg", colour[..., 1], cv2.IMWRITE_JPEG_QUALITY, 95))


if __name__ == "__main__":
    main()
