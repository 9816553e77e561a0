"""`did_you_mean` finds the name that a mistyped one stands for."""

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message, such as "; did you mean shuffle?"; empty: no name is near."""
    listed = list(known)
    lower = {each.lower(): each for each in listed}
    near = difflib.get_close_matches(name.lower(), lower, 1, 0.75)
    return f"; did you mean {lower[near[0]]}?" if near else ""
