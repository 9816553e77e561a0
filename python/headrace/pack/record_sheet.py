"""`write_record_sheet` writes small squares of images from all over a RecordIO file into one PNG."""

from __future__ import annotations

from headrace import sources
from headrace import vision as V
from headrace._arguments.late_numpy import np
from headrace._files.whole_file import write_whole
from headrace._records.encoded_header import encoded_header
from headrace._records.image_payload import image_payload
from headrace._runs.skipped_log import kept_rows
from headrace.errors import DataError, GraphError
from headrace.pack.record_scan import RecordScan
from headrace.sheet.grid import grid, png

__all__ = ["write_record_sheet"]

_SIDE = 96
_MOST = 1 << 14


def write_record_sheet(path: str, out: str, most: int) -> int:
    """Writes `out` and returns the number of images on it. DataError if the file holds none that can be decoded."""
    if not 1 <= most <= _MOST:
        raise GraphError(f"inspect: the sheet has {most} images; it must have 1 to {_MOST:,}")
    images = _images(path, most)
    squares = [] if not images else _squares(images)
    if not squares:
        raise DataError(f"{path} holds no image for a contact sheet")
    write_whole(out, png(grid(squares)))
    return len(squares)


def _images(path: str, most: int) -> list[bytes]:
    """Encoded, at equal distances: while records come in, every k-th is kept, and k doubles when there are too many."""
    kept: list[bytes] = []
    every = 1
    number = 0
    for record in RecordScan(path):
        image = image_payload(record.payload)
        if image is None or encoded_header(image.encoded) is None:
            continue
        if number % every == 0:
            kept.append(bytes(image.encoded))
            if len(kept) > 2 * most:
                kept, every = kept[::2], every * 2
        number += 1
    step = len(kept) / most
    return kept if step <= 1 else [kept[int(i * step)] for i in range(most)]


def _squares(images: list[bytes]) -> list[np.ndarray]:
    source = sources.Numpy({"image": np.array(images, object)})
    steps = [V.Decode(orientation=True), V.CenterSquare(), V.Resize((_SIDE, _SIDE))]
    dataset = source.map(steps, "image").on_error("skip", max_errors=len(images))
    with dataset.iterate() as rows:
        return [row["image"] for row in kept_rows(rows)]
