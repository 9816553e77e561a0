"""`UrbanSound8K`: sounds of towns of ten kinds."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.headed_csv import headed_csv
from headrace._sets.named_set import NamedSet
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["UrbanSound8K"]


class UrbanSound8K(NamedSet):
    """Gives the 8,732 sounds of UrbanSound8K, of four seconds at most.

    Columns: `audio` (the bytes of the file, of WAV of many forms), `label` (int64: 0 to 9), `fold` (int64: 1 to 10),
    `salience` (int64: 1 in the foreground, 2 in the background), `start` and `end` (float64: of the recording that it
    is of, in seconds) and `source` (int64: this recording's number). Rows are in the order of UrbanSound8K.csv.

    Args:
        root: The folder that holds `metadata` and `audio`, or `UrbanSound8K` in it.
        missing: What to do about recordings that the lists name and that are not there: "error", or "skip" to leave
            them out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.UrbanSound8K("data")
    """

    publisher = "https://urbansounddataset.weebly.com/urbansound8k.html"

    def __init__(
        self,
        root: str | PathLike[str],
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"missing": choice("missing", missing, MISSING, "UrbanSound8K")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, missing: str) -> SetTable:
        (file,) = folder.files(["UrbanSound8K.csv"], ("metadata", "UrbanSound8K/metadata"))
        rows = headed_csv(file, ("slice_file_name", "fsID", "start", "end", "salience", "fold", "classID", "class"))
        base = folder.folder("audio", "UrbanSound8K/audio")
        folds = rows.numbers("fold").tolist()
        names = [f"fold{fold}/{name}" for fold, name in zip(folds, rows.names("slice_file_name"), strict=True)]
        kept, left_out = present(folder, base, names, file.path, missing)
        rows = rows.chosen(kept)
        columns = {
            "audio": path_column([names[number] for number in kept]),
            "label": rows.numbers("classID"),
            "fold": rows.numbers("fold"),
            "salience": rows.numbers("salience"),
            "start": rows.floats("start"),
            "end": rows.floats("end"),
            "source": rows.numbers("fsID"),
        }
        return SetTable(columns, {"label": rows.classes("class", "classID")}, "audio", base, left_out)
