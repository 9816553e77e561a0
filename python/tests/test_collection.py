"""Pipelines support Python's garbage collection: one that is held by one of its own objects is freed with it."""

import contextlib
import gc
import threading
import weakref

import numpy as np
import pytest
from conftest import eventually, pipeline_threads

import headrace as hr


@pytest.fixture(autouse=True)
def only_when_asked():
    """Disables collections other than those of a test."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Owner:
    """Holds the pipeline that calls its methods."""

    def same(self, x):
        return x

    def even(self, x):
        return x % 2 == 0

    def noisy(self, x, rng):
        return x + rng.random()

    def of_batch(self, value, rng, info):
        return [each + info.number + rng.random() for each in value]

    def size(self, info):
        return 1 + info.number

    def rows(self):
        yield from range(10**6)

    def children(self, value):
        yield from range(10**6)

    def fail(self, x):
        raise ValueError("never")


def iterated(pipeline: hr.Dataset, **options) -> hr.Iterator:
    it = pipeline.iterate(**options)
    next(it)
    return it


OWNED = {
    "map": lambda owner: iterated(hr.Range(10**6).map(owner.same, "value").batch(4)),
    "unordered": lambda owner: iterated(hr.Range(10**6).map(owner.same, "value", ordered=False)),
    "rng": lambda owner: iterated(hr.Range(10**6).map(owner.noisy, "value")),
    "filter": lambda owner: iterated(hr.Range(10**6).filter(owner.even)),
    "batch": lambda owner: iterated(hr.Range(10**6).batch(4, function=owner.same)),
    "batch with rng": lambda owner: iterated(hr.Range(10**6).batch(4, function=owner.of_batch)),
    "sizes": lambda owner: iterated(hr.Range(10**6).batch(owner.size)),
    "generator": lambda owner: iterated(hr.Generator(owner.rows, {"value": "int64"}).batch(4)),
    "children": lambda owner: iterated(hr.Range(10**6).flat_map(owner.children)),
    "children in turn": lambda owner: iterated(hr.Range(10**6).interleave(owner.children, 3)),
    "pull": lambda owner: iterated(hr.Generator(owner.rows, "value").map(owner.same, "value"), executor="pull"),
    "a loop left": lambda owner: [batch for batch, _ in zip(hr.Range(9).map(owner.same, "value"), "ab", strict=False)],
    "never read": lambda owner: hr.Range(10**6).map(owner.same, "value").iterate(),
}


def collected(made: weakref.ref) -> bool:
    """A running function keeps its owner alive: a later collection frees it."""

    def gone() -> bool:
        gc.collect()
        return made() is None

    return eventually(gone, 30)


@pytest.mark.parametrize("kind", OWNED)
def test_an_owner_of_its_own_pipeline_is_freed(kind):
    for _ in range(5):
        owner = Owner()
        owner.it = OWNED[kind](owner)
        made = weakref.ref(owner)
        del owner
        assert collected(made)
    assert eventually(lambda: pipeline_threads() == [])


def test_a_dataset_with_a_parked_engine_is_freed():
    owner = Owner()
    owner.dataset = hr.Range(8).map(owner.same, "value").batch(4)
    assert len(list(owner.dataset)) == 2
    assert pipeline_threads()
    made = weakref.ref(owner)
    del owner
    assert collected(made)
    assert eventually(lambda: pipeline_threads() == [])


def test_an_owner_whose_function_failed_is_freed():
    owner = Owner()
    owner.it = hr.Range(100).map(owner.fail, "value", ordered=False).iterate()
    with pytest.raises(hr.FunctionError):
        next(owner.it)
    made = weakref.ref(owner)
    del owner
    assert collected(made)


@pytest.mark.parametrize("options", [{}, {"executor": "pull"}])
@pytest.mark.parametrize("source", [lambda f: hr.Range(9).map(f, "value"), lambda f: hr.Generator(f, "value")])
def test_an_error_that_was_dealt_with_keeps_nothing(options, source):
    """Freed without a collection: no error is kept by objects of its own traceback."""

    def fail(x=None):
        held = np.ones(1000)
        raise ValueError(str(held[0]))

    def train():
        weights = np.ones(1000)
        made.append(weakref.ref(weights))
        it = source(fail).iterate(**options)
        for _ in it:
            pass

    made: list[weakref.ref] = []
    for _ in range(3):
        with contextlib.suppress(hr.FunctionError):
            train()
        assert eventually(lambda: made[-1]() is None)


def test_an_error_told_again_keeps_nothing():
    def fail(x):
        raise ValueError

    def train():
        weights = np.ones(1000)
        made.append(weakref.ref(weights))
        it = hr.Range(9).map(fail, "value").iterate(executor="pull")
        for _ in range(3):
            with contextlib.suppress(hr.FunctionError):
                next(it)
        with contextlib.suppress(hr.FunctionError):
            next(it)

    made: list[weakref.ref] = []
    train()
    assert made[0]() is None


def test_a_closed_iterator_lets_go_of_functions_at_once():
    def make():
        owner = Owner()
        return hr.Range(100).map(owner.same, "value").iterate(), weakref.ref(owner)

    it, made = make()
    next(it)
    assert made() is not None
    it.close()
    assert eventually(lambda: made() is None)


def test_the_collector_sees_what_a_pipeline_holds():
    def same(x):
        return x

    it = iterated(hr.Range(100).map(same, "value"))
    engine = it._engine
    assert gc.is_tracked(engine)
    assert same in gc.get_referents(engine)
    it.close()
    assert same not in gc.get_referents(engine)


def test_a_run_that_was_collected_has_said_how_it_went():
    pipeline = hr.Range(100).batch(10)
    owner = Owner()
    owner.me = owner
    owner.it = iterated(pipeline, executor="pull")
    made = weakref.ref(owner)
    del owner
    assert collected(made)
    assert pipeline._last_run.report()["delivered"] == 1


def test_a_collection_on_a_pipelines_own_thread_frees_it():
    """The function that collects does not hold its pipeline, whose owner has no references."""
    dropped, ended = threading.Event(), threading.Event()

    def collect(x):
        if x == 3:
            assert dropped.wait(30)
            while made() is not None:
                gc.collect()
            ended.set()
        return x

    for _ in range(20):
        dropped.clear(), ended.clear()
        owner = Owner()
        owner.it = iterated(hr.Range(1000).map(owner.same, "value").map([collect], "value"))
        made = weakref.ref(owner)
        del owner
        dropped.set()
        assert ended.wait(30), "the thread waits for itself"
    list(hr.Range(2))  # the next thread with the GIL releases the rest
    assert eventually(lambda: pipeline_threads() == [])


def test_collections_at_any_moment():
    """Collects while other threads make, run and drop pipelines."""
    over = threading.Event()

    def collect():
        while not over.is_set():
            gc.collect()

    def live():
        for _ in range(20):
            owner = Owner()
            owner.it = iterated(hr.Generator(owner.rows, "value").map(owner.same, "value").batch(2))
            made.append(weakref.ref(owner))

    made: list[weakref.ref] = []
    collector = threading.Thread(target=collect)
    threads = [threading.Thread(target=live) for _ in range(3)]
    for thread in [collector, *threads]:
        thread.start()
    for thread in threads:
        thread.join(60)
    over.set()
    collector.join(60)
    assert len(made) == 60 and all(collected(each) for each in made)
    print("HEADRACE-COUNT schedules=60")


def test_a_runs_iterator_is_not_copied():
    import copy
    import pickle

    it = iterated(hr.Range(10))
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="an Iterator cannot be copied or pickled"):
            attempt(it)
    assert next(it)["value"] == 1
