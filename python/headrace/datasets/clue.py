"""`CLUE`: Chinese tasks of CLUE."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.clue_tasks import CLUE_TASKS, clue_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["CLUE"]

_SPLITS = ("train", "dev", "test")


class CLUE(NamedSet):
    """Gives the texts of a task of CLUE.

    Columns: `sentence1` and `sentence2` of AFQMC and CMNLI; `sentence` of TNEWS, with `keywords`, and of IFLYTEK;
    `text`, `span1_text` and `span2_text` of WSC, with `span1_index` and `span2_index` (int64), which count characters;
    `abst` of CSL, with `keyword` (string: (n,)). All texts are string. `label` (int64) is the place of the class among
    `classes`; rows of "test" have none. Rows are in the order of the file. Lines of CMNLI whose label is -, as nobody
    agreed, are left out, and listed.

    The reading tasks CMRC 2018, DRCD, CHID and C3 are not here.

    Args:
        root: The folder that holds train.json, dev.json and test.json, or `afqmc_public`, `afqmc` and the like in it.
        task: The task.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.CLUE("data", "tnews")
    """

    publisher = "https://www.cluebenchmarks.com"

    def __init__(
        self,
        root: str | PathLike[str],
        task: Literal["afqmc", "tnews", "iflytek", "cmnli", "wsc", "csl"],
        split: Literal["train", "dev", "test"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {"task": choice("task", task, list(CLUE_TASKS), "CLUE"), "split": choice("split", split, _SPLITS, "CLUE")},
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, task: str, split: str) -> SetTable:
        below = ("", task, f"{task}_public")
        (file,) = folder.files([f"{split}.json"], below)
        names = folder.optional("labels.json", below) if task == "iflytek" else None
        return clue_table(file, task, split == "test", names)
