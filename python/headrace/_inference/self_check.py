"""`SelfCheck`: an example, and the checksums of what each step of an inference graph made of it where it was attached."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _engine
from headrace._arguments.late_numpy import np
from headrace._inference.example_values import example_values
from headrace._inference.library_versions import library_versions
from headrace.errors import DataError, Error, UnsupportedError

if TYPE_CHECKING:
    from headrace._inference.inference_graph import InferenceGraph

__all__ = ["SelfCheck"]

# What the form below has; other entries are of later versions.
_FIELDS = ("headrace", "libraries", "inputs", "outputs", "steps")


class SelfCheck:
    """Read from its text when it is used."""

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path

    @staticmethod
    def made(graph: InferenceGraph, example: Any) -> str:
        """The text, as it travels with the graph."""
        try:
            values = example_values(graph, example)
            inputs = {name: _written(value) for name, value in values.items()}
            results = graph._run(tuple(values.values()))
        except Error as error:
            if example is not None:
                error._reword(f"the example: {error}")
            raise
        names = [name for name, _, _ in graph._engine.outputs]
        return json.dumps(
            {
                "headrace": _engine.version,
                "libraries": library_versions(),
                "inputs": inputs,
                "outputs": {name: _digest(value) for name, value in zip(names, results, strict=True)},
                "steps": [
                    {"step": step, "column": column, **_digest(value)}
                    for step, column, value in graph._engine.trace(tuple(values.values()))
                ],
            }
        )

    def verify(self, graph: InferenceGraph) -> None:
        """UnsupportedError if this build gives anything else."""
        check = self._read()
        values = tuple(self._value(check["inputs"], name) for name, _, _ in graph._engine.inputs)
        difference = self._first_difference(graph, check, values)
        if difference is not None:
            raise UnsupportedError(f"{self._path}: {difference}; {_versions_text(check)}")

    def _first_difference(self, graph: InferenceGraph, check: Mapping[str, Any], values: tuple[Any, ...]) -> str | None:
        names = [name for name, _, _ in graph._engine.outputs]
        results = {name: _digest(value) for name, value in zip(names, graph._run(values), strict=True)}
        if results == check["outputs"]:
            return None
        traced = graph._engine.trace(values)
        for (step, column, value), before in zip(traced, check["steps"], strict=False):
            found = _digest(value)
            wanted = {key: before[key] for key in found if key in before}
            if column != before.get("column") or wanted != {key: found[key] for key in wanted}:
                return (
                    f'of the example {step} makes something else of "{column}" than where the graph was attached: '
                    f"{_digest_text(found)} and not {_digest_text(wanted)}"
                )
        name = next((each for each in names if results[each] != check["outputs"].get(each)), names[0])
        return (
            f'the graph makes something else of the example, in "{name}", than where it was attached, though each step by '
            "itself does not"
        )

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self._path}: the check is not JSON ({error}); attach the graph again") from None
        if not isinstance(found, dict) or not all(isinstance(found.get(key), _kind_of(key)) for key in _FIELDS):
            raise DataError(f"{self._path}: the check does not have the form of this version; attach the graph again")
        if not all(isinstance(each, dict) for each in found["steps"]):
            raise DataError(f"{self._path}: a step of the check is not an object; attach the graph again")
        return found

    def _value(self, inputs: Mapping[str, Any], name: str) -> Any:
        try:
            return _read_value(inputs[name])
        except (KeyError, TypeError, ValueError, binascii.Error) as error:
            raise DataError(
                f'{self._path}: the check has no value for the input "{name}" ({type(error).__name__}); attach the graph '
                "again"
            ) from None


def _kind_of(field: str) -> type:
    return {"headrace": str, "steps": list}.get(field, dict)


def _written(value: Any) -> Any:
    """Bytes as base64; others with their dtype and shape."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "OSU" and value.ndim == 0:
        value = value.item()
    if isinstance(value, (list, tuple)) and np.asarray(value).dtype.kind in "SU":
        # In an array of their own kind they lose zeros at their ends.
        value = np.array(value, object)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    dtype, shape, data = _parts(value)
    if (
        isinstance(value, np.ndarray)
        and value.dtype.kind == "O"
        and any(isinstance(each, bytes) for each in value.flat)
    ):
        dtype = "bytes"
    return {"dtype": dtype, "shape": shape, "base64": base64.b64encode(data).decode()}


def _read_value(written: Any) -> Any:
    if isinstance(written, str):
        return base64.b64decode(written, validate=True)
    data = base64.b64decode(written["base64"], validate=True)
    dtype = written["dtype"]
    shape = tuple(int(length) for length in written["shape"])
    if dtype in ("bytes", "string"):
        return _read_strings(dtype, shape, data) if shape else data if dtype == "bytes" else data.decode()
    return np.frombuffer(data, np.dtype(dtype)).reshape(shape).copy()


def _read_strings(dtype: str, shape: tuple[int, ...], data: bytes) -> Any:
    """Each has its length and a colon before it."""
    strings: list[bytes | str] = []
    at = 0
    while at < len(data):
        colon = data.index(b":", at)
        end = colon + 1 + int(data[at:colon])
        string = data[colon + 1 : end]
        if not data[at:colon].isdigit() or end > len(data):
            raise ValueError("the length of a string")
        strings.append(string if dtype == "bytes" else string.decode())
        at = end
    array = np.empty(len(strings), object)
    array[:] = strings
    return array.reshape(shape)


def _digest(value: Any) -> dict[str, Any]:
    dtype, shape, data = _parts(value)
    return {"dtype": dtype, "shape": shape, "crc32c": f"{_engine.crc32c(data):08x}"}


def _parts(value: Any) -> tuple[str, list[int], bytes]:
    if isinstance(value, bytes):
        return "bytes", [], value
    if isinstance(value, str):
        return "string", [], value.encode()
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        # The length of each, so that no two lists are the same bytes.
        listed = [each if isinstance(each, bytes) else str(each).encode() for each in array.ravel().tolist()]
        data = b"".join(b"%d:%b" % (len(each), each) for each in listed)
        return "bytes" if array.dtype.kind == "S" else "string", list(array.shape), data
    return str(array.dtype), list(array.shape), np.ascontiguousarray(array).tobytes()


def _digest_text(digest: Mapping[str, Any]) -> str:
    shape = digest.get("shape")
    type_text = f"{digest.get('dtype')} {tuple(shape)}, " if isinstance(shape, list) else ""
    return f"{type_text}checksum {digest.get('crc32c')}"


def _versions_text(check: Mapping[str, Any]) -> str:
    here = {"headrace": _engine.version, **library_versions()}
    there = {"headrace": check["headrace"], **check["libraries"]}
    changed = [
        f"{name} {here.get(name, 'missing')}, not {there.get(name, 'missing')}"
        for name in sorted({*here, *there})
        if here.get(name) != there.get(name)
    ]
    return f"here is {', '.join(changed)}" if changed else "the libraries have the same versions in both places"
