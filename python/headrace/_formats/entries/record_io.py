"""RecordIO: image records where the first records are some, else records of any bytes."""

from collections.abc import Mapping
from typing import Any

from headrace import _engine, sources
from headrace._datasets.base import source
from headrace._datasets.dataset import Dataset
from headrace._formats.first_bytes import FirstBytes, escaped
from headrace._formats.format import Converted, Format, Place, Target
from headrace._records.image_payload import image_payload
from headrace._records.record_draft import index_path
from headrace._writing.part_paths import part_paths
from headrace.errors import DataError

__all__ = ["IMAGE_RECORD", "RECORD_IO"]

_LOOKED_AT = 100
_START = 64


def _label_counts(paths: Any) -> set[int]:
    """How many labels the images among the first records have; empty: there is none."""
    found: set[int] = set()
    records = (
        source("RecordFile", {"paths": paths}).take(_LOOKED_AT).options(as_=None, as_tuple=None, bytes_as="memoryview")
    )
    with records.iterate(workers=1, window=2) as rows:
        try:
            for row in rows:
                image = image_payload(row["record"])
                # The head of face-recognition sets has none.
                if image is not None and _engine.encoded_format(bytes(image.encoded[:_START])) is not None:
                    found.add(len(image.labels))
        except DataError:  # What is damaged shows when it is read.
            pass
    return found


def _holds_images(first: FirstBytes) -> bool:
    return bool(_label_counts(escaped(first.path)))


def _label_width(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    found = _label_counts(place.paths)
    if "label_width" in given or found <= {1}:
        return {}
    return {"label_width": found.pop() if len(found) == 1 else -1}


def _written(dataset: Dataset, path: str, **options: Any) -> Converted:
    written = dataset.write_records(path, **options)
    return Converted(written.paths, written.records, written.bytes, written.kept)


def _with_indices(path: str, files: int) -> list[str]:
    return [each for part in part_paths(path, files) for each in (part, index_path(part))]


IMAGE_RECORD = Format(
    "RecordIO of images",
    "hr.ImageRecord",
    lambda paths, **options: sources.ImageRecord(paths, **options),
    kinds=frozenset({"RecordIO"}),
    recognises=_holds_images,
    proposed=_label_width,
    beside=(".idx", ".lst"),
)
RECORD_IO = Format(
    "RecordIO",
    "hr.RecordFile",
    lambda paths, **options: sources.RecordFile(paths, **options),
    kinds=frozenset({"RecordIO"}),
    endings=(".rec",),
    beside=(".idx", ".lst"),
    target=Target((".rec",), _written, _with_indices),
)
