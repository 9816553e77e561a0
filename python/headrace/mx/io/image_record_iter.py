"""`ImageRecordIter` gives batches of the images in image records."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headrace._arguments import options
from headrace._runs import error_policy
from headrace.errors import GraphError
from headrace.mx.context import Context
from headrace.mx.io.augmentation import AugmentationParameters, augmentation
from headrace.mx.io.data_batch import DataDesc
from headrace.mx.io.engine_batches import EngineBatches
from headrace.mx.io.given_values import dtype_name
from headrace.mx.io.image_records import ONE_WIDTH, TORN
from headrace.mx.io.known_parameters import check_known
from headrace.mx.io.record_run import RecordRun

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["ImageRecordInt8Iter", "ImageRecordIter", "ImageRecordUInt8Iter"]

_DTYPES = ("float32", "uint8", "int8")


class ImageRecordIter(EngineBatches):
    """Gives batches of the images that im2rec packed, as `mxnet.io.ImageRecordIter` does: a float32 array of shape
    (batch_size, channels, height, width), in the order red, green, blue, and the labels.

    The batches come from `headrace.ImageRecord` and kernels of `headrace.vision`, in MXNet's order: resize, rotation, pad,
    crop, colours, noise, mean image, mirror, mean and scale. The page "From MXNet" of the documentation maps every parameter, and
    says which are refused beside others. In addition each batch has the records' ids as `index`.

    Args:
        path_imgrec: The file; several, between semicolons or in a list; or a folder of them.
        data_shape: (channels, height, width) of an image; 1, 3 or 4 channels.
        batch_size: Rows in a batch, from 1 on.
        path_imgidx: The index of the file, or a list with one for each file, or "build", which makes it if it is missing:
            then rows have numbers. "": the file is read in splits.
        path_imglist: An image list whose labels take the place of those in the records; "": there is none.
        label_width: Labels of an image, from 1 on.
        shuffle: Whether each epoch has an order of its own: of all rows with an index, else of splits and within a window.
        seed: Of the order and, unless seed_aug is given, of the augmentation.
        seed_aug: Of the augmentation; None: `seed`.
        shuffle_chunk_size: Without an index: the size of a split in MB, which are read in random order; 0: 1/1024 of the
            files.
        shuffle_chunk_seed: Of the order of these splits.
        round_batch: Whether the last batch of an epoch is filled with the first rows of the next pass, which then begins
            after them; else with the first rows of the epoch. `pad` says how many.
        num_parts: Into how many runs of equal length the rows are divided: with an index of ⌈N/num_parts⌉ rows, without one
            of equally many bytes.
        part_index: Which of them is read.
        dtype: "float32", "uint8" or "int8", to which values are cut off.
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        aug_seq: "aug_default" alone.
        preprocess_threads: The most tasks of one kind at once; None: the engine chooses.
        prefetch_buffer: Kept for `explain()`: the budget `memory` bounds what is made ahead.
        ctx: Kept for `explain()`: batches lie in host memory, as MXNet's do.
        device_id: Batches lie in page-locked memory if the process has a context on this GPU already, else in plain
            memory. -1: in plain memory.
        verbose: Whether a line about the data goes to the log `headrace.mx`.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: "skip" leaves records out that cannot be decoded, and fills batches with the rows behind them.
        max_errors: The most rows that may be left out in an epoch.
        device: Where batches end, as `Dataset.to_device` takes it: "cuda:0", or "cpu:0"; None: in host memory. The arrays of
            a batch there are objects for `from_dlpack` of any library.
        state: What `state()` gave: the iterator goes on with the batch after it.
        augmentation_parameters: `AugmentationParameters`, by MXNet's names.

    Raises:
        GraphError: A parameter is out of its range, or there are fewer rows than batch_size and round_batch is set.
        NotFoundError: A file is not there.
        StateError: The state is of other data or another iterator.
        UnsupportedError: There is no kernel for a parameter with the others, such as a rotation by Lanczos.
    """

    WORDING = (ONE_WIDTH, TORN)
    SHAPE_ADVICE = "; data_shape says how many channels each image must have, and 4 are with alpha"

    def __init__(
        self,
        *,
        path_imgrec: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        data_shape: Sequence[int],
        batch_size: int,
        path_imgidx: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = "",
        path_imglist: str | os.PathLike[str] = "",
        label_width: int = 1,
        shuffle: bool = False,
        seed: int = 0,
        seed_aug: int | None = None,
        shuffle_chunk_size: int = 0,
        shuffle_chunk_seed: int = 0,
        round_batch: bool = True,
        num_parts: int = 1,
        part_index: int = 0,
        dtype: Literal["float32", "uint8", "int8"] = "float32",
        data_name: str = "data",
        label_name: str = "softmax_label",
        aug_seq: str = "aug_default",
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
        **augmentation_parameters: "Unpack[AugmentationParameters]",
    ) -> None:
        of = type(self).__name__
        check_known(augmentation_parameters, AugmentationParameters.__annotations__, ImageRecordIter, of)
        kind = options.choice("dtype", dtype_name(dtype), _DTYPES, of)
        aug_seed = None if seed_aug is None else options.whole("seed_aug", seed_aug, of=of)
        run = RecordRun(
            of,
            (1, 3, 4),
            1,
            "aug_default",
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
        kernels = augmentation(dict(augmentation_parameters), run.shape, kind, aug_seed, of)
        pipeline = run.pipeline(
            lambda rows: rows.map(kernels(None), "image"), lambda rows: rows.map(kernels(run.mean_image), "image")
        )
        labels = () if run.label_width == 1 else (run.label_width,)
        super().__init__(
            pipeline,
            run.running(),
            run.ending,
            DataDesc(data_name, (run.size, *run.shape), np.dtype(kind).type),
            DataDesc(label_name, (run.size, *labels), np.float32),
            run.explained(),
        )
        run.log(f"{'an unknown number of' if pipeline.total is None else pipeline.total} rows")


class ImageRecordUInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with dtype="uint8"."""

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**_with_dtype(parameters, "uint8", type(self).__name__))


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with dtype="int8"."""

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**_with_dtype(parameters, "int8", type(self).__name__))


def _with_dtype(parameters: dict[str, Any], dtype: str, of: str) -> dict[str, Any]:
    if parameters.get("dtype") not in (None, dtype):
        raise GraphError(
            f'{of}: dtype is {parameters["dtype"]!r}, and this iterator gives "{dtype}"; use ImageRecordIter'
        )
    return {**parameters, "dtype": dtype}
