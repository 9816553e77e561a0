"""Parquet, also in folders of partitions (`k=v/`)."""

from typing import Any

from headrace import sources
from headrace._datasets.dataset import Dataset
from headrace._formats.files_below import files_below
from headrace._formats.folder_contents import FolderContents
from headrace._formats.format import Converted, Format, Place, Target
from headrace._formats.image_columns import image_columns
from headrace._writing.part_paths import part_paths

__all__ = ["PARQUET"]

# Rows.
_LOOKED_AT = 8


def _is_partitioned(folder: FolderContents) -> bool:
    return not folder.data_files and bool(folder.folders) and all("=" in name for name in folder.folders)


def _files(place: Place) -> list[str]:
    return files_below(place.files[0], (".parquet",)) if place.first is None else place.files


def _written(dataset: Dataset, path: str, **options: Any) -> Converted:
    # So that other readers know them for images, too.
    images = image_columns(dataset, _LOOKED_AT) or None
    written = dataset.write_parquet(path, images=images, **options)
    return Converted(written.paths, written.rows, written.bytes, written.kept)


PARQUET = Format(
    "Parquet",
    "hr.Parquet",
    lambda paths, **options: sources.Parquet(paths, **options),
    kinds=frozenset({"Parquet"}),
    endings=(".parquet",),
    is_folder=_is_partitioned,
    files_of=_files,
    beside=("_metadata", "_common_metadata"),
    target=Target((".parquet",), _written, part_paths),
)
