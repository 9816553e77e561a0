"""LMDB: a folder with a data.mdb, or the file alone."""

import os

from headrace import sources
from headrace._formats.first_bytes import FirstBytes
from headrace._formats.folder_contents import FolderContents
from headrace._formats.format import Format, Place

__all__ = ["LMDB"]

_DATA = "data.mdb"
_MAGIC = b"\xde\xc0\xef\xbe"


def _has_meta_page(first: FirstBytes) -> bool:
    return first.head[16:20] in (_MAGIC, _MAGIC[::-1])


def _is_environment(folder: FolderContents) -> bool:
    return folder.has(_DATA)


def _data_file(place: Place) -> list[str]:
    return [os.path.join(place.files[0], _DATA)] if place.first is None else place.files


LMDB = Format(
    "LMDB",
    "hr.Lmdb",
    lambda paths, **options: sources.Lmdb(paths, **options),
    recognises=_has_meta_page,
    is_folder=_is_environment,
    takes_patterns=False,
    takes_several=False,
    files_of=_data_file,
)
