"""`Format`: one kind of files, how it is known, and how it is read and written. The entries are in headrace._formats.entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset
    from headrace._formats.first_bytes import FirstBytes
    from headrace._formats.folder_contents import FolderContents

__all__ = ["Converted", "Format", "Place", "Target"]


@dataclass(frozen=True)
class Place:
    """Files of one format, or a folder that is one data set."""

    paths: Any
    """As the source takes them: a path, a pattern, or a list."""
    files: list[str]
    """The local files in their order; of a folder that is one data set, the folder."""
    first: FirstBytes | None
    """Of the first file; None: it is a folder."""


def _nothing(_place: Place, _given: Mapping[str, Any]) -> dict[str, Any]:
    return {}


class Converted(NamedTuple):
    """What was written."""

    paths: list[str]
    """The files of rows."""
    rows: int
    bytes: int
    kept: int
    """Of the files, those that an earlier run had finished."""


@dataclass(frozen=True)
class Target:
    """How a dataset is written in a format."""

    endings: tuple[str, ...]
    """Of a path, by which the format is chosen."""
    write: Callable[..., Converted]
    """`write(dataset, path, files=…, resume=…, **options of the run)`."""
    paths: Callable[[str, int], list[str]]
    """All files that writing so many files to a path makes."""


def _none(_place: Place, _given: Mapping[str, Any]) -> dict[str, str]:
    return {}


def _named_files(place: Place) -> list[str]:
    return place.files


@dataclass(frozen=True)
class Format:
    """An entry of the table."""

    name: str
    call: str
    """What one writes, such as "hr.TFRecord"."""
    read: Callable[..., Dataset]
    """`read(paths, **options)`; `paths` is one path or a list."""
    kinds: frozenset[str] = frozenset()
    """Names of `FirstBytes.kind` by which it is known."""
    recognises: Callable[[FirstBytes], bool] | None = None
    """For bytes that have no such kind; with kinds, what must hold besides."""
    endings: tuple[str, ...] = ()
    """Of names of texts and of empty files, without that of a compression."""
    is_text: bool = False
    compressions: frozenset[str] = frozenset()
    """Through which it is read."""
    is_folder: Callable[[FolderContents], bool] | None = None
    """Whether a folder as a whole is one. Such a folder is read by its path."""
    proposed: Callable[[Place, Mapping[str, Any]], dict[str, Any]] = _nothing
    """`proposed(place, given)`: options that fit the first rows, besides those that the user gave."""
    left_out: Callable[[Place, Mapping[str, Any]], dict[str, str]] = _none
    """Columns that `proposed` leaves out, and why."""
    takes_patterns: bool = True
    """Whether its source takes patterns of names, in which letters such as `*` are escaped."""
    takes_several: bool = True
    """Whether its source takes a list of files."""
    reads_files_alone: bool = True
    """Whether each file is read by itself as well as together with others: damage of one then hides no other."""
    files_of: Callable[[Place], list[str]] = _named_files
    """The files that are read, where they are not those that the user named."""
    beside: tuple[str, ...] = ()
    """Endings of what lies beside its files, such as an index, and is none of them."""
    target: Target | None = None
