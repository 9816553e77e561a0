"""`set_up` calls what a user gave as `setup=`, before the pipeline is opened on a node."""

import contextlib
from collections.abc import Callable
from typing import Any

from headrace._arguments.options import shown
from headrace.errors import GraphError

__all__ = ["check_setup", "set_up"]


def check_setup(setup: Any, of: str) -> None:
    if setup is not None and not callable(setup):
        raise GraphError(f"{of}: setup is {shown(setup)}; give a function without arguments")


def set_up(setup: Callable[[], Any] | None) -> contextlib.AbstractContextManager[Any]:
    """Within what it returned, if that is a context manager."""
    made = None if setup is None else setup()
    return made if isinstance(made, contextlib.AbstractContextManager) else contextlib.nullcontext()
