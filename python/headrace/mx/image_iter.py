"""Batches of pictures in records, or in files that a list names."""

import os
import random
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np

import headrace
from headrace import error_policy, options
from headrace import transforms as T
from headrace.dataset import Dataset
from headrace.errors import GraphError
from headrace.function_name import name_of
from headrace.kernel import Kernel
from headrace.mx.augmenter_steps import steps
from headrace.mx.create_augmenter import CreateAugmenter
from headrace.mx.io.data_batch import DataDesc
from headrace.mx.io.engine_batches import Ending, EngineBatches, Pipeline, Running
from headrace.mx.io.given_values import dtype_name, flag, kept_seed, part, picture_shape

__all__ = ["ImageIter"]

Path = str | os.PathLike[str]

_DTYPES = ("float32", "int32", "int64", "float64")
_ENDINGS = {"pad": Ending.PAD, "discard": Ending.DISCARD, "roll_over": Ending.ROLL_OVER}


class ImageIter(EngineBatches):
    """Gives batches of pictures, as `mxnet.image.ImageIter` does: a float32 array of shape (batch_size, 3, height, width),
    in the order red, green, blue, and the labels.

    The batches come from `headrace.ImageRecord`, `ImageList` or `Manifest`, and kernels of `headrace.vision`; Python runs
    for a row only where `aug_list` has a function of the user's own. In addition each batch has the rows' ids as `index`.

    Args:
        batch_size: Rows in a batch, from 1 on.
        data_shape: (3, height, width) of a picture.
        label_width: Labels of a picture, from 1 on.
        path_imgrec: The file of records that im2rec packed.
        path_imglist: An image list: of the files below path_root, or with path_imgrec of labels that take the place of
            those in the records.
        path_root: The folder of the files that a list names; None: the working folder.
        path_imgidx: The index of path_imgrec, which shuffle and num_parts need, or "build", which makes it if it is
            missing.
        shuffle: Whether each epoch has an order of its own.
        part_index: Which part is read.
        num_parts: Into how many runs of ⌊rows / num_parts⌋ rows the rows are divided; what is left is not read.
        aug_list: Augmenters, functions from a picture to a picture, or kernels, in order; None: those of
            `CreateAugmenter`.
        imglist: A list of [label, path] or [label, label, …, path], in place of path_imglist; a label may be a list.
        data_name: In `provide_data`.
        label_name: In `provide_label`.
        dtype: Of the labels: "float32", "int32", "int64" or "float64".
        last_batch_handle: What becomes of the rows left at an epoch's end. "pad": the batch is filled with the first rows
            of the epoch, and `pad` says how many these are; "discard": they are left out; "roll_over": they begin the next
            epoch, and the `pad` of its first batch says how many rows are behind them.
        seed: Of the order and the augmentation; None: Python's `random` draws it.
        memory: The budget in bytes, or as "64MiB"; None: the engine's default.
        on_error: "skip" leaves pictures out that cannot be read, and fills batches with the rows behind them.
        max_errors: The most rows that may be left out in an epoch.
        state: What `state()` gave: the iterator goes on with the batch behind it.
        augmentation: Arguments of `CreateAugmenter`, without aug_list.

    Raises:
        DataError: From `next()`: a picture cannot be read, or has another shape than data_shape behind aug_list.
        GraphError: A parameter is out of its range, or has no effect with the others.
        NotFoundError: A file is not there.
        StateError: The state is of other data or another iterator.
    """

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
        state: Mapping[str, Any] | None = None,
        **augmentation: Any,
    ) -> None:
        of = type(self).__name__
        size = options.whole("batch_size", batch_size, 1, of)
        shape = picture_shape(data_shape, (3,), of)
        kind = options.choice("dtype", dtype_name(dtype), _DTYPES, of)
        ending = _ENDINGS[options.choice("last_batch_handle", last_batch_handle, tuple(_ENDINGS), of)]
        labels = options.whole("label_width", label_width, 1, of)
        given = _Given(path_imgrec, path_imglist, path_root, path_imgidx, imglist, of)
        rows, total = _part(
            given.rows(flag("shuffle", shuffle, of), labels, kind), part(part_index, num_parts, of), given.by_number, of
        )
        if aug_list is None:
            augmenters: Any = CreateAugmenter(shape, **augmentation)
        else:
            augmenters = aug_list
            if augmentation:
                raise GraphError(
                    f"{of}: {', '.join(augmentation)} has no effect beside aug_list; leave out one of them"
                )
        through = [_DECODE, *steps(augmenters, of)]
        pictures = rows.map(through, "image")
        # Looking at the schema checks the attributes of the kernels.
        _ = pictures.schema
        super().__init__(
            Pipeline(pictures, "image", "id", total),
            Running(_seed(seed, state, of), memory, on_error, max_errors, state),
            ending,
            DataDesc(data_name, (size, *shape), np.float32),
            DataDesc(label_name, (size,) if labels == 1 else (size, labels), np.dtype(kind).type),
            [f"{of}: a picture goes through {', '.join(map(_name, through))}"],
        )

    def hard_reset(self) -> None:
        """Begins the next epoch at row 0, without rows left of the one before."""
        self._start_over()
        self._begin()


# As OpenCV's imdecode.
_DECODE = headrace.vision.Decode(mode="RGB", orientation=True)


def _name(step: Any) -> str:
    return type(step).__name__ if isinstance(step, Kernel) else f"{name_of(step)} (in Python)"


class _Given:
    """What names the pictures: one of path_imgrec, path_imglist and imglist, and what belongs to it."""

    def __init__(
        self,
        path_imgrec: Path | None,
        path_imglist: Path | None,
        path_root: Path | None,
        path_imgidx: Path | None,
        imglist: Any,
        of: str,
    ) -> None:
        records, listing, index = (path or None for path in (path_imgrec, path_imglist, path_imgidx))
        if records is None and listing is None and imglist is None:
            raise GraphError(f"{of}: no pictures are named; give path_imgrec, path_imglist or imglist")
        self._refuse_second("imglist", imglist, {"path_imgrec": records, "path_imglist": listing}, of)
        self._refuse_second("path_root", path_root or None, {"path_imgrec": records}, of)
        if index is not None and records is None:
            raise GraphError(f"{of}: path_imgidx is {options.shown(index)}, and needs path_imgrec")
        self._records, self._listing, self._index, self._imglist = records, listing, index, imglist
        self._root = path_root or ""
        self._of = of
        self.by_number = records is None or index is not None

    @staticmethod
    def _refuse_second(name: str, value: Any, others: Mapping[str, Any], of: str) -> None:
        for other, given in others.items():
            if value is not None and given is not None:
                raise GraphError(f"{of}: {name} and {other} are both given; leave out {name}")

    def rows(self, shuffle: bool, label_width: int, kind: Any) -> Dataset:
        """Columns `image`, `label` and `id`."""
        if self._records is None and self._listing is None:
            return self._named_in_python(shuffle, label_width, kind)
        rows: Dataset
        if self._records is None:
            assert self._listing is not None
            columns = ["image", "label", "id"]
            rows = headrace.ImageList(
                self._listing, self._root, shuffle=shuffle, label_width=label_width, columns=columns
            )
        else:
            if shuffle and self._index is None:
                raise _without_index("shuffle", self._of)
            rows = headrace.ImageRecord(
                self._records, self._index, shuffle, label_width=label_width, path_imglist=self._listing
            )
        return rows if kind == "float32" else rows.map(T.TypeCast(kind), "label")

    def _named_in_python(self, shuffle: bool, label_width: int, kind: Any) -> Dataset:
        if not isinstance(self._imglist, (list, tuple)) or not self._imglist:
            raise GraphError(
                f"{self._of}: imglist is {options.shown(self._imglist)}; it must be a list of [label, path]"
            )
        labels = np.array([self._label(*each, label_width) for each in enumerate(self._imglist)], kind)
        table = {
            "path": [os.fspath(each[-1]) for each in self._imglist],
            "label": labels[:, 0] if label_width == 1 else labels,
            "id": np.arange(1, len(labels) + 1),
        }
        rows: Dataset = headrace.Manifest(table, "path", self._root or os.getcwd(), output="image", shuffle=shuffle)
        return rows.project(["image", "label", "id"])

    def _label(self, number: int, entry: Any, label_width: int) -> list[Any]:
        is_entry = isinstance(entry, (list, tuple)) and len(entry) > 1 and isinstance(entry[-1], (str, os.PathLike))
        first = entry[0] if is_entry and len(entry) == 2 else entry[:-1] if is_entry else None
        labels = [first] if isinstance(first, Real) else [] if first is None else [*first]
        if len(labels) != label_width or not all(isinstance(each, Real) for each in labels):
            raise GraphError(
                f"{self._of}: imglist[{number}] is {options.shown(entry)}; it must be a list of {label_width} "
                f"label{'s' if label_width > 1 else ''}, as label_width says, and a path"
            )
        return [each.item() if isinstance(each, np.generic) else each for each in labels]


def _part(rows: Dataset, which: tuple[int, int], by_number: bool, of: str) -> tuple[Dataset, int | None]:
    """The rows of a part, and how many there are, where that is known."""
    index, parts = which
    if not by_number:
        if parts > 1:
            raise _without_index("num_parts", of)
        return rows, None
    total = len(rows)
    length = total // parts
    if length == 0:
        raise GraphError(f"{of}: there are {total} rows, fewer than num_parts={parts}; give a smaller num_parts")
    return (rows if parts == 1 else rows.select(np.arange(index * length, (index + 1) * length))), length


def _without_index(name: str, of: str) -> GraphError:
    return GraphError(f'{of}: {name} needs the rows\' numbers; give path_imgidx, or path_imgidx="build"')


def _seed(given: int | None, state: Any, of: str) -> int:
    if given is not None:
        return options.whole("seed", given, of=of)
    kept = kept_seed(state)
    return random.getrandbits(31) if kept is None else kept
