"""`name_foreign_file` says in an error what kind of file it is about, where the first bytes show that it is another kind
than the operator reads."""

import re
import struct
from typing import BinaryIO

from headrace._files.opened_file import open_to_read, opened_size
from headrace.errors import DataError, Error, GraphError

__all__ = ["kind_of", "kind_of_head", "name_foreign_file"]

_UNPACK = "unpack it first"
_DECOMPRESS = "decompress it first (texts may be compressed by gzip or zstd)"
# What a file begins with, what it is then, and what to do.
_SIGNATURES: list[tuple[bytes, str, str]] = [
    (b"\x1f\x8b", "gzip", f"{_DECOMPRESS}: gunzip"),
    (b"\x28\xb5\x2f\xfd", "zstd", f"{_DECOMPRESS}: unzstd"),
    (b"BZh", "bzip2", f"{_DECOMPRESS}: bunzip2"),
    (b"\xfd7zXZ\x00", "xz", f"{_DECOMPRESS}: unxz"),
    (b"\x04\x22\x4d\x18", "lz4", f"{_DECOMPRESS}: unlz4"),
    (b"7z\xbc\xaf\x27\x1c", "7z", _UNPACK),
    (
        b"PK\x03\x04",
        "zip",
        f"read it with hr.Npz if it is an .npz file, or {_UNPACK}: unzip (spreadsheets are such files, too)",
    ),
    (b"PAR1", "Parquet", "write hr.Parquet(path)"),
    (b"ARROW1", "Arrow", "read it with pyarrow, and give the table to hr.Arrow"),
    (b"ORC", "ORC", "read it with pyarrow, and give the table to hr.Arrow"),
    (b"\x89HDF\r\n\x1a\n", "HDF5", "read it with h5py, and give the arrays to hr.Numpy"),
    (b"\x93NUMPY", "NumPy .npy", "read it with hr.Npy"),
    (b"SQLite format 3\x00", "SQLite", "write hr.Generator over a query"),
    (b"%PDF", "PDF", "give files of the kind that is read"),
    (b"\x0a\x23\xd7\xce", "RecordIO", "read it with hr.RecordFile or hr.ImageRecord"),
    (b"\xff\xd8\xff", "JPEG", "list images with hr.ImageFolder, hr.Files or hr.Manifest"),
    (b"\x89PNG\r\n\x1a\n", "PNG", "list images with hr.ImageFolder, hr.Files or hr.Manifest"),
    (b"\xff\xfe", "UTF-16 text", "convert it to UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "convert it to UTF-8"),
    (b"<!DOCTYPE html", "HTML", "it may be the page of an error, saved in place of a download"),
    (b"<html", "HTML", "it may be the page of an error, saved in place of a download"),
    (b"version https://git-lfs", "Git LFS pointer", "fetch the file that it stands for: git lfs pull"),
]
# Of these kinds, those that operators read. Decode names foreign bytes itself, wherever they come from.
_COMPRESSED = {"gzip", "zstd"}
_READ: dict[str, set[str]] = {
    "Csv": _COMPRESSED,
    "Text": _COMPRESSED,
    "JsonLines": _COMPRESSED,
    "LibSvm": _COMPRESSED,
    "ImageList": set(),
    "RecordFile": {"RecordIO"},
    "ImageRecord": {"RecordIO"},
    "TFRecord": {"TFRecord"} | _COMPRESSED,
    "WebDataset": {"bzip2", "tar", "xz"} | _COMPRESSED,
    "MindRecord": {"MindRecord", "SQLite"},
    "Npy": {"NumPy .npy"},
    "Npz": {"zip"},
    "Lmdb": {"LMDB"},
    "Parquet": {"Parquet"},
}
_LMDB_MAGIC = b"\xde\xc0\xef\xbe"  # after the number of the first page and its flags
_PLACE = re.compile(r", (byte|record|line) [0-9]+$")
_OPERATOR = re.compile(r"^\w+")


def name_foreign_file(error: BaseException, made: str | None = None) -> None:
    """Adds it to the error's first line. `made`: the source that was being made, before any run."""
    if not isinstance(error, (DataError, GraphError)) or error._file is None:
        return
    found = _OPERATOR.match(error.operator or made or "")  # of "Csv[0]"
    operator = "" if found is None else found[0]
    if operator not in _READ:
        return
    path = _PLACE.sub("", error._file)
    # A far store may be what failed, and its settings are those of the run.
    kind = None if "://" in path else kind_of(path)
    if kind is None or kind[0] in _READ[operator]:
        return
    first, end, rest = str(error.args[0]).partition("\n")
    error._reword(f"the file is {kind[0]}, by its first bytes: {kind[1]} ({first}){end}{rest}")


def kind_of(path: str) -> tuple[str, str] | None:
    """What a file is, and what to do with it; None: not known."""
    try:
        with open_to_read(path) as file:
            head = file.read(265)
            size = opened_size(file)
            # First: what follows its header may look like a record without bytes.
            if _is_mind_record(head, size):
                return "MindRecord", "read it with hr.MindRecord"
            if _is_tfrecord(head, size, file):
                return "TFRecord", "read it with hr.TFRecord"
            if _is_mds(head, file):
                return "MDS", "give hr.Mds the folder that it is in"
    except (Error, OSError, ValueError):
        return None
    return kind_of_head(head)


def kind_of_head(head: bytes) -> tuple[str, str] | None:
    """As `kind_of`, by the first 265 bytes alone: of what is in a compressed file, too."""
    if head[16:20] == _LMDB_MAGIC:
        return "LMDB", "read it with hr.Lmdb"
    lower = head.lower()
    for begin, kind, advice in _SIGNATURES:
        if head.startswith(begin) or (kind == "HTML" and lower.lstrip().startswith(begin.lower())):
            return kind, advice
    return ("tar", f"read it with hr.WebDataset, or {_UNPACK}: tar xf") if head[257:262] == b"ustar" else None


def _is_mind_record(head: bytes, size: int) -> bool:
    """Whether a length and a JSON object of that length come first, as far as the first bytes show."""
    if len(head) < 9 or head[8:9] != b"{":
        return False
    length: int = struct.unpack("<Q", head[:8])[0]
    return 0 < length <= min(size - 8, 128 << 20)


def _is_mds(head: bytes, file: BinaryIO) -> bool:
    """Whether it is a shard: the columns come after a number of samples and so many offsets and one."""
    if len(head) < 8:
        return False
    samples: int = struct.unpack("<I", head[:4])[0]
    return _bytes_at(file, 4 * (samples + 2), 9) == b'{"column_'


def _bytes_at(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def _is_tfrecord(head: bytes, size: int, file: BinaryIO) -> bool:
    """Whether a length, its checksum, so many bytes and theirs end where the file does, or another record begins."""
    at = 0
    for _ in range(2):
        begin = head[:12] if at == 0 else _bytes_at(file, at, 12)
        if len(begin) < 12:
            return False
        (length,) = struct.unpack("<Q", begin[:8])
        at += 16 + length
        if at > size:
            return False
        if at == size:
            return True
    return True
