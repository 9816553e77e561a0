"""`refuse_names` sees a loop such as `for images, labels in dataset`, which would take the names out of each batch."""

from __future__ import annotations

import opcode
import sys
from collections.abc import Iterator

from headrace.errors import GraphError

__all__ = ["refuse_names"]

# Where a later Python has other instructions, no loop is seen.
_OPS = opcode.opmap
_BEGINS = _OPS.get("GET_ITER", -1)
_ASKS = _OPS.get("FOR_ITER", -1)
_TAKES_APART = {_OPS.get("UNPACK_SEQUENCE", -1), _OPS.get("UNPACK_EX", -1)}
_STORES = {code for name, code in _OPS.items() if name.startswith("STORE_")}
# A call is two instructions in Python 3.11, and has another name in 3.10.
_CALLS = {code for name, code in _OPS.items() if name in ("CALL", "CALL_FUNCTION")}
_PREPARES_CALL = {code for name, code in _OPS.items() if name == "PRECALL"}
_EXTENDS = _OPS.get("EXTENDED_ARG", -1)
_CACHE = _OPS.get("CACHE", 0)


def refuse_names() -> None:
    """Called by an `__iter__` whose batches are dicts. GraphError if the line of its caller is a loop that unpacks what it
    is given: from a dict that would be the names of columns.

    A loop over enumerate(…) unpacks the second part of what it is given. Where this sees no such loop, there may be one.
    """
    frame = sys._getframe(2)
    if frame.f_lasti < 0:
        return
    if _unpacks(_instructions(frame.f_code.co_code, frame.f_lasti)):
        raise GraphError(
            "this loop takes each batch apart, and a batch is a dict from column to array, which gives the names of its "
            'columns: write `for batch in …` and batch["image"]; or as_tuple=True, which gives a tuple of columns, in '
            "options(…), iterate(…) or headrace.torch.Loader(…)"
        )


def _instructions(code: bytes, begin: int) -> Iterator[tuple[int, int]]:
    for at in range(begin, len(code) - 1, 2):
        if code[at] not in (_CACHE, _EXTENDS):
            yield code[at], code[at + 1]


def _unpacks(instructions: Iterator[tuple[int, int]]) -> bool:
    first, argument = next(instructions, (0, 0))
    if first == _BEGINS:
        return _next_is(instructions, {_ASKS}) and _next_is(instructions, _TAKES_APART)
    if first not in _CALLS | _PREPARES_CALL or argument != 1:
        return False
    if first in _PREPARES_CALL and not _next_is(instructions, _CALLS):
        return False
    # Of what takes one iterable, enumerate alone gives pairs whose second part is a batch.
    if not (_next_is(instructions, {_BEGINS}) and _next_is(instructions, {_ASKS})):
        return False
    return (
        next(instructions, None) == (_OPS.get("UNPACK_SEQUENCE", -1), 2)
        and _next_is(instructions, _STORES)
        and _next_is(instructions, _TAKES_APART)
    )


def _next_is(instructions: Iterator[tuple[int, int]], among: set[int]) -> bool:
    return next(instructions, (-1, 0))[0] in among
