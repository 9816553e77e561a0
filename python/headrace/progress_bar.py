"""A bar for a loop on a terminal: tqdm's, with rows a second and the share of the time that the loop waited."""

import sys
import time
from collections.abc import Iterator as Batches
from contextlib import closing
from typing import Any, TextIO

from headrace.dataset import Dataset
from headrace.errors import GraphError, UnsupportedError
from headrace.iterator import Iterator
from headrace.options import shown

__all__ = ["progress"]


def progress(
    batches: Dataset | Iterator, description: str | None = None, *, file: TextIO | None = None
) -> Batches[dict[str, Any]]:
    """The batches, with a bar on the terminal that says how far the epoch is: `for batch in hr.progress(ds)`.

    Behind tqdm's own figures it shows rows a second, and `waited`: the share of the time that the loop has spent waiting
    for batches. If that is near 0%, the pipeline is fast enough. Where the file is no terminal, it shows nothing.

    Args:
        batches: A dataset, whose next epoch it runs, or an iterator.
        description: What stands before the bar.
        file: Where the bar is written; None: stderr.

    Raises:
        UnsupportedError: tqdm is not installed, and there is a terminal.
    """
    if not isinstance(batches, (Dataset, Iterator)):
        raise GraphError(f"progress: the batches are {shown(batches)}; give a dataset or an iterator")
    stream = sys.stderr if file is None else file
    return _shown(batches, description, stream) if stream.isatty() else iter(batches)


def _shown(batches: Dataset | Iterator, description: str | None, stream: TextIO) -> Batches[dict[str, Any]]:
    dataset = batches if isinstance(batches, Dataset) else None
    bar = _tqdm()(total=_length(dataset), desc=description, unit="batch", file=stream)
    joined = dataset is not None and _joins_rows(dataset)
    return _counted(iter(batches), bar, joined)


def _tqdm() -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        raise UnsupportedError("progress needs tqdm, which is not installed here: pip install tqdm") from None
    return tqdm


def _length(dataset: Dataset | None) -> int | None:
    try:
        return None if dataset is None else len(dataset)
    except TypeError:
        return None


def _joins_rows(dataset: Dataset) -> bool:
    """Whether its rows are batches."""
    while not (dataset._node.joins_rows or dataset._node.splits_rows):
        if not dataset._inputs:
            return False
        dataset = dataset._inputs[0]
    return dataset._node.joins_rows


def _counted(iterator: Iterator, bar: Any, joined: bool) -> Batches[dict[str, Any]]:
    begun = time.perf_counter()
    waited = 0.0
    rows = 0
    with closing(bar):
        while True:
            asked = time.perf_counter()
            batch = next(iterator, None)
            now = time.perf_counter()
            waited += now - asked
            if batch is None:
                return
            rows += len(next(iter(batch.values()))) if joined else 1
            elapsed = max(now - begun, 1e-9)
            bar.set_postfix_str(f"{rows / elapsed:,.0f} rows/s, waited {waited / elapsed:.0%}", refresh=False)
            bar.update()
            yield batch
