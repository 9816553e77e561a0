"""The mean image of the parameter `mean_img`: read from MXNet's file, or made over the data and saved there."""

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from headrace._datasets.dataset import Dataset
from headrace._files.places import exists, is_far
from headrace._files.whole_file import check_place
from headrace._kernels.kernel import Kernel
from headrace.errors import DataError, NotFoundError
from headrace.mx import nd
from headrace.mx.message_log import log

__all__ = ["MeanImage"]

_NAME = "mean_img"


class MeanImage(NamedTuple):
    """Where the mean image is, and what it is made of where it is missing."""

    path: str
    rows: Dataset
    """All records in the column `image`, whatever part of them is read."""
    on_error: Literal["raise", "skip"]
    max_errors: int
    memory: int | str | None
    workers: int | None
    logs: bool

    def values(self, geometry: Sequence[Kernel], data_shape: tuple[int, int, int], of: str) -> np.ndarray:
        """float32 of shape (height, width, channels).

        Args:
            geometry: From a record to the uint8 image of the size of `data_shape` (channels, height, width).
            data_shape: The shape that a mean in a file, and each image, must have.
            of: The iterator, for messages.

        Raises:
            DataError: The file holds another array, or none, or is damaged; or there are no rows, or one of another shape.
            NotFoundError: The file cannot be written.
        """
        if exists(self.path):
            mean = self._read(data_shape, of)
        else:
            self._check_folder(of)
            mean = self._made(geometry, data_shape, of)
            nd.save(self.path, {_NAME: mean})
        transposed: np.ndarray = mean.transpose(1, 2, 0)
        return transposed

    def _read(self, data_shape: tuple[int, int, int], of: str) -> np.ndarray:
        stored = nd.load(self.path)
        arrays = [*(stored.values() if isinstance(stored, dict) else stored)]
        if len(arrays) != 1:
            raise DataError(f"{of}: mean_img {self.path} has {len(arrays)} arrays; it must have one, the mean image")
        mean = np.asarray(arrays[0], np.float32)
        if mean.shape != data_shape:
            raise DataError(
                f"{of}: mean_img {self.path} has shape {mean.shape}, and data_shape is {data_shape}; they must be equal"
            )
        if not np.isfinite(mean).all():
            raise DataError(f"{of}: mean_img {self.path} has values that are no finite numbers")
        return mean

    def _check_folder(self, of: str) -> None:
        if is_far(self.path):
            return
        folder = os.path.dirname(os.path.realpath(self.path))
        if not os.path.isdir(folder):
            raise NotFoundError(f"{of}: mean_img {self.path} cannot be written, as there is no folder {folder}")
        check_place(os.path.realpath(self.path), f"{of}: mean_img {self.path} cannot be written")

    def _made(self, geometry: Sequence[Kernel], data_shape: tuple[int, int, int], of: str) -> np.ndarray:
        channels, height, width = data_shape
        # Of whole numbers, so that the order of the rows changes nothing.
        total = np.zeros((height, width, channels), np.uint64)
        count = 0
        with self._images(geometry).iterate() as rows:
            for row in rows:
                image = row["image"]
                if image.shape != total.shape:
                    raise DataError(
                        f"{of}: the image of record {row['id']} has shape {image.shape}, and the mean image needs "
                        f"{total.shape}, as data_shape is {data_shape}"
                    )
                total += image
                count += 1
        if count == 0:
            raise DataError(f"{of}: mean_img {self.path} is missing, and there are no images to make it of")
        if self.logs:
            log.info("%s: made the mean image of %d images: %s", of, count, self.path)
        mean: np.ndarray = (total / count).astype(np.float32).transpose(2, 0, 1)
        return mean

    def _images(self, geometry: Sequence[Kernel]) -> Dataset:
        """One by one, as a batch of large ones may exceed the budget."""
        rows = self.rows.map(geometry, "image").project(["image", "id"])
        if self.on_error == "skip":
            rows = rows.on_error("skip", max_errors=self.max_errors)
        return rows.options(memory=self.memory, workers=self.workers)
