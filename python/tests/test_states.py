"""States: taken at any batch, restored any number of times, in this process and others."""

import os

import numpy as np
import pytest
from conftest import run_python, state_after, values

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

PIPELINES = {
    "shuffle": lambda: hr.Range(40).shuffle(11).batch(4),
    "filter": lambda: hr.Range(40, shuffle=True).filter(hr.col("value") % 3 != 0).batch(4),
    "repeat": lambda: hr.Range(7).shuffle(3).repeat(4).batch(3),
    "unbatch": lambda: hr.Range(40).batch(8).unbatch().shuffle(9).batch(4),
    "zip": lambda: hr.Range(20).shuffle(5).zip(hr.Range(20).rename({"value": "b"})).batch(3),
    "concat": lambda: hr.Range(12).shuffle(5).concat(hr.Range(9)).batch(2),
    "mix": lambda: hr.mix([hr.Range(12).shuffle(5), hr.Range(9).map(lambda x: x, "value")], [1, 2], stop="all").batch(
        2
    ),
    "function": lambda: hr.Range(30).map(lambda x, rng: x + rng.integers(1000), "value").batch(4),
    "generator": lambda: hr.Generator(lambda epoch: iter(range(epoch, epoch + 30)), {"value": "int64"}).batch(4),
    "take": lambda: hr.Range(40).shuffle(11).skip(3).take(20).batch(4),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_restored_at_every_batch(name):
    def rows(iterator):
        return [batch["value"].tolist() for batch in iterator]

    whole = rows(PIPELINES[name]().iterate(seed=1, epoch=2))
    it = PIPELINES[name]().iterate(seed=1, epoch=2)
    for step in range(len(whole) + 1):
        state = it.state()
        assert len(state) <= 1024
        assert rows(PIPELINES[name]().iterate(seed=1, state=state)) == whole[step:], step
        if step < len(whole):
            next(it)


@pytest.mark.parametrize("name", PIPELINES)
def test_restored_again_and_again(name):
    """Each iterator gives one batch and passes its state to the next."""
    whole = [batch["value"].tolist() for batch in PIPELINES[name]().iterate(seed=1)]
    state, found = None, []
    for step in range(len(whole)):
        it = PIPELINES[name]().iterate(seed=1, state=state, workers=1 + step % 3)
        found.append(next(it)["value"].tolist())
        state = it.state()
        it.close()
    assert found == whole


SCRIPT = """
import sys
import headrace as hr

pipeline = hr.Range(40, shuffle=True).shuffle(11).batch(4).with_seed(3)
state = bytes.fromhex(sys.argv[1]) or None
it = pipeline.iterate(state=state)
for _ in range(int(sys.argv[2])):
    print(*next(it)["value"].tolist())
print("state", it.state().hex())
"""


def test_restored_in_another_process():
    whole = run_python(SCRIPT, "", "10").stdout.splitlines()[:-1]
    found, state = [], ""
    for batches in ("3", "5", "2"):
        done = run_python(SCRIPT, state, batches)
        assert done.returncode == 0, done.stderr
        *rows, last = done.stdout.splitlines()
        found += rows
        state = last.split()[1]
    assert found == whole


def test_a_state_brings_its_epoch_and_seed():
    pipeline = hr.Range(30).shuffle(30).batch(5)
    it = pipeline.iterate(seed=9, epoch=6)
    next(it)
    state, rest = it.state(), values(it)
    assert values(pipeline.iterate(seed=9, state=state)) == rest


def test_a_state_of_another_pipeline_is_refused():
    it = hr.Range(30).shuffle(10).batch(5).iterate()
    next(it)
    state = it.state()
    for other in (hr.Range(30).shuffle(11).batch(5), hr.Range(30).batch(5)):
        with pytest.raises(hr.StateError, match="another pipeline"):
            other.iterate(state=state)
    with pytest.raises(hr.StateError):
        hr.Range(30).shuffle(10).batch(5).iterate(state=b"nonsense")
    for size in range(len(state)):
        for cut in (state[:size], bytearray(state[:size]), memoryview(state)[:size]):
            with pytest.raises(hr.StateError):
                hr.Range(30).shuffle(10).batch(5).iterate(state=cut)
    with pytest.raises(hr.StateError, match="seed"):
        hr.Range(30).shuffle(10).batch(5).iterate(state=state, seed=1)
    with pytest.raises(hr.StateError, match="epoch 0, not 1"):
        hr.Range(30).shuffle(10).batch(5).iterate(state=state, epoch=1)


def test_where_it_was_written_and_tuning_take_no_part():
    it = hr.Range(30).shuffle(10).batch(5).iterate(workers=1)
    next(it)
    state, rest = it.state(), values(it)
    # Another line, another number of workers.
    assert values(hr.Range(30).shuffle(10).batch(5).iterate(state=state, workers=3, optimize=False)) == rest


PASSED = {
    "identities": lambda: hr.Range(40).skip(0).take(90).shuffle(5).skip(0).batch(4),
    "pushed": lambda: hr.Range(40).map(T.TypeCast("float32"), "value", "real").shuffle(5).skip(3).take(30).batch(4),
    "commuted": lambda: hr.Range(40).map(T.TypeCast("float32"), "value", "real").shuffle(5).batch(4),
    "filtered": lambda: hr.Range(40).map(T.TypeCast("float32"), "value", "real").filter(hr.col("value") > 4).shuffle(9),
}


@pytest.mark.parametrize("name", PASSED)
def test_states_go_on_under_other_passes(name):
    whole = [row["value"].tolist() for row in PASSED[name]().iterate(seed=1, optimize=False)]
    for taken, goes_on in ((True, False), (False, True)):
        it = PASSED[name]().iterate(seed=1, optimize=taken)
        for step in range(len(whole)):
            rest = PASSED[name]().iterate(state=it.state(), optimize=goes_on)
            assert [row["value"].tolist() for row in rest] == whole[step:]
            assert next(it)["value"].tolist() == whole[step]


def test_changed_files_are_refused(photos, tmp_path):
    import shutil

    shutil.copytree(photos, tmp_path / "photos")
    pipeline = hr.ImageFolder(tmp_path / "photos").batch(3)
    it = pipeline.iterate()
    next(it)
    state, rest = it.state(), len(list(it))
    assert len(list(pipeline.iterate(state=state))) == rest
    (tmp_path / "photos/animals/cat.jpg").unlink()
    with pytest.raises(hr.StateError, match="photos"):
        pipeline.iterate(state=state)


def test_changed_arrays_are_refused():
    def pipeline(values):
        return hr.Numpy({"value": values}).batch(3)

    it = pipeline(np.arange(12)).iterate()
    next(it)
    state = it.state()
    assert values(pipeline(np.arange(12)).iterate(state=state)) == list(range(3, 12))
    with pytest.raises(hr.StateError):
        pipeline(np.arange(13)).iterate(state=state)


def test_restoring_late_reads_few_rows():
    """At row 900,000 of 1,000,000 only the rows in the windows are read again."""
    pipeline = hr.Range(1_000_000).map(T.TypeCast("float32"), "value").shuffle(100).batch(100)
    it = pipeline.iterate()
    for _ in range(9000):
        next(it)
    state, expected = it.state(), next(it)["value"].tolist()
    it.close()
    assert len(state) <= 1024
    with pipeline.iterate(state=state) as it:
        assert next(it)["value"].tolist() == expected
        source = it.report()["stages"][-1]
        assert source["name"] == "Range[0]" and source["rows"] < 20_000, source


def test_another_number_of_ranks():
    numbers = hr.Range(60)
    its = [numbers.batch(2).iterate(shard=(rank, 2)) for rank in range(2)]
    seen = [value for it in its for _ in range(6) for value in next(it)["value"].tolist()]
    states = [it.state() for it in its]
    rest = []
    for rank in range(3):
        rest += values(numbers.batch(2).iterate(shard=(rank, 3), state=states[0]))
    assert sorted(seen + rest) == list(range(60))
    inexact = numbers.filter(hr.col("value") != 3).batch(2)
    it = inexact.iterate(shard=(0, 2))
    next(it)
    with pytest.raises(hr.StateError, match="filter"):
        inexact.iterate(shard=(0, 3), state=it.state())


def test_the_state_of_an_ended_iterator_is_the_next_epochs_start():
    pipeline = hr.Range(12).shuffle(12).batch(3)
    it = iter(pipeline)
    list(it)
    fresh = hr.Range(12).shuffle(12).batch(3)
    assert values(fresh.iterate(state=it.state())) == values(fresh.iterate(epoch=1))


def test_a_generator_that_can_seek_is_not_replayed():
    begun = []

    def rows(epoch, start):
        begun.append((epoch, start))
        yield from range(start, 20)

    pipeline = hr.Generator(rows, {"value": "int64"}).batch(4)
    it = pipeline.iterate()
    next(it), next(it)
    state, rest = it.state(), values(it)
    begun.clear()
    assert values(pipeline.iterate(state=state)) == rest == list(range(8, 20))
    assert begun == [(0, 8)]


def test_an_iterator_that_can_seek_is_not_replayed():
    sought = []

    class Rows:
        def __init__(self):
            self.at = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.at == 20:
                raise StopIteration
            self.at += 1
            return self.at - 1

        def seek(self, row):
            sought.append(row)
            self.at = row

    pipeline = hr.Generator(Rows, {"value": "int64"}).batch(4)
    it = pipeline.iterate()
    next(it), next(it)
    assert values(pipeline.iterate(state=it.state())) == list(range(8, 20))
    assert sought == [8]


def test_decoded_images_go_on(photos):
    def pipeline():
        return (
            hr.ImageFolder(photos, shuffle=True)
            .map([V.Decode(), V.RandomResizedCrop(16), V.RandomHorizontalFlip()], "image")
            .batch(2)
        )

    it = pipeline().iterate(seed=4)
    next(it)
    state, rest = it.state(), list(it)
    for one, two in zip(pipeline().iterate(seed=4, state=state), rest, strict=True):
        assert np.array_equal(one["image"], two["image"])


def test_damaged_states_are_refused():
    """Any changed bit is found: rows of another position would go unnoticed."""
    it = hr.Range(6).repeat(2).iterate()
    next(it)
    state = it.state()
    for bit in range(8 * len(state)):
        damaged = bytearray(state)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(hr.StateError):
            hr.Range(6).repeat(2).iterate(state=bytes(damaged))
    for wrong in (state[:-1], state + b"\0", b"state", os.urandom(64)):
        with pytest.raises(hr.StateError, match="not a state that Headrace took|newer|damaged|older"):
            hr.Range(6).repeat(2).iterate(state=wrong)


@pytest.mark.parametrize("executor", ["pull", "threads"])
def test_an_error_while_rows_come_again_is_raised(executor):
    """The rows that a shuffle gave before the state was taken are made again, and a function may fail that did not."""
    calls = failing = 0

    def children(value):
        nonlocal calls
        calls += 1
        if calls == failing:
            raise ValueError("now")
        return [value] * 3

    dataset = hr.Range(6).flat_map(children, "value").shuffle(1000)
    raised = 0
    for given in range(1, 18):
        failing = 0
        state = state_after(dataset, given, executor=executor)
        for failing in (1, 3, 6):
            calls = rows = 0
            try:
                for _ in dataset.iterate(state=state, executor=executor):
                    rows += 1
            except hr.FunctionError:
                raised += 1
            else:
                assert (rows, calls < failing) == (18 - given, True)
    assert raised > 17
