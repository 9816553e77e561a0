"""`ErrorPolicy` says what is done with rows that fail; the datasets of a pipeline share it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from headrace._arguments import options
from headrace.errors import GraphError

MAX_ERRORS = 100


class ErrorPolicy(NamedTuple):
    skips: bool
    max_errors: int = MAX_ERRORS
    log: str | None = None
    """The file that gets a line for each row left out."""

    def __str__(self) -> str:
        if not self.skips:
            return 'on_error("raise")'
        log = "" if self.log is None else f", log={self.log!r}"
        return f'on_error("skip", max_errors={self.max_errors}{log})'


def given(policy: Any, max_errors: Any, log: Any) -> ErrorPolicy:
    options.choice("policy", policy, ("raise", "skip"), "on_error")
    if policy == "raise":
        if max_errors != MAX_ERRORS or log is not None:
            raise GraphError('on_error: max_errors and log are for "skip"; "raise" ends the iteration at the first row')
        return ErrorPolicy(False)
    most = options.whole("max_errors", max_errors, of="on_error")
    return ErrorPolicy(True, most, None if log is None else options.own_path("log", log, "on_error"))


def joined(op: str, policies: "Iterable[ErrorPolicy | None]") -> ErrorPolicy | None:
    """That of the datasets that an operator joins; None if none of them has one."""
    found: ErrorPolicy | None = None
    for policy in policies:
        if policy is None or policy == found:
            continue
        if found is not None:
            raise GraphError(
                f"{op}: one dataset has {found}, another {policy}; give them the same, or set it afterwards"
            )
        found = policy
    return found
