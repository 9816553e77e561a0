"""Packs the images of a list into records: a pipeline over the list, whose rows go to a draft in the list's order."""

import collections
import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, Literal, NamedTuple

import headrace
from headrace import _engine
from headrace._datasets.dataset import Dataset
from headrace._files.opened_file import open_to_read
from headrace._files.places import absolute, file_size, is_far, is_file
from headrace._files.system_error import system_error
from headrace._records.entry_point_file import (
    EntryPointFile,
    check_entry_points,
    entry_points_path,
    remove_entry_points,
)
from headrace._records.far_draft import FarDraft
from headrace._records.image_payload import image_header
from headrace._records.record_draft import Checkpoint, RecordDraft, index_path
from headrace._runs.skipped_log import SkippedLog, kept_rows
from headrace.errors import DataError, Error, UnsupportedError
from headrace.pack.kept_input import check_other_file
from headrace.pack.progress import Progress
from headrace.pack.recipe import Recipe
from headrace.pack.record_scan import RecordScan

__all__ = ["Labels", "Listener", "NothingPackedError", "Packed", "Part", "Skipped", "pack_list", "reasons_of"]

# What a kill may cost: seconds of work, and bytes that the system does not have yet.
_CHECKPOINT_S = 0.1
_CHECKPOINT_BYTES = 8 << 20
# In an error. A reason may be an image's own.
_SHOWN_REASONS = 5
# Changes when the same recipe gives other bytes.
_FORMAT = 2


class Skipped(NamedTuple):
    """An image that was left out."""

    path: str
    """Its name, in which a byte that is not UTF-8 is a surrogate, as in Python's own paths."""
    reason: str
    """Printable."""


class NothingPackedError(DataError):
    """Every image of a list was left out, so that there is no file."""

    __module__ = "headrace.pack"  # where users find it


@dataclass
class Packed:
    """What packing one list gave."""

    path: str
    index: str
    records: int = 0
    bytes: int = 0
    """Of the records' file."""
    skipped: list[Skipped] = field(default_factory=list)
    kept: int = 0
    """Of the records, those that an earlier run had packed before it was killed."""
    seconds: float = 0.0
    """Of this run."""
    entry_points: int | None = None
    """How many images have entry points in `path`.points; None: they were not asked for."""


@dataclass(frozen=True)
class Labels:
    """Which labels a record holds."""

    packs_all: bool = False
    """All those of the list's line, where there are several; else the first."""
    first_in_header: bool = False
    """The first in the header, too, as the C++ tool has it; im2rec.py writes 0 there."""
    width: int | None = None
    """How many each line must have; None: any number."""


@dataclass(frozen=True)
class Part:
    """Lines `begin` to `end` of a list."""

    begin: int
    end: int


class Listener:
    """Receives the skipped images, as they occur. This one does nothing."""

    def skipped(self, image: Skipped) -> None:
        pass


def pack_list(
    listing: str,
    root: str,
    path: str,
    recipe: Recipe,
    *,
    labels: Labels = Labels(),
    part: Part | None = None,
    on_error: Literal["skip", "raise"] = "skip",
    resume: bool = False,
    workers: int | None = None,
    entry_points: bool = False,
    listener: Listener | None = None,
) -> Packed:
    """Packs the images of the list `listing`, whose paths are relative to `root`, into `path` and its index.

    Records are in the list's order. Both files take their names when they are complete; after an error or a kill what
    was packed is kept, and `resume` goes on with it. Raises UnsupportedError if another process writes `path`,
    ResourceError if the disk is full, NothingPackedError if every image was left out, and with on_error="raise" the
    error of the first image that cannot be packed.
    """
    started = time.monotonic()
    # Lines that are none are found here.
    for written in (path, index_path(path), entry_points_path(path)):
        check_other_file("what is to be written", written, listing, "pack")
    if entry_points:
        check_entry_points(path, "pack")
    lines = 0 if _is_empty(listing) else len(_images(listing, root, labels))
    if part is None:
        part = Part(0, lines)
    job = _job(listing, root, recipe, labels, part)
    packing = _Packing(Packed(path, index_path(path)), part, labels, listener or Listener())
    finished = RecordDraft.finished_before(path, job) if resume and not is_far(path) else []
    if finished:
        packing.recall(finished)
    else:
        with _draft(path, job, resume) as draft:
            packing.recall(draft.before)
            if lines:
                rest = _images(listing, root, labels).take(part.end).skip(packing.position)
                kernels = recipe.kernels()
                packing.run(rest.map(kernels, "image") if kernels else rest, draft, on_error, workers)
            # A draft that is not finished is discarded.
            if packing.result.records or not packing.result.skipped:
                draft.finish()
                if not entry_points and not is_far(path):
                    remove_entry_points(path)
    if packing.result.skipped and not packing.result.records:
        place = listing if part == Part(0, lines) else _place_of(part, listing)
        raise NothingPackedError(*_nothing_packed(place, packing.result.skipped))
    if entry_points and packing.result.records:
        packing.result.entry_points = _write_entry_points(path)
    packing.result.seconds = time.monotonic() - started
    return packing.result


def _write_entry_points(path: str) -> int:
    """Of the finished records, whose bytes are still in the machine's memory, most likely."""
    with EntryPointFile(path) as points:
        for record in RecordScan(path):
            points.add(record.payload)
        return points.finish()


def _draft(path: str, job: str, resume: bool) -> RecordDraft | FarDraft:
    if not is_far(path):
        return RecordDraft.resume(path, job) if resume else RecordDraft.create(path, job)
    if resume:
        raise UnsupportedError(
            f"pack: {path} is in a far store, which keeps nothing of an earlier run: leave resume (--resume) out, or pack to "
            "this machine"
        )
    return FarDraft(path)


def _job(listing: str, root: str, recipe: Recipe, labels: Labels, part: Part) -> str:
    """Names what is packed and how: equal names give equal files."""
    try:
        with open_to_read(listing) as file:
            digest = _digest(file)
    except OSError as error:
        raise system_error(f"cannot read the list {listing}", error) from None
    parts = [_FORMAT, digest, absolute(root), asdict(recipe), asdict(labels), asdict(part)]
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _digest(file: BinaryIO) -> str:
    """As hashlib.file_digest, which Python 3.10 lacks."""
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _is_empty(listing: str) -> bool:
    """As the list of a chunk may be; ImageList refuses it."""
    return is_file(listing) and file_size(listing) == 0


def _images(listing: str, root: str, labels: Labels) -> Dataset:
    width = -1 if labels.width is None else labels.width
    return headrace.ImageList(listing, root, label_width=width, columns=["image", "label", "id"])


def reasons_of(skipped: Sequence[Skipped]) -> list[str]:
    """Each kind of reason with the number of its images, the most frequent first."""
    return [f"{len(images):,} × {kind}" for kind, images in _by_kind(skipped)]


def _by_kind(skipped: Sequence[Skipped]) -> list[tuple[str, list[Skipped]]]:
    kinds: dict[str, list[Skipped]] = collections.defaultdict(list)
    for image in skipped:
        kinds[_kind(image)].append(image)
    return sorted(kinds.items(), key=lambda kind: -len(kind[1]))


def _kind(image: Skipped) -> str:
    """The reason without what is the image's own: its path, and its name in quotes."""
    # Other words of the reason may contain or be the same letters.
    path, name = re.escape(_engine.printable(image.path)), _engine.printable(os.path.basename(image.path))
    reason = re.sub(rf"(?<![^\s'\"(]){path}(?![^\s'\":;,)])", "…", image.reason)
    return reason.replace(f"'{name}'", "'…'")


def _place_of(part: Part, listing: str) -> str:
    """Lines are counted from 1, without empty ones."""
    lines = f"lines {part.begin + 1:,} to {part.end:,}" if part.end > part.begin + 1 else f"line {part.end:,}"
    return f"{lines} of {listing}"


def _nothing_packed(place: str, skipped: Sequence[Skipped]) -> list[str]:
    """Lines."""
    reasons = _by_kind(skipped)
    none = "the only image could not" if len(skipped) == 1 else f"none of the {len(skipped):,} images could"
    lines = [f"{place}: {none} be packed, so no file was written:"]
    for reason, images in reasons[:_SHOWN_REASONS]:
        lines.append(f"  {len(images):,} × {reason} (first {_engine.printable(images[0].path)})")
    if len(reasons) > _SHOWN_REASONS:
        lines.append(f"  {len(reasons) - _SHOWN_REASONS:,} other reasons")
    return lines


class _Packing:
    """One run over a part of a list."""

    def __init__(self, result: Packed, part: Part, labels: Labels, listener: Listener) -> None:
        self.result = result
        self.position = part.begin
        """The line that comes next."""
        self._part = part
        self._labels = labels
        self._listener = listener

    def recall(self, before: Sequence[Checkpoint]) -> None:
        """Takes over what an earlier run did."""
        if not before:
            return
        self.position = before[-1].position
        self.result.records = self.result.kept = before[-1].records
        self.result.bytes = before[-1].record_bytes
        self.result.skipped = [Skipped(*each) for checkpoint in before for each in checkpoint.skipped]

    def run(self, images: Dataset, draft: RecordDraft | FarDraft, on_error: str, workers: int | None) -> None:
        total = self._part.end - self._part.begin
        name = os.path.basename(self.result.path)
        with SkippedLog() as log, Progress(name, total) as progress:
            if on_error == "skip":
                images = images.on_error("skip", max_errors=max(1, total), log=log.path)
            with images.iterate(bytes_as="memoryview", workers=workers) as rows:
                self._pack(kept_rows(rows), draft, log, progress)

    def _pack(self, rows: Any, draft: RecordDraft | FarDraft, log: SkippedLog, progress: Progress) -> None:
        last, last_bytes = time.monotonic(), draft.record_bytes
        while (row := self._next(rows, draft, log, progress)) is not None:
            draft.append(int(row["id"]), (self._header(row), row["image"]))
            self.position += 1
            now = time.monotonic()
            if now - last > _CHECKPOINT_S or draft.record_bytes - last_bytes > _CHECKPOINT_BYTES:
                self._checkpoint(draft, log, progress)
                last, last_bytes = now, draft.record_bytes
        self._checkpoint(draft, log, progress)

    def _next(
        self, rows: Any, draft: RecordDraft | FarDraft, log: SkippedLog, progress: Progress
    ) -> dict[str, Any] | None:
        """None: there are no more. After an error of a row the draft holds all rows before it; after any other exception
        it is what the last checkpoint says, since one may have been interrupted."""
        try:
            row: dict[str, Any] | None = next(rows, None)
        except Error:
            # The first error is the one to show.
            with contextlib.suppress(Error):
                self._checkpoint(draft, log, progress)
            raise
        return row

    def _header(self, row: dict[str, Any]) -> bytes:
        labels = row["label"].reshape(-1).tolist()
        chosen = self._labels
        packs_all = chosen.packs_all and (len(labels) > 1 or chosen.first_in_header)
        return image_header(int(row["id"]), labels, packs_all, chosen.first_in_header)

    def _checkpoint(self, draft: RecordDraft | FarDraft, log: SkippedLog, progress: Progress) -> None:
        skipped = [Skipped(each.file or f"line {each.key + 1}", each.message) for each in log.new()]
        self.position += len(skipped)
        self.result.skipped += skipped
        self.result.records, self.result.bytes = draft.records, draft.record_bytes
        for image in skipped:
            progress.clear()
            self._listener.skipped(image)
        draft.checkpoint(self.position, skipped)
        progress.at(self.position - self._part.begin)
