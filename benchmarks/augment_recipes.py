"""The work that augment.py measures as whole pipelines, once for Headrace and once for torchvision over a DataLoader.

Imported by Headrace's Python and by the peer's, neither of which has the other's packages.
"""

import pathlib
from collections.abc import Iterator
from typing import Any

SIDE = 224
BATCH = 32
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)

RECIPES = {
    "jitter": "random-resized-crop 224 with antialias, flip, ColorJitter(0.4, 0.4, 0.4, 0.1), normalise, RandomErasing(0.1)",
    "trivial": "the same with TrivialAugmentWide in place of ColorJitter: torchvision's reference training",
    "simclr": "SimCLR's two views of each picture: crop, flip, jitter, grey, blur of 23 pixels",
}


def headrace_batches(recipe: str, folder: str) -> Iterator[Any]:
    import headrace as hr
    from headrace import vision as V

    begin = [V.RandomResizedCrop(SIDE), V.RandomHorizontalFlip()]
    pictures = hr.ImageFolder(folder, shuffle=True)
    if recipe == "simclr":
        view = [
            *begin,
            V.RandomApply(V.ColorJitter(0.8, 0.8, 0.8, 0.2), p=0.8),
            V.RandomGrayscale(0.2),
            V.RandomApply(V.GaussianBlur(23, (0.1, 2.0)), p=0.5),
            V.ToFloat(),
            V.HWC2CHW(),
        ]
        decoded = pictures.map(V.Decode(), "image")
        rows = decoded.map(view, "image", "first").map(view, "image", "second").project(["first", "second", "label"])
    else:
        colours = V.ColorJitter(0.4, 0.4, 0.4, 0.1) if recipe == "jitter" else V.TrivialAugmentWide()
        end = [V.ToFloat(), V.Normalize(MEAN, STD), V.RandomErasing(0.1), V.HWC2CHW()]
        rows = pictures.map([V.Decode(), *begin, colours, *end], "image")
    # Automatic caches would keep the few pictures measured here.
    return iter(rows.repeat().batch(BATCH).iterate(disabled_passes=["insert_caches"]))


def _torchvision_views(recipe: str, tensors: bool) -> Any:
    """What makes a tensor, or two, of a PIL image; `tensors`: torchvision's tensor backend instead of Pillow's."""
    import torch
    from torchvision.transforms import v2

    begin = [v2.PILToTensor()] if tensors else []
    begin += [v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip()]
    end = [] if tensors else [v2.PILToTensor()]
    end.append(v2.ToDtype(torch.float32, scale=True))
    if recipe == "simclr":
        view = v2.Compose(
            [
                *begin,
                v2.RandomApply([v2.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
                v2.RandomGrayscale(0.2),
                v2.RandomApply([v2.GaussianBlur(23, (0.1, 2.0))], p=0.5),
                *end,
            ]
        )
        return lambda image: (view(image), view(image))
    colours = v2.ColorJitter(0.4, 0.4, 0.4, 0.1) if recipe == "jitter" else v2.TrivialAugmentWide()
    return v2.Compose([*begin, colours, *end, v2.Normalize(MEAN, STD), v2.RandomErasing(0.1)])


class Pictures:
    """A map-style dataset of all files below the class folders."""

    def __init__(self, recipe: str, folder: str, tensors: bool) -> None:
        classes = sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir())
        self.files = [(str(file), label) for label, name in enumerate(classes) for file in sorted(name.iterdir())]
        self.views = _torchvision_views(recipe, tensors)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        path, label = self.files[index]
        with Image.open(path) as image:
            return self.views(image.convert("RGB")), label


def torchvision_batches(recipe: str, folder: str, tensors: bool, processes: int) -> Iterator[Any]:
    import torch.utils.data

    loader = torch.utils.data.DataLoader(
        Pictures(recipe, folder, tensors),
        batch_size=BATCH,
        shuffle=True,
        drop_last=True,
        num_workers=processes,
        persistent_workers=True,
        prefetch_factor=4,
    )
    while True:
        yield from loader
