"""`ImageDetRecordIter` gives batches of the images in image records, with their objects."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headrace import transforms as T
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace._runs import error_policy
from headrace.errors import DataError, GraphError
from headrace.mx import detections
from headrace.mx.context import Context
from headrace.mx.detections import Segment
from headrace.mx.io.data_batch import DataBatch, DataDesc
from headrace.mx.io.det_augmentation import DetAugmentation, DetAugmentationParameters, Stages
from headrace.mx.io.engine_batches import EngineBatches
from headrace.mx.io.given_values import dtype_name, number_or_nan
from headrace.mx.io.image_records import TORN
from headrace.mx.io.known_parameters import check_known
from headrace.mx.io.record_run import RecordRun

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["ImageDetRecordIter"]

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
        label_pad_width: The width to which labels are padded; 0 or -1: that of the widest, for which the rows are read once.
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
        **augmentation_parameters: "Unpack[DetAugmentationParameters]",
    ) -> None:
        of = type(self).__name__
        check_known(augmentation_parameters, DetAugmentationParameters.__annotations__, ImageDetRecordIter, of)
        options.choice("dtype", dtype_name(dtype), ("float32",), of)
        run = RecordRun(
            of,
            (1, 3),
            -1,
            "det_aug_default",
            path_imgrec=path_imgrec,
            data_shape=data_shape,
            batch_size=batch_size,
            path_imgidx=path_imgidx,
            path_imglist=path_imglist,
            label_width=label_width,
            shuffle=shuffle,
            seed=seed,
            shuffle_chunk_size=shuffle_chunk_size,
            shuffle_chunk_seed=shuffle_chunk_seed,
            round_batch=round_batch,
            num_parts=num_parts,
            part_index=part_index,
            aug_seq=aug_seq,
            preprocess_threads=preprocess_threads,
            prefetch_buffer=prefetch_buffer,
            ctx=ctx,
            device_id=device_id,
            verbose=verbose,
            memory=memory,
            on_error=on_error,
            max_errors=max_errors,
            device=device,
            state=state,
        )
        pad_value = _number("label_pad_value", label_pad_value, of)
        # -1 has the meaning of 0, as in MXNet's own example.
        width = max(options.whole("label_pad_width", label_pad_width, -1, of), 0)
        kernels_of = DetAugmentation(dict(augmentation_parameters), run.shape, of).kernels()

        def made(rows: Dataset, kernels: Stages, width: int) -> Dataset:
            moved = detections.through(detections.split(rows), [Segment("kernels", kernels.moving)])
            labelled = detections.joined(moved, run.shape, own_size=bool(kernels.behind))
            if kernels.behind:
                labelled = labelled.map(kernels.behind, "image")
            return labelled.map(T.PadEnd((_BEFORE + width,), pad_value), "label")

        pipeline = run.pipeline(
            lambda rows: made(rows, kernels_of(None), 1 << 20),
            lambda rows: made(rows, kernels_of(run.mean_image), width),
        )
        if width == 0:
            width = detections.label_widths(run.all_rows(), on_error, max_errors)
        self._label_pad_width = width
        super().__init__(
            pipeline,
            run.running(),
            run.ending,
            DataDesc(data_name, (run.size, *run.shape), np.float32),
            DataDesc(label_name, (run.size, _BEFORE + width), np.float32),
            run.explained(),
        )
        run.log(f"labels padded to {width}")

    def _make(self) -> DataBatch | None:
        try:
            return super()._make()
        except DataError as error:
            # The only error of that kernel whose shapes and types are known.
            if (error.operator or "").endswith(f" {T.PadEnd.__name__}"):
                wider = f"label_pad_width is {self._label_pad_width}, too small for a label; give a larger one, or 0"
                error._reword(f"{type(self).__name__}: {wider}: {error}")
            raise


def _number(name: str, given: Any, of: str) -> float:
    number = number_or_nan(given)
    if number != number:
        raise GraphError(f"{of}: {name} is {options.shown(given)}; it must be a number")
    return number
