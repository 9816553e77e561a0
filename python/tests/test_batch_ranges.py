"""Ranges of an epoch's batches: `iterate(start=a, stop=b)`, and many ranges made by one run."""

import contextlib
import itertools
import logging
import multiprocessing
import pickle
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import headrace as hr
from headrace._runs.identity import Identity

BY = hr.parameter("by", lambda epoch: 10 * epoch)
SOURCE = hr.Range(50, shuffle=True)
EXACT = {
    "rows": SOURCE.take(20),
    "batches": SOURCE.batch(4),
    "batches of a function": SOURCE.batch(4, function=lambda value, info: [each + 100 * info.number for each in value]),
    "batches of a function and its draws": SOURCE.batch(4, function=lambda value, rng: value[0] + rng.integers(1000)),
    "epochs of a function": SOURCE.batch(4, function=lambda value, info: [value[0] * 0 + info.epoch]),
    "windows": hr.Range(40).window(3, shift=2),
    "whole batches": SOURCE.batch(4, drop_remainder=True),
    "map that draws": SOURCE.map(lambda x, rng: x + rng.integers(100), "value").batch(4),
    "take and skip": SOURCE.take(30).skip(3).batch(4),
    "zip": SOURCE.zip(hr.Range(50).rename({"value": "b"})).batch(4),
    "cache": hr.Range(40).cache().batch(3),
    "cache below a map that draws": hr.Range(40).cache().map(lambda x, rng: x + rng.integers(100), "value").batch(3),
    "transparent cache": SOURCE.cache(transparent=True).batch(3),
    "sampler": hr.Range(40).sample(hr.Weighted(np.arange(1, 41))).batch(3),
    "mix": hr.mix([hr.Range(30, shuffle=True), hr.Range(20)], [2, 1], "all").batch(3),
    "concat": hr.Range(10).concat(hr.Range(30, shuffle=True)).batch(3),
    "objects": hr.from_dataset(list(range(30)), columns="x", shuffle=True).batch(4),
    "groups": hr.Range(40).sample(hr.PK(2, 2, [number % 5 for number in range(40)])).batch(8),
    "steps on batches": SOURCE.batch(4).map(lambda value: value * 2, "value"),
    "parameter": SOURCE.map(lambda x, by=BY: x + by, "value").batch(4),
    "empty": SOURCE.take(0).batch(4),
}
# With the operator that hides the numbers, and what more the error says.
REFUSED = {
    "shuffle": (hr.Range(50).shuffle(10).batch(4), "shuffle[1]", "does not say which rows it has"),
    "filter": (hr.Range(50).filter(hr.col("value") % 2 == 0).batch(3), "filter[1]", "does not say which rows"),
    "repeat": (hr.Range(10, shuffle=True).repeat(3).batch(4), "repeat[1]", "does not say which rows"),
    "take of batches": (SOURCE.batch(4).take(6), "take[2]", "does not say which rows"),
    "generator": (
        hr.Generator(lambda epoch: iter(range(40)), ["x"]).batch(3),
        "Generator[0]",
        "gives its rows one after the other",
    ),
    "batches of batches": (hr.Range(40).batch(2).batch(3), "batch[2]", "does not say which rows"),
    "unbatch": (hr.Range(40).batch(4).unbatch(), "unbatch[2]", "does not say which rows"),
    "sizes": (hr.Range(40).batch(lambda info: info.number % 3 + 1), "python_batch[1]", "does not say which rows"),
    "skipped rows": (hr.Range(40).batch(3).on_error("skip"), None, r"later rows take the places of those that fail"),
}


def same(found, wanted):
    found, wanted = list(found), list(wanted)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert np.asarray(ours[name]).dtype == np.asarray(theirs[name]).dtype
            np.testing.assert_array_equal(ours[name], theirs[name])


def numbers(batches):
    return [batch["value"].tolist() for batch in batches]


@pytest.mark.parametrize("name", EXACT)
def test_a_range_is_that_part_of_the_epoch(name):
    ds = EXACT[name]
    whole = list(ds.iterate(epoch=2))
    draws = np.random.default_rng(3)
    with ds._batch_ranges(epoch=2) as ranges:
        assert ranges.batches == len(whole) and ranges.epoch == 2
        for _ in range(12):
            start, stop = (int(each) for each in draws.integers(0, len(whole) + 3, 2))
            same(ranges.make(start, stop), whole[start:stop])
    for start, stop in (
        (None, 2),
        (1, 3),
        (2, len(whole)),
        (0, len(whole) + 5),
        (len(whole) + 1, len(whole) + 2),
        (3, 1),
    ):
        same(ds.iterate(epoch=2, start=start, stop=stop), whole[start or 0 : stop])
    assert ds.epoch == 0


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("even", ["off", "pad", "drop"])
def test_of_each_rank_too(name, even):
    for rank in range(3):
        given = {"epoch": 1, "shard": (rank, 3), "even": even}
        try:
            whole = list(EXACT[name].iterate(**given))
        except hr.UnsupportedError:
            continue
        with EXACT[name]._batch_ranges(**given) as ranges:
            assert ranges.batches == len(whole)
            for start, stop in ((1, 3), (0, 1), (2, 9), (0, 99)):
                same(ranges.make(start, stop), whole[start:stop])


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_numbers_is_refused_by_name(name):
    ds, operator, reason = REFUSED[name]
    for begin in (lambda: ds.iterate(start=1, stop=2), lambda: ds.iterate(stop=2), ds._batch_ranges):
        with pytest.raises(hr.UnsupportedError, match=reason) as refused:
            begin()
        assert refused.value.operator == operator


def test_lines_name_how_to_give_them_numbers(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    with pytest.raises(hr.UnsupportedError, match='run the epoch from its start, or give it index="build"') as refused:
        hr.Text(tmp_path / "a.txt").iterate(stop=1)
    assert refused.value.operator == "Text[0]"
    assert len(list(hr.Text(tmp_path / "a.txt", index="build").iterate(start=1, stop=2))) == 1


def test_no_other_rows_are_made():
    made = []

    def note(value):
        made.append(int(value))
        return value

    ds = hr.Range(1000).map(note, "value").batch(5)
    assert numbers(ds.iterate(start=3, stop=5)) == [[15, 16, 17, 18, 19], [20, 21, 22, 23, 24]]
    assert sorted(made) == list(range(15, 25))


def test_a_wrong_range_is_refused():
    ds = hr.Range(3)
    with pytest.raises(hr.GraphError, match="stop is -1; it must be at least 0"):
        ds.iterate(stop=-1)
    with ds.iterate() as running, pytest.raises(hr.GraphError, match="give stop or state, not both"):
        ds.iterate(stop=1, state=running.state())
    with pytest.raises(hr.UnsupportedError, match="device is of a loop over batches"):
        ds._batch_ranges(device="cpu:0")
    with ds._batch_ranges() as ranges, pytest.raises(hr.GraphError, match="first is -1"):
        ranges.make(-1, 2)


@pytest.mark.parametrize("name", ["rows", "batches", "batches of a function", "groups", "cache", "whole batches"])
def test_states_are_those_of_the_whole_epoch(name):
    ds = EXACT[name]
    whole = list(ds.iterate(epoch=2))
    with ds._batch_ranges(epoch=2) as ranges:
        for start in (3, 0, len(whole) - 2):
            part = ranges.make(start, start + 2)
            with pytest.raises(hr.StateError, match="no state before its first batch"):
                part.state()
            for number, _ in enumerate(part, start):
                same(ds.options().iterate(state=part.state()), whole[number + 1 :])
            ended = start + 2 == len(whole)
            same(ds.options().iterate(state=part.state()), list(ds.iterate(epoch=3)) if ended else whole[start + 2 :])
    with ds.iterate(epoch=2, start=1, stop=3) as part:
        same(part, whole[1:3])
        same(ds.options().iterate(state=part.state()), whole[3:])
    with ds.iterate(epoch=2, start=1, stop=len(whole)) as part:
        same(part, whole[1:])
        same(ds.options().iterate(state=part.state()), list(ds.iterate(epoch=3)))


def test_a_state_is_of_the_batch_that_was_given_whatever_others_took():
    ds = SOURCE.batch(4)
    whole = list(ds.iterate())
    with ds._batch_ranges() as ranges:
        first, second = ranges.make(2, 6), ranges.make(8, 10)
        next(first)
        next(second)
        same(ds.options().iterate(state=first.state()), whole[3:])
        next(first)
        same(ds.options().iterate(state=first.state()), whole[4:])
        same(ds.options().iterate(state=second.state()), whole[9:])


def test_callbacks_see_the_numbers_of_the_epoch():
    class Notes(hr.Callback):
        def __init__(self):
            self.seen = []

        def batch_begin(self, at):
            self.seen.append((at.epoch, at.batch))

    notes = Notes()
    assert len(list(hr.Range(12).batch(3).iterate(epoch=5, start=1, stop=3, callbacks=[notes]))) == 2
    assert notes.seen == [(5, 1), (5, 2)]


@pytest.mark.parametrize(
    "options",
    [
        {"executor": "pull"},
        {"workers": 1, "window": 1},
        {"workers": 7, "group": 3},
        {"group": 100},
        {"optimize": False},
        {"as_": "dlpack"},
        {"as_tuple": True},
    ],
)
def test_options_change_no_byte(options):
    ds = SOURCE.map(lambda x, rng: x + rng.integers(100), "value").batch(4)
    whole = list(ds.iterate(epoch=1, **options))
    with ds._batch_ranges(epoch=1, **options) as ranges:
        parts = [ranges.make(start, start + 3) for start in (9, 0, 4)]
        for start, part in zip((9, 0, 4), parts, strict=True):
            found = list(part)
            assert len(found) == 3
            for ours, theirs in zip(found, whole[start : start + 3], strict=True):
                ours, theirs = (each if isinstance(each, tuple) else list(each.values()) for each in (ours, theirs))
                np.testing.assert_array_equal(np.from_dlpack(ours[0]), np.from_dlpack(theirs[0]))


def test_a_range_goes_to_a_device_too():
    whole = list(SOURCE.batch(4).iterate(epoch=3))
    same(
        [
            {"value": np.asarray(batch["value"])}
            for batch in SOURCE.batch(4).iterate(epoch=3, start=2, stop=5, device="cpu:0")
        ],
        whole[2:5],
    )


def counting_files():
    memory = pytest.importorskip("fsspec.implementations.memory")

    class Counting(memory.MemoryFileSystem):
        """Notes what is read and how often folders are listed."""

        cachable = False
        protocol = "counted"

        def __init__(self):
            super().__init__()
            self.store = {}
            self.pseudo_dirs = [""]
            self.read = []
            self.listed = 0

        @classmethod
        def _strip_protocol(cls, path):
            return "/" + path.removeprefix("counted://").strip("/") if path.strip("/") else ""

        def ls(self, path, detail=True, **given):
            self.listed += 1
            return super().ls(path, detail, **given)

        def cat_file(self, path, start=None, end=None, **given):
            self.read.append(path)
            return super().cat_file(path, start, end, **given)

    return Counting()


def test_the_data_is_listed_once_and_each_file_read_once_for_all_ranges():
    files = counting_files()
    hr.register_filesystem("counted", files)
    for number in range(40):
        files.pipe_file(f"files/{number % 4}/{number:02}.bin", bytes([number]))
    whole = list(hr.Files("counted://files/**/*.bin", shuffle=True).batch(2).iterate(epoch=1))
    files.read.clear()
    ds = hr.Files("counted://files/**/*.bin", shuffle=True).batch(2)
    with ds._batch_ranges(epoch=1) as ranges:
        listed = files.listed
        for start in range(0, 20, 2):
            same(ranges.make(start, start + 2), whole[start : start + 2])
        assert files.listed == listed
    assert len(files.read) == len(set(files.read)) == 40


def test_workers_go_on_to_ranges_that_are_asked_for():
    made = []
    ds = hr.Range(100).map(lambda value: made.append(int(value)) or value, "value").batch(5)
    with ds._batch_ranges() as ranges:
        first, second = ranges.make(0, 1), ranges.make(10, 11)
        last = ranges.make(3, 4)
        assert numbers(last) == [list(range(15, 20))]
        assert sorted(made) == [*range(5), *range(15, 20), *range(50, 55)]
        assert numbers(second) == [list(range(50, 55))] and numbers(first) == [list(range(5))]


def test_threads_ask_and_take_at_once():
    ds = SOURCE.map(lambda x, rng: x + rng.integers(100), "value").batch(2)
    whole = list(ds.iterate(epoch=4))

    def take(number):
        start = number * 7 % 20
        return start, list(ranges.make(start, start + 3))

    with ds._batch_ranges(epoch=4) as ranges, ThreadPoolExecutor(6) as threads:
        for start, found in threads.map(take, range(60)):
            same(found, whole[start : start + 3])


def test_a_batch_that_is_here_waits_for_no_other_thread():
    waits, free = threading.Event(), threading.Event()

    def hold(value):
        if value == 8:
            waits.set()
            free.wait(60)
        return value

    ds = hr.Range(12).map(hold, "value").batch(2)
    with ds._batch_ranges(executor="pull") as ranges, ThreadPoolExecutor(2) as threads:
        first, second = ranges.make(0, 2), ranges.make(4, 6)
        slow = threads.submit(list, second)
        try:
            assert waits.wait(60)
            assert numbers([threads.submit(next, first).result(60)]) == [[0, 1]]
            state = threads.submit(first.state).result(60)
            assert numbers(threads.submit(list, first).result(60)) == [[2, 3]]
        finally:
            free.set()
        assert numbers(slow.result(60)) == [[8, 9], [10, 11]]
    assert numbers(ds.options().iterate(state=state)) == [[number, number + 1] for number in range(2, 12, 2)]


def test_an_iterator_is_woken_when_another_thread_has_its_batch():
    begun, free = threading.Event(), threading.Event()

    def hold(value):
        if value == 0:
            begun.set()
            free.wait(60)
        return value

    ds = hr.Range(12).map(hold, "value").batch(2)
    with ds._batch_ranges(executor="pull") as ranges, ThreadPoolExecutor(2) as threads:
        first, second = ranges.make(0, 2), ranges.make(4, 6)
        there = threads.submit(list, second)
        try:
            assert begun.wait(60)
            here = threads.submit(list, first)
        finally:
            free.set()
        assert numbers(here.result(60)) == [[0, 1], [2, 3]]
        assert numbers(there.result(60)) == [[8, 9], [10, 11]]


def interrupted_at(line, call):
    """Calls it with Ctrl-C before the line of batch_ranges.py that comes so many lines later; whether it came. Not where
    a line is left backwards, such as to the end of a `with`, where no real one comes."""
    left = [line]
    reached = {}

    def trace(frame, event, _):
        code = frame.f_code
        if not code.co_filename.endswith("_runs/batch_ranges.py") or code.co_name == "__del__":
            return None
        if event == "line" and frame.f_lineno > reached.get(frame, 0):
            reached[frame] = frame.f_lineno
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_ctrl_c_loses_no_batch_of_another_iterator_and_gives_none_twice():
    ds = hr.Range(12).batch(2)
    came = 0
    while True:
        with ds._batch_ranges(executor="pull") as ranges:
            first, second = ranges.make(0, 2), ranges.make(4, 6)
            if not interrupted_at(came, lambda part=second: next(part)):
                break
            assert numbers(first) == [[0, 1], [2, 3]], came
            # The one that was interrupted may have had its batch.
            assert numbers(second) in ([[8, 9], [10, 11]], [[10, 11]]), came
        came += 1
    assert came > 20


def test_a_range_that_nobody_wants_is_passed():
    with SOURCE.batch(4)._batch_ranges() as ranges:
        left = ranges.make(0, 5)
        next(left)
        kept = ranges.make(3, 5)
        del left
        same(kept, list(SOURCE.batch(4).iterate())[3:5])


def test_close_ends_a_thread_that_waits():
    waits = threading.Event()
    free = threading.Event()

    def hold(value):
        waits.set()
        free.wait(60)
        return value

    ranges = hr.Range(10).map(hold, "value").batch(2)._batch_ranges()
    with ThreadPoolExecutor(1) as threads:
        taking = threads.submit(list, ranges.make(0, 2))
        assert waits.wait(60)
        closing = threading.Thread(target=ranges.close)
        closing.start()
        with pytest.raises(hr.ClosedError):
            taking.result(60)
        free.set()
        closing.join()
    with pytest.raises(hr.ClosedError, match="were closed; make them anew"):
        ranges.make(0, 1)
    ranges.close()
    assert "map" in ranges.explain()


def failing(value):
    if value == 11:
        raise ValueError("eleven")
    return value


def test_an_error_comes_at_its_place_and_ends_the_ranges():
    ds = hr.Range(40).map(failing, "value").batch(4)
    with ds._batch_ranges() as ranges:
        same(ranges.make(4, 6), list(hr.Range(40).batch(4).iterate())[4:6])
        part, later = ranges.make(1, 4), ranges.make(0, 1)
        assert next(part)["value"].tolist() == [4, 5, 6, 7]
        # By the thread of a later one, which is told why it gets nothing.
        with pytest.raises(hr.ClosedError, match="ended when one before failed: .*eleven"):
            next(later)
        for _ in range(2):
            with pytest.raises(hr.FunctionError, match="eleven") as raised:
                next(part)
            assert raised.value.operator.startswith("map[1]")
    with ds.iterate(start=1, stop=4) as part:
        next(part)
        with pytest.raises(hr.FunctionError, match="eleven"):
            next(part)


def test_a_state_outlives_a_batch_that_fails():
    ds = hr.Range(40).map(failing, "value").batch(4)
    with ds._batch_ranges() as ranges:
        part, other, later = ranges.make(0, 4), ranges.make(6, 7), ranges.make(1, 4)
        assert numbers([next(part), next(part)]) == [[0, 1, 2, 3], [4, 5, 6, 7]]
        with pytest.raises(hr.FunctionError, match="eleven"):
            next(part)
        with ds.options().iterate(state=part.state()) as again, pytest.raises(hr.FunctionError, match="eleven"):
            next(again)
        for each in (other, later):
            with pytest.raises(hr.StateError, match="no state before its first batch"):
                each.state()


class Lost:
    """Rows of which one is lost."""

    def __len__(self):
        return 50

    def __getitem__(self, number):
        if number == 33:
            raise OSError("lost")
        return {"x": number}


def test_an_error_of_a_source_names_the_epoch_whatever_ranges_came_before():
    ds = hr.from_dataset(Lost(), columns="x").batch(4)
    for epoch in (0, 5):
        with pytest.raises(hr.Error, match="lost") as whole:
            list(ds.iterate(epoch=epoch))
        with ds._batch_ranges(epoch=epoch) as ranges:
            for first in range(6):
                list(ranges.make(first, first + 1))
            with pytest.raises(hr.Error, match="lost") as part:
                list(ranges.make(8, 9))
        assert part.value.row == whole.value.row == f"epoch {epoch}, position 33"


def test_ranges_are_reported_and_logged_once(caplog):
    ds = hr.Range(40).cache().batch(2)
    with caplog.at_level(logging.INFO, "headrace"):
        with ds._batch_ranges() as ranges:
            for first in range(20):
                next(ranges.make(first, first + 1))
            list(ranges.make(3, 5))
            assert not caplog.records
        assert len(caplog.records) == 1
    assert ranges.report()["delivered"] == 22
    assert str(ds.explain()).startswith(str(ranges.explain())[:20]) and "22" in str(ds.explain())


def test_processes_of_a_map_make_ranges():
    ds = hr.Range(40).map(failing, "value", processes=2).batch(4)
    with ds._batch_ranges() as ranges:
        parts = [ranges.make(start, start + 2) for start in (5, 3, 8)]
        assert [numbers(part)[0][0] for part in parts] == [20, 12, 32]


def test_a_cache_keeps_the_rows_of_ranges_for_those_of_the_next_epoch():
    made = []
    ds = hr.Range(20).map(lambda value: made.append(int(value)) or value, "value").cache().batch(2)
    for epoch in range(3):
        with ds._batch_ranges(epoch=epoch) as ranges:
            assert numbers(ranges.make(2, 4)) == [[4, 5], [6, 7]]
            assert numbers(ranges.make(3, 5)) == [[6, 7], [8, 9]]
    assert sorted(made) == [4, 5, 6, 7, 8, 9]


def test_a_parameter_has_the_value_of_the_epoch():
    by = hr.parameter("by", default=1)
    ds = hr.Range(8).map(lambda value, by=by: value * by, "value").batch(2)
    by.set(10, epoch=2)
    with ds._batch_ranges(epoch=1) as before, ds._batch_ranges(epoch=2) as after:
        assert numbers(before.make(1, 2)) == [[2, 3]] and numbers(before.make(3, 4)) == [[6, 7]]
        assert numbers(after.make(1, 2)) == [[20, 30]] and numbers(after.make(3, 4)) == [[60, 70]]


def made_elsewhere(pickled, epoch, parts):
    ds = pickle.loads(pickled)
    with ds._batch_ranges(epoch=epoch, seed=5) as ranges:
        return ranges.identity, [list(ranges.make(start, stop)) for start, stop in parts]


def scaled(value, table, rng):
    return np.float32(value) * table[int(value) % 3] + np.float32(rng.random())


def test_a_pickle_gives_the_same_ranges_in_another_process():
    weights = np.arange(1, 41, dtype=np.float64)
    table = np.arange(90, dtype=np.float32).reshape(30, 3)
    ds = (
        hr.Numpy({"value": np.arange(30), "table": table}, shuffle=True)
        .zip(hr.Range(40).sample(hr.Weighted(weights)).take(30).rename({"value": "other"}))
        .map(scaled, ["value", "table"], output="value")
        .batch(3)
    )
    parts = [(4, 7), (0, 2), (8, 11)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as elsewhere:
        identity, found = elsewhere.submit(made_elsewhere, pickle.dumps(ds), 2, parts).result(60)
    whole = list(ds.iterate(epoch=2, seed=5))
    for (start, stop), batches in zip(parts, found, strict=True):
        same(batches, whole[start:stop])
    assert identity == ds._identity() and identity.difference(ds._identity()) == ""


def test_an_identity_names_what_differs(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    here = hr.Text(tmp_path).batch(2)._identity()
    assert pickle.loads(pickle.dumps(here)) == here
    assert here.difference(hr.Text(tmp_path).batch(2)._identity()) == ""
    assert here.difference(here._replace(version="headrace 9")) == "it is of headrace 9, not of headrace 0.1.0"
    assert here.difference(hr.Text(tmp_path).batch(3)._identity()) == "batch[1] has other settings there"
    assert "in the place of batch[1]" in here.difference(hr.Text(tmp_path).take(2)._identity())
    assert "operators, not 2" in here.difference(hr.Text(tmp_path).batch(2).take(1)._identity())
    (tmp_path / "b.txt").write_text("three\n")
    assert "entries there, and" in here.difference(hr.Text(tmp_path).batch(2)._identity())
    assert isinstance(here, Identity)


def test_a_barrier_is_below_the_operator_that_hides_the_numbers():
    rows = hr.Range(50, shuffle=True).map(lambda x, rng: x + rng.integers(100), "value").with_seed(3).options(workers=1)
    assert rows.batch(4)._barrier().refused is None
    for ds, operator in (
        (rows.shuffle(10).batch(4), "shuffle[2]"),
        (rows.batch(4).shuffle(3), "shuffle[3]"),
        (rows.filter(hr.col("value") % 2 == 0).batch(3).take(2), "filter[2]"),
    ):
        below, _, refused = ds._barrier()
        assert refused.operator == operator
        wanted = rows.batch(4) if "batch" in str(below) else rows
        same(below._batch_ranges(epoch=1).make(1, 5), list(wanted.iterate(epoch=1))[1:5])
    with pytest.raises(hr.UnsupportedError):
        hr.Generator(lambda epoch: iter(range(9)), ["x"]).batch(3)._barrier()


def test_under_skip_rows_have_numbers_and_batches_have_none():
    rows = hr.Range(50, shuffle=True).map(drawn, "value").options(workers=1)
    for ds, operator in ((rows.batch(4), None), (rows.batch(4).shuffle(3), "shuffle[3]")):
        below, made, refused = ds.on_error("skip")._barrier()
        assert refused.operator == operator
        same(below._batch_ranges(epoch=1).make(1, 5), list(rows.batch(4).iterate(epoch=1))[1:5])
        same(made._batch_ranges(epoch=1).make(1, 5), list(rows.iterate(epoch=1))[1:5])


class MadeByRanges(contextlib.ExitStack):
    """The rows of a dataset, made by runs of their ranges."""

    def __init__(self, rows, epoch, seed):
        super().__init__()
        self.rows, self.seed, self.runs = pickle.loads(pickle.dumps(rows)), seed, {}
        self.count = self.run(epoch, (0, 1)).batches
        self.asked = []

    def run(self, epoch, shard):
        if (epoch, shard) not in self.runs:
            run = self.rows._batch_ranges(epoch=epoch, seed=self.seed, shard=shard, even="pad")
            self.runs[epoch, shard] = self.enter_context(run)
        return self.runs[epoch, shard]

    def __len__(self):
        return self.count

    def __getitems__(self, positions, epoch):
        self.asked += [(epoch, position) for position in positions]
        return [self.row(position, epoch) for position in positions]

    def row(self, position, epoch):
        if position < self.count:
            return next(self.run(epoch, (0, 1)).make(position, position + 1))
        # A row that pads.
        return next(self.run(epoch, (position, position + 1)).make(0, 1))


def drawn(value, rng):
    return value + rng.integers(1000)


BELOW = hr.Range(50, shuffle=True).map(drawn, "value", types={"value": "int64"})
ABOVE = {
    "window": BELOW.shuffle(10).batch(4),
    "window and draws": BELOW.shuffle(10).map(drawn, "value").batch(4),
    "filter": BELOW.filter(hr.col("value") % 2 == 0).batch(3),
    "batches in another order": BELOW.batch(4).shuffle(3).map(drawn, "value"),
    "buckets": BELOW.map(lambda value: np.zeros(value % 7), "value", output="row").bucket_by_length(
        "row", [3, 5], [2, 2, 2]
    ),
    "unbatch": BELOW.batch(4).unbatch().batch(3),
    "sizes": BELOW.batch(lambda info: info.number % 3 + 1),
    "bytes": BELOW.map(lambda value: b"%d" % value, "value", types={"value": "bytes"})
    .shuffle(9)
    .batch(2, ragged="list"),
    "take": BELOW.shuffle(10).take(23).batch(4),
    "rows": BELOW,
    "repeat": BELOW.shuffle(10).repeat(2).batch(4),
    "repeat of batches": BELOW.batch(4).shuffle(3).repeat(3).map(drawn, "value"),
    "cache": SOURCE.shuffle(10).cache().map(drawn, "value").batch(4),
    "repeat of a cache": SOURCE.shuffle(10).cache().repeat(2).batch(4),
}
# The other numbers are not known before the run.
EVEN = ("window", "window and draws", "batches in another order", "rows", "repeat", "repeat of batches", "cache")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *itertools.product(ABOVE, ({}, {"shard": (1, 3)}, {"executor": "pull"}, {"as_": "numpy", "workers": 1})),
        *itertools.product(EVEN, ({"shard": (2, 3), "even": "pad"}, {"shard": (2, 3), "even": "drop"})),
        *itertools.product(EVEN, ({"shard": (60, 61), "even": "pad"},)),
    ],
)
def test_what_stands_above_runs_over_rows_made_elsewhere(name, options):
    # With a cache that has no rows yet.
    ds = ABOVE[name].options()
    whole = list(ds.options().iterate(epoch=3, seed=8, **options))
    with MadeByRanges(ds._barrier().rows, 3, 8) as made:
        same(ds._iterate_over(made, epoch=3, seed=8, **options), whole)
        # The second pass may begin before the cache has all rows.
        assert made.asked and (name == "repeat of a cache" or len(made.asked) == len(set(made.asked)))
        if len(whole) < 3:
            return
        # To and fro.
        with ds._iterate_over(made, epoch=3, seed=8, **options) as there:
            same([next(there) for _ in range(2)], whole[:2])
            state = there.state()
        with ds.options().iterate(state=state, **options) as here:
            same([next(here)], whole[2:3])
            state = here.state()
        same(ds.options()._iterate_over(made, state=state, **options), whole[3:])


def test_a_barrier_that_is_known_is_not_looked_for_again(monkeypatch):
    ds = BELOW.shuffle(10).batch(4)
    barrier = ds._barrier()
    opened = []
    at_rest = hr.Dataset._at_rest
    monkeypatch.setattr(hr.Dataset, "_at_rest", lambda self, asked: opened.append(asked) or at_rest(self, asked))
    made = MadeByRanges(barrier.rows, 0, 0)
    with made:
        same(ds._iterate_over(made, barrier=barrier, epoch=0, seed=0), list(ds.iterate(epoch=0, seed=0)))
    assert opened == []


def test_rows_made_elsewhere_are_asked_for_in_the_epochs_that_they_have():
    for ds, epochs in (
        (SOURCE.shuffle(3).repeat(2), [6, 7]),
        (SOURCE.shuffle(3).cache(), [0]),
        (SOURCE.shuffle(3), [3]),
    ):
        with MadeByRanges(SOURCE, 3, 0) as made:
            list(ds._iterate_over(made, epoch=3))
            assert [epoch for epoch, _ in itertools.groupby(made.asked, key=lambda asked: asked[0])] == epochs


def test_rows_above_a_cache_cannot_be_made_elsewhere_for_a_repeat():
    ds = SOURCE.cache().map(drawn, "value", types={"value": "int64"}).repeat(2).batch(4)
    with MadeByRanges(ds._barrier().rows, 0, 0) as made:
        with pytest.raises(hr.UnsupportedError, match="stands below a cache.* cannot be made elsewhere") as refused:
            ds._iterate_over(made)
    assert refused.value.operator == "Range[0]"


def test_rows_made_elsewhere_must_be_of_the_dataset():
    with MadeByRanges(BELOW, 0, 0) as made:
        other = BELOW.map(lambda value: np.float32(value), "value", types={"value": "float32"}).shuffle(3)
        with pytest.raises(
            hr.Error, match=r'elsewhere, has int64 \(\) in column "value", which is float32 of any shape here'
        ):
            list(other._iterate_over(made))
        for rows in (49, 51):
            counted = hr.Range(rows).map(drawn, "value", types={"value": "int64"}).shuffle(3)
            with pytest.raises(hr.GraphError, match=f"has {rows} rows, and 50 were made elsewhere"):
                counted._iterate_over(made)


def test_an_error_elsewhere_is_the_cause():
    class Failing(MadeByRanges):
        def __getitems__(self, positions, epoch):
            raise KeyError("lost")

    made = Failing(BELOW, 0, 0)
    with made, pytest.raises(hr.FunctionError, match="lost") as raised:
        list(BELOW.shuffle(4)._iterate_over(made))
    assert isinstance(raised.value.__cause__, KeyError)


def test_an_error_of_headrace_elsewhere_is_that_of_the_row():
    class Failing(MadeByRanges):
        def __getitems__(self, positions, epoch):
            raise hr.ResourceError("no room for it")

    made = Failing(BELOW, 0, 0)
    with made, pytest.raises(hr.ResourceError, match="no room for it") as raised:
        list(BELOW.shuffle(4)._iterate_over(made))
    assert raised.value.operator == "Range[0]"


@pytest.mark.parametrize("passes", [False, True])
def test_under_skip_a_row_that_failed_elsewhere_is_left_out_unless_the_fault_may_pass(passes):
    class Failing(MadeByRanges):
        def __getitems__(self, positions, epoch):
            if 7 in positions:
                error = hr.DataError("it is torn")
                error.operator, error._beyond_row = "map[1] Torn", passes
                raise error
            return super().__getitems__(positions, epoch)

    ds = BELOW.batch(4).on_error("skip")
    made = Failing(ds._barrier().rows, 0, 0)
    with made, ds._iterate_over(made) as running:
        if passes:
            with pytest.raises(hr.DataError, match="it is torn"):
                list(running)
            return
        rows = [row for batch in running for row in batch["value"].tolist()]
        (skipped,) = running.report()["skipped"]
    whole = [row["value"] for row in BELOW.iterate(epoch=0)]
    assert rows == whole[:7] + whole[8:]
    assert (skipped["name"], skipped["rows"]) == ("map[1] Torn", 1) and skipped["first"][0].endswith("it is torn")
