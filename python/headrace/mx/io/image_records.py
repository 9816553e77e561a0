"""The image records of an iterator: their order, and the part of them that is read."""

import re
from typing import Any, Literal

import numpy as np

import headrace
from headrace._arguments import options
from headrace._datasets.dataset import Dataset
from headrace.errors import GraphError
from headrace.mx.io.given_values import paths_of

__all__ = ["ONE_WIDTH", "TORN", "ImageRecords", "chunk_of", "given_paths", "threads_of"]

# What `headrace.ImageRecord` says in other words than the iterators of MXNet's parameters, for `EngineBatches.WORDING`.
ONE_WIDTH = (
    re.compile(r"; set label_width to the number of labels, or to -1 if it varies"),
    "; set label_width to the number of labels, or read records of objects by an iterator of detection",
)
TORN = (
    re.compile(r"^(?:.*: )?the record at byte [\d,]+ (?:is cut off|ends at byte).*$", re.MULTILINE),
    r"\g<0>; `headrace index FILE.rec --on-damage skip` writes the index of the good records, for path_imgidx",
)


class ImageRecords:
    """The records, in their order or shuffled, and the part of them that is read."""

    def __init__(
        self,
        *,
        paths: Any,
        index: Any,
        path_imglist: Any,
        label_width: int,
        shuffle: bool,
        chunk: dict[str, Any],
        part: tuple[int, int],
        of: str,
    ) -> None:
        paths_of("path_imgrec", paths, of)
        self._records: dict[str, Any] = {
            "paths": paths,
            "index": index,
            "path_imglist": path_imglist,
            "label_width": label_width,
        }
        self._shuffle = shuffle
        self._chunk = chunk
        self._part = part
        self._of = of
        self._by_number = index is not None
        self.shard = part if part[1] > 1 and not self._by_number else None

    def rows(self, counted: bool) -> tuple[Dataset, int | None]:
        """The rows, and how many there are, where that is known; with `counted` also those of a part of bytes, in which
        rows cannot be numbered as they come."""
        if self._by_number:
            return self._run_of_rows()
        if self.shard is None:
            return self._in_splits(), None
        if not counted:
            return self._in_splits(), None
        return self._in_splits(), self._count()

    def to_skip(self, counted: bool) -> str:
        """What must be given for rows to be left out, if those of a part are counted; empty: nothing."""
        return "" if self.shard is None or not counted else 'path_imgidx, or path_imgidx="build"'

    def all_rows(self) -> Dataset:
        """Of all parts, in the order of the files."""
        return headrace.ImageRecord(**self._records)

    def _run_of_rows(self) -> tuple[Dataset, int]:
        rows = headrace.ImageRecord(**self._records, shuffle=self._shuffle)
        total, (part, parts) = len(rows), self._part
        if parts == 1:
            return rows, total
        length = -(-total // parts)
        first = min(part * length, total)
        end = min(first + length, total)
        return rows.select(np.arange(first, end)), end - first

    def _in_splits(self) -> Dataset:
        sharding: Literal["contiguous"] | None = None if self.shard is None else "contiguous"
        if not self._chunk:
            return headrace.ImageRecord(**self._records, shuffle=self._shuffle, sharding=sharding)
        splits = headrace.ImageRecord(**self._records, shuffle=True, window=0, sharding=sharding, **self._chunk)
        return splits.shuffle(1024)

    def _count(self) -> int:
        """Reads the part once."""
        records = headrace.ImageRecord(**self._records, sharding="contiguous", columns=["id"])
        with records.batch(65536).iterate(shard=self.shard) as batches:
            return sum(len(batch["id"]) for batch in batches)


def given_paths(paths: Any) -> Any:
    """None in place of MXNet's empty text."""
    return None if isinstance(paths, str) and not paths else paths


def chunk_of(size: int, seed: int, shuffle: bool, by_number: bool, of: str) -> dict[str, Any]:
    """The splits that are read in random order, as attributes of the source."""
    megabytes = options.whole("shuffle_chunk_size", size, of=of)
    number = options.whole("shuffle_chunk_seed", seed, of=of)
    for name, value in (("shuffle_chunk_size", megabytes), ("shuffle_chunk_seed", number)):
        if value and (by_number or not shuffle):
            raise GraphError(
                f"{of}: {name} is {value}; it is for shuffle=True without path_imgidx. With an index all rows are shuffled"
            )
    if number and not megabytes:
        raise GraphError(f"{of}: shuffle_chunk_seed is {number}; it needs shuffle_chunk_size")
    return {"split_bytes": megabytes << 20, "seed": number} if megabytes else {}


def threads_of(given: Any, of: str) -> int | None:
    if given is None:
        return None
    return options.whole("preprocess_threads", given, 1, of, options.MOST_AT_ONCE)
