"""`warning` and `info` hand what a run has to say to the logger `headrace` of Python's `logging`."""

import sys
from typing import Any

from headrace import _engine

__all__ = ["info", "warning"]


def warning(message: str) -> None:
    logger = _logger()
    if logger is not None:
        logger.warning("%s", _engine.printable(message, keep_lines=True))


def info(message: str) -> None:
    logger = _logger()
    if logger is not None:
        logger.info("%s", _engine.printable(message, keep_lines=True))


def _logger() -> Any:
    """None: the program has not imported `logging`, so nothing listens."""
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    logger = logging.getLogger("headrace")
    if not logger.handlers:
        # Without any handler logging would print on stderr, where stalls are named already.
        logger.addHandler(logging.NullHandler())
    return logger
