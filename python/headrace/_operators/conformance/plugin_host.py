"""A host of plugins in Python, beside the engine's: calls operators in memory that shows what they touch.

It gives what plugin/headrace_plugin.h promises and notes each rule that an operator breaks. Several threads may call
operators at once."""

import ctypes as c
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from headrace._operators.conformance import interface
from headrace._operators.conformance.declared_operator import (
    DeclaredFormat,
    DeclaredKernel,
    DeclaredOperator,
    DeclaredSource,
    declared,
    listed,
    values_of,
)
from headrace._operators.conformance.host_functions import (
    BrokenRule,
    Call,
    Columns,
    Failure,
    Functions,
    How,
    Made,
    Result,
    asked,
    refuse,
)
from headrace._operators.conformance.values import ColumnType, Types, Value, shown

Created = TypeVar("Created", DeclaredKernel, DeclaredFormat)


class State(Generic[Created]):
    """What create() of a kernel or format made; `destroy` ends it."""

    def __init__(self, host: "PluginHost", operator: Created, given: Mapping[str, Any]) -> None:
        self.operator: Created = operator
        self.given = dict(given)
        self.values = values_of(operator, given)
        self.state = c.c_void_p()
        self.failure: Failure | None = None
        self._host = host
        if operator.raw.create:
            host.note("create()", f"the attributes {listed(given)}")
            call = Call("create", operator)
            self.failure = host.run(call, lambda at: operator.raw.create(at, self.values, c.byref(self.state)))
            if self.failure is not None:
                self.state = c.c_void_p()

    def destroy(self) -> None:
        if self.state.value is not None and self.operator.raw.destroy:
            self._host.note("destroy()", f"the attributes {listed(self.given)}")
            self.operator.raw.destroy(self.state)
        self.state = c.c_void_p()


class PluginHost:
    """A library and the operators that it declares. `note(callback, given)` is told of each call before it begins, with
    what `surroundings` says of it. `samples` are calls, by operator, that stand for the examples of declarations."""

    def __init__(self, path: str, note: Callable[[str, str], None], samples: Mapping[str, str]) -> None:
        self.surroundings = ""
        self._note = note
        self._library = c.CDLL(path)
        self._calls: dict[int, Call] = {}
        self._numbers = itertools.count(1)
        self._host = interface.Host(struct_size=interface.Host.later.offset)
        # Kept alive as long as the plugin may call them.
        self._functions = {name: self._function(name) for name in interface.HOST_FUNCTIONS}
        for name, function in self._functions.items():
            setattr(self._host, name, function)
        needed = c.c_uint32.in_dll(self._library, "headrace_plugin_abi").value
        self._host.abi = max(needed, interface.ABI)
        query = c.cast(self._library.headrace_plugin_query, interface.QUERY)
        plugin = c.c_void_p()
        self.note("headrace_plugin_query()", "the host")
        asked = Call("query", DeclaredOperator("", interface.Kernel(), []))
        failure = self.run(asked, lambda at: query(self._host.abi, c.byref(self._host), at, c.byref(plugin)))
        if failure is not None or plugin.value is None:
            raise BrokenRule(f"headrace_plugin_query() gave {failure or 'no plugin'}", "make it give the plugin")
        given = interface.read(interface.Plugin, plugin.value)
        self.kernels = declared(interface.Kernel, given.kernels, samples)
        self.sources = declared(interface.Source, given.sources, samples)
        self.formats = declared(interface.Format, given.formats, samples)

    def note(self, callback: str, given: str) -> None:
        self._note(callback, f"{given}, with {self.surroundings}" if self.surroundings else given)

    def run(self, call: Call, callback: Callable[[int], int]) -> Failure | None:
        """The error that the callback gave. BrokenRule: it broke a rule."""
        number = next(self._numbers)
        self._calls[number] = call
        try:
            result = callback(number)
        finally:
            del self._calls[number]
        if call.broken is not None:
            raise call.broken
        if not 0 <= result < len(interface.RESULTS):
            raise BrokenRule(f"{call.callback}() returned {result}", "return a headrace_result")
        if result == interface.OK and call.failure is None:
            return None
        if call.failure is None:
            came = f"{call.callback}() returned {interface.RESULTS[result]} and did not say why"
            raise BrokenRule(came, "say by host->fail() what is wrong, and return what it gives")
        if result == interface.OK and not call.refused_by_host:
            came = f'{call.callback}() called fail("{call.failure.text}") and returned HEADRACE_OK'
            raise BrokenRule(came, "return what host->fail() gives")
        return call.failure

    def infer(self, kernel: DeclaredKernel, given: Mapping[str, Any], types: Types) -> Types | Failure:
        """The types of the outputs, from types that need not be known."""
        self.note("infer()", shown(types))
        values, inputs = values_of(kernel, given), [_type_of(each) for each in types]
        outputs = [interface.Type(struct_size=c.sizeof(interface.Type), axes=-1) for _ in range(kernel.raw.outputs)]
        call = Call("infer", kernel)
        asked, made = _pointers(interface.Type, inputs), _pointers(interface.Type, outputs)
        failure = self.run(call, lambda at: kernel.raw.infer(at, values, asked, len(inputs), made))
        return failure if failure is not None else tuple(map(_column_of, outputs))

    def apply(
        self, state: State[DeclaredKernel], values: Sequence[Value], how: How | None = None
    ) -> tuple[Result, Call]:
        """What it makes of the inputs, and the call."""
        kernel = state.operator
        types = tuple(value.type for value in values)
        inferred = self.infer(kernel, state.given, types)
        call = Call("apply", kernel, values, how)
        if isinstance(inferred, Failure):
            return inferred, call
        call.types = inferred
        inputs = [_Input(value, call.how) for value in call.values]
        pointers = _pointers(interface.Tensor, [each.tensor for each in inputs])
        self.note("apply()", shown(types))
        return self.outputs(call, lambda at: kernel.raw.apply(at, state.state, pointers, len(inputs)), inputs), call

    def columns(self, operator: DeclaredSource | DeclaredFormat, given: Mapping[str, Any]) -> Columns | Failure:
        """What columns() of a source or format adds."""
        self.note("columns()", f"the attributes {listed(given)}")
        call, values = Call("columns", operator), values_of(operator, given)
        failure = self.run(call, lambda at: operator.raw.columns(at, values))
        if failure is None and not call.columns:
            raise BrokenRule("columns() adds no column and gives no error", "add each by add_column()")
        return failure if failure is not None else tuple(call.columns)

    def outputs(self, call: Call, callback: Callable[[int], int], inputs: Sequence["_Input"] = ()) -> Result:
        """What a callback that makes outputs makes of the inputs."""
        try:
            failure = self.run(call, callback)
            _check_memory(call, inputs)
            # Without a place there is no row.
            if failure is None and call.callback == "next" and call.place is None:
                return ()
            return failure if failure is not None else _results(call)
        finally:
            for block in [*call.blocks.values(), *(each.block for each in inputs)]:
                block.free()

    def _function(self, name: str) -> Any:
        behaviour = getattr(Functions, name)

        def called(at: int, *given: Any) -> int:
            call = self._calls.get(at)
            if call is None:
                return interface.FUNCTION_ERROR
            try:
                return asked(call, name, behaviour, given)
            except MemoryError as error:
                return refuse(call, str(error))
            except Exception as error:
                return call.breaks(f"called {name}() wrongly: {error}", "call it as headrace_plugin.h says")

        return interface.HOST_FUNCTIONS[name](called)


class _Input:
    """An input in memory of its own, and the structure that says where."""

    def __init__(self, value: Value, how: How) -> None:
        contents = value.contents
        self.block = how.block(len(contents), 0, contents)
        self.block.protect()
        shape = value.type.shape or ()
        strides = [math.prod(max(length, 1) for length in shape[axis + 1 :]) for axis in range(len(shape))]
        self._shape = (c.c_int64 * max(len(shape), 1))(*shape)
        self._strides = (c.c_int64 * max(len(shape), 1))(*strides)
        self.tensor = interface.Tensor(
            struct_size=c.sizeof(interface.Tensor),
            dtype=interface.NUMBER_OF_DTYPE[value.type.dtype],
            axes=len(shape),
            device_type=1,
            data=self.block.address if contents else None,
            shape=self._shape,
            strides=self._strides,
            bytes=len(contents),
        )
        if value.array is None:
            ends = [0, *itertools.accumulate(map(len, value.strings))]
            self._offsets = (c.c_int64 * len(ends))(*ends)
            self.tensor.offsets = self._offsets


def _check_memory(call: Call, inputs: Sequence[_Input]) -> None:
    for number, each in enumerate(inputs):
        fault = each.block.fault(f"input {number}")
        if fault is not None:
            raise BrokenRule(f"apply() {fault}", "inputs are read-only: write to outputs alone")
    for number, block in call.blocks.items():
        fault = block.fault(f"output {number}")
        if fault is not None:
            raise BrokenRule(f"{call.callback}() {fault}", "write as many bytes as allocate() was asked for")


def _results(call: Call) -> tuple[Made, ...]:
    missing = [number for number in range(len(call.types)) if number not in call.made]
    if missing:
        raise BrokenRule(
            f"{call.callback}() gives no output {missing[0]} and no error", "give each output, or an error"
        )
    results = []
    for number in range(len(call.types)):
        made = call.made[number]
        block = call.blocks.get(number)
        if block is not None:
            contents = block.read()
            if made.type.dtype == "bool":
                contents = (np.frombuffer(contents, np.uint8) != 0).tobytes()
            made = Made(made.type, contents)
        results.append(made)
    if call.operator.by_batch:
        _check_rows(call, results)
    return tuple(results)


def _check_rows(call: Call, results: Sequence[Made]) -> None:
    rows = (call.values[0].type.shape or (0,))[0]
    for number, made in enumerate(results):
        if (made.type.shape or (-1,))[0] != rows:
            came = f"apply() gives {made.type} as output {number} of a batch of {rows} rows"
            raise BrokenRule(came, "give as many rows as there are")


def _pointers(kind: Any, structures: Sequence[Any]) -> Any:
    # The array keeps what it points to.
    return (c.POINTER(kind) * max(len(structures), 1))(*(c.pointer(each) for each in structures))


def _type_of(column: ColumnType) -> interface.Type:
    made = interface.Type(struct_size=c.sizeof(interface.Type), axes=-1)
    made.dtype = interface.NUMBER_OF_DTYPE.get(column.dtype, 0)
    if column.shape is not None:
        made.axes = len(column.shape)
        made.shape[: len(column.shape)] = column.shape
    return made


def _column_of(made: interface.Type) -> ColumnType:
    if not 0 <= made.dtype <= 15 or not -1 <= made.axes <= interface.MOST_AXES or made.reserved:
        came = f"infer() gives dtype {made.dtype}, {made.axes} axes, reserved {made.reserved}"
        raise BrokenRule(came, "give a headrace_dtype, and -1 to 32 axes")
    shape = None if made.axes < 0 else tuple(made.shape[: made.axes])
    if shape is not None and any(length < -1 for length in shape):
        raise BrokenRule(f"infer() gives the shape {shape}", "give lengths of -1 (not known) or more")
    return ColumnType(interface.DTYPES.get(made.dtype, ""), shape)
