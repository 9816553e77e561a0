"""`folder_named` knows folders that no source reads, by the names in them, and says what to write instead."""

import os

from headrace._arguments.options import shown
from headrace._files.places import is_file
from headrace._formats.folder_contents import FolderContents

__all__ = ["folder_named"]


def folder_named(folder: FolderContents) -> tuple[str, str] | None:
    """What it is, and what to write; None: it is not one of these."""
    path = shown(folder.path)
    if folder.has("dataset_dict.json"):
        return (
            "a DatasetDict of Hugging Face, as save_to_disk writes it",
            f'write hr.from_huggingface(datasets.load_from_disk({path})["{(folder.folders or ["train"])[0]}"])',
        )
    if folder.has("dataset_info.json") and any(name.endswith(".arrow") for name in folder.files):
        return (
            "a data set of Hugging Face, as save_to_disk writes it",
            f"write hr.from_huggingface(datasets.load_from_disk({path}))",
        )
    if any(is_file(os.path.join(folder.path, name)) for name in ("zarr.json", ".zarray", ".zgroup")):
        return "Zarr", f"open it with zarr.open({path}), and give its arrays to hr.Numpy"
    if "_versions" in folder.folders:
        return "a Lance data set", f"write hr.Arrow(lance.dataset({path}))"
    if "_delta_log" in folder.folders:
        return "a Delta table", f"write hr.Arrow(deltalake.DeltaTable({path}).to_pyarrow_table())"
    if folder.has("saved_model.pb"):
        return "a SavedModel of TensorFlow", "a model is no rows"
    return None
