"""`start_state` gives the state of a batch in mid-epoch, where its number says which rows come next."""

from __future__ import annotations

import ast
from typing import Any

from headrace._datasets.base import Base, ordered
from headrace._runs.iterator import start, stop
from headrace._runs.run_options import RunOptions
from headrace._runs.start_state import state_at
from headrace.errors import StateError, UnsupportedError

__all__ = ["attributes_of", "start_state"]


def start_state(dataset: Base, chosen: RunOptions, epoch: int, batches: int) -> bytes:
    """StateError, with the reason, where earlier rows have to be made to know which come next. A run may still refuse
    the state."""
    rows = _rows_of_each(dataset)
    # On this thread: it is asked for its state alone.
    given = chosen.for_engine() | {"epoch": epoch, "pull": True}
    given.pop("device", None)
    try:
        engine = start(*dataset._bound_graph(given))
        try:
            begin = engine.state()
        finally:
            stop(engine)
    except UnsupportedError as error:
        raise StateError(str(error)) from None
    moved = state_at(begin, batches, rows, (chosen["shard"] or (0, 1))[1])
    if moved is None:
        raise StateError(f"no epoch has {batches:,} batches of {rows:,} rows")
    return moved


def _rows_of_each(dataset: Base) -> int:
    """The rows of the source in a row of the result: those of a batch."""
    rows = 1
    for node, _ in ordered(dataset)[0]:
        if not node.joins_rows and not node.splits_rows:
            continue
        size = attributes_of(node).get("size")
        if node.op != "batch" or rows != 1 or not isinstance(size, int):
            raise StateError(f"with {node.op} the number of batches does not say which rows were seen")
        rows = size
    return rows


def attributes_of(node: Any) -> dict[str, Any]:
    """The attributes of an operator that are plain values."""
    found = {}
    try:
        call = ast.parse(node.text(), mode="eval").body
    except SyntaxError:  # Those that name functions and types.
        return {}
    assert isinstance(call, ast.Call)
    for keyword in call.keywords:
        try:
            found[str(keyword.arg)] = ast.literal_eval(keyword.value)
        except ValueError:
            continue
    return found
