"""Records of a dataset's rows, written to RecordIO and TFRecord files."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

__all__ = ["Written", "WrittenTFRecords", "write_records", "write_tfrecord"]

if TYPE_CHECKING:
    from headrace._records.dataset_records import Written, write_records
    from headrace._records.example_records import WrittenTFRecords, write_tfrecord
else:
    __getattr__ = late_room(
        __name__,
        {
            "Written": "dataset_records",
            "WrittenTFRecords": "example_records",
            "write_records": "dataset_records",
            "write_tfrecord": "example_records",
        },
    )
