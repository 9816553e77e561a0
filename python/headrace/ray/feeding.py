"""`feed` runs an epoch of a dataset on makers of a Ray cluster, with the batches of the single machine in their order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from headrace._arguments.doubts import warn_once
from headrace._arguments.options import MOST_AT_ONCE, check_beginning, flag, memory_bytes, shown, whole
from headrace._arguments.options import epoch as checked_epoch
from headrace._arguments.other_libraries import unknown_keyword
from headrace._arguments.source_location import SourceLocation, users_location
from headrace._datasets.adapters.orders import rows_together
from headrace._datasets.runs import Runs
from headrace._runs.run_options import RunOptions
from headrace.errors import GraphError, UnsupportedError
from headrace.ray.feed import OF_MAKERS, Feed
from headrace.ray.feed_of_rows import FeedOfRows, MadeRows
from headrace.ray.given_batches import GivenBatches
from headrace.ray.installed import ray_or_error
from headrace.ray.makers import Makers, checked_count
from headrace.ray.place import Beginning, Place
from headrace.ray.window import MOST_BATCHES, Window

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from headrace._datasets.dataset import Dataset
    from headrace._datasets.runs import Barrier

__all__ = ["feed"]

# Rows are given to the pipeline above as they are.
_ROWS = {"as_": None, "as_tuple": None, "bytes_as": None}
# Options that a feed does not take, and what to do instead.
_OF_LOOP = {
    "device": "copy batches to it in the loop",
    "callbacks": "call them in the loop",
    "profile": "profile the pipeline on one machine, and see explain() of the feed",
}
# Its parameters, without those of runs.
_NAMES = ("makers", "resources", "setup", "epoch", "start", "state", "window", "window_memory", "copy")
_NAMES_OF_MAKERS = ("actors", "num_actors", "num_makers", "num_workers", "num_parallel_workers")
# What makers have for themselves, where a part of the pipeline runs here.
_NOT_ABOVE = ("workers", "optimize", "cache")


class FeedParameters(TypedDict, total=False):
    """Those options of `Dataset.iterate` that a feed has."""

    seed: int | None
    shard: tuple[int, int] | None
    even: Literal["off", "drop", "pad"] | None
    as_: Literal["numpy", "torch", "arrow"] | None
    as_tuple: bool | Sequence[str] | None
    workers: int | None
    group: int | None
    memory: int | str | None
    cache: str | os.PathLike[str] | None
    optimize: bool | None
    disabled_passes: str | Sequence[str] | None


def feed(
    dataset: Dataset,
    makers: int | tuple[int, int] | Makers = 1,
    *,
    resources: Mapping[str, Any] | None = None,
    setup: Callable[[], Any] | None = None,
    epoch: int | None = None,
    start: int | None = None,
    state: bytes | None = None,
    window: int | None = None,
    window_memory: int | str = "512MiB",
    copy: bool = True,
    **options: Unpack[FeedParameters],
) -> Feed | FeedOfRows:
    """Runs one epoch of the dataset on makers, which are actors of a Ray cluster: an iterator whose batches are those of
    `dataset.iterate(…)` with the same seed, epoch, shard, even, start and state, bit for bit and in the same order.

    Calls `ray.init()` where nobody has. Makers may be lost, come and go, and so may nodes: what is missing is made again
    by another maker.

    Args:
        makers: How many actors; (2, 16): between 2 and 16 by who waits; or `hr.ray.Makers`, which live longer than the
            epoch.
        resources: Of each maker, as `hr.ray.Makers` takes them.
        setup: What each maker calls before it opens the pipeline, as `hr.ray.Makers` takes it.
        epoch: As `iterate` takes it.
        start: As `iterate` takes it.
        state: From `Feed.state()`, or from the iterator of a single machine.
        window: The most batches that may be made ahead of the loop; by default two runs of batches a maker are made at once,
            as far as `window_memory` allows.
        window_memory: The most bytes of these: a number, or a text such as "4GiB". Ray's store holds them. Where makers wait
            for the loop and the loop waits for batches, give more: twice what is made in the time that a batch takes.
        copy: Whether arrays are copied for the loop. False: they are read-only, and hold memory of Ray's store as long as
            they live. Tensors are always copies.
        options: Those of `iterate` by the same names: seed, shard, even, as_ ("numpy", "torch", or "arrow" with pyarrow),
            as_tuple, workers (of each maker; by default its num_cpus), group, memory (of each maker), cache (a folder on
            the makers' nodes), optimize, disabled_passes.
    """
    location = users_location()
    ray_or_error("hr.ray.feed")
    _check_names(options)
    if not isinstance(makers, Makers):
        checked_count(makers, "feed", "makers")
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    chosen = _chosen(dataset, given)
    check_beginning(start, state, "feed")
    ahead = None if window is None else whole("window", window, 1, "feed", MOST_AT_ONCE)
    most_bytes = memory_bytes(window_memory, "feed", "window_memory")
    first = None if start is None else whole("start", start, 0, "feed")
    if epoch is not None:
        checked_epoch(epoch, "feed")
    if isinstance(makers, Makers) and (resources is not None or setup is not None):
        raise GraphError("feed: resources and setup are arguments of hr.ray.Makers, which were made without these")
    copies = flag("copy", copy, "feed")
    beginning = Beginning.of(dataset, epoch, state, chosen)

    def new_pool() -> tuple[Makers, bool]:
        return _pool(makers, resources, setup)

    def placed(
        of: Dataset, place: Place, pool: Makers, own: bool, batches: GivenBatches, most_failed: int | None = None
    ) -> Feed:
        ranges = Window(place.first, place.stop, ahead, most_bytes)
        return Feed(of, place, pool, own, batches, ranges, location, most_failed)

    place, refused = _place(dataset, beginning, first)
    if place is not None:
        try:
            if state is None or place.holds(state):
                as_given = GivenBatches(chosen["as_"], chosen["as_tuple"], place.names, copies)
                return placed(dataset, place, *new_pool(), as_given)
        except BaseException:
            place.close(place.first)
            raise
        place.close(place.first)
    of_rows, barrier = _feed_of_rows(dataset, beginning, refused, given, state, new_pool, placed)
    _warn_of_rows(dataset, barrier, location)
    if state is not None:
        dataset.epoch = beginning.epoch + 1
    return _after(of_rows, first or 0)


def _feed_of_rows(
    dataset: Dataset,
    beginning: Beginning,
    refused: UnsupportedError | None,
    given: dict[str, Any],
    state: bytes | None,
    new_pool: Callable[[], tuple[Makers, bool]],
    placed: Callable[[Dataset, Place, Makers, bool, GivenBatches, int], Feed],
) -> tuple[FeedOfRows, Barrier]:
    """Makers make the rows below a barrier, and the rest runs here."""
    with _naming_the_feed(_NUMBERED):
        barrier = dataset._barrier(refused)
        rows = barrier.rows
        if rows is not barrier.below and (unnumbered := rows._without_ranges()) is not None:
            raise unnumbered
    of_rows = Beginning(beginning.epoch, _of_rows(rows, beginning.options), 0)
    _, world = of_rows.options["shard"] or (0, 1)
    pool, own = new_pool()

    def made(epoch: int, shard: tuple[int, int], number: int) -> Feed:
        of_rank = Beginning(epoch, of_rows.options.changed({"shard": shard}, "feed"), 0)
        place = Place(rows, of_rank, number)
        as_made = GivenBatches("numpy", False, place.names, False)
        return placed(rows, place, pool, False, as_made, _most_failed(dataset))

    try:
        running = MadeRows(made, _count(rows, of_rows), world, rows_together(rows))
        above = {name: value for name, value in given.items() if name not in _NOT_ABOVE}
        above["epoch"] = None if state is not None else beginning.epoch
        with _naming_the_feed():
            iterator = dataset._iterate_over(running, barrier=barrier, state=state, **above)
    except BaseException:
        if own:
            pool.close()
        raise
    return FeedOfRows(iterator, running, pool, own), barrier


def _check_names(options: Mapping[str, Any]) -> None:
    for name in options:
        if name in _NAMES_OF_MAKERS:
            raise TypeError(f"feed() has no parameter {name}; the number of actors is called makers: feed(…, makers=4)")
        if name not in FeedParameters.__annotations__ and name not in _OF_LOOP:
            raise unknown_keyword("feed", name, [*_NAMES, *FeedParameters.__annotations__])


def _chosen(dataset: Dataset, given: dict[str, Any]) -> RunOptions:
    """The options of the run. UnsupportedError, with what to do instead, for those that a feed does not take."""
    if not isinstance(dataset, Runs):
        raise GraphError(f"feed: dataset is {shown(dataset)}; give a Dataset")
    chosen = dataset._options.changed(given, "feed")
    for name, instead in _OF_LOOP.items():
        if name in chosen:
            raise UnsupportedError(f"feed: the dataset has the option {name}, which a feed does not take: {instead}")
    if chosen["as_"] == "dlpack":
        raise UnsupportedError('feed: as_="dlpack" is for memory of this process; NumPy\'s arrays have __dlpack__, too')
    return chosen


_NUMBERED = (
    "; makers are asked for rows by their numbers, so below what needs rows in order there must be one source that has "
    "them, such as files, arrays, records with an index or from_dataset"
)


@contextlib.contextmanager
def _naming_the_feed(advice: str = "") -> Iterator[None]:
    try:
        yield
    except UnsupportedError as error:
        reason, *lines = str(error).split("\n")
        error._reword("\n".join([f"feed: {reason}{advice}", *lines]))
        raise


def _place(dataset: Dataset, beginning: Beginning, start: int | None) -> tuple[Place | None, UnsupportedError | None]:
    """Or why batches are not found by their numbers."""
    try:
        return Place(dataset, beginning, start), None
    except UnsupportedError as error:
        return None, error


def _after(feed: FeedOfRows, batches: int) -> FeedOfRows:
    """After so many batches, which it takes and drops."""
    try:
        for _ in range(batches):
            if next(feed, None) is None:
                break
    except BaseException:
        feed.close()
        raise
    return feed


def _pool(
    makers: int | tuple[int, int] | Makers, resources: Mapping[str, Any] | None, setup: Callable[[], Any] | None
) -> tuple[Makers, bool]:
    """The makers, and whether they are the feed's own."""
    if isinstance(makers, Makers):
        return makers, False
    return Makers(makers, resources=resources, setup=setup), True


def _warn_of_rows(dataset: Dataset, barrier: Barrier, location: SourceLocation) -> None:
    if barrier.rows._node is dataset._node:
        return  # makers make all of it
    warn_once(f"feed: {_why_rows(dataset, barrier)}, and the rest runs in this process", location)


def _why_rows(dataset: Dataset, barrier: Barrier) -> str:
    refused = barrier.refused
    if refused is None:
        return (
            "the state was taken in a run that was shared among another number of ranks, so to the end of this epoch its "
            "batches are not those of this rank by number; makers make rows by their numbers"
        )
    if barrier.below._node is dataset._node:
        return (
            'with on_error("skip") later rows take the places of those that fail, so the number of a batch does not say '
            "which rows it has; makers make rows by their numbers"
        )
    return (
        f"from {refused.operator} on, written at {refused.location}, the number of a batch does not say which rows it has; "
        "so makers make the rows below it"
    )


def _most_failed(dataset: Dataset) -> int:
    """Rows of a run that may fail: one more ends it. Where the first error ends the loop, rows after the one that failed may
    come before it, as out of a window."""
    policy = dataset._on_error
    return policy.max_errors + 1 if policy is not None and policy.skips else MOST_BATCHES


def _of_rows(rows: Dataset, options: RunOptions) -> RunOptions:
    of_makers = {name: options[name] for name in OF_MAKERS if name in options}
    # Which rows of a whole epoch are left out is decided here.
    padded = {"even": "pad" if options["even"] == "pad" else None}
    return rows._options.changed({**_ROWS, **of_makers, **padded}, "feed")


def _count(rows: Dataset, beginning: Beginning) -> int:
    """The rows of all ranks."""
    everything = rows.options(shard=None, seed=beginning.options["seed"])
    everything.epoch = beginning.epoch
    return len(everything)
