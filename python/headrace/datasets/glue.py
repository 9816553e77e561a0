"""`GLUE`: the tasks of GLUE."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.glue_tasks import GLUE_TASKS, glue_table
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable
from headrace.errors import GraphError

__all__ = ["GLUE"]

_PARTS = ("train", "dev", "test")
_PARTS_OF_MNLI = ("train", "dev_matched", "dev_mismatched", "test_matched", "test_mismatched")


class GLUE(NamedSet):
    """Gives sentences of a task of GLUE, SST-2 and CoLA among them.

    Columns: of CoLA and SST-2 `sentence`, of QQP `question1` and `question2`, of QNLI `question` and `sentence`, of the
    others `sentence1` and `sentence2` (string); and `label` (int64), of STS-B `score` (float32: 0 to 5). Those of
    "test" have neither. Rows are in the order of the file. Lines of QQP that lack fields are left out, and listed.

    Args:
        root: The folder that holds train.tsv and the like, or `CoLA`, `SST-2`, `MRPC`, `QQP`, `STS-B`, `MNLI`, `QNLI`,
            `RTE` or `WNLI` in it.
        task: The task.
        split: The rows to give; only MNLI has those that are matched and mismatched, in place of dev and test.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.GLUE("data", "sst2")
    """

    publisher = "https://gluebenchmark.com/tasks"

    def __init__(
        self,
        root: str | PathLike[str],
        task: Literal["cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte", "wnli"],
        split: Literal[
            "train", "dev", "test", "dev_matched", "dev_mismatched", "test_matched", "test_mismatched"
        ] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {"task": choice("task", task, list(GLUE_TASKS), "GLUE"), "split": _split(task, split)},
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, task: str, split: str) -> SetTable:
        of = GLUE_TASKS[task]
        (file,) = folder.files([f"{split}.tsv"], ("", of.folder))
        return glue_table(file, of, split.startswith("test"))


def _split(task: str, split: str) -> str:
    parts = _PARTS_OF_MNLI if task == "mnli" else _PARTS
    found = choice("split", split, list(dict.fromkeys([*_PARTS, *_PARTS_OF_MNLI])), "GLUE")
    if found not in parts:
        raise GraphError(f"GLUE: {task} has the parts {', '.join(parts)}; split is {found}")
    return found
