"""The report of an iterator, during its run and after."""

import warnings

import pytest

import headrace as hr
from headrace._runs.iterator import Run


def rows_of(iterator: hr.Iterator) -> int:
    return iterator.report()["stages"][0]["rows"]


def test_an_ended_run_is_reported_as_it_ended():
    dataset = hr.Range(30).batch(10)
    ended = dataset.iterate()
    assert len(list(ended)) == 3
    assert rows_of(ended) == 3
    assert "Run: 3 delivered" in ended.explain()


def test_a_closed_run_is_reported_as_it_was_closed():
    with hr.Range(30).batch(10).iterate(executor="pull") as closed:
        next(closed)
    assert rows_of(closed) == 1
    assert "Run: 1 delivered" in closed.explain()


def test_a_failed_run_is_reported():
    failed = hr.Range(30).map(lambda x: 1 // (20 - int(x)), "value").iterate(executor="pull")
    with pytest.raises(hr.FunctionError):
        list(failed)
    assert rows_of(failed) == 20


def test_each_iterator_speaks_of_its_own_run():
    dataset = hr.Range(40).batch(10)
    first, second = dataset.iterate(executor="pull"), dataset.iterate(executor="pull")
    next(first)
    for _ in range(3):
        next(second)
    assert [rows_of(first), rows_of(second)] == [1, 3]
    assert "Run: 1 delivered" in first.explain()
    assert "Run: 3 delivered" in second.explain()
    assert dataset.explain() == second.explain(), "the last that was made"


def test_the_epochs_of_a_loop_are_reported_one_by_one():
    dataset = hr.Range(20).batch(10)
    first = iter(dataset)
    assert len(list(first)) == 2
    second = iter(dataset)
    assert len(list(second)) == 2
    assert [first.report()["delivered"], second.report()["delivered"]] == [2, 4], "one engine runs them all"
    assert "Run: 4 delivered" in dataset.explain()


class _EngineOverAFullDisk:
    """As the engine's iterations, whose run used a store with something to say."""

    def explain(self):
        return ""

    def report(self):
        store = {"name": "s3://", "reads": 1, "warning": "the object cache keeps nothing more: the disk is full"}
        return {"stores": [store, {"name": "https://", "reads": 1}]}


def test_what_a_far_store_has_to_say_is_said_once():
    engine = _EngineOverAFullDisk()
    run = Run(engine, "")
    run.end(engine)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run.warn()
        run.warn()
    assert [str(warning.message) for warning in said] == [
        "s3://: the object cache keeps nothing more: the disk is full"
    ]
    assert said[0].category is hr.PipelineWarning
