"""`VOC`: photographs with the boxes of objects, or the class of each pixel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace import _engine
from headrace._arguments.options import choice, flag, text, texts
from headrace._datasets.fields.declared_ragged import ragged
from headrace._sets.box_doubts import box_doubts
from headrace._sets.named_set import NamedSet
from headrace._sets.object_columns import BOXES, boxes_as
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace.errors import DataError, GraphError
from headrace.vision import Decode

__all__ = ["VOC"]

_TASKS = {"detection": "Main", "segmentation": "Segmentation", "instances": "Segmentation"}
_MASKS = {"segmentation": "SegmentationClass", "instances": "SegmentationObject"}
_CLASSES = (
    "aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant sheep sofa "
    "train tvmonitor"
).split()


class VOC(NamedSet):
    """Gives the photographs of Pascal VOC, or of a set in its form.

    Columns: `image` (the bytes of the file), `name` (string: of the file, without its ending), and by task:

    - "detection": `boxes` (float32: (n, 4)), `label` (int64: (n,), 0 to 19 in alphabetical order), and uint8 (n,)
      `difficult`, `truncated` and `occluded`. With `parts`, `part_boxes` (float32: (m, 4)), `part_name` (string: (m,))
      and `part_object` (int64: (m,)), the number of the object to which a part belongs.
    - "segmentation": `mask` (uint8: (H, W, 1)), the class of each pixel: 0 is the background, 1 to 20 are the classes,
      and 255 is the border of objects and what is difficult.
    - "instances": `mask` of the same form: the number of each pixel's object, from 1.

    The files count pixels from 1, and the last ones belong to the box: left and top are 1 less here, so that boxes are
    those of `hr.boxes`. Rows are in the order of the list.

    Args:
        root: The folder that holds `VOCdevkit`, `VOC2012` or the like, or is one of the latter.
        split: The name of a list in ImageSets, such as "train", "val", "trainval" or "test", or "cat_train", of which all
            entries are given.
        task: What to give.
        year: That of the folder.
        boxes: The form of boxes: left, top, right and bottom, or left, top, width and height.
        difficult: What to do about objects that are marked as difficult: "keep", or "drop" to leave them out.
        parts: Give the parts of objects, such as heads.
        classes: The names of the classes, in the order of their labels. None: the twenty of VOC.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.VOC("data", "train")
    """

    publisher = "http://host.robots.ox.ac.uk/pascal/VOC"

    def __init__(
        self,
        root: str | PathLike[str],
        split: str = "train",
        task: Literal["detection", "segmentation", "instances"] = "detection",
        year: str = "2012",
        boxes: Literal["xyxy", "xywh"] = "xyxy",
        difficult: Literal["keep", "drop"] = "keep",
        parts: bool = False,
        classes: Sequence[str] | None = None,
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        arguments = {
            "split": text("split", split, "VOC"),
            "task": choice("task", task, tuple(_TASKS), "VOC"),
            "year": text("year", year, "VOC"),
            "boxes": choice("boxes", boxes, BOXES, "VOC"),
            "difficult": choice("difficult", difficult, ("keep", "drop"), "VOC"),
            "parts": flag("parts", parts, "VOC"),
            "classes": None if classes is None else _named(classes),
            "missing": choice("missing", missing, MISSING, "VOC"),
        }
        self._open(root, arguments, shuffle, seed, name)
        if task != "detection":
            self._become(self._copy().map(Decode(mode="unchanged"), "mask"))

    @staticmethod
    def _table(
        folder: SetFolder,
        split: str,
        task: str,
        year: str,
        boxes: str,
        difficult: str,
        parts: bool,
        classes: list[str] | None,
        missing: str,
    ) -> SetTable:
        below = (f"VOCdevkit/VOC{year}", f"VOC{year}", "")
        listed = f"ImageSets/{_TASKS[task]}/{split}.txt"
        (file,) = folder.files([listed], below)
        base = folder.place([listed], below)
        names = [line.split()[0] for _, line in file.lines() if line.strip()]
        for name in names:
            if "/" in name or name in (".", ".."):
                file.fail(f"{name!r} is not the name of a photograph")
        pictures = [f"JPEGImages/{name}.jpg" for name in names]
        kept, left_out = present(folder, base, pictures, file.path, missing)
        names = [names[number] for number in kept]
        columns: dict[str, Any] = {"image": path_column([pictures[number] for number in kept]), "name": names}
        labels = {each: number for number, each in enumerate(classes or _CLASSES)}
        if task == "detection":
            objects, sizes = _object_columns(folder, base, names, labels, boxes, difficult == "drop", parts)
            columns |= objects
            doubts = box_doubts(columns["image"], columns["boxes"], boxes, sizes)
            return SetTable(columns, {"label": labels}, "image", base, left_out, doubts=doubts)
        masks = [f"{_MASKS[task]}/{name}.png" for name in names]
        present(folder, base, masks, file.path, "error")
        columns["mask"] = path_column(masks)
        named = {"background": 0} | {name: number + 1 for name, number in labels.items()}
        of_masks = {"mask": named} if task == "segmentation" else {}
        return SetTable(columns, of_masks, "image", base, left_out, ("mask",))


def _named(classes: Sequence[str]) -> list[str]:
    found = texts("classes", classes, "VOC")
    if not found or len(set(found)) < len(found):
        raise GraphError(f"VOC: classes must name each class once; got {found}")
    if "background" in found:
        raise GraphError("VOC: background is not one of the classes, as pixels of 0 are in any case; leave it out")
    return found


def _object_columns(
    folder: SetFolder, base: str, names: Sequence[str], labels: dict[str, int], form: str, drop: bool, parts: bool
) -> tuple[dict[str, Any], Any]:
    """And the sizes of the photographs, as their files say them."""
    place = folder.path(base, "Annotations")
    paths = [os.path.join(place, f"{name}.xml") for name in names]
    found = _engine.read_voc([os.fsencode(path) for path in paths])
    folder.note(os.path.join(base, "Annotations"), found["bytes"], found["checksum"])
    splits = found["object_splits"]
    for number, each in enumerate(found["name"]):
        if each not in labels:
            path = paths[int(np.searchsorted(splits, number, "right")) - 1]
            raise DataError(f"{path}: an object is of the class {each!r}, which is not among classes")
    numbers = np.array([labels[each] for each in found["name"]], np.int64)
    kept = found["difficult"] == 0 if drop else np.ones(len(numbers), bool)
    before = np.concatenate([[0], np.cumsum(kept)])
    columns: dict[str, Any] = {
        "boxes": ragged(boxes_as(_from_zero(found["boxes"])[kept], form), before[splits]),
        "label": ragged(numbers[kept], before[splits]),
    }
    columns |= {each: ragged(found[each][kept], before[splits]) for each in ("difficult", "truncated", "occluded")}
    if parts:
        columns |= _part_columns(found, kept, before, form)
    return columns, np.stack([found["width"], found["height"]], 1)


def _part_columns(found: dict[str, Any], kept: Any, before: Any, form: str) -> dict[str, Any]:
    """Of the objects that are kept, by their numbers among these."""
    splits = found["part_splits"]
    first = np.repeat(found["object_splits"][:-1], np.diff(splits))
    owners = first + found["part_object"]
    there = kept[owners] if len(owners) else np.zeros(0, bool)
    cuts = np.concatenate([[0], np.cumsum(there)])[splits]
    return {
        "part_boxes": ragged(boxes_as(_from_zero(found["part_boxes"])[there], form), cuts),
        "part_name": ragged([found["part_name"][number] for number in np.flatnonzero(there)], cuts),
        "part_object": ragged((before[owners] - before[first])[there].astype(np.int64), cuts),
    }


def _from_zero(boxes: Any) -> Any:
    return boxes - np.array([1, 1, 0, 0], np.float64)
