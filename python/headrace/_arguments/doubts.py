"""Warnings about pipelines that run, but probably do not do what was meant."""

import warnings

from headrace import _engine
from headrace._arguments.source_location import SourceLocation
from headrace.errors import PipelineWarning

_said: set[tuple[SourceLocation, str]] = set()


def warn_once(message: str, location: SourceLocation) -> None:
    """Warns at the user's line, once in the process for each line and message."""
    message = _engine.printable(message)
    warning = (location, message)
    if warning in _said:
        return
    file, line = location
    warnings.warn_explicit(message, PipelineWarning, file or "pipeline", line)
    # Not said if a filter made an exception of it: the next attempt raises it again.
    _said.add(warning)


def location_of(text: str) -> SourceLocation:
    """Of "train.py:12"; ("", 0) if it is not known."""
    file, _, line = text.rpartition(":")
    return (file, int(line)) if line.isdigit() else ("", 0)
