"""`late_room` imports the modules of a room when a name of theirs is first asked for. Use it in the `__init__` of a room
that only some programs need: importing headrace then takes no time for it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["late_room"]


def late_room(room: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The room's `__getattr__`.

    Args:
        room: Its `__name__`.
        homes: From each name that the room gives to the module of the room that defines it.
    """

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{homes[name]}"), name)

    return found
