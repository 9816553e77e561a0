"""The entries of an inference graph in the file of a model, or in the file MODEL.hrg beside it."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping

from headrace import _engine
from headrace._files.opened_file import open_to_read
from headrace._files.places import is_file
from headrace._files.system_error import system_error
from headrace._files.whole_file import read_whole
from headrace.errors import DataError, Error, GraphError, UnsupportedError

__all__ = ["CHECK", "GRAPH", "HASH", "entries_of", "graph_bytes", "read_entries", "remove_entries", "write_entries"]

GRAPH = "headrace.graph"
HASH = "headrace.hash"
CHECK = "headrace.check"
_KEYS = (GRAPH, HASH, CHECK)
_ENDING = ".hrg"
# Of the bytes and the JSON of a graph.
_BEGINNINGS = (b"\x08", b"{")
# Names what made a graph, also one of a later version.
_PRODUCER = b"headrace "


def entries_of(data: bytes, hash_: str, check: str) -> dict[str, str]:
    return {GRAPH: base64.b64encode(data).decode(), HASH: hash_, CHECK: check}


def write_entries(model: str, entries: Mapping[str, str]) -> None:
    """Into the model, or beside it where its format has no place for them."""
    try:
        _engine.write_model_entries(os.fsencode(model), [(key, entries.get(key)) for key in _KEYS])
    except UnsupportedError as error:
        error._reword(
            f"{error}; graph.entries() gives the texts, and graph.attach({model + _ENDING!r}) puts them beside the model"
        )
        raise


def remove_entries(model: str, of: str) -> None:
    """From the model and the file beside it. GraphError if it holds no graph, or is itself a saved one."""
    try:
        found = _own_entries(model)
    except (DataError, UnsupportedError):
        if _saved_graph(model) is None:
            raise
        raise GraphError(f"{of}: {model} is a saved graph, not a model; remove the file") from None
    if GRAPH not in found:
        raise GraphError(f"{of}: {model} holds no inference graph")
    _engine.write_model_entries(os.fsencode(model), [(key, None) for key in _KEYS])


def read_entries(path: str, of: str) -> dict[str, str]:
    """Those of a model, of the file beside it, of such a file itself, or of a saved graph, which has a graph alone."""
    try:
        found = _own_entries(path)
    except (DataError, UnsupportedError):
        saved = _saved_graph(path)
        if saved is None:
            raise
        return saved
    if GRAPH in found:
        return found
    saved = _saved_graph(path)
    if saved is not None:
        return saved
    raise GraphError(f"{of}: {path} holds no inference graph; put one into it: graph.attach({path!r})")


def graph_bytes(entries: Mapping[str, str], path: str) -> bytes:
    try:
        return base64.b64decode(entries[GRAPH], validate=True)
    except (binascii.Error, ValueError) as error:
        raise DataError(f"{path}: {GRAPH} is not base64 ({error}); attach the graph again") from None


def _own_entries(path: str) -> dict[str, str]:
    return {key: value for key, value in _engine.read_model_entries(os.fsencode(path)) if key in _KEYS}


def _saved_graph(path: str) -> dict[str, str] | None:
    """The graph that `save` or `to_json` gave; None: the file holds something else. GraphError for a later version."""
    data = _data_of_graph(path) if is_file(path) else b""
    if not data:
        return None
    is_json = data[:1] == b"{"
    try:
        graph = _engine.Graph.parse_json(data.decode()) if is_json else _engine.Graph.parse(data)
    except UnicodeDecodeError:
        return None
    except Error as error:
        if not (b'"nodes"' in data if is_json else path.endswith(_ENDING) or _PRODUCER in data):
            return None
        error._reword(f"{_engine.printable(path)}: {error}")
        error.file = path
        raise
    return {GRAPH: base64.b64encode(graph.serialize()).decode()} if graph.nodes else None


def _data_of_graph(path: str) -> bytes:
    """Empty if the file does not begin as a graph: weights of other formats may have more bytes than there is memory."""
    try:
        with open_to_read(path) as file:
            if file.read(1) not in _BEGINNINGS:
                return b""
        return read_whole(path)
    except OSError as error:
        raise system_error(f"cannot read {path}", error) from None
