"""Sources that read files in splits: without an index, `shuffle` also mixes the rows of neighbouring splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown
from headrace._datasets.fields.class_columns import given_classes, names_for_lines
from headrace._datasets.fields.csv_fields import csv_attributes
from headrace._datasets.fields.feature_types import feature_attributes
from headrace._datasets.fields.json_fields import json_attributes
from headrace._datasets.fields.parquet_fields import parquet_attributes
from headrace._datasets.fields.tar_fields import tar_attributes
from headrace._graph.adapters import adapts
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["mix"]


def mix(source: Dataset, shuffle: Any, window: Any, seed: Any, name: Any) -> None:
    """Puts shuffle(window) on a source that was asked to shuffle. Values that are wrong are left to the operators."""
    # As texts, which arrays and NumPy's numbers have as well.
    if str(shuffle) == "True" and str(window) != "0":
        above = f"{name}/window" if isinstance(name, str) else name
        source._become(source._copy().shuffle(window, seed=seed, name=above))


# No file is as long, so none is cut.
_WHOLE_FILES = 10**15


def _begin(source: Dataset, op: str, attributes: dict[str, Any], window: Any) -> None:
    if isinstance(attributes["shuffle"], str):
        source._begin(op, attributes | _of_files(op, attributes))
        return
    source._begin(op, attributes)
    if attributes["index"] is None:
        mix(source, attributes["shuffle"], window, attributes["seed"], attributes["name"])


def _of_files(op: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """What makes a source give its files in a random order, and the rows of each in their own."""
    if attributes["shuffle"] != "files":
        raise GraphError(f'{op}: shuffle is {shown(attributes["shuffle"])}; give True, False or "files"')
    if attributes["index"] is not None:
        raise GraphError(
            f'{op}: shuffle="files" is for files that are read one after the other, and with index= rows are read by '
            "their numbers; leave out one of the two"
        )
    for name in ("split_bytes", "interleave"):
        if attributes.get(name) is not None:
            raise GraphError(f'{op}: shuffle="files" reads whole files, one after the other; leave out {name}')
    of_files = {"shuffle": True, "interleave": 1}
    # Some formats have no other splits.
    return of_files | ({"split_bytes": _WHOLE_FILES} if "split_bytes" in attributes else {})


@adapts("ImageRecord")
def image_record(source: Dataset, /, window: Any, **attributes: Any) -> None:
    _begin(source, "ImageRecord", attributes, window)


@adapts("LibSvm")
def lib_svm(source: Dataset, /, window: Any, **attributes: Any) -> None:
    _begin(source, "LibSvm", attributes, window)


@adapts("RecordFile")
def record_file(source: Dataset, /, window: Any, **attributes: Any) -> None:
    _begin(source, "RecordFile", attributes, window)


@adapts("Text")
def text(source: Dataset, /, window: Any, **attributes: Any) -> None:
    _begin(source, "Text", attributes, window)


@adapts("Csv")
def csv(
    source: Dataset,
    /,
    patterns: Any,
    types: Any,
    header: Any,
    columns: Any,
    delimiter: Any,
    quote: Any,
    missing: Any,
    window: Any,
    look: Any,
    newlines_in_values: Any,
    classes: Any = None,
    **attributes: Any,
) -> None:
    named = given_classes(classes, "Csv")
    found = csv_attributes(patterns, types, header, columns, delimiter, quote, missing, look, newlines_in_values, named)
    found |= {"patterns": patterns}
    _begin(source, "Csv", {**found, "class_names": names_for_lines("Csv", found, named), **attributes}, window)


@adapts("JsonLines")
def json_lines(
    source: Dataset,
    /,
    patterns: Any,
    columns: Any,
    window: Any,
    look: Any,
    missing: Any,
    classes: Any = None,
    **attributes: Any,
) -> None:
    named = given_classes(classes, "JsonLines")
    found = {"patterns": patterns, **json_attributes(patterns, columns, missing, look)}
    names = names_for_lines("JsonLines", found, named)
    _begin(source, "JsonLines", {**found, "class_names": names, **attributes}, window)


@adapts("Parquet")
def parquet(
    source: Dataset, /, paths: Any, columns: Any, classes: Any, missing: Any, window: Any, **attributes: Any
) -> None:
    found = parquet_attributes(paths, columns, classes, missing)
    _begin(source, "Parquet", {**found, **attributes}, window)


@adapts("TFRecord")
def tf_record(source: Dataset, /, features: Any, compression: Any, window: Any, **attributes: Any) -> None:
    found = feature_attributes(features)
    # As TensorFlow's options are written: GZIP, ZLIB, and nothing.
    compression = (compression.lower() or "none") if isinstance(compression, str) else compression
    _begin(source, "TFRecord", {**found, "compression": compression, **attributes}, window)


@adapts("WebDataset")
def web_dataset(
    source: Dataset,
    /,
    paths: Any,
    columns: Any,
    decode: Any,
    missing: Any,
    window: Any,
    look: Any,
    **attributes: Any,
) -> None:
    found = tar_attributes(paths, columns, decode, missing, look)
    _begin(source, "WebDataset", {**found, **attributes}, window)
