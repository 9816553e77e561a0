"""Many pipelines in one process: they share the cores, all finish, and an error affects only its own."""

import collections
import pathlib
import sys
import threading
from typing import Any

import pytest

import headrace as hr
from tests.conftest import ROOT, eventually, pipeline_threads
from tests.pipelines import EPOCH, FAILING, PIPELINES, SEED
from tests.running import Outcome, assert_same, read, read_all

TOGETHER = [
    "training",
    "damaged_image",
    "text_lines",
    "zipped",
    "failing_function",
    "functions_in_any_order",
    "repeated_inside",
    "image_and_mask",
]


def run_together(jobs: list[Any]) -> list[Any]:
    """Calls each function on a thread of its own, all starting at once."""
    gate = threading.Barrier(len(jobs))
    results: list[Any] = [None] * len(jobs)

    def run(number: int) -> None:
        gate.wait()
        results[number] = jobs[number]()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


@pytest.mark.parametrize("options", [{}, {"workers": 1, "window": 1}, {"workers": 7}, {"memory": "8MiB"}])
def test_eight_at_once(options, data: pathlib.Path):
    alone = {name: read_all(PIPELINES[name](data), seed=SEED, epoch=EPOCH) for name in TOGETHER}
    assert {name: found.failure.kind for name, found in alone.items() if found.failure} == {
        name: FAILING[name] for name in ("damaged_image", "failing_function")
    }

    def job(name: str) -> Any:
        def run() -> list[Outcome]:
            return [read_all(PIPELINES[name](data), seed=SEED, epoch=EPOCH, **options) for _ in range(5)]

        return run

    for name, outcomes in zip(TOGETHER, run_together([job(name) for name in TOGETHER]), strict=True):
        for outcome in outcomes:
            assert_same(alone[name], outcome)
            print("HEADRACE-COUNT variants=1")


def test_an_unread_pipeline_blocks_no_other(data: pathlib.Path):
    """A pipeline that is not read fills its windows while the others go on, and can then go on too."""
    build = PIPELINES["training"]
    whole = read_all(build(data), seed=SEED, epoch=EPOCH)
    standing = [build(data).iterate(seed=SEED, epoch=EPOCH) for _ in range(10)]
    firsts = [read(iterator, 1) for iterator in standing]
    for name in TOGETHER:
        read_all(PIPELINES[name](data), seed=SEED, epoch=EPOCH)
    for iterator, first in zip(standing, firsts, strict=True):
        rest = read(iterator)
        assert_same(whole, Outcome(first.rows + rest.rows, rest.failure))
        iterator.close()


def test_a_slow_function_holds_up_nobody():
    blocked, go_on = threading.Event(), threading.Event()

    def slow(value: Any) -> Any:
        blocked.set()
        assert go_on.wait(30)
        return value

    slow_one = hr.Range(3).map(slow, "value").iterate()
    results: list[Any] = []
    waiting = threading.Thread(target=lambda: results.extend(slow_one))
    waiting.start()
    assert blocked.wait(10)
    assert len(list(hr.Range(1000).map(lambda value: value + 1, "value").shuffle(30).batch(7))) == 143
    assert results == []
    go_on.set()
    waiting.join(10)
    assert [int(row["value"]) for row in results] == [0, 1, 2]


@pytest.mark.timing
def test_each_gets_its_share():
    """Among equal pipelines, none waits until the others are done."""
    build = lambda: hr.ImageFolder(ROOT / "examples/photos").map(hr.vision.Decode(), "image").repeat(4)  # noqa: E731
    order: list[int] = []
    lock = threading.Lock()

    def job(number: int) -> Any:
        def run() -> None:
            # Cached rows need no share of the cores.
            for _ in build().iterate(window=2, workers=2, disabled_passes=["insert_caches"]):
                with lock:
                    order.append(number)

        return run

    run_together([job(number) for number in range(4)])
    assert collections.Counter(order) == {number: 48 for number in range(4)}
    # When the first is done, the slowest has done a good part as well.
    done = next(at for at in range(len(order)) if max(collections.Counter(order[: at + 1]).values()) == 48)
    assert min(collections.Counter(order[: done + 1])[number] for number in range(4)) >= 12


def test_a_hundred_at_once_leave_nothing():
    list(hr.Range(1).iterate())  # starts the shared pools
    before = threading.active_count()
    iterators = [hr.Range(100).shuffle(10).map(lambda value: value, "value").iterate() for _ in range(100)]
    for iterator in iterators:
        assert next(iterator) is not None
    for iterator in iterators[::2]:
        iterator.close()
    for iterator in iterators[1::2]:
        assert len(list(iterator)) == 99
    assert eventually(lambda: pipeline_threads() == [])
    assert threading.active_count() == before
    assert sys.getswitchinterval() > 0
