"""Pictures of characters in idx files: MNIST and the sets that took its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headrace._sets.idx_file import read_idx
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels
from headrace._sets.set_table import SetTable

__all__ = ["SPLITS", "idx_name", "joined", "mnist_table", "picture_columns"]

SPLITS = ("train", "test", "all")


def idx_name(stem: str, kind: str) -> tuple[str, ...]:
    """The publisher's name, and that of mirrors which keep a dot: "train-images-idx3-ubyte"."""
    return (f"{stem}-{kind}", f"{stem}.{kind}")


def mnist_table(folder: SetFolder, split: str, classes: Sequence[str], below: Sequence[str]) -> SetTable:
    """Of the four files of MNIST's form."""
    stems = {"train": ["train"], "test": ["t10k"], "all": ["train", "t10k"]}[split]
    wanted = [
        name
        for stem in stems
        for name in (idx_name(f"{stem}-images", "idx3-ubyte"), idx_name(f"{stem}-labels", "idx1-ubyte"))
    ]
    files = folder.files(wanted, below)
    labels = {name: number for number, name in enumerate(classes)}
    parts = [picture_columns(*pair, labels) for pair in zip(files[::2], files[1::2], strict=True)]
    return SetTable(joined(parts, files), {"label": labels})


def picture_columns(images: SetFile, labels: SetFile, classes: Mapping[str, int]) -> dict[str, Any]:
    pixels, numbers = read_idx(images, 3), read_idx(labels, 1)
    if pixels.dtype != np.uint8:
        images.fail(f"its pixels must be uint8, and are {pixels.dtype}")
    if len(pixels) != len(numbers):
        labels.fail(f"it has {len(numbers):,} labels, and {images.path} has {len(pixels):,} images")
    return {"image": pixels[..., None], "label": check_labels(labels, numbers, classes)}


def joined(parts: Sequence[Mapping[str, Any]], files: Sequence[SetFile]) -> dict[str, Any]:
    """The rows of all parts, in this order."""
    if len(parts) == 1:
        return dict(parts[0])
    sizes = {part["image"].shape[1:] for part in parts}
    if len(sizes) > 1:
        files[-1].fail(f"its images have another size than those of {files[0].path}: {sorted(sizes)}")
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
