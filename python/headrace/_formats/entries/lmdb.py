"""LMDB: a folder with a data.mdb, or the file alone."""

from headrace import sources
from headrace._formats.first_bytes import FirstBytes
from headrace._formats.folder_contents import FolderContents
from headrace._formats.format import Format

__all__ = ["LMDB"]

_MAGIC = b"\xde\xc0\xef\xbe"


def _has_meta_page(first: FirstBytes) -> bool:
    return first.head[16:20] in (_MAGIC, _MAGIC[::-1])


def _is_environment(folder: FolderContents) -> bool:
    return folder.has("data.mdb")


LMDB = Format(
    "LMDB",
    "hr.Lmdb",
    lambda paths, **options: sources.Lmdb(paths, **options),
    recognises=_has_meta_page,
    is_folder=_is_environment,
    takes_patterns=False,
    takes_several=False,
)
