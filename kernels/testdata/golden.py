"""Code shared by the scripts that make the kernels' golden data.

The script x_golden.py is beside the test x_test.cc and makes the files that the test reads from kernels/testdata, from the
photographs in examples/photos and from other people's code: Pillow decodes and resamples, OpenCV resizes, NumPy pads and
converts, and torchvision's documented formulas, written out, draw boxes. Random numbers come from a second
implementation of Philox, so that the tests also hold the random streams still.

Run from the repository's root:
    .venv/bin/python -m kernels.vision.resize_golden     # one of them
    .venv/bin/python -m kernels.testdata.golden          # all
"""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "kernels" / "testdata"
PHOTOS = ROOT / "examples" / "photos"


def save(name: str, array: np.ndarray) -> None:
    np.save(OUT / f"{name}.npy", np.ascontiguousarray(array))


def write(name: str, data: bytes) -> None:
    (OUT / name).write_bytes(data)


def photo(name: str, size: tuple[int, int]) -> Image.Image:
    """A thumbnail of (width, height) from the middle of a photograph."""
    with Image.open(PHOTOS / name) as image:
        return ImageOps.fit(image.convert("RGB"), size, Image.Resampling.LANCZOS)


def source() -> np.ndarray:
    """The input of most kernels' tests: uint8 (60, 80, 3)."""
    return np.asarray(photo("people/astronaut.jpg", (80, 60)))


def float_source() -> np.ndarray:
    return (source().astype(np.float32) * np.float32(0.37)) - np.float32(20)


# --- Philox4x32-10 and the row's stream, as core/philox.h describes them ---

MASK = (1 << 64) - 1


def scramble(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def mix(key: int, other: int) -> int:
    return scramble(scramble(key) ^ ((other + 0x632BE59BD9B4E019) & MASK))


def philox(counter: list[int], key: list[int]) -> list[int]:
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


class RowRandom:
    def __init__(self, seed: int, salt: int, epoch: int, row: int) -> None:
        self.key = mix(mix(seed, salt), epoch)
        self.row = row
        self.block = 0
        self.words: list[int] = []

    def next64(self) -> int:
        if not self.words:
            counter = [self.row & 0xFFFFFFFF, self.row >> 32, self.block & 0xFFFFFFFF, self.block >> 32]
            self.words = philox(counter, [self.key & 0xFFFFFFFF, self.key >> 32])
            self.block += 1
        low, high = self.words[0], self.words[1]
        self.words = self.words[2:]
        return low | high << 32

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * ((self.next64() >> 11) * 2.0**-53)

    def below(self, bound: int) -> int:
        while True:
            product = self.next64() * bound
            low = product & MASK
            if low >= bound or low >= (2**64 - bound) % bound:
                return product >> 64


def main() -> None:
    save("source", source())
    save("source.float32", float_source())
    for script in sorted((ROOT / "kernels").rglob("*_golden.py")):
        importlib.import_module(".".join(script.relative_to(ROOT).with_suffix("").parts)).main()


if __name__ == "__main__":
    main()
