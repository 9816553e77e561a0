"""`Group`: consumers that get the same batches, and the epochs that they run.

Batches wait here until the slowest consumer has taken them. Each consumer is at a place of one succession of batches, ends
of epochs among them; the stream may be as far ahead of the slowest one, or of the fastest, as is stated.
Threads: that of the server's loop."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from typing import Any

from headrace._datasets.dataset import Dataset
from headrace._share.memory import Pool, Slot
from headrace._share.sent_errors import sent
from headrace._share.stream import Item, Opened, Place, Refused, State, Stream
from headrace.errors import ClosedError, Error, GraphError, StateError

__all__ = ["Begin", "Group", "Located", "Member", "Settings", "shown_state"]


@dataclasses.dataclass(frozen=True)
class Settings:
    """How batches are dealt out.

    Attributes:
        ahead: Batches that wait for a consumer.
        slow: Whether a consumer that is so far behind holds the others ("wait"), or is left ("drop").
        consumers: Those that must ask before the first batch is made.
    """

    ahead: int = 4
    slow: str = "wait"
    consumers: int = 1


@dataclasses.dataclass(frozen=True)
class Begin:
    """Where a consumer begins: after a state, or at a batch of an epoch."""

    epoch: int
    start: int
    state: bytes | None


# The epoch and the number of batches that a state is after.
Located = tuple[int, int]


class Member:
    """A consumer, as the group sees it.

    Attributes:
        sent: The number of the item that it gets next.
        taken: The number of the first item that it has not taken.
        asked: Whether it runs an epoch, so that items are sent.
        placed: Whether it has run one.
    """

    def __init__(self, reply: Callable[[dict[str, Any]], None], deliver: Callable[[Item, int], None]) -> None:
        self.reply, self.deliver = reply, deliver
        self.sent = self.taken = 0
        self.asked = self.placed = False
        self.begin: Begin | None = None
        # By its number: the memory of an item, and the item's number.
        self.held: dict[int, tuple[Slot, int]] = {}


# Opens a run at its beginning.
OpenRun = Callable[[Begin], Stream]


class Group:
    """Consumers of the same batches.

    Attributes:
        dataset: What they run.
        options: What they agree on besides their place: by name, as it was given.
        latest: The last run, which reports are about.
    """

    def __init__(
        self, settings: Settings, pool: Pool, dataset: Dataset, options: dict[str, Any], open_run: OpenRun
    ) -> None:
        self._settings, self._pool, self.dataset, self.options = settings, pool, dataset, options
        self._open_run = open_run
        self.members: list[Member] = []
        # Those that wait for others, or for the run to be opened.
        self._waiting: list[Member] = []
        self._items: deque[Item] = deque()
        self._first = 0
        # That of the stream after its last item.
        self._tail: Place | None = None
        self._columns: list[str] = []
        self.stream: Stream | None = None
        # Where the stream was told to begin.
        self._begin: Begin | None = None
        self._opened = False
        self._allowed = 0
        self._begun = False
        self.latest: Stream | None = None

    @property
    def _end(self) -> int:
        return self._first + len(self._items)

    # ---- consumers come and go ----

    def ask(self, member: Member, begin: Begin, located: Located | None = None) -> bool:
        """A consumer asks for an epoch. False: the server must find out where its state is, and ask again with that."""
        member.begin = begin
        if member not in self.members:
            self.members.append(member)
            member.sent = member.taken = self._end
        if not self._begun:
            self._waiting.append(member)
            self._begin_if_all()
            if not self._begun:
                member.reply({"kind": "waiting"})
            return True
        if self.stream is not None and not self._opened:
            self._waiting.append(member)
            return True
        is_new = not member.placed
        places = self._places(self._first if is_new else member.sent)
        for number, place in places:
            if _begins_at(begin, place, located):
                self._take_part(member, number, place)
                return True
        if places and begin.state is not None and located is None:
            return False
        if self.stream is None and (is_new or not places):
            self._start(member)
            return True
        self._refuse(member, _elsewhere(places[0][1], begin, located))
        return True

    def _places(self, first: int) -> list[tuple[int, Place]]:
        """Where a consumer can begin, from an item on."""
        found = [(number, self._items[number - self._first].before) for number in range(first, self._end)]
        if self.stream is not None and self._tail is not None:
            found.append((self._end, self._tail))
        return found

    def _begin_if_all(self) -> None:
        if self._begun or len(self._waiting) < self._settings.consumers:
            return
        self._begun = True
        self._start(self._waiting.pop(0))

    def _start(self, member: Member) -> None:
        assert member.begin is not None and self.stream is None
        # It is the first to be told.
        self._waiting.insert(0, member)
        self._begin = member.begin
        self._opened = False
        self._allowed = self._end
        self.stream = self.latest = self._open_run(member.begin)

    def _take_part(self, member: Member, number: int, place: Place) -> None:
        member.sent = member.taken = number
        member.asked = member.placed = True
        member.reply(
            {
                "kind": "opened",
                "epoch": place.epoch,
                "given": place.given,
                "number": number,
                "columns": self._columns,
                "state": shown_state(place.state),
            }
        )
        self._advance()

    def _refuse(self, member: Member, error: Error) -> None:
        member.reply({"kind": "refused", "error": sent(error)})
        self.leave(member)

    def disagreement(self, options: dict[str, Any]) -> Error | None:
        for name, here in self.options.items():
            if options[name] != here:
                return GraphError(
                    f"connect: {name} is {options[name]!r}, and the other consumers of these batches gave {here!r}: give the "
                    "same, or give this one group=, which has a pipeline of its own"
                )
        return None

    def leave(self, member: Member) -> None:
        """A consumer is gone, with all that it held."""
        if member in self._waiting:
            self._waiting.remove(member)
        if member not in self.members:
            return
        self.members.remove(member)
        member.asked = False
        if not self.members:
            self.end()
            return
        self._begin_if_all()
        self._advance()

    def end(self) -> None:
        if self.stream is not None:
            self.stream.cancel()
            self.stream = None
        while self._items:
            self._drop_first()

    # ---- what the stream says ----

    def take_in(self, given: Opened | Refused | Item) -> None:
        if isinstance(given, Opened):
            self._be_open(given)
        elif isinstance(given, Refused):
            self.stream = None
            waiting, self._waiting = self._waiting, []
            for member in waiting:
                self._refuse(member, given.error)
        else:
            self._append(given)

    def _be_open(self, opened: Opened) -> None:
        self._opened = True
        self._columns, self._tail = opened.columns, opened.place
        waiting, self._waiting = self._waiting, []
        for member in waiting:
            begin = member.begin
            assert begin is not None
            # Who had it opened may be gone.
            if begin == self._begin or _begins_at(begin, opened.place, None):
                self._take_part(member, self._end, opened.place)
            else:
                self._refuse(member, _elsewhere(opened.place, begin, None))
        self._advance()

    def _append(self, item: Item) -> None:
        self._items.append(item)
        if item.slot is not None:
            item.slot.holders += 1
        self._tail = item.after
        if item.last:
            self.stream = None
        self._advance()

    # ---- what consumers say ----

    def taken(self, member: Member, number: int) -> None:
        """It has taken all items before this number, which it numbers as they were sent."""
        member.taken = max(member.taken, min(number, member.sent))
        self._advance()

    def released(self, member: Member, number: int) -> None:
        held = member.held.pop(number, None)
        if held is not None:
            self._let_go(held[0])

    def released_after(self, member: Member, number: int) -> None:
        """It will have nothing of the items from this number on, and has what it was given before."""
        for each, (_, item) in list(member.held.items()):
            if item > number:
                self.released(member, each)

    # ---- the flow ----

    def _advance(self) -> None:
        if not self.members:
            return
        if self._settings.slow == "drop":
            self._drop_slow()
        for member in self.members:
            self._send_to(member)
        slowest = min(member.taken for member in self.members)
        while self._first < slowest and self._items:
            self._drop_first()
        if self.stream is None or not self._opened:
            return
        wanted = self._settings.ahead + self._leader()
        if wanted > self._allowed:
            self.stream.allow(wanted - self._allowed)
            self._allowed = wanted

    def _leader(self) -> int:
        """The number of items taken by the consumer that the stream is ahead of."""
        of = max if self._settings.slow == "drop" else min
        return of(member.taken for member in self.members)

    def _send_to(self, member: Member) -> None:
        while member.asked and member.sent < self._end and member.sent >= self._first:
            item = self._items[member.sent - self._first]
            if item.slot is not None:
                item.slot.holders += 1
                member.held[item.slot.number] = item.slot, member.sent + 1
            member.sent += 1
            if item.last:
                member.asked = False
            member.deliver(item, member.sent)

    def _drop_first(self) -> None:
        item = self._items.popleft()
        self._first += 1
        if item.slot is not None:
            self._let_go(item.slot)

    def _let_go(self, slot: Slot) -> None:
        slot.holders -= 1
        if slot.holders == 0:
            self._pool.give(slot)

    def _drop_slow(self) -> None:
        most = max(member.taken for member in self.members)
        for member in [each for each in self.members if most - each.taken > self._settings.ahead]:
            error = ClosedError(
                f"this consumer was left, for it was more than {self._settings.ahead} batches behind the others: take "
                f'batches sooner, or share with slow="wait" or a larger ahead= (it was {most - member.taken} behind)'
            )
            member.reply({"kind": "refused", "error": sent(error)})
            self.members.remove(member)
            member.asked = False


def _begins_at(begin: Begin, place: Place, located: Located | None) -> bool:
    if begin.state is None:
        return place.is_at(begin.epoch, begin.start)
    return begin.state == place.state or (located is not None and place.is_at(*located))


def _elsewhere(place: Place, begin: Begin, located: Located | None) -> StateError:
    epoch, start = located or (begin.epoch, begin.start)
    asked = "another state" if begin.state is not None and located is None else f"batch {start} of epoch {epoch}"
    return StateError(
        f"connect: the other consumers of these batches are at {place}, and this one asks for {asked}: connect all before "
        "the first takes a batch (share's consumers= waits for them), at one place, or give this one group=, which has a "
        "pipeline of its own"
    )


def shown_state(state: State) -> Any:
    return state.hex() if isinstance(state, bytes) else state
