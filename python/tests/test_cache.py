"""Caches from a user's view: what they keep, where, for how long, and what explain() says about it."""

import pathlib
import re

import numpy as np
import pytest
from conftest import values

import headrace as hr
from headrace import _engine


class Calls:
    """A function of a row that counts its calls."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.count += 1
        return x * 2


def ints(batches: hr.Iterator) -> list[int]:
    return [int(value) for batch in batches for value in batch["value"]]


def test_the_epochs_of_a_loop_share_a_cache():
    calls = Calls()
    dataset = hr.Range(12).map(calls, "value").cache().shuffle(5).batch(5)
    epochs = [ints(iter(dataset)) for _ in range(4)]
    assert calls.count == 12
    assert all(sorted(epoch) == list(range(0, 24, 2)) for epoch in epochs)
    assert epochs[0] != epochs[1]


def test_iterators_of_a_dataset_share_what_fits_into_memory():
    for below in (lambda rows: rows, lambda rows: rows.filter(hr.col("value") >= 0)):
        calls = Calls()
        dataset = below(hr.Range(12).map(calls, "value")).cache().batch(5)
        expected = list(range(0, 24, 2))
        for epoch in range(3):
            assert ints(dataset.iterate(epoch=epoch)) == expected
        assert calls.count == 12
        assert ints(dataset.iterate(memory="300B")) == expected
        assert sorted(ints(dataset.iterate(shard=(0, 2))) + ints(dataset.iterate(shard=(1, 2)))) == expected


def test_a_loop_that_is_left_early_keeps_what_it_has_made():
    calls = Calls()
    dataset = hr.Range(100).map(calls, "value").cache().batch(5)
    with dataset.iterate(window=1, executor="pull") as batches:
        for _ in range(4):
            next(batches)
    made = calls.count
    assert 20 <= made < 60
    assert ints(dataset.iterate()) == list(range(0, 200, 2))
    assert calls.count == 100


def test_what_comes_in_order_is_kept_as_a_whole():
    calls = Calls()
    dataset = hr.Range(12).map(calls, "value").filter(hr.col("value") > 5).cache().batch(5)
    assert ints(iter(dataset)) == ints(iter(dataset)) == ints(iter(dataset)) == list(range(6, 24, 2))
    assert calls.count == 12


def test_a_transparent_cache_changes_no_byte():
    calls = Calls()
    plain = hr.Range(40, shuffle=True).map(lambda x: x * 2, "value")
    kept = hr.Range(40, shuffle=True).map(calls, "value").cache(transparent=True)
    for epoch in range(3):
        assert ints(kept.batch(7).iterate(epoch=epoch)) == ints(plain.batch(7).iterate(epoch=epoch))
    calls.count = 0
    batches = kept.batch(7)
    assert ints(iter(batches)) != ints(iter(batches))
    assert calls.count == 40


def test_says_what_it_keeps_and_saves():
    dataset = hr.Range(12).map(lambda x: x, "value").cache("1MiB").repeat(3).batch(4)
    assert re.search(r"cache\[2\]: rows by key, in memory\n", dataset.explain())
    with dataset.iterate(memory="64MiB", window=1) as batches:
        list(zip(range(9), batches, strict=False))
        text = batches.explain()
    assert re.search(r"cache\[2\]: 12 of 12 rows \(100%\) kept; memory .* of 1\.0 MiB; 24 found, 12 made, saved", text)


def test_says_when_nothing_fits():
    dataset = hr.Range(12).filter(hr.col("value") > 1).cache("100B").batch(4)
    with dataset.iterate() as batches:
        ints(batches)
        text = batches._run.text() or ""
    assert "cache[2]: off, as not all rows of an epoch fit into it" in text


def test_a_directory_serves_later_iterators(tmp_path: pathlib.Path):
    images = np.arange(30 * 400, dtype=np.uint8).reshape(30, 20, 20, 1)
    dataset = hr.Numpy({"value": images}).cache(directory=tmp_path / "kept", disk="1GB")
    expected = [row["value"] for row in dataset.iterate()]
    files = sorted((tmp_path / "kept").rglob("*.rows"))
    assert len(files) == 1 and files[0].stat().st_size > images.nbytes
    again = dataset.iterate()
    assert all(np.array_equal(row["value"], each) for row, each in zip(again, expected, strict=True))
    assert "30 found, 0 made" in dataset.explain()


def test_rows_straight_from_a_cache_are_read_only():
    dataset = hr.Range(3).cache()
    list(dataset)
    row = next(iter(dataset))["value"]
    with pytest.raises(ValueError, match="read-only"):
        row[()] = 1
    batch = next(iter(hr.Range(3).cache().repeat(2).batch(6)))["value"]
    batch += 1


def test_memory_stays_within_the_budget():
    rows = np.zeros((400, 100_000), np.uint8)
    dataset = hr.Numpy({"value": rows}).cache().batch(4)
    with dataset.repeat(3).iterate(memory="8MiB") as batches:
        for _ in range(250):
            next(batches)
        report = batches.report()
    assert report["held_bytes"] <= 8 << 20
    assert report["peak_bytes"] <= 10 << 20


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"memory": "many"}, "cache: memory is 'many'"),
        ({"disk": -1, "directory": "x"}, "cache: disk is -1"),
        ({"memory": 1.5}, "cache: memory is 1.5; it must be a whole number"),
    ],
)
def test_sizes_are_checked_at_once(given, message):
    with pytest.raises(hr.GraphError, match=re.escape(message)):
        hr.Range(3).cache(**given)


def test_a_version_keeps_what_functions_give(tmp_path: pathlib.Path):
    calls = []

    def slow(value):
        calls.append(int(value))
        return value + 1

    def kept(**given):
        return values(hr.Range(6).map(slow, "value").cache(directory=tmp_path, **given))

    assert kept(version="1") == kept(version="1") == [1, 2, 3, 4, 5, 6] and sorted(calls) == list(range(6))
    assert kept(version="2") == [1, 2, 3, 4, 5, 6] and len(calls) == 12
    tokens = hr.Generator(lambda: iter([{"a": 1}, {"a": 2}]), ["a"]).cache(directory=tmp_path / "stream", version="x")
    assert values(tokens, "a") == [1, 2]
    # It tells contents apart, and no rows.
    assert hr.Range(3).cache(directory=tmp_path, version="1")._graph().hash == hr.Range(3).cache()._graph().hash
    with pytest.raises(hr.UnsupportedError, match=r"give version=, a text that you change with it"):
        kept()
    with pytest.raises(hr.GraphError, match="version tells files apart, but there is no directory"):
        list(hr.Range(3).cache(version="1"))
    with pytest.raises(hr.GraphError, match="version is empty"):
        list(hr.Range(3).cache(directory=tmp_path, version=""))
    with pytest.raises(hr.GraphError, match="cache: version is 2"):
        hr.Range(3).cache(directory=tmp_path, version=2)


def test_files_need_a_directory_and_no_function_below():
    with pytest.raises(hr.GraphError, match="no directory"):
        list(hr.Range(3).cache(disk="1GB"))
    with pytest.raises(hr.UnsupportedError, match="Python function"):
        list(hr.Range(3).map(lambda x: x, "value").cache(directory="x"))


def test_a_state_does_not_depend_on_the_cache(tmp_path: pathlib.Path):
    plain, kept = (hr.Range(20).shuffle(4).cache(**given).batch(3) for given in ({}, {"directory": tmp_path}))
    iterator = plain.iterate(epoch=1)
    next(iterator)
    state = iterator.state()
    rest = ints(iterator)
    assert ints(kept.iterate(state=state)) == rest
    assert ints(kept.iterate(state=state)) == rest


def test_the_engine_and_the_package_are_of_one_version():
    """It is part of the names of a cache's files."""
    assert _engine.version == hr.__version__
