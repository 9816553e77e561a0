"""`FunctionAdapter` is a function of this package that calls a user function; graphs and messages name the user
function."""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["FunctionAdapter"]


class FunctionAdapter:
    """Has the name, the code and the parameters of the function that it calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        adapter: Any = self
        # Without its attributes, which may have names of the adapter's own.
        functools.update_wrapper(adapter, function, updated=())
        kind = type(function)
        self.__module__ = getattr(function, "__module__", None) or kind.__module__
        self.__qualname__ = getattr(function, "__qualname__", None) or kind.__qualname__
        if hasattr(function, "__code__"):
            self.__code__ = function.__code__
        self._function = function

    def __getstate__(self) -> dict[str, Any]:
        # Code is not pickled; the function brings its own.
        return {name: value for name, value in vars(self).items() if name != "__code__"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if hasattr(self._function, "__code__"):
            self.__code__ = self._function.__code__
