"""Checks a RecordIO file: frames, index, headers, and every image by decoding it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from headrace import sources
from headrace import vision as V
from headrace._files.places import exists
from headrace._records.image_payload import image_payload
from headrace._records.record_draft import index_path
from headrace._runs.skipped_log import SkippedLog, kept_rows
from headrace.errors import Error
from headrace.pack.index_check import check_index
from headrace.pack.progress import Progress
from headrace.pack.record_scan import RecordScan, ScannedRecord

__all__ = ["Verification", "verify_records"]


@dataclass
class Verification:
    """What was checked, and what is wrong."""

    records: int = 0
    images: int = 0
    """Those that were decoded."""
    index: str | None = None
    """Its path; None: there is none."""
    faults: list[str] = field(default_factory=list)
    """A sentence each."""


def verify_records(path: str, decodes: bool = True) -> Verification:
    """Reads `path` once. Records that hold no labels and no image, as those at the end of face-recognition sets, are
    good; with `decodes` every image is decoded. NotFoundError if there is no such file."""
    checking = _Checking(path)
    if decodes:
        checking.decode_all()
    else:
        for _ in checking.scan():
            pass
    checking.compare_index()
    return checking.found


class _Checking:
    def __init__(self, path: str) -> None:
        self.found = Verification()
        self._path = path
        self._scan = RecordScan(path)
        self._offsets: list[int] = []
        # The offset of each image given to the pipeline.
        self._given: list[int] = []

    def scan(self) -> Iterator[ScannedRecord]:
        with Progress(f"{os.path.basename(self._path)}, bytes", self._scan.file_bytes) as progress:
            for record in self._scan:
                progress.at(record.offset)
                self._offsets.append(record.offset)
                yield record
        self.found.records = len(self._offsets)
        self.found.faults += [
            f"byte {each.offset:,}: {each.bytes:,} bytes belong to no record: {each.reason}" for each in self._scan.lost
        ]

    def decode_all(self) -> None:
        with SkippedLog() as log:
            dataset = sources.Generator(self._images, {"image": "bytes"}).map(V.Decode(mode="any"), "image")
            # An image of many colours is large, and only whether it can be decoded is wanted.
            dataset = dataset.on_error("skip", max_errors=(1 << 63) - 1, log=log.path)
            with dataset.iterate() as rows:
                self.found.images = sum(1 for _ in kept_rows(rows))
            self.found.faults += [f"byte {self._given[each.key]:,}: {each.message}" for each in log.new()]

    def compare_index(self) -> None:
        index = index_path(self._path)
        if not exists(index):
            return
        self.found.index = index
        try:
            wrong = check_index(index, self._offsets, self._scan.file_bytes)
        except Error as error:
            self.found.faults.append(str(error))
            return
        self.found.faults += [f"{index}: {sentence}" for sentence in wrong]

    def _images(self) -> Iterator[dict[str, bytes]]:
        for record in self.scan():
            image = image_payload(record.payload)
            if image is None:
                self.found.faults.append(f"byte {record.offset:,}: the record is shorter than its header and labels")
            elif len(image.encoded) > 0:
                self._given.append(record.offset)
                yield {"image": bytes(image.encoded)}
