"""References: Python functions, iterators and arrays, which a graph only names, bound to it when it runs."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.function_name import name_of
from headrace._graph.parameters import Parameter, read_by
from headrace._workers.process_options import ProcessOptions, Workers
from headrace.errors import GraphError

# The forms that the engine's module takes: ("function", callable, wants_rng, predicate, workers, reads),
# ("parameter", parameter), ("iterator", callable, epoch_given, start_given, columns), ("rows", dataset, columns, workers),
# ("arrays", {column: array}, {ragged column: splits}), ("arrow", ArrowData); and ("late", callable), which makes one of these. `workers`: the processes that call it, or None. `reads`: the
# parameters that it reads, by its arguments.
Binding = tuple[Any, ...]


class Bound:
    """A reference and its object."""

    __slots__ = ("binding", "reference")

    def __init__(self, name: str, binding: Binding) -> None:
        self.reference = _engine.Reference(name)
        self.binding = binding


def resolved(binding: Binding) -> Binding:
    """The binding itself, or what ("late", callable) makes when it is needed."""
    made: Binding = binding[1]() if binding[0] == "late" else binding
    return made


def object_of(binding: Binding | None, name: str) -> str:
    """What tells apart the objects that references of one name stand for, so that an object has one name in a graph; of
    a loaded graph without them, the reference's own name does."""
    if binding is None:
        return name
    kind, held, *use = binding
    # Where it is called is no part of the graph.
    use = [each for each in use if not isinstance(each, (Workers, dict))]
    return f"{kind} {id(held)} {[each for each in use if each is not None]}"


def by_name(names: Sequence[str], bindings: Sequence[Binding]) -> dict[str, Binding]:
    """The bindings of a graph's references. GraphError if the uses of one object differ in their processes."""
    found: dict[str, Binding] = {}
    for name, binding in zip(names, bindings, strict=True):
        workers, before = _workers_of(binding), _workers_of(found.setdefault(name, binding))
        if workers is before or (workers is not None and before is not None and workers.same_as(before)):
            continue
        raise GraphError(
            f"{name.partition('#')[0]} is used twice in this pipeline, with other processes=, worker_init= or "
            "seed_globals=; give both uses the same, or give one of them a copy: functools.partial(function), or "
            "copy.copy(dataset)"
        )
    return found


def _workers_of(binding: Binding) -> Workers | None:
    return next((each for each in binding if isinstance(each, Workers)), None)


def parameters_of(function: Callable[..., Any]) -> dict[str, Any] | None:
    """Its parameters by name; None if Python does not know them, as for some functions written in C."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def function(
    callable_: Callable[..., Any],
    predicate: bool = False,
    columns: Sequence[str] | None = None,
    processes: ProcessOptions | None = None,
    reads: bool = False,
) -> tuple[Bound, bool]:
    """The function, and whether it has a parameter `rng` for a random generator. GraphError if it cannot be called with
    an argument for each of `columns`, where they are known; unless it `reads` them, if an hr.parameter is the default of
    an argument."""
    parameters = parameters_of(callable_)
    read = read_by(parameters)
    if read and not reads:
        refuse_reading(name_of(callable_), read)
    if read and processes is not None and processes.count > 0:
        raise GraphError(
            f"map: {name_of(callable_)} reads {next(iter(read.values()))!r}, whose values are set in this process; leave "
            "processes out"
        )
    wants_rng = "rng" in (parameters or {})
    if parameters is not None and columns is not None:
        _check_call(callable_, parameters, columns, wants_rng)
    if wants_rng:
        import numpy.random  # noqa: F401  (on this thread, before the engine's ask for it)
    workers = None if processes is None else processes.workers("function", callable_, wants_rng, wants_rng)
    return Bound(name_of(callable_), ("function", callable_, wants_rng, predicate, workers, read)), wants_rng


def refuse_reading(name: str, read: Mapping[str, Parameter]) -> None:
    argument, parameter = next(iter(read.items()))
    raise GraphError(
        f"{name} has {parameter!r} as the default of {argument}, and only functions of a row in map read parameters; make "
        "a column of it in a map below"
    )


def _check_call(
    callable_: Callable[..., Any], parameters: Mapping[str, Any], columns: Sequence[str], wants_rng: bool
) -> None:
    try:
        inspect.Signature(list(parameters.values())).bind(*columns, **({"rng": None} if wants_rng else {}))
    except TypeError as error:
        listed = ", ".join(columns)
        raise GraphError(
            f"{name_of(callable_)} is called with one argument for each column ({listed}), not with a row as a dict; "
            f"as it is written, that is an error: {error}"
        ) from None


def iterator(callable_: Any, columns: list[str]) -> Bound:
    """A callable that returns a new iterator for each epoch: `f()` or `f(epoch)`, with `start=` if it can seek."""
    if not callable(callable_):
        once = hasattr(callable_, "__next__")
        kind = type(callable_).__name__
        what = f"a {kind} object is used up after one epoch" if once else f"a {kind} is no function"
        raise GraphError(
            f"Generator: {what}; give a function that makes a new iterator for every epoch, "
            + ("such as the generator function itself" if once else "such as `lambda: iter(rows)`")
        )
    parameters = parameters_of(callable_) or {}
    if read := read_by(parameters):
        refuse_reading(name_of(callable_), read)
    start_given = "start" in parameters
    positional = [
        parameter
        for name, parameter in parameters.items()
        if name != "start" and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    needed = [parameter.name for parameter in positional if parameter.default is parameter.empty]
    if len(needed) > 1:
        raise GraphError(
            f"Generator: {name_of(callable_)} needs {', '.join(needed)}; it is called with the epoch alone "
            "(and start=, where it has such a parameter)"
        )
    epoch_given = bool(needed) or "epoch" in parameters
    return Bound(name_of(callable_), ("iterator", callable_, epoch_given, start_given, columns))


def rows(dataset: Any, columns: list[str], processes: ProcessOptions | None = None) -> Bound:
    """An object that gives rows by number."""
    kind = type(dataset)
    workers = None if processes is None else processes.workers("rows", dataset, columns)
    return Bound(f"{kind.__module__}:{kind.__qualname__}", ("rows", dataset, columns, workers))


def arrays(columns: Mapping[str, Any], splits: Mapping[str, Any]) -> Bound:
    """Arrays by column, and the splits of those that are ragged."""
    return Bound("arrays", ("arrays", dict(columns), dict(splits)))


def arrow(data: "_engine.ArrowData", kind: type) -> Bound:
    """A table or stream that was taken of an object of this class."""
    return Bound(f"{kind.__module__}:{kind.__qualname__}", ("arrow", data))
