"""Exceptions, and the warning. Every error of Headrace is an `Error`, with one class per kind, raised by the engine or by this package."""

from typing import TYPE_CHECKING, Any

from headrace import _engine

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ClosedError",
    "DataError",
    "Error",
    "FunctionError",
    "GraphError",
    "InternalError",
    "NotFoundError",
    "PipelineWarning",
    "ResourceError",
    "StateError",
    "UnsupportedError",
]


def without_init(kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """An exception with these `args`, whatever `kind.__init__` takes."""
    made_by: Any = kind
    # Python makes an exception only by its nearest class in C: MemoryError.__new__ refuses a class that ValueError lays out.
    while made_by.__module__ != "builtins":
        made_by = made_by.__base__
    error: BaseException = made_by.__new__(kind, *args)
    error.args = args
    return error


class Error(Exception):
    """Base class of Headrace's errors. The message contains all details; the attributes give them separately.

    Both are printable: of a name that is not UTF-8, or has control characters in it, they show escapes such as `\\xe9`.

    Attributes:
        operator: The operator that failed, such as `map[1] Resize`; None if not known.
        location: The line of the user's script where that operator was written, such as `train.py:12`.
        row: The row, such as `epoch 0, key 17`.
        file: The file, with the record or offset in it if there is one.
    """

    operator: str | None = None
    location: str | None = None
    row: str | None = None
    file: str | None = None

    # The text alone, and whether it is no row's own though a row met it: a fault that may pass. Of the engine's errors.
    _message: str | None = None
    _beyond_row = False
    # Whether every row of an epoch, a pass or a batch failed under on_error("skip").
    _nothing_left = False
    # `file` as a name, to open it by.
    _file: str | None = None

    def __init__(self, *lines: object) -> None:
        """Each is a line of the message: the end of a line within one is that of a name, and shown as an escape."""
        super().__init__(*(["\n".join(_engine.printable(str(line)) for line in lines)] if lines else []))

    @classmethod
    def _remade(cls, args: tuple[Any, ...], state: dict[str, Any]) -> "Self":
        """One whose message is there already."""
        error: Any = without_init(cls, args)
        error.__dict__.update(state)
        return error  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._remade, (self.args, self.__dict__)

    def _reword(self, message: str) -> None:
        """Gives the error another message, which may have the lines of the one before. Names in it are shown already."""
        self.args = (_engine.printable(message, keep_lines=True), *self.args[1:])


class PipelineWarning(UserWarning):
    """The pipeline runs, but probably does not do what was meant. Given once for each line of the script."""


class GraphError(Error, ValueError):
    """The pipeline as written cannot run: a wrong attribute, column, dtype or shape."""


class DataError(Error, ValueError):
    """A row's bytes are not what they should be: a truncated image, a file of another kind."""


class NotFoundError(Error, FileNotFoundError):
    """A file or folder is missing, or may not be read."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class FunctionError(Error):
    """A Python function of the user raised; `__cause__` is the original exception, with its traceback."""


class StateError(Error):
    """A state cannot be taken, or does not fit the pipeline that it is given to."""


class ResourceError(Error, MemoryError):
    """The memory budget or a limit of the machine is exceeded."""


class UnsupportedError(Error):
    """The request is not possible here, or not with these options."""


class ClosedError(Error):
    """An iterator was used after `close()`."""


class InternalError(Error):
    """A bug in Headrace. Please report it, with the pipeline's `explain()`."""


for _name in __all__:
    globals()[_name].__module__ = "headrace"  # where users find them
