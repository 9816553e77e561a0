"""TFRecord: typed by the features that its first records show."""

from collections.abc import Mapping
from typing import Any

from headrace import sources
from headrace._datasets.dataset import Dataset
from headrace._datasets.fields.proposed_features import proposed_features
from headrace._formats.format import Converted, Format, Place, Target
from headrace._writing.part_paths import part_paths
from headrace.errors import DataError, UnsupportedError

__all__ = ["TF_RECORD"]


def _features(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """None where the records are not examples, or where no record is whole, which leaves their bytes."""
    if "features" in given:
        return {}
    try:
        found = proposed_features(place.paths, compression=given.get("compression", "auto"), damage="skip")
    except DataError:
        return {}
    if found.refused:
        name, reason = next(iter(found.refused.items()))
        raise UnsupportedError(f'TFRecord: the feature "{name}" cannot be read: {reason}; give {found.text()}')
    return {"features": found.features} if found.features else {}


def _written(dataset: Dataset, path: str, **options: Any) -> Converted:
    written = dataset.write_tfrecord(path, **options)
    return Converted(written.paths, written.records, written.bytes, written.kept)


TF_RECORD = Format(
    "TFRecord",
    "hr.TFRecord",
    lambda paths, **options: sources.TFRecord(paths, **options),
    kinds=frozenset({"TFRecord"}),
    endings=(".tfrecord", ".tfrecords"),
    compressions=frozenset({"gzip", "zstd"}),
    proposed=_features,
    beside=(".idx",),
    target=Target((".tfrecord", ".tfrecords"), _written, part_paths),
)
