"""Rows that makers make, as a pipeline of this process asks for them by position: Ray is not needed."""

import contextlib
import functools
import io
import itertools
import re
import threading
from collections import deque

import numpy as np
import pytest
from PIL import Image

import headrace as hr
from headrace import vision as V
from headrace.ray.feed_of_rows import FeedOfRows, MadeRows
from headrace.ray.feeding import _of_rows
from headrace.ray.maker import Failure, _Opened
from tests.running import assert_same, read, read_all


class Made:
    """Rows of a rank from a number on, in the place of a feed."""

    def __init__(self, log, first, shard=(0, 1), fails_at=None):
        self.log, self.next, self.shard, self.fails_at = log, first, shard, fails_at
        self.stopped = False
        log.append(("made", first))

    def __next__(self):
        if self.stopped:
            raise hr.ClosedError("stopped")
        number, self.next = self.next, self.next + 1
        if number == self.fails_at:
            raise ValueError(f"row {number}")
        return {"x": self.shard[0] + number * self.shard[1]}

    def stop(self):
        self.stopped = True

    def close(self):
        self.log.append(("closed", self.next))


def test_rows_in_order_come_of_one_feed():
    log = []
    rows = MadeRows(lambda epoch, shard, first: Made(log, first), 10, 1)
    assert len(rows) == 10
    assert [row["x"] for row in rows.__getitems__([0, 1, 2], 0)] == [0, 1, 2]
    assert [row["x"] for row in rows.__getitems__([3], 0)] == [3]
    assert log == [("made", 0)]
    # Rows that are asked for again are made again.
    assert [row["x"] for row in rows.__getitems__([1], 0)] == [1]
    assert log == [("made", 0), ("closed", 4), ("made", 1)]


def test_a_run_that_begins_later_asks_for_no_row_before():
    log = []
    rows = MadeRows(lambda epoch, shard, first: Made(log, first), 10, 1)
    assert [row["x"] for row in rows.__getitems__([6, 7], 0)] == [6, 7]
    assert log == [("made", 6)]


def test_a_rank_has_its_rows_alone():
    rows = MadeRows(lambda epoch, shard, first: Made([], first, shard), 10, 3)
    assert [row["x"] for row in rows.__getitems__([1, 4, 7], 0)] == [1, 4, 7]
    with pytest.raises(IndexError, match="another rank"):
        rows.__getitems__([8], 0)


def test_rows_of_another_epoch_come_of_another_feed():
    log = []
    rows = MadeRows(lambda epoch, shard, first: log.append((epoch, shard, first)) or Made([], first, shard), 10, 3)
    assert [row["x"] for row in rows.__getitems__([1, 4, 7], 6)] == [1, 4, 7]
    # After a state that another number of ranks took, the first epoch may have had the rows of another rank.
    assert [row["x"] for row in rows.__getitems__([2, 5], 7)] == [2, 5]
    assert log == [(6, (1, 3), 0), (7, (2, 3), 0)]


def test_a_feed_that_was_stopped_begins_no_other():
    rows = MadeRows(lambda epoch, shard, first: Made([], first, shard), 10, 1)
    rows.__getitems__([0], 0)
    rows.stop()
    with pytest.raises(hr.ClosedError):
        rows.__getitems__([0], 1)


def test_what_ends_a_feed_comes_at_its_row_and_again():
    log = []
    rows = MadeRows(lambda epoch, shard, first: Made(log, first, fails_at=1), 10, 1)
    with pytest.raises(ValueError, match="row 1"):
        rows.__getitems__([0, 1, 2], 0)
    # As the engine asks then.
    assert [row["x"] for row in rows.__getitems__([0], 0)] == [0]
    for positions in ([1], [2], [3, 4]):
        with pytest.raises(ValueError, match="row 1"):
            rows.__getitems__(positions, 0)
    assert log == [("made", 0)]


def test_makers_of_rows_have_all_options_that_are_for_makers(tmp_path):
    given = {"seed": 3, "shard": (1, 2), "workers": 2, "group": 5, "memory": "1GiB", "optimize": False}
    given |= {"cache": str(tmp_path), "disabled_passes": ["fuse"], "even": "drop", "as_": "numpy", "as_tuple": True}
    rows = hr.Numpy({"x": np.arange(40)})
    chosen = rows._options.changed(given, "feed")
    of_rows = _of_rows(rows, chosen)
    for name in ("seed", "shard", "workers", "group", "memory", "optimize", "cache", "disabled_passes"):
        assert name in of_rows and of_rows[name] == chosen[name], name
    assert "even" not in of_rows and "as_tuple" not in of_rows


@pytest.mark.parametrize(("fails_here", "expected"), [(8, "FunctionError: .*eight"), (99, "DataError: row 12")])
def test_the_error_is_that_of_the_row_that_comes_first_though_makers_are_ahead(fails_here, expected):
    failed = threading.Event()

    class Failing(Made):
        def __next__(self):
            if self.next == 12:
                failed.set()
                raise hr.DataError("row 12")
            return super().__next__()

    def check(x):
        if int(x) == fails_here:
            failed.wait(10)
            raise ValueError("eight")
        return True

    rows = MadeRows(lambda epoch, shard, first: Failing([], first), 40, 1)
    dataset = hr.Numpy({"x": np.arange(40)}).filter(check, ["x"]).batch(2)
    feed = FeedOfRows(dataset._iterate_over(rows), rows, None, False)
    with pytest.raises(hr.Error) as raised:
        list(feed)
    assert re.match(expected, f"{type(raised.value).__name__}: {raised.value}")


# ---- rows that fail ----


class FeedOfMaker:
    """Rows that a maker makes in this process, a few at a time, in the place of a feed."""

    def __init__(self, opened, first, log):
        self.opened, self.next, self.rows = opened, first, deque()
        log.append(first)

    def __next__(self):
        if not self.rows:
            made, failure = self.opened.made(self.next, self.next + 7)
            assert failure is None
            self.next += len(made)
            self.rows.extend(made)
        if not self.rows:
            raise StopIteration
        return self.rows.popleft()

    def close(self):
        pass


@contextlib.contextmanager
def made_by_maker(dataset, shard, log, most=101):
    """What `hr.ray.feed` gives the pipeline of this process."""
    rows = dataset._barrier().rows
    with contextlib.ExitStack() as ending:

        @functools.cache
        def opened(epoch, shard):
            of_shard = _Opened(lambda: rows._batch_ranges(epoch=epoch, seed=5, shard=shard, even="pad"), most)
            ending.callback(of_shard.close)
            return of_shard

        def make(epoch, shard, first):
            return FeedOfMaker(opened(epoch, shard), first, log)

        yield MadeRows(make, len(rows), shard[1])


PLAIN = hr.Range(150, shuffle=True)
BATCHED = {
    "batch": PLAIN.batch(4),
    "rows": PLAIN,
    "whole batches": PLAIN.batch(4, drop_remainder=True),
    "draws by batch": hr.Numpy(
        {"image": np.arange(150 * 36, dtype=np.int16).reshape(150, 6, 6, 1).astype(np.uint8)}, shuffle=True
    )
    .map(V.RandomResizedCrop(4), "image")
    .batch(4)
    .map(lambda image, rng: image + rng.integers(100), ["image"], "image"),
}


@pytest.mark.parametrize("even", ["off", "drop", "pad"])
@pytest.mark.parametrize("before", [(0, 1), (1, 3)])
@pytest.mark.parametrize("name", BATCHED)
def test_another_number_of_ranks_goes_on_as_on_one_machine(name, before, even):
    dataset = BATCHED[name]
    with dataset.iterate(epoch=2, seed=5, shard=before, even=even) as running:
        read(running, 3)
        state = running.state()
    for shard in [(0, 2), (1, 2), (2, 5), (0, 1), (2, 3)]:
        expected = read_all(dataset, state=state, shard=shard)
        with made_by_maker(dataset, shard, []) as made:
            assert_same(expected, read(dataset._iterate_over(made, state=state, shard=shard)))
        # And on from there, on yet others.
        with made_by_maker(dataset, shard, []) as made:
            there = dataset._iterate_over(made, state=state, shard=shard)
            read(there, 2)
            second = there.state()
            there.close()
        assert read_all(dataset, state=second, shard=shard).rows == expected.rows[2:]
        with made_by_maker(dataset, (3, 4), []) as made:
            assert_same(
                read_all(dataset, state=second, shard=(3, 4)),
                read(dataset._iterate_over(made, state=second, shard=(3, 4))),
            )


def odd_one_out(value, rng):
    if value % 9 == 4:
        raise ValueError(f"{value} is no good")
    return value + rng.integers(100)


def files(folder):
    """Pictures, some of them damaged."""
    for number in range(40):
        data = io.BytesIO()
        Image.fromarray(np.full((4, 4, 3), number, np.uint8)).save(data, "png")
        (folder / f"{number:02}.png").write_bytes(data.getvalue() if number % 6 else data.getvalue()[:50])
    return hr.Files(f"{folder}/*.png", shuffle=True).map(V.Decode(), "data")


NUMBERS = hr.Range(120, shuffle=True).map(odd_one_out, "value", types={"value": "int64"})
ABOVE = {
    "batch": lambda folder: NUMBERS.batch(4),
    "rows": lambda folder: NUMBERS,
    "window": lambda folder: NUMBERS.shuffle(7).batch(4),
    "filter": lambda folder: NUMBERS.filter(hr.col("value") % 2 == 0).batch(3),
    "batches": lambda folder: NUMBERS.batch(4, drop_remainder=True).shuffle(3),
    "fails here, too": lambda folder: NUMBERS.shuffle(7).map(odd_one_out, "value").batch(4),
    "files": lambda folder: files(folder).batch(3),
}


def skipping(dataset, folder):
    return dataset.on_error("skip", log=folder / "failed.jsonl")


def outcome(running, folder, count=None):
    """Batches, and the log of rows left out."""
    batches = list(itertools.islice(running, count))
    log = folder / "failed.jsonl"
    said = log.read_text() if log.exists() else ""
    log.unlink(missing_ok=True)
    return [{name: np.asarray(value).tolist() for name, value in batch.items()} for batch in batches], said


@pytest.mark.parametrize("name", ABOVE)
@pytest.mark.parametrize("shard", [(0, 1), (1, 3)])
def test_rows_that_fail_are_left_out_as_on_one_machine(name, shard, tmp_path):
    (tmp_path / "pictures").mkdir()
    dataset = skipping(ABOVE[name](tmp_path / "pictures"), tmp_path)
    given = {"seed": 5, "shard": shard}
    here = dataset.iterate(epoch=2, **given)
    whole, said = outcome(here, tmp_path)
    assert said
    log = []
    with made_by_maker(dataset, shard, log) as made:
        there = dataset._iterate_over(made, epoch=2, **given)
        assert outcome(there, tmp_path) == (whole, said)
        assert there.report()["skipped"] == here.report()["skipped"]
        # Nothing is made twice for a row that failed.
        assert log == [0]
        # To and fro.
        with dataset._iterate_over(made, epoch=2, **given) as there:
            assert outcome(there, tmp_path, 2)[0] == whole[:2]
            state = there.state()
        with dataset.options().iterate(state=state, shard=shard) as here:
            assert outcome(here, tmp_path, 1)[0] == whole[2:3]
            state = here.state()
        assert outcome(dataset.options()._iterate_over(made, state=state, shard=shard), tmp_path)[0] == whole[3:]


def test_more_failed_rows_than_allowed_end_the_run_as_on_one_machine():
    dataset = NUMBERS.batch(4).on_error("skip", max_errors=2)
    expected = read_all(dataset, epoch=2, seed=5)
    assert expected.failure.kind == "FunctionError"
    with made_by_maker(dataset, (0, 1), [], most=3) as made:
        assert_same(expected, read(dataset._iterate_over(made, epoch=2, seed=5)))


def test_a_maker_ends_a_run_at_a_row_too_many_and_at_what_is_no_row_s():
    ranges = functools.partial(NUMBERS._batch_ranges, epoch=2, seed=5)
    kinds = [isinstance(row, Failure) for row in _Opened(ranges, 60).made(0, 120)[0]]
    assert len(kinds) == 120 and sum(kinds) == 13
    second = [number for number, failed in enumerate(kinds) if failed][1]
    rows, failure = _Opened(ranges, 1).made(0, 120)
    assert len(rows) == second and "is no good" in failure.same
    rows, failure = _Opened(ranges, None).made(0, 120)
    assert len(rows) == kinds.index(True) and "is no good" in failure.same

    def lacking(value):
        raise MemoryError("no room")

    large = hr.Range(5).map(lacking, "value")
    rows, failure = _Opened(lambda: large._batch_ranges(epoch=0), 9).made(0, 5)
    assert not rows and isinstance(failure.error, hr.ResourceError)
