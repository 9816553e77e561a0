"""`MNISTIter` gives batches of the MNIST files."""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

import headrace
from headrace import transforms as T
from headrace import vision
from headrace._arguments import options
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole
from headrace._runs import error_policy
from headrace.errors import DataError, GraphError
from headrace.mx.context import Context
from headrace.mx.io.accepted_parameters import explained, page_locked_of
from headrace.mx.io.data_batch import DataDesc
from headrace.mx.io.engine_batches import EngineBatches
from headrace.mx.io.given_values import flag, named_files, shape_of
from headrace.mx.io.given_values import part as checked_part
from headrace.mx.io.pipeline import Ending, Pipeline, Running
from headrace.mx.message_log import log

__all__ = ["MNISTIter"]


class MNISTIter(EngineBatches):
    """Gives batches of the digits of MNIST, as `mxnet.io.MNISTIter` does: float32 of shape (batch_size, 1, rows, columns),
    each value the pixel's divided by 256, and float32 labels. Rows that fill no batch are left out.

    Other than in MXNet each epoch has an order of its own, if it is shuffled, unless `same_order` is True; and a batch has
    the rows' numbers as `index`.

    Args:
        image: The idx file of the images, not compressed.
        label: That of the labels.
        batch_size: Rows in a batch, from 1 on.
        shuffle: Whether the rows are shuffled.
        flat: Whether an image is one axis: (batch_size, rows · columns).
        seed: Of the order.
        silent: Whether no line about the data goes to the log `headrace.mx`.
        num_parts: Into how many runs of rows the data are divided.
        part_index: Which of them is read.
        prefetch_buffer: Kept for `explain()`: the budget `memory` bounds what is made ahead.
        ctx: Kept for `explain()`: batches lie in host memory, as MXNet's do.
        device_id: Batches lie in page-locked memory if the process has a context on this GPU already, else in plain
            memory. -1: in plain memory.
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        data_shape: The shape that a script expects of an image, which MXNet ignores: it must have as many pixels as those
            of the file; `flat` alone decides the shape. None: any.
        input_shape: Likewise.
        same_order: Whether all epochs have the order of the first one, as in MXNet.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: "skip" leaves out rows that fail; none of these data can.
        max_errors: The most rows that may be left out in an epoch.
        device: Where batches end, as `Dataset.to_device` takes it: "cuda:0", or "cpu:0"; None: in host memory. The arrays of
            a batch there are objects for `from_dlpack` of any library.
        state: What `state()` gave: the iterator goes on with the batch after it.

    Raises:
        DataError: A file is no idx file of bytes, or shorter than it says, or there are not as many labels as images.
        GraphError: A parameter is out of its range.
        NotFoundError: A file is not there.
        StateError: The state is of other data or another iterator.
    """

    def __init__(
        self,
        *,
        image: str | os.PathLike[str] = "./train-images-idx3-ubyte",
        label: str | os.PathLike[str] = "./train-labels-idx1-ubyte",
        batch_size: int = 128,
        shuffle: bool = True,
        flat: bool = False,
        seed: int = 0,
        silent: bool = False,
        num_parts: int = 1,
        part_index: int = 0,
        prefetch_buffer: int | None = None,
        ctx: str | Context = "gpu",
        device_id: int = -1,
        data_name: str = "data",
        label_name: str = "softmax_label",
        data_shape: int | Sequence[int] | None = None,
        input_shape: int | Sequence[int] | None = None,
        same_order: bool = False,
        memory: int | str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        max_errors: int = error_policy.MAX_ERRORS,
        device: str | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        of = type(self).__name__
        size = options.whole("batch_size", batch_size, 1, of)
        part, parts = checked_part(part_index, num_parts, of)
        images, labels = _read_idx("image", image, 3, of), _read_idx("label", label, 1, of)
        if len(images) != len(labels):
            raise DataError(
                f"{of}: {image} has {len(images)} images, and {label} has {len(labels)} labels; give files that belong "
                "together"
            )
        for name, expected in (("data_shape", data_shape), ("input_shape", input_shape)):
            if expected is not None:
                _check_pixels(name, shape_of(name, expected, of), images.shape[1:], image, of)
        rows = slice(*(int(len(images) / parts * each) for each in (part, part + 1)))
        numbers = np.arange(len(images))[rows]
        images = images[rows, None]
        if flag("flat", flat, of):
            images = images.reshape(len(images), math.prod(images.shape[1:]))
        columns = {"image": images, "label": labels[rows], "id": numbers}
        shuffled = flag("shuffle", shuffle, of)
        seed = options.whole("seed", seed, of=of)
        source = headrace.Numpy(columns, shuffle=shuffled)
        if flag("same_order", same_order, of) and shuffled:
            order = _order(len(images), seed)
            source = headrace.Numpy({name: values[order] for name, values in columns.items()})
        scaled = source.map(vision.Rescale(1 / 256), "image").map(T.TypeCast("float32"), "label")
        super().__init__(
            Pipeline(scaled, "image", "id", len(images), files=named_files("image", image)),
            Running(
                seed,
                memory,
                on_error,
                max_errors,
                state,
                device=device,
                page_locked_of=page_locked_of(device_id),
            ),
            Ending.DISCARD,
            DataDesc(data_name, (size, *images.shape[1:])),
            DataDesc(label_name, (size,)),
            explained(of, ctx, device_id, None, prefetch_buffer),
        )
        if not flag("silent", silent, of):
            shape = self.provide_data[0].shape
            log.info("%s: %d images, shuffle=%s, shape=%s", of, len(images), shuffled, shape)


def _order(rows: int, seed: int) -> np.ndarray:
    """The order in which the first epoch of a shuffled source has its rows."""
    numbers = headrace.Numpy({"row": np.arange(rows)}, shuffle=True).batch(max(rows, 1)).with_seed(seed)
    with numbers.iterate(epoch=0) as batches:
        order: np.ndarray = next(batches)["row"] if rows > 0 else np.arange(0)
    return order


def _check_pixels(name: str, expected: tuple[int, ...], shape: tuple[int, ...], path: Any, of: str) -> None:
    if math.prod(expected) != math.prod(shape):
        raise GraphError(
            f"{of}: {name} is {expected}, and the images of {path} have {shape[0]} rows of {shape[1]} pixels; give "
            f"{(math.prod(shape),)} or {(1, *shape)}, or leave it out"
        )


def _read_idx(parameter: str, path: str | os.PathLike[str], axes: int, of: str) -> np.ndarray:
    """An idx file of bytes: 0, 0, 8, the number of axes, the length of each as u32 of big endian, and the values."""
    name = os.fspath(path)
    try:
        data = read_whole(name)
    except OSError as raised:
        raise system_error(f"{of}: {parameter}: cannot read {name}", raised) from None
    head = 4 + 4 * axes
    if len(data) < head or data[:4] != bytes((0, 0, 8, axes)):
        raise DataError(f"{of}: {parameter} {name} is no idx file of bytes with {axes} axes{_instead(data)}")
    shape = [int.from_bytes(data[4 + 4 * axis : 8 + 4 * axis], "big") for axis in range(axes)]
    wanted = head + math.prod(shape)
    if len(data) < wanted:
        raise DataError(f"{of}: {parameter} {name} says that it has {wanted} bytes, and has {len(data)}")
    return np.frombuffer(data, np.uint8, math.prod(shape), head).reshape(shape)


def _instead(data: bytes) -> str:
    """What a file is that is none of so many axes."""
    if data[:2] == b"\x1f\x8b":
        return "; it is compressed with gzip, so unpack it first"
    if data[:3] == bytes((0, 0, 8)) and len(data) > 3:
        return f", as it has {data[3]}; images have 3 and labels 1, and image and label may have been exchanged"
    return ""
