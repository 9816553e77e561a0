"""The functions that a host offers to operators, and the rules that an operator may break by calling them.

Functions return a headrace_result. A call holds what it was given and what it asked for; each thread has its own."""

import ctypes as c
import dataclasses
import itertools
import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from headrace._operators.conformance import interface
from headrace._operators.conformance.declared_operator import DeclaredOperator
from headrace._operators.conformance.hosted_file import HostedFile
from headrace._operators.conformance.memory import Block
from headrace._operators.conformance.values import ColumnType, Types, Value, is_text, numpy_dtype

# The most bytes that an operator gets for its outputs, unless a check says otherwise.
MOST_OUTPUT = 1 << 28
# Who may ask for what; for everything else apply() alone may.
_MAKES_OUTPUTS = ("apply", "read", "next")
_READS_A_FILE = ("find", "open", "next")
_ASKED_BY = {
    "allocate": _MAKES_OUTPUTS,
    "give_strings": _MAKES_OUTPUTS,
    "add_column": ("columns",),
    "begin_row": ("next",),
    "file_size": _READS_A_FILE,
    "read_file": _READS_A_FILE,
}


class BrokenRule(Exception):
    """A rule of the interface that an operator broke: what came, and what to do."""

    def __init__(self, came: str, advice: str) -> None:
        super().__init__(came)
        self.came = came
        self.advice = advice


@dataclasses.dataclass(frozen=True)
class Failure:
    """An error that a callback returned."""

    kind: str
    text: str
    # The host refused something.
    of_host: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclasses.dataclass(frozen=True)
class Made:
    """An output, for comparison."""

    type: ColumnType
    contents: bytes
    strings: tuple[bytes, ...] = ()


Result = Failure | tuple[Made, ...]
Columns = tuple[tuple[str, ColumnType], ...]


@dataclasses.dataclass
class How:
    """How an operator is called."""

    key: int = 0
    block: Callable[..., Block] = Block
    fill: int = 0xA5
    fillers: Sequence[int] = ()
    # The function of the host that fails, after so many calls of it.
    failing: str = ""
    spared: int = 0
    most_output: int = MOST_OUTPUT
    # Those that find_note() gives, by their keys, and those that the row left; None: it has not asked.
    notes: dict[bytes, bytes] = dataclasses.field(default_factory=dict)
    left_notes: dict[bytes, bytes] | None = None
    # Host functions take up to so many seconds, so that calls on several threads overlap.
    delays: float = 0.0

    def fails(self, name: str) -> bool:
        if name != self.failing:
            return False
        self.spared -= 1
        return self.spared < 0


class Call:
    """One call of one callback: what it may ask for, what it gave and what it did wrong."""

    def __init__(
        self, callback: str, operator: DeclaredOperator[Any], values: Sequence[Value] = (), how: How | None = None
    ) -> None:
        self.callback = callback
        self.operator = operator
        self.values = values
        self.how = how or How()
        self.types: Types = ()
        # What says these types.
        self.typed_by = "infer()"
        # What columns() adds, the file of find(), open() and next(), and the place that next() gives.
        self.columns: list[tuple[str, ColumnType]] = []
        self.file: HostedFile | None = None
        self.place: tuple[int, int] | None = None
        self.made: dict[int, Made] = {}
        self.blocks: dict[int, Block] = {}
        self.failure: Failure | None = None
        self.broken: BrokenRule | None = None
        self.draws = 0
        self.refused_by_host = False
        self._generator: random.Random | None = None

    def generator(self) -> random.Random:
        if self._generator is None:
            self._generator = random.Random(self.how.key)
        self.draws += 1
        return self._generator

    def breaks(self, came: str, advice: str) -> int:
        if self.broken is None:
            self.broken = BrokenRule(f"{self.callback}() {came}", advice)
        return interface.FUNCTION_ERROR


def asked(call: Call, name: str, behaviour: Callable[..., int], given: tuple[Any, ...]) -> int:
    """What the function `name` of the host gives, if this call may ask for it."""
    if name in ("fail", "stopped"):
        return behaviour(call, *given)
    callers = _ASKED_BY.get(name, ("apply",))
    if call.callback not in callers:
        listed = " and ".join(f"{caller}()" for caller in callers)
        return call.breaks(f"calls {name}(), which is for {listed} alone", f"call it in {listed}")
    if call.callback == "next" and name in ("allocate", "give_strings") and call.place is None:
        return call.breaks(f"calls {name}() before begin_row()", "say first, by begin_row(), that there is a row")
    if call.how.delays:
        time.sleep(random.random() * call.how.delays)
    if call.how.fails(name):
        return refuse(call, f"{name}() fails for a test")
    return behaviour(call, *given)


def refuse(call: Call, text: str, result: int = interface.RESOURCE_ERROR) -> int:
    """An error of the host's own, which the call fails with."""
    call.refused_by_host = True
    call.failure = Failure(interface.RESULTS[result], text, of_host=True)
    return result


class Functions:
    """What the host's functions do."""

    @staticmethod
    def fail(call: Call, result: int, text: bytes | None) -> int:
        if not 0 < result < len(interface.RESULTS) or not text:
            return call.breaks(f"calls fail() with {result} and {text!r}", "give an error and a text")
        if not call.refused_by_host:
            call.failure = Failure(interface.RESULTS[result], text.decode(errors="backslashreplace"))
        return result

    @staticmethod
    def stopped(call: Call) -> int:
        return 0

    @staticmethod
    def allocate(call: Call, output: int, dtype: int, axes: int, shape: Any, data: Any) -> int:
        made = _given_type(call, output, dtype, axes, shape)
        if made is None:
            return interface.FUNCTION_ERROR
        if is_text(made.dtype):
            return call.breaks(f"allocates {made}", "give bytes and strings by give_strings()")
        size = math.prod(made.shape or ()) * numpy_dtype(made.dtype).itemsize
        if size > call.how.most_output:
            return refuse(call, f"an output of {size:,} bytes is beyond {call.how.most_output:,}")
        block = call.how.block(size, call.how.fill)
        call.blocks[output] = block
        call.made[output] = Made(made, b"")
        data[0] = block.address
        return interface.OK

    @staticmethod
    def give_strings(
        call: Call, output: int, dtype: int, axes: int, shape: Any, values: int | None, size: int, offsets: Any
    ) -> int:
        made = _given_type(call, output, dtype, axes, shape)
        if made is None:
            return interface.FUNCTION_ERROR
        if not is_text(made.dtype):
            return call.breaks(f"gives {made} by give_strings()", "allocate() is for numbers")
        ends = offsets[: math.prod(made.shape or ()) + 1]
        if any(a > b for a, b in itertools.pairwise(ends)) or ends[0] < 0 or ends[-1] > size:
            return call.breaks(f"gives strings from {ends[0]} to {ends[-1]} of {size} bytes", "let offsets ascend")
        letters = c.string_at(values, size) if size and values else b""
        strings = tuple(letters[a:b] for a, b in itertools.pairwise(ends))
        if made.dtype == "string" and not all(map(_is_utf8, strings)):
            return call.breaks("gives a string that is not UTF-8", "check it and fail, or declare the dtype as bytes")
        call.made[output] = Made(made, b"", strings)
        return interface.OK

    @staticmethod
    def give_input(call: Call, output: int, number: int) -> int:
        if number >= len(call.values):
            return call.breaks(f"gives input {number} of {len(call.values)}", "count inputs from 0")
        value = call.values[number]
        shape = (c.c_int64 * interface.MOST_AXES)(*(value.type.shape or ()))
        dtype = interface.NUMBER_OF_DTYPE[value.type.dtype]
        made = _given_type(call, output, dtype, len(value.type.shape or ()), shape)
        if made is None:
            return interface.FUNCTION_ERROR
        call.made[output] = Made(made, b"" if value.array is None else value.contents, value.strings)
        return interface.OK

    @staticmethod
    def random_bits(call: Call, numbers: Any, count: int) -> int:
        return _draw(call, numbers, count, lambda generator: generator.getrandbits(32))

    @staticmethod
    def random_uniform(call: Call, numbers: Any, count: int) -> int:
        return _draw(call, numbers, count, random.Random.random)

    @staticmethod
    def random_below(call: Call, bound: int, numbers: Any, count: int) -> int:
        if bound == 0:
            return call.breaks("asks for numbers below 0", "give a bound of 1 or more")
        return _draw(call, numbers, count, lambda generator: generator.randrange(bound))

    @staticmethod
    def random_normal(call: Call, numbers: Any, count: int) -> int:
        return _draw(call, numbers, count, lambda generator: generator.gauss(0, 1))

    @staticmethod
    def identity(call: Call, identity: Any) -> int:
        if not call.operator.random:
            return _undeclared(call)
        call.draws += 1
        given = interface.Identity(c.sizeof(interface.Identity), 0, 7, call.how.key)
        written = min(identity[0].struct_size, c.sizeof(given))
        given.struct_size = written
        c.memmove(c.addressof(identity[0]), c.addressof(given), written)
        return interface.OK

    @staticmethod
    def fillers(call: Call, marks: Any, count: Any) -> int:
        if not call.operator.by_batch:
            return call.breaks("asks for fillers() and does not declare HEADRACE_BY_BATCH", "declare it")
        count[0] = len(call.how.fillers)
        if call.how.fillers:
            block = Block(len(call.how.fillers), 0, bytes(call.how.fillers))
            call.blocks[-1] = block
            marks[0] = block.address
        else:
            marks[0] = None
        return interface.OK

    @staticmethod
    def find_note(call: Call, key: bytes | None, data: Any, size: Any) -> int:
        if key is None:
            return call.breaks("gives find_note() no key", "name the note by a text")
        call.how.left_notes = call.how.left_notes or {}
        note = call.how.notes.get(key, b"")
        block = Block(len(note), 0, note) if note else None
        call.blocks[-2] = block or call.blocks.get(-2) or Block(0, 0)
        data[0], size[0] = (block.address, len(note)) if block else (None, 0)
        return interface.OK

    @staticmethod
    def leave_note(call: Call, key: bytes | None, data: int | None, size: int, wrong: int) -> int:
        if key is None or (not data and size > 0) or wrong not in (0, 1):
            return call.breaks(f"leaves a note without a key or its bytes, or with wrong = {wrong}", "give all of them")
        left = call.how.left_notes or {}
        # Of no bytes none is left.
        call.how.left_notes = {**left, key: c.string_at(data, size)} if data and size > 0 else left
        return interface.OK

    @staticmethod
    def count_note(call: Call) -> int:
        return interface.OK

    @staticmethod
    def add_column(call: Call, name: bytes | None, dtype: int, axes: int, shape: Any) -> int:
        if not name or not _is_utf8(name):
            return call.breaks(f"names a column {name!r}", "give a name in UTF-8")
        column = name.decode()
        if any(column == other for other, _ in call.columns):
            return call.breaks(f"adds the column {column} twice", "give each column a name of its own")
        if dtype not in (0, *interface.DTYPES) or not -1 <= axes <= interface.MOST_AXES or (axes > 0 and not shape):
            came = f"adds the column {column} of dtype {dtype} and {axes} axes"
            return call.breaks(came, "give a headrace_dtype, -1 to 32 axes, and their shape")
        lengths = None if axes < 0 else tuple(shape[:axes]) if axes else ()
        if lengths is not None and any(length < -1 for length in lengths):
            return call.breaks(f"adds the column {column} of shape {lengths}", "give lengths of -1 (not known) or more")
        call.columns.append((column, ColumnType(interface.DTYPES.get(dtype, ""), lengths)))
        return interface.OK

    @staticmethod
    def begin_row(call: Call, begin: int, end: int) -> int:
        if call.place is not None:
            return call.breaks("calls begin_row() twice for one row", "give one row a call")
        call.place = (begin, end)
        return interface.OK

    @staticmethod
    def file_size(call: Call, file: int | None, size: Any) -> int:
        given = _file_of(call, "file_size", file)
        if given is None:
            return interface.FUNCTION_ERROR
        size[0] = given.size
        return interface.OK

    @staticmethod
    def read_file(call: Call, file: int | None, offset: int, size: int, target: int | None) -> int:
        given = _file_of(call, "read_file", file)
        if given is None:
            return interface.FUNCTION_ERROR
        if offset < 0 or (size > 0 and not target):
            return call.breaks(
                f"reads {size} bytes from byte {offset} to {target}", "give a byte of the file and a place"
            )
        contents = given.read(offset, size)
        if contents is None:
            text = f"the file ends before byte {offset + size}"
            return refuse(call, text, interface.DATA_ERROR)
        if contents and target:
            c.memmove(target, contents, size)
        return interface.OK


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _file_of(call: Call, name: str, file: int | None) -> HostedFile | None:
    """None: it is not the one that the callback was given."""
    if call.file is None or file != call.file.number:
        call.breaks(f"calls {name}() for a file that it was not given", "use the file of the call, and keep none")
        return None
    return call.file


def _undeclared(call: Call) -> int:
    return call.breaks("asks for random numbers and does not declare HEADRACE_RANDOM", "declare it")


def _draw(call: Call, numbers: Any, count: int, draw: Callable[[random.Random], float]) -> int:
    if not call.operator.random:
        return _undeclared(call)
    generator = call.generator()
    for at in range(count):
        numbers[at] = draw(generator)
    return interface.OK


def _given_type(call: Call, output: int, dtype: int, axes: int, shape: Any) -> ColumnType | None:
    """The type of an output that is given; None: it must not be."""
    if output >= len(call.types) or output in call.made:
        how = "twice" if output in call.made else f"and declares {len(call.types)}"
        call.breaks(f"gives output {output} {how}", "give each output once, counted from 0")
        return None
    if dtype not in interface.DTYPES or not 0 <= axes <= interface.MOST_AXES:
        call.breaks(f"gives output {output} of dtype {dtype} and {axes} axes", "give a headrace_dtype and 0 to 32 axes")
        return None
    made = ColumnType(interface.DTYPES[dtype], tuple(shape[:axes]) if axes else ())
    if not call.types[output].takes(made):
        came = f"gives {made} for output {output}, and {call.typed_by} says {call.types[output]}"
        call.breaks(came, f"make {call.typed_by} and {call.callback}() agree")
        return None
    return made
