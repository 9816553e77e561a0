"""TFRecord: typed by the features that its first records show."""

from collections.abc import Mapping
from typing import Any

from headrace import sources
from headrace._datasets.dataset import Dataset
from headrace._datasets.fields.proposed_features import ProposedFeatures, proposed_features
from headrace._formats.format import Converted, Format, Place, Target
from headrace._writing.part_paths import part_paths
from headrace.errors import DataError

__all__ = ["TF_RECORD"]


def _looked_for(place: Place, given: Mapping[str, Any]) -> ProposedFeatures | None:
    """None: they are stated, the records are not examples, or none is whole."""
    if "features" in given:
        return None
    try:
        return proposed_features(place.paths, compression=given.get("compression", "auto"), damage="skip")
    except DataError:
        return None


def _features(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    found = _looked_for(place, given)
    return {"features": found.features} if found is not None and found.features else {}


def _left_out(place: Place, given: Mapping[str, Any]) -> dict[str, str]:
    found = _looked_for(place, given)
    return found.refused if found is not None and found.features else {}


def _written(dataset: Dataset, path: str, **options: Any) -> Converted:
    written = dataset.write_tfrecord(path, **options)
    return Converted(written.paths, written.records, written.bytes, written.kept)


TF_RECORD = Format(
    "TFRecord",
    "hr.TFRecord",
    lambda paths, **options: sources.TFRecord(paths, **options),
    kinds=frozenset({"TFRecord"}),
    endings=(".tfrecord", ".tfrecords"),
    compressions=frozenset({"gzip", "zlib", "zstd"}),
    proposed=_features,
    left_out=_left_out,
    beside=(".idx",),
    target=Target((".tfrecord", ".tfrecords"), _written, part_paths),
)
