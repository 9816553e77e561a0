"""`Cityscapes`: streets with the class of each pixel."""

from __future__ import annotations

import os
from os import PathLike
from typing import Any, Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, pictures_below, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace.errors import GraphError
from headrace.vision import Decode

__all__ = ["Cityscapes"]

_SPLITS = {"fine": ("train", "val", "test"), "coarse": ("train", "train_extra", "val")}
_KINDS = {"labels": "labelIds", "train_labels": "labelTrainIds", "instances": "instanceIds"}


class Cityscapes(NamedSet):
    """Gives the photographs of streets of Cityscapes with a mask each.

    Columns: `image` (the bytes of the file), `mask` (as the file has it: uint8 of shape (H, W, 1), or uint16 of
    instances), `city` (string) and `name` (string: city, sequence and frame). Rows are in byte order of cities, then of
    names.

    Args:
        root: The folder that holds `leftImg8bit` and `gtFine` or `gtCoarse`.
        split: The rows to give: "train", "val" and "test" of "fine", "train", "train_extra" and "val" of "coarse".
        quality: How the masks were drawn.
        task: What masks hold: "labels", the ids of classes (0 to 33); "train_labels", those of training (0 to 18, and 255
            for what is left out), which the publisher's scripts write beside the others; "instances", an id, or that of the
            class times 1,000 with the number of the instance.
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
        task: Literal["labels", "train_labels", "instances"] = "labels",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        arguments = {
            "split": choice("split", split, ("train", "val", "test", "train_extra"), "Cityscapes"),
            "quality": choice("quality", quality, tuple(_SPLITS), "Cityscapes"),
            "task": choice("task", task, tuple(_KINDS), "Cityscapes"),
            "missing": choice("missing", missing, MISSING, "Cityscapes"),
        }
        if split not in _SPLITS[quality]:
            listed = ", ".join(map(repr, _SPLITS[quality]))
            raise GraphError(f"Cityscapes: quality={quality!r} has the splits {listed}; got {split!r}")
        self._open(root, arguments, shuffle, seed, name)
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
        masks = [f"{name}_gt{quality.title()}_{_KINDS[task]}.png" for name in names]
        kept, absent = present(folder, truth, masks, base, missing)
        chosen = [names[number] for number in kept]
        columns: dict[str, Any] = {
            "image": path_column([f"{base}/{name}_leftImg8bit.png" for name in chosen]),
            "mask": path_column([f"{truth}/{masks[number]}" for number in kept]),
            "city": [name.partition("/")[0] for name in chosen],
            "name": [name.partition("/")[2] for name in chosen],
        }
        return SetTable(columns, {}, "image", "", left_out + absent, ("mask",))
