"""`CelebA`: faces with forty attributes."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice, texts
from headrace._sets.box_doubts import box_doubts
from headrace._sets.celeb_list import read_list
from headrace._sets.named_set import NamedSet
from headrace._sets.object_columns import BOXES, boxes_as
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels
from headrace._sets.set_table import SetTable
from headrace.errors import GraphError

__all__ = ["CelebA"]

_SPLITS = ("train", "valid", "test", "all")
# By the numbers that the list of them has.
_PARTS = {"train": 0, "valid": 1, "test": 2}
_PICTURES = ("aligned", "wild")
_LISTS = {
    "identity": {"aligned": "identity_CelebA", "wild": "identity_CelebA"},
    "landmarks": {"aligned": "list_landmarks_align_celeba", "wild": "list_landmarks_celeba"},
    "boxes": {"aligned": "", "wild": "list_bbox_celeba"},
}
_BASES = {
    "aligned": (
        "img_align_celeba/img_align_celeba",
        "img_align_celeba",
        "Img/img_align_celeba",
        "celeba/img_align_celeba",
        "celeba/Img/img_align_celeba",
    ),
    "wild": ("img_celeba", "Img/img_celeba", "celeba/img_celeba", "celeba/Img/img_celeba"),
}


class CelebA(NamedSet):
    """Gives the faces of CelebA: 162,770 to train, 19,867 for validation, 19,962 to test.

    Columns: `image` (the bytes of the file), `attr` (uint8: (40,), 1 where the attribute holds; `classes` has their
    names) and what `more` asks for: `identity` (int64), `landmarks` (float32: (5, 2), x and y of left eye, right eye,
    nose, left and right end of the mouth) and `boxes` (float32: (1, 4)). Lists are joined by the names of the pictures,
    and may be the publisher's or in CSV. Rows are in the order of the list of attributes.

    Args:
        root: The folder that holds the lists and `img_align_celeba`, flat or in `Anno`, `Eval` and `Img`, or `celeba`
            in it.
        split: The rows to give.
        pictures: The pictures to give: cut and aligned, or as they were found. Boxes are those of the latter.
        more: Further columns, each from a list of its own.
        boxes: The form of boxes: left, top, right and bottom, or left, top, width and height.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.CelebA("data", "valid", more=["landmarks"])
    """

    publisher = "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "valid", "test", "all"] = "train",
        pictures: Literal["aligned", "wild"] = "aligned",
        more: Sequence[Literal["identity", "landmarks", "boxes"]] = (),
        boxes: Literal["xyxy", "xywh"] = "xyxy",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "CelebA"),
                "pictures": choice("pictures", pictures, _PICTURES, "CelebA"),
                "more": _further(more, pictures),
                "boxes": choice("boxes", boxes, BOXES, "CelebA"),
                "missing": choice("missing", missing, MISSING, "CelebA"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, pictures: str, more: Sequence[str], boxes: str, missing: str) -> SetTable:
        names = {"attr": "list_attr_celeba"} | {each: _LISTS[each][pictures] for each in more}
        if split != "all":
            names["split"] = "list_eval_partition"
        files = folder.files([_places(name) for name in names.values()], ("", "celeba"))
        lists = {each: read_list(file) for each, file in zip(names, files, strict=True)}
        attr = lists["attr"]
        rows = list(attr.rows)
        if split != "all":
            parts = check_labels(files[-1], lists["split"].numbers(rows, 1)[:, 0], _PARTS)
            rows = [name for name, part in zip(rows, parts.tolist(), strict=True) if part == _PARTS[split]]
        base = folder.folder(*_BASES[pictures])
        kept, left_out = present(folder, base, rows, attr.path, missing)
        rows = [rows[number] for number in kept]
        columns: dict[str, Any] = {"image": path_column(rows), "attr": attr.numbers(rows, len(attr.head)) > 0}
        columns["attr"] = columns["attr"].astype(np.uint8)
        if "identity" in more:
            columns["identity"] = lists["identity"].numbers(rows, 1)[:, 0]
        if "landmarks" in more:
            columns["landmarks"] = lists["landmarks"].numbers(rows, 10).reshape(-1, 5, 2).astype(np.float32)
        if "boxes" in more:
            corners = lists["boxes"].numbers(rows, 4)
            corners[:, 2:] += corners[:, :2]
            columns["boxes"] = boxes_as(corners, boxes).reshape(-1, 1, 4)
        classes = {"attr": {name: number for number, name in enumerate(attr.head)}}
        doubts = box_doubts(columns["image"], columns["boxes"], boxes) if "boxes" in more else {}
        return SetTable(columns, classes, "image", base, left_out, doubts=doubts)


def _places(name: str) -> tuple[str, ...]:
    return (f"{name}.txt", f"{name}.csv", f"Anno/{name}.txt", f"Eval/{name}.txt")


def _further(more: Sequence[str], pictures: str) -> list[str]:
    found = [choice("more", each, list(_LISTS), "CelebA") for each in texts("more", more, "CelebA")]
    if "boxes" in found and pictures != "wild":
        raise GraphError('CelebA: boxes are those of the pictures as they were found: give pictures="wild"')
    return found
