"""`image_column` finds the column that holds images, and their form, by the types of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace import vision as V
from headrace._arguments.late_numpy import np
from headrace.errors import DataError, GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["ImageColumn", "image_column", "type_text"]

_CHANNELS = (1, 3, 4)
_FORMS = (
    "uint8, uint16 or floats of shape (H, W, C) or (C, H, W) with 1, 3 or 4 channels, or the bytes of a JPEG, PNG, "
    "WebP, GIF, BMP, TIFF or PNM"
)


@dataclass
class ImageColumn:
    name: str
    batched: bool
    """Whether each value holds several along its first axis."""
    axes: str
    """Of one image: HWC, CHW or HW; "" where it is encoded."""

    def image(self, value: Any, row: int) -> np.ndarray:
        """One image, of shape (H, W, C). DataError if it is encoded and cannot be decoded, or has no pixels."""
        if not self.axes:
            decoded: np.ndarray = V.Decode(orientation=True)(value)
            return decoded
        if value.ndim != len(self.axes) or value.size == 0:
            raise DataError(f"show: row {row}: column {self.name} is {type_text(value)}, not an image")
        if self.axes == "HW":
            image: np.ndarray = value[..., None]
        else:
            image = np.moveaxis(value, 0, -1) if self.axes == "CHW" else value
        return image


def image_column(row: Mapping[str, Any], named: str | None, of: Dataset) -> ImageColumn:
    """The named column, or the first of `row` that holds images. GraphError if there is none.

    Axes: a named column may be without channels. Where both (H, W, C) and (C, H, W) are possible, it is the second if
    kernels of the dataset made it so.
    """
    for name in row if named is None else [named]:
        found = _as_image(name, row[name], named is not None)
        if found is None:
            continue
        if found.axes == "HWC" and row[name].shape[-3] in _CHANNELS and _is_channels_first(of, found):
            found.axes = "CHW"
        return found
    listed = ", ".join(f"{name} is {type_text(value)}" for name, value in row.items())
    if named is not None:
        raise GraphError(
            f"show: image names column {named}, which holds no images: {_FORMS}, with image= also of shape (H, W); "
            f"rows may be batched (columns: {listed})"
        )
    raise GraphError(
        f"show: no column holds images: {_FORMS} (columns: {listed}); name a column of images without channels, of "
        "shape (H, W), with image=, on the command line --image"
    )


def type_text(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype} of shape {value.shape}"
    first = value if isinstance(value, (bytes, str)) else next(iter(value.flat), None)
    kind = "string" if isinstance(first, str) else type(first).__name__
    return f"{kind} of shape {getattr(value, 'shape', ())}"


def _as_image(name: str, value: Any, named: bool) -> ImageColumn | None:
    if isinstance(value, bytes):
        return ImageColumn(name, False, "") if named or _is_encoded(value) else None
    if not isinstance(value, np.ndarray) or value.size == 0:
        return None
    if value.dtype == object:
        first = value.flat[0]
        encoded = value.ndim == 1 and isinstance(first, bytes) and (named or _is_encoded(first))
        return ImageColumn(name, True, "") if encoded else None
    if value.dtype not in (np.uint8, np.uint16) and value.dtype.kind != "f":
        return None
    if value.ndim in (3, 4):
        axes = "HWC" if value.shape[-1] in _CHANNELS else "CHW" if value.shape[-3] in _CHANNELS else ""
        if axes:
            return ImageColumn(name, value.ndim == 4, axes)
    return ImageColumn(name, value.ndim == 3, "HW") if named and value.ndim in (2, 3) else None


def _is_encoded(value: bytes) -> bool:
    """Whether the decoder knows its header."""
    return _engine.encoded_size(value) is not None


def _is_channels_first(dataset: Dataset, column: ImageColumn) -> bool:
    """Whether its kernels gave (C, H, W): then the graph refuses one that needs (H, W, C)."""
    alone = dataset.project([column.name])
    rows = alone.unbatch() if column.batched else alone
    try:
        rows.map(V.HWC2CHW(), column.name)._build_graph().schema()
    except GraphError:
        return True
    return False
