"""The files of CIFAR-10 and CIFAR-100: records of labels and planes, or pickles of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace._sets.plain_pickle import read_pickle
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder

__all__ = ["has_pickles", "pickled_columns", "pickled_texts", "record_columns", "text_lines"]

_PIXELS = 3 * 32 * 32


def has_pickles(folder: SetFolder, names: Sequence[str], of_records: Sequence[str], of_pickles: Sequence[str]) -> bool:
    """Whether the files are there as pickles: all of them, or more than there are of records, which come first."""
    records = sum(folder.has([f"{name}.bin"], of_records) for name in names)
    return records < len(names) and records < sum(folder.has([name], of_pickles) for name in names)


def record_columns(file: SetFile, labels: Sequence[str]) -> dict[str, Any]:
    """Of a file of records: a byte for each of these labels, and three planes."""
    data = file.rest()
    size = len(labels) + _PIXELS
    if not data or len(data) % size:
        file.fail(f"its {len(data):,} bytes are not a number of records of {size:,} bytes")
    records = np.frombuffer(data, np.uint8).reshape(-1, size)
    pixels = {"image": _images(records[:, len(labels) :])}
    return pixels | {name: records[:, number] for number, name in enumerate(labels)}


def pickled_columns(file: SetFile, labels: dict[str, str]) -> dict[str, Any]:
    """`labels`: from the names of columns to those of the pickle."""
    held = _pickled(file)
    pixels = held.get("data")
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.shape[1:] != (_PIXELS,):
        file.fail(f"its data is not an array of rows of {_PIXELS:,} uint8")
    columns = {"image": _images(np.ascontiguousarray(pixels))}
    for name, key in labels.items():
        given = held.get(key)
        if not isinstance(given, list) or not all(type(each) is int and 0 <= each < 256 for each in given):
            file.fail(f"its {key} is not a list of labels")
        if len(given) != len(pixels):
            file.fail(f"it has {len(pixels):,} images and {len(given):,} {key}")
        columns[name] = np.array(given, np.int64)
    return columns


def pickled_texts(file: SetFile, *keys: str) -> list[list[str]]:
    """Names, for each of these keys."""
    held = _pickled(file)
    found = []
    # A list may hold the same bytes many times.
    decoded: dict[bytes, str] = {}
    for key in keys:
        given = held.get(key)
        texts = [_text(each, decoded) for each in given] if isinstance(given, list) else []
        if not texts or not all(isinstance(each, str) for each in texts):
            file.fail(f"its {key} is not a list of names")
        found.append(texts)
    return found


def _text(value: Any, decoded: dict[bytes, str]) -> Any:
    if not isinstance(value, bytes):
        return value
    if value not in decoded:
        decoded[value] = value.decode("latin-1")
    return decoded[value]


def text_lines(file: SetFile) -> list[str]:
    return [text.strip() for _, text in file.lines() if text.strip()]


def _images(flat: Any) -> Any:
    """A view of the planes."""
    planes = flat.reshape(len(flat), 3, 32, 32) if flat.flags.c_contiguous else _strided(flat)
    return planes.transpose(0, 2, 3, 1)


def _strided(flat: Any) -> Any:
    """Planes within longer records."""
    step = flat.strides[0]
    return np.lib.stride_tricks.as_strided(flat, (len(flat), 3, 32, 32), (step, 1024, 32, 1), writeable=False)


def _pickled(file: SetFile) -> dict[str, Any]:
    held = read_pickle(file)
    if not isinstance(held, dict):
        file.fail("it holds no dict")
    return held
