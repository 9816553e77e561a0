"""`log_end` logs what a run left out and what its caches did, once it has ended."""

from typing import Any

from headrace._runs import log

__all__ = ["log_end"]

# What a line of `explain()` says of a cache.
_OF_CACHES = (" kept; memory ", ": no automatic cache, ", ": off, ")


def log_end(text: str, report: dict[str, Any]) -> None:
    """`text` and `report`: as `explain()` and `report()` give them."""
    for each in report.get("skipped", ()):
        shown = "; ".join(each["first"])
        log.warning(f"{each['name']}: {each['rows']} row{'s' * (each['rows'] != 1)} failed and left out: {shown}")
    for line in text.splitlines():
        if any(words in line for words in _OF_CACHES):
            log.info(line.strip())
