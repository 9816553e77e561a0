"""Makes the golden files of the kernels' tests.

Everything comes from the photographs in examples/photos and from other people's code: Pillow decodes and resamples,
OpenCV resizes, NumPy pads and converts, and torchvision's documented formulas, written out here, draw boxes. Random
numbers come from a second implementation of Philox, so that the tests also hold the random streams still.

Run from the repository's root: .venv/bin/python kernels/testdata/make_golden.py
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from pathlib import Path

import cv2
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
    """A thumbnail of (width, height), out of the middle of a photograph."""
    with Image.open(PHOTOS / name) as image:
        return ImageOps.fit(image.convert("RGB"), size, Image.Resampling.LANCZOS)


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


# --- encoded pictures ---


def encode(image: Image.Image, kind: str = "JPEG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def ycck_jpeg(image: Image.Image) -> bytes:
    """Pillow writes CMYK as it is; so this gives it Y, Cb, Cr, K and then changes the Adobe marker's transform to 2."""
    stored = 255 - np.asarray(image.convert("CMYK"))
    stored[..., 3] = np.clip(stored[..., 3].astype(int) - 30, 0, 255)  # some black, which convert leaves out
    rgb = Image.fromarray(255 - stored[..., :3], "RGB")
    planes = np.dstack([np.asarray(rgb.convert("YCbCr")), stored[..., 3]])
    data = bytearray(encode(Image.fromarray(255 - planes, "CMYK"), quality=90))
    adobe = data.index(b"Adobe")
    assert data[adobe + 11] == 0
    data[adobe + 11] = 2
    return bytes(data)


def decoded(data: bytes, mode: str) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        array = np.asarray(image.convert(mode))
    return array if array.ndim == 3 else array[..., None]


def with_orientation(image: Image.Image, orientation: int, kind: str = "JPEG") -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encode(image, kind, exif=exif, **({"quality": 90} if kind == "JPEG" else {}))


def jpegs() -> None:
    image = photo("things/coffee.jpg", (61, 47))
    cmyk = np.array(image.convert("CMYK"))
    cmyk[..., 3] = np.linspace(0, 120, cmyk.shape[1]).astype(np.uint8)  # some black, which convert leaves out
    variants = {
        "baseline_420": encode(image, quality=85, subsampling="4:2:0"),
        "baseline_422": encode(image, quality=85, subsampling="4:2:2"),
        "baseline_444": encode(image, quality=85, subsampling="4:4:4"),
        "progressive": encode(image, quality=85, progressive=True),
        "restarts": encode(image, quality=85, restart_marker_blocks=2),
        "rgb": encode(image, quality=85, keep_rgb=True),
        "grey": encode(image.convert("L"), quality=85),
        "cmyk": encode(Image.fromarray(cmyk, "CMYK"), quality=90),
        "ycck": ycck_jpeg(image),
    }
    for name, data in variants.items():
        write(f"{name}.jpg", data)
        save(f"{name}.jpg.RGB", decoded(data, "RGB"))
        save(f"{name}.jpg.L", decoded(data, "L"))
    small = photo("animals/cat.jpg", (23, 17))
    for orientation in range(1, 9):
        data = with_orientation(small, orientation)
        write(f"orientation_{orientation}.jpg", data)
        with Image.open(io.BytesIO(data)) as turned:
            save(f"orientation_{orientation}.jpg.turned", np.asarray(ImageOps.exif_transpose(turned)))
    save("orientation_1.jpg.RGB", decoded(with_orientation(small, 1), "RGB"))
    progressive = variants["progressive"]
    write("truncated_baseline.jpg", variants["baseline_420"][:-200])
    write("truncated_progressive.jpg", progressive[: progressive.rindex(b"\xff\xda")])
    write("no_end_marker.jpg", variants["baseline_420"][:-2])
    stray = variants["baseline_420"]
    write("stray_bytes.jpg", stray[:-2] + b"\x00\x00\x00" + stray[-2:])
    damaged = bytearray(variants["baseline_420"])
    scan = damaged.index(b"\xff\xda") + 14
    damaged[scan + 100 : scan + 160] = b"\xff\x00" * 30
    write("damaged.jpg", bytes(damaged))
    huge = bytearray(encode(Image.new("L", (8, 8))))
    frame = huge.index(b"\xff\xc0")
    huge[frame + 5 : frame + 9] = struct.pack(">HH", 60000, 60000)
    write("huge.jpg", bytes(huge))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_file(width: int, height: int, depth: int, color: int, interlaced: bool, rows: list[bytes]) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def interlaced_png(pixels: np.ndarray) -> bytes:
    """Adam7, which Pillow reads but does not write."""
    height, width, _ = pixels.shape
    rows = []
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    for top, left, down, right in passes:
        part = pixels[top::down, left::right]
        rows += [row.tobytes() for row in part if row.size]
    return png_file(width, height, 8, 2, True, rows)


def pngs() -> None:
    image = photo("things/coffee-cup.jpg", (53, 37))
    pixels = np.asarray(image)
    alpha = np.linspace(0, 255, 53).astype(np.uint8)[None, :].repeat(37, 0)
    rgba = Image.fromarray(np.dstack([pixels, alpha]), "RGBA")
    palette = image.quantize(32)
    deep = (pixels.astype(np.uint16) << 8) | np.arange(256, dtype=np.uint16)[np.arange(53) % 256][None, :, None]
    deep_grey = deep[..., 1]
    variants = {
        "rgb": encode(image, "PNG", optimize=True),
        "rgba": encode(rgba, "PNG"),
        "grey": encode(image.convert("L"), "PNG"),
        "grey_alpha": encode(rgba.convert("LA"), "PNG"),
        "black_white": encode(image.convert("1"), "PNG"),
        "palette": encode(palette, "PNG"),
        "palette_4_bits": encode(image.quantize(11), "PNG", bits=4),
        "palette_transparent": encode(palette, "PNG", transparency=3),
        "interlaced": interlaced_png(pixels),
        "rgb_16_bits": png_file(53, 37, 16, 2, False, [row.astype(">u2").tobytes() for row in deep]),
    }
    for name, data in variants.items():
        write(f"{name}.png", data)
        save(f"{name}.png.RGB", decoded(data, "RGB"))
        save(f"{name}.png.L", decoded(data, "L"))
    save("rgba.png.unchanged", np.asarray(rgba))
    save("grey_alpha.png.unchanged", np.asarray(rgba.convert("LA")))
    # Pillow opens 16-bit grey as numbers of 16 bits and its conversions to 8 have changed; the higher byte is the rule.
    write("grey_16_bits.png", png_file(53, 37, 16, 0, False, [row.astype(">u2").tobytes() for row in deep_grey]))
    save("grey_16_bits.png.L", (deep_grey >> 8).astype(np.uint8)[..., None])
    write("orientation_6.png", with_orientation(image, 6, "PNG"))
    save("orientation_6.png.turned", np.rot90(pixels, -1))
    write("truncated.png", variants["rgb"][:-300])
    damaged = bytearray(variants["rgb"])
    damaged[len(damaged) // 2] ^= 0x55
    write("damaged.png", bytes(damaged))
    write("huge.png", png_file(60000, 60000, 8, 2, False, [b"\0" * 60]))


# --- resizing ---

PILLOW = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "area": Image.Resampling.BOX,
}
OPENCV = {
    "nearest": cv2.INTER_NEAREST,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "area": cv2.INTER_AREA,
}
SIZES = [(23, 31), (97, 111), (60, 45), (90, 80), (40, 100)]


def pillow_resize(array: np.ndarray, size: tuple[int, int], filter_: Image.Resampling) -> np.ndarray:
    height, width = size
    if array.dtype == np.uint8:
        return np.asarray(Image.fromarray(array).resize((width, height), filter_))
    planes = [Image.fromarray(array[..., c], "F") for c in range(array.shape[2])]
    return np.dstack([np.asarray(plane.resize((width, height), filter_)) for plane in planes])


def resizes() -> None:
    source = np.asarray(photo("people/astronaut.jpg", (80, 60)))
    save("source", source)
    floats = (source.astype(np.float32) * np.float32(0.37)) - np.float32(20)
    save("source.float32", floats)
    for name in PILLOW:
        for height, width in SIZES:
            stem = f"resize.{name}.{height}x{width}"
            save(f"{stem}.pillow", pillow_resize(source, (height, width), PILLOW[name]))
            save(f"{stem}.opencv", cv2.resize(source, (width, height), interpolation=OPENCV[name]))
        save(f"resize.{name}.float32.pillow", pillow_resize(floats, (23, 31), PILLOW[name]))
        save(f"resize.{name}.float32.opencv", cv2.resize(floats, (31, 23), interpolation=OPENCV[name]))
        save(f"resize.{name}.grey.pillow", pillow_resize(source[..., 1], (41, 100), PILLOW[name]))
    # torchvision's Resize(32) of 60 × 80: the shorter side becomes 32, the longer int(32 · 80 / 60).
    save("resize.shorter", pillow_resize(source, (32, int(32 * 80 / 60)), PILLOW["bilinear"]))
    save(
        "resize.shorter_upright", pillow_resize(source.transpose(1, 0, 2), (int(32 * 80 / 60), 32), PILLOW["bilinear"])
    )


# --- crops, after torchvision's documentation and source ---


def center_crop(array: np.ndarray, height: int, width: int) -> np.ndarray:
    h, w = array.shape[:2]
    if height > h or width > w:
        rows = ((height - h) // 2, (height - h + 1) // 2) if height > h else (0, 0)
        columns = ((width - w) // 2, (width - w + 1) // 2) if width > w else (0, 0)
        array = np.pad(array, (rows, columns, (0, 0)))
        h, w = array.shape[:2]
    top, left = int(round((h - height) / 2.0)), int(round((w - width) / 2.0))
    return array[top : top + height, left : left + width]


def resized_crop_box(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float], random: RowRandom
) -> tuple[int, int, int, int]:
    area = height * width
    log_ratio = math.log(ratio[0]), math.log(ratio[1])
    for _ in range(10):
        target_area = area * random.uniform(*scale)
        aspect_ratio = math.exp(random.uniform(*log_ratio))
        w = int(round(math.sqrt(target_area * aspect_ratio)))
        h = int(round(math.sqrt(target_area / aspect_ratio)))
        if 0 < w <= width and 0 < h <= height:
            i = random.below(height - h + 1)
            j = random.below(width - w + 1)
            return i, j, h, w
    in_ratio = width / height
    if in_ratio < min(ratio):
        w = width
        h = int(round(w / min(ratio)))
    elif in_ratio > max(ratio):
        h = height
        w = int(round(h * max(ratio)))
    else:
        w, h = width, height
    return (height - h) // 2, (width - w) // 2, h, w


def random_crop(
    array: np.ndarray, size: tuple[int, int], padding: tuple[int, int, int, int], pad_if_needed: bool, random: RowRandom
) -> np.ndarray:
    left, top, right, bottom = padding
    array = np.pad(array, ((top, bottom), (left, right), (0, 0)))
    if pad_if_needed and array.shape[1] < size[1]:
        missing = size[1] - array.shape[1]
        array = np.pad(array, ((0, 0), (missing, missing), (0, 0)))
    if pad_if_needed and array.shape[0] < size[0]:
        missing = size[0] - array.shape[0]
        array = np.pad(array, ((missing, missing), (0, 0), (0, 0)))
    i = random.below(array.shape[0] - size[0] + 1)
    j = random.below(array.shape[1] - size[1] + 1)
    return array[i : i + size[0], j : j + size[1]]


def crops() -> None:
    source = np.load(OUT / "source.npy")
    for height, width in [(31, 41), (60, 80), (75, 40), (40, 95), (73, 91), (59, 79), (57, 77)]:
        save(f"center_crop.{height}x{width}", center_crop(source, height, width))
    boxes = []
    for row in range(60):
        height, width = [(375, 500), (60, 80), (17, 900), (900, 11)][row % 4]
        # The third of each four forces the middle: no box of that ratio fits.
        scale = (0.9, 1.0) if row % 4 >= 2 else (0.08, 1.0)
        box = resized_crop_box(height, width, scale, (3 / 4, 4 / 3), RowRandom(7, 3, 1, row))
        boxes.append((height, width, *box))
    save("resized_crop_boxes", np.array(boxes, dtype=np.int64))
    for row in range(4):
        i, j, h, w = resized_crop_box(60, 80, (0.08, 1.0), (3 / 4, 4 / 3), RowRandom(7, 3, 1, row))
        crop = np.ascontiguousarray(source[i : i + h, j : j + w])
        save(f"resized_crop.{row}.pillow", pillow_resize(crop, (28, 36), PILLOW["bilinear"]))
        save(f"resized_crop.{row}.opencv", cv2.resize(crop, (36, 28), interpolation=cv2.INTER_LINEAR))
    cases = [((32, 40), (0, 0, 0, 0), False), ((60, 80), (4, 4, 4, 4), False), ((50, 70), (1, 2, 3, 4), False)]
    cases += [((70, 90), (0, 0, 0, 0), True)]
    for number, (size, padding, pad_if_needed) in enumerate(cases):
        save(f"random_crop.{number}", random_crop(source, size, padding, pad_if_needed, RowRandom(7, 3, 1, number)))


def pads() -> None:
    source = np.load(OUT / "source.npy")[:7, :9]
    save("pad.source", source)
    for mode in ["edge", "reflect", "symmetric"]:
        save(f"pad.{mode}", np.pad(source, ((2, 4), (1, 3), (0, 0)), mode))
        save(f"pad.{mode}.wide", np.pad(source, ((20, 21), (22, 23), (0, 0)), mode))
    constant = np.empty((7 + 2 + 4, 9 + 1 + 3, 3), np.uint8)
    constant[:] = (10, 20, 30)
    constant[2:9, 1:10] = source
    save("pad.constant", constant)


# --- values ---


def values() -> None:
    source = np.load(OUT / "source.npy")
    floats = np.load(OUT / "source.float32.npy")
    mean = np.array([123.675, 116.28, 103.53], np.float32)
    std = np.array([58.395, 57.12, 57.375], np.float32)
    save("normalize.uint8", (source.astype(np.float32) - mean) / std)
    save("normalize.float32", (floats - mean) / std)
    save("rescale.uint8", source.astype(np.float32) * np.float32(1 / 255) + np.float32(-0.5))
    # Bits of reals near every border that rounding to 16 bits has.
    random = np.random.default_rng(5)
    singles = random.integers(0, 2**32, 3000, dtype=np.uint32).view(np.float32)
    singles = np.concatenate([singles, (2.0 ** random.uniform(-27, 17, 1000)).astype(np.float32)])
    singles = singles[~np.isnan(singles)]
    halves = random.integers(0, 0x7C00, 1000).astype(np.uint16).view(np.float16).astype(np.float64)
    ties = halves * (1 + 2.0**-11)
    near_ties = ties * (1 + random.integers(-1, 2, 1000) * 2.0**-40)
    doubles = np.concatenate([singles.astype(np.float64), ties, near_ties])
    with np.errstate(all="ignore"):
        save("cast.float32", singles)
        save("cast.float32.float16", singles.astype(np.float16))
        save("cast.float64", doubles)
        save("cast.float64.float16", doubles.astype(np.float16))
        save("cast.float64.float32", doubles.astype(np.float32))
    whole = random.integers(-(2**63), 2**63 - 1, 500, dtype=np.int64)
    save("cast.int64", whole)
    for to in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64", "float32", "float64", "bool"]:
        save(f"cast.int64.{to}", whole.astype(to))


def main() -> None:
    for old in OUT.glob("*"):
        if old.suffix in {".npy", ".jpg", ".png"}:
            old.unlink()
    jpegs()
    pngs()
    resizes()
    crops()
    pads()
    values()
    files = [path for path in OUT.iterdir() if path.suffix != ".py"]
    largest = max(files, key=lambda path: path.stat().st_size)
    total = sum(path.stat().st_size for path in files)
    print(f"{len(files)} files, {total / 1e6:.2f} MB; the largest: {largest.name}, {largest.stat().st_size} bytes")


if __name__ == "__main__":
    main()
