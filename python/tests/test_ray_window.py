"""The order in which makers are asked for runs of batches, by events alone: Ray is not needed."""

import random
import sys

import pytest

import headrace as hr
from headrace.ray.window import FIRST, LATE_SECONDS, LEAST_BYTES, Window


class World:
    """Makers that answer when they are told to, a loop that takes what is due, and a clock that is set."""

    def __init__(self, window, size=LEAST_BYTES, seconds=0.1):
        self.window, self.size, self.seconds = window, size, seconds
        self.now = 0.0
        self.asked = []
        self.taken = []

    def ask(self):
        new = self.window.asks(self.now)
        self.asked += new
        return new

    def answer(self, ask):
        self.asked.remove(ask)
        return self.window.answered(ask, self.size * (ask.run.stop - ask.run.first), self.seconds)

    def take(self):
        """All that the loop can have."""
        while (due := self.window.due) is not None and due.maker is not None:
            self.window.take()
            self.taken += range(due.first, due.stop)

    def runs(self):
        return [(ask.run.first, ask.run.stop) for ask in self.asked]


def window(first=0, stop=100, batches=None, memory=1 << 40, makers=("a", "b")):
    made = Window(first, stop, batches, memory)
    for maker in makers:
        made.maker_came(maker)
    return made


def test_no_maker_is_asked_for_more_than_it_needs_ahead():
    world = World(window())
    assert [ask.run.first for ask in world.ask()] == [0, 1, 2, 3]
    assert sorted(ask.maker for ask in world.asked) == ["a", "a", "b", "b"]
    assert world.ask() == []


def test_few_batches_are_asked_for_before_their_size_is_known():
    world = World(window(makers=[f"m{number}" for number in range(125)], stop=1000))
    assert len(world.ask()) == FIRST and world.ask() == []
    world.answer(world.asked[3])
    assert len(world.asked) + len(world.ask()) > 200
    tight = World(window(makers=[f"m{number}" for number in range(125)], memory=20 * LEAST_BYTES))
    tight.ask()
    tight.answer(tight.asked[3])
    tight.ask()
    assert max(ask.run.stop for ask in tight.asked) == 20


def test_the_loop_takes_all_batches_in_order_whatever_order_they_are_made_in():
    for seed in range(50):
        draws = random.Random(seed)
        world = World(window(3, 40), size=draws.choice([1000, LEAST_BYTES]))
        while not world.window.over:
            world.ask()
            world.answer(draws.choice(world.asked))
            world.take()
        assert world.taken == list(range(3, 40))
        assert world.window.recomputed == 0


def test_small_batches_are_joined_up_to_the_least_bytes_at_multiples():
    world = World(window(1, 100), size=LEAST_BYTES // 8, seconds=1e-4)
    while not world.window.over:
        world.ask()
        world.answer(world.asked[0])
        world.take()
        lengths = {stop - first for first, stop in world.runs() if first >= 8 and stop < 100}
        assert lengths <= {8} and all(stop % 8 == 0 for first, stop in world.runs() if stop - first > 1 and stop < 100)
    assert world.taken == list(range(1, 100))
    assert len(world.window.waiting) == 0


def test_slow_batches_are_not_joined():
    world = World(window(), size=10, seconds=3.0)
    world.ask()
    world.answer(world.asked[0])
    world.take()
    assert all(stop - first == 1 for first, stop in (world.ask(), world.runs())[1])


@pytest.mark.parametrize("batches", [1, 2, 3, 5, 17])
def test_no_more_batches_are_ahead_of_the_loop_than_the_window_has(batches):
    world = World(window(batches=batches), size=LEAST_BYTES // 4)
    while not world.window.over:
        world.ask()
        reached = max((ask.run.stop for ask in world.asked), default=0)
        assert reached - len(world.taken) <= max(1, batches)
        world.answer(world.asked[-1])
        world.take()
    assert world.taken == list(range(100))


def test_no_more_bytes_are_ahead_than_the_window_has_but_for_the_run_that_is_due():
    world = World(window(memory=3 * LEAST_BYTES))
    world.ask()
    for ask in list(world.asked):
        world.answer(ask)
    assert world.ask() == []
    world.window.take()
    world.window.take()
    assert len(world.ask()) == 1
    tight = World(window(memory=1))
    while not tight.window.over:
        tight.ask()
        tight.answer(tight.asked[0])
        tight.take()
    assert tight.taken == list(range(100))


def test_the_run_that_is_due_is_asked_for_though_makers_have_enough_to_do():
    world = World(window(makers=("a", "b")))
    world.ask()
    first = next(ask for ask in world.asked if ask.run.first == 0)
    other = "b" if first.maker == "a" else "a"
    world.asked = [ask for ask in world.asked if ask.maker == other]
    world.window.maker_gone(first.maker)
    assert [(ask.run.first, ask.maker) for ask in world.ask()] == [(0, other)]
    # What else was lost waits until the other one has less to do.
    assert world.ask() == []
    while len(world.taken) < 10:
        world.answer(min(world.asked, key=lambda ask: ask.run.first))
        world.take()
        world.ask()
    assert world.taken == list(range(10))


def test_what_a_lost_maker_made_is_made_again_unless_it_is_kept():
    for keeps in (True, False):
        world = World(window())
        world.ask()
        lost = world.asked[0].maker
        mine = [ask for ask in world.asked if ask.maker == lost]
        for ask in mine:
            world.answer(ask)
        unmade = world.window.maker_gone(lost, keeps)
        assert [run.first for run in unmade] == ([] if keeps else [ask.run.first for ask in mine])
        assert world.window.recomputed == (0 if keeps else len(mine))


def test_a_batch_that_is_lost_after_it_was_made_is_made_again():
    world = World(window())
    world.ask()
    due = next(ask for ask in world.asked if ask.run.first == 0)
    world.answer(due)
    world.window.lost(due.run)
    assert [ask.run.first for ask in world.ask()][0] == 0
    assert due.run.lost == 1


def test_a_late_batch_is_asked_for_elsewhere_and_the_first_answer_counts():
    world = World(window())
    for ask in world.ask():
        world.answer(ask) if ask.run.first else None
    late = world.asked[0]
    assert late.run.first == 0
    world.now = LATE_SECONDS - 0.01
    assert 0 not in [ask.run.first for ask in world.ask()]
    world.now = LATE_SECONDS
    again = next(ask for ask in world.ask() if ask.run.first == 0)
    assert again.maker != late.maker
    assert world.answer(again) and not world.answer(late)
    world.take()
    assert world.taken[:1] == [0]


def test_lateness_grows_with_the_time_that_batches_take():
    world = World(window(), seconds=10.0)
    for ask in world.ask():
        world.answer(ask) if ask.run.first else None
    assert world.window.late_seconds == 50.0
    world.now = 49.0
    assert 0 not in [ask.run.first for ask in world.ask()]


def test_a_silent_maker_gets_nothing_more_until_it_answers():
    world = World(window())
    world.ask()
    late = next(ask for ask in world.asked if ask.run.first == 0)
    for ask in [each for each in world.asked if each is not late]:
        world.answer(ask)
    world.now = 3.0
    again = next(ask for ask in world.ask() if ask.run.first == 0)
    for ask in [each for each in world.asked if each is not late]:
        world.answer(ask)
    world.take()
    assert {ask.maker for ask in world.ask()} == {again.maker}
    world.answer(late)
    for ask in list(world.asked):
        world.answer(ask)
    world.take()
    assert {ask.maker for ask in world.ask()} == {again.maker, late.maker}


def test_a_run_that_failed_is_asked_of_another_maker():
    world = World(window())
    world.ask()
    first = next(ask for ask in world.asked if ask.run.first == 0)
    world.asked.remove(first)
    world.window.failed(first)
    again = next(ask for ask in world.ask() if ask.run.first == 0)
    assert again.maker != first.maker
    world.asked.remove(again)
    world.window.failed(again)
    # There is no third one.
    assert 0 in [ask.run.first for ask in world.ask()]


def test_a_run_that_was_lost_with_two_makers_waits_until_the_loop_needs_it():
    world = World(window(makers=("a", "b", "c")))
    world.ask()
    fatal = next(ask.run for ask in world.asked if ask.run.first == 2)
    for maker in ("d", "e"):
        ((gone, _),) = fatal.asked.items()
        world.asked = [ask for ask in world.asked if ask.maker != gone]
        world.window.maker_gone(gone)
        world.window.maker_came(maker)
        world.ask()
    assert fatal.lost == 2 and fatal.asked == {}
    while world.taken != [0, 1]:
        world.answer(min(world.asked, key=lambda ask: ask.run.first))
        world.take()
        world.ask()
    assert len(fatal.asked) == 1


def test_a_run_that_was_lost_with_two_makers_is_asked_for_batch_by_batch():
    world = World(window(makers=("a", "b"), first=0), size=LEAST_BYTES // 4, seconds=1e-4)
    for _ in range(6):
        world.ask()
        world.answer(world.asked[0])
        world.take()
    world.ask()
    while world.window.due.asked == {} or world.window.due.stop - world.window.due.first == 1:
        world.answer(world.asked[0])
        world.take()
        world.ask()
    due, expected = world.window.due, list(range(world.window.due.first, world.window.due.stop))
    for maker in ("c", "d"):
        ((gone, _),) = due.asked.items()
        world.asked = [ask for ask in world.asked if ask.maker != gone]
        world.window.maker_gone(gone)
        world.window.maker_came(maker)
        world.ask()
    assert world.window.due.stop - world.window.due.first == 1
    before = len(world.taken)
    while len(world.taken) < 100:
        world.answer(min(world.asked, key=lambda ask: ask.run.first))
        world.take()
        world.ask()
    assert world.taken == list(range(100)) and world.taken[before : before + len(expected)] == expected


def test_runs_go_to_the_same_makers_in_the_next_epoch():
    def makers_of_runs():
        world = World(window(makers=("a", "b", "c")))
        found = {}
        while not world.window.over:
            for ask in world.ask():
                found[ask.run.first] = ask.maker
            # All answer at the same speed.
            for ask in list(world.asked):
                world.answer(ask)
            world.take()
        return found

    first, second = makers_of_runs(), makers_of_runs()
    assert first == second and set(first.values()) == {"a", "b", "c"}


def test_nobody_is_asked_without_makers_and_a_new_one_takes_over():
    world = World(window(makers=()))
    assert world.ask() == []
    world.window.maker_came("a")
    assert [ask.run.first for ask in world.ask()] == [0, 1]
    world.window.maker_gone("a")
    assert world.ask() == []
    world.window.maker_came("b")
    assert [(ask.run.first, ask.maker) for ask in world.ask()] == [(0, "b"), (1, "b")]


def test_an_epoch_without_batches_is_over():
    assert window(5, 5).over
    assert window(5, 5).asks(0.0) == []


@pytest.mark.parametrize("seed", range(100))
def test_any_order_of_losses_late_answers_and_errors_gives_each_batch_once_and_in_order(seed):
    draws = random.Random(seed)
    makers = [f"m{number}" for number in range(draws.randint(1, 4))]
    world = World(window(2, 60, draws.choice([None, 3, 12]), draws.choice([1 << 40, 1, 5000]), makers), size=1000)
    results = {}
    come = len(makers)
    for _ in range(5000):
        if world.window.over:
            break
        world.now += draws.random() * draws.choice([0.1, 3.0])
        world.ask()
        event = draws.choice(["answer", "answer", "answer", "fail", "lose", "gone", "come"])
        if event == "come" and len(makers) < 5:
            come += 1
            makers.append(f"m{come}")
            world.window.maker_came(makers[-1])
        elif event == "gone" and len(makers) > 1:
            gone = makers.pop(draws.randrange(len(makers)))
            world.asked = [ask for ask in world.asked if ask.maker != gone]
            for run in world.window.maker_gone(gone, draws.random() < 0.5):
                results.pop(run)
        elif event == "lose" and world.window.waiting:
            run = draws.choice(world.window.waiting)
            results.pop(run)
            world.window.lost(run)
        elif event == "fail" and world.asked:
            ask = world.asked.pop(draws.randrange(len(world.asked)))
            (world.window.failed if draws.random() < 0.5 else world.window.dropped)(ask)
        elif world.asked:
            ask = draws.choice(world.asked)
            if world.answer(ask):
                results[ask.run] = True
        while (due := world.window.due) is not None and due in results:
            results.pop(due)
            world.window.take()
            world.taken += range(due.first, due.stop)
    assert world.taken == list(range(2, 60))


def test_without_ray_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(hr.UnsupportedError, match="pip install ray"):
        hr.ray.feed(hr.Range(4).batch(2), 1)


def test_batches_that_do_not_come_are_asked_of_another_maker():
    for first in range(20):
        world = World(window(first, makers=("a", "b", "c")))
        due = world.ask()[0]
        world.answer(due)
        world.window.lost(due.run)
        again = next(ask for ask in world.ask() if ask.run is due.run)
        assert again.maker != due.maker
    alone = World(window(makers=("a",)))
    due = alone.ask()[0]
    alone.answer(due)
    alone.window.lost(due.run)
    assert next(ask for ask in alone.ask() if ask.run is due.run).maker == "a"


def test_a_late_run_is_asked_for_elsewhere_though_the_batches_of_all_others_did_not_come():
    world = World(window(stop=1))
    (first,) = world.ask()
    world.answer(first)
    world.window.lost(first.run)
    (silent,) = world.ask()
    assert silent.maker != first.maker
    world.now = LATE_SECONDS
    (again,) = world.ask()
    assert again.maker == first.maker
    # Once neither maker's batches came, the run is still asked for twice.
    world.answer(again)
    world.window.lost(first.run)
    world.answer(silent)
    world.window.lost(first.run)
    (third,) = world.ask()
    world.now += LATE_SECONDS
    assert [ask.maker for ask in world.ask()] == [{"a": "b", "b": "a"}[third.maker]]
