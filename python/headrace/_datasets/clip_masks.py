"""Masks of the frames of a clip: (T, H, W) beside (T, H, W, C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace._kernels.targets import Mask, Target
from headrace.errors import GraphError

__all__ = ["masks_of_frames", "refuse_planes_beside_clips"]


def masks_of_frames(schema: Mapping[str, Any], images: Sequence[str], targets: Sequence[Target]) -> set[str]:
    """The masks of three axes beside a clip, which have a plane for each of its frames."""
    if _axes(schema, images[0]) != 4:
        return set()
    masks = (each.column for each in targets if isinstance(each, Mask))
    return {name for name in masks if _axes(schema, name) == 3}


def refuse_planes_beside_clips(columns: Sequence[str], schema: Mapping[str, Any]) -> None:
    """For a map of plain columns: kernels would take the planes for one image of T rows."""
    planes = [name for name in columns if _axes(schema, name) == 3]
    for clip in (name for name in columns if _axes(schema, name) == 4):
        frames = schema[clip][1]
        for name in planes:
            if schema[name][1] == frames[:3] and frames[0] is not None:
                raise GraphError(
                    f'map: column "{name}", {frames[:3]}, seems to be a mask of the frames of "{clip}", {frames}, and a '
                    f'plain column of three axes is one image; say so: map(kernels, ["{clip}", hr.mask("{name}")])'
                )


def _axes(schema: Mapping[str, Any], column: str) -> int | None:
    _, shape = schema.get(column, (None, None))
    return None if shape is None else len(shape)
