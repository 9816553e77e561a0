"""Tells for each kernel whether it moves masks, boxes and keypoints, leaves them alone, or looks at them."""

import json
from functools import cache
from typing import Any

from headrace import _engine

__all__ = [
    "CHANGES_BOXES",
    "CHANGES_KEYPOINTS",
    "leaves_targets",
    "looks_at_boxes",
    "moves_boxes",
    "moves_keypoints",
    "needed_target",
]

# Those that change targets of one kind alone, and what belongs to them.
CHANGES_BOXES = frozenset({"ClampBoxes", "ConvertBoxFormat", "SanitizeBoxes"})
CHANGES_KEYPOINTS = frozenset({"ClampKeypoints", "SanitizeKeypoints"})

# Kernels that change pixel values but move none; targets pass through unchanged. Kernels whose traits say that they look
# at one pixel need no entry.
_OF_VALUES = frozenset(
    {
        "AdjustSharpness",
        "CutOut",
        "EncodeJpeg",
        "EncodePng",
        "GaussianBlur",
        "GaussianNoise",
        "JPEG",
        "RandomAdjustSharpness",
        "RandomErasing",
        "RandomSharpness",
        "SubtractImage",
    }
)


@cache
def _operators() -> dict[str, dict[str, Any]]:
    """Read when first asked for, as importing the package needs none of them."""
    return {each["name"]: each for each in json.loads(_engine.declarations())["operators"]}


def moves_boxes(kernel: str) -> bool:
    return f"{kernel}OfBoxes" in _operators()


def moves_keypoints(kernel: str) -> bool:
    return f"{kernel}OfKeypoints" in _operators()


def leaves_targets(kernel: str) -> bool:
    traits = _operators()[kernel]["traits"] if kernel in _operators() else {}
    return kernel in _OF_VALUES or any(traits.get(each) for each in ("pointwise", "per_pixel", "layout"))


def looks_at_boxes(kernel: str) -> bool:
    """Whether what it does to an image depends on the image's boxes, which it takes beside it."""
    return moves_boxes(kernel) and _operators()[kernel]["inputs"]["least"] > 1


def needed_target(kernel: str) -> str | None:
    """The kind of target without which it does not work in a map."""
    if looks_at_boxes(kernel) or kernel in CHANGES_BOXES:
        return "boxes"
    return "keypoints" if kernel in CHANGES_KEYPOINTS else None
