"""How many makers there are, by who waits: Ray is not needed."""

import pytest

from headrace.ray.scaling import PERIOD_SECONDS, PERIODS_UNTIL_FEWER, Scaling


class Loop:
    """A loop that needs so many makers at work, in a time of its own: what makers lack is time that it waits."""

    def __init__(self, scaling: Scaling, room: int = 1000) -> None:
        self.scaling, self.now, self.room = scaling, 0.0, room
        self.worked: dict[int, float] = {}
        scaling.begin()

    def run(self, needed: float, periods: int, settled: bool = True) -> list[int]:
        """The counts after each period."""
        counts = []
        for _ in range(periods):
            for _ in range(10):
                self.scaling.changed(self.now, settled and self.scaling.count <= self.room)
                self.step(needed, PERIOD_SECONDS / 9)
            counts.append(self.scaling.count)
        return counts

    def step(self, needed: float, seconds: float) -> None:
        count = min(self.room, self.scaling.count)
        share = min(1.0, needed / count)
        for maker in range(count):
            self.worked[maker] = self.worked.get(maker, 0.0) + share * seconds
            self.scaling.worked(maker, self.worked[maker])
        self.scaling.waited(max(0.0, 1 - count / needed) * seconds)
        self.now += seconds


@pytest.mark.parametrize("needed", [0.3, 1.0, 2.6, 7.0, 11.5])
@pytest.mark.parametrize("first", [1, 4, 16])
def test_there_come_to_be_about_as_many_as_are_needed(needed, first):
    scaling = Scaling(1, 16)
    assert scaling.begin_with(first) == first
    counts = Loop(scaling).run(needed, 40)
    # A loop that waits for a tenth of its time is taken for one that does not.
    assert 0.9 * needed <= counts[-1] <= max(1, 1.25 * needed + 1)
    assert len(set(counts[-5:])) == 1


def test_the_bounds_hold():
    assert Loop(Scaling(2, 5)).run(100.0, 10)[-1] == 5
    scaling = Scaling(2, 5)
    scaling.begin_with(5)
    assert Loop(scaling).run(0.1, 40)[-1] == 2
    assert Scaling(3, 5).begin_with(1) == 3 and Scaling(3, 5).begin_with(9) == 5


def test_makers_that_wait_end_after_some_periods_alone():
    scaling = Scaling(1, 8)
    scaling.begin_with(8)
    loop = Loop(scaling)
    counts = loop.run(1.0, PERIODS_UNTIL_FEWER + 1)
    assert counts[: PERIODS_UNTIL_FEWER - 1] == [8] * (PERIODS_UNTIL_FEWER - 1) and counts[-1] == 4
    # One period in which the loop waits is enough for more.
    loop.run(16.0, 2)
    assert scaling.count == 8


def test_nothing_changes_while_makers_start_and_between_loops():
    scaling = Scaling(1, 8)
    loop = Loop(scaling)
    assert loop.run(8.0, 5, settled=False) == [1] * 5
    scaling.begin_with(4)
    loop.run(4.0, 1)
    scaling.begin()
    loop.now += 3600.0
    assert loop.run(4.0, 1) == [4]


def test_where_the_cluster_has_no_room_none_is_added_and_makers_that_wait_end():
    scaling = Scaling(1, 16)
    loop = Loop(scaling, room=4)
    assert loop.run(100.0, 6)[-1] == 8
    counts = loop.run(0.5, 4 * PERIODS_UNTIL_FEWER)
    assert counts[: PERIODS_UNTIL_FEWER - 1] == [8] * (PERIODS_UNTIL_FEWER - 1)
    assert counts[PERIODS_UNTIL_FEWER] == 4 and counts[-1] == 1


def test_what_was_waited_while_makers_started_brings_no_more_of_them():
    scaling = Scaling(1, 16)
    scaling.begin_with(4)
    loop = Loop(scaling, room=2)
    loop.run(100.0, 1)
    for _ in range(5):
        scaling.changed(loop.now, False)
        loop.step(100.0, PERIOD_SECONDS / 6)
    loop.room = 1000
    assert loop.run(2.0, 2) == [4, 4]
