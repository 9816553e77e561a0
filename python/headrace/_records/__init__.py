"""Records of a dataset's rows, written to RecordIO files."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

__all__ = ["Written", "write_records"]

if TYPE_CHECKING:
    from headrace._records.dataset_records import Written, write_records
else:
    __getattr__ = late_room(__name__, {"Written": "dataset_records", "write_records": "dataset_records"})
