"""`log` is the logger of this face. What it says is printable, whatever names are in it."""

import logging

from headrace import _engine

__all__ = ["log"]


class _Printable(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _engine.printable(record.getMessage()), ()
        return True


log = logging.getLogger("headrace.mx")
log.addFilter(_Printable())
