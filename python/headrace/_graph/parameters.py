"""Parameters: numbers of kernels and functions that change from epoch to epoch."""

import contextlib
import contextvars
import json
import math
import struct
import threading
import traceback
import uuid
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from headrace import _engine
from headrace._arguments.options import epoch as checked_epoch
from headrace._arguments.options import shown
from headrace.errors import FunctionError, GraphError, ResourceError, StateError

__all__ = ["Parameter", "parameter"]

Number = int | float
Value = Number | tuple[Number, ...]
# The rank and the world.
Shard = tuple[int, int]


class Use(NamedTuple):
    """A kernel's attribute that reads a parameter, or one number of it, if it is a list."""

    kernel: str
    attribute: str
    number: bool = False


# Whether parameters are pickled with their functions and values; None: they cannot be pickled.
_sent_by_value: contextvars.ContextVar[bool | None] = contextvars.ContextVar("sent_by_value", default=None)
# Values of a function that are kept: of the latest epochs.
_KEPT = 4096
# Epochs of a state whose values are fixed: of all readers of a parameter.
_MOST_FIXED = 1 << 20


def parameter(
    name: str, fn: Callable[[int], Any] | None = None, default: Number | Sequence[Number] | None = None
) -> "Parameter":
    """A number, or several, that may change from epoch to epoch: give it for any numeric attribute of a kernel in `map`,
    in the place of a list or of numbers in it, or as the default of an argument of a function in `map`, which then gets
    the value.

    Its value in epoch e is the one that was set last for an epoch up to e (`Parameter.set`), else `fn(e)`, else
    `default`. A row reads the value of its own epoch, as it is numbered at the step that reads: below `repeat(n)` pass p
    of epoch e is epoch e · n + p, below a cache it is epoch 0. The value is fixed when its epoch is asked for, which
    `iter(ds)` and `ds.iterate(…)` do, and steps that read it do not run ahead into later epochs. Values are no part of
    the graph; states and the names of caches hold them. All ranks must set the same, which is checked where a rank
    restores the state of another.

    Args:
        name: For messages, graphs and states; one in a pipeline.
        fn: Called with an epoch, on the thread that asks for it (below an endless repeat on a thread of the engine, at
            the pass's first row); it must depend on nothing else. None as its result: the default. What it raises is a
            FunctionError for the loop.
        default: The value where nothing is set and there is no fn, or it gives None. It may be left out where there is
            an fn.
    """
    return Parameter(name, fn, default)


class Parameter:
    """A number, or several, that may change from epoch to epoch; made by `headrace.parameter`."""

    __slots__ = ("__weakref__", "_asked", "_default", "_fn", "_fixed", "_lock", "_name", "_sets", "_token", "_used")

    def __init__(self, name: str, fn: Callable[[int], Any] | None, default: Any) -> None:
        if not isinstance(name, str) or not name:
            raise GraphError(f"parameter: name is {shown(name)}; it must be a text that is not empty")
        if fn is not None and not callable(fn):
            raise GraphError(f"parameter: fn is {shown(fn)}; it must be a function of the epoch, or None")
        if fn is None and default is None:
            raise GraphError(f'parameter: "{name}" has no value: give a default, or fn')
        self._name = name
        self._fn = fn
        self._default = None if default is None else number_of(default, f"{self!r}: default")
        # What is set, by the first epoch for which it holds.
        self._sets: dict[int, Value] = {}
        # Values that fn gave, or a state held.
        self._fixed: dict[int, Value] = {}
        # No value of an epoch up to this one changes.
        self._asked = -1
        # Tells it from others of its name, in pickles without values.
        self._token = uuid.uuid4().hex
        # The attributes that read it.
        self._used: dict[Use, None] = {}
        # Never held while code of the user runs.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def members(self) -> "list[Parameter]":
        """Itself, where a list of numbers has the parameters in it."""
        return [self]

    def __repr__(self) -> str:
        return f'hr.parameter("{self._name}")'

    def __reduce__(self) -> tuple[Any, ...]:
        by_value = _sent_by_value.get()
        if by_value:
            sets, fixed, _ = self._held()
            return _made_again, (self._name, self._fn, self._default, sets, fixed, list(self._used))
        if by_value is not None:
            return _made_without_values, (self._name, self._fn is not None, self._default, self._token)
        raise TypeError(f"{self!r} cannot be copied or pickled: other processes would not see what is set here")

    def set(self, value: Number | Sequence[Number], epoch: int) -> None:
        """Sets the value from an epoch on, until the next epoch for which one is set.

        Raises GraphError if the epoch was asked for before, so that rows may have been made, or if the value is outside
        of the bounds of an attribute that reads it. One thread sets.

        Args:
            value: A finite number, or several for an attribute that takes a list.
            epoch: As it is numbered where rows read it; without `repeat` the epoch of the dataset.
        """
        first = checked_epoch(epoch, f"{self!r}.set")
        number = number_of(value, f"{self!r}.set: value")
        self._check(number, list(self._used), first)
        with self._lock:
            if first > self._asked:
                self._sets[first] = number
                return
        raise GraphError(
            f"{self!r} cannot be set for epoch {first}: epoch {self._asked} was asked for, and values up to it are fixed; "
            f"set it for epoch {self._asked + 1} or a later one"
        )

    def value(self, epoch: int) -> Value:
        """Its value in an epoch, as far as it is set by now."""
        at = checked_epoch(epoch, f"{self!r}.value")
        fixed = self._fixed.get(at)
        return self._made(at) if fixed is None else fixed

    # ---- for pipelines ----

    def _uses(self, kernel: str, attribute: str) -> "list[tuple[Parameter, Use]]":
        return [(self, Use(kernel, attribute))]

    def _check_use(self, kernel: str, attribute: str) -> None:
        """GraphError if a value that it has is outside of the bounds of an attribute that is to read it."""
        self._check_values(Use(kernel, attribute))

    def _check_values(self, use: Use) -> None:
        if self._default is not None:
            self._check(self._default, [use])
        for epoch, value in self._sets.items():
            self._check(value, [use], epoch)

    def _use(self, use: Use) -> None:
        """An attribute reads it from now on."""
        self._used[use] = None

    def _check(self, value: Value, uses: Iterable[Use], epoch: int | None = None) -> None:
        at = "" if epoch is None else f" in epoch {epoch}"
        for use in uses:
            if wrong := _engine.wrong_value(*use[:2], value, use.number):
                raise GraphError(f"{self!r}{at}: {use.kernel}: {wrong}")

    def _made(self, epoch: int) -> Value:
        if (held := self._set_for(epoch)) is not None:
            return held
        given = None if self._fn is None else self._fn(epoch)
        if given is None:
            given = self._default
        if given is None:
            raise GraphError(f"{self!r}: fn gave None for epoch {epoch}, and there is no default")
        used = list(self._used)
        # Attributes are named, as they say what numbers are for.
        readers = "".join(f" for {use.kernel}'s {use.attribute}" for use in used[:1])
        value = number_of(given, f"{self!r}: fn({epoch}){readers}")
        self._check(value, used, epoch)
        return value

    def _set_for(self, epoch: int) -> Value | None:
        """The value that is set for an epoch, or for the latest one before."""
        sets = self._sets
        since = _latest(sets, epoch)
        return None if since is None else sets[since]

    def _ask(self, last: int) -> None:
        with self._lock:
            self._asked = max(self._asked, last)

    def _value_in(self, epoch: int) -> Value:
        """The value in an epoch that is asked for. It is fixed once it is made: if fn raises, one can still be set."""
        while True:
            held = self._set_for(epoch)
            fixed = self._fixed.get(epoch)
            value = self._made(epoch) if fixed is None else fixed
            with self._lock:
                # Else another was set while this one was made.
                if fixed is not None or self._set_for(epoch) == held:
                    self._asked = max(self._asked, epoch)
                    break
        if self._fn is None or fixed is not None:
            return value
        value = self._fixed.setdefault(epoch, value)
        if len(self._fixed) > _KEPT:
            self._fixed.pop(min(self._fixed), None)
        return value

    def _freeze(self, first: int, last: int) -> None:
        if last - first >= _KEPT:
            self._ask(last)
            return
        for epoch in range(first, last + 1):
            self._value_in(epoch)

    def _state(self, ranges: Sequence[tuple[int, int]], shard: Shard) -> str:
        """What is set, without what only epochs before all ranges (first, last) read, the fixed values within these, and
        the rank and world that have them."""
        oldest = _latest(self._sets, min(first for first, _ in ranges))
        sets = {epoch: value for epoch, value in sorted(self._sets.items()) if oldest is None or epoch >= oldest}
        fixed = {
            epoch
            for first, last in ranges
            if last - first < _KEPT
            for epoch in range(first, min(last, self._asked) + 1)
        }
        values = {epoch: self._value_in(epoch) for epoch in sorted(fixed)}
        return json.dumps({"set": list(sets.items()), "fixed": list(_changes(values)), "shard": shard})

    def _restore(self, state: str, shard: Shard) -> None:
        """Takes what a state holds, on this rank of a world. StateError if other values were set here."""
        sets, fixed, there = _held_in(state, self.name, shard)
        merged = sets | self._sets
        ordered = sorted(merged)
        for epoch, value in fixed.items():
            at = bisect_right(ordered, epoch)
            here = self._fixed.get(epoch, merged[ordered[at - 1]] if at else value)
            if here != value:
                on_here, on_there = _ranks(shard, there)
                raise StateError(
                    f"{self!r} is {here} in epoch {epoch}{on_here}, and was {value}{on_there} when the state was taken; "
                    "restore before you set values, and set the same on all ranks"
                )
        self._sets = merged
        self._fixed |= fixed
        self._ask(max(fixed, default=-1))

    def _take(self, sets: dict[int, Value], fixed: dict[int, Value]) -> None:
        """What is set and fixed in the process that this parameter came from."""
        with self._lock:
            self._sets, self._fixed = sets, fixed

    def _held(self) -> tuple[dict[int, Value], dict[int, Value], int]:
        return dict(self._sets), dict(self._fixed), self._asked


@contextlib.contextmanager
def sent_by_value() -> Iterator[None]:
    """Parameters may be pickled within it, with their functions and with what is set and fixed by now: what is set here
    later reaches whoever unpickles them only where it is sent."""
    with _sent(True):
        yield


@contextlib.contextmanager
def sent_without_values() -> Iterator[None]:
    """Parameters may be pickled within it, always in the same bytes: whoever unpickles them is to be sent what is set and
    fixed here, and gives it to `Parameter._take`."""
    with _sent(False):
        yield


@contextlib.contextmanager
def _sent(by_value: bool) -> Iterator[None]:
    token = _sent_by_value.set(by_value)
    try:
        yield
    finally:
        _sent_by_value.reset(token)


def _made_again(
    name: str,
    fn: Callable[[int], Any] | None,
    default: Any,
    sets: dict[int, Value],
    fixed: dict[int, Value],
    used: list[Use],
) -> Parameter:
    made = Parameter(name, fn, default)
    made._sets, made._fixed = sets, fixed
    made._used = dict.fromkeys(used)
    return made


def _made_without_values(name: str, has_function: bool, default: Any, token: str) -> Parameter:
    made = Parameter(name, _not_fixed if has_function else None, default)
    made._token = token
    return made


def _not_fixed(epoch: int) -> NoReturn:
    raise LookupError(f"the value of epoch {epoch} was not fixed when the pipeline was sent here")


def _ranks(here: Shard, there: Shard) -> tuple[str, str]:
    """ " on rank 1 of 2" for both, if they are two ranks."""
    if here == there:
        return "", ""
    return f" on rank {here[0]} of {here[1]}", f" on rank {there[0]} of {there[1]}"


def _latest(epochs: Iterable[int], epoch: int) -> int | None:
    """The latest of the epochs up to this one."""
    ordered = sorted(epochs)
    at = bisect_right(ordered, epoch)
    return ordered[at - 1] if at else None


def _changes(values: dict[int, Value]) -> Iterator[tuple[int, int, Value]]:
    """Runs of epochs in a row with one value: the first epoch, the last and the value."""
    run: tuple[int, int, Value] | None = None
    for epoch, value in values.items():
        if run is not None and run[1] + 1 == epoch and run[2] == value:
            run = (run[0], epoch, value)
            continue
        if run is not None:
            yield run
        run = (epoch, epoch, value)
    if run is not None:
        yield run


def number_of(value: Any, what: str) -> Value:
    """As a number of Python's, or a tuple of them. Whole numbers stay whole."""
    given = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(given, (list, tuple)):
        numbers = tuple(number_of(each, what) for each in given)
        if not any(isinstance(each, tuple) for each in numbers):
            _check_held(numbers, what)
            return numbers  # type: ignore[return-value]
    elif isinstance(given, (int, float)) and not isinstance(given, bool):
        # States are compared by value, and NaN is not equal to itself.
        if isinstance(given, float) and not math.isfinite(given):
            raise GraphError(f"{what} is {given}; it must be finite")
        _check_held(given, what)
        return given
    raise GraphError(f"{what} is {shown(value)}; it must be a number, or a list of numbers")


def _check_held(given: Any, what: str) -> None:
    """GraphError if rows could not read it, as where a whole number has more than 64 bits."""
    if unfit := _engine.unfit_value(given):
        raise GraphError(f"{what}: {unfit}")


def _held_in(state: str, name: str, shard: Shard) -> tuple[dict[int, Value], dict[int, Value], Shard]:
    """What was set, what was fixed, and the rank and world of a state. StateError if it is none: whatever its checksum,
    its epochs may be of any number."""
    damaged = StateError(f'this is not a state that Headrace took, or its values of hr.parameter("{name}") are damaged')
    try:
        held = json.loads(state)
        sets = {_whole(epoch): number_of(value, name) for epoch, value in held["set"]}
        runs = [(_whole(first), _whole(last), number_of(value, name)) for first, last, value in held["fixed"]]
        rank, world = map(_whole, held.get("shard", shard))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, GraphError):
        raise damaged from None
    if sum(max(0, last - first + 1) for first, last, _ in runs) > _MOST_FIXED:
        raise damaged
    return sets, {epoch: value for first, last, value in runs for epoch in range(first, last + 1)}, (rank, world)


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise TypeError(f"{number!r} is not a whole number")
    return number


def read_by(parameters: dict[str, Any] | None) -> dict[str, Parameter]:
    """The arguments of a function whose defaults are parameters, of what `reference.parameters_of` gives."""
    defaults = {name: each.default for name, each in (parameters or {}).items()}
    return {name: default for name, default in defaults.items() if isinstance(default, Parameter)}


def of_bindings(bindings: Iterable[Any]) -> dict[str, Parameter]:
    """The parameters of a pipeline by name. GraphError if two have one name."""
    named: dict[str, Parameter] = {}
    for kind, held, *use in bindings:
        read = held.members if kind == "parameter" else use[3].values() if kind == "function" else ()
        for each in read:
            if named.setdefault(each.name, each) is not each:
                raise GraphError(
                    f'two parameters of this pipeline are called "{each.name}"; give them different names, or use one'
                )
    return named


# ---- runs ----


def _read(engine: _engine.Iteration, epoch: int) -> Iterator[tuple[Parameter, int, int]]:
    """The parameters that a run reads in an epoch, with the first and the last epoch as their reader numbers it."""
    for held, first, last in engine.reads(epoch):
        for parameter in held.members:
            yield parameter, first, last


def freeze(engine: _engine.Iteration, epoch: int) -> None:
    """Fixes the values that a run reads in an epoch, which it is about to ask for. What fn raises is a FunctionError, for
    a MemoryError a ResourceError, as where the engine calls it."""
    for parameter, first, last in _read(engine, epoch):
        try:
            parameter._freeze(first, last)
        except Exception as error:
            kind = ResourceError if isinstance(error, MemoryError) else FunctionError
            at = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({at.filename}:{at.lineno})"
            raise kind(f"{parameter!r} raised {text}") from error


# Before the engine's state, where parameters are read: these bytes, the length and the CRC-32 of what follows, and a
# JSON dict from name to what Parameter._state gave. No state of the engine begins so.
_MARK = b"HRP1"
_HEAD = struct.Struct("<4sII")


def state_of(engine: _engine.Iteration, shard: Shard) -> bytes:
    """The engine's state with those of the parameters."""
    state = engine.state()
    ranges: dict[Parameter, list[tuple[int, int]]] = {}
    for parameter, first, last in _read(engine, engine.epoch):
        ranges.setdefault(parameter, []).append((first, last))
    if not ranges:
        return state
    text = json.dumps({parameter.name: parameter._state(read, shard) for parameter, read in ranges.items()}).encode()
    return _HEAD.pack(_MARK, len(text), zlib.crc32(text)) + text + state


def opened(state: bytes) -> tuple[bytes, dict[str, str]]:
    """The engine's state, and those of parameters by name. StateError if they are damaged."""
    if state[: len(_MARK)] != _MARK:
        return state, {}
    end = _HEAD.size
    if len(state) >= end:
        _, length, checksum = _HEAD.unpack_from(state)
        end += length
        text = state[_HEAD.size : end]
        # To the engine, empty bytes mean that there is no state.
        if len(state) > end and zlib.crc32(text) == checksum and (held := _texts_in(text)) is not None:
            return state[end:], held
    raise StateError(f"this is not a state that Headrace took, or it is damaged ({len(state)} bytes)")


def _texts_in(text: bytes) -> dict[str, str] | None:
    """The object of texts that this is; None if it is none."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) and all(isinstance(each, str) for each in held.values()) else None


@contextlib.contextmanager
def restored(held: dict[str, str], parameters: dict[str, Parameter], shard: Shard) -> Iterator[None]:
    """The parameters have what a state holds, and what they had before if the run cannot go on from it."""
    before = {name: parameter._held() for name, parameter in parameters.items()}
    try:
        for name, state in held.items():
            if name not in parameters:
                raise StateError(f'the state holds values of hr.parameter("{name}"), which this pipeline does not read')
            parameters[name]._restore(state, shard)
        yield
    except BaseException:
        for name, parameter in parameters.items():
            parameter._sets, parameter._fixed, parameter._asked = before[name]
        raise
