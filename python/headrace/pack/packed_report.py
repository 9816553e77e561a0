"""Prints the reports of the packing commands: images left out, as it happens; a summary at the end; after an error,
whether another run can go on."""

import sys
from typing import Any

from headrace._arguments.printed import say
from headrace._records.entry_point_file import entry_points_path
from headrace._records.record_draft import is_kept
from headrace.pack.list_packing import Listener, Packed, Skipped, pack_list, reasons_of
from headrace.pack.progress import time_text
from headrace.pack.recipe import Recipe

__all__ = ["pack_and_report", "summary_of"]


def pack_and_report(listing: str, root: str, path: str, recipe: Recipe, **given: Any) -> None:
    """As pack_list, with the same arguments."""
    try:
        packed = pack_list(listing, root, path, recipe, listener=_SkippedOnStderr(), **given)
    except BaseException:
        if is_kept(path):
            say("headrace: what was packed is kept; the same command with --resume goes on", file=sys.stderr)
        raise
    say(*summary_of(packed))


class _SkippedOnStderr(Listener):
    """Names each image."""

    def skipped(self, image: Skipped) -> None:
        say(f"headrace: skipped {image.path}: {image.reason}", file=sys.stderr)


def summary_of(packed: Packed) -> list[str]:
    """Lines: records, bytes, rate, and how many images were left out for which kind of reason."""
    made = packed.records - packed.kept
    average = packed.bytes / packed.records / 1e3 if packed.records else 0.0
    lines = [
        f"{packed.path}: {packed.records:,} records, {packed.bytes:,} bytes ({average:,.1f} KB a record), "
        f"{made:,} packed in {time_text(packed.seconds)}{_rate(made, packed.seconds)}"
    ]
    if packed.kept:
        lines.append(f"  {packed.kept:,} records were kept from the run before")
    if packed.entry_points is not None:
        lines.append(f"  {entry_points_path(packed.path)}: entry points of {packed.entry_points:,} images")
    if packed.skipped:
        lines.append(f"  {len(packed.skipped):,} images skipped:")
        lines += [f"    {each}" for each in reasons_of(packed.skipped)]
    return lines


def _rate(records: int, seconds: float) -> str:
    return f", {records / seconds:,.0f} a second" if seconds > 0 and records else ""
