"""Checks users' arguments and converts them for the engine. Each refusal is a GraphError that names the argument and
says what it must be."""

import operator
import os
import re
from collections.abc import Sequence
from typing import Any

from headrace import _engine
from headrace._files.places import is_far
from headrace.errors import GraphError, UnsupportedError

_UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
_SIZE = re.compile(r"\s*([0-9]{1,400})(?:\.([0-9]{1,400}))?\s*([a-zA-Z]*)\s*")
# Tasks, messages and rows at once: more than any machine needs, and few enough to allocate slots for.
MOST_AT_ONCE = 1 << 20


def _path_as_text(value: Any) -> Any:
    """A path as the text that a user would write; other values stay."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def shown(value: Any) -> str:
    """The given value on one line, for messages."""
    try:
        text = repr([_path_as_text(each) for each in value] if type(value) is list else _path_as_text(value))
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= 200 else f"{text[:200]}…"


def memory_bytes(memory: int | str, of: str = "iterate", name: str = "memory", least: int = 1) -> int:
    """Bytes, from a number or a text such as "64MiB" or "2 GiB"."""
    if isinstance(memory, str):
        found = _SIZE.fullmatch(memory)
        unit = _UNITS.get(found.group(3).upper()) if found else None
        if found is None or unit is None:
            raise GraphError(
                f'{of}: {name} is {shown(memory)}; write a number of bytes, or a text such as "64MiB" or "2GiB"'
            )
        fraction = found.group(2) or ""
        bytes_: int = int(found.group(1) + fraction) * unit // 10 ** len(fraction)
    else:
        bytes_ = whole(name, memory, of=of)
    if bytes_ < least:
        raise GraphError(
            f"{of}: {name} is {shown(memory)}; it must be at least {least} byte{'s' if least != 1 else ''}"
        )
    if bytes_ >= 1 << 63:
        raise GraphError(f"{of}: {name} is {shown(memory)}; it must be below 2**63 bytes")
    return bytes_


def whole(name: str, value: Any, least: int = 0, of: str = "iterate", most: int = (1 << 63) - 1) -> int:
    """A whole number; True and False are none, though Python takes them for 1 and 0."""
    if isinstance(value, bool):
        raise GraphError(f"{of}: {name} is {value}; it must be a whole number")
    try:
        number: int = operator.index(value)
    except TypeError:
        raise GraphError(f"{of}: {name} is {shown(value)}; it must be a whole number") from None
    if number < least:
        raise GraphError(f"{of}: {name} is {shown(number)}; it must be at least {least}")
    if number > most:
        limit = "below 2**63" if most == (1 << 63) - 1 else f"at most {most:,}"
        raise GraphError(f"{of}: {name} is {shown(number)}; it must be {limit}")
    return number


def at_once(name: str, value: Any, of: str) -> int:
    """How many tasks, messages or rows there are at once."""
    return whole(name, value, 1, of, MOST_AT_ONCE)


def epoch(value: Any, of: str) -> int:
    """An unsigned number of 64 bits; the number after the last one means "none"."""
    return whole("epoch", value, of=of, most=(1 << 64) - 2)


def check_beginning(start: Any, state: Any, of: str) -> None:
    if start is not None and state is not None:
        raise GraphError(f"{of}: give start or state, not both, as each says where to begin")


def flag(name: str, value: Any, of: str) -> bool:
    """True or False, including NumPy's."""
    single = value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value
    if isinstance(single, bool):
        return single
    raise GraphError(f"{of}: {name} is {shown(value)}; it must be True or False")


def seconds(name: str, value: Any, of: str) -> float:
    try:
        number = float("nan") if isinstance(value, (bool, str, bytes, bytearray)) else float(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        number = float("nan")
    if not number >= 0:
        raise GraphError(f"{of}: {name} is {shown(value)}; it must be a number of seconds, 0 or more")
    return number


def text(name: str, value: Any, of: str) -> str:
    """A name that a graph can hold."""
    if not isinstance(value, str):
        raise GraphError(f"{of}: {name} is {shown(value)}; it must be a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise GraphError(f"{of}: {name} is {shown(value)}, not text that UTF-8 can hold") from None
    return value


def path(name: str, value: Any, of: str) -> str:
    """A path from a text, bytes or os.PathLike."""
    try:
        given = os.fsdecode(value)
        os.fsencode(given)
    except (TypeError, UnicodeError):
        given = ""
    if not given:
        raise GraphError(f"{of}: {name} is {shown(value)}; it must be a path")
    if "\0" in given:
        raise GraphError(f"{of}: the path {shown(given)} contains a NUL character, which paths cannot; remove it")
    return given


def own_path(name: str, value: Any, of: str) -> str:
    """A path that is made here, with the user's folder in place of a `~` at its start."""
    return os.path.expanduser(path(name, value, of))


def file_path(name: str, value: Any, of: str) -> str:
    """The plain path of what a path or a URI names on this machine, or the URL of what is in a far store."""
    given = own_path(name, value, of)
    return given if is_far(given) else os.fsdecode(_engine.local_path(os.fsencode(given)))


def local_path(name: str, value: Any, of: str) -> str:
    """The plain path of what must be on this machine."""
    given = own_path(name, value, of)
    if is_far(given):
        raise UnsupportedError(f"{of}: {name} is {shown(given)}, in a far store; it must be a path of this machine")
    return os.fsdecode(_engine.local_path(os.fsencode(given)))


def device(name: str, value: Any, of: str) -> str:
    """The device's name with its number."""
    if not isinstance(value, str):
        advice = ": give str() of it" if hasattr(value, "index") and hasattr(value, "type") else ""
        raise GraphError(f'{of}: {name} is {shown(value)}; it must be a text, such as "cuda:0"{advice}')
    try:
        return _engine.device_name(text(name, value, of))
    except GraphError as error:
        raise GraphError(f"{of}: {str(error).removeprefix(f'{of}: ')}") from None


def texts(name: str, values: Any, of: str) -> list[str]:
    """A list of texts, or a single text as a list."""
    if isinstance(values, (str, bytes)):
        values = [values]
    try:
        listed = list(values)
    except TypeError:
        raise GraphError(f"{of}: {name} is {shown(values)}; it must be a text, or a list of texts") from None
    return [text(name, value, of) for value in listed]


def shard(value: Any, of: str) -> tuple[int, int]:
    try:
        given_rank, given_world = value
    except (TypeError, ValueError):
        raise GraphError(f"{of}: shard is {shown(value)}; it must be (rank, world), such as (0, 8)") from None
    rank, world = whole("shard's rank", given_rank, of=of), whole("shard's world", given_world, 1, of)
    if rank >= world:
        raise GraphError(f"{of}: shard is ({rank}, {world}); ranks go from 0 to {world - 1}")
    return rank, world


def choice(name: str, value: Any, choices: Sequence[str], of: str) -> str:
    for known in choices:
        if isinstance(value, str) and value == known:
            return known
    listed = ("one of " if len(choices) > 1 else "") + ", ".join(repr(known) for known in choices)
    raise GraphError(f"{of}: {name} is {shown(value)}; it must be {listed}")
