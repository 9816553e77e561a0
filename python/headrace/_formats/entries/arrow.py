"""Arrow's files and streams (Feather), by pyarrow, mapped to memory."""

from typing import Any

from headrace import sources
from headrace._arguments.import_folder import import_late
from headrace._datasets.dataset import Dataset
from headrace._files.system_error import saying
from headrace._formats.first_bytes import FirstBytes
from headrace._formats.format import Format
from headrace.errors import DataError, UnsupportedError

__all__ = ["ARROW"]

_STREAM = b"\xff\xff\xff\xff"


def _is_stream(first: FirstBytes) -> bool:
    return first.head.startswith((b"ARROW1", _STREAM))


def _table(path: str) -> Any:
    try:
        pyarrow = import_late("pyarrow")
    except ImportError:
        raise UnsupportedError(
            f"{path}: Arrow files are read with pyarrow, which is not installed here: pip install pyarrow"
        ) from None
    with saying(f"cannot read {path}"):
        mapped = pyarrow.memory_map(path)
    try:
        if mapped.read(6) == b"ARROW1":
            return pyarrow.ipc.open_file(mapped).read_all()
        mapped.seek(0)
        return pyarrow.ipc.open_stream(mapped).read_all()
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise DataError(f"{path}: {error}") from None


def _read(paths: Any, **options: Any) -> Dataset:
    listed = [paths] if isinstance(paths, str) else paths
    tables = [_table(path) for path in listed]
    table = tables[0] if len(tables) == 1 else import_late("pyarrow").concat_tables(tables)
    return sources.Arrow(table, **options)


ARROW = Format(
    "Arrow",
    "hr.Arrow",
    _read,
    recognises=_is_stream,
    endings=(".arrow", ".feather"),
    takes_patterns=False,
)
