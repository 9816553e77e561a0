"""`refuse_names` sees a loop such as `for images, labels in dataset`, or such a `next(iter(dataset))`, which would take the
names out of each batch."""

from __future__ import annotations

import opcode
import sys
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

from headrace.errors import GraphError

__all__ = ["Kept", "refuse_names", "refuse_names_of_first"]

# Where a later Python has other instructions, no loop is seen.
_OPS = opcode.opmap
_BEGINS = _OPS.get("GET_ITER", -1)
_ASKS = _OPS.get("FOR_ITER", -1)
_TAKES_APART = {_OPS.get("UNPACK_SEQUENCE", -1), _OPS.get("UNPACK_EX", -1)}
_STORES = {code for name, code in _OPS.items() if name.startswith("STORE_")}
# A call is two instructions in Python 3.11, and has another name in 3.10.
_CALLS = {code for name, code in _OPS.items() if name in ("CALL", "CALL_FUNCTION")}
_PREPARES_CALL = {code for name, code in _OPS.items() if name == "PRECALL"}
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_CONSTANT = _OPS.get("LOAD_CONST", -1)
# What stands before the loop of a comprehension that is part of its function.
_INLINES = {_OPS.get(name, -1) for name in ("LOAD_FAST_AND_CLEAR", "SWAP", "BUILD_LIST", "BUILD_SET", "BUILD_MAP")}
_NO_VALUE = {_OPS.get("PUSH_NULL", -1)}
_NAMES_OF = {_OPS.get("LOAD_GLOBAL", -1), _OPS.get("LOAD_NAME", -1)}
# The lowest bit of what loads a global says whether it prepares a call.
_GLOBALS_HAVE_BIT = sys.version_info >= (3, 11)
_LOADS = {code for name, code in _OPS.items() if name.startswith("LOAD_")}
_ATTRIBUTE = _OPS.get("LOAD_ATTR", -1)
_STORE_KINDS = {_OPS[f"STORE_{kind}"]: kind for kind in ("FAST", "NAME") if f"STORE_{kind}" in _OPS}
# Of Python 3.13, in which no assignment is then counted.
_STORES_AND_MORE = {code for name, code in _OPS.items() if name.startswith("STORE_FAST_")}
_LOAD_KINDS = {_OPS[f"LOAD_{kind}"]: kind for kind in ("FAST", "NAME") if f"LOAD_{kind}" in _OPS}
_MOST_OF_LOOP = 24
_EXTENDS = _OPS.get("EXTENDED_ARG", -1)
_CACHE = _OPS.get("CACHE", 0)


class Kept(NamedTuple):
    """The variable, of a piece of code, to which `iter(…)` alone was assigned."""

    code: CodeType
    variable: str


def refuse_names() -> Kept | None:
    """Called by an `__iter__` whose batches are dicts. GraphError if the line of its caller is a loop or a comprehension that
    unpacks what it is given, or unpacks `next(iter(…))`: from a dict that would be the names of columns.

    A loop over enumerate(…) unpacks the second part of what it is given. Where this sees no such loop, there may be one.
    Returns where the iterator is kept, if that was seen.
    """
    frame = sys._getframe(1).f_back
    # On an engine's thread an iterator of C, as `map` is, has no caller in Python.
    if frame is None or frame.f_lasti < 0:
        return None
    _refuse(_taken_apart(frame.f_code, frame.f_lasti))
    return _kept(frame.f_code, frame.f_lasti)


def refuse_names_of_first(kept: Kept | None) -> None:
    """Called for the first batch, by what `next` calls. GraphError if its caller unpacks `next(iterator)` of the variable
    in which it keeps the iterator: what else it unpacks may come from `map` or the like, which has no frame."""
    frame = sys._getframe(1).f_back
    if frame is None or frame.f_lasti < 0 or kept is None or frame.f_code is not kept.code:
        return
    if _unpacks_next(frame.f_code, frame.f_lasti, kept.variable):
        _refuse("line")


def _refuse(taken: str | None) -> None:
    if taken is not None:
        raise GraphError(
            f"this {taken} takes each batch apart, and a batch is a dict from column to array, which gives the names of its "
            f'columns: write {_WRITTEN[taken]} and batch["image"]; or as_tuple=True, which gives a tuple of columns, in '
            "options(…), iterate(…) or headrace.torch.Loader(…)"
        )


_WRITTEN = {"loop": "`for batch in …`", "line": "`batch = next(…)`"}


def _taken_apart(code: CodeType, at: int) -> str | None:
    """What takes batches apart, of a piece of code that asks for their iterator."""
    following = _instructions(code.co_code, at)
    first = next(following, (0, 0))
    if first[0] == _BEGINS:
        second = _first_not(following, _INLINES)
        if second == _ASKS:
            return "loop" if _next_is(following, _TAKES_APART) else None
        # Until Python 3.12 a comprehension is a function.
        return "loop" if second in _CALLS | _PREPARES_CALL and _comprehension_unpacks(code, at) else None
    if not _is_call(first, following):
        return None
    then = next(following, (0, 0))
    if then[0] == _BEGINS:
        return "loop" if _unpacks_pairs(following) else None
    if not _is_call(then, following):
        return None
    return "line" if _next_is(following, _TAKES_APART) and _asks_once(code, at) else None


def _unpacks_pairs(following: Iterator[tuple[int, int]]) -> bool:
    """Of what takes one iterable, enumerate alone gives pairs whose second part is a batch."""
    return (
        _next_is(following, {_ASKS})
        and next(following, None) == (_OPS.get("UNPACK_SEQUENCE", -1), 2)
        and _next_is(following, _STORES)
        and _next_is(following, _TAKES_APART)
    )


def _asks_once(code: CodeType, at: int) -> bool:
    """Whether the call of `iter` at this place stands in one of `next`; its own arguments may have other calls."""
    before = [each for each in _instructions(code.co_code, 0, at) if each[0] not in _NO_VALUE]
    names = [_name_of(code, each) for each in before]
    for place in range(len(names) - 1, 0, -1):
        if names[place] == "iter":
            return names[place - 1] == "next"
    return False


def _kept(code: CodeType, at: int) -> Kept | None:
    """Of a call `variable = iter(name)` at this place, where nothing else is assigned to the variable."""
    following = _instructions(code.co_code, at)
    if not _is_call(next(following, (0, 0)), following) or not _calls_with_name(code, at, "iter"):
        return None
    variable = _stored(code, next(following, (0, 0)))
    if variable is None:
        return None
    whole = list(_instructions(code.co_code, 0, len(code.co_code)))
    if variable in _arguments(code) or any(kind in _STORES_AND_MORE for kind, _ in whole):
        return None
    return Kept(code, variable) if [_stored(code, each) for each in whole].count(variable) == 1 else None


def _unpacks_next(code: CodeType, at: int, variable: str) -> bool:
    """Whether the call at this place is `next(variable)`, and what it gives is taken apart."""
    following = _instructions(code.co_code, at)
    if not _is_call(next(following, (0, 0)), following) or not _next_is(following, _TAKES_APART):
        return False
    return _calls_with_name(code, at, "next") and _variable(code, _before(code, at)[-1]) == variable


def _is_call(instruction: tuple[int, int], following: Iterator[tuple[int, int]]) -> bool:
    """Whether it is a call with one value. Of two instructions, the second is taken from those that follow."""
    kind, argument = instruction
    if kind not in _CALLS | _PREPARES_CALL or argument != 1:
        return False
    return kind in _CALLS or _next_is(following, _CALLS)


def _before(code: CodeType, at: int) -> list[tuple[int, int]]:
    """Those before a call, without what only prepares it."""
    return [each for each in _instructions(code.co_code, 0, at) if each[0] not in _NO_VALUE | _PREPARES_CALL]


def _calls_with_name(code: CodeType, at: int, function: str) -> bool:
    """Whether the call at this place is one of this function with a name or an attribute."""
    before = _before(code, at)
    while before and before[-1][0] == _ATTRIBUTE:
        before.pop()
    return len(before) > 1 and before[-1][0] in _LOADS and _name_of(code, before[-2]) == function


def _stored(code: CodeType, instruction: tuple[int, int]) -> str | None:
    kind, argument = instruction
    return _named(code, _STORE_KINDS.get(kind), argument)


def _variable(code: CodeType, instruction: tuple[int, int]) -> str | None:
    kind, argument = instruction
    if _GLOBALS_HAVE_BIT and kind == _OPS.get("LOAD_GLOBAL"):
        argument >>= 1
    return _named(code, _LOAD_KINDS.get(kind), argument)


def _named(code: CodeType, kind: str | None, argument: int) -> str | None:
    """None of variables that other functions may assign to, as closures have."""
    if kind is None:
        return None
    names = code.co_varnames if kind == "FAST" else code.co_names
    return f"{kind} {names[argument]}" if argument < len(names) else None


def _arguments(code: CodeType) -> set[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    return {f"FAST {name}" for name in code.co_varnames[:count]}


def _name_of(code: CodeType, instruction: tuple[int, int]) -> str | None:
    kind, argument = instruction
    if kind not in _NAMES_OF:
        return None
    if _GLOBALS_HAVE_BIT and kind == _OPS.get("LOAD_GLOBAL"):
        argument >>= 1
    return code.co_names[argument]


def _comprehension_unpacks(code: CodeType, at: int) -> bool:
    """Whether the comprehension over the iterator that begins at this place takes each of its values apart."""
    begun: list[CodeType] = []
    asked = False
    for kind, argument in _instructions(code.co_code, 0, at):
        if kind == _CONSTANT:
            constant = code.co_consts[argument]
            if isinstance(constant, CodeType) and constant.co_name in _COMPREHENSIONS:
                begun.append(constant)
        elif asked and begun and kind in _CALLS | _PREPARES_CALL:
            begun.pop()
        asked = kind == _BEGINS
    if not begun:
        return False
    inner = _instructions(begun[-1].co_code, 0)
    return _has(inner, _ASKS) and _next_is(inner, _TAKES_APART)


def _instructions(code: bytes, begin: int, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Those up to `end`; without it, as many as a loop begins with. No generator: at its end Ctrl-C would be lost."""
    found: list[tuple[int, int]] = []
    argument = 0
    for at in range(begin, len(code) - 1 if end is None else end, 2):
        argument = argument << 8 | code[at + 1]
        if code[at] == _EXTENDS:
            continue
        if code[at] != _CACHE:
            found.append((code[at], argument))
        if end is None and len(found) == _MOST_OF_LOOP:
            break
        argument = 0
    return iter(found)


def _first_not(following: Iterator[tuple[int, int]], among: set[int]) -> int:
    for kind, _ in following:
        if kind not in among:
            return kind
    return 0


def _has(following: Iterator[tuple[int, int]], sought: int) -> bool:
    for kind, _ in following:
        if kind == sought:
            return True
    return False


def _next_is(following: Iterator[tuple[int, int]], among: set[int]) -> bool:
    return next(following, (-1, 0))[0] in among
