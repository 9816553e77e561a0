"""Golden data of formats_test.cc: images in formats that are decoded whole, and Pillow's pixels."""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import Image, ImageOps

from kernels.testdata.golden import photo, save, write

SIZE = (45, 31)  # odd, so that rows have padding


def encode(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def decoded(data: bytes, mode: str) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        array = np.asarray(image.convert(mode))
    return array if array.ndim == 3 else array[..., None]


def keep(ending: str, variants: dict[str, bytes]) -> None:
    for name, data in variants.items():
        write(f"{name}.{ending}", data)
        save(f"{name}.{ending}.RGB", decoded(data, "RGB"))
        save(f"{name}.{ending}.L", decoded(data, "L"))


def turned(ending: str, data: bytes) -> None:
    write(f"orientation_6.{ending}", data)
    with Image.open(io.BytesIO(data)) as image:
        save(f"orientation_6.{ending}.turned", np.asarray(ImageOps.exif_transpose(image)))


def with_alpha(image: Image.Image) -> Image.Image:
    alpha = np.linspace(0, 255, image.width).astype(np.uint8)[None, :].repeat(image.height, 0)
    return Image.fromarray(np.dstack([np.asarray(image), alpha]), "RGBA")


def webps(image: Image.Image) -> None:
    other = ImageOps.mirror(image)
    rgba = with_alpha(image)
    keep(
        "webp",
        {
            "lossy": encode(image, "WEBP", quality=80),
            "lossless": encode(image, "WEBP", lossless=True),
            "lossy_alpha": encode(rgba, "WEBP", quality=80),
            "lossless_alpha": encode(rgba, "WEBP", lossless=True, exact=True),
            "animated": encode(image, "WEBP", save_all=True, append_images=[other], lossless=True),
        },
    )
    save("lossless_alpha.webp.unchanged", np.asarray(rgba))
    exif = Image.Exif()
    exif[0x0112] = 6
    turned("webp", encode(image, "WEBP", lossless=True, exif=exif))


def gifs(image: Image.Image) -> None:
    palette = image.quantize(40)
    plain = encode(palette, "GIF", interlace=0)
    # The frame stands at (7, 5) of a screen of 60 × 50; its descriptor begins with a comma after the palette.
    part = bytearray(plain)
    descriptor = part.index(b"\x2c" + struct.pack("<HHHH", 0, 0, *SIZE))
    part[descriptor + 1 : descriptor + 5] = struct.pack("<HH", 7, 5)
    part[6:10] = struct.pack("<HH", 60, 50)
    keep(
        "gif",
        {
            "palette": plain,
            "interlaced": encode(palette, "GIF", interlace=1),
            "transparent": encode(palette, "GIF", transparency=3),
            "part_of_screen": bytes(part),
            "grey": encode(image.convert("L"), "GIF"),
            "animated": encode(palette, "GIF", save_all=True, append_images=[ImageOps.mirror(image).quantize(40)]),
        },
    )
    with Image.open(io.BytesIO(plain)) as read:
        save("palette.gif.unchanged", np.asarray(read)[..., None])
    # What is transparent is so in Pillow's RGBA, too.
    transparent = encode(palette, "GIF", transparency=3)
    save("transparent.gif.any", decoded(transparent, "RGBA"))


def bmp_file(
    header: int,
    size: tuple[int, int],
    bits: int,
    packing: int,
    rows: bytes,
    *,
    palette: bytes = b"",
    masks: bytes = b"",
) -> bytes:
    width, height = size
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        colors = len(palette) // 4
        info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, packing, len(rows), 2835, 2835, colors, 0)
        info += masks.ljust(header - 40, b"\0") if header > 40 else masks
    begin = 14 + len(info) + len(palette)
    return struct.pack("<2sIHHI", b"BM", begin + len(rows), 0, 0, begin) + info + palette + rows


def padded(row: bytes) -> bytes:
    return row + b"\0" * (-len(row) % 4)


def bottom_up(pixels: np.ndarray) -> bytes:
    return b"".join(padded(row.tobytes()) for row in pixels[::-1])


def packed(indices: np.ndarray, bits: int) -> np.ndarray:
    """Several indices in a byte, the first one highest."""
    per = 8 // bits
    wide = np.pad(indices, ((0, 0), (0, -indices.shape[1] % per))).reshape(len(indices), -1, per)
    shifts = (per - 1 - np.arange(per)) * bits
    return (wide.astype(np.uint16) << shifts).sum(2).astype(np.uint8)


def run_lengths(indices: np.ndarray, bits: int) -> bytes:
    """Each row as one run of equal indices after another, except for some rows that stand there one by one."""
    out = b""
    for number, row in enumerate(indices[::-1]):
        if number % 3 == 0:
            body = row.tobytes() if bits == 8 else packed(row[None], 4).tobytes()
            out += bytes([0, len(row)]) + body + b"\0" * (len(body) % 2)
        else:
            at = 0
            while at < len(row):
                count = 1
                while at + count < len(row) and row[at + count] == row[at] and count < 255:
                    count += 1
                value = int(row[at]) * (1 if bits == 8 else 17)
                out += bytes([count, value])
                at += count
        out += b"\0\0"
    return out + b"\0\1"


def bmps(image: Image.Image) -> None:
    pixels = np.asarray(image).astype(np.uint32)
    bgr = np.asarray(image)[..., ::-1]

    def colors(count: int, entry: int) -> tuple[np.ndarray, bytes]:
        quantized = image.quantize(count)
        table = np.zeros((count, entry), np.uint8)
        known = np.array(quantized.getpalette(), np.uint8).reshape(-1, 3)[:count]
        table[: len(known), :3] = known[:, ::-1]
        return np.asarray(quantized), table.tobytes()

    two, two_colors = colors(2, 4)
    sixteen, sixteen_colors = colors(16, 4)
    many, many_colors = colors(256, 4)
    old, old_colors = colors(256, 3)
    fields_555 = (pixels[..., 0] >> 3 << 10 | pixels[..., 1] >> 3 << 5 | pixels[..., 2] >> 3).astype("<u2")
    fields_565 = (pixels[..., 0] >> 3 << 11 | pixels[..., 1] >> 2 << 5 | pixels[..., 2] >> 3).astype("<u2")
    masks_565 = struct.pack("<III", 0xF800, 0x07E0, 0x001F)
    masks_rgba = struct.pack("<IIII", 0xFF, 0xFF00, 0xFF0000, 0xFF000000)
    keep(
        "bmp",
        {
            "rgb": encode(image, "BMP"),
            "grey": encode(image.convert("L"), "BMP"),
            "palette": encode(image.quantize(40), "BMP"),
            "black_white": encode(image.convert("1"), "BMP"),
            "bits_1": bmp_file(40, SIZE, 1, 0, bottom_up(packed(two, 1)), palette=two_colors),
            "bits_4": bmp_file(40, SIZE, 4, 0, bottom_up(packed(sixteen, 4)), palette=sixteen_colors),
            "runs_4": bmp_file(40, SIZE, 4, 2, run_lengths(sixteen, 4), palette=sixteen_colors),
            "runs_8": bmp_file(40, SIZE, 8, 1, run_lengths(many, 8), palette=many_colors),
            "old_header": bmp_file(12, SIZE, 8, 0, bottom_up(old), palette=old_colors),
            "bits_16": bmp_file(40, SIZE, 16, 0, bottom_up(fields_555)),
            "fields_565": bmp_file(40, SIZE, 16, 3, bottom_up(fields_565), masks=masks_565),
            "bits_32": bmp_file(40, SIZE, 32, 0, bottom_up(np.dstack([bgr, bgr[..., :1]]))),
            "from_top": bmp_file(40, (SIZE[0], -SIZE[1]), 24, 0, bottom_up(bgr[::-1])),
            "unused_alpha": encode(with_alpha(image), "BMP"),
            "alpha": bmp_file(56, SIZE, 32, 3, bottom_up(np.asarray(with_alpha(image))), masks=masks_rgba),
        },
    )
    save("alpha.bmp.unchanged", np.asarray(with_alpha(image)))
    save("bits_4.bmp.unchanged", sixteen[..., None])
    # Pillow stops at the first step; ours passes over the pixels, which are 0, at the left of the second row from below.
    rows = bytes([45, 7, 0, 0]) + bytes([0, 2, 5, 0]) + bytes([40, 9, 0, 0]) + bytes([0, 1])
    write("runs_with_step.bmp", bmp_file(40, SIZE, 8, 1, rows, palette=many_colors))


TYPES = {"H": 3, "I": 4}


def tiff_file(fields: dict[int, list[int]], parts: list[bytes], *, tiled: bool = False, order: str = "<") -> bytes:
    """A TIFF of one image. `parts`: its strips or tiles."""
    offsets, counts = (324, 325) if tiled else (273, 279)
    at = 8
    places = []
    for part in parts:
        places.append(at)
        at += len(part) + len(part) % 2
    body = b"".join(part + b"\0" * (len(part) % 2) for part in parts)
    fields = fields | {offsets: places, counts: [len(part) for part in parts]}
    directory_at = at
    values_at = at + 2 + 12 * len(fields) + 4
    entries = values = b""
    for tag, numbers in sorted(fields.items()):
        kind = "I" if tag in (offsets, counts, 256, 257, 278, 322, 323) else "H"
        data = struct.pack(f"{order}{len(numbers)}{kind}", *numbers)
        if len(data) <= 4:
            place = data.ljust(4, b"\0")
        else:
            place = struct.pack(f"{order}I", values_at + len(values))
            values += data + b"\0" * (len(data) % 2)
        entries += struct.pack(f"{order}HHI", tag, TYPES[kind], len(numbers)) + place
    mark = b"II" if order == "<" else b"MM"
    head = mark + struct.pack(f"{order}HI", 42, directory_at)
    return head + body + struct.pack(f"{order}H", len(fields)) + entries + struct.pack(f"{order}I", 0) + values


def tiff_fields(bits: list[int], photometric: int, **more: list[int]) -> dict[int, list[int]]:
    fields = {256: [SIZE[0]], 257: [SIZE[1]], 258: bits, 259: [1], 262: [photometric], 277: [len(bits)]}
    return fields | {int(tag[1:]): numbers for tag, numbers in more.items()}


def tiffs(image: Image.Image) -> None:
    pixels = np.asarray(image)
    grey = np.asarray(image.convert("L"))
    deep = (pixels.astype(np.uint16) << 8) | np.arange(SIZE[0], dtype=np.uint16)[None, :, None]
    cmyk = image.convert("CMYK")
    strips = [pixels[top : top + 8].tobytes() for top in range(0, SIZE[1], 8)]
    wide = np.pad(pixels, ((0, -SIZE[1] % 16), (0, -SIZE[0] % 16), (0, 0)))
    tiles = [
        wide[top : top + 16, left : left + 16].tobytes()
        for top in range(0, wide.shape[0], 16)
        for left in range(0, wide.shape[1], 16)
    ]
    keep(
        "tiff",
        {
            "rgb": encode(image, "TIFF"),
            "grey": encode(image.convert("L"), "TIFF"),
            "grey_alpha": encode(with_alpha(image).convert("LA"), "TIFF"),
            "rgba": encode(with_alpha(image), "TIFF"),
            "palette": encode(image.quantize(40), "TIFF"),
            "black_white": encode(image.convert("1"), "TIFF"),
            "lzw": encode(image, "TIFF", compression="tiff_lzw"),
            "deflate": encode(image, "TIFF", compression="tiff_adobe_deflate"),
            "packbits": encode(image, "TIFF", compression="packbits"),
            "fax": encode(image.convert("1"), "TIFF", compression="group4"),
            "cmyk": encode(cmyk, "TIFF"),
            "strips": tiff_file(tiff_fields([8] * 3, 2, t278=[8]), strips),
            "big_endian": tiff_file(tiff_fields([8] * 3, 2, t278=[8]), strips, order=">"),
            "tiles": tiff_file(tiff_fields([8] * 3, 2, t322=[16], t323=[16]), tiles, tiled=True),
            "planes": tiff_file(
                tiff_fields([8] * 3, 2, t278=[SIZE[1]], t284=[2]), [pixels[..., c].tobytes() for c in range(3)]
            ),
            "white_is_0": tiff_file(tiff_fields([8], 0, t278=[SIZE[1]]), [(255 - grey).tobytes()]),
        },
    )
    bits_4 = grey >> 4
    write("bits_4.tiff", tiff_file(tiff_fields([4], 1, t278=[SIZE[1]]), [packed(bits_4, 4).tobytes()]))
    save("bits_4.tiff.L", (bits_4 * 17)[..., None])
    # Of 16 bits Pillow reads colour not at all, and grey as numbers that its conversions cut off.
    for name, values, kind in (("deep_rgb", deep, 2), ("deep_grey", deep[..., 1:2], 1)):
        fields = tiff_fields([16] * values.shape[2], kind, t278=[SIZE[1]])
        write(f"{name}.tiff", tiff_file(fields, [values.astype("<u2").tobytes()]))
        write(f"{name}_big_endian.tiff", tiff_file(fields, [values.astype(">u2").tobytes()], order=">"))
        save(f"{name}.tiff.unchanged", values)
        save(f"{name}.tiff.any", (values >> 8).astype(np.uint8))
    save("rgba.tiff.unchanged", np.asarray(with_alpha(image)))
    save("palette.tiff.unchanged", np.asarray(image.quantize(40))[..., None])
    # The colours of a JPEG within a TIFF are those of the JPEG.
    write("jpeg.tiff", encode(image, "TIFF", compression="jpeg", quality=90))
    save("jpeg.tiff.RGB", decoded(encode(image, "TIFF", compression="jpeg", quality=90), "RGB"))
    turned("tiff", encode(image, "TIFF", tiffinfo={274: 6}))
    write("float.tiff", encode(Image.fromarray(grey.astype(np.float32)), "TIFF"))
    huge = tiff_fields([8] * 3, 2, t278=[60000]) | {256: [60000], 257: [60000]}
    write("huge.tiff", tiff_file(huge, [b"\0" * 60]))


def main() -> None:
    image = photo("things/coffee-cup.jpg", SIZE)
    webps(image)
    gifs(image)
    bmps(image)
    tiffs(image)


if __name__ == "__main__":
    main()
