"""Functions that turn an operator's arguments into its attributes, where parameters and attributes are not the same:
because it takes Python objects, or reads its arguments like a function of Python. One for each such operator, by its
name; the classes and methods written from declarations call them."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["adapted", "adapter_of", "adapters", "adapts"]

_Adapter = TypeVar("_Adapter", bound=Callable[..., Any])

_adapters: dict[str, Callable[..., Any]] = {}


def adapts(*operators: str) -> Callable[[_Adapter], _Adapter]:
    """The function makes these operators: it takes what is made, or what the method is called on, and the parameters
    of the declaration by their names."""

    def note(adapter: _Adapter) -> _Adapter:
        _adapters.update(dict.fromkeys(operators, adapter))
        return adapter

    return note


def adapters() -> list[str]:
    """The operators that have one."""
    return list(_adapters)


def adapter_of(operator: str) -> Callable[..., Any]:
    return _adapters[operator]


def adapted(operator: str, /, *subject: Any, **arguments: Any) -> Any:
    """`subject`: what a class makes, or a method is called on; a function has none."""
    return _adapters[operator](*subject, **arguments)
