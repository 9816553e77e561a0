"""Differences between two results."""

from headrace._operators.conformance.host_functions import Failure, Result
from headrace._operators.conformance.values import shown


def difference(one: Result, other: Result) -> str:
    if isinstance(one, Failure) or isinstance(other, Failure):
        return f"{_brief(one)}, then {_brief(other)}"
    for number, (a, b) in enumerate(zip(one, other, strict=True)):
        if a.type != b.type:
            return f"output {number} is {a.type}, then {b.type}"
        if a.strings != b.strings:
            return f"output {number} has other strings"
        differing = sum(x != y for x, y in zip(a.contents, b.contents, strict=True))
        if differing:
            return f"{differing} of {len(a.contents)} bytes of output {number} differ"
    return "nothing differs"


def _brief(result: Result) -> str:
    return str(result) if isinstance(result, Failure) else shown(tuple(made.type for made in result))


def unwritten(one: Result, other: Result) -> str | None:
    """Which bytes kept what was there, of results in memory that was filled with 0xA5 and with 0x5A."""
    if isinstance(one, Failure) or isinstance(other, Failure):
        return None
    for number, (a, b) in enumerate(zip(one, other, strict=True)):
        left = sum(x == 0xA5 and y == 0x5A for x, y in zip(a.contents, b.contents, strict=False))
        if left:
            return f"leaves {left} of {len(a.contents)} bytes of output {number} as they were"
    return None
