"""A source of a plugin that was opened: its rows, by number. Several threads may read them at once."""

import ctypes as c
from collections.abc import Mapping
from typing import Any

from headrace._operators.conformance import interface
from headrace._operators.conformance.declared_operator import DeclaredSource, listed, values_of
from headrace._operators.conformance.host_functions import BrokenRule, Call, Columns, Failure, How, Result
from headrace._operators.conformance.plugin_host import PluginHost

_MOST_ROWS = (1 << 63) - 1


class OpenedSource:
    """What open() made; `destroy` ends it. Without rows if open() failed."""

    def __init__(self, host: PluginHost, source: DeclaredSource, given: Mapping[str, Any], columns: Columns) -> None:
        self._host = host
        self._source = source
        self._given = listed(given)
        self._types = tuple(column for _, column in columns)
        self._state = c.c_void_p()
        # Kept as long as the state, which may point to them.
        self._values = values_of(source, given)
        rows = interface.Rows(struct_size=c.sizeof(interface.Rows))
        host.note("open()", f"the attributes {self._given}")
        call = Call("open", source)
        state = c.byref(self._state)
        self.failure: Failure | None = host.run(
            call, lambda at: source.raw.open(at, self._values, state, c.byref(rows))
        )
        if self.failure is not None:
            self._state = c.c_void_p()
            rows = interface.Rows()
        elif rows.reserved or rows.count > _MOST_ROWS:
            came = f"open() gives {rows.count:,} rows, and sets the reserved field to {rows.reserved}"
            raise BrokenRule(came, "set count, to 0 to 2^63 - 1, and fingerprint alone")
        self.count = int(rows.count)
        self.fingerprint = int(rows.fingerprint)

    def read(self, row: int, how: How | None = None) -> Result:
        self._host.note("read()", f"row {row:,} of {self.count:,}")
        call = Call("read", self._source, how=how)
        call.types, call.typed_by = self._types, "columns()"
        return self._host.outputs(call, lambda at: self._source.raw.read(at, self._state, row))

    def destroy(self) -> None:
        if self._state.value is not None and self._source.raw.destroy:
            self._host.note("destroy()", f"the attributes {self._given}")
            self._source.raw.destroy(self._state)
        self._state = c.c_void_p()
