"""What a maker keeps, opens and closes, on threads of this process: Ray is not needed."""

import sys
import threading
import types

import numpy as np
import pytest

import headrace as hr
from headrace.ray.maker import Maker
from headrace.ray.sent_graph import sent_graph


@pytest.fixture(autouse=True)
def ray(monkeypatch):
    context = types.SimpleNamespace(get_node_id=lambda: "here")
    monkeypatch.setitem(sys.modules, "ray", types.SimpleNamespace(get_runtime_context=lambda: context))


def numbers() -> hr.Dataset:
    return hr.Numpy({"x": np.arange(40)}, shuffle=True).batch(4)


def test_a_pipeline_that_is_closed_while_it_is_opened_does_not_stay_open(monkeypatch):
    maker = Maker(None)
    opening, closed = threading.Event(), threading.Event()
    ranges = Maker._ranges

    def slow(self, dataset, sent):
        opening.set()
        assert closed.wait(10)
        return ranges(self, dataset, sent)

    monkeypatch.setattr(Maker, "_ranges", slow)
    thread = threading.Thread(target=maker.open, args=("key", sent_graph(numbers(), 0, {})))
    thread.start()
    assert opening.wait(10)
    maker.close("key")
    closed.set()
    thread.join()
    assert maker.counts() == {"openings": 1, "open": 0, "datasets": 1}
    made, batches = maker.make("key", 0, 2)
    assert isinstance(made.failure.again(), hr.ClosedError) and batches == []


def test_a_run_that_is_made_while_its_pipeline_is_closed_is_given_up():
    maker = Maker(None)
    maker.open("key", sent_graph(numbers(), 0, {}))
    begun, closed = threading.Event(), threading.Event()

    class Waiting:
        """A pipeline whose batches wait until it is closed."""

        identity = None

        def make(self, first, stop):
            begun.set()
            assert closed.wait(10)
            raise hr.ClosedError("closed")
            yield

        def close(self):
            closed.set()

    maker._opened["key"].close()
    opened = maker._opened["key"] = type(maker._opened["key"])(Waiting, None)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(maker.make("key", 0, 10)))
    thread.start()
    assert begun.wait(10)
    maker.close("key")
    thread.join()
    ((made, batches),) = answers
    assert isinstance(made.failure.again(), hr.ClosedError) and batches == []
    assert opened._ranges is None


def test_keys_that_were_never_opened_are_not_kept_without_end():
    maker = Maker(None)
    for number in range(5000):
        maker.close(str(number))
    assert len(maker._closed) < 2000


def sent_at(dataset: hr.Dataset, epoch: int):
    with dataset.iterate(epoch=epoch):
        pass
    dataset.epoch = 0
    return sent_graph(dataset, epoch, {})


def made_of(maker: Maker, key: str, sent) -> int:
    maker.open(key, sent)
    made, batches = maker.make(key, 0, 1)
    assert made.failure is None
    maker.close(key)
    return int(batches[0]["level"][0])


def filled(level: hr.Parameter) -> hr.Dataset:
    return hr.Range(4).map(hr.transforms.Fill(level), "value", "level").batch(2)


def test_a_pipeline_is_the_same_one_in_epochs_with_other_values_of_its_parameters():
    maker = Maker(None)
    dataset = filled(hr.parameter("level", fn=lambda epoch: 10 + epoch))
    assert [made_of(maker, str(epoch), sent_at(dataset, epoch)) for epoch in range(6)] == list(range(10, 16))
    assert maker.counts()["datasets"] == 1


def test_values_that_come_late_do_not_replace_newer_ones():
    maker = Maker(None)
    level = hr.parameter("level", default=1)
    dataset = filled(level)
    level.set(5, epoch=3)
    old = sent_at(dataset, 1)
    level.set(6, epoch=3)
    assert made_of(maker, "new", sent_at(dataset, 3)) == 6
    assert made_of(maker, "old", old) == 1
    assert made_of(maker, "again", sent_at(dataset, 3)) == 6


def test_two_parameters_of_one_name_are_two():
    maker = Maker(None)
    pipelines = [filled(hr.parameter("level", fn=lambda epoch, first=first: first + epoch)) for first in (10, 20)]
    assert [made_of(maker, str(n), sent_at(each, 1)) for n, each in enumerate(pipelines)] == [11, 21]
    assert maker.counts()["datasets"] == 2
