"""Trains a small convolutional network on class folders of images, on the CPU or a GPU, and goes on where it was killed.

Usage: train_classifier.py [DIR] [--checkpoint FILE] [--loader headrace|torch] [--device auto|cpu|cuda:0] …

DIR holds one folder per class; default: the photographs beside this file. With --checkpoint the state of the model, the
optimizer and the loader is saved every few steps, and a run that finds the file goes on with the very next batch: on the
CPU, with as many threads, its losses are those of a run that was never killed, bit for bit. --loader torch reads the same
images with a torch DataLoader and Pillow, for comparison; a DataLoader has no state, so that such a run starts its epoch
again.

Needs torch; --loader torch also needs Pillow.
"""

import argparse
import os
import pathlib
import sys
import time
from collections.abc import Iterable, Iterator

import torch
from torch import nn

import headrace as hr
from headrace import vision as V
from headrace.torch import Loader

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


class Images(torch.utils.data.Dataset):
    """What --loader torch reads: Pillow decodes, crops and flips, as torchvision's transforms do."""

    def __init__(self, folder: pathlib.Path, classes: list[str], size: int) -> None:
        self.files = [(path, label) for label, name in enumerate(classes) for path in images(folder / name)]
        self.size = size

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        import numpy as np
        from PIL import Image

        path, label = self.files[index]
        image = Image.open(path).convert("RGB")
        area = image.width * image.height * float(torch.empty(1).uniform_(0.08, 1))
        ratio = float(torch.empty(1).uniform_(-0.28, 0.28).exp())
        width = min(image.width, max(1, round((area * ratio) ** 0.5)))
        height = min(image.height, max(1, round((area / ratio) ** 0.5)))
        left = int(torch.randint(image.width - width + 1, ()))
        top = int(torch.randint(image.height - height + 1, ()))
        box = (left, top, left + width, top + height)
        image = image.resize((self.size, self.size), Image.Resampling.BILINEAR, box)
        if torch.rand(()) < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        pixels = (np.asarray(image, np.float32) - MEAN) / STD
        return {"image": torch.from_numpy(pixels.astype(np.float32).transpose(2, 0, 1)), "label": torch.tensor(label)}


class TorchLoader:
    """A DataLoader, with the batches of each epoch in an order of their own."""

    def __init__(self, data: Images, batch: int, seed: int, device: torch.device) -> None:
        self.seed, self.device = seed, device
        self.generator = torch.Generator()
        self.loader = torch.utils.data.DataLoader(
            data,
            batch_size=batch,
            shuffle=True,
            drop_last=True,
            num_workers=os.cpu_count() or 1,
            persistent_workers=True,
            pin_memory=device.type == "cuda",
            generator=self.generator,
        )

    def set_epoch(self, epoch: int) -> None:
        self.generator.manual_seed(self.seed + epoch)

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        for batch in self.loader:
            yield {name: value.to(self.device, non_blocking=True) for name, value in batch.items()}


class Waits:
    """Passes batches on, and adds up the time that the loop waits for them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def over(self, batches: Iterable[dict[str, torch.Tensor]]) -> Iterator[dict[str, torch.Tensor]]:
        iterator = iter(batches)
        while True:
            started = time.perf_counter()
            batch = next(iterator, None)
            self.seconds += time.perf_counter() - started
            if batch is None:
                return
            yield batch


def images(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png"))


def class_names(folder: pathlib.Path) -> list[str]:
    """Without hidden folders and folders that hold no image."""
    entries = [entry for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []
    names = sorted(entry.name for entry in entries if not entry.name.startswith(".") and images(entry))
    if not names:
        sys.exit(f"{folder} holds no folders of images. Give a folder that holds one folder of images a class.")
    return names


def network(classes: int) -> nn.Module:
    def block(inputs: int, outputs: int) -> list[nn.Module]:
        return [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.GroupNorm(4, outputs), nn.ReLU()]

    layers = [*block(3, 16), *block(16, 32), *block(32, 64), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(64, classes))


def training_images(folder: pathlib.Path, classes: list[str], options: argparse.Namespace) -> hr.Dataset:
    return (
        hr.ImageFolder(str(folder), shuffle=True, classes={name: label for label, name in enumerate(classes)})
        .map(
            [
                V.Decode(),
                V.RandomResizedCrop(options.size),
                V.RandomHorizontalFlip(),
                V.Normalize(MEAN, STD),
                V.HWC2CHW(),
            ],
            "image",
        )
        .batch(options.batch, drop_remainder=True)
        .with_seed(options.seed)
    )


def save(path: pathlib.Path, checkpoint: dict[str, object]) -> None:
    """Replaces the file when the new one is completely on the disk, so that a kill leaves one of them."""
    draft = path.with_name(f"{path.name}.draft")
    with draft.open("wb") as file:
        torch.save(checkpoint, file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=here / "photos", help="one folder per class")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=4, help="images a step")
    parser.add_argument("--size", type=int, default=64, help="pixels of a side")
    parser.add_argument("--rate", type=float, default=0.002, help="learning rate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="of torch, on the CPU")
    parser.add_argument("--device", default="auto", help="auto (a GPU where there is one), cpu, cuda:0, …")
    parser.add_argument("--loader", choices=["headrace", "torch"], default="headrace")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="saved there, and gone on with if it exists")
    parser.add_argument("--every", type=int, default=5, help="steps between checkpoints")
    return parser.parse_args(arguments)


def train(options: argparse.Namespace) -> None:
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    name = ("cuda:0" if torch.cuda.is_available() else "cpu") if options.device == "auto" else options.device
    device = torch.device(name)
    torch.manual_seed(options.seed)
    classes = class_names(options.folder)
    model = network(len(classes)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    loader: Loader | TorchLoader
    if options.loader == "headrace":
        loader = Loader(training_images(options.folder, classes, options), device)
    else:
        data = Images(options.folder, classes, options.size)
        loader = TorchLoader(data, options.batch, options.seed, device)
    if len(loader) == 0:
        sys.exit(f"{options.folder} holds fewer images than the {options.batch} of a step. Give a smaller --batch.")
    print(f"{len(classes)} classes, {len(loader)} steps an epoch, {options.loader} on {device}", flush=True)

    def checkpoint(epoch: int, step: int) -> None:
        if options.checkpoint is None:
            return
        saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, "step": step}
        if isinstance(loader, Loader):
            saved["loader"] = loader.state_dict()
        save(options.checkpoint, saved)

    epoch = step = 0
    if options.checkpoint is not None and options.checkpoint.exists():
        saved = torch.load(options.checkpoint, map_location=device)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        epoch, step = saved["epoch"], saved["step"]
        if isinstance(loader, Loader) and "loader" in saved:
            loader.load_state_dict(saved["loader"])
        print(f"goes on after step {step}, in epoch {epoch}", flush=True)

    waits, seen, started = Waits(), 0, time.perf_counter()
    while epoch < options.epochs:
        loader.set_epoch(epoch)
        for batch in waits.over(loader):
            images, labels = batch["image"], batch["label"].long()
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            step += 1
            seen += len(labels)
            # Nine digits name a float32 exactly.
            print(f"epoch {epoch} step {step} loss {loss.item():.9g}", flush=True)
            if isinstance(loader, Loader) and step % options.every == 0:
                checkpoint(epoch, step)
        epoch += 1
        checkpoint(epoch, step)
    seconds = time.perf_counter() - started
    print(
        f"{seen} images in {seconds:.2f} s, {seen / max(seconds, 1e-9):,.0f} a second; "
        f"the step waited {waits.seconds / max(seconds, 1e-9):.1%} of the time"
    )
    if isinstance(loader, Loader):
        print(loader.explain())


if __name__ == "__main__":
    try:
        train(parsed(None))
    except hr.Error as error:
        sys.exit(f"{type(error).__name__}: {error}")
