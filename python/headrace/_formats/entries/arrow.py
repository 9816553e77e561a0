"""Arrow's files and streams (Feather), by pyarrow, mapped to memory."""

from typing import Any

from headrace import sources
from headrace._arguments.import_folder import import_late
from headrace._datasets.dataset import Dataset
from headrace._files.system_error import saying
from headrace._formats.first_bytes import FirstBytes
from headrace._formats.format import Format
from headrace.errors import DataError, GraphError, UnsupportedError

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
        raise DataError(f"{path}: pyarrow cannot read it, as it is cut off or damaged: {error}") from None


def _read(paths: Any, **options: Any) -> Dataset:
    listed = [paths] if isinstance(paths, str) else paths
    tables = [_table(path) for path in listed]
    for path, table in zip(listed[1:], tables[1:], strict=True):
        if not table.schema.equals(tables[0].schema):
            raise GraphError(
                f"open: {path} has another schema than {listed[0]} ({_listed(table)}; {_listed(tables[0])}); open each "
                "alone, and join them by concat"
            )
    table = tables[0] if len(tables) == 1 else import_late("pyarrow").concat_tables(tables)
    return sources.Arrow(table, **options)


def _listed(table: Any) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in table.schema)


ARROW = Format(
    "Arrow",
    # Not hr.Arrow, which takes tables and no paths.
    "hr.open",
    _read,
    recognises=_is_stream,
    endings=(".arrow", ".feather"),
    takes_patterns=False,
)
