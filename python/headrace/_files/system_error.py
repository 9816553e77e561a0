"""Converts an OSError about a file to an error of Headrace, of the kinds in io/files/system_error.cc."""

import contextlib
import errno
from collections.abc import Iterator

from headrace.errors import DataError, Error, NotFoundError, ResourceError, UnsupportedError

__all__ = ["saying", "system_error"]

_KINDS: dict[type[Error], tuple[int, ...]] = {
    NotFoundError: (
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EEXIST,
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ELOOP,
        errno.ENAMETOOLONG,
    ),
    ResourceError: (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    UnsupportedError: (errno.ENXIO,),
}


def system_error(what: str, raised: OSError) -> Error:
    """The system's message is appended to `what`: "cannot save to a.hrg". An error of the engine's about a far file, which
    may be an OSError too, stays what it is."""
    if isinstance(raised, Error):
        return type(raised)(f"{what}: {raised}")
    kind = next((kind for kind, numbers in _KINDS.items() if raised.errno in numbers), DataError)
    return kind(f"{what}: {raised.strerror or raised}")


@contextlib.contextmanager
def saying(what: str) -> Iterator[None]:
    """Errors of the engine and of the system within it begin with `what`: "cannot save to a.hrg"."""
    try:
        yield
    except Error as error:
        raise type(error)(f"{what}: {error}") from error
    except OSError as error:
        raise system_error(what, error) from error
