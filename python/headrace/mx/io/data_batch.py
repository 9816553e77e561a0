"""`DataBatch` is a batch of an iterator, and `DataDesc` its description, as in `mxnet.io`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DataBatch", "DataDesc"]


class _NameAndShape(NamedTuple):
    name: str
    shape: tuple[int, ...]


class DataDesc(_NameAndShape):
    """The name and shape of an array of each batch, with `dtype` and `layout`; unpacks into name and shape."""

    dtype: DTypeLike
    layout: str

    def __new__(
        cls, name: str, shape: Sequence[int], dtype: DTypeLike = np.float32, layout: str = "NCHW"
    ) -> "DataDesc":
        made = super().__new__(cls, name, tuple(shape))
        made.dtype = dtype
        made.layout = layout
        return made

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    def __reduce__(self) -> "tuple[type[Self], tuple[Any, ...]]":
        return type(self), (self.name, self.shape, self.dtype, self.layout)

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The axis of the rows: that of the N in the layout, or 0 without one."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(
        shapes: Sequence[tuple[str, Sequence[int]]], types: Sequence[tuple[str, DTypeLike]] | None
    ) -> "list[DataDesc]":
        """Descriptions from pairs of name and shape, and pairs of name and type."""
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        of_name = dict(types)
        return [DataDesc(name, shape, of_name[name]) for name, shape in shapes]


class DataBatch:
    """The arrays of one step.

    Args:
        data: Arrays whose first axis is the row.
        label: Likewise; None: there are none.
        pad: How many of the last rows repeat others, to make the batch whole.
        index: The rows' numbers; None: not known.
        bucket_key: The bucket that the rows come from, where batches come from several.
        provide_data: What `data` holds, where batches differ in it.
        provide_label: Likewise for `label`.
    """

    def __init__(
        self,
        data: Sequence[Any] | None,
        label: Sequence[Any] | None = None,
        pad: int | None = None,
        index: Any = None,
        bucket_key: Any = None,
        provide_data: list[DataDesc] | None = None,
        provide_label: list[DataDesc] | None = None,
    ) -> None:
        for name, arrays in (("data", data), ("label", label)):
            if arrays is not None and not isinstance(arrays, (list, tuple)):
                raise TypeError(f"{name} is {type(arrays).__name__}; it must be a list of arrays")
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self) -> str:
        data = [array.shape for array in self.data or []]
        label = [array.shape for array in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {data} label shapes: {label}"
