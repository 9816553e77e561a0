"""`FakeImage`: noise in the form of pictures, for trying out a pipeline without data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headrace._arguments.options import shown, whole
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace.errors import GraphError

__all__ = ["FakeImage"]

_MOST_BYTES = 1 << 36


class FakeImage(NamedSet):
    """Gives pictures of noise, the same ones for the same numbers.

    Columns: `image` (uint8, of the size given; all values are equally likely) and `label` (int64: 0 to classes - 1, all
    equally likely). All images are made at once, and kept in memory.

    Args:
        count: The number of pictures.
        size: Height, width and channels.
        classes: The number of labels.
        draws: What the pictures and labels are drawn by, whatever the pipeline's seed is.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed, for the order alone; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.FakeImage(100, (32, 32, 3))
    """

    def __init__(
        self,
        count: int = 1000,
        size: Sequence[int] = (224, 224, 3),
        classes: int = 10,
        draws: int = 0,
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        number = whole("count", count, 1, "FakeImage", 1 << 40)
        arguments = {
            "count": number,
            "size": _size(size, number),
            "classes": whole("classes", classes, 1, "FakeImage", 1 << 20),
            "draws": whole("draws", draws, of="FakeImage"),
        }
        self._open(None, arguments, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, count: int, size: Sequence[int], classes: int, draws: int) -> SetTable:
        total = count * size[0] * size[1] * size[2]
        # The raw numbers of Philox are the same in every version of NumPy.
        labels = np.random.Philox(key=[draws, 0]).random_raw(count) % np.uint64(classes)
        noise = np.random.Philox(key=[draws, 1]).random_raw(-(-total // 8)).astype("<u8", copy=False)
        images = noise.view(np.uint8)[:total].reshape(count, *size)
        return SetTable({"image": images, "label": labels.astype(np.int64)})


def _size(given: Sequence[int], count: int) -> list[int]:
    try:
        height, width, channels = given
    except (TypeError, ValueError):
        raise GraphError(
            f"FakeImage: size is {shown(given)}; it must be height, width and channels, such as (224, 224, 3)"
        ) from None
    size = [whole("size", each, 1, "FakeImage", 1 << 20) for each in (height, width, channels)]
    if count * size[0] * size[1] * size[2] > _MOST_BYTES:
        raise GraphError(f"FakeImage: {count:,} pictures of size {tuple(size)} take more than 64 GiB; give fewer")
    return size
