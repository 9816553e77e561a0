"""Image records of small images, for tests of what reads them."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

import headrace.mx as mx


def write_records(
    folder: pathlib.Path,
    name: str,
    payloads: Sequence[bytes],
    labels: Sequence[Any] | None = None,
    ids: Sequence[int] | None = None,
) -> str:
    """Records of encoded images, their index, and a list of other labels."""
    record = mx.recordio.MXIndexedRecordIO(str(folder / f"{name}.idx"), str(folder / f"{name}.rec"), "w")
    for i, payload in enumerate(payloads):
        header = mx.recordio.IRHeader(0, i if labels is None else labels[i], 100 + i if ids is None else ids[i], 0)
        record.write_idx(i, mx.recordio.pack(header, payload))
    record.close()
    lines = [f"{100 + i}\t{i * 10}.5\timage.png\n" for i in range(len(payloads))]
    (folder / f"{name}.lst").write_text("".join(lines))
    return str(folder / f"{name}.rec")


def encoded(image: np.ndarray, kind: str = ".png") -> bytes:
    return cv2.imencode(kind, image)[1].tobytes()


def image_of(seed: int, height: int = 12, width: int = 15) -> np.ndarray:
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    return cv2.GaussianBlur(noise, (0, 0), 1.0)
