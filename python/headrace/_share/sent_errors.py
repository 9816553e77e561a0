"""`sent` gives an error the form in which it goes to another process, and `remade` makes it there."""

from __future__ import annotations

import json
import traceback
from typing import Any

from headrace import _engine, errors
from headrace._workers.processes import WorkerTraceback
from headrace.errors import ClosedError, Error, InternalError

__all__ = ["remade", "sent"]

_PLAIN = (str, int, float, bool, type(None))
# Of a text in its form for the message, as an error travels in one, perhaps beside a state.
_MOST_BYTES = 24 << 10
_MOST_OF_ATTRIBUTE = 4 << 10
# Of a character in that form.
_MOST_OF_CHARACTER = 12


def sent(error: BaseException) -> dict[str, Any]:
    if not isinstance(error, Error):
        error = ClosedError(f"the process that shares batches ended the run with {type(error).__name__}: {error}")
    kind = next(each.__name__ for each in type(error).__mro__ if each.__name__ in errors.__all__)
    cause = error.__cause__
    return {
        "kind": kind,
        "args": [_cut(each if isinstance(each, _PLAIN) else str(each)) for each in error.args],
        "attributes": {
            name: _cut(each, _MOST_OF_ATTRIBUTE) for name, each in error.__dict__.items() if isinstance(each, _PLAIN)
        },
        "cause": ""
        if cause is None
        else _cut(_engine.printable("".join(traceback.format_exception(cause)), keep_lines=True)),
    }


def _cut(value: Any, most: int = _MOST_BYTES) -> Any:
    """A text without its middle, if it is too long; other values as they are."""
    if not isinstance(value, str) or len(value) * _MOST_OF_CHARACTER <= most or _bytes_of(value, most) <= most:
        return value
    kept = min(most, len(value)) // 2
    while True:
        cut = f"{value[:kept]} … ({len(value) - 2 * kept:,} characters left out) … {value[-kept:]}"
        if _bytes_of(cut, most) <= most:
            return cut
        kept = kept * 3 // 4


def _bytes_of(text: str, most: int) -> int:
    """In its form for the message; of longer texts, more than `most`."""
    return len(text) if len(text) > most else len(json.dumps(text))


def remade(given: dict[str, Any]) -> Error:
    kind = getattr(errors, given["kind"], None) if given["kind"] in errors.__all__ else None
    if not isinstance(kind, type) or not issubclass(kind, Error):
        kind = InternalError
    error: Error = kind._remade(tuple(given["args"]), dict(given["attributes"]))
    if given["cause"]:
        error.__cause__ = WorkerTraceback(given["cause"])
    return error
