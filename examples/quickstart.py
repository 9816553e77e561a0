"""A training pipeline over class folders of images: decode, crop, flip, normalise, batch. Two epochs, then a report.

Usage: quickstart.py [DIR]   (DIR holds one folder per class; default: the photographs beside this file)
"""

import pathlib
import struct
import sys
import time
import zlib

import numpy as np

import headrace as hr
from headrace import vision as V

SIZE = 224
EPOCHS = 2
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
IMAGES = {".jpg", ".jpeg", ".png"}


def class_folders(folder: pathlib.Path) -> dict[str, int]:
    """Returns the number of images of each class folder, or exits with an error about `folder`."""
    if not folder.is_dir():
        sys.exit(f"{folder} is not a folder. Give a folder that holds one folder of images a class.")

    def images(where: pathlib.Path) -> list[pathlib.Path]:
        return [path for path in where.rglob("*") if path.suffix.lower() in IMAGES]

    classes = {entry.name: len(images(entry)) for entry in sorted(folder.iterdir()) if entry.is_dir()}
    if not any(classes.values()):
        flat = len(images(folder))
        if flat:
            sys.exit(
                f"{folder} holds {flat} images but no class folders. "
                f"Sort them into one folder a class, such as {folder / 'cats' / 'one.jpg'}."
            )
        sys.exit(f"{folder} holds no images (looked for {', '.join(sorted(IMAGES))} in its folders).")
    return classes


def write_png(path: pathlib.Path, pixels: np.ndarray) -> None:
    """Writes (height, width, 3) uint8 pixels as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, 1 + width * 3), np.uint8)  # each row starts with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6))
        + chunk(b"IEND", b"")
    )


def contact_sheet(images: list[np.ndarray], columns: int = 6, gap: int = 4) -> np.ndarray:
    """Arranges normalised CHW images in rows, with their original colours."""
    rows = -(-len(images) // columns)
    step = SIZE + gap
    sheet = np.full((rows * step + gap, columns * step + gap, 3), 255, np.uint8)
    for i, image in enumerate(images):
        y, x = gap + i // columns * step, gap + i % columns * step
        pixels = image.transpose(1, 2, 0) * np.array(STD) + np.array(MEAN)
        sheet[y : y + SIZE, x : x + SIZE] = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    return sheet


def main() -> None:
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "photos"
    classes = class_folders(folder)
    total = sum(classes.values())
    names = ", ".join(list(classes)[:6]) + (", …" if len(classes) > 6 else "")
    print(f"{total} images in {len(classes)} classes ({names}) under {folder}")

    batch_size = 4 if total < 64 else 32
    train = (
        hr.ImageFolder(str(folder), shuffle=True)
        .map(
            [V.Decode(), V.RandomResizedCrop(SIZE), V.RandomHorizontalFlip(), V.Normalize(MEAN, STD), V.HWC2CHW()],
            "image",
        )
        .batch(batch_size)
    )

    shown: list[np.ndarray] = []
    delivered = 0
    started = time.perf_counter()
    for epoch in range(EPOCHS):
        for step, batch in enumerate(train):
            images = batch["image"]
            delivered += len(images)
            if len(shown) < 24:
                shown.extend(np.array(image) for image in images[: 24 - len(shown)])
            if step == 0:
                labels = np.array2string(batch["label"][:8], separator=", ")
                print(f"epoch {epoch}: first batch is {images.dtype} {images.shape}, labels {labels}")
    seconds = time.perf_counter() - started

    print()
    print(train.explain())
    print()
    print(f"{EPOCHS} epochs, {delivered} images in {seconds:.2f} s: {delivered / seconds:,.0f} images a second")
    out = pathlib.Path("contact_sheet.png").resolve()
    write_png(out, contact_sheet(shown))
    print(f"augmented images of the first epochs: {out}")


if __name__ == "__main__":
    try:
        main()
    except hr.Error as error:
        sys.exit(f"{type(error).__name__}: {error}")
