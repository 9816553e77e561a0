"""`QMnist`: MNIST made anew, with where each digit comes from."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

from headrace._arguments.options import choice
from headrace._sets.digit_pictures import idx_name, joined
from headrace._sets.idx_file import read_idx
from headrace._sets.named_set import NamedSet
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_labels import check_labels
from headrace._sets.set_table import SetTable

__all__ = ["QMnist"]

_CLASSES = {str(digit): digit for digit in range(10)}
_FIELDS = ("nist_series", "writer", "writer_index", "nist_class", "global_index", "duplicate")
_STEMS = {
    "train": ["qmnist-train"],
    "test": ["qmnist-test"],
    "test10k": ["qmnist-test"],
    "test50k": ["qmnist-test"],
    "all": ["qmnist-train", "qmnist-test"],
    "nist": ["xnist"],
}
# The first rows of test are those of MNIST.
_OF_MNIST = 10_000


class QMnist(NamedSet):
    """Gives the pictures of handwritten digits of QMNIST, and what is known of each.

    Columns: `image` (uint8: (28, 28, 1)), `label` (int64: 0 to 9), and int32 `nist_series`, `writer`, `writer_index`
    (the digit's number among those of its writer), `nist_class`, `global_index` and `duplicate`. Rows are in the order
    of the files, those of "all" with train before test. The files are read as they are, or compressed (.gz, .xz). All
    images are kept in memory.

    Args:
        root: The folder that holds the files, or `QMNIST/raw`.
        split: The rows to give: "test10k" are the 10,000 of MNIST, "test50k" the others of test, "nist" all digits of
            NIST's special database 19.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.QMnist("data", "test50k")
    """

    publisher = "https://github.com/facebookresearch/qmnist"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test", "test10k", "test50k", "all", "nist"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, list(_STEMS), "QMnist")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> SetTable:
        wanted = [
            name
            for stem in _STEMS[split]
            for name in (idx_name(f"{stem}-images", "idx3-ubyte"), idx_name(f"{stem}-labels", "idx2-int"))
        ]
        files = folder.files(wanted, ("", "raw", "QMNIST/raw"))
        columns = joined([_part(*pair) for pair in zip(files[::2], files[1::2], strict=True)], files)
        kept = {"test10k": slice(_OF_MNIST), "test50k": slice(_OF_MNIST, None)}.get(split, slice(None))
        return SetTable({name: column[kept] for name, column in columns.items()}, {"label": _CLASSES})


def _part(images: SetFile, labels: SetFile) -> dict[str, Any]:
    pixels, table = read_idx(images, 3), read_idx(labels, 2)
    if pixels.dtype != "u1":
        images.fail(f"its pixels must be uint8, and are {pixels.dtype}")
    if table.dtype != "i4" or table.shape[1] != 8:
        labels.fail(f"its labels must be 8 int32 a row, and are {table.shape[1]} {table.dtype}")
    if len(pixels) != len(table):
        labels.fail(f"it has {len(table):,} labels, and {images.path} has {len(pixels):,} images")
    further = {name: table[:, number] for number, name in enumerate(_FIELDS, 1)}
    return {"image": pixels[..., None], "label": check_labels(labels, table[:, 0], _CLASSES), **further}
