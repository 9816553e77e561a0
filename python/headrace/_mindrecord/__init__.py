"""MindRecord files as they are written: schemas, rows, pages, indices, and sets of files."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

__all__ = ["WrittenSet", "write_mindrecord"]

if TYPE_CHECKING:
    from headrace._mindrecord.dataset_rows import WrittenSet, write_mindrecord
else:
    __getattr__ = late_room(__name__, {"WrittenSet": "dataset_rows", "write_mindrecord": "dataset_rows"})
