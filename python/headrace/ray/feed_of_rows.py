"""`FeedOfRows` runs here what needs rows in order, such as a filter, over the rows below, which makers make by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from headrace._runs.explanation import Explanation
from headrace._runs.iterator import Iterator, again
from headrace._runs.loop_target import refuse_names
from headrace.errors import Error
from headrace.ray.maker import Failure
from headrace.ray.makers import Makers

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.ray.feed import Feed

__all__ = ["FeedOfRows", "MadeRows"]

# In the place of a row after the last one.
_END = object()


class MadeRows:
    """The rows of epochs by their positions among those of all ranks, as the engine asks for them: one thread at a time.

    Args:
        make: Gives the feed of an epoch and a shard that begins with one of its rows, by its number.
        count: The rows of all ranks.
        world: How many ranks there are. The first position of an epoch says whose rows these are: after a state that
            another number of ranks took, a rank may have the rows that are another's in the whole epoch.
        together: Ranks have so many rows in succession.
    """

    def __init__(
        self, make: Callable[[int, tuple[int, int], int], Feed], count: int, world: int, together: int = 1
    ) -> None:
        self._make = make
        self._count = count
        self._world = world
        self._together = together
        self._epoch: int | None = None
        self._rank: int | None = None
        # The row that the feed gives next; None: it is not that of the rank.
        self._next: int | None = None
        # Made when the first row is asked for, with that one.
        self.feed: Feed | None = None
        # By their positions, rows of a run and errors in the place of rows, which are asked for again one by one.
        self._kept: dict[int, Any] = {}
        # What ended the feed.
        self._error: Exception | None = None
        self._stopped = False

    def __len__(self) -> int:
        return self._count

    def __getitems__(self, positions: Sequence[int], epoch: int) -> list[Any]:
        """Raises the error of a row, or what ended the feed. After that of a run of rows, the feed goes on after it."""
        if epoch != self._epoch:
            self._begin(epoch)
        rows = [self._kept.pop(position, None) or self._row(position) for position in positions]
        error = next((row for row in rows if isinstance(row, Exception)), None)
        if error is None:
            return rows
        if len(positions) > 1:
            self._kept = dict(zip(positions, rows, strict=True))
        try:
            raise error
        finally:
            # Its frame would keep them alive.
            del error, rows

    def _begin(self, epoch: int) -> None:
        self.close()
        self.feed, self._epoch, self._rank = None, epoch, None
        self._kept = {}

    def _row(self, position: int) -> Any:
        """Or the error in its place."""
        if self._error is not None:
            return self._error
        group, within = divmod(position, self._together)
        round_, rank = divmod(group, self._world)
        if self._rank is None:
            self._rank = rank
        if rank != self._rank:
            return IndexError(f"row {position} is of another rank than {self._rank} of {self._world}")
        try:
            row = self._given(rank, round_ * self._together + within)
            if row is _END:
                row = self._given_alone(group, within)
        except Exception as error:
            self._error = error
            return error
        return row.again() if isinstance(row, Failure) else row

    def _given(self, rank: int, number: int) -> Any:
        """The rank's row, or `_END`."""
        feed = self.feed
        if feed is None or number != self._next:
            feed = self._begin_feed((rank, self._world), number)
        self._next = number + 1
        return next(feed, _END)

    def _given_alone(self, group: int, within: int) -> Any:
        """Of a group that no rank has in the whole epoch: after a state that another number of ranks took, the last round
        may pad beyond it. It is the last one of so many ranks that each has one group."""
        feed = self._begin_feed((group, group + 1), within)
        self._next = None
        return next(feed)

    def _begin_feed(self, shard: tuple[int, int], number: int) -> Feed:
        self.close()
        assert self._epoch is not None
        feed = self.feed = self._make(self._epoch, shard, number)
        # By another thread, which did not see this one.
        if self._stopped:
            feed.stop()
        return feed

    def stop(self) -> None:
        """As `Feed.stop`."""
        self._stopped = True
        if self.feed is not None:
            self.feed.stop()

    def close(self) -> None:
        if self.feed is not None:
            self.feed.close()


class FeedOfRows:
    """As a `Feed`, over rows that makers make, where batches cannot be found by their numbers. Made by `hr.ray.feed`."""

    def __init__(self, running: Iterator, rows: MadeRows, makers: Makers, own: bool) -> None:
        self._running, self._rows, self._makers, self._own = running, rows, makers, own
        self._error: BaseException | None = None

    @property
    def epoch(self) -> int:
        return self._running.epoch

    @property
    def pad(self) -> Any:
        return self._running.pad

    def __iter__(self) -> Self:
        if self._running._gives_dicts:
            refuse_names()
        return self

    def __next__(self) -> Any:
        if self._error is not None:
            raise again(self._error)
        try:
            return next(self._running)
        except StopIteration:
            self.close()
            raise
        except Error as error:
            # As where there is no memory now: the batch waits.
            if self._running._engine is not None:
                raise
            self.close()
            self._error = again(error)
            raise

    def state(self) -> bytes:
        """As `Feed.state`."""
        return self._running.state()

    def scale(self, count: int | tuple[int, int]) -> None:
        """As `Feed.scale`."""
        self._makers.scale(count)

    def explain(self) -> str:
        """As `Feed.explain`, about rows in the place of batches, and what runs here."""
        made = "" if self._rows.feed is None else self._rows.feed.explain()
        return Explanation(f"{made}{self._running.explain()}")

    def report(self) -> dict[str, Any]:
        """As `Feed.report`."""
        return {} if self._rows.feed is None else self._rows.feed.report()

    def close(self) -> None:
        """As `Feed.close`."""
        self._rows.stop()
        self._running.close()
        self._rows.close()
        if self._own:
            self._makers.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a feed cannot be copied or pickled, for it is one run; pass its state(), and make another there"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Missing if __init__ raised.
        if hasattr(self, "_error"):
            self.close()
