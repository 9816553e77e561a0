"""`ImageDetRecordIter` gives batches of the images in image records, with their objects."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

import numpy as np

from headrace import transforms as T
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._kernels.kernel import Kernel
from headrace._runs import error_policy
from headrace.errors import GraphError, UnsupportedError
from headrace.mx import detections
from headrace.mx.context import Context
from headrace.mx.detections import Segment
from headrace.mx.io.accepted_parameters import explained, page_locked_of
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.det_augmentation import DetAugmentation, DetAugmentationParameters, Stages
from headrace.mx.io.engine_batches import EngineBatches
from headrace.mx.io.given_values import dtype_name, flag, named_files, number_or_nan, part, picture_shape
from headrace.mx.io.image_records import TORN, ImageRecords, chunk_of, given_paths, threads_of
from headrace.mx.io.known_parameters import check_known
from headrace.mx.io.mean_image import MeanImage
from headrace.mx.io.pipeline import Ending, Pipeline, Running, check_skips

__all__ = ["ImageDetRecordIter"]

_log = logging.getLogger("headrace.mx")
# Channels, rows, columns, and the length of the label.
_BEFORE = 4


class ImageDetRecordIter(EngineBatches):
    """Gives batches of images with the objects in them, as `mxnet.io.ImageDetRecordIter` does: a float32 array of shape
    (batch_size, channels, height, width), in the order red, green, blue, and labels of shape (batch_size,
    label_pad_width + 4): channels, height, width, the length of the label, the label, and what pads it.

    A label is what records of detection sets have: the width of its header, the width of an object, the rest of the header,
    and for each object its class, xmin, ymin, xmax, ymax as parts of the image's sides, and further numbers. Boxes move
    with their image. Kernels do all of it; the page "From MXNet" of the documentation maps every parameter. In addition
    each batch has the records' ids as `index`.

    Args:
        path_imgrec: The file; several, between semicolons or in a list; or a folder of them.
        data_shape: (channels, height, width) of an image; 1 or 3 channels.
        batch_size: Rows in a batch, from 1 on.
        path_imgidx: The index of the file, or a list with one for each file, or "build", which makes it if it is missing:
            then rows have numbers. "": the file is read in splits.
        path_imglist: An image list whose labels take the place of those in the records; "": there is none.
        label_width: Numbers of a label; -1: any number.
        label_pad_width: The width to which labels are padded; 0: that of the widest, for which the rows are read once.
        label_pad_value: What they are padded with.
        shuffle: Whether each epoch has an order of its own: of all rows with an index, else of splits and within a window.
        seed: Of the order and of the augmentation.
        shuffle_chunk_size: Without an index: the size of a split in MB, which are read in random order; 0: 1/1024 of the
            files.
        shuffle_chunk_seed: Of the order of these splits.
        round_batch: Whether the last batch of an epoch is filled with the first rows of the next pass, which then begins
            after them; else with the first rows of the epoch. `pad` says how many.
        num_parts: As for `ImageRecordIter`.
        part_index: Which of the parts is read.
        dtype: "float32" alone.
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        aug_seq: "det_aug_default" alone.
        preprocess_threads: The most tasks of one kind at once; None: the engine chooses.
        prefetch_buffer: Kept for `explain()`: the budget `memory` bounds what is made ahead.
        ctx: Kept for `explain()`: batches lie in host memory, as MXNet's do.
        device_id: Batches lie in page-locked memory if the process has a context on this GPU already, else in plain
            memory. -1: in plain memory.
        verbose: Whether a line about the data goes to the log `headrace.mx`.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: "skip" leaves records out that cannot be decoded or whose label is none of objects.
        max_errors: The most rows that may be left out in an epoch.
        device: Where batches end, as `Dataset.to_device` takes it: "cuda:0", or "cpu:0"; None: in host memory. The arrays of
            a batch there are objects for `from_dlpack` of any library.
        state: What `state()` gave: the iterator goes on with the batch after it.
        augmentation_parameters: `DetAugmentationParameters`, by MXNet's names.

    Raises:
        DataError: A label is none of objects.
        GraphError: A parameter is out of its range, or a label is wider than label_pad_width.
        NotFoundError: A file is not there, or the mean image cannot be written.
        StateError: The state is of other data or another iterator.
        UnsupportedError: There is no kernel for a parameter.
    """

    WORDING = (TORN,)

    def __init__(
        self,
        *,
        path_imgrec: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        data_shape: Sequence[int],
        batch_size: int,
        path_imgidx: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = "",
        path_imglist: str | os.PathLike[str] = "",
        label_width: int = -1,
        label_pad_width: int = 0,
        label_pad_value: float = -1.0,
        shuffle: bool = False,
        seed: int = 0,
        shuffle_chunk_size: int = 0,
        shuffle_chunk_seed: int = 0,
        round_batch: bool = True,
        num_parts: int = 1,
        part_index: int = 0,
        dtype: Literal["float32"] = "float32",
        data_name: str = "data",
        label_name: str = "softmax_label",
        aug_seq: str = "det_aug_default",
        preprocess_threads: int | None = None,
        prefetch_buffer: int | None = None,
        ctx: str | Context = "gpu",
        device_id: int = 0,
        verbose: bool = True,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        max_errors: int = error_policy.MAX_ERRORS,
        device: str | None = None,
        state: Mapping[str, Any] | None = None,
        **augmentation_parameters: Unpack[DetAugmentationParameters],
    ) -> None:
        of = type(self).__name__
        check_known(augmentation_parameters, DetAugmentationParameters.__annotations__, ImageDetRecordIter, of)
        shape = picture_shape(data_shape, (1, 3), of)
        options.choice("dtype", dtype_name(dtype), ("float32",), of)
        if aug_seq != "det_aug_default":
            raise UnsupportedError(f'{of}: aug_seq is {aug_seq!r}; there is "det_aug_default" alone')
        size = options.whole("batch_size", batch_size, 1, of)
        shuffled = flag("shuffle", shuffle, of)
        source = ImageRecords(
            paths=path_imgrec,
            index=given_paths(path_imgidx),
            path_imglist=given_paths(path_imglist),
            label_width=options.whole("label_width", label_width, -1, of),
            shuffle=shuffled,
            chunk=chunk_of(shuffle_chunk_size, shuffle_chunk_seed, shuffled, given_paths(path_imgidx) is not None, of),
            part=part(part_index, num_parts, of),
            of=of,
        )
        threads = threads_of(preprocess_threads, of)
        round_whole = flag("round_batch", round_batch, of)
        logs = flag("verbose", verbose, of)
        options.choice("on_error", on_error, ("raise", "skip"), of)
        pad_value = _number("label_pad_value", label_pad_value, of)
        width = options.whole("label_pad_width", label_pad_width, 0, of)
        kernels_of = DetAugmentation(dict(augmentation_parameters), shape, of).kernels()
        to_skip = source.to_skip(counted=round_whole)
        check_skips(on_error, to_skip, of)
        rows, total = source.rows(counted=round_whole)

        def mean_of(path: str, geometry: list[Kernel]) -> np.ndarray:
            mean = MeanImage(path, source.all_rows(), on_error, max_errors, memory, threads, logs)
            return mean.values(geometry, shape, of)

        def made(rows: Dataset, kernels: Stages, width: int) -> Dataset:
            moved = detections.through(detections.split(rows), [Segment("kernels", kernels.moving)])
            labelled = detections.joined(moved, shape, own_size=bool(kernels.behind))
            if kernels.behind:
                labelled = labelled.map(kernels.behind, "image")
            return labelled.map(T.PadEnd((_BEFORE + width,), pad_value), "label")

        # Looking at the schema checks the attributes of the kernels.
        _ = made(rows, kernels_of(None), 1 << 20).schema
        if width == 0:
            width = detections.label_widths(source.all_rows(), on_error, max_errors)
        self._label_pad_width = width
        super().__init__(
            Pipeline(
                rows,
                "image",
                "id",
                total,
                source.shard,
                lambda rows: made(rows, kernels_of(mean_of), width),
                named_files("path_imgrec", path_imgrec),
                to_skip=to_skip,
            ),
            Running(
                options.whole("seed", seed, of=of),
                memory,
                on_error,
                max_errors,
                state,
                threads,
                device,
                page_locked_of(device_id),
            ),
            Ending.ROUND if round_whole else Ending.PAD,
            DataDesc(data_name, (size, *shape), np.float32),
            DataDesc(label_name, (size, _BEFORE + width), np.float32),
            explained(of, ctx, device_id, threads, prefetch_buffer),
        )
        if logs:
            _log.info("%s: %s, labels padded to %s, shuffle=%s", of, path_imgrec, width, shuffled)

    def _make(self) -> DataBatch | None:
        try:
            return super()._make()
        except GraphError as error:
            # The only error of that kernel whose shapes and types are known.
            if (error.operator or "").endswith(f" {T.PadEnd.__name__}"):
                wider = f"label_pad_width is {self._label_pad_width}, too small for a label; give a larger one, or 0"
                error.args = (f"{type(self).__name__}: {wider}: {error}",)
            raise


def _number(name: str, given: Any, of: str) -> float:
    number = number_or_nan(given)
    if number != number:
        raise GraphError(f"{of}: {name} is {options.shown(given)}; it must be a number")
    return number
