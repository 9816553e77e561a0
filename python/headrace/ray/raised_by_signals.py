"""`raised_by_signals` gives what a signal's handler raised within a call of Ray, such as KeyboardInterrupt or
TimeoutError, which Ray may give as the cause of a SystemError."""

import contextlib
from collections.abc import Iterator

__all__ = ["raised_by_signals"]


@contextlib.contextmanager
def raised_by_signals() -> Iterator[None]:
    try:
        yield
    except SystemError as error:
        cause = error.__cause__
        # An ordinary error that it only follows may be the caller's.
        if cause is None and not isinstance(error.__context__, Exception):
            cause = error.__context__
        if cause is None or type(cause).__module__.partition(".")[0] == "ray":
            raise
        raise cause from None
