"""Writes the rows of any dataset as a set of MindRecord files: `Dataset.write_mindrecord`."""

import contextlib
import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments import options
from headrace._mindrecord.row_bytes import RowEncoder, of_dataset
from headrace._mindrecord.row_spool import RowSpool, open_spool, spool_files
from headrace._mindrecord.schema import Schema, index_fields
from headrace._mindrecord.set_assembly import (
    SetAssembly,
    Sizes,
    Target,
    TargetFile,
    check_header_size,
    check_page_size,
    remove_others,
)
from headrace._mindrecord.set_draft import encoded_row
from headrace._mindrecord.set_files import MOST_FILES, check_name, set_paths
from headrace._writing.encoding import Encoding, Part, Stream
from headrace._writing.set_writer import WriteSet, WrittenSet, write_set

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["WrittenSet", "write_mindrecord"]

_OF = "write_mindrecord"


def write_mindrecord(
    dataset: "Dataset",
    path: str | os.PathLike[str],
    files: Any,
    index: Sequence[str] | None,
    header_size: Any,
    page_size: Any,
    resume: Any,
    given: dict[str, Any],
    write: WriteSet = write_set,
) -> WrittenSet:
    """As Dataset.write_mindrecord, which describes it; `given` are options of the run; `write` writes the set."""
    name = check_name(options.local_path("path", path, _OF), _OF)
    paths = set_paths(name, options.whole("files", files, 1, _OF, MOST_FILES))
    sizes = Sizes(
        None if header_size is None else check_header_size(options.whole("header_size", header_size, of=_OF), _OF),
        None if page_size is None else check_page_size(options.whole("page_size", page_size, of=_OF), _OF),
    )
    resume = options.flag("resume", resume, _OF)
    schema = Schema.of_columns(dataset.schema, _OF)
    indexed = index_fields(schema, None if index is None else options.texts("index", index, _OF), _OF)
    target = Target(schema, indexed, [os.path.basename(each) for each in paths])
    return write(dataset, name, _MindEncoding(target, sizes), given, files=len(paths), paths=paths, resume=resume)


class _MindEncoding(Encoding):
    """A part is a spool of rows: the pages of all files have one size, which follows from the longest row."""

    of = _OF

    def __init__(self, target: Target, sizes: Sizes) -> None:
        self._target = target
        self._sizes = sizes

    @property
    def identity(self) -> Any:
        return [self._target.schema.as_dict, list(self._target.index), self._sizes.header, self._sizes.page]

    def files(self, path: str) -> list[str]:
        return spool_files(path)

    def begin(self, path: str) -> Part:
        return _MindPart(path, self._target.schema, self._sizes.page)

    def assemble(self, paths: Sequence[str], rows: Sequence[int]) -> list[tuple[str, int]]:
        with contextlib.ExitStack() as opened:
            spooled = [opened.enter_context(contextlib.closing(open_spool(path))) for path in paths]
            self._target.saved = sum(each.saved for each in spooled)
            assembly = SetAssembly(self._target, self._sizes, _OF)
            ends = [0, *itertools.accumulate(rows)]
            files = [TargetFile(path, number, ends[number], ends[number + 1]) for number, path in enumerate(paths)]
            assembly.make(files, [each.scalars for each in spooled], [each.blobs for each in spooled])
        remove_others(paths)
        return assembly.in_order()


class _MindPart(Part):
    def __init__(self, path: str, schema: Schema, page_size: int | None) -> None:
        self._encoder = RowEncoder(schema, of_dataset)
        self._page_size = page_size
        self._spool = RowSpool(path)

    @property
    def streams(self) -> Sequence[Stream]:
        return self._spool.streams

    def append(self, row: dict[str, Any], number: int) -> None:
        where = f"{_OF}: row {number}"
        self._spool.append(*encoded_row(self._encoder, row, where, self._page_size, "give a larger page_size"))

    def finish(self) -> None:
        self._spool.finish(self._encoder.saved)
