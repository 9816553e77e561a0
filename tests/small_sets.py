"""`write_rows` and `write_all` make small files of the same rows in every format that is written."""

import pathlib
from collections.abc import Callable

import numpy as np

import headrace as hr
from headrace import vision as V

__all__ = ["PICTURES", "ROWS", "WRITERS", "rows_of", "write_all"]

ROWS = 7
PICTURES = [V.EncodePng()(np.full((4 + number, 5, 3), 9 * number, np.uint8)) for number in range(ROWS)]


def column(values: list[bytes]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def images() -> hr.Dataset:
    """With the columns of image records."""
    return hr.Numpy(
        {"image": column(PICTURES), "label": np.arange(ROWS, dtype=np.float32) / 2, "id": np.arange(ROWS) + 3}
    )


# By the name of a format, as `headrace convert --to` takes it: the ending, and what writes `images()` there.
WRITERS: dict[str, tuple[str, Callable[[hr.Dataset, pathlib.Path], object]]] = {
    "recordio": (".rec", lambda rows, path: rows.write_records(path)),
    "mindrecord": (".mindrecord", lambda rows, path: rows.write_mindrecord(path)),
    "tfrecord": (".tfrecord", lambda rows, path: rows.write_tfrecord(path)),
    "tar": (".tar", lambda rows, path: rows.write_tar(path)),
}


def write_all(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The rows of `images()` in each format."""
    made = {}
    for name, (ending, write) in WRITERS.items():
        made[name] = folder / f"set{ending}"
        write(images(), made[name])
    return made


def rows_of(dataset: hr.Dataset) -> list[tuple[bytes, float, int]]:
    """Image, label and id of each row, whatever types the format has for them."""
    return [(bytes(row["image"]), float(row["label"]), int(row["id"])) for row in dataset]
