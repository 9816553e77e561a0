"""`headrace inspect`: what files hold, whatever their format; of RecordIO also its index."""

from __future__ import annotations

import argparse
import collections
from collections.abc import Iterable

from headrace import _formats
from headrace._arguments.options import file_path
from headrace._arguments.printed import say
from headrace._files.places import exists
from headrace._records.record_draft import index_path
from headrace.errors import Error
from headrace.pack.index_check import check_index
from headrace.pack.inspection import Inspection, inspect_records
from headrace.pack.kept_input import check_other_file
from headrace.pack.record_file import is_record_file
from headrace.pack.record_sheet import write_record_sheet
from headrace.sheet.contact_sheet import check_png

HELP = "show what files hold"
DESCRIPTION = (
    "Reads what is at a path once and shows its format and the call that reads it, rows, columns, sizes, and damage; of a "
    "RecordIO file also its labels and index. Images are not decoded; `headrace verify` does that."
)
_BAR = 40
_NAMED = 10
# Bounds of the histogram, in pixels of the shorter edge.
_EDGES = (32, 64, 128, 224, 256, 320, 384, 512, 768, 1024, 2048)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.add_argument("file", metavar="PATH", help="a file, a folder, or a pattern in quotes")
    command.add_argument("--sheet", metavar="OUT.png", help="write a contact sheet of images from the whole file")
    command.add_argument("--pictures", type=int, default=64, metavar="N", help="the most images on it (64)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    path = file_path("PATH", options.file, "inspect")
    sheet = None if options.sheet is None else file_path("--sheet", options.sheet, "inspect")
    if sheet is not None:
        check_png("--sheet", sheet, "inspect")
        check_other_file("--sheet", sheet, path, "inspect")
    if not is_record_file(path):
        return _inspect_rows(_formats.found_at(path, "inspect"), sheet, options.pictures)
    found = inspect_records(path)
    say(*text_of(found))
    say(_index_text(found))
    if sheet is not None:
        shown = write_record_sheet(path, sheet, options.pictures)
        say(f"{sheet}: {shown:,} images")
    return 0


def _inspect_rows(found: _formats.Found, sheet: str | None, pictures: int) -> int:
    say(*_formats.survey_lines(found))
    if sheet is not None:
        drawn = found.opened({}).show(pictures)
        drawn.save(sheet)
        say(f"{sheet}: {len(drawn):,} images")
    return 0


def text_of(found: Inspection) -> list[str]:
    lines = [f"{found.path}: {found.records:,} records, {found.file_bytes:,} bytes"]
    if found.records:
        average = found.payload_bytes / found.records
        lines.append(f"record: {average:,.0f} bytes on average, {found.smallest:,} to {found.largest:,}")
    if found.has_images:
        lines += _images(found)
    elif found.records:
        lines.append("the records hold no images")
    return lines + _damage(found)


def _images(found: Inspection) -> list[str]:
    formats = ", ".join(f"{count:,} {name}" for name, count in found.images.most_common())
    others = found.without_image
    hold = "record holds" if others == 1 else "records hold"
    rest = f"; {others:,} {hold} none that can be decoded" if others else ""
    counts = ", ".join(f"{labels} in {count:,}" for labels, count in sorted(found.label_counts.items()))
    first, last = min(found.labels), max(found.labels)
    return [
        f"images: {formats}{rest}",
        f"labels of a record: {counts}",
        f"first label: {len(found.labels):,} different, {first:g} to {last:g}; {_largest(found)}",
        f"width: {_spread(found.widths)}; height: {_spread(found.heights)}",
        "images by their shorter edge:",
        *_histogram(found.shorter_edges),
    ]


def _largest(found: Inspection) -> str:
    counts = found.labels.values()
    low, high = f"{min(counts):,}", f"{max(counts):,}"
    return f"in {low} records each" if low == high else f"in {low} to {high} records each"


def _spread(counts: collections.Counter[int]) -> str:
    return f"{min(counts):,} to {max(counts):,}, median {_median(counts):,}"


def _median(counts: collections.Counter[int]) -> int:
    left = sum(counts.values()) // 2
    for value, count in sorted(counts.items()):
        left -= count
        if left < 0:
            return value
    return max(counts)


def _histogram(edges: collections.Counter[int]) -> Iterable[str]:
    bounds = [0, *_EDGES, max(max(edges), _EDGES[-1]) + 1]
    bins = [
        (low, high, sum(count for edge, count in edges.items() if low <= edge < high))
        for low, high in zip(bounds, bounds[1:], strict=False)
    ]
    filled = [number for number, (_, _, count) in enumerate(bins) if count]
    most = max(count for _, _, count in bins)
    for low, high, count in bins[filled[0] : filled[-1] + 1]:
        bar = "█" * round(_BAR * count / most)
        yield f"{low:>7,} … {high - 1:<7,} {count:>10,}  {bar}".rstrip()


def _damage(found: Inspection) -> list[str]:
    if not found.lost:
        return ["damage: none"]
    lost = sum(each.bytes for each in found.lost)
    places = "place" if len(found.lost) == 1 else "places"
    lines = [f"damage: {len(found.lost):,} {places}, {lost:,} bytes lost"]
    lines += [f"  byte {each.offset:,}: {each.bytes:,} bytes, {each.reason}" for each in found.lost[:_NAMED]]
    if len(found.lost) > _NAMED:
        lines.append(f"  … and {len(found.lost) - _NAMED:,} more")
    return lines


def _index_text(found: Inspection) -> str:
    index = index_path(found.path)
    if not exists(index):
        return f"index: there is no {index}; `headrace index` writes it"
    try:
        wrong = check_index(index, found.offsets, found.file_bytes)
    except Error as error:
        return f"index: {error}"
    return f"index: {index} leads to every record" if not wrong else f"index: {index}: {wrong[0]}"
