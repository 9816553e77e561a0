"""`ImageIter` gives batches of images, from records or from files that a list names."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from headrace._arguments import options
from headrace._runs import error_policy
from headrace.mx.augmenter_steps import steps
from headrace.mx.create_augmenter import CreateAugmenter
from headrace.mx.image_batches import ImageBatches, chosen_augmenters, ending_of
from headrace.mx.io.data_batch import DataDesc
from headrace.mx.io.given_values import dtype_name, flag, image_shape, part
from headrace.mx.io.image_records import ONE_WIDTH
from headrace.mx.io.pipeline import Pipeline, Running
from headrace.mx.named_images import DECODE, NamedImages, Path, seed_of, shown_step

__all__ = ["ImageIter"]

_DTYPES = ("float32", "int32", "int64", "float64")


class ImageIter(ImageBatches):
    """Gives batches of images, as `mxnet.image.ImageIter` does: a float32 array of shape (batch_size, 3, height, width),
    in the order red, green, blue, and the labels.

    The batches come from `headrace.ImageRecord`, `ImageList` or `Manifest`, and kernels of `headrace.vision`; Python runs
    for a row only where `aug_list` has a user function. In addition each batch has the rows' ids as `index`.

    Args:
        batch_size: Rows in a batch, from 1 on.
        data_shape: (3, height, width) of an image.
        label_width: Labels of an image, from 1 on.
        path_imgrec: The file of records that im2rec packed.
        path_imglist: An image list: of the files below path_root, or with path_imgrec of labels that take the place of
            those in the records.
        path_root: The folder of the files that a list names; None: the working folder.
        path_imgidx: The index of path_imgrec, which shuffle and num_parts need, or "build", which makes it if it is
            missing.
        shuffle: Whether each epoch has an order of its own.
        part_index: Which part is read.
        num_parts: Into how many runs of ⌊rows / num_parts⌋ rows the rows are divided; what is left is not read.
        aug_list: Augmenters, functions from an image to an image, or kernels, in order; None: those of
            `CreateAugmenter`.
        imglist: A list of [label, path] or [label, label, …, path], in place of path_imglist; a label may be a list.
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        dtype: Of the labels: "float32", "int32", "int64" or "float64".
        last_batch_handle: What becomes of the rows left at an epoch's end. "pad": the batch is filled with the first rows
            of the epoch, and `pad` says how many these are; "discard": they are left out; "roll_over": they begin the next
            epoch, and the `pad` of its first batch says how many rows are after them.
        seed: Of the order and the augmentation; None: Python's `random` draws it.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: "skip" leaves images out that cannot be read, and fills batches with the rows behind them.
        max_errors: The most rows that may be left out in an epoch.
        device: Where batches end, as `Dataset.to_device` takes it: "cuda:0", or "cpu:0"; None: in host memory. The arrays of
            a batch there are objects for `from_dlpack` of any library.
        state: What `state()` gave: the iterator goes on with the batch after it.
        augmentation: Arguments of `CreateAugmenter`, without aug_list.

    Raises:
        DataError: From `next()`: an image cannot be read, or has another shape than data_shape after aug_list.
        GraphError: A parameter is out of its range, or has no effect with the others.
        NotFoundError: A file is not there.
        StateError: The state is of other data or another iterator.
    """

    WORDING = (ONE_WIDTH, *ImageBatches.WORDING)

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        label_width: int = 1,
        path_imgrec: Path | None = None,
        path_imglist: Path | None = None,
        path_root: Path | None = None,
        path_imgidx: Path | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Sequence[Any] | None = None,
        imglist: Sequence[Sequence[Any]] | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Literal["float32", "int32", "int64", "float64"] = "float32",
        last_batch_handle: Literal["pad", "discard", "roll_over"] = "pad",
        *,
        seed: int | None = None,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        max_errors: int = error_policy.MAX_ERRORS,
        device: str | None = None,
        state: Mapping[str, Any] | None = None,
        **augmentation: Any,
    ) -> None:
        of = type(self).__name__
        size = options.whole("batch_size", batch_size, 1, of)
        shape = image_shape(data_shape, (3,), of)
        kind = options.choice("dtype", dtype_name(dtype), _DTYPES, of)
        ending = ending_of(last_batch_handle, of)
        labels = options.whole("label_width", label_width, 1, of)
        given = NamedImages(path_imgrec, path_imglist, path_root, path_imgidx, imglist, of)
        rows, total = given.part(part(part_index, num_parts, of), flag("shuffle", shuffle, of), labels, kind)
        augmenters = chosen_augmenters(aug_list, augmentation, CreateAugmenter, of)
        through = [DECODE, *steps(augmenters(shape), of)]
        images = rows.map(through, "image")
        # Looking at the schema checks the attributes of the kernels.
        _ = images.schema
        super().__init__(
            Pipeline(images, "image", "id", total, files=given.named),
            Running(seed_of(seed, state, of), memory, on_error, max_errors, state, device=device),
            ending,
            DataDesc(data_name, (size, *shape), np.float32),
            DataDesc(label_name, (size,) if labels == 1 else (size, labels), np.dtype(kind).type),
            [f"{of}: an image goes through {', '.join(map(shown_step, through))}"],
        )
