"""`Coco`: photographs with objects, masks, keypoints, captions and segments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from headrace._arguments.options import choice, file_path, flag
from headrace._datasets.dataset import Dataset
from headrace._datasets.fields.declared_ragged import ragged
from headrace._files.places import absolute, joined
from headrace._sets.coco_annotations import CocoAnnotations, CocoCategory, read_annotations
from headrace._sets.named_set import NamedSet
from headrace._sets.object_columns import BOXES
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut, SetTable
from headrace.errors import DataError, GraphError
from headrace.transforms import ReadFile
from headrace.vision import Decode, DrawLabelMap, DrawMasks, PanopticIds

__all__ = ["Coco"]

# What the file is read for.
_READ_FOR = {
    "detection": "detection",
    "stuff": "detection",
    "keypoints": "keypoints",
    "captions": "captions",
    "panoptic": "panoptic",
}
_EMPTY = ("keep", "drop")
# Categories of a label map of uint8, whose 255 is no category.
_MOST_BYTES = 255


class Coco(NamedSet):
    """Gives the photographs of COCO, or of a set in its form, with their annotations.

    Columns: `image` (the bytes of the file) and `image_id` (int64), and of n objects `boxes` (float32: (n, 4)), `category` (int64: (n,), 0 to K - 1 in the order of the ids of the K categories), `iscrowd` (uint8: (n,)),
    `area` (float32: (n,)) and `annotation_id` (int64: (n,)). Further columns by task:

    - "detection": with `masks`, `masks` (uint8: (n, H, W)), the pixels that pycocotools gives.
    - "keypoints": `keypoints` (float32: (n, k, 2)) and `visibility` (uint8: (n, k): 0 not labelled, 1 hidden, 2 visible);
      with `masks`, `masks`.
    - "stuff": `mask` (uint8: (H, W)), the category of each pixel and 255 where there is none; int64 beyond 255 categories.
    - "captions": `captions` (string: (n,)) and `annotation_id`, in place of objects.
    - "panoptic": `mask` (int32: (H, W)), the number of each pixel's segment and 0 where there is none, and `segment_id`
      (int64: (n,)) in place of `annotation_id`; V.PanopticCategories makes categories of them.

    Rows are in the order of the images in the file, objects in that of the annotations. `classes` has the names of
    `category`. A file is read once in a process and kept, the last four of them. Masks are drawn for rows that are asked
    for. Boxes, areas and outlines that may not be meant are given as they are, and counted in `doubts`.

    Attributes:
        categories: The file's categories, in the order of their numbers in `category`.
        doubts: How many boxes reach beyond their image ("boxes_outside") or have no width or height ("boxes_empty"), how
            many objects lack an outline or have a part of fewer than two points ("outlines_empty"), how many areas are
            missing and are those of boxes ("areas_missing"), and how many images have no annotation ("images_without");
            and the first such box, as "annotation 17 of image 3", or "" ("first_outside" and "first_empty").

    Args:
        root: The folder that holds the photographs, or the folders of the set.
        annotations: The file of annotations, by its path within the root, or within `annotations` there, or a whole path.
            It may be compressed.
        task: What to read of it.
        boxes: The form of boxes: left, top, right and bottom, or left, top, width and height.
        masks: Draw a mask for each object.
        outlines: Give the outlines of which V.DrawMasks and V.DrawLabelMap make masks: `outlines` (uint8: (b,)).
        empty: What to do about images without an annotation: "keep", or "drop" to leave them out, as `left_out` lists.
        missing: What to do about photographs that the file names and that are not there: "error", or "skip" to leave
            them out.
        pictures: The folder of the photographs within the root. None: the root, `train2017` for
            `instances_train2017.json` and the like, or either of them in `images`, wherever the first photograph is.
        segments: The folder of the images of segments, of task "panoptic", within the root. None: the path of
            `annotations` without its ending.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Coco("coco", "instances_val2017.json")
    """

    publisher = "https://cocodataset.org"

    categories: tuple[CocoCategory, ...]
    doubts: dict[str, int | str]

    def __init__(
        self,
        root: str | PathLike[str],
        annotations: str | PathLike[str],
        task: Literal["detection", "stuff", "keypoints", "captions", "panoptic"] = "detection",
        boxes: Literal["xyxy", "xywh"] = "xyxy",
        masks: bool = False,
        empty: Literal["keep", "drop"] = "keep",
        *,
        outlines: bool = False,
        missing: Literal["error", "skip"] = "error",
        pictures: str | PathLike[str] | None = None,
        segments: str | PathLike[str] | None = None,
        shuffle: bool = False,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        of = "Coco"
        arguments = {
            "annotations": file_path("annotations", annotations, of),
            "task": choice("task", task, tuple(_READ_FOR), of),
            "boxes": choice("boxes", boxes, BOXES, of),
            "masks": flag("masks", masks, of),
            "outlines": flag("outlines", outlines, of),
            "empty": choice("empty", empty, _EMPTY, of),
            "missing": choice("missing", missing, MISSING, of),
            "pictures": None if pictures is None else file_path("pictures", pictures, of),
            "segments": None if segments is None else file_path("segments", segments, of),
        }
        if (masks or outlines) and task not in ("detection", "keypoints"):
            asked = "masks" if masks else "outlines"
            raise GraphError(f'Coco: {asked}=True needs task="detection" or "keypoints"; got {task!r}')
        self._open(root, arguments, shuffle, seed, name)
        found = _annotations(SetFolder(of, file_path("root", root, of), self.publisher), arguments)[1]
        self.categories, self.doubts = found.categories, dict(found.doubts)
        if masks:
            self._become(_without_outlines(self._copy().map(DrawMasks(), "outlines", "masks"), outlines))
        elif task == "stuff":
            dtype: Literal["uint8", "int64"] = "uint8" if len(self.categories) <= _MOST_BYTES else "int64"
            drawn = self._copy().map(DrawLabelMap(dtype=dtype), ["outlines", "category"], "mask")
            self._become(_without_outlines(drawn, False))
        elif task == "panoptic":
            self._become(self._copy().map([ReadFile(), Decode(), PanopticIds()], "mask"))

    @staticmethod
    def _table(
        folder: SetFolder,
        annotations: str,
        task: str,
        boxes: str,
        masks: bool,
        outlines: bool,
        empty: str,
        missing: str,
        pictures: str | None,
        segments: str | None,
    ) -> SetTable:
        file, found = _annotations(folder, {"annotations": annotations, "task": task})
        names = found.columns["file_name"]
        _check_names(file, names)
        base = pictures if pictures is not None else _picture_folder(folder, file, names)
        there, left_out = present(folder, base, names, file.path, missing, again=True)
        kept = np.zeros(len(names), bool)
        kept[there] = True
        asked_out: list[LeftOut] = []
        if empty == "drop":
            bare = np.diff(found.columns["object_splits"]) == 0
            asked_out = [LeftOut(file.path, names[row], "it has no annotation") for row in np.flatnonzero(kept & bare)]
            kept &= ~bare
        rows = np.flatnonzero(kept)
        columns: dict[str, Any] = {
            "image": path_column([names[row] for row in rows]),
            "image_id": found.columns["image_id"][rows],
        }
        if task == "captions":
            columns["captions"] = ragged(*found.of_objects("captions", kept))
        else:
            columns |= _object_columns(found, boxes, kept)
        columns["segment_id" if task == "panoptic" else "annotation_id"] = ragged(*found.of_objects("object_id", kept))
        if task == "keypoints":
            columns |= {each: ragged(*found.of_objects(each, kept)) for each in ("keypoints", "visibility")}
        if masks or outlines or task == "stuff":
            columns["outlines"] = ragged(*found.outlines(kept))
        if task == "panoptic":
            place = file.path if segments is None else folder.path(segments)
            columns["mask"] = path_column(_segment_paths(file, found, rows, absolute(place)))
        classes = {} if task == "captions" else {"category": found.labels()}
        return SetTable(columns, classes, "image", base, left_out, asked_out=asked_out)


def _annotations(folder: SetFolder, arguments: dict[str, Any]) -> tuple[SetFile, CocoAnnotations]:
    (file,) = folder.files([arguments["annotations"]], ("", "annotations"))
    return file, read_annotations(file, _READ_FOR[arguments["task"]])


def _without_outlines(drawn: Dataset, keep: bool) -> Dataset:
    return drawn if keep else drawn.project([name for name in drawn.schema if name != "outlines"])


def _object_columns(found: CocoAnnotations, form: str, kept: Any) -> dict[str, Any]:
    given, splits = found.of_objects("boxes", kept)
    corners = given if form == "xywh" else np.concatenate([given[:, :2], given[:, :2] + given[:, 2:]], 1)
    columns = {"boxes": ragged(corners.astype(np.float32), splits)}
    for name, held in (("category", "category"), ("iscrowd", "is_crowd"), ("area", "area")):
        columns[name] = ragged(*found.of_objects(held, kept))
    return columns


def _picture_folder(folder: SetFolder, file: SetFile, names: Sequence[str]) -> str:
    """Where the first photograph is; the root if it is nowhere."""
    part = os.path.basename(file.path).partition(".")[0].rpartition("_")[2]
    for place in ("", part, "images", f"images/{part}"):
        if names and folder.is_file(joined(place, names[0])):
            return place
    return ""


def _check_names(file: SetFile, names: Sequence[str]) -> None:
    """Annotations of others name no files elsewhere."""
    for name in names:
        if not name or name.startswith("/") or ".." in name.split("/") or "\0" in name or "://" in name:
            file.fail(f"the file_name {name!r} is not a path within a folder")


def _segment_paths(file: SetFile, found: CocoAnnotations, rows: Any, place: str) -> list[str]:
    names = [found.columns["segments_file"][row] for row in rows]
    for row, name in zip(rows, names, strict=True):
        if not name:
            raise DataError(
                f'{file.path}: image {found.columns["image_id"][row]} has no annotation; empty="drop" leaves such images out'
            )
    _check_names(file, names)
    # Beside the annotations, in a folder of their name.
    above, last = os.path.split(place)
    place = os.path.join(above, last.partition(".json")[0])
    return [os.path.join(place, name) for name in names]
