"""`IWSLT2017`: talks in two languages, of 2017."""

from __future__ import annotations

from os import PathLike
from typing import Literal

from headrace._arguments.options import choice
from headrace._sets.named_set import NamedSet
from headrace._sets.sentence_pairs import check_languages, pair_table, talk_name, talk_sentences
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_table import SetTable

__all__ = ["IWSLT2017"]

_SPLITS = ("train", "dev2010", "tst2010")
_LANGUAGES = ("de", "en", "it", "nl", "ro")
_ALL = "DeEnItNlRo"


class IWSLT2017(NamedSet):
    """Gives the sentences of IWSLT 2017: talks and their translations.

    Columns: `text` and `translation` (string, without the blanks around them). Lines of tags make no row. Rows are in
    the order of the files, which must have equally many sentences.

    Args:
        root: The folder that holds train.tags.de-en.de and the like, or `texts` or `2017-01-trnmted` in it.
        split: The rows to give, by the publisher's names.
        source: The language of `text`.
        target: The language of `translation`.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.IWSLT2017("data", "train", "de", "en")
    """

    publisher = "https://wit3.fbk.eu/2017-01-b"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "dev2010", "tst2010"] = "train",
        source: Literal["de", "en", "it", "nl", "ro"] = "de",
        target: Literal["de", "en", "it", "nl", "ro"] = "en",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "IWSLT2017"),
                "source": choice("source", source, _LANGUAGES, "IWSLT2017"),
                "target": choice("target", target, _LANGUAGES, "IWSLT2017"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, source: str, target: str) -> SetTable:
        check_languages(folder.of, source, target)
        pair = f"{source}-{target}"
        below = ("", *(f"{above}texts/{_ALL}/{_ALL}/{_ALL}-{_ALL}" for above in ("2017-01-trnmted/", "")))
        names = [talk_name(split, 17, pair, language) for language in (source, target)]
        first, second = folder.files(names, below)
        return pair_table(first, talk_sentences(first, split), second, talk_sentences(second, split))
