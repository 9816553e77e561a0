"""What can go wrong. Every error of Headrace is an `Error`; one class a kind, raised by the engine or by this package."""

__all__ = [
    "ClosedError",
    "DataError",
    "Error",
    "FunctionError",
    "GraphError",
    "InternalError",
    "NotFoundError",
    "ResourceError",
    "StateError",
    "UnsupportedError",
]


class Error(Exception):
    """An error of Headrace's. The message says all that is known; the attributes say it one by one.

    Attributes:
        operator: Which operator it happened in, such as `map[1] Resize`; None where not known.
        location: The line of the user's script where that operator was written, such as `train.py:12`.
        row: Which row, such as `epoch 0, key 17`.
        file: Which file, with the place in it where there is one.
    """

    operator: str | None = None
    location: str | None = None
    row: str | None = None
    file: str | None = None


class GraphError(Error, ValueError):
    """The pipeline as written cannot run: a wrong attribute, column, dtype or shape."""


class DataError(Error, ValueError):
    """A row's bytes are not what they should be: a truncated picture, a file of another kind."""


class NotFoundError(Error, FileNotFoundError):
    """A file or folder is missing, or may not be read."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class FunctionError(Error):
    """A Python function of the user's raised; `__cause__` is what it raised, with its own traceback."""


class StateError(Error):
    """A state cannot be taken, or does not fit the pipeline that should go on from it."""


class ResourceError(Error, MemoryError):
    """The memory budget, or a limit of the machine, does not allow it."""


class UnsupportedError(Error):
    """Not possible here, or not with these options."""


class ClosedError(Error):
    """An iterator was used after `close()`."""


class InternalError(Error):
    """A fault of Headrace's own. Please report it, with the pipeline's `explain()`."""


for _name in __all__:
    globals()[_name].__module__ = "headrace"  # where users find them
