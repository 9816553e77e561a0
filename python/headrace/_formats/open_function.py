"""`open` gives the source that reads a path, whatever format that has."""

import os
from collections.abc import Sequence
from typing import Any

from headrace import _formats
from headrace._arguments.storage import guarded
from headrace._datasets.dataset import Dataset

__all__ = ["open"]


def open(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any) -> Dataset:
    """The source for files whose format their names and first bytes show: `hr.open("train.tfrecord")`.

    It is the source that one would write: `hr.TFRecord` for TFRecord, and so for RecordIO (image records or any), MindRecord,
    WebDataset's archives, Parquet, Arrow, .npy, .npz, MDS, LMDB, CSV, JSON lines, LibSVM, text, image lists, folders of
    images, and saved graphs. Columns and types that a source must be told are those that fit the first rows: features of
    TFRecord, what the fields of a tar archive hold. `headrace inspect` prints the call.

    A folder is read as a whole: class folders of images, an MDS data set, an LMDB, or files of one format. Compressed files
    are looked into.

    Raises NotFoundError if there is nothing, and UnsupportedError, which says what the path is and what to write, for what
    no source reads: HDF5, zip, pickles, single images, sound, a folder of several formats.

    Args:
        path: A file, a folder, a pattern, or a list of files.
        options: Those of the source, such as `shuffle=True` or `index="build"`; they come before what is found. `storage` says
            how far stores are reached, as for every source of files.

    Example:
        hr.open("photos/", shuffle=True)
    """
    if options.get("storage") is not None:
        options["storage"] = guarded(options.pop("storage"), "open")
    return _formats.open_source(path, options)
