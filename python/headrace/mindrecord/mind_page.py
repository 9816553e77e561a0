"""`MindPage` reads the rows that have one value of an indexed field, page by page."""

import json
import os
from collections.abc import Sequence
from typing import Any

from headrace import _engine
from headrace._arguments.options import at_once, shown, whole
from headrace._mindrecord.set_files import read_header
from headrace.errors import GraphError
from headrace.mindrecord.plain_row import plain_row
from headrace.mindrecord.status import SUCCESS, MSRStatus
from headrace.sources import MindRecord

__all__ = ["MindPage"]

_OF = "MindPage"
_ROWS = 4096
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class MindPage:
    """Reads MindRecord files by the values of one of their indexed fields.

    Args:
        file_name: A file, which stands for the set that it is of, or a list of files, which are read alone.
        num_consumer: How many tasks read at once, at most.
    """

    def __init__(self, file_name: Paths, num_consumer: int = 4) -> None:
        self._workers = max(1, at_once("num_consumer", num_consumer, _OF))
        self._dataset = MindRecord(file_name)
        self._file_name = file_name
        named = [file_name] if isinstance(file_name, (str, os.PathLike)) else list(file_name)
        one = isinstance(file_name, (str, os.PathLike))
        paths, _ = _engine.mind_record_fields([os.fsencode(each) for each in named], one)
        header = read_header(paths[0])
        self._candidates: list[str] = [each["index_field"] for each in header["index_fields"] or []]
        self._field: str | None = None
        # From a value, as a text, to the numbers of its rows; in order of the texts.
        self._rows: dict[str, list[int]] = {}

    @property
    def candidate_fields(self) -> list[str]:
        """The fields that the index has."""
        return list(self._candidates)

    def get_category_fields(self) -> list[str]:
        """As candidate_fields."""
        return self.candidate_fields

    @property
    def category_field(self) -> str | None:
        """The field whose values are looked up; it may be set."""
        return self._field

    @category_field.setter
    def category_field(self, category_field: str) -> None:
        if category_field not in self._candidates:
            raise GraphError(
                f"{_OF}: category_field is {shown(category_field)}; the index has {', '.join(self._candidates) or 'none'}"
            )
        if category_field != self._field:
            self._rows = self._found(category_field)
            self._field = category_field

    def set_category_field(self, category_field: str) -> MSRStatus:
        """Sets category_field."""
        self.category_field = category_field
        return SUCCESS

    def read_category_info(self) -> str:
        """The values of the field as JSON, each with its number, as a text, and how many rows have it."""
        self._check_field()
        categories = [
            {"count": len(rows), "id": number, "name": name} for number, (name, rows) in enumerate(self._rows.items())
        ]
        info = {"categories": categories, "key": f"{self._field}_0"}
        return json.dumps(info, ensure_ascii=False, separators=(",", ":"))

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict[str, Any]]:
        """The rows of a page of `num_row` rows that have the value of that number."""
        self._check_field()
        number = whole("category_id", category_id, of=_OF)
        if number >= len(self._rows):
            raise GraphError(f"{_OF}: category_id is {number}; {self._field} has {len(self._rows)} values")
        return self._page(list(self._rows.values())[number], page, num_row)

    def read_at_page_by_name(self, category_name: str, page: int, num_row: int) -> list[dict[str, Any]]:
        """The rows of a page of `num_row` rows that have the value of that text."""
        self._check_field()
        if not isinstance(category_name, str) or category_name not in self._rows:
            raise GraphError(
                f"{_OF}: category_name is {shown(category_name)}, not the text of a value of {self._field}"
            )
        return self._page(self._rows[category_name], page, num_row)

    def _check_field(self) -> None:
        if self._field is None:
            raise GraphError(
                f"{_OF}: no field is chosen; set category_field to one of {', '.join(self._candidates) or 'none'}"
            )

    def _found(self, field: str) -> dict[str, list[int]]:
        """From the rows, not from the index, whose floats and texts may be cut."""
        found: dict[str, list[int]] = {}
        number = 0
        values = MindRecord(self._file_name, columns=[field]).batch(_ROWS)
        with values.iterate(epoch=0, workers=self._workers) as batches:
            for batch in batches:
                for value in batch[field].tolist():
                    found.setdefault(str(value), []).append(number)
                    number += 1
        return dict(sorted(found.items()))

    def _page(self, rows: list[int], page: int, num_row: int) -> list[dict[str, Any]]:
        size = whole("num_row", num_row, 1, _OF)
        first = whole("page", page, of=_OF) * size
        if first >= len(rows):
            raise GraphError(
                f"{_OF}: page is {page}; the {len(rows)} rows take {-(-len(rows) // size)} pages of {size}"
            )
        chosen = self._dataset.select(rows[first : first + size])
        with chosen.iterate(epoch=0, workers=self._workers) as found:
            return [plain_row(row) for row in found]
