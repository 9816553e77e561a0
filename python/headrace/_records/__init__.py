"""Records of a dataset's rows, written to RecordIO and TFRecord files, and samples in tar archives."""

from typing import TYPE_CHECKING

from headrace._arguments.late_room import late_room

__all__ = ["Written", "WrittenTFRecords", "WrittenTar", "write_records", "write_tar", "write_tfrecord"]

if TYPE_CHECKING:
    from headrace._records.dataset_records import Written, write_records
    from headrace._records.example_records import WrittenTFRecords, write_tfrecord
    from headrace._records.tar_samples import WrittenTar, write_tar
else:
    __getattr__ = late_room(
        __name__,
        {
            "Written": "dataset_records",
            "WrittenTFRecords": "example_records",
            "WrittenTar": "tar_samples",
            "write_records": "dataset_records",
            "write_tar": "tar_samples",
            "write_tfrecord": "example_records",
        },
    )
