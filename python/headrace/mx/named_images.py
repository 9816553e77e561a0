"""The images that an iterator of `mx.image` reads: in records, in files that a list names, or in a list in Python."""

import os
import random
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

import headrace
from headrace import transforms as T
from headrace._arguments import options
from headrace._arguments.function_name import name_of
from headrace._datasets.dataset import Dataset
from headrace._kernels.kernel import Kernel
from headrace.errors import DataError, GraphError
from headrace.mx.io.given_values import kept_seed, named_files

__all__ = ["DECODE", "NamedImages", "Path", "seed_of", "shown_step"]

Path = str | os.PathLike[str]

# As OpenCV's imdecode.
DECODE = headrace.vision.Decode(mode="RGB", orientation=True)


def shown_step(step: Any) -> str:
    return type(step).__name__ if isinstance(step, Kernel) else f"{name_of(step)} (in Python)"


class NamedImages:
    """What names the images: one of path_imgrec, path_imglist and imglist, and what belongs to it."""

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
            raise GraphError(f"{of}: no images are named; give path_imgrec, path_imglist or imglist")
        self._refuse_second("imglist", imglist, {"path_imgrec": records, "path_imglist": listing}, of)
        self._refuse_second("path_root", path_root or None, {"path_imgrec": records}, of)
        if index is not None and records is None:
            raise GraphError(f"{of}: path_imgidx is {options.shown(index)}, and needs path_imgrec")
        self._records, self._listing, self._index, self._imglist = records, listing, index, imglist
        self._root = path_root or ""
        self._of = of
        self._by_number = records is None or index is not None
        self.named = (
            "imglist"
            if imglist is not None
            else named_files(*(("path_imglist", listing) if records is None else ("path_imgrec", records)))
        )
        """For messages."""

    @staticmethod
    def _refuse_second(name: str, value: Any, others: Mapping[str, Any], of: str) -> None:
        for other, given in others.items():
            if value is not None and given is not None:
                raise GraphError(f"{of}: {name} and {other} are both given; leave out {name}")

    def part(self, which: tuple[int, int], shuffle: bool, label_width: int, kind: Any) -> tuple[Dataset, int | None]:
        """The rows of a part, in columns `image`, `label` and `id`, and how many there are, where that is known."""
        index, parts = which
        rows = self._rows(shuffle, label_width, kind)
        if not self._by_number:
            if parts > 1:
                raise _without_index("num_parts", self._of)
            return rows, None
        total = len(rows)
        length = total // parts
        if length == 0:
            raise GraphError(
                f"{self._of}: there are {total} rows, fewer than num_parts={parts}; give a smaller num_parts"
            )
        return (rows if parts == 1 else rows.select(np.arange(index * length, (index + 1) * length))), length

    def _rows(self, shuffle: bool, label_width: int, kind: Any) -> Dataset:
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
        listed = [self._label(*each, label_width) for each in enumerate(self._imglist)]
        labels = np.array(listed if label_width > 0 else self._of_one_length(listed), kind)
        table = {
            "path": [os.fspath(each[-1]) for each in self._imglist],
            "label": labels[:, 0] if label_width == 1 else labels,
            "id": np.arange(1, len(labels) + 1),
        }
        rows: Dataset = headrace.Manifest(table, "path", self._root or os.getcwd(), output="image", shuffle=shuffle)
        return rows.project(["image", "label", "id"])

    def _of_one_length(self, labels: list[list[Any]]) -> list[list[Any]]:
        """Labels of objects, filled with objects without width and height, which count as none."""
        widths = {tuple(label[:2]) for label in labels}
        if len(widths) > 1:
            raise GraphError(
                f"{self._of}: the labels in imglist begin with different widths; write them to a list file"
            )
        for number, label in enumerate(labels):
            self._check_adds_up(number, label)
        longest = max(map(len, labels))
        return [label + [0] * (longest - len(label)) for label in labels]

    def _check_adds_up(self, number: int, label: list[Any]) -> None:
        """Before it is filled, as the filled one may add up."""
        header, width = label[:2] if len(label) > 1 else (0, 0)
        if header > len(label) or (width > 0 and (len(label) - header) % width != 0):
            raise DataError(
                f"{self._of}: imglist[{number}], {os.fspath(self._imglist[number][-1])!r}: the label has {len(label)} "
                f"numbers, and a header of {header} and objects of {width} do not add up to them"
            )

    def _label(self, number: int, entry: Any, label_width: int) -> list[Any]:
        is_entry = isinstance(entry, (list, tuple)) and len(entry) > 1 and isinstance(entry[-1], (str, os.PathLike))
        first = entry[0] if is_entry and len(entry) == 2 else entry[:-1] if is_entry else None
        labels = [first] if isinstance(first, Real) else [] if first is None else [*first]
        wrong = not labels if label_width < 0 else len(labels) != label_width
        if wrong or not all(isinstance(each, Real) for each in labels):
            wanted = "numbers" if label_width < 0 else f"{label_width} label{'s' if label_width > 1 else ''}"
            said = "" if label_width < 0 else ", as label_width says,"
            raise GraphError(
                f"{self._of}: imglist[{number}] is {options.shown(entry)}; it must be a list of {wanted}{said} and a path"
            )
        return [each.item() if isinstance(each, np.generic) else each for each in labels]


def _without_index(name: str, of: str) -> GraphError:
    return GraphError(f'{of}: {name} needs the rows\' numbers; give path_imgidx, or path_imgidx="build"')


def seed_of(given: int | None, state: Any, of: str) -> int:
    if given is not None:
        return options.whole("seed", given, of=of)
    kept = kept_seed(state)
    return random.getrandbits(31) if kept is None else kept
