"""Operators that the generated modules lack: modules and Dataset ask here for names that they do not have.

What makes their classes stands above all that ask, so it says here how they are found."""

from collections.abc import Callable
from typing import Any

from headrace._arguments.import_statement import imports_from
from headrace._arguments.other_libraries import class_advice, source_advice

__all__ = ["attribute_of", "method_of", "set_finders"]

_AttributeFinder = Callable[[str, str], Any]
_MethodFinder = Callable[[str], Callable[..., Any] | None]

_find_attribute: _AttributeFinder | None = None
_find_method: _MethodFinder | None = None


def set_finders(attribute: _AttributeFinder, method: _MethodFinder) -> None:
    global _find_attribute, _find_method
    _find_attribute, _find_method = attribute, method


def attribute_of(module: str, name: str) -> Any:
    """The class `name` of `headrace.<module>`; AttributeError if no operator of that name is registered for it, or in an
    import statement ImportError. Called by the `__getattr__` of a module."""
    # Python itself asks modules for names while it imports, none of which is a user's.
    if _find_attribute is not None and not name.startswith("_"):
        try:
            return _find_attribute(module, name)
        except AttributeError as error:
            if not imports_from(2):
                raise
            raise ImportError(str(error), name=f"headrace.{module}") from None
    home = "headrace" if module == "sources" else f"headrace.{module}"
    advice = class_advice(name) or (source_advice(name) if module == "sources" else None)
    if advice and imports_from(2):
        raise ImportError(f"cannot import name {name!r} from {home!r}; {advice}", name=home)
    if advice:  # With the name, and without the module: else Python adds a suggestion of its own.
        raise AttributeError(f"module {home!r} has no attribute {name!r}; {advice}", name=name)
    raise AttributeError(f"module {home!r} has no attribute {name!r}")


def method_of(name: str) -> Callable[..., Any] | None:
    """The method `name` of Dataset; None if no operator is registered for it."""
    return None if _find_method is None else _find_method(name)
