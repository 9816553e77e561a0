"""`say` prints lines for people: names in them cannot add lines, or say anything to the terminal. Nothing else in the
package prints."""

import sys
from typing import TextIO

from headrace import _engine

__all__ = ["say", "say_text"]


def say(*lines: object, file: TextIO | None = None) -> None:
    """Prints on stdout, or to `file`, at once. The end of a line within one of them is that of a name, and shown as an
    escape."""
    say_text("\n".join(_engine.printable(str(line)) for line in lines), file)


def say_text(text: str, file: TextIO | None = None) -> None:
    """Prints a text of several lines, in which names are shown already: an error, what `explain()` gives."""
    print(_engine.printable(text, keep_lines=True), file=sys.stdout if file is None else file, flush=True)
