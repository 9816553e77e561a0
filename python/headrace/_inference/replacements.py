"""`Replacements`: what stands in an inference graph in the place of kernels and operators of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from headrace._arguments.function_name import name_of
from headrace._arguments.options import shown
from headrace._arguments.suggestions import did_you_mean
from headrace._kernels.chooser import Chooser, flattened
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError

__all__ = ["Replace", "Replacements"]

# From the name or class of a kernel, the name of an operator or function, or a function, to the kernels in its place.
Replace: TypeAlias = Mapping[Any, Kernel | Sequence[Kernel]]


class Replacements:
    """Looks kernels and operators up by name or class, and notes which of the keys are used."""

    def __init__(self, given: Replace | None, of: str) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise GraphError(
                f"{of}: replace is {shown(given)}; give a dict from the name or class of a kernel to the kernels in its "
                'place, such as {"RandomCrop": [V.CenterCrop(224)]}'
            )
        self._of = of
        self._given = {key: _kernels(key, value, of) for key, value in (given or {}).items()}
        self._unused = set(self._given)
        # Names that a key could have had, and choosers by the kernels in them.
        self._seen: set[str] = set()
        self._inner: dict[str, str] = {}
        # The kernels that were put in, by name and line.
        self._made = {(each._name, each._location) for kernels in self._given.values() for each in kernels}

    def of_kernel(self, kernel: Any) -> list[Kernel] | None:
        """Those in the place of a kernel or function; None: it stays."""
        if isinstance(kernel, Kernel):
            names = [kernel._name, type(kernel).__name__]
            self._note_inner(kernel)
        else:
            names = [name_of(kernel), getattr(kernel, "__name__", ""), kernel]
        self._seen.update(name for name in names if isinstance(name, str) and name)
        for key in self._given:
            if key in names or (isinstance(key, type) and isinstance(kernel, key)):
                self._unused.discard(key)
                return self._given[key]
        return None

    def of_step(self, kernel: str, function: str | None) -> list[Kernel] | None:
        """The same for a step of a saved graph. `function`: the name of what it calls."""
        names = (
            [kernel]
            if function is None
            else [function, function.rpartition("#")[0].rpartition(":")[2].rpartition(".")[2]]
        )
        self._seen.update(names)
        for key in self._given:
            name = key.__name__ if isinstance(key, type) else key
            if name in names:
                self._unused.discard(key)
                return self._given[key]
        return None

    def removes(self, op: str) -> bool:
        """Whether an operator, such as a filter, is to be left out."""
        self._seen.add(op)
        if op not in self._given:
            return False
        self._unused.discard(op)
        if self._given[op]:
            raise GraphError(f'{self._of}: no kernels can stand in the place of {op}; write replace={{"{op}": []}}')
        return True

    def is_replacement(self, kernel: str, location: tuple[str, int]) -> bool:
        return (kernel, location) in self._made

    def check_all_used(self) -> None:
        for key in self._given:
            if key not in self._unused:
                continue
            name = _name_of(key)
            if name in self._inner:
                within = self._inner[name]
                raise GraphError(
                    f'{self._of}: {name} is one of the kernels of {within}; replace {within} as a whole: "{within}": […]'
                )
            near = did_you_mean(name.rpartition(".")[2], sorted(self._seen))
            listed = ", ".join(sorted(self._seen)) or "none"
            raise GraphError(
                f"{self._of}: replace names {shown(key) if isinstance(key, str) else name}, which is not in the pipeline"
                f"{near or f' (it has: {listed})'}"
            )

    def _note_inner(self, kernel: Kernel) -> None:
        waiting = [kernel]
        while waiting:
            each = waiting.pop()
            for branch in each._branches if isinstance(each, Chooser) else ():
                self._inner.update({inner._name: kernel._name for inner in branch})
                waiting += branch


def _name_of(key: Any) -> str:
    return key if isinstance(key, str) else getattr(key, "__name__", None) or shown(key)


def _kernels(key: Any, value: Any, of: str) -> list[Kernel]:
    if isinstance(key, Kernel) or not (isinstance(key, (str, type)) or callable(key)):
        raise GraphError(f"{of}: replace has the key {shown(key)}; it must be the name or the class of a kernel")
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    name = _name_of(key)
    for each in listed:
        if isinstance(each, type) and issubclass(each, Kernel):
            raise GraphError(f"{of}: in the place of {name}: {each.__name__} is a class; write {each.__name__}(…)")
        if not isinstance(each, Kernel):
            raise GraphError(
                f"{of}: in the place of {name}: {shown(each)} is not a kernel; give a list of kernels, [] for none"
            )
    return list(flattened(listed))
