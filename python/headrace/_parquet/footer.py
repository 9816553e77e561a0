"""`Footer`: what is known of a Parquet file before it is read in a pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headrace import _engine
from headrace._files.places import is_far
from headrace._files.system_error import saying
from headrace._parquet.pyarrow import check_pyarrow, pyarrow
from headrace._parquet.row_groups import OpenedFile
from headrace._runs.foreign_files import kind_of
from headrace.errors import DataError, ResourceError

__all__ = ["Footer"]


class Footer:
    """Its errors name the file."""

    def __init__(self, path: str, of: str) -> None:
        check_pyarrow(of)
        self._of = of
        self.path = path
        with self._naming():
            given = os.fsencode(path)
            if is_far(given):
                self._file = OpenedFile(given, _engine.open_file(given))
            else:
                self._file = OpenedFile(_engine.local_path(given))

    def empty_reader(self) -> Any:
        """A RecordBatchReader of the schema without rows."""
        return self._file.schema.empty_table().to_reader()

    def dictionary(self, column: str) -> list[str]:
        """The values of the first dictionary of a column of texts; none: the file has no rows."""
        with self._naming():
            top, *inner = _fields(self._file.schema, column)
            for group, rows in enumerate(self._file.group_rows):
                if rows > 0:
                    array = self._file.read(group, [top]).read_next_batch().column(0)
                    for name in inner:
                        array = array.field(name)
                    while not isinstance(array, pyarrow().DictionaryArray):
                        # A list, of as many axes as it has.
                        array = array.values
                    names: list[str] = array.dictionary.to_pylist()
                    return names
        return []

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Turns what pyarrow raises into an error that names the file."""
        with saying(f"{self._of}: cannot read {self.path}"):
            try:
                yield
            except MemoryError:
                raise ResourceError("pyarrow has no memory for it") from None
            except ValueError as error:
                raise self._damaged(error) from None
            except OSError as error:
                if error.errno is not None:
                    raise
                raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> DataError:
        # pyarrow does not know the file's name.
        text = str(error).split("\n")[0].rpartition("'<Buffer>': ")[2]
        if "encrypt" in text:
            return DataError(f"it is encrypted, and is read without keys; write it without encryption: {text}")
        kind = kind_of(self.path)
        if kind is not None and kind[0] != "Parquet":
            return DataError(f"it is {kind[0]}, by its first bytes: {kind[1]}")
        return DataError(f"pyarrow cannot decode it: {text}")


def _fields(schema: Any, column: str) -> list[str]:
    """From the column of the file to the field of a struct. Their own names may have dots."""
    names: list[str] = []
    within = schema
    while True:
        if column in (field.name for field in within):
            return [*names, column]
        outer = next(field for field in within if column.startswith(f"{field.name}."))
        names.append(outer.name)
        column = column.removeprefix(f"{outer.name}.")
        within = outer.type
