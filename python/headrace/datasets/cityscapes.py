"""`Cityscapes`: streets with the class of each pixel."""

from __future__ import annotations

import os
from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice
from headrace._datasets.dataset import Dataset
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, pictures_below, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace.errors import GraphError
from headrace.transforms import Stack, TypeCast
from headrace.vision import Decode, PanopticCategories, PanopticIds

__all__ = ["Cityscapes"]

_SPLITS = {"fine": ("train", "val", "test"), "coarse": ("train", "train_extra", "val")}
_FILES = {
    "labels": "labelIds.png",
    "train_labels": "labelIds.png",
    "instances": "instanceIds.png",
    "colors": "color.png",
    "polygons": "polygons.json",
}
# By id.
_IDS = (
    "unlabeled", "ego vehicle", "rectification border", "out of roi", "static", "dynamic", "ground", "road", "sidewalk",
    "parking", "rail track", "building", "wall", "fence", "guard rail", "bridge", "tunnel", "pole", "polegroup",
    "traffic light", "traffic sign", "vegetation", "terrain", "sky", "person", "rider", "car", "truck", "bus", "caravan",
    "trailer", "train", "motorcycle", "bicycle",
)  # fmt: skip
# Of training, in their order: the ids of classes. All others are left out.
_TRAINED = (7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33)
_LEFT_OUT = 255
# A grey value as `PanopticIds` reads it of three equal channels.
_OF_GREY = 1 + 256 + 65536


class Cityscapes(NamedSet):
    """Gives the photographs of streets of Cityscapes with a mask each.

    Columns: `image` (the bytes of the file), `mask` (as the file has it: uint8 of shape (H, W, 1), uint16 of instances,
    or uint8 of shape (H, W, C) of colors), `city` (string) and `name` (string: city, sequence and frame). Of "polygons"
    `polygons` (the bytes of the JSON file) is in place of `mask`. Rows are in byte order of cities, then of names.

    Args:
        root: The folder that holds `leftImg8bit` and `gtFine` or `gtCoarse`.
        split: The rows to give: "train", "val" and "test" of "fine", "train", "train_extra" and "val" of "coarse".
        quality: How the masks were drawn.
        task: What masks hold: "labels", the ids of classes (0 to 33); "train_labels", the numbers of the 19
            classes of training (0 to 18, and 255 for all others), made of the same files; "instances", an id, or that of
            the class times 1,000 with the number of the instance; "colors", those of the classes. Or "polygons", of
            which masks were drawn.
        missing: What to do about photographs without a mask: "error", or "skip" to leave them out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Cityscapes("data", "val")
    """

    publisher = "https://www.cityscapes-dataset.com"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "val", "test", "train_extra"] = "train",
        quality: Literal["fine", "coarse"] = "fine",
        task: Literal["labels", "train_labels", "instances", "colors", "polygons"] = "labels",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        arguments = {
            "split": choice("split", split, ("train", "val", "test", "train_extra"), "Cityscapes"),
            "quality": choice("quality", quality, tuple(_SPLITS), "Cityscapes"),
            "task": choice("task", task, tuple(_FILES), "Cityscapes"),
            "missing": choice("missing", missing, MISSING, "Cityscapes"),
        }
        if split not in _SPLITS[quality]:
            listed = ", ".join(map(repr, _SPLITS[quality]))
            raise GraphError(f"Cityscapes: quality={quality!r} has the splits {listed}; got {split!r}")
        self._open(root, arguments, shuffle, seed, name)
        if task == "train_labels":
            self._become(_trained(self._copy()))
        elif task != "polygons":
            self._become(self._copy().map(Decode(mode="unchanged"), "mask"))

    @staticmethod
    def _table(folder: SetFolder, split: str, quality: str, task: str, missing: str) -> SetTable:
        base = folder.folder(f"leftImg8bit/{split}")
        truth = folder.folder(f"gt{quality.title()}/{split}")
        names: list[str] = []
        left_out = []
        for city in folder.folders(base):
            found, others = pictures_below(folder, os.path.join(base, city), ("_leftimg8bit.png",))
            names += [f"{city}/{each[: -len('_leftImg8bit.png')]}" for each in found]
            left_out += others
        masks = [f"{name}_gt{quality.title()}_{_FILES[task]}" for name in names]
        kept, absent = present(folder, truth, masks, base, missing)
        chosen = [names[number] for number in kept]
        truths = "polygons" if task == "polygons" else "mask"
        columns: dict[str, Any] = {
            "image": path_column([f"{base}/{name}_leftImg8bit.png" for name in chosen]),
            truths: path_column([f"{truth}/{masks[number]}" for number in kept]),
            "city": [name.partition("/")[0] for name in chosen],
            "name": [name.partition("/")[2] for name in chosen],
        }
        if task == "train_labels":
            columns |= {name: np.repeat(row[None], len(kept), 0) for name, row in _numbers().items()}
        return SetTable(columns, _classes(task), "image", "", left_out + absent, (truths,))


def _classes(task: str) -> dict[str, dict[str, int]]:
    if task == "labels":
        return {"mask": {name: number for number, name in enumerate(_IDS)}}
    if task == "train_labels":
        # Of the numbers that the ids in a mask become.
        return {"number": {_IDS[label]: number for number, label in enumerate(_TRAINED)}}
    return {}


def _numbers() -> dict[str, Any]:
    """Of each row: the ids in a mask, and the number of each for training."""
    numbers = np.full(256, _LEFT_OUT, np.int64)
    numbers[list(_TRAINED)] = range(len(_TRAINED))
    return {"id": np.arange(1, 256) * _OF_GREY, "number": numbers[1:]}


def _trained(ds: Dataset) -> Dataset:
    kept = [name for name in ds.schema if name not in _numbers()]
    ds = ds.map([Decode(), PanopticIds()], "mask")
    ds = ds.map(PanopticCategories(_LEFT_OUT), ["mask", *_numbers()], "mask")
    return ds.map([TypeCast("uint8"), Stack(-1)], "mask").project(kept)
