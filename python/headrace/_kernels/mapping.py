"""Translates `map`'s arguments to steps of the graph: which kernel reads and writes which columns."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.options import shown, texts
from headrace._arguments.source_location import SourceLocation, users_location
from headrace._graph.declared import function_kernel, kernels
from headrace._graph.expression import Expression
from headrace._graph.reference import Bound, function
from headrace._kernels.chooser import Chooser, flattened
from headrace._kernels.kernel import Kernel
from headrace._kernels.target_rules import needed_target
from headrace._workers.process_options import ProcessOptions
from headrace.errors import GraphError

# Kernel, attributes, inputs, outputs, group, line, and the steps of each branch.
Step = tuple[str, dict[str, Any], list[str], list[str], int, SourceLocation, list[list[Any]]]
# Names, dtypes and shapes of columns.
Types = list[tuple[str, str, tuple[int | None, ...] | None]]
# How errors name a column of each kind of target.
_COLUMNS = {"boxes": "boxes", "keypoints": "points"}
Kernels = Kernel | Callable[..., Any] | Sequence[Kernel | Callable[..., Any]]


def names(given: str | Sequence[str], what: str, of: str) -> list[str]:
    """A list of names, or a single name as a list; refuses anything else."""
    found = texts(what, given, of)
    if not found:
        raise GraphError(f"{of}: {what} is empty; name at least one column")
    seen: set[str] = set()
    for name in found:
        if name in seen:
            raise GraphError(f'{of}: {what} names "{name}" twice')
        seen.add(name)
    return found


def kernel_list(kernels: Kernels) -> list[Kernel | Callable[..., Any]]:
    listed: list[Any] = list(kernels) if isinstance(kernels, (list, tuple)) else [kernels]
    if not listed:
        raise GraphError("map: the list of kernels is empty")
    for kernel in listed:
        if isinstance(kernel, type) and issubclass(kernel, Kernel):
            raise GraphError(f"map: {kernel.__name__} is a class; write {kernel.__name__}(…)")
        if not isinstance(kernel, Kernel) and not callable(kernel):
            raise GraphError(f"map: {shown(kernel)} is neither a kernel nor a function{_meant(kernel)}")
    return listed


def _meant(given: Any) -> str:
    if isinstance(given, Expression):
        return "; expressions are for filter: write a function of the columns, such as lambda x: x / 10"
    module = (
        next((module for module, names in kernels().items() if given in names), None)
        if isinstance(given, str)
        else None
    )
    return "" if module is None else f"; write {given}(…) of headrace.{module}"


def check_needs_no_target(kernels: Iterable[Any]) -> None:
    """For a call or map of images alone."""
    for kernel in kernels:
        if isinstance(kernel, Chooser):
            for branch in kernel._branches:
                check_needs_no_target(branch)
        elif isinstance(kernel, Kernel) and (needed := needed_target(kernel._name)):
            name = kernel._name
            target = f'hr.{needed}("{_COLUMNS[needed]}")'
            raise GraphError(
                f'{name}: works in a map with {needed}: ds.map([…, V.{name}(…)], ["image", {target}]), or in a call with '
                "such columns: hr.compose([…], columns)"
            )


def takes_all(kernel: Kernel | Callable[..., Any]) -> bool:
    return not isinstance(kernel, Kernel) or not kernel._unary


class StepWriter:
    """Makes the steps of one map. `types`: what its function gives, as far as declared."""

    def __init__(self, ordered: bool | None, types: Types | None, processes: ProcessOptions) -> None:
        self.steps: list[Step] = []
        self.bound: list[Bound] = []
        # Columns that hold what is between two steps.
        self.spare: list[str] = []
        self._ordered = ordered
        self._types = types
        self._processes = processes
        self._location = users_location()
        self._groups = 0

    def write(self, kernels: Kernels, columns: list[str], output: list[str]) -> None:
        listed = list(flattened(kernel_list(kernels)))
        check_needs_no_target(listed)
        self._check_types(listed)
        self._check_processes(listed)
        current = columns
        for kernel, target in zip(listed, self._targets(listed, columns, output), strict=True):
            self._write_one(kernel, current, target)
            current = target

    def _targets(self, listed: list[Any], columns: list[str], output: list[str]) -> list[list[str]]:
        """The columns that each kernel writes. What comes before a change of their number goes to those of `output` that
        there are, as they are written again, or to columns of its own, which the map leaves out at last."""
        counts = self._counts(listed, len(columns), len(output))
        if counts is None:
            counts = [len(output)] * len(listed)
            self._refuse_change(listed, columns, output)
        targets = []
        for position, count in enumerate(counts):
            if all(later == len(output) for later in counts[position:]):
                targets.append(output)
            else:
                targets.append([self._between(columns, output, number) for number in range(count)])
        return targets

    def _between(self, columns: list[str], output: list[str], number: int) -> str:
        if number < len(output) and output[number] not in columns:
            return output[number]
        name = f"{output[0]}: {number}"
        if name not in self.spare:
            self.spare.append(name)
        return name

    @staticmethod
    def _counts(listed: list[Any], columns: int, output: int) -> list[int] | None:
        """How many columns there are after each kernel; None: they do not become `output` of them. A kernel that gives
        any number, and a function, gives as many as it takes, but for the first of them that has to change it."""

        def fixed(kernel: Any) -> bool:
            return (
                isinstance(kernel, Kernel)
                and takes_all(kernel)
                and not isinstance(kernel, Chooser)
                and bool(kernel._outputs)
            )

        last_fixed = max((i for i, kernel in enumerate(listed) if fixed(kernel)), default=-1)
        counts = []
        now = columns
        for position, kernel in enumerate(listed):
            if fixed(kernel):
                now = kernel._outputs
            elif position > last_fixed and takes_all(kernel) and not isinstance(kernel, Chooser):
                now = output
            counts.append(now)
        return counts if now == output else None

    def _check_types(self, listed: list[Any]) -> None:
        functions = sum(not isinstance(kernel, Kernel) for kernel in listed)
        if self._types is not None and functions != 1:
            raise GraphError(
                f"map: types says what a Python function gives, and there are {functions} here; "
                + ("what kernels give is known" if functions == 0 else "write a map for each")
            )

    def _check_processes(self, listed: list[Any]) -> None:
        if self._processes.count == 0:
            return
        if all(isinstance(kernel, Kernel) for kernel in listed):
            raise GraphError("map: processes call Python functions, and there is none here; kernels run on all cores")
        if self._ordered:
            raise GraphError("map: functions in several processes are called in any order; leave out ordered=True")

    @staticmethod
    def _refuse_change(listed: list[Any], columns: list[str], output: list[str]) -> None:
        """For kernels of which one at least cannot take part in the change: the kernel itself says more, where it is the
        only one."""
        changing = [kernel for kernel in listed if takes_all(kernel)]
        if not changing and len(columns) != len(output):
            raise GraphError(
                f"map: {len(columns)} columns ({', '.join(columns)}) cannot become {len(output)} ({', '.join(output)}): "
                "every kernel here gives one column for one"
            )
        if len(changing) > 1:
            raise GraphError(
                f"map: {len(columns)} columns ({', '.join(columns)}) do not become {len(output)} ({', '.join(output)}) by "
                f"these kernels; {changing[-1]!r} is the last that makes columns of several: name what it makes with output="
            )

    def _write_one(self, kernel: Any, inputs: list[str], outputs: list[str]) -> None:
        if not isinstance(kernel, Kernel):
            self._write_function(kernel, inputs, outputs)
        elif kernel._unary:
            self._write_unary(kernel, inputs, outputs)
        else:
            self._write_nary(kernel, inputs, outputs)

    def _write_unary(self, kernel: Kernel, inputs: list[str], outputs: list[str]) -> None:
        index = {name: i for i, name in enumerate(inputs)}
        if inputs != outputs and any(index.get(name, 0) > i for i, name in enumerate(outputs)):
            raise GraphError(
                f"map: output ({', '.join(outputs)}) would overwrite columns that are still to be read "
                f"({', '.join(inputs)}); name other columns, or rename afterwards"
            )
        self.steps += self._unary_steps(kernel, inputs, outputs, len(inputs) > 1)

    # `shared`: whether steps of other columns make the same random draws, so that image and mask agree. Such steps are
    # of one group.
    def _unary_steps(self, kernel: Kernel, inputs: list[str], outputs: list[str], shared: bool) -> list[Step]:
        first = self._groups
        steps = []
        for name, result in zip(inputs, outputs, strict=True):
            self._groups = first
            steps.append(self._step(kernel, [name], [result], shared))
        return steps

    def _step(self, kernel: Kernel, inputs: list[str], outputs: list[str], shared: bool) -> Step:
        if shared:
            self._groups += 1
        group = self._groups if shared else 0
        branches = (
            [self._branch(kernel, each, outputs, shared) for each in kernel._branches]
            if isinstance(kernel, Chooser)
            else []
        )
        return (kernel._name, dict(kernel._attributes), inputs, outputs, group, kernel._location, branches)

    def _branch(self, chooser: Kernel, kernels: list[Kernel], columns: list[str], shared: bool) -> list[Step]:
        steps = []
        for kernel in kernels:
            if kernel._unary:
                steps += self._unary_steps(kernel, columns, columns, shared or len(columns) > 1)
                continue
            if not isinstance(kernel, Chooser) and kernel._outputs not in (None, len(columns)):
                raise GraphError(
                    f"map: {kernel._name} makes {kernel._outputs} of {len(columns)} columns ({', '.join(columns)}), and "
                    f"{chooser._name} gives as many as it takes; write a map of its own for it"
                )
            steps.append(self._step(kernel, columns, columns, shared))
        return steps

    def _write_nary(self, kernel: Kernel, inputs: list[str], outputs: list[str]) -> None:
        if isinstance(kernel, Chooser):
            if len(outputs) != len(inputs):
                raise GraphError(
                    f"map: {kernel._name} gives as many columns as it takes, {len(inputs)} ({', '.join(inputs)}), not "
                    f"{len(outputs)} ({', '.join(outputs)})"
                )
            self.steps.append(self._step(kernel, inputs, outputs, False))
            return
        if kernel._outputs is not None and len(outputs) != kernel._outputs:
            made, them = ("one column", "it") if kernel._outputs == 1 else (f"{kernel._outputs} columns", "them")
            # Perhaps it takes as many as it makes.
            more = outputs == inputs and kernel._outputs > len(inputs)
            rest = " name all that it takes, or" if more else ""
            raise GraphError(
                f"map: {kernel._name} makes {made} of {len(inputs)} ({', '.join(inputs)});{rest} name {them} with output="
            )
        self.steps.append(self._step(kernel, inputs, outputs, False))

    @staticmethod
    def _declared(types: Types, outputs: list[str]) -> _engine.Columns:
        declared = {each[0]: each for each in types}
        for name in declared:
            if name not in outputs:
                raise GraphError(f'map: types names "{name}", which the function does not give ({", ".join(outputs)})')
        return _engine.Columns([declared.get(name, (name, "unknown", None)) for name in outputs])

    def _write_function(self, callable_: Callable[..., Any], inputs: list[str], outputs: list[str]) -> None:
        bound, wants_rng = function(callable_, columns=inputs, processes=self._processes, reads=True)
        attributes = {
            "function": bound.reference,
            "ordered": self._ordered is not False,
            "random": wants_rng,
            "outputs": len(outputs),
        }
        if self._types is not None:
            attributes["types"] = self._declared(self._types, outputs)
        self.bound.append(bound)
        self.steps.append((function_kernel(), attributes, inputs, outputs, 0, self._location, []))
