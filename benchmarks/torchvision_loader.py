"""torchvision's own transforms over a DataLoader, for the peers of augment.py that differ in what they transform."""

from collections.abc import Iterator
from typing import Any

import augment_recipes as recipes

VENV = "torchvision"
REQUIREMENTS = ("torch==2.14.1", "torchvision==0.29.1", "pillow==13.0.0", "opencv-python-headless==5.0.0.93", "numpy")
DISTRIBUTIONS = ("torch", "torchvision", "pillow", "opencv-python-headless")
PREFETCHED = 4


def _views(recipe: str, tensors: bool) -> Any:
    """What makes a tensor, or two, of a PIL image; `tensors`: torchvision's tensor backend instead of Pillow's."""
    import torch
    from torchvision.transforms import v2

    begin = [v2.PILToTensor()] if tensors else []
    begin += [v2.RandomResizedCrop(recipes.SIDE, antialias=True), v2.RandomHorizontalFlip()]
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
    one = v2.Compose([*begin, colours, *end, v2.Normalize(recipes.MEAN, recipes.STD), v2.RandomErasing(0.1)])
    return lambda image: (one(image),)


class Images:
    """A map-style dataset of all files below the class folders."""

    def __init__(self, recipe: str, folder: str, tensors: bool) -> None:
        self.files = recipes.labelled_files(folder)
        self.views = _views(recipe, tensors)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        path, label = self.files[index]
        with Image.open(path) as image:
            return self.views(image.convert("RGB")), label


def batches(recipe: str, folder: str, tensors: bool, workers: int) -> Iterator[Any]:
    import torch.utils.data

    loader = torch.utils.data.DataLoader(
        Images(recipe, folder, tensors),
        batch_size=recipes.BATCH,
        shuffle=True,
        drop_last=True,
        num_workers=workers,
        persistent_workers=True,
        prefetch_factor=PREFETCHED,
    )
    while True:
        for views, _ in loader:
            yield views
