"""Writes the records of a file to files of their own, with a list from which they can be packed again."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from headrace._files.places import is_far
from headrace._files.system_error import saying
from headrace._files.whole_file import write_whole
from headrace._records.encoded_header import file_ending
from headrace._records.image_payload import ImagePayload, image_payload
from headrace._writing.target_folder import make_empty_folder
from headrace.errors import DataError
from headrace.pack.progress import Progress
from headrace.pack.record_scan import LostBytes, RecordScan, ScannedRecord

__all__ = ["Unpacked", "unpack_records"]

LIST_NAME = "list.lst"


@dataclass
class Unpacked:
    files: int
    listing: str | None
    """The list; None for raw records."""
    empty: int
    """Image records without an image, which get no file."""
    lost: list[LostBytes]


class _FreeNames:
    """Gives a name that comes again a number. Each of many equal ones goes on from the number of the one before."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        """The number that a name gets when it comes again. Every name given is a key."""

    def free(self, name: str) -> str:
        if name not in self._next:
            self._next[name] = 2
            return name
        stem, ending = os.path.splitext(name)
        while True:
            numbered = f"{stem}-{self._next[name]}{ending}"
            self._next[name] += 1
            if numbered not in self._next:
                self._next[numbered] = 2
                return numbered


def unpack_records(path: str, folder: str, raw: bool = False) -> Unpacked:
    """Writes each image to `folder`/LABEL/ID.jpg, with the ending of its format, and a list `folder`/list.lst; with `raw` each record to
    `folder`/NUMBER.bin.

    The folder must not be there, or be empty. The list is written last, so it stands for a complete folder.
    """
    make_empty_folder(folder)
    scan = RecordScan(path)
    files = empty = 0
    lines: list[str] = []
    names = _FreeNames()
    made: set[str] = {folder}
    with Progress(f"{os.path.basename(path)}, bytes", scan.file_bytes) as progress:
        for offset, name, content, line in _files(scan, path, raw):
            progress.at(offset)
            if not content and not raw:
                empty += 1
                continue
            free = names.free(name)
            _write(os.path.join(folder, free), content, made)
            if line is not None:
                lines.append(f"{line}\t{free}\n")
            files += 1
    listing = None if raw else os.path.join(folder, LIST_NAME)
    if listing is not None:
        write_whole(listing, "".join(lines).encode(), named=False)
    return Unpacked(files, listing, empty, scan.lost)


def _files(scan: RecordScan, path: str, raw: bool) -> Iterator[tuple[int, str, memoryview, str | None]]:
    """Offset of the record, name, content, and the line of the list in front of the name."""
    for number, record in enumerate(scan):
        if raw:
            yield record.offset, f"{number:08}.bin", record.payload, None
            continue
        image = _image(path, record)
        labels = "\t".join(f"{label:.9g}" for label in image.labels)
        name = f"{image.labels[0]:.9g}/{image.key}{file_ending(image.encoded)}"
        yield record.offset, name, image.encoded, f"{image.key}\t{labels}"


def _image(path: str, record: ScannedRecord) -> ImagePayload:
    image = image_payload(record.payload)
    if image is None:
        raise DataError(f"{path}: the record at byte {record.offset:,} is no image record; --raw unpacks any")
    return image


def _write(path: str, content: bytes | memoryview, made: set[str]) -> None:
    """To a new file. `made`: the folders that are there; any other is new, too, as it might be a link."""
    folder = os.path.dirname(path)
    if folder not in made and not is_far(folder):
        with saying(f"cannot write {path}"):
            os.mkdir(folder)
        made.add(folder)
    # The disk is waited for with the list alone.
    write_whole(path, content, named=False, durable=False)
