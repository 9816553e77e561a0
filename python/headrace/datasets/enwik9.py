"""`EnWik9`: the first billion bytes of Wikipedia in XML."""

from __future__ import annotations

from os import PathLike

from headrace._arguments.options import flag
from headrace._sets.line_source import LineSource, text_lines_of
from headrace._sets.named_set import NamedSet
from headrace._sets.set_folder import SetFolder

__all__ = ["EnWik9"]


class EnWik9(NamedSet):
    """Gives the lines of enwik9, of XML.

    Columns: `text` (string: a line as it is). Rows are in the order of the file. The engine reads the lines by their
    numbers, so `len` reads the file once.

    Args:
        root: The folder that holds enwik9.
        skip_empty: Whether lines without a character are left out; one of blanks is a row.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.EnWik9("data")
    """

    publisher = "http://mattmahoney.net/dc/textdata.html"

    def __init__(
        self,
        root: str | PathLike[str],
        skip_empty: bool = False,
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(root, {"skip_empty": flag("skip_empty", skip_empty, "EnWik9")}, shuffle, seed, name)

    @staticmethod
    def _table(folder: SetFolder, skip_empty: bool) -> LineSource:
        return text_lines_of(folder.plain("enwik9", ("", "EnWik9")), skip_empty)
