"""`Multi30k`: captions in two languages."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.sentence_pairs import check_languages, pair_table, plain_lines
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["Multi30k"]

_LANGUAGES = ("en", "de", "fr", "cs")
_STEMS = {"train": ("train",), "valid": ("val",), "test": ("test", "test2016", "test_2016_flickr")}
_FOLDERS = {"train": ("training",), "valid": ("validation",), "test": ("mmt16_task1_test",)}


class Multi30k(NamedSet):
    """Gives the captions of Multi30k in two languages: 29,000 to train, 1,014 to validate, 1,000 to test.

    Columns: `text` and `translation` (string). Rows are in the order of the files, which must have equally many lines.

    Args:
        root: The folder that holds train.de, train.en and the like, or `training`, `validation` and `mmt16_task1_test`
            in it.
        split: The rows to give.
        source: The language of `text`.
        target: The language of `translation`.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.Multi30k("data", "train", "en", "de")
    """

    publisher = "https://github.com/multi30k/dataset"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "valid", "test"] = "train",
        source: Literal["en", "de", "fr", "cs"] = "en",
        target: Literal["en", "de", "fr", "cs"] = "de",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, list(_STEMS), "Multi30k"),
                "source": choice("source", source, _LANGUAGES, "Multi30k"),
                "target": choice("target", target, _LANGUAGES, "Multi30k"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, source: str, target: str) -> SetTable:
        check_languages(folder.of, source, target)
        stems = _STEMS[split]
        wanted = [tuple(f"{stem}.{language}" for stem in stems) for language in (source, target)]
        first, second = folder.files(wanted, ("", *_FOLDERS[split]))
        return pair_table(first, plain_lines(first), second, plain_lines(second))
