"""The name of a Python function in graphs."""

import os
from collections.abc import Callable
from types import CodeType
from typing import Any


def name_of(function: Callable[..., Any]) -> str:
    """A name such as `train.py:augment`, the same in every process that runs the same script."""
    code = getattr(function, "__code__", None)
    qualified = getattr(function, "__qualname__", None) or type(function).__qualname__
    home = getattr(function, "__module__", None) or type(function).__module__
    if isinstance(code, CodeType):
        home = os.path.basename(code.co_filename)
    return f"{home}:{qualified}".encode("utf-8", "backslashreplace").decode()
