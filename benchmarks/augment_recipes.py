"""The recipes that augment.py measures as whole pipelines, and what all peers share. Imported by every peer's Python.

augment_peers/ holds one module for each peer that does the work; see its README.
"""

import pathlib
from collections.abc import Sequence
from typing import Any

SIDE = 224
BATCH = 32
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
# Of the area, and of the logarithm's ends, for the part that RandomErasing fills.
ERASED_SCALE = (0.02, 0.33)
ERASED_RATIO = (0.3, 3.3)

RECIPES = {
    "jitter": "random-resized-crop 224 with antialias, flip, ColorJitter(0.4, 0.4, 0.4, 0.1), normalise, RandomErasing(0.1)",
    "trivial": "the same with TrivialAugmentWide in place of ColorJitter: torchvision's reference training",
    "simclr": "SimCLR's two views of each image: crop, flip, jitter, grey, blur of 23 pixels",
}
VIEWS = {"jitter": 1, "trivial": 1, "simclr": 2}


class BatchError(Exception):
    """Why what a peer gave is no batch of the recipe."""


def check_batch(recipe: str, views: Sequence[Any]) -> None:
    """Refuses shapes, types and values that the recipe cannot give."""
    if len(views) != VIEWS[recipe]:
        raise BatchError(f"{recipe} gave {len(views)} views, not {VIEWS[recipe]}")
    low, high = (0.0, 1.0) if recipe == "simclr" else (-max(MEAN) / min(STD), (1 - min(MEAN)) / min(STD))
    for view in views:
        shape = (BATCH, 3, SIDE, SIDE)
        if tuple(view.shape) != shape or "float32" not in str(view.dtype):
            raise BatchError(f"{recipe} gave {view.dtype} of shape {tuple(view.shape)}, not float32 of {shape}")
        found = float(view.min()), float(view.max())
        if not low - 0.01 <= found[0] < found[1] <= high + 0.01:
            raise BatchError(
                f"{recipe} gave values from {found[0]:.3f} to {found[1]:.3f}, not within {low:.3f} to {high:.3f}"
            )


def labelled_files(folder: str) -> list[tuple[str, int]]:
    """All files below the class folders, with the number of their class; for peers without a source for such folders."""
    classes = sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir())
    return [(str(file), label) for label, name in enumerate(classes) for file in sorted(name.iterdir())]
