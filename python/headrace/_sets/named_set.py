"""`NamedSet` is the base class of the sets of `headrace.datasets`: a table that is made of a publisher's files when the
set is named, and made again where a saved graph over it is loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from headrace import _engine
from headrace._arguments.doubts import warn_once
from headrace._arguments.options import file_path
from headrace._datasets.dataset import Dataset
from headrace._datasets.fields.array_columns import array_columns
from headrace._datasets.fields.ragged_column import bound_columns
from headrace._files.places import joined
from headrace._graph.reference import Binding
from headrace._graph.set_calls import SetCall
from headrace._sets.entry_columns import with_entries
from headrace._sets.line_source import LineSource
from headrace._sets.picture_names import paths_below
from headrace._sets.picture_rows import rows_in_memory
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import LeftOut, SetTable
from headrace.errors import ResourceError
from headrace.transforms import ReadFile

__all__ = ["SETS", "NamedSet"]

# By the names of their classes, which graphs have.
SETS: dict[str, type[NamedSet]] = {}


class NamedSet(Dataset):
    """A data set as its publisher gives it.

    Attributes:
        left_out: What the set's files name and no row gives: file, entry and reason of each.
        doubts: Of a set with boxes, how many reach beyond their picture ("boxes_outside") or have no width or height
            ("boxes_empty"), and the first of each, as "box 2 of 0007.jpg", or "" ("first_outside" and "first_empty").
            They are given as they are. Where the files do not say how large pictures are, only boxes that begin left
            of or above them are known to reach beyond.
    """

    publisher: ClassVar[str] = ""
    """Where the files come from."""
    # Reads the set's files: a static method of each set, which takes a SetFolder and the arguments of `_open`.
    _table: ClassVar[Callable[..., SetTable | LineSource]]

    left_out: list[LeftOut]
    doubts: dict[str, int | str]
    # Of the source itself, which operators may stand on.
    _set_node: _engine.Node
    _set_binding: Binding
    # None of a set of lines, whose graph is that of a source of files.
    _set_call: SetCall | None

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if cls.__name__ in SETS and SETS[cls.__name__].__module__ != cls.__module__:
            raise TypeError(f"there is a data set {cls.__name__} already; give the class another name")
        SETS[cls.__name__] = cls

    def _open(
        self,
        root: str | os.PathLike[str] | None,
        arguments: dict[str, Any],
        shuffle: bool,
        seed: int | None,
        name: str | None,
    ) -> None:
        """Makes this the source of the rows of a set. `root`: None of a set without files. `arguments`: those of `_table`,
        values of JSON."""
        of = type(self).__name__
        place = "" if root is None else file_path("root", root, of)
        folder = SetFolder(of, place, self.publisher)
        try:
            table = self._table(folder, **arguments)
            columns = {} if isinstance(table, LineSource) else _rows_in_memory(table.columns)
        except MemoryError:
            raise ResourceError(f"{of}: no memory for what the set holds") from None
        if isinstance(table, LineSource):
            self._open_lines(table, shuffle, seed, name)
            return
        base = joined(place, table.folder)
        # As whole paths: where a graph goes to other folders, its table is made again, and no operator.
        whole = {name: paths_below(base, table.columns[name]) for name in table.further_pictures}
        arrays, types = array_columns(columns | whole, of)
        bound = bound_columns(arrays)
        self._set_call = call = SetCall(of, place, arguments, folder.fingerprint(), table.classes)
        self._set_binding = bound.binding
        attributes: dict[str, Any] = {"arrays": bound, "set_call": call.text()}
        if table.entries is None:
            attributes |= {"shuffle": shuffle, "seed": seed, "name": name}
        if table.pictures is None:
            self._begin("Numpy", attributes | {"columns": _engine.Columns(types)})
        else:
            named = {"path_column": table.pictures, "output": table.pictures}
            self._begin("Manifest", attributes | named | {"types": _engine.Columns(types), "root": base})
        self._set_node = self._node
        for column in table.further_pictures:
            self._become(self._copy().map(ReadFile(), column))
        if table.entries is not None:
            self._become(with_entries(self._copy(), *table.entries, shuffle, seed, name))
        self.left_out = table.left_out
        self.doubts = dict(table.doubts)
        if self.left_out:
            self._say_left_out(of)
        self.left_out = [*self.left_out, *table.asked_out]

    def _open_lines(self, lines: LineSource, shuffle: bool, seed: int | None, name: str | None) -> None:
        self._become(lines.opened(shuffle, seed, name))
        self._set_call = None
        self.left_out = []
        self.doubts = {}

    def _say_left_out(self, of: str) -> None:
        first = self.left_out[0]
        count = len(self.left_out)
        rest = f", and {count - 1:,} more" if count > 1 else ""
        warn_once(
            f"{of}: left out {first.entry} of {first.file}: {first.reason}{rest}; the attribute left_out of the set lists "
            "them",
            self._location,
        )


def _rows_in_memory(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Each row in one piece: files may have planes or columns first, in which rows are read slowly, as is the checksum of
    an array that each iterator makes."""
    return {
        name: rows_in_memory(column) if isinstance(column, np.ndarray) and column.ndim > 1 else column
        for name, column in columns.items()
    }
