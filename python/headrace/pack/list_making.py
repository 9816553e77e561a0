"""Lists of images, as MXNet's im2rec.py makes them: the same lines in the same order."""

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from headrace._arguments import options
from headrace._files.places import files_below_far, is_far, list_folder
from headrace._files.system_error import system_error
from headrace._files.whole_file import write_whole
from headrace.errors import DataError, GraphError, NotFoundError

__all__ = ["DEFAULT_EXTS", "MadeLists", "make_lists"]

_Identity = tuple[int, int]
"""Of a folder: device and number."""

DEFAULT_EXTS = (".jpeg", ".jpg", ".png")
SHUFFLE_SEED = 100


class MadeLists(NamedTuple):
    """What `make_lists` wrote."""

    paths: list[str]
    """The lists, in the order of their chunks."""
    pictures: int
    """In all lists together."""
    classes: dict[str, int]
    """Each folder that holds images, relative to the root, with its label; empty if not recursive."""


class _Found(NamedTuple):
    number: int
    label: int
    path: str  # relative to the root


def make_lists(
    prefix: str | os.PathLike[str],
    root: str | os.PathLike[str],
    *,
    recursive: bool = False,
    exts: Sequence[str] = DEFAULT_EXTS,
    shuffle: bool = True,
    seed: int = SHUFFLE_SEED,
    chunks: int = 1,
    train_ratio: float = 1.0,
    test_ratio: float = 0.0,
) -> MadeLists:
    """Lists the images of a folder in `.lst` files: one line each, of a number, a label and a path below the folder.

    Images are numbered in the order of their names, folder by folder, a folder's files before its folders; links are
    followed. A folder's label is its number among the folders with images, in that order. With the same arguments the
    lists are those of im2rec.py of MXNet 1.9.1.

    Each list is written whole or not at all. Raises NotFoundError if the folder cannot be read, DataError if it holds no
    image, or one whose name cannot stand in a list.

    Args:
        prefix: What the names of the lists begin with: `PREFIX.lst`; with several chunks `PREFIX_0.lst` and so on; with
            a train_ratio below 1 `PREFIX_train.lst`, `PREFIX_val.lst` and, with a test_ratio, `PREFIX_test.lst`.
        root: The folder.
        recursive: Also list the folders below it, each with a label of its own; else every label is 0.
        exts: The endings of images, in lower case; those of files may be in any.
        shuffle: Put the lines in a random order, chosen by `seed`.
        seed: Of the order; im2rec.py's is 100.
        chunks: The number of lists among which the lines are divided, in runs of equal length but for the last.
        train_ratio: The part of each chunk, 0 to 1, for training.
        test_ratio: The part of each chunk, 0 to 1, for tests; what neither takes is for validation.
    """
    prefix = options.file_path("prefix", prefix, "make_lists")
    root = options.file_path("root", root, "make_lists")
    _check_parts(chunks, train_ratio, test_ratio)
    endings = tuple(_ending(each) for each in exts)
    found = list(_number(root, recursive, endings))
    if not found:
        deeper = "" if recursive else "; look into the folders below it with recursive=True (--recursive)"
        raise DataError(f"{root} holds no image that ends in {', '.join(endings)}{deeper}")
    classes = {os.path.dirname(each.path) or ".": each.label for each in found} if recursive else {}
    if shuffle:
        random.Random(seed).shuffle(found)
    paths = []
    for name, lines in _dealt(found, chunks, train_ratio, test_ratio):
        paths.append(f"{prefix}{name}.lst")
        _write(paths[-1], lines)
    return MadeLists(paths, len(found), classes)


def _check_parts(chunks: int, train_ratio: float, test_ratio: float) -> None:
    if chunks < 1:
        raise GraphError(f"make_lists: chunks is {chunks}; it must be at least 1")
    for name, ratio in (("train_ratio", train_ratio), ("test_ratio", test_ratio)):
        if not 0 <= ratio <= 1:
            raise GraphError(f"make_lists: {name} is {ratio}; it must be from 0 to 1")
    if train_ratio + test_ratio > 1 and train_ratio < 1:
        raise GraphError(f"make_lists: train_ratio and test_ratio are {train_ratio + test_ratio} together; at most 1")


def _ending(ext: str) -> str:
    return (ext if ext.startswith(".") else f".{ext}").lower()


def _number(root: str, recursive: bool, endings: tuple[str, ...]) -> Iterator[_Found]:
    labels: dict[str, int] = {}
    for number, path in enumerate(_images(root, recursive, endings)):
        relative = path.removeprefix(os.path.join(root, "")) if is_far(root) else os.path.relpath(path, root)
        if any(mark in relative for mark in "\t\n\r"):
            raise DataError(f"{path!r} has a tab or the end of a line in its name, which no list can hold; rename it")
        if relative.strip(" \v\f") != relative:
            raise DataError(f"{path!r} has a space at an end of its name, which no list can hold; rename it")
        label = labels.setdefault(os.path.dirname(path), len(labels)) if recursive else 0
        yield _Found(number, label, relative)


def _images(root: str, recursive: bool, endings: tuple[str, ...]) -> Iterator[str]:
    """The order of a walk with sorted names: a folder's files, then its folders one after the other."""
    if is_far(root):
        yield from _far_images(root, recursive, endings)
        return
    open_folders: list[tuple[str, tuple[_Identity, ...]]] = [(root, ())]
    links = _FollowedLinks()
    while open_folders:
        folder, above = open_folders.pop()
        entries = _entries(folder)
        for entry in entries:
            if os.path.splitext(entry.name)[1].lower() in endings and entry.is_file():
                yield entry.path
        if recursive:
            # A link to a folder that holds it would lead round for ever.
            status = os.stat(folder)
            below = (*above, (status.st_dev, status.st_ino))
            links.listed(folder, below[-1], len(entries))
            folders = [entry.path for entry in entries if entry.is_dir() and not _is_among(entry, below)]
            open_folders += [(each, below) for each in reversed(folders)]


def _far_images(root: str, recursive: bool, endings: tuple[str, ...]) -> Iterator[str]:
    if recursive:
        names = files_below_far(root)
        # At each level files come before folders.
        names.sort(key=lambda name: [*((1, part) for part in name.split("/")[:-1]), (0, name.rpartition("/")[2])])
    else:
        names = [name for name, is_folder in list_folder(root) if not is_folder]
    yield from (os.path.join(root, name) for name in names if os.path.splitext(name)[1].lower() in endings)


class _FollowedLinks:
    """Bounds what links reach again, as io/files/followed_links.h does: links in linked folders may reach the same files
    by very many paths."""

    FREE_WAYS = 16
    MOST_AGAIN = 10_000

    def __init__(self) -> None:
        self._ways: dict[_Identity, int] = {}
        self._again = 0

    def listed(self, folder: str, identity: _Identity, entries: int) -> None:
        """A folder of the walk. NotFoundError: links reach too much again."""
        ways = self._ways[identity] = self._ways.get(identity, 0) + 1
        if ways > self.FREE_WAYS:
            self._again += entries + 1
        if self._again > self.MOST_AGAIN:
            raise NotFoundError(
                f"{folder}: symbolic links lead to this folder in more than {self.FREE_WAYS} ways, and to more than "
                f"{self.MOST_AGAIN} files and folders so often that each would be walked again and again; remove some "
                "of them"
            )


def _is_among(entry: os.DirEntry[str], above: tuple[_Identity, ...]) -> bool:
    if not entry.is_symlink():
        return False
    status = entry.stat()
    return (status.st_dev, status.st_ino) in above


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise NotFoundError(f"there is no folder {folder}") from None
        raise system_error(f"cannot list {folder}", error) from None


def _dealt(
    found: list[_Found], chunks: int, train_ratio: float, test_ratio: float
) -> Iterator[tuple[str, list[_Found]]]:
    """Names and lines of the lists, by im2rec.py's arithmetic."""
    size = (len(found) + chunks - 1) // chunks
    train, test = int(size * train_ratio), int(size * test_ratio)
    for number in range(chunks):
        lines = found[number * size : (number + 1) * size]
        name = f"_{number}" if chunks > 1 else ""
        if train_ratio == 1.0:
            yield name, lines
            continue
        if test_ratio:
            yield f"{name}_test", lines[:test]
        if train_ratio + test_ratio < 1.0:
            yield f"{name}_val", lines[test + train :]
        yield f"{name}_train", lines[test : test + train]


def _write(path: str, lines: Iterable[_Found]) -> None:
    text = "".join(f"{each.number}\t{each.label:f}\t{each.path}\n" for each in lines)
    write_whole(path, text.encode("utf-8", "surrogateescape"), f"cannot write the list {path}", named=False)
