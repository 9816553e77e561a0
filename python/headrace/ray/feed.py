"""`Feed` takes an epoch's batches of makers, in the order of their numbers, and has what is lost made again."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from headrace._arguments.doubts import warn_once
from headrace._arguments.source_location import SourceLocation
from headrace._runs.explanation import Explanation
from headrace._runs.iterator import again
from headrace._runs.loop_target import refuse_names
from headrace.errors import ClosedError, Error, UnsupportedError
from headrace.ray.given_batches import GivenBatches
from headrace.ray.maker import Failure, Made
from headrace.ray.makers import Makers, Member
from headrace.ray.place import Place
from headrace.ray.raised_by_signals import raised_by_signals
from headrace.ray.sent_graph import sent_graph
from headrace.ray.tally import MakerTally, Tally
from headrace.ray.window import Ask, Run, Window

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace._datasets.dataset import Dataset

__all__ = ["OF_MAKERS", "Feed"]

# A run's error is the data's if it was the same so many times; and the last one is given after so many.
SAME_ERRORS = 3
MOST_ERRORS = 9
# Makers that were lost while they were asked for one run.
MOST_LOST = 12
_POLL_SECONDS = 0.25
_START_SECONDS = 30.0
# Options of the run that makers are given.
OF_MAKERS = ("seed", "shard", "even", "workers", "group", "memory", "cache", "optimize", "disabled_passes")
# What the loop's side does, or nobody.
_OF_LOOP = (
    "as_",
    "as_tuple",
    "callbacks",
    "device",
    "device_depth",
    "device_memory",
    "profile",
    "profile_events",
    "storage",
)


class _Asked(NamedTuple):
    """A call that was not answered yet: what is said of the run comes first, then its batches."""

    ask: Ask
    member: Member
    batches: Any


class _Result(NamedTuple):
    made: Made
    batches: Any
    member: Member


class _Ready(NamedTuple):
    """Batches that came, from number `first` on; None: the loop has had it."""

    first: int
    batches: list[Any]

    @property
    def stop(self) -> int:
        return self.first + len(self.batches)


class Feed:
    """Iterates over the batches of one epoch, which makers make. Made by `hr.ray.feed`; one thread at a time takes batches.

    It ends with its epoch, or earlier by `close()`, by the end of a `with` block or when it is no longer referenced. Then
    its makers end, unless they are those of `hr.ray.Makers`.
    """

    def __init__(
        self,
        dataset: Dataset,
        place: Place,
        makers: Makers,
        own: bool,
        batches: GivenBatches,
        window: Window,
        location: SourceLocation,
        most_failed: int | None = None,
    ) -> None:
        """`most_failed`: so many rows of a run may fail, and each is a `Failure`; None: an error ends the feed."""
        self._closed = True
        self._makers, self._own = makers, own
        self._ray = makers._ray
        self._place, self._batches, self._window, self._location = place, batches, window, location
        self._key = uuid.uuid4().hex
        self._number = place.first
        self._ready = _Ready(place.first, [])
        # Whether what makers were asked for, and what they answered, is being noted: see `_notes`.
        self._noting = False
        self._error: BaseException | None = None
        self._tally = Tally()
        self._members: dict[int, Member] = {}
        # Makers that cannot make these batches, by number.
        self._refused: dict[int, BaseException] = {}
        # By the call's reference: makers that open the pipeline, and runs that were asked for.
        self._openings: dict[Any, Member] = {}
        self._asked: dict[Any, _Asked] = {}
        self._results: dict[Run, _Result] = {}
        self._errors: dict[Run, Counter[str]] = {}
        self._fetches: Counter[Run] = Counter()
        # Of the makers that opened the pipeline.
        self._nodes: dict[int, str] = {}
        self._closed = False
        self._ended = self._stopped = False
        try:
            self._sent = self._send(dataset, most_failed)
            self._makers._began()
            self._meet_makers()
        except BaseException:
            self.close()
            raise

    def _send(self, dataset: Dataset, most_failed: int | None) -> Any:
        """Puts the pipeline into Ray's store, from which each node takes it once."""
        chosen = self._place.options
        options = {name: chosen[name] for name in OF_MAKERS if name in chosen}
        options.setdefault("workers", self._makers.cpus)
        if chosen["as_"] == "arrow":
            options["as_"] = "arrow"
        plain = dataset.options(**dict.fromkeys(_OF_LOOP))
        # Makers keep it, with its caches, for epochs in which it is the same.
        plain.epoch = 0
        sent = sent_graph(plain, self._place.epoch, options)
        return self._ray.put(sent._replace(most_failed=most_failed))

    # ---- what the loop sees ----

    @property
    def epoch(self) -> int:
        """The epoch that it runs."""
        return self._place.epoch

    @property
    def pad(self) -> Any:
        """As `Iterator.pad`."""
        return self._batches.pad

    def __iter__(self) -> Self:
        if self._batches.are_dicts:
            refuse_names()
        return self

    def __next__(self) -> Any:
        if self._closed and not self._ended:
            raise ClosedError("the feed was closed; make a new one by hr.ray.feed(…)")
        self._makers._check_process("feed")
        if self._noting:
            self._begin_again()
        while self._number >= self._ready.stop:
            if self._error is not None:
                self._raise_error(self._error)
            if self._ended or self._window.over:
                self._end()
                raise StopIteration
            self._take_due()
        # Makers are asked for more before the loop works on the last batch of a run.
        if self._number + 1 == self._ready.stop and self._error is None and not self._window.over:
            self._turn(0.0)
        first, batches = self._ready
        if self._number > first:
            batches[self._number - 1 - first] = None
        made = batches[self._number - first]
        batch = made if isinstance(made, Failure) else self._batches.made(made)
        self._tally.given += 1
        # Without a call after it, where a signal could take the batch on its way to the loop.
        self._number += 1
        return batch

    def _begin_again(self) -> None:
        """The makers stay; what they were asked for is asked for again."""
        for member in self._members.values():
            self._tell_closed(member)
        self._key = uuid.uuid4().hex
        for noted in (self._members, self._openings, self._asked, self._results, self._errors, self._fetches):
            noted.clear()
        self._window = self._window.again(max(self._number, self._ready.stop))
        self._noting = False

    def _raise_error(self, error: BaseException) -> NoReturn:
        was_given, self._ended = self._ended, True
        self.close()
        raise again(error) if was_given else error

    def state(self) -> bytes:
        """The position after the last batch given: `dataset.iterate(state=…)` and `hr.ray.feed(dataset, state=…)` go on with
        the next one. It is the single machine's, and valid in another process."""
        return self._place.state(self._number)

    def scale(self, count: int | tuple[int, int]) -> None:
        """Sets the number of makers from now on. (least, most): by who waits, as `hr.ray.Makers` says."""
        self._makers.scale(count)

    def explain(self) -> str:
        """What each maker made, what was made again, and how long the loop waited."""
        self._tally.recomputed = self._window.recomputed
        return Explanation(self._tally.text(f"Feed of epoch {self.epoch}, before batch {self._number}"))

    def report(self) -> dict[str, Any]:
        """The figures of `explain()`."""
        self._tally.recomputed = self._window.recomputed
        return self._tally.report()

    def stop(self) -> None:
        """Ends the wait of another thread for a batch, with ClosedError."""
        self._stopped = True

    def close(self) -> None:
        """Ends the run: its makers end, and what they made is let go of. Closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._makers._of_another_process:
            return
        self._place.close(self._number)
        self._asked.clear()
        self._openings.clear()
        self._results.clear()
        self._ready = _Ready(self._number, [])
        self._sent = None
        if self._own:
            self._makers.close()
            return
        for member in self._members.values():
            self._tell_closed(member)

    def _tell_closed(self, member: Member) -> None:
        if not self._makers._connected:
            return
        try:
            with raised_by_signals():
                member.actor.close.remote(self._key)
        except Exception:  # Ray was shut down.
            return

    def _end(self) -> None:
        self._ended = True
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Feed cannot be copied or pickled, for it is one run; pass its state(), and make another there"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Missing if __init__ raised.
        if not getattr(self, "_closed", True):
            self.close()

    def __repr__(self) -> str:
        state = "ended" if self._ended else "closed" if self._closed else "open"
        return f"<headrace.ray.Feed of epoch {self.epoch}: {self._tally.given} given, {state}>"

    # ---- the run that is due ----

    def _take_due(self) -> None:
        """Waits for it; `_ready` and `_error` are its batches and its error then, or `_error` is the feed's."""
        since = heard = time.monotonic()
        try:
            self._turn(0.0)
            while self._error is None and not self._take_ready():
                if self._stopped:
                    raise ClosedError("the feed was closed")
                now = time.monotonic()
                self._makers._waited(now - heard)
                heard = now
                self._turn(_POLL_SECONDS)
                if not self._window.makers and time.monotonic() - since > _START_SECONDS:
                    self._warn_of_starts()
        finally:
            now = time.monotonic()
            self._makers._waited(now - heard)
            self._tally.wait(now - since)

    def _warn_of_starts(self) -> None:
        warn_once(
            f"feed: no maker has started in {_START_SECONDS:.0f} s; `ray status` says whether the cluster has what "
            "resources= asks for",
            self._location,
        )

    def _take_ready(self) -> bool:
        """Whether it was made, and its batches came."""
        due = self._window.due
        result = None if due is None else self._results.get(due)
        if due is None or result is None:
            return False
        # Twice as long each time, as large batches may take longer than others take to be made.
        patience = self._window.late_seconds * 2 ** min(self._fetches[due], 20)
        self._fetches[due] += 1
        try:
            with raised_by_signals():
                batches = self._ray.get(result.batches, timeout=patience)
        except self._ray.exceptions.GetTimeoutError:
            with self._notes():
                self._lose(due)
            return False
        except self._ray.exceptions.RayError as error:
            with raised_by_signals(), self._notes():
                self._lose(due)
                self._note_loss(result.member, error)
            return False
        with self._notes():
            self._ready = _Ready(due.first, list(batches))
            if result.made.failure is not None:
                self._error = result.made.failure.again()
            self._window.take()
            for kept in (self._results, self._errors, self._fetches):
                kept.pop(due, None)
        return True

    def _lose(self, run: Run) -> None:
        """The run was made, and its batches are gone."""
        self._results.pop(run, None)
        self._window.lost(run)
        self._check_lost(run)

    def _check_lost(self, run: Run) -> None:
        if run.lost > MOST_LOST:
            raise UnsupportedError(
                f"feed: {run.lost} makers were lost while they made batches {run.first} to {run.stop - 1}, or held them; "
                "the log of Ray's workers says why"
            )

    # ---- calls and answers ----

    @contextlib.contextmanager
    def _notes(self) -> Iterator[None]:
        """An error of the feed or of Ray within it is the feed's last, as `_error`. Any other may be what a signal's
        handler raised, which leaves what is noted half done: the feed begins again after the batches that are ready."""
        self._noting = True
        try:
            yield
        except (Error, self._ray.exceptions.RayError) as error:
            self._error = error
        self._noting = False

    @raised_by_signals()
    def _turn(self, seconds: float) -> None:
        """Asks for what is to be asked for, and takes answers, for which it waits so long."""
        now = time.monotonic()
        waited_for: list[Any] = []
        with self._notes():
            self._meet_makers()
            if self._makers._turn(now, settled=len(self._window.makers) + len(self._refused) >= len(self._makers)):
                self._meet_makers()
            for ask in self._window.asks(now):
                self._call(ask)
            waited_for = [*self._openings, *self._asked]
        if not waited_for:
            return
        most = 1 if seconds > 0 else len(waited_for)
        ready, _ = self._ray.wait(waited_for, num_returns=most, timeout=seconds)
        with self._notes():
            for reference in ready:
                if reference in self._openings:
                    self._opened(reference)
                elif reference in self._asked:
                    self._answered(reference)

    def _call(self, ask: Ask) -> None:
        member = self._members[ask.maker]  # type: ignore[index]
        method = member.actor.make.options(num_returns=2)
        made, batches = method.remote(self._key, ask.run.first, ask.run.stop)
        self._asked[made] = _Asked(ask, member, batches)

    def _answered(self, reference: Any) -> None:
        ask, member, batches = self._asked[reference]
        try:
            made: Made = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise self._broken(member, error) from error
        except self._ray.exceptions.RayError as error:
            self._asked.pop(reference, None)
            self._window.dropped(ask)
            self._note_loss(member, error)
            self._check_lost(ask.run)
            return
        self._asked.pop(reference, None)
        self._makers._made(member, made.worked)
        tally = self._tally.makers[member.number]
        tally.batches += made.batches
        tally.bytes += made.bytes
        tally.seconds += made.seconds
        if made.errors and not self._is_certain(ask.run, made.errors):
            self._window.failed(ask)
            return
        if self._window.answered(ask, made.bytes, made.seconds):
            self._results[ask.run] = _Result(made, batches, member)
            # Its batches come while the loop works.
            self._ray.wait([batches], timeout=0)

    def _is_certain(self, run: Run, error: str) -> bool:
        """Whether the error of a run is the one that the loop is to get."""
        self._tally.errors += 1
        errors = self._errors.setdefault(run, Counter())
        errors[error] += 1
        return errors[error] >= SAME_ERRORS or errors.total() >= MOST_ERRORS

    def _broken(self, member: Member, error: Any) -> Error:
        return UnsupportedError(f"feed: {member} failed: {getattr(error, 'cause', error)}")

    # ---- makers ----

    def _meet_makers(self) -> None:
        members = {member.number: member for member in self._makers._living}
        for member in [each for number, each in self._members.items() if number not in members]:
            self._forget(member, "ended")
        for number, member in members.items():
            if number not in self._members and number not in self._refused:
                self._members[number] = member
                self._tally.makers.setdefault(number, MakerTally())
                self._openings[member.actor.open.remote(self._key, self._sent)] = member
        if not self._members:
            raise next(iter(self._refused.values()), ClosedError("feed: there are no makers"))

    def _opened(self, reference: Any) -> None:
        member = self._openings[reference]
        try:
            card = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            self._openings.pop(reference, None)
            self._refuse(member, error.cause if isinstance(error.cause, BaseException) else error)
            return
        except self._ray.exceptions.RayError as error:
            self._openings.pop(reference, None)
            self._note_loss(member, error)
            return
        self._openings.pop(reference, None)
        where = f"{card.host} ({card.node[:8]}), process {card.process}"
        if differs := self._place.identity.difference(card.identity):
            self._refuse(member, UnsupportedError(f"feed: {member} on {where} would make other batches: {differs}"))
            return
        self._tally.makers[member.number].place = where
        self._nodes[member.number] = card.node
        member.at_work = True
        self._window.maker_came(member.number)

    def _refuse(self, member: Member, reason: BaseException) -> None:
        """Goes on without a maker that cannot make the batches. Its error is the loop's if there is no other one."""
        self._refused[member.number] = reason
        self._forget(member, "refused")
        self._tell_closed(member)
        if self._members:
            warn_once(f"feed goes on without {member}: {reason}", self._location)

    def _note_loss(self, member: Member, reason: BaseException) -> None:
        """After an error that says that the maker or its node is gone; where it lives, nothing is to be done."""
        gone = isinstance(reason, self._ray.exceptions.RayActorError) or not self._lives(member)
        if gone and self._members.get(member.number) is member:
            self._forget(member, "lost")
            self._makers._replace(member, reason)

    def _lives(self, member: Member) -> bool:
        node = self._nodes.get(member.number)
        return any(each["NodeID"] == node and each["Alive"] for each in self._ray.nodes())

    def _forget(self, member: Member, why: str) -> None:
        self._members.pop(member.number, None)
        self._tally.makers[member.number].lost = why
        for reference in [each for each, opening in self._openings.items() if opening is member]:
            del self._openings[reference]
        for reference in [each for each, asked in self._asked.items() if asked.member is member]:
            del self._asked[reference]
        for run in self._window.maker_gone(member.number, self._lives(member)):
            self._results.pop(run, None)
