"""`DBpedia`: articles of Wikipedia of fourteen kinds."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.line_source import LineSource, labelled_lines
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder

__all__ = ["DBpedia"]

_SPLITS = ("train", "test")
_CLASSES = (
    "Company",
    "EducationalInstitution",
    "Artist",
    "Athlete",
    "OfficeHolder",
    "MeanOfTransportation",
    "Building",
    "NaturalPlace",
    "Village",
    "Animal",
    "Plant",
    "Album",
    "Film",
    "WrittenWork",
)


class DBpedia(NamedSet):
    """Gives the articles of DBpedia: 560,000 to train, 70,000 to test.

    Columns: `label` (int32: 0 to 13), `title` and `content` (string). Rows are in the order of the file.

    Labels are the numbers of the file less one; a number beyond the classes is an error of its row. The texts are as the
    file has them: a line end within a text is written as a backslash and an n. The engine reads the lines by their
    numbers, so `len` reads the file once.

    Args:
        root: The folder that holds train.csv and test.csv, or `dbpedia_csv` in it.
        split: The rows to give.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.DBpedia("data")
    """

    publisher = "https://github.com/zhangxiangxiao/Crepe"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "test"] = "train",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"split": choice("split", split, _SPLITS, "DBpedia")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, split: str) -> LineSource:
        return labelled_lines(folder, split, ("", "dbpedia_csv", "DBpedia"), _CLASSES, ("title", "content"))
