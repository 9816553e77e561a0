"""Trains a small detector: pictures with their boxes, cropped and flipped together, and batches of any number of boxes.

Usage: train_detection.py [DIR] [--epochs N]

DIR holds pictures and a metadata.jsonl, of lines such as
{"file_name": "0.png", "objects": {"bbox": [[x1, y1, x2, y2], …], "kind": [1, …]}}; default: sample photographs with
squares (kind 0) and discs (kind 1) painted on them, which are made in a temporary folder. Needs torch.
"""

import argparse
import json
import pathlib
import tempfile

import numpy as np
import torch
from torch import nn

import headrace as hr
from headrace import vision as V
from headrace.torch import Loader

SIZE, CELL, KINDS = 96, 12, 2
CELLS = SIZE // CELL


def write_pictures(folder: pathlib.Path) -> None:
    rng = np.random.default_rng(0)
    rows = hr.ImageFolder(hr.sample_photos()).map([V.Decode(), V.Resize((SIZE, SIZE))], "image")
    photos = [row["image"] for row in rows]
    lines = []
    for number in range(80):
        picture, boxes, kinds = photos[number % len(photos)].copy(), [], []
        for corner in rng.choice(9, rng.integers(1, 4), replace=False):
            side, kind = int(rng.integers(14, 26)), int(rng.integers(KINDS))
            top, left = (int(place * 32 + rng.integers(32 - side)) for place in divmod(int(corner), 3))
            y, x = np.mgrid[:side, :side] - (side - 1) / 2
            inside = (x**2 + y**2 <= (side / 2) ** 2) | (kind == 0)
            picture[top : top + side, left : left + side][inside] = [(230, 40, 40), (40, 200, 60)][kind]
            boxes.append([left, top, left + side, top + side])
            kinds.append(kind)
        (folder / f"{number}.png").write_bytes(V.EncodePng()(picture))
        lines.append(json.dumps({"file_name": f"{number}.png", "objects": {"bbox": boxes, "kind": kinds}}) + "\n")
    (folder / "metadata.jsonl").write_text("".join(lines))


def batches(rows: hr.Dataset, augment: bool) -> hr.Dataset:
    """Columns: image, float32 of shape (n, 3, 96, 96); boxes and kinds, of all pictures end to end, and where each begins."""
    random = [V.RandomIoUCrop(), V.RandomHorizontalFlip()] if augment else []
    kernels = [V.Decode(), *random, V.Resize((SIZE, SIZE)), V.SanitizeBoxes(min_size=4)]
    # The kernels move the boxes with the picture, and leave out the kinds of boxes that they remove.
    moved = rows.map(kernels, ["image", hr.boxes("objects.bbox", labels="objects.kind")])
    ready = moved.map([V.Normalize([127.5] * 3, [64.0] * 3), V.HWC2CHW()], "image")
    return ready.rename({"objects.bbox": "boxes", "objects.kind": "kinds"}).batch(4, ragged="splits")


def targets(batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Of each cell the kind whose box has its middle there, or KINDS for none; and the box around the middle of the cell."""
    splits = batch["boxes_splits"]
    picture = torch.repeat_interleave(torch.arange(len(splits) - 1), splits.diff())
    boxes = batch["boxes"].float()
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    column, row = (middle / CELL).long().clamp(0, CELLS - 1).unbind(1)
    kinds = torch.full((len(splits) - 1, CELLS, CELLS), KINDS)
    kinds[picture, row, column] = batch["kinds"]
    sides = torch.zeros(*kinds.shape, 4)
    corner = torch.stack([column, row], 1).repeat(1, 2) * CELL + CELL / 2
    sides[picture, row, column] = (boxes - corner) / SIZE
    return kinds, sides


def detector() -> nn.Module:
    layers: list[nn.Module] = []
    for inputs, outputs, stride in [(3, 16, 2), (16, 32, 2), (32, 32, 3), (32, 32, 1)]:
        layers += [nn.Conv2d(inputs, outputs, 3, stride, 1), nn.GroupNorm(4, outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(32, KINDS + 1 + 4, 3, padding=1))


def loss_of(output: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    kinds, sides = targets(batch)
    found, weight = kinds < KINDS, torch.tensor([10.0] * KINDS + [1.0])  # few cells hold an object
    named = nn.functional.cross_entropy(output[:, : KINDS + 1], kinds, weight)
    return named + 3 * nn.functional.l1_loss(output[:, KINDS + 1 :].permute(0, 2, 3, 1)[found], sides[found])


def train(folder: pathlib.Path, epochs: int) -> None:
    torch.manual_seed(0)
    training, validation = hr.Manifest(folder, output="image", shuffle=True).split([0.8, 0.2])
    loader, held_out = Loader(batches(training, augment=True)), Loader(batches(validation, augment=False))
    model = detector()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for batch in loader:
            loss = loss_of(model(batch["image"]), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right = objects = 0
        with torch.no_grad():
            for batch in held_out:
                kinds = targets(batch)[0]
                right += int((model(batch["image"])[:, : KINDS + 1].argmax(1) == kinds)[kinds < KINDS].sum())
                objects += int((kinds < KINDS).sum())
        print(f"epoch {epoch}: loss {loss:.2f}, {right} of {objects} objects found, with their kind")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Trains a small detector.")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="pictures and metadata.jsonl")
    parser.add_argument("--epochs", type=int, default=10)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        if given.folder is None:
            given.folder = pathlib.Path(temporary)
            write_pictures(given.folder)
        train(given.folder, given.epochs)


if __name__ == "__main__":
    main()
