"""Reads splits of a file by a plugin's format, as the engine does. One thread at a time uses a reader."""

import ctypes as c
import dataclasses
from collections.abc import Iterator

from headrace._operators.conformance.declared_operator import DeclaredFormat
from headrace._operators.conformance.host_functions import BrokenRule, Call, Columns, Failure, How, Result
from headrace._operators.conformance.hosted_file import HostedFile
from headrace._operators.conformance.plugin_host import PluginHost, State


@dataclasses.dataclass(frozen=True)
class FileRow:
    """The bytes of the file that it takes, and what it is, which may be an error of its own."""

    begin: int
    end: int
    made: Result


@dataclasses.dataclass(frozen=True)
class Reading:
    """The rows of a split, and the error that ended it."""

    rows: tuple[FileRow, ...]
    failure: Failure | None = None


class SplitReader:
    """The rows that begin in bytes `begin` to `end` of the file, which `close` ends."""

    def __init__(
        self,
        host: PluginHost,
        state: State[DeclaredFormat],
        columns: Columns,
        file: HostedFile,
        begin: int = 0,
        end: int | None = None,
        how: How | None = None,
    ) -> None:
        self.failure: Failure | None = None
        self._host = host
        self._state = state
        self._format = state.operator.raw
        self._types = tuple(column for _, column in columns)
        self._file = file
        self._how = how
        self._reader: c.c_void_p | None = None
        self._end = file.size if end is None else min(end, file.size)
        self._at = begin
        self._open()

    def _open(self) -> None:
        if self._at >= self._end:
            return
        if self._format.find:
            found = find(self._host, self._state, self._file, self._at, self._how)
            if isinstance(found, Failure):
                self.failure = found
                return
            self._at = found
        elif self._at > 0:
            return
        else:
            self._end = self._file.size
        if self._at >= self._end:
            return
        reader = c.c_void_p()
        call = self._call("open")
        self._host.note("open()", f"bytes {self._at:,} to {self._end:,} of a file of {self._file.size:,}")
        self.failure = self._host.run(
            call,
            lambda at: self._format.open(
                at, self._state.state, self._file.number, self._at, self._end, c.byref(reader)
            ),
        )
        self._reader = reader if self.failure is None else None

    def next(self) -> FileRow | None:
        """None: there is no other, or an error ended the reading."""
        if self._reader is None or self.failure is not None:
            return None
        call = self._call("next")
        call.types, call.typed_by = self._types, "columns()"
        where = f"the row from byte {self._at:,} on, of a file of {self._file.size:,}"
        self._host.note("next()", where)
        made = self._host.outputs(call, lambda at: self._format.next(at, self._reader, self._file.number))
        if call.place is None:
            self.failure = made if isinstance(made, Failure) else None
            self.close()
            return None
        begin, end = call.place
        self._check_place(begin, end)
        self._at = end
        return FileRow(begin, end, made)

    def _check_place(self, begin: int, end: int) -> None:
        came = f"next() gives a row of bytes {begin:,} to {end:,}"
        if begin < self._at:
            advice = "begin a row at the end of the row before it, or after"
            raise BrokenRule(f"{came}, and the rows before end at {self._at:,}", advice)
        if begin >= self._end:
            advice = "remember the `end` given to open(), and give no row that begins there or after"
            raise BrokenRule(f"{came}, and its split ends at {self._end:,}", advice)
        if not begin < end <= self._file.size:
            raise BrokenRule(f"{came} of a file of {self._file.size:,}", "give at least one byte, of the file")

    def rows(self) -> Iterator[FileRow]:
        row = self.next()
        while row is not None:
            yield row
            row = self.next()

    def close(self) -> None:
        if self._reader is not None and self._format.close:
            self._host.note("close()", f"a file of {self._file.size:,} bytes")
            self._format.close(self._reader)
        self._reader = None

    def _call(self, callback: str) -> Call:
        call = Call(callback, self._state.operator, how=self._how)
        call.file = self._file
        return call


def find(
    host: PluginHost, state: State[DeclaredFormat], file: HostedFile, byte: int, how: How | None = None
) -> int | Failure:
    """Where the first row begins at the byte or after it."""
    begin = c.c_int64(-1)
    call = Call("find", state.operator, how=how)
    call.file = file
    host.note("find()", f"byte {byte:,} of a file of {file.size:,}")
    failure = host.run(call, lambda at: state.operator.raw.find(at, state.state, file.number, byte, c.byref(begin)))
    if failure is not None:
        return failure
    if not byte <= begin.value <= file.size:
        came = f"find() gives byte {begin.value:,} for byte {byte:,} of a file of {file.size:,}"
        raise BrokenRule(came, "give the byte at which the first row begins, or the file's size")
    return begin.value
