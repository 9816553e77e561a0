"""`globals_behind` finds the globals that functions sent to other processes by their names use there.

Such a function is imported anew, and so are its module's globals, with their first values. What this process has set
since goes with the function: by value, or, where nothing can be pickled, by its type, which the process compares."""

from __future__ import annotations

import dis
import functools
import importlib
import inspect
import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from headrace._arguments.options import shown
from headrace.errors import GraphError

__all__ = ["Global", "globals_behind", "set_globals", "stamps_of_modules"]

# Python's and installed libraries: their state is theirs.
_LIBRARIES = tuple(
    {
        *(
            path
            for name, path in sysconfig.get_paths().items()
            if name in ("stdlib", "platstdlib", "purelib", "platlib")
        ),
        *site.getsitepackages(),
        site.getusersitepackages(),
    }
)
_PACKAGE = __name__.partition(".")[0]


class Global(NamedTuple):
    """A global of a module, or with `owner` an attribute of its class."""

    module: str
    owner: str
    name: str
    # A value by itself, or the type of one that cannot be sent.
    sent: bool
    value: Any

    @property
    def text(self) -> str:
        return ".".join(part for part in (self.module, self.owner, self.name) if part)


def globals_behind(targets: list[Any], dumped: Callable[[Any], Any]) -> list[Global]:
    """`dumped` pickles a value as it will be sent, and raises if it cannot."""
    search = _Search()
    for target in targets:
        search.visit(target)
    return [
        _as_sent(module, owner, name, value, dumped, search.stored)
        for (module, owner, name), value in search.found.items()
    ]


def _as_sent(
    module: str, owner: str, name: str, value: Any, dumped: Callable[[Any], Any], stored: set[tuple[str, str]]
) -> Global:
    try:
        dumped(value)
        return Global(module, owner, name, True, value)
    except Exception:
        # A function that sets it, such as one that opens a connection at its first call, does so in each process.
        kind = None if (module, name) in stored else f"{type(value).__module__}.{type(value).__qualname__}"
        return Global(module, owner, name, False, kind)


def set_globals(given: list[Global]) -> None:
    """Sets them in this process. GraphError for one that differs and could not be sent."""
    for each in given:
        try:
            holder: Any = importlib.import_module(each.module)
        except ImportError:  # Nothing here was imported from it.
            continue
        for part in filter(None, each.owner.split(".")):
            holder = getattr(holder, part)
        if each.sent:
            setattr(holder, each.name, each.value)
            continue
        here = getattr(holder, each.name, None)
        if each.value is not None and f"{type(here).__module__}.{type(here).__qualname__}" != each.value:
            raise GraphError(
                f"the global {each.text} is {shown(here)} where its module is imported anew, and {each.value} in the "
                "process that started this one, which cannot be sent: set it in worker_init=, or give the function what "
                "it needs with functools.partial"
            )


def stamps_of_modules() -> list[tuple[str, int, int]]:
    """The files of the user's modules that this process has imported, with their times of change and sizes."""
    stamps = []
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and _of_user(module):
            file = str(module.__file__)
            try:
                found = os.stat(file)
            except OSError:  # As in an archive.
                continue
            stamps.append((file, found.st_mtime_ns, found.st_size))
    return sorted(stamps)


class _Search:
    def __init__(self) -> None:
        self.found: dict[tuple[str, str, str], Any] = {}
        # Globals that the functions set themselves, by module and name.
        self.stored: set[tuple[str, str]] = set()
        self._seen: set[int] = set()
        # What was seen stays alive, so that no other object gets its number.
        self._kept: list[Any] = []

    def visit(self, value: Any) -> None:
        if id(value) in self._seen or isinstance(value, (str, bytes, int, float, complex, ModuleType)):
            return
        self._seen.add(id(value))
        self._kept.append(value)
        if isinstance(value, FunctionType):
            self._visit_function(value)
        elif isinstance(value, MethodType):
            self.visit(value.__func__)
            self.visit(value.__self__)
        elif isinstance(value, functools.partial):
            for each in (value.func, *value.args, *value.keywords.values()):
                self.visit(each)
        elif isinstance(value, type):
            self._visit_class(value)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for each in value:
                self.visit(each)
        elif isinstance(value, dict):
            for each in value.values():
                self.visit(each)
        else:
            self._visit_object(value)

    def _visit_object(self, value: Any) -> None:
        self.visit(type(value))
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None:
            self.visit(wrapped)
        if _of_user(sys.modules.get(type(value).__module__)) or type(value).__module__ == "__main__":
            self.visit(getattr(value, "__dict__", {}))

    def _visit_class(self, kind: type) -> None:
        module = sys.modules.get(kind.__module__)
        by_name = _of_user(module) and not _by_value(kind.__module__)
        if not _of_user(module) and kind.__module__ != "__main__":
            return
        for base in kind.__mro__[1:]:
            self.visit(base)
        for name, value in vars(kind).items():
            plain = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if isinstance(plain, property):
                self.visit([each for each in (plain.fget, plain.fset) if each is not None])
            elif isinstance(plain, (FunctionType, type)) or not _is_data(plain):
                self.visit(plain)
            elif by_name and not name.startswith("__") and "<locals>" not in kind.__qualname__:
                self._note(kind.__module__, kind.__qualname__, name, value)

    def _visit_function(self, function: FunctionType) -> None:
        used = set(_names_in(function.__code__))
        for cell in function.__closure__ or ():
            try:
                self._use("", "", cell.cell_contents, used)
            except ValueError:  # Not set yet.
                continue
        self.visit(list(function.__defaults__ or ()))
        self.visit(dict(function.__kwdefaults__ or {}))
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            self.visit(wrapped)
        module = sys.modules.get(function.__module__ or "")
        own = module is not None and vars(module) is function.__globals__
        if not own or not (_of_user(module) or function.__module__ == "__main__"):
            return
        self.stored |= {(function.__module__, name) for name in _stored_in(function.__code__)}
        # One that has no name of its own, or is the script's, takes its globals with it.
        home = function.__module__ if _named(module, function) else ""
        for name in used & function.__globals__.keys():
            self._use(home, name, function.__globals__[name], used)
        # What it imports itself.
        for name in used & sys.modules.keys() - function.__globals__.keys():
            self._use("", "", sys.modules[name], used - {name})

    def _use(self, module: str, name: str, value: Any, used: set[str]) -> None:
        if isinstance(value, ModuleType):
            if _of_user(value):
                for attribute in used & vars(value).keys():
                    home = "" if _by_value(value.__name__) else value.__name__
                    self._use(home, attribute, vars(value)[attribute], used - {attribute})
            return
        if module and _is_data(value):
            self._note(module, "", name, value)
        self.visit(value)

    def _note(self, module: str, owner: str, name: str, value: Any) -> None:
        self.found.setdefault((module, owner, name), value)
        self.visit(value)


def _of_user(module: ModuleType | None) -> bool:
    """Whether its state is the user's: it is no library, and other processes can import it."""
    if module is None or module.__name__ in ("__main__", "builtins"):
        return False
    top = module.__name__.partition(".")[0]
    file = getattr(module, "__file__", None)
    return (
        top != _PACKAGE and top not in sys.stdlib_module_names and file is not None and not file.startswith(_LIBRARIES)
    )


def _named(module: Any, function: FunctionType) -> bool:
    """Whether it is sent by its name."""
    found = None if _by_value(module.__name__) else module
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


def _by_value(module: str) -> bool:
    """Whether its functions and classes take their globals with them."""
    cloudpickle = sys.modules.get("cloudpickle")
    registered = () if cloudpickle is None else cloudpickle.list_registry_pickle_by_value()
    return module == "__main__" or any(f"{module}.".startswith(f"{each}.") for each in registered)


def _is_data(value: Any) -> bool:
    """Whether it is neither code nor a type, which go by their names."""
    return not isinstance(value, (FunctionType, type, ModuleType)) and not inspect.isroutine(value)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """With those of the functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _names_in(code: CodeType) -> Iterator[str]:
    for each in _codes(code):
        yield from each.co_names


def _stored_in(code: CodeType) -> Iterator[str]:
    for each in _codes(code):
        for instruction in dis.get_instructions(each):
            if instruction.opname == "STORE_GLOBAL":
                yield str(instruction.argval)
