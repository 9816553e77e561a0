"""The arguments of `iterate`, checked and as the engine takes them."""

import operator
import os
import re
from collections.abc import Sequence
from typing import Any

from headrace.errors import GraphError, UnsupportedError

_UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def memory_bytes(memory: int | str, of: str = "iterate", name: str = "memory", least: int = 1) -> int:
    """Of a number of bytes, or a text such as "64MiB" or "2 GiB"."""
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", memory)
        unit = _UNITS.get(found.group(2).upper()) if found else None
        if found is None or unit is None:
            raise GraphError(
                f'{of}: {name} is {memory!r}; write a number of bytes, or a text such as "64MiB" or "2GiB"'
            )
        bytes_ = int(float(found.group(1)) * unit)
    else:
        bytes_ = whole(name, memory, of=of)
    if bytes_ < least:
        raise GraphError(f"{of}: {name} is {memory!r}; it must be at least {least} byte{'s' if least != 1 else ''}")
    return bytes_


def whole(name: str, value: Any, least: int = 0, of: str = "iterate") -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise GraphError(f"{of}: {name} is {value!r}; it must be a whole number") from None
    if number < least:
        raise GraphError(f"{of}: {name} is {number}; it must be at least {least}")
    if number >= 1 << 63:
        raise GraphError(f"{of}: {name} is {number}; it must be below 2**63")
    return number


def folder(name: str, value: Any) -> str:
    path = os.fspath(value)
    if not isinstance(path, str) or not path:
        raise GraphError(f"iterate: {name} is {value!r}; name a folder, or leave it out")
    check_no_nul(f"iterate: {name}", path)
    return path


def check_no_nul(of: str, path: str | os.PathLike[str]) -> None:
    given = os.fspath(path)
    if isinstance(given, str) and "\0" in given:
        raise GraphError(f"{of}: the path {given!r} holds a NUL character, which no path can: take it out")


def shard_options(shard: Any) -> dict[str, int]:
    if shard is None:
        return {}
    try:
        rank, world = shard
    except (TypeError, ValueError):
        raise GraphError(f"iterate: shard is {shard!r}; it must be (rank, world), such as (0, 8)") from None
    rank, world = whole("shard's rank", rank), whole("shard's world", world, 1)
    if rank >= world:
        raise GraphError(f"iterate: shard is ({rank}, {world}); ranks go from 0 to {world - 1}")
    return {"rank": rank, "world": world}


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    for known in choices:
        if value == known:
            return known
    listed = ", ".join(repr(known) for known in choices)
    raise GraphError(f"iterate: {name} is {value!r}; it must be one of {listed}")


def check_policy(on_error: Any) -> None:
    if on_error != "raise":
        raise UnsupportedError(f"iterate: on_error is {on_error!r}; 'raise' is the only policy there is")
