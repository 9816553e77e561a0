"""`request_value` makes the value of an input as the engine takes it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from headrace._arguments.late_numpy import np
from headrace._arguments.options import shown
from headrace.errors import DataError, Error, GraphError

__all__ = ["request_value"]


def request_value(name: str, dtype: str, value: Any) -> Any:
    """Bytes, texts and arrays stay; PIL images and torch tensors become arrays, and Python's numbers arrays of the input's
    dtype."""
    if value is None:
        raise GraphError(f'the input "{name}" is None; give bytes, a text, a number or an array')
    if isinstance(value, os.PathLike):
        raise GraphError(
            f'the input "{name}" is a path, and the graph takes what the file holds; give its bytes: path.read_bytes()'
        )
    if dtype == "bytes":
        _refuse_for_bytes(name, value)
    module = type(value).__module__.partition(".")[0]
    if module == "torch":
        return _read(name, value, lambda: value.detach().cpu().numpy())
    if module == "PIL":
        return _read(name, value, lambda: _pixels(name, value))
    if type(value) in (bool, int, float, list, tuple) and dtype not in ("bytes", "string", "unknown"):
        return _numbers(name, dtype, value)
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


def _refuse_for_bytes(name: str, value: Any) -> None:
    """Refuses what is often given in place of an encoded picture."""
    if isinstance(value, str):
        raise DataError(
            f'the input "{name}" is to be bytes, and got a text; give what the file holds: open(path, "rb").read()'
        )
    if type(value).__module__.startswith("PIL.") or str(getattr(value, "dtype", "")).rpartition(".")[2] == "uint8":
        raise DataError(
            f'the input "{name}" is to be bytes, such as those of a JPEG, and got {type(value).__name__}; of encoded bytes '
            'in an array give array.tobytes(); pixels need a graph with the input ("uint8", (None, None, 3)), without Decode'
        )


def _read(name: str, value: Any, read: Callable[[], Any]) -> Any:
    """Of another library, whose errors, as of a picture that is cut off, become those of the input."""
    try:
        return read()
    except Error:
        raise
    except Exception as error:
        raise DataError(f'the input "{name}" cannot be read from {shown(value)}: {error}') from error


def _numbers(name: str, dtype: str, value: Any) -> Any:
    """Of Python, which have no dtype. Floats are rounded to the dtype, and nothing else changes."""
    try:
        with np.errstate(over="raise"):
            array = np.asarray(value, dtype)
        fits = array.dtype.kind not in "biu" or np.array_equal(array, np.asarray(value))
    except (ArithmeticError, TypeError, ValueError):
        fits = False
    if not fits:
        raise DataError(f'the input "{name}" is to be {dtype}, and {shown(value)} does not fit')
    return array


def _pixels(name: str, image: Any) -> Any:
    if image.mode in ("L", "RGB", "RGBA"):
        return np.asarray(image)
    # Conversion would cut numbers of more than 8 bits off at 255.
    advice = "np.asarray(image)" if image.mode[0] in "IF" else 'image.convert("RGB")'
    raise GraphError(f'the input "{name}" is a PIL image of mode {image.mode}; convert it first: {advice}')
