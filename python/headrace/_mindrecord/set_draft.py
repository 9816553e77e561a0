"""`SetDraft`: a set of MindRecord files while a user gives its rows. Nothing of it has a name before `commit`."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _engine
from headrace._files.opened_file import open_to_read
from headrace._files.system_error import saying
from headrace._mindrecord.page_layout import MOST_PAGE
from headrace._mindrecord.row_bytes import RowEncoder, Take
from headrace._mindrecord.row_spool import RowParts, RowSpool, open_spool
from headrace._mindrecord.schema import Schema
from headrace._mindrecord.set_assembly import SetAssembly, Sizes, Target, TargetFile, remove_others
from headrace._mindrecord.set_files import read_header, set_paths
from headrace._writing.encoding import MADE
from headrace.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SetDraft", "encoded_row"]

_Row = tuple[list[Any], list[Any]]


def encoded_row(encoder: RowEncoder, row: Mapping[str, Any], where: str, page_size: int | None, advice: str) -> _Row:
    """The pieces of a row's scalars and of its blob. DataError, which begins with `where`: a value does not fit, or all
    of them do not fit a page."""
    scalars, blob = encoder.encode(row, where)
    most = page_size or MOST_PAGE
    for pieces, what in ((scalars, "numbers and texts"), (blob, "arrays and bytes")):
        if (size := sum(map(len, pieces))) > most:
            raise DataError(
                f"{where}: its {what} take {size:,} bytes, and a page has {most:,}"
                + ("" if most == MOST_PAGE else f": {advice}")
            )
    return scalars, blob


class SetDraft:
    """Used by one thread. UnsupportedError: another process writes the set.

    Args:
        path: The name of the set, without numbers of files.
        files: How many files it has. Rows go to them in order, as many to each.
        schema: Of the rows.
        index: The scalars that the indices hold.
        take: As RowEncoder's.
        sizes: Of headers and pages.
        of: What errors begin with.
    """

    def __init__(
        self, path: str, files: int, schema: Schema, index: Sequence[str], take: Take, sizes: Sizes, of: str
    ) -> None:
        paths = set_paths(path, files)
        self._advice = "set a larger page_size before rows are written"
        self._begin(paths, Target(schema, index, [os.path.basename(each) for each in paths]), take, sizes, of)

    def _begin(self, paths: list[str], target: Target, take: Take, sizes: Sizes, of: str) -> None:
        self._paths = paths
        self._target = target
        self._of = of
        self._sizes = sizes
        self._saved = target.saved
        self._finished = False
        # The rows that the file has, and its number: where others are appended.
        self._before: tuple[RowParts, RowParts] | None = None
        self._number = 0
        self._encoder = RowEncoder(target.schema, take, packs=target.version != "2.0")
        self._assembly = SetAssembly(target, sizes, of)
        with saying(f"{of}: cannot write {paths[0]}"):
            self._spool = RowSpool(paths[0])

    @classmethod
    def appending(cls, path: str, take: Take, of: str) -> "Self":
        """To the set that the file is of: rows go to the end of its last file, which is written anew."""
        last = _engine.mind_record_fields([os.fsencode(path)], True)[0][-1]
        header = read_header(last)
        target = Target(
            Schema.of_header(header),
            [each["index_field"] for each in header["index_fields"] or []],
            header["shard_addresses"],
            header["version"],
            header.get("compression_size", 0),
        )
        draft = cls.__new__(cls)
        draft._advice = "write the set anew, with larger pages"
        draft._begin([last], target, take, Sizes(header["header_size"], header["page_size"]), of)
        try:
            draft._number = header["shard_id"]
            draft._before = _rows_of(last)
        except BaseException:
            draft.discard()
            raise
        return draft

    @property
    def schema(self) -> Schema:
        return self._target.schema

    @property
    def rows(self) -> int:
        """Those that were appended."""
        return self._spool.rows

    def encode(self, row: Mapping[str, Any], where: str) -> _Row:
        """For `append`. DataError as `encoded_row`."""
        return encoded_row(self._encoder, row, where, self._sizes.page, self._advice)

    def append(self, row: _Row) -> None:
        with saying(f"{self._of}: cannot write {self._paths[0]}"):
            self._spool.append(*row)

    def commit(self) -> None:
        """Gives the files their names. A kill in the middle leaves the old set, or one of which files are missing. After
        an error it may be called again."""
        if not self._assembly.made:
            self._assemble()
        with saying(f"{self._of}: cannot write {self._paths[0]}"):
            if self._before is None:
                remove_others(self._paths)
            _engine.commit_set([(os.fsencode(path), size) for path, size in self._assembly.in_order()], MADE)
        self._assembly.made = []
        self.discard()

    def discard(self) -> None:
        """Leaves nothing behind. Does nothing after `commit`."""
        self._spool.discard()
        if self._before is not None:
            self._before[0].file.close()
            self._before = None
        self._assembly.drop()

    def _assemble(self) -> None:
        with saying(f"{self._of}: cannot write {self._paths[0]}"):
            if not self._finished:
                self._spool.finish(self._encoder.saved)
                self._finished = True
            self._spool.flush()
        self._target.saved = self._saved + self._encoder.saved
        spooled = open_spool(self._paths[0])
        with contextlib.closing(spooled):
            scalars, blobs = [spooled.scalars], [spooled.blobs]
            if self._before is not None:
                scalars.insert(0, self._before[0])
                blobs.insert(0, self._before[1])
            self._assembly.make(self._files(sum(len(part.begins) for part in scalars)), scalars, blobs)

    def _files(self, rows: int) -> list[TargetFile]:
        if self._before is not None:
            return [TargetFile(self._paths[0], self._number, 0, rows)]
        count = len(self._paths)
        return [
            TargetFile(path, number, number * rows // count, (number + 1) * rows // count)
            for number, path in enumerate(self._paths)
        ]


def _rows_of(path: str) -> tuple[RowParts, RowParts]:
    """Of a file that is good. DataError otherwise."""
    spans = [np.frombuffer(each, np.int64) for each in _engine.mind_record_spans(os.fsencode(path))]
    with saying(f"cannot read {path}"):
        file = open_to_read(path)
    return RowParts(file, spans[0], spans[1]), RowParts(file, spans[2], spans[3])
