"""Targets: columns that follow the image of their row in a map, each in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from headrace._arguments.options import flag, shown, text, texts
from headrace.errors import GraphError

__all__ = [
    "Boxes",
    "Keypoints",
    "Mask",
    "Target",
    "boxes",
    "keypoints",
    "mask",
    "images_and_targets",
    "target_columns",
]

_FORMATS = ("xyxy", "xywh", "cxcywh")
# Names that others have for them.
_OTHER_FORMATS = {
    "albumentations": 'write format="xyxy", relative=True',
    "coco": 'write format="xywh"',
    "pascal_voc": 'write format="xyxy"',
    "voc": 'write format="xyxy"',
    "yolo": 'write format="cxcywh", relative=True',
}


@dataclass(frozen=True)
class Mask:
    """What `hr.mask` gives."""

    column: str
    fill: Any


@dataclass(frozen=True)
class Boxes:
    """What `hr.boxes` gives."""

    column: str
    format: Literal["xyxy", "xywh", "cxcywh"]
    labels: tuple[str, ...]
    masks: tuple[str, ...]
    relative: bool


@dataclass(frozen=True)
class Keypoints:
    """What `hr.keypoints` gives."""

    column: str
    labels: tuple[str, ...]


Target: TypeAlias = Mask | Boxes | Keypoints


def mask(column: str, fill: float | Sequence[float] = 0) -> Mask:
    """A column of masks, for `map` and `headrace.compose`: `ds.map(kernels, ["image", hr.mask("mask")])`.

    A mask has its image's height and width, (H, W) or (H, W, C), and any dtype of numbers. Kernels that move pixels
    move it with the draws that they make for the image, and take the nearest pixel; `V.Decode` decodes it with
    mode="unchanged", unless the schema says that it is an image; kernels that change values or the order of axes leave it
    alone. Beside a clip, (T, H, W, C), it has a plane for each frame, (T, H, W), or one for all of them, (H, W).

    Args:
        column: Its name.
        fill: What pixels hold that come from beyond the mask, in kernels that have a `fill`: one number, or one for each
            channel. `V.CenterCrop` pads with 0.
    """
    return Mask(text("column", column, "mask"), tuple(fill) if isinstance(fill, (list, tuple)) else fill)


def boxes(
    column: str,
    format: Literal["xyxy", "xywh", "cxcywh"] = "xyxy",
    labels: str | Sequence[str] | None = None,
    *,
    masks: str | Sequence[str] | None = None,
    relative: bool = False,
) -> Boxes:
    """A column of boxes, for `map` and `headrace.compose`: `ds.map(kernels, ["image", hr.boxes("boxes", labels="label")])`.

    Boxes are float32, float64 or int64 of shape (n, 4), where n may differ from row to row, in pixels of the image:
    x from 0 to its width, y from 0 to its height. Kernels that move pixels move them with the draws that they make for
    the image, as torchvision's transforms do: those that cut, pad or warp also clamp boxes to the image.
    `V.ClampBoxes` does so anywhere. `V.SanitizeBoxes` removes boxes, and so do `V.RandomObjectCrop` and
    `V.RandomConstrainedCrop`, which look at them. Whole numbers lose their fractions. Boxes leave as they came, or in
    the format of `V.ConvertBoxFormat`.

    Args:
        column: Its name.
        format: What the four numbers are: "xyxy", left, top, right and bottom; "xywh", left, top, width and height;
            "cxcywh", the middle, width and height.
        labels: The column, or columns, that hold one value a box, of shape (n, …). What removes boxes removes
            these, too.
        masks: The column, or columns, that hold one mask a box, numbers of shape (n, H, W) with the image's height
            and width, also where n is 0. Each moves as an `hr.mask` with fill 0; what removes boxes removes these, too.
        relative: Whether numbers are parts of the image's width and height, instead of pixels.
    """
    if format not in _FORMATS:
        known = f"it must be one of {', '.join(map(repr, _FORMATS))}"
        advice = _OTHER_FORMATS.get(str(format).lower(), f"{known} (columns of labels are named by labels=)")
        raise GraphError(f"boxes: format is {shown(format)}; {advice}")
    return Boxes(
        text("column", column, "boxes"),
        format,
        _names("labels", labels, "boxes"),
        _names("masks", masks, "boxes"),
        flag("relative", relative, "boxes"),
    )


def keypoints(column: str, labels: str | Sequence[str] | None = None) -> Keypoints:
    """A column of keypoints, for `map` and `headrace.compose`: `ds.map(kernels, ["image", hr.keypoints("points")])`.

    Keypoints are float32, float64 or int64 of shape (n, 2), or (n, k, 2) for groups of k points, such as skeletons and
    polygons, where n may differ from row to row: x, then y, in pixels of the image. Kernels that move pixels move
    them with the draws that they make for the image, as torchvision's transforms do: a flip takes a point for the
    middle of a pixel, so that x becomes the width less 1 less x. A point may leave the image, and comes back if a
    later kernel moves it there; `V.ClampKeypoints` moves it to the border, and `V.SanitizeKeypoints` removes it. Whole
    numbers lose their fractions.

    Args:
        column: Its name.
        labels: The column, or columns, that hold one value a point, or a group of points, of shape (n, …).
            `V.SanitizeKeypoints` removes these, too.
    """
    return Keypoints(text("column", column, "keypoints"), _names("labels", labels, "keypoints"))


def _names(what: str, given: str | Sequence[str] | None, of: str) -> tuple[str, ...]:
    return () if given is None else tuple(texts(what, given, of))


def target_columns(target: Target) -> list[str]:
    """With what belongs to it, one element each."""
    labels = () if isinstance(target, Mask) else target.labels
    masks = target.masks if isinstance(target, Boxes) else ()
    return [target.column, *labels, *masks]


def images_and_targets(columns: Any, of: str = "map") -> tuple[list[Any], list[Target]] | None:
    """The names of images among a map's columns, and its targets; None: it has none."""
    listed = list(columns) if isinstance(columns, (list, tuple)) else [columns]
    targets = [each for each in listed if isinstance(each, Target)]
    if not targets:
        return None
    images = [each for each in listed if not isinstance(each, Target)]
    if not images:
        column = targets[0].column
        raise GraphError(f'{of}: "{column}" follows an image; name the image\'s column as well, before it')
    return images, targets
