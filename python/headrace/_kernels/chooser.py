"""Kernels that apply other kernels: all of them in order, or those that are drawn for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from headrace._arguments.options import shown
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError

__all__ = ["Chooser", "flattened"]


class Chooser(Kernel):
    """A kernel that applies other kernels, its branches. They are a part of the graph like any kernel."""

    __slots__ = ("_branches", "_unary")

    # Whether it draws; otherwise it is another way to write its kernels.
    _draws = True

    _branches: list[list[Kernel]]
    # Whether all its kernels take one column.
    _unary: bool

    def __init__(self, attributes: Mapping[str, Any], branches: Sequence[Kernel | Sequence[Kernel]]) -> None:
        super().__init__(attributes)
        name = type(self).__name__
        if not isinstance(branches, (list, tuple)):
            raise GraphError(f"{name}: {shown(branches)} is no list of kernels")
        if not branches:
            raise GraphError(f"{name}: the list of kernels is empty")
        self._branches = [_kernels(name, branch) for branch in branches]
        self._unary = all(kernel._unary for branch in self._branches for kernel in branch)

    @classmethod
    def _subpolicies(cls, policy: Any) -> tuple[list[int], list[float], list[Any]]:
        """Lists of (kernels, probability) as their lengths, the probabilities, and the kernels."""
        name = cls.__name__
        if not isinstance(policy, (list, tuple)) or not all(isinstance(each, (list, tuple)) for each in policy):
            raise GraphError(f"{name}: policy is a list of lists of (kernel, probability), not {shown(policy)}")
        pairs = [pair for subpolicy in policy for pair in subpolicy]
        for pair in pairs:
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise GraphError(f"{name}: {shown(pair)} is no (kernel, probability)")
        if not all(policy):
            raise GraphError(f"{name}: a sub-policy is empty")
        return [len(each) for each in policy], [chance for _, chance in pairs], [kernel for kernel, _ in pairs]

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        _, slots = super().__getstate__()
        return None, slots | {"_branches": self._branches, "_unary": self._unary}

    def __repr__(self) -> str:
        several = [branch[0] if len(branch) == 1 else branch for branch in self._branches]
        held = self._branches[0] if len(self._branches) == 1 else several
        given = "".join(f", {name}={value!r}" for name, value in self._attributes.items())
        return f"{type(self).__name__}({held!r}{given})"


def flattened(kernels: Iterable[Any]) -> Iterator[Any]:
    """The kernels, and functions; those of a chooser that draws nothing in its place."""
    for kernel in kernels:
        if isinstance(kernel, Chooser) and not kernel._draws:
            for branch in kernel._branches:
                yield from flattened(branch)
        else:
            yield kernel


def _kernels(name: str, branch: Any) -> list[Kernel]:
    listed = list(branch) if isinstance(branch, (list, tuple)) else [branch]
    if not listed:
        raise GraphError(f"{name}: a list of kernels is empty")
    for kernel in listed:
        if isinstance(kernel, type) and issubclass(kernel, Kernel):
            raise GraphError(f"{name}: {kernel.__name__} is a class; write {kernel.__name__}(…)")
        if isinstance(kernel, Kernel):
            continue
        if callable(kernel):
            raise GraphError(
                f"{name}: {shown(kernel)} is a Python function, and {name} is part of the graph, which holds kernels "
                "alone; call the function in map, before or after it, or draw in the function (with a parameter rng)"
            )
        raise GraphError(f"{name}: {shown(kernel)} is not a kernel")
    return list(flattened(listed))
