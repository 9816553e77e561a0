"""`FileWriter` writes MindRecord files, and appends to them."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import flag, local_path, shown, whole
from headrace._mindrecord.row_bytes import of_user
from headrace._mindrecord.schema import Schema, index_fields
from headrace._mindrecord.set_assembly import Sizes, check_header_size, check_page_size
from headrace._mindrecord.set_draft import SetDraft
from headrace._mindrecord.set_files import MOST_FILES, check_name, set_paths
from headrace.errors import ClosedError, DataError, GraphError, UnsupportedError
from headrace.mindrecord.status import SUCCESS, MSRStatus

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FileWriter"]

_OF = "FileWriter"


class FileWriter:
    """Writes rows to a set of MindRecord files of version 3.0, which MindSpore 2 reads, with their indices.

    The files get their names in `commit`, in place of older ones. Rows keep their order over the set, in however many
    calls they come. Headers and pages are as small as the rows allow, unless their sizes are set.

    Args:
        file_name: Of the set: with several files each has its number after the name.
        shard_num: How many files there are, 1 to 1000.
        overwrite: Whether files of these names may be replaced.
    """

    def __init__(self, file_name: str | os.PathLike[str], shard_num: int = 1, overwrite: bool = False) -> None:
        self._path = check_name(local_path("file_name", file_name, _OF), _OF)
        self._files = whole("shard_num", shard_num, 1, _OF, MOST_FILES)
        self._overwrites = flag("overwrite", overwrite, _OF)
        self._sizes = Sizes()
        self._schema: Schema | None = None
        self._index: list[str] | None = None
        self._draft: SetDraft | None = None
        self._committed = False
        self._appends = False

    @classmethod
    def open_for_append(cls, file_name: str | os.PathLike[str]) -> "Self":
        """A writer of rows that come after those of the set which the file is of. `commit` writes the last file of the
        set anew; the others stay as they are."""
        writer = cls(file_name)
        writer._draft = SetDraft.appending(writer._path, of_user, _OF)
        writer._schema = writer._draft.schema
        writer._appends = True
        return writer

    def add_schema(self, content: Mapping[str, Mapping[str, Any]], desc: str | None = None) -> int:
        """Says which fields rows have; to be called once, before rows are written. Returns the schema's number, 0.

        Args:
            content: From each name to its type: `{"label": {"type": "int32"}, "mask": {"type": "int64", "shape": [-1,
                4]}, "image": {"type": "bytes"}}`. Types are int32, int64, float32 and float64, perhaps with a shape,
                string, and bytes.
            desc: A description.
        """
        if self._schema is not None:
            raise GraphError(f"{_OF}: the schema is there already; a set has one")
        self._schema = Schema.of_content(content, desc, _OF)
        return 0

    def add_index(self, index_fields: Sequence[str]) -> MSRStatus:
        """Chooses the numbers and texts that the indices hold, for MindSpore's samplers and for MindPage. Without it they
        are all."""
        self._check_begun("add_index")
        if not isinstance(index_fields, (list, tuple)) or not index_fields:
            raise GraphError(f"{_OF}: index_fields is {shown(index_fields)}; give a list of names")
        self._index = _indexed(self._known_schema(), [*(self._index or ()), *index_fields])
        return SUCCESS

    def set_header_size(self, header_size: int) -> MSRStatus:
        """The bytes in front of the first page, which must hold the list of pages: 16 KiB to 128 MiB."""
        self._check_begun("set_header_size")
        self._sizes.header = check_header_size(whole("header_size", header_size, of=_OF), _OF)
        return SUCCESS

    def set_page_size(self, page_size: int) -> MSRStatus:
        """The bytes of a page, which must hold the longest row: 32 KiB to 256 MiB."""
        self._check_begun("set_page_size")
        self._sizes.page = check_page_size(whole("page_size", page_size, of=_OF), _OF)
        return SUCCESS

    def open_and_set_header(self) -> MSRStatus:
        """Does nothing: `write_raw_data` opens what it needs."""
        return SUCCESS

    def write_raw_data(self, raw_data: Sequence[Mapping[str, Any]], parallel_writer: bool = False) -> MSRStatus:
        """Appends rows, all of them or none.

        A row is a dict with a value for each field of the schema and no others: an int, a float, a str or bytes, a number
        of NumPy of the field's own dtype, or for a field with a shape an array of its dtype, which may also be flat.
        DataError, naming the row and the field: a value that does not fit, which MindSpore leaves out with its row.

        Args:
            raw_data: The rows.
            parallel_writer: Takes MindSpore's argument; rows are written in order in either case.
        """
        flag("parallel_writer", parallel_writer, _OF)
        if self._committed:
            raise ClosedError(f"{_OF}: {self._path} was committed; to write more rows, call open_for_append")
        if not isinstance(raw_data, list) or not raw_data:
            raise GraphError(f"{_OF}: raw_data is {shown(raw_data)}; give a list of rows, at least one")
        draft = self._begun()
        first = draft.rows
        parts = [
            draft.encode(_checked(row, first + i, draft.schema), _where(first + i)) for i, row in enumerate(raw_data)
        ]
        for each in parts:
            draft.append(each)
        return SUCCESS

    def commit(self) -> MSRStatus:
        """Gives the files their names, with all rows and the indices, or leaves everything as it was."""
        if self._committed:
            raise ClosedError(f"{_OF}: {self._path} was committed before")
        self._begun().commit()
        self._committed = True
        return SUCCESS

    def _known_schema(self) -> Schema:
        if self._schema is None:
            raise GraphError(f"{_OF}: there is no schema; call add_schema first")
        return self._schema

    def _check_begun(self, method: str) -> None:
        if self._appends:
            raise UnsupportedError(f"{_OF}: {method} is for new sets; rows that are appended keep what the set has")
        if self._draft is not None:
            raise GraphError(f"{_OF}: call {method} before rows are written")

    def _begun(self) -> SetDraft:
        """The draft, which is begun with the first rows."""
        if self._draft is None:
            schema = self._known_schema()
            if not self._overwrites:
                for path in set_paths(self._path, self._files):
                    if os.path.lexists(path):
                        raise GraphError(f"{_OF}: {path} exists; give overwrite=True to replace it, or another name")
            index = index_fields(schema, self._index, _OF)
            self._draft = SetDraft(self._path, self._files, schema, index, of_user, self._sizes, _OF)
        return self._draft


def _indexed(schema: Schema, names: list[Any]) -> list[str]:
    return index_fields(schema, names, _OF)


def _where(number: int) -> str:
    return f"{_OF}: row {number}"


def _checked(row: Any, number: int, schema: Schema) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise GraphError(f"{_where(number)} is {shown(row)}; give a dict from the names of fields to values")
    if len(row) > len(schema.fields) and (others := row.keys() - schema.content.keys()):
        raise DataError(
            f"{_where(number)} has {', '.join(sorted(map(shown, others)))}, which the schema has not: leave it out, or add "
            "it to the schema"
        )
    return row
