"""Trains a small U-Net: pictures with their masks, cropped and flipped together.

Usage: train_segmentation.py [DIR] [--epochs N]

DIR holds pictures, masks whose values are classes, and a metadata.csv with the columns `file_name` and
`mask_file_name`; default: sample photographs with discs painted on them, which are made in a temporary folder. A picture
that has no mask is an error that names it. Needs torch.
"""

import argparse
import pathlib
import tempfile

import numpy as np
import torch
from torch import nn

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from headrace.torch import Loader

SIZE, CLASSES = 64, 2
# What the loss leaves out: pixels beyond the picture.
IGNORED = 255


def write_pictures(folder: pathlib.Path) -> None:
    rng = np.random.default_rng(0)
    resized = hr.ImageFolder(hr.sample_photos()).map([V.Decode(), V.Resize((96, 96))], "image")
    photos = [row["image"] for row in resized]
    (folder / "masks").mkdir()
    lines = ["file_name,mask_file_name"]
    for number in range(48):
        picture = photos[number % len(photos)].copy()
        y, x = np.mgrid[:96, :96] - rng.integers(20, 76, (2, 1, 1))
        disc = x**2 + y**2 < rng.integers(10, 30) ** 2
        picture[disc] = picture[disc] // 3 + np.array([150, 30, 120], np.uint8)
        (folder / f"{number}.png").write_bytes(V.EncodePng()(picture))
        (folder / f"masks/{number}.png").write_bytes(V.EncodePng()(disc[..., None].astype(np.uint8)))
        lines.append(f"{number}.png,masks/{number}.png")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")


def batches(rows: hr.Dataset, folder: pathlib.Path, augment: bool) -> hr.Dataset:
    """Columns: image, float32 of shape (4, 3, 64, 64); mask, int64 of shape (4, 64, 64)."""
    random = [V.RandomResize(SIZE, 2 * SIZE), V.RandomHorizontalFlip(), V.RandomCrop(SIZE, pad_if_needed=True)]
    kernels = random if augment else [V.Resize((SIZE, SIZE))]
    read = rows.map(T.ReadFile(root=str(folder)), "mask_file_name", "mask").map(V.Decode(mode="L"), "mask")
    # hr.mask takes the nearest pixel, never a mean of classes.
    both = read.map([V.Decode(), *kernels], ["image", hr.mask("mask", fill=IGNORED)])
    ready = both.map([V.Normalize([127.5] * 3, [64.0] * 3), V.HWC2CHW()], "image").map(T.TypeCast("int64"), "mask")
    return ready.project(["image", "mask"]).batch(4).map(lambda mask: mask[..., 0], "mask")


class UNet(nn.Module):
    """Two steps down, two up, and the pixels of each step beside those that come up."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()

        def block(inputs: int, outputs: int) -> nn.Module:
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.ReLU())

        self.down = nn.ModuleList([block(3, width), block(width, 2 * width), block(2 * width, 4 * width)])
        self.up = nn.ModuleList([block(6 * width, 2 * width), block(3 * width, width)])
        self.classes = nn.Conv2d(width, CLASSES, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        fine = self.down[0](image)
        middle = self.down[1](nn.functional.max_pool2d(fine, 2))
        coarse = self.down[2](nn.functional.max_pool2d(middle, 2))
        for block, beside in zip(self.up, (middle, fine), strict=True):
            larger = nn.functional.interpolate(coarse, scale_factor=2.0)
            coarse = block(torch.cat([larger, beside], 1))
        return self.classes(coarse)


def overlap(model: nn.Module, loader: Loader) -> float:
    """Intersection over union of class 1."""
    both = either = 0
    with torch.no_grad():
        for images, masks in loader:
            found, real = model(images).argmax(1) == 1, masks == 1
            both += int((found & real).sum())
            either += int((found | real).sum())
    return both / max(either, 1)


def train(folder: pathlib.Path, epochs: int) -> None:
    torch.manual_seed(0)
    training, validation = hr.Manifest(folder, output="image", shuffle=True).split([0.8, 0.2])
    loader = Loader(batches(training, folder, augment=True), as_tuple=True)
    held_out = Loader(batches(validation, folder, augment=False), as_tuple=True)
    model = UNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for images, masks in loader:
            loss = nn.functional.cross_entropy(model(images), masks, ignore_index=IGNORED)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss:.3f}, intersection over union {overlap(model, held_out):.2f}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Trains a small U-Net.")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="pictures, masks and metadata.csv")
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        if given.folder is None:
            given.folder = pathlib.Path(temporary)
            write_pictures(given.folder)
        train(given.folder, given.epochs)


if __name__ == "__main__":
    main()
