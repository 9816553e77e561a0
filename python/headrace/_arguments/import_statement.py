"""`imports_from` sees `from module import name`, which leaves out what the module says of a name that it lacks."""

import opcode
import sys

__all__ = ["imports_from"]

_IMPORTS = opcode.opmap.get("IMPORT_FROM", -1)


def imports_from(depth: int) -> bool:
    """Whether a module's `__getattr__` is called by such a statement. Python then says of an AttributeError only that it
    cannot import the name; an ImportError it passes on.

    Args:
        depth: How many calls `__getattr__` lies above this one; 1: it makes it.
    """
    frame = sys._getframe(depth).f_back
    return frame is not None and frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _IMPORTS
