"""A mask that is a plain column of a map: kernels that interpolate make values of it that are no class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from headrace._arguments.doubts import warn_once
from headrace._arguments.source_location import users_location
from headrace._kernels.chooser import Chooser
from headrace._kernels.kernel import Kernel

__all__ = ["looks_like_mask", "warn_of_masks"]

_NAMED = re.compile(r"(^|_)(masks?|seg|segm|segmentations?|semantic|trimap|(label|class|seg)_?map)(_|$)", re.IGNORECASE)
_WHOLE = re.compile(r"bool|u?int[0-9]+")


def warn_of_masks(kernels: Iterable[Any], columns: Sequence[str], schema: Mapping[str, Any]) -> None:
    culprit = next(_interpolating(kernels), None)
    if culprit is None:
        return
    for name in columns:
        if looks_like_mask(name, columns, schema):
            warn_once(
                f'map: {culprit} interpolates column "{name}", which seems to be a mask: between two classes it makes '
                f'values that are neither; write hr.mask("{name}") after the image that it belongs to: '
                f'map(kernels, ["image", hr.mask("{name}")])',
                users_location(),
            )


def looks_like_mask(name: str, columns: Sequence[str], schema: Mapping[str, Any]) -> bool:
    """By its name, unless it holds floats; or as a column of whole numbers (H, W) beside an image (H, W, 3)."""
    dtype, shape = schema.get(name, ("unknown", None))
    if dtype.startswith("float"):
        return False
    if _NAMED.search(name):
        return True
    beside = (schema.get(each, ("unknown", None))[1] for each in columns if each != name)
    flat = shape is not None and (len(shape) == 2 or (len(shape) == 3 and shape[2] == 1))
    return (
        flat
        and _WHOLE.fullmatch(dtype) is not None
        and any(each is not None and len(each) == 3 and each[2] == 3 for each in beside)
    )


def _interpolating(kernels: Iterable[Any]) -> Iterator[str]:
    for kernel in kernels:
        if isinstance(kernel, Chooser):
            for branch in kernel._branches:
                yield from _interpolating(branch)
        elif isinstance(kernel, Kernel):
            given = kernel._attributes.get("interpolation")
            if isinstance(given, str) and given != "nearest":
                yield kernel._name
