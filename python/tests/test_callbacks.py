"""Callbacks of a loop, and its bar."""

import io
import itertools
import re
import sys
import threading
import types
import unittest.mock

import numpy as np
import pytest

import headrace as hr
from headrace._runs.callback import Calls
from headrace.torch import Loader


class Noting(hr.Callback):
    def __init__(self):
        self.calls = []

    def epoch_begin(self, at):
        self.calls.append(("epoch_begin", at))

    def batch_begin(self, at):
        self.calls.append(("batch_begin", at))

    def batch_end(self, at):
        self.calls.append(("batch_end", at))

    def epoch_end(self, at):
        self.calls.append(("epoch_end", at))

    def said(self):
        return [(call, at.epoch, at.batch) for call, at in self.calls]


def whole_epoch(epoch, batches, first=0):
    begun = [(call, epoch, batch) for batch in range(first, batches) for call in ("batch_begin", "batch_end")]
    return [("epoch_begin", epoch, first), *begun, ("epoch_end", epoch, batches)]


def test_calls_are_made_in_the_order_of_the_loop():
    noting = Noting()
    dataset = hr.Range(10).batch(4).options(callbacks=[noting])
    for _ in range(2):
        for batch in dataset:
            noting.calls.append(("step", noting.calls[-1][1]))
            assert batch["value"].size
    steps = [each for each in noting.said() if each[0] == "step"]
    assert steps == [("step", epoch, batch) for epoch in range(2) for batch in range(3)]
    others = [each for each in noting.said() if each[0] != "step"]
    assert others == whole_epoch(0, 3) + whole_epoch(1, 3)
    said = noting.said()
    for at, each in enumerate(said):
        if each[0] == "step":
            assert said[at - 1][0] == "batch_begin" and said[at + 1][0] == "batch_end"
    assert {at.columns for _, at in noting.calls} == {("value",)}


def test_calls_are_on_the_loops_thread_when_the_loop_gets_there():
    threads = set()
    reached = []

    class Where(hr.Callback):
        def epoch_begin(self, at):
            threads.add(threading.get_ident())
            reached.append(at.epoch)

    dataset = hr.Range(4).options(callbacks=[Where()])
    first = iter(dataset)
    assert reached == []
    next(first)
    assert reached == [0]
    list(first)
    assert reached == [0], "the engine has run ahead into the next epoch"
    list(dataset)
    assert reached == [0, 1] and threads == {threading.get_ident()}


def test_a_loop_that_is_left_or_fails_calls_no_end():
    noting = Noting()
    for _ in hr.Range(5).options(callbacks=[noting]):
        break
    assert noting.said() == [("epoch_begin", 0, 0), ("batch_begin", 0, 0)]

    def fails(value):
        if value == 2:
            raise ValueError("two")
        return value

    failing = Noting()
    with pytest.raises(hr.FunctionError):
        list(hr.Range(5).map(fails, "value").iterate(callbacks=[failing]))
    assert failing.said() == whole_epoch(0, 2)[:-1]


def test_an_exception_in_a_call_loses_no_batch():
    class Raising(Noting):
        def __init__(self, fail_at):
            super().__init__()
            self.fail_at = fail_at

        def _may_fail(self, call):
            if len(self.calls) == self.fail_at:
                self.fail_at = -1
                raise KeyError(call)

        def batch_begin(self, at):
            self._may_fail("batch_begin")
            super().batch_begin(at)

        def batch_end(self, at):
            self._may_fail("batch_end")
            super().batch_end(at)

    for fail_at in range(1, 7):
        before, raising, after = Noting(), Raising(fail_at), Noting()
        iterator = hr.Range(3).iterate(callbacks=[before, raising, after])
        seen, failures = [], 0
        while True:
            try:
                seen.append(int(next(iterator)["value"]))
            except KeyError:
                failures += 1
            except StopIteration:
                break
        assert (seen, failures) == ([0, 1, 2], 1)
        for each in (before, raising, after):
            assert each.said() == whole_epoch(0, 3)


def test_a_restored_run_goes_on_with_the_numbers():
    noting = Noting()
    dataset = hr.Range(10).batch(3)
    with dataset.iterate(epoch=2) as iterator:
        next(iterator), next(iterator)
        state = iterator.state()
    list(dataset.iterate(state=state, callbacks=[noting]))
    assert noting.said() == whole_epoch(2, 4, first=2)


def test_a_call_may_take_the_state():
    states = []

    class Saving(hr.Callback):
        def batch_end(self, at):
            states.append(iterator.state())

    dataset = hr.Range(6, shuffle=True).batch(2)
    iterator = dataset.iterate(callbacks=[Saving()])
    whole = [batch["value"].tolist() for batch in iterator]
    assert len(states) == 3
    for done, state in enumerate(states, 1):
        assert [batch["value"].tolist() for batch in dataset.iterate(state=state)] == whole[done:]


def test_an_epochs_calls_that_raise_are_made_again_and_those_of_others_too():
    class Raising(hr.Callback):
        def __init__(self):
            self.failures = 0

        def fail_once(self):
            self.failures += 1
            if self.failures % 2:
                raise KeyError("once")

        def epoch_begin(self, at):
            self.fail_once()

        def epoch_end(self, at):
            self.fail_once()

    before, after = Noting(), Noting()
    dataset = hr.Range(2).options(callbacks=[before, Raising(), after])
    for epoch in range(2):
        iterator = iter(dataset)
        with pytest.raises(KeyError):
            next(iterator)
        assert [int(next(iterator)["value"]) for _ in range(2)] == [0, 1]
        with pytest.raises(KeyError):
            next(iterator)
        assert next(iterator, None) is None and next(iterator, None) is None
        for noting in (before, after):
            assert noting.said() == whole_epoch(epoch, 2)
            noting.calls.clear()


def test_the_dataset_can_be_looked_at_when_its_epoch_ends():
    seen = []

    class Previews(hr.Callback):
        def epoch_end(self, at):
            seen.append(int(next(iter(plain))["value"]))
            if at.epoch == 0:
                seen.append(int(next(iter(dataset))["value"]))

    plain = hr.Range(5, shuffle=True)
    dataset = plain.options(callbacks=[Previews()])
    first, second = ([int(row["value"]) for row in dataset] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(5))
    assert seen == [first[0], second[0], first[0]]


def test_what_cannot_be_asked_within_a_call_says_so():
    class Greedy(hr.Callback):
        def batch_begin(self, at):
            next(iterator)

    class Closing(hr.Callback):
        def epoch_end(self, at):
            iterator.close()

    iterator = hr.Range(2).iterate(callbacks=[Greedy()])
    with pytest.raises(hr.UnsupportedError, match="was asked for a row within a call that it makes"):
        next(iterator)
    iterator = hr.Range(2).iterate(callbacks=[Closing()])
    assert len(list(iterator)) == 2


def test_a_batch_that_a_signal_kept_back_is_not_called_again():
    noting = Noting()
    calls = Calls([noting], 0, ["value"])
    for batch in range(2):
        calls.ask(batch)
        calls.give()
        # The handler of a signal raised before the loop got the batch, which it asks for again.
        calls.ask(batch)
        calls.give()
    calls.ask(2)
    calls.end()
    assert noting.said() == whole_epoch(0, 2)


def test_methods_of_an_object_and_mocks_are_called():
    seen = []
    own = hr.Callback()
    own.batch_end = lambda at: seen.append(at.batch)
    mock = unittest.mock.Mock(spec=hr.Callback)
    assert len(list(hr.Range(2).iterate(callbacks=[own, mock]))) == 2
    assert seen == [0, 1]
    assert mock.epoch_end.call_count == 1 and mock.batch_begin.call_count == 2


def test_a_call_that_is_made_again_says_the_same_wait(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("headrace._runs.callback.time", types.SimpleNamespace(perf_counter=lambda: float(next(clock))))

    class Raising(hr.Callback):
        raised = False

        def batch_begin(self, at):
            if not self.raised:
                self.raised = True
                raise KeyError("once")

        epoch_end = batch_begin

    before, raising, after = Noting(), Raising(), Noting()
    calls = Calls([before, raising, after], 0, ["x"])
    for batch, call in enumerate((calls.give, calls.end)):
        raising.raised = False
        calls.ask(batch)
        for _ in range(4):
            next(clock)
        with pytest.raises(KeyError):
            call()
        calls.ask(batch)
        call()
    for each in (before, after):
        waits = [at.waited for name, at in each.calls if name in ("batch_begin", "epoch_end")]
        assert waits == [5.0, 5.0]


def test_times_are_those_of_the_loop(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("headrace._runs.callback.time", types.SimpleNamespace(perf_counter=lambda: float(next(clock))))
    noting = Noting()
    calls = Calls([noting], 0, ["x"])
    for batch in range(2):
        calls.ask(batch)
        calls.give()
    calls.ask(2)
    calls.end()
    waits = [at.waited for call, at in noting.calls if call == "batch_begin"]
    assert waits == [1.0, 1.0]
    last = noting.calls[-1][1]
    assert (last.waited, last.waited_in_epoch) == (1.0, 3.0)
    elapsed = [at.elapsed for _, at in noting.calls]
    assert elapsed[0] == 0 and elapsed == sorted(elapsed)


def test_rows_and_states_are_the_same_with_callbacks():
    dataset = hr.Range(9, shuffle=True).batch(2)
    whole = [batch["value"].tolist() for batch in dataset.iterate()]
    with dataset.iterate(callbacks=[Noting()], as_="dlpack") as watched:
        for done, expected in enumerate(whole, 1):
            assert np.from_dlpack(next(watched)["value"]).tolist() == expected
            rest = dataset.iterate(state=watched.state())
            assert [batch["value"].tolist() for batch in rest] == whole[done:]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "callbacks is 3; give a list of headrace.Callback"),
        ([Noting], r"callbacks\[0\] is <class .*give an object of headrace.Callback"),
        ([Noting(), "x"], r"callbacks\[1\] is 'x'"),
    ],
)
def test_what_is_no_callback_is_refused(given, message):
    with pytest.raises(hr.GraphError, match=message):
        hr.Range(3).options(callbacks=given)


# ---- the bar ----


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_shows_rows_a_second_and_the_share_waited():
    dataset = hr.Range(10).batch(4)
    terminal = Terminal()
    for epoch in range(2):
        batches = hr.progress(dataset, f"epoch {epoch}", file=terminal)
        assert sum(len(batch["value"]) for batch in batches) == 10
    assert dataset.epoch == 2
    last = terminal.getvalue().rpartition("\r")[2]
    assert re.search(r"epoch 1: 100%.* 3/3 .*[\d,]+ rows/s, waited \d+%", last), last


def shown_rate(batches):
    """What the bar says: the rows that it has counted, over seconds that a clock counts, or None."""
    terminal = Terminal()
    progress = hr.progress(batches, file=terminal)
    list(progress)
    last = terminal.getvalue().rpartition("\r")[2]
    assert "waited" in last
    return progress._rows if "rows/s" in last else None


def test_a_bar_counts_rows_where_batches_say_how_many():
    batched = hr.Range(6).batch(2)
    for dataset in (hr.Range(6), batched.unbatch(), hr.Range(9).filter(hr.col("value") < 6), batched, batched.take(9)):
        for as_ in ("numpy", "dlpack"):
            assert shown_rate(dataset.options(as_=as_)) == 6
            assert shown_rate(dataset.iterate(as_=as_)) == 6
    with batched.iterate() as iterator:
        next(iterator)
        state = iterator.state()
    assert shown_rate(batched.iterate(state=state)) == 4
    # A function of batches may give anything.
    assert shown_rate(batched.map(lambda x: x.sum(), "value")) is None


def test_a_loop_with_a_bar_has_the_methods_of_one_without():
    dataset = hr.Range(6).batch(2)
    for stream in (io.StringIO(), Terminal()):
        with hr.progress(dataset, file=stream) as batches:
            first = next(batches)["value"].tolist()
            rest = dataset.iterate(state=batches.state())
            assert first + [each for batch in rest for each in batch["value"].tolist()] == list(range(6))
            assert batches.epoch == 0 and batches.report()["delivered"] == 1 and "Range" in batches.explain()
        with pytest.raises(hr.ClosedError):
            next(batches)
        dataset.epoch = 0


def test_a_loop_without_a_terminal_is_quiet(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    quiet = io.StringIO()
    assert len(list(hr.progress(hr.Range(3), file=quiet))) == 3
    assert quiet.getvalue() == ""
    with pytest.raises(hr.UnsupportedError, match="pip install tqdm"):
        hr.progress(hr.Range(3), file=Terminal())
    with pytest.raises(hr.GraphError, match="give a dataset, an iterator or a Loader"):
        hr.progress([1, 2])


def test_a_bar_over_a_loader():
    loader = Loader(hr.Numpy({"value": np.arange(10)}, shuffle=True), batch_size=4, as_="numpy", as_tuple=True)
    terminal = Terminal()
    epochs = []
    for _ in range(2):
        bar = hr.progress(loader, file=terminal)
        epochs.append(bar.epoch)
        assert sorted(each for (values,) in bar for each in values.tolist()) == list(range(10))
    assert epochs == [0, 1] and loader.epoch == 2
    assert re.search(r"100%.* 3/3 .*[\d,]+ rows/s, waited \d+%", terminal.getvalue().rpartition("\r")[2])
    loop = hr.progress(loader, file=terminal)
    next(loop)
    state = loader.state_dict()
    rest = [values.tolist() for (values,) in loop]
    loader.load_state_dict(state)
    assert [values.tolist() for (values,) in hr.progress(loader, file=io.StringIO())] == rest
