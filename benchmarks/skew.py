"""How far the same preprocessing differs between libraries: what a model is trained with, and what it is served with.

Decoding, and decoding with the shorter edge resized and the middle cut out, of the example photographs: by Headrace, Pillow,
OpenCV (cv2.imdecode and cv2.resize), torch's interpolate, which torchvision calls for tensors, and torchvision's decoder, as far
as they are installed here. Differences are of values of 0 … 255, over all pixels: the mean, the greatest, and the part of values
that differ by more than 8. With --out, the tables of a page are replaced, and a picture of the differences is written beside it.
"""

import argparse
import importlib
import importlib.util
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import headrace as hr
from headrace import vision as V

PHOTOS = pathlib.Path(__file__).resolve().parents[1] / "examples/photos"
SIZE, CROP = 48, 40
FAR = 8
# Of the picture: what is drawn, how many pixels wide one is, and by how much differences are made brighter.
PHOTO = "people/astronaut.jpg"
ENLARGED, BRIGHTER = 5, 2
# Without which a way of preparing is left out.
LIBRARIES = ("PIL", "cv2", "torch", "torchvision")

Prepare = Callable[[bytes], np.ndarray]


def decoded_by_headrace(data: bytes) -> np.ndarray:
    return np.asarray(V.Decode()(data))


def decoded_by_pillow(data: bytes) -> np.ndarray:
    import io

    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def decoded_by_opencv(data: bytes) -> np.ndarray:
    import cv2

    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return np.asarray(decoded)[..., ::-1]


def decoded_by_torchvision(data: bytes) -> np.ndarray:
    import torch
    from torchvision.io import ImageReadMode, decode_image

    decoded = decode_image(torch.frombuffer(bytearray(data), dtype=torch.uint8), ImageReadMode.RGB)
    return np.asarray(decoded.numpy().transpose(1, 2, 0))


def headrace_graph(*resize: Any, crop: Any = None) -> Prepare:
    graph = hr.InferenceGraph([V.Decode(), *resize, crop or V.CenterCrop(CROP)], {"image": "bytes"})
    return graph.__call__


def edges(height: int, width: int) -> tuple[int, int]:
    """With the shorter one at SIZE, and the longer one cut off, as torchvision has it."""
    return (SIZE, SIZE * width // height) if height < width else (SIZE * height // width, SIZE)


def middle(image: np.ndarray, down: bool = False) -> np.ndarray:
    top, left = ((extent - CROP) / 2 for extent in image.shape[:2])
    row, column = (int(top), int(left)) if down else (round(top), round(left))
    return image[row : row + CROP, column : column + CROP]


def prepared_by_pillow(data: bytes) -> np.ndarray:
    import io

    from PIL import Image

    image = Image.open(io.BytesIO(data)).convert("RGB")
    height, width = edges(image.height, image.width)
    return middle(np.asarray(image.resize((width, height), Image.Resampling.BILINEAR)))


def by_opencv(interpolation: str) -> Prepare:
    def prepare(data: bytes) -> np.ndarray:
        import cv2

        image = decoded_by_opencv(data)
        height, width = edges(*image.shape[:2])
        return middle(
            cv2.resize(np.ascontiguousarray(image), (width, height), interpolation=getattr(cv2, interpolation))
        )

    return prepare


def by_tensors(antialias: bool) -> Prepare:
    """As torchvision resizes a tensor of bytes."""

    def prepare(data: bytes) -> np.ndarray:
        import torch

        image = torch.from_numpy(decoded_by_headrace(data)).permute(2, 0, 1)[None]
        size = edges(*image.shape[2:])
        resized = torch.nn.functional.interpolate(image, size, mode="bilinear", antialias=antialias)
        return middle(resized[0].permute(1, 2, 0).numpy())

    return prepare


DECODERS: dict[str, tuple[tuple[str, ...], Prepare]] = {
    "Pillow, `Image.open`": (("PIL",), decoded_by_pillow),
    "OpenCV, `imdecode`": (("cv2",), decoded_by_opencv),
    "torchvision, `decode_image`": (("torch", "torchvision"), decoded_by_torchvision),
}


def preparations() -> dict[str, tuple[tuple[str, ...], Prepare]]:
    return {
        "Pillow, bilinear": (("PIL",), prepared_by_pillow),
        "torch's tensors of bytes, antialias": (("torch",), by_tensors(True)),
        "torch's tensors of bytes, no antialias": (("torch",), by_tensors(False)),
        "OpenCV, `INTER_AREA`": (("cv2",), by_opencv("INTER_AREA")),
        "OpenCV, `INTER_LINEAR`": (("cv2",), by_opencv("INTER_LINEAR")),
        "Headrace, `Resize(antialias=False)`": ((), headrace_graph(V.Resize(SIZE, antialias=False))),
        "Headrace, bicubic for bilinear": ((), headrace_graph(V.Resize(SIZE, "bicubic"))),
        "Headrace, `CenterCrop` rounding down": ((), headrace_graph(V.Resize(SIZE), crop=V.CenterCrop(CROP, "down"))),
        "Headrace, squashed without a crop": ((), headrace_graph(V.Resize((CROP, CROP)))),
        "Headrace, red and blue swapped": ((), lambda data: headrace_graph(V.Resize(SIZE))(data)[..., ::-1]),
    }


def differences(prepare: Prepare, expected: list[np.ndarray], pictures: list[bytes]) -> tuple[float, float, float]:
    """The mean, the greatest, and the part that is above FAR."""
    apart = [
        np.abs(prepare(picture).astype(np.int64) - wanted.astype(np.int64)).ravel()
        for picture, wanted in zip(pictures, expected, strict=True)
    ]
    joined = np.concatenate(apart)
    return float(joined.mean()), float(joined.max()), float((joined > FAR).mean())


def table(ways: dict[str, tuple[tuple[str, ...], Prepare]], reference: Prepare, pictures: list[bytes]) -> list[str]:
    expected = [reference(picture) for picture in pictures]
    lines = [f"| prepared by | mean | greatest | values more than {FAR} apart |", "|---|---:|---:|---:|"]
    for name, (needed, prepare) in ways.items():
        if any(importlib.util.find_spec(each) is None for each in needed):
            print(f"left out, as {' or '.join(needed)} is not installed: {name}", file=sys.stderr)
            continue
        mean, greatest, far = differences(prepare, expected, pictures)
        lines.append(f"| {name} | {mean:.2f} | {greatest:.0f} | {far:.1%} |")
    return lines


def versions() -> str:
    found = [f"Headrace {hr.__version__}"]
    for name in LIBRARIES:
        if importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
            found.append(f"{'Pillow' if name == 'PIL' else name} {module.__version__}")
    return ", ".join(found)


def page(pictures: list[bytes]) -> tuple[list[str], list[str]]:
    """The tables of decoders and of whole preparations."""
    return (
        table(DECODERS, decoded_by_headrace, pictures),
        table(preparations(), headrace_graph(V.Resize(SIZE)), pictures),
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE.md", help="a page whose tables are to be replaced")
    options = parser.parse_args(arguments)
    pictures = [path.read_bytes() for path in sorted(PHOTOS.rglob("*.jpg"))]
    tables = page(pictures)
    text = "\n\n".join("\n".join(lines) for lines in tables)
    print(f"{len(pictures)} photographs; {versions()}\n\n{text}")
    if options.out is not None:
        options.out.write_text(replaced(options.out.read_text(), tables))
        options.out.with_suffix(".png").write_bytes(drawn((PHOTOS / PHOTO).read_bytes()))


def drawn(picture: bytes) -> bytes:
    """A PNG: with and without antialias, and how far they are apart."""
    one = headrace_graph(V.Resize(SIZE))(picture)
    other = headrace_graph(V.Resize(SIZE, antialias=False))(picture)
    apart = np.abs(one.astype(np.int64) - other.astype(np.int64)) * BRIGHTER
    row = np.concatenate([one, other, np.minimum(apart, 255).astype(np.uint8)], axis=1)
    return bytes(V.EncodePng()(row.repeat(ENLARGED, axis=0).repeat(ENLARGED, axis=1)))


def replaced(text: str, tables: tuple[list[str], ...]) -> str:
    """The page with these tables in the place of its own, in their order, and the versions."""
    lines: list[str] = []
    left = list(tables)
    within = False
    for line in text.splitlines():
        begins = line.startswith("| prepared by |")
        if begins:
            lines += left.pop(0)
        within = begins or (within and line.startswith("|"))
        if not within:
            lines.append(f"Measured with {versions()}." if line.startswith("Measured with ") else line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
