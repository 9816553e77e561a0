"""Refuses parameters that an iterator has not, with the name that was probably meant."""

import difflib
import inspect
from collections.abc import Iterable, Mapping

__all__ = ["check_known"]


def check_known(given: Iterable[str], augmentation: Mapping[str, object], iterator: type, of: str) -> None:
    """Raises TypeError if one of the further parameters given is none of augmentation.

    Args:
        given: The parameters that are none of the iterator's own.
        augmentation: Those of augmentation, by name.
        iterator: Whose own parameters may have been meant, too.
        of: The iterator, for messages.
    """
    for name in given:
        if name not in augmentation:
            near = difflib.get_close_matches(name, [*augmentation, *inspect.signature(iterator).parameters], 1)
            advice = f"did you mean {near[0]}?" if near else f"those of augmentation are {', '.join(augmentation)}"
            raise TypeError(f"{of}() has no parameter {name}; {advice}")
