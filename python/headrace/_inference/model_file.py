"""The entries of an inference graph in the file of a model, or in the file MODEL.hrg beside it."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping

from headrace import _engine
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole, write_whole
from headrace.errors import DataError, Error, GraphError, NotFoundError, UnsupportedError

__all__ = [
    "CHECK",
    "GRAPH",
    "HASH",
    "entries_of",
    "graph_bytes",
    "read_entries",
    "remove_entries",
    "sidecar_of",
    "write_entries",
]

GRAPH = "headrace.graph"
HASH = "headrace.hash"
CHECK = "headrace.check"
_KEYS = (GRAPH, HASH, CHECK)
# After the name of the model.
_SIDECAR = ".hrg"
_UTF8_SPACE = b" \t\r\n"


def sidecar_of(model: str) -> str:
    return model + _SIDECAR


def entries_of(data: bytes, hash_: str, check: str) -> dict[str, str]:
    return {GRAPH: base64.b64encode(data).decode(), HASH: hash_, CHECK: check}


def write_entries(model: str, entries: Mapping[str, str], of: str) -> str:
    """Into the model, or beside it. Gives the file that was written."""
    if not os.path.isfile(model):
        raise NotFoundError(f"{of}: there is no model at {model}")
    try:
        _engine.write_model_entries(model, [(key, entries.get(key)) for key in _KEYS])
    except UnsupportedError:
        beside = sidecar_of(model)
        text = json.dumps({key: entries[key] for key in _KEYS if key in entries}, indent=1)
        write_whole(beside, text.encode() + b"\n")
        return beside
    return model


def remove_entries(model: str, of: str) -> list[str]:
    """From the model and the file beside it. Gives the files that held some."""
    found = []
    if GRAPH in _in_model(model):
        _engine.write_model_entries(model, [(key, None) for key in _KEYS])
        found.append(model)
    beside = sidecar_of(model)
    if os.path.isfile(beside):
        _engine.remove_file(os.fsencode(beside))
        found.append(beside)
    if not found:
        raise GraphError(f"{of}: {model} holds no inference graph, and there is no {beside}")
    return found


def read_entries(path: str, of: str) -> dict[str, str]:
    """Those of a model, of the file beside it, of such a file itself, or of a saved graph, which has a graph alone."""
    if not os.path.exists(path):
        raise NotFoundError(f"{of}: there is no file at {path}")
    head = _head(path)
    if head.lstrip(_UTF8_SPACE)[:1] == b"{":
        return _in_text(path, of)
    found = _in_model(path)
    if GRAPH in found:
        return found
    beside = sidecar_of(path)
    if os.path.isfile(beside):
        return _in_text(beside, of)
    if _is_saved_graph(head):
        return {GRAPH: base64.b64encode(read_whole(path)).decode()}
    raise GraphError(
        f"{of}: {path} holds no inference graph, and there is no {beside}; put one into it: graph.attach({path!r})"
    )


def graph_bytes(entries: Mapping[str, str], path: str) -> bytes:
    try:
        return base64.b64decode(entries[GRAPH], validate=True)
    except (binascii.Error, ValueError) as error:
        raise DataError(f"{path}: {GRAPH} is not base64 ({error}); attach the graph again") from None


def _in_model(path: str) -> dict[str, str]:
    """Without an error for a file of another format. Of a key that is there twice, the last counts."""
    try:
        return {key: value for key, value in _engine.read_model_entries(path) if key in _KEYS}
    except UnsupportedError:
        return {}


def _in_text(path: str, of: str) -> dict[str, str]:
    try:
        found = json.loads(read_whole(path))
    except OSError as error:
        raise system_error(f"{of}: cannot read {path}", error) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{of}: {path} is not JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get(GRAPH), str):
        return _of_graph_in_json(path, found, of)
    return {key: found[key] for key in _KEYS if isinstance(found.get(key), str)}


def _of_graph_in_json(path: str, found: object, of: str) -> dict[str, str]:
    """The JSON form of a graph, as `to_json` gives it."""
    if not isinstance(found, dict) or "nodes" not in found:
        raise GraphError(f'{of}: {path} holds no inference graph: it has no "{GRAPH}"')
    try:
        data = _engine.Graph.parse_json(json.dumps(found)).serialize()
    except Error as error:
        error._reword(f"{_engine.printable(path)}: {error}")
        raise
    return {GRAPH: base64.b64encode(data).decode()}


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(64)
    except OSError as error:
        raise system_error(f"cannot read {path}", error) from None


def _is_saved_graph(head: bytes) -> bool:
    """Whether the file begins with the format's number, the first field of a graph, as what `save` writes does."""
    return head[:2] == b"\x08\x02"
