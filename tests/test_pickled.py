"""Every pipeline that may be pickled gives the same rows in another process as here."""

import concurrent.futures
import pathlib
import pickle

import pytest

import headrace as hr
from tests import example_plugins
from tests.pipelines import EPOCH, PIPELINES, SEED
from tests.running import assert_same, read_all
from tests.thinning import in_turn

RUN = {"seed": SEED, "epoch": EPOCH}
# What stays in its process, by the words of the error.
STAYING = ("would not see what is set here", "the rows of a stream come once")


# Their tables are arrays of ctypes, which are not pickled.
OF_CTYPES = {"arrow_tables"}


def rows_of(pickled: bytes) -> object:
    # A pickle loads no library.
    example_plugins.frames()
    example_plugins.gauge()
    return read_all(pickle.loads(pickled), **RUN)


@pytest.mark.parametrize("name", sorted(PIPELINES.keys() - OF_CTYPES))
def test_a_pickled_pipeline_gives_the_same_rows(name, data: pathlib.Path, elsewhere: concurrent.futures.Executor):
    dataset = PIPELINES[name](data)
    try:
        pickled = pickle.dumps(dataset)
    except hr.GraphError as error:
        assert any(reason in str(error) for reason in STAYING), error
        return
    again = pickle.loads(pickled)
    assert again._graph().hash == dataset._graph().hash
    expected = read_all(dataset, **RUN)
    assert_same(expected, read_all(again, **RUN))
    if name in in_turn(sorted(PIPELINES), 0):
        assert_same(expected, elsewhere.submit(rows_of, pickled).result(60))
    print("HEADRACE-COUNT variants=1")
