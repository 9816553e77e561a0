"""`Encoding` and `Part`: what a format adds to the writing of datasets (headrace._writing.set_writer)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["DRAFT", "MADE", "Encoding", "Part", "Stream"]

DRAFT = ".draft"
"""The ending of the drafts' names, after the file's."""
MADE = ".made"
"""That of drafts which `Encoding.assemble` makes."""


class Stream(Protocol):
    """A file that is written, such as `_engine.OutputStream(path, DRAFT)`."""

    @property
    def size(self) -> int: ...
    def seal(self) -> None: ...
    def keep(self) -> None: ...
    def commit(self) -> None: ...
    def discard(self) -> None: ...


class Part(ABC):
    """A part of a set while it is written: one file of rows, and the files that belong to it, such as an index."""

    @property
    @abstractmethod
    def streams(self) -> Sequence[Stream]:
        """Those of the files that `Encoding.files` names, in the same order, with drafts that end in DRAFT."""

    @abstractmethod
    def append(self, row: dict[str, Any], number: int) -> None:
        """Writes a row, whose views of bytes are valid until then. `number`: of the row in all parts together.

        Raises DataError, naming the row and the column, for a value that does not fit.
        """

    @abstractmethod
    def finish(self) -> None:
        """Writes what is left after the last row."""


class Encoding(ABC):
    """How a format writes rows. Each method `Dataset.write_…` makes one."""

    of: str
    """The method, for messages."""

    @property
    def identity(self) -> Any:
        """Whatever decides the bytes besides the rows, as JSON: a run that goes on must have the same."""
        return None

    def files(self, path: str) -> list[str]:
        """The files of the part at `path`, in the order in which they get their names: the file without which the others
        are refused comes last, or first where readers find the others by it."""
        return [path]

    def assemble(self, paths: Sequence[str], rows: Sequence[int]) -> list[tuple[str, int]] | None:
        """Makes the files of the set from the drafts of its parts, for a format in which their bytes follow from all
        rows. None: the drafts are the files.

        Gives the files with their sizes, in the order in which they get their names; their drafts end in MADE, and are
        sealed and kept. It may be called again after a kill.

        Args:
            paths: Of the parts.
            rows: How many each of them has.
        """
        return None

    @abstractmethod
    def begin(self, path: str) -> Part:
        """A part without rows. Leaves nothing if it raises."""
