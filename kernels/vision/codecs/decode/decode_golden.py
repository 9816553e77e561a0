"""Golden data of decode_test.cc: encoded images, and Pillow's pixels."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps

from kernels.testdata.golden import photo, save, write


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
    save("palette.png.unchanged", np.asarray(palette)[..., None])
    save("palette_4_bits.png.unchanged", np.asarray(image.quantize(11))[..., None])
    save("rgb_16_bits.png.unchanged", deep)
    save("grey_16_bits.png.unchanged", deep_grey[..., None])
    write("palette_upright.png", with_orientation(palette, 6, "PNG"))
    save("palette_upright.png.turned", np.rot90(np.asarray(palette)[..., None], -1))
    save("rgba.png.unchanged", np.asarray(rgba))
    save("grey_alpha.png.unchanged", np.asarray(rgba.convert("LA")))
    # Pillow opens 16-bit grey as 16-bit numbers and its conversions to 8 bits have changed; ours takes the higher byte.
    write("grey_16_bits.png", png_file(53, 37, 16, 0, False, [row.astype(">u2").tobytes() for row in deep_grey]))
    save("grey_16_bits.png.L", (deep_grey >> 8).astype(np.uint8)[..., None])
    write("orientation_6.png", with_orientation(image, 6, "PNG"))
    save("orientation_6.png.turned", np.rot90(pixels, -1))
    write("truncated.png", variants["rgb"][:-300])
    damaged = bytearray(variants["rgb"])
    damaged[len(damaged) // 2] ^= 0x55
    write("damaged.png", bytes(damaged))
    write("huge.png", png_file(60000, 60000, 8, 2, False, [b"\0" * 60]))


def main() -> None:
    jpegs()
    pngs()


if __name__ == "__main__":
    main()
