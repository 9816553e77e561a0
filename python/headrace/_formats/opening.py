"""`found_at` finds the format of what is at a path, and `open_source` gives the source that reads it."""

from __future__ import annotations

import collections
import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace._arguments import options as check
from headrace._arguments.doubts import warn_once
from headrace._arguments.source_location import users_location
from headrace._arguments.storage import storage_table, within
from headrace._datasets.dataset import Dataset
from headrace._files.places import check_readable, exists, is_far, is_folder, matching_files
from headrace._files.system_error import saying
from headrace._formats.entries.pictures import IMAGES
from headrace._formats.first_bytes import FirstBytes, escaped, first_bytes
from headrace._formats.folder_contents import FolderContents, folder_contents
from headrace._formats.format import Format, Place
from headrace._formats.named_folders import folder_named
from headrace._formats.table import FORMATS
from headrace._writing.part_paths import MANIFEST
from headrace.errors import GraphError, NotFoundError, UnsupportedError

__all__ = ["Found", "found_at", "open_source"]

_OF = "open"
# Of files with one ending: the others have the format of these.
_LOOKED_AT = 16
_SHOWN = 5
_WEB = ("http://", "https://")
_OBJECTS = "write an object a line (JSON lines), or an array of objects"
_DIGITS = re.compile("[0-9]+")


@dataclass
class Found:
    """What is at a path."""

    format: Format
    place: Place

    def proposed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options of the source: those given, and those that fit its first rows."""
        return {**self.format.proposed(self.place, given), **given}

    def left_out(self, given: Mapping[str, Any]) -> list[str]:
        """A sentence for each column that is not among those proposed."""
        return [
            f"{check.shown(name)} is left out: {reason}"
            for name, reason in self.format.left_out(self.place, given).items()
        ]

    def opened(self, given: Mapping[str, Any]) -> Dataset:
        return self.format.read(self.place.paths, **self.proposed(given))

    def call(self, options: Mapping[str, Any]) -> str:
        """What one writes to open it."""
        more = "".join(f", {name}={value!r}" for name, value in options.items())
        return f"{self.format.call}({check.shown(self.place.paths)}{more})"


def open_source(path: Any, options: Mapping[str, Any]) -> Dataset:
    """As `headrace.open`, which describes it."""
    given = dict(options)
    storage = given.pop("storage", None)
    with within(None if storage is None else storage_table(storage, _OF)):
        made = _opened(path, given)
    return made if storage is None else made.options(storage=storage)


def _opened(path: Any, options: Mapping[str, Any]) -> Dataset:
    found = found_at(path)
    for sentence in found.left_out(options):
        warn_once(
            f"open: {found.place.files[0]}: {sentence}; write {found.call(found.proposed(options))}", users_location()
        )
    return found.opened(options)


def found_at(path: Any, of: str = _OF) -> Found:
    """NotFoundError: there is nothing; UnsupportedError: no source reads it, or files of several formats."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        if not isinstance(path, Sequence) or not path:
            raise GraphError(f"{of}: path is {check.shown(path)}; give a path, or a list of paths")
        return _of_files([check.file_path("path", each, of) for each in path], of)
    local = check.file_path("path", path, of)
    if is_folder(local):
        return _of_folder(folder_contents(local), of)
    if not _is_pattern(local):
        return _of_files([local], of)
    matched = _matched(local)
    if not matched:
        raise NotFoundError(f"{of}: nothing matches {local}")
    found = _of_files(_data_files(matched), of)
    return (
        Found(found.format, Place(local, found.place.files, found.place.first))
        if found.format.takes_patterns
        else found
    )


def _is_pattern(path: str) -> bool:
    # Of URLs of the web, "?" begins what is asked for.
    return glob.has_magic(path) and not path.startswith(_WEB) and not exists(path)


def _matched(pattern: str) -> list[str]:
    if is_far(pattern):
        return matching_files(pattern)
    return [each for each in sorted(glob.glob(pattern, recursive=True), key=os.fsencode) if os.path.isfile(each)]


# ---- files ----


def _of_files(files: list[str], of: str) -> Found:
    """Of one format, each of which exists."""
    for path in files:
        if not (exists(path) if is_far(path) else os.path.exists(path)):
            with saying(of):
                check_readable(path)
            braces = "; write hr.WebDataset, whose paths have braces" if "{" in path and path.endswith(".tar") else ""
            raise NotFoundError(f"{of}: there is no {path}{braces}")
    firsts = [first_bytes(path) for path in _samples(files)]
    known = [_known(first) for first in firsts]
    if any(each is not known[0] for each in known):
        raise _mixture(
            [
                (first.path, _described(first)[0] if each is None else each.name)
                for first, each in zip(firsts, known, strict=True)
            ],
            of,
        )
    formats = [_format_of(first, of) for first in firsts]
    found = formats[0]
    if found is IMAGES:
        raise _refused(firsts[0].path, of, firsts[0].kind or ("an image", ""))
    if len(files) > 1 and not found.takes_several:
        raise UnsupportedError(
            f"{of}: {len(files):,} files are {found.name}, and {found.call} reads one: open {files[0]}, and so on, and join "
            "the rows by concat"
        )
    return Found(found, Place(_named(files, found), files, firsts[0]))


def _samples(files: list[str]) -> list[str]:
    """The first files of each ending, and the last."""
    by_ending = collections.defaultdict(list)
    for path in files:
        # As of train.tfrecord-00000-of-01024.
        by_ending[_DIGITS.sub("0", _ending(path))].append(path)
    return [
        path
        for each in by_ending.values()
        for path in (each if len(each) <= _LOOKED_AT else [*each[: _LOOKED_AT - 1], each[-1]])
    ]


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _named(files: list[str], found: Format) -> Any:
    paths = [escaped(path) for path in files] if found.takes_patterns else files
    return paths[0] if len(paths) == 1 else paths


def _format_of(first: FirstBytes, of: str) -> Format:
    found = _known(first)
    if found is None:
        raise _refused(first.path, of, _described(first))
    if first.compression is not None and first.compression not in found.compressions:
        raise _refused(
            first.path,
            of,
            (f"{found.name} compressed by {first.compression}", f"decompress it first: {first.decompress}"),
        )
    return found


def _known(first: FirstBytes) -> Format | None:
    kind = None if first.kind is None else first.kind[0]
    for each in FORMATS:
        if kind is not None and kind in each.kinds and (each.recognises is None or each.recognises(first)):
            return each
    is_text = kind is None and first.text is not None
    named = next((each for each in FORMATS if kind is None and first.name.endswith(each.endings)), None)
    if named is not None and (first.size == 0 or (named.is_text and is_text)):
        # Names of texts come before what their first lines look like.
        return named
    for each in FORMATS:
        if not each.kinds and each.recognises is not None and (is_text or not each.is_text) and each.recognises(first):
            return each
    # Damage may hide what it is.
    return None if named is None or named.is_text else named


def _described(first: FirstBytes) -> tuple[str, str]:
    """What it is, and what to do, where no source reads it."""
    if first.size == 0:
        return "empty", "name it by the ending of its format, or leave it out"
    if first.kind is not None:
        kind, advice = first.kind
        return (f"{kind} compressed by {first.compression}" if first.compression else kind), advice
    if first.begins_as_json:
        if '"annotations"' in (first.text or ""):
            return "annotations of COCO", "write headrace.datasets.Coco(images, annotations)"
        return "JSON over several lines", _OBJECTS
    if first.is_json and first.text is not None:
        return "JSON without objects in an array or in lines", _OBJECTS
    compressed = f"compressed by {first.compression}, and what it holds " if first.compression else ""
    return f"{compressed}of no format that is known", "write the source that reads it, such as hr.Files for its bytes"


def _refused(path: str, of: str, described: tuple[str, str]) -> UnsupportedError:
    what, advice = described
    return UnsupportedError(f"{of}: {path} is {what}: {advice}")


def _mixture(found: list[tuple[str, str]], of: str) -> UnsupportedError:
    examples = {name: path for path, name in reversed(found)}
    listed = ", ".join(f"{name} ({path})" for name, path in sorted(examples.items()))
    return UnsupportedError(
        f"{of}: the files are of several formats: {listed}; open those of each by a pattern or a list"
    )


# ---- folders ----


def _of_folder(folder: FolderContents, of: str) -> Found:
    named = folder_named(folder)
    if named is not None:
        raise _refused(folder.path, of, named)
    for each in FORMATS:
        if each.is_folder is not None and each.is_folder(folder):
            return Found(each, Place(folder.path, [folder.path], None))
    files = [os.path.join(folder.path, name) for name in folder.data_files]
    if not files:
        raise _without_files(folder, of)
    if len(folder.pictures) == len(files):
        return _of_images(folder)
    return _of_files(_data_files(files), of)


def _data_files(files: list[str]) -> list[str]:
    """Without manifests of sets, and without the indices and lists that lie beside files of a format that is among them."""
    files = [path for path in files if not path.endswith(MANIFEST)] or files
    endings = {_ending(path) for path in files}
    formats = [each for each in FORMATS if endings & set(each.endings)]
    if not formats:
        # Endings do not say it, as of train.tfrecord-00000 and train.mindrecord0.
        formats = [each for each in FORMATS if any(end in os.path.basename(files[0]).lower() for end in each.endings)]
    beside = tuple(ending for each in formats for ending in each.beside)
    return [path for path in files if not path.lower().endswith(beside)] or files if beside else files


def _of_images(folder: FolderContents) -> Found:
    endings = sorted({os.path.splitext(name)[1] for name in folder.pictures})
    patterns = [os.path.join(escaped(folder.path), f"*{ending}") for ending in endings]
    files = [os.path.join(folder.path, name) for name in folder.pictures]
    return Found(IMAGES, Place(patterns[0] if len(patterns) == 1 else patterns, files, None))


def _without_files(folder: FolderContents, of: str) -> UnsupportedError | NotFoundError:
    if not folder.folders:
        return NotFoundError(f"{of}: the folder {folder.path} is empty")
    listed = ", ".join(folder.folders[:_SHOWN]) + (", …" if len(folder.folders) > _SHOWN else "")
    return UnsupportedError(
        f"{of}: {folder.path} holds the folders {listed}, which together are no data set that is known: open one of them"
    )
