"""augment.py's recipes in Headrace, for its peers that differ in the antialias."""

from collections.abc import Iterator
from typing import Any

import augment_recipes as recipes


def batches(recipe: str, folder: str, antialias: bool) -> Iterator[list[Any]]:
    import headrace as hr
    from headrace import vision as V

    begin = [V.RandomResizedCrop(recipes.SIDE, antialias=antialias), V.RandomHorizontalFlip()]
    images = hr.ImageFolder(folder, shuffle=True)
    if recipe == "simclr":
        names = ["first", "second"]
        view = [
            *begin,
            V.RandomApply(V.ColorJitter(0.8, 0.8, 0.8, 0.2), p=0.8),
            V.RandomGrayscale(0.2),
            V.RandomApply(V.GaussianBlur(23, (0.1, 2.0)), p=0.5),
            V.ToFloat(),
            V.HWC2CHW(),
        ]
        decoded = images.map(V.Decode(), "image")
        rows = decoded.map(view, "image", "first").map(view, "image", "second").project([*names, "label"])
    else:
        names = ["image"]
        colours = V.ColorJitter(0.4, 0.4, 0.4, 0.1) if recipe == "jitter" else V.TrivialAugmentWide()
        end = [V.ToFloat(), V.Normalize(recipes.MEAN, recipes.STD), V.RandomErasing(0.1), V.HWC2CHW()]
        rows = images.map([V.Decode(), *begin, colours, *end], "image")
    for batch in rows.repeat().batch(recipes.BATCH).iterate(disabled_passes=["insert_caches"]):
        yield [batch[name] for name in names]
