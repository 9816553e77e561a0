"""A bar for a loop on a terminal or in a notebook: tqdm's, with rows a second and the share of the time that the loop waited."""

import sys
import time
from collections.abc import Iterator as TypingIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TextIO, runtime_checkable

from headrace import _engine
from headrace._arguments.options import shown
from headrace._datasets.dataset import Dataset
from headrace._runs.iterator import Iterator
from headrace._runs.loop_target import refuse_names
from headrace.errors import GraphError, UnsupportedError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["progress", "tqdm_class"]


@runtime_checkable
class _GivesLoops(Protocol):
    """What begins a loop over its batches, as a Loader does."""

    def __len__(self) -> int: ...

    def _begun_loop(self) -> tuple[TypingIterator[Any], Iterator]:
        """The loop, and the run that it is over."""


def progress(
    batches: Dataset | Iterator | _GivesLoops, description: str | None = None, *, file: TextIO | None = None
) -> "Progress":
    """The batches, with a bar that says how far the epoch is, on the terminal or in a notebook:
    `for batch in hr.progress(ds)`.

    After tqdm's own figures it shows rows a second, where the batches are as `batch` made them, and `waited`: the share
    of the time that the loop has spent waiting for batches. If that is near 0%, the pipeline is fast enough. Elsewhere,
    where the file is not a terminal, it shows nothing. What it gives has the methods of an iterator, such as `state()`.

    Args:
        batches: A dataset or a `headrace.torch.Loader`, whose next epoch it runs, or an iterator.
        description: What stands before the bar.
        file: Where the bar is written; None: stderr, or the cell of a notebook.

    Raises:
        UnsupportedError: tqdm is not installed, and there is a terminal or a notebook.
    """
    if not isinstance(batches, (Dataset, Iterator, _GivesLoops)):
        raise GraphError(f"progress: the batches are {shown(batches)}; give a dataset, an iterator or a Loader")
    stream = sys.stderr if file is None else file
    in_cell = file is None and _in_notebook()
    if not (in_cell or stream.isatty()):
        return Progress(*_begun(batches), None)
    shown_description = None if description is None else _engine.printable(description)
    # A bar of a cell takes no file.
    place = {} if in_cell else {"file": stream}
    bar = tqdm_class(in_cell)(total=_length(batches), desc=shown_description, unit="batch", **place)
    return Progress(*_begun(batches), bar)


def _begun(batches: Dataset | Iterator | _GivesLoops) -> tuple[TypingIterator[Any], Iterator]:
    if isinstance(batches, (Dataset, Iterator)):
        run = iter(batches)
        return run, run
    return batches._begun_loop()


class Progress:
    """A loop over a run, with the bar that counts what it gives."""

    def __init__(self, loop: TypingIterator[Any], iterator: Iterator, bar: Any) -> None:
        self._loop = loop
        self._iterator = iterator
        self._bar = bar
        self._begun = time.perf_counter()
        self._waited = 0.0
        self._rows: int | None = 0

    def __iter__(self) -> "Self":
        if self._iterator._gives_dicts:
            refuse_names()
        return self

    def __next__(self) -> Any:
        asked = time.perf_counter()
        try:
            batch = next(self._loop)
        except BaseException:
            self._end_bar()
            raise
        if self._bar is not None:
            self._show(batch, asked)
        return batch

    @property
    def epoch(self) -> int:
        """The epoch that it runs."""
        return self._iterator.epoch

    def state(self) -> bytes:
        """As `Iterator.state()`."""
        return self._iterator.state()

    def explain(self) -> str:
        """As `Iterator.explain()`."""
        return self._iterator.explain()

    def report(self) -> dict[str, Any]:
        """As `Iterator.report()`."""
        return self._iterator.report()

    def close(self) -> None:
        """As `Iterator.close()`; the bar stays as it is."""
        self._end_bar()
        self._iterator.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _show(self, batch: Any, asked: float) -> None:
        now = time.perf_counter()
        self._waited += now - asked
        elapsed = max(now - self._begun, 1e-9)
        joined = self._iterator._joined
        rows = 1 if joined is False else self._iterator._rows_of(batch) if joined else None
        self._rows = None if rows is None or self._rows is None else self._rows + rows
        rate = "" if self._rows is None else f"{self._rows / elapsed:,.0f} rows/s, "
        self._bar.set_postfix_str(f"{rate}waited {self._waited / elapsed:.0%}", refresh=False)
        self._bar.update()

    def _end_bar(self) -> None:
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.close()


def _in_notebook() -> bool:
    """Whether this is a kernel of Jupyter, whose stderr is not a terminal."""
    # A program that has not imported IPython is no kernel of it.
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "IPKernelApp" in getattr(ipython, "config", ())


def tqdm_class(in_cell: bool = False) -> Any:
    """`in_cell`: that of widgets in a notebook, or of text there without ipywidgets. UnsupportedError: tqdm is not
    installed."""
    try:
        if in_cell:
            from tqdm.auto import tqdm
        else:
            from tqdm import tqdm
    except ImportError:
        raise UnsupportedError("progress needs tqdm, which is not installed here: pip install tqdm") from None
    return tqdm


def _length(batches: Dataset | Iterator | _GivesLoops) -> int | None:
    try:
        return None if isinstance(batches, Iterator) else len(batches)
    except TypeError:
        return None
