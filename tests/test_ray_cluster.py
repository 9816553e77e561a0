"""Makers on several nodes of Ray, which are killed, come and go: the feed's batches are those of the single machine."""

import os
import pathlib
import re
import signal
import time

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V
from headrace.ray import scaling
from tests import example_plugins
from tests.conftest import eventually
from tests.pipelines import EPOCH, PIPELINES, SEED
from tests.ray_module import import_ray
from tests.running import assert_same, read, read_all

pytestmark = pytest.mark.ray

HERE = {"num_cpus": 0}
# Of a node: less than the tests of a small store have under way.
STORE = 100 << 20
# What stays in its process, by the words of the error.
STAYING = ("the rows of a stream come once", "are not pickled", "cannot be pickled")
# Their tables are arrays of ctypes, which are not pickled.
OF_CTYPES = {"arrow_tables"}


@pytest.fixture(scope="module")
def ray():
    return import_ray()


@pytest.fixture(scope="module")
def cluster(ray):
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "object_store_memory": STORE, "include_dashboard": False},
    )
    made.add_node(num_cpus=2, object_store_memory=STORE)
    made.wait_for_nodes()
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def makers(cluster):
    with hr.ray.Makers(2, resources=HERE, setup=load_plugins()) as makers:
        yield makers


def load_plugins():
    """What the pipelines of the tests need; a graph loads no library."""
    paths = [str(example_plugins.library_of(plugin)) for plugin in example_plugins.SOURCES]

    def setup():
        for path in paths:
            hr.load_plugin(path)

    return setup


def pictures(photos: pathlib.Path, passes: int = 4) -> hr.Dataset:
    files = sorted(str(path) for path in photos.rglob("*.jpg")) * passes
    rows = hr.Numpy({"image": [pathlib.Path(file).read_bytes() for file in files]}, shuffle=True)
    return rows.map([V.Decode(), V.RandomResizedCrop(32), V.RandomHorizontalFlip()], "image").batch(2)


def wide(batches: int = 24, megabytes: int = 4) -> hr.Dataset:
    """Batches of so many megabytes, which are objects of their own."""
    rows = hr.Numpy({"x": np.arange(batches, dtype=np.float32)}, shuffle=True)
    size = megabytes << 18

    def filled(x):
        return np.full(size, x, np.float32)

    return rows.map(filled, "x").batch(1)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("window", [None, 1, 5])
def test_batches_are_the_same_for_any_number_of_makers(cluster, photos, count, window):
    dataset = pictures(photos)
    expected = read_all(dataset, epoch=1, seed=3)
    with hr.ray.feed(dataset, count, resources=HERE, window=window, epoch=1, seed=3) as feed:
        assert_same(expected, read(feed))


@pytest.mark.parametrize("name", sorted(PIPELINES.keys() - OF_CTYPES))
def test_each_pipeline_gives_the_same_rows_or_is_refused_with_the_reason(makers, data, name):
    dataset = PIPELINES[name](data)
    try:
        feed = hr.ray.feed(dataset, makers, seed=SEED, epoch=EPOCH)
    except hr.GraphError as error:
        assert any(reason in str(error) for reason in STAYING), error
        return
    except hr.UnsupportedError as error:
        assert re.search(r"\w+\[\d+\]|on_error", str(error)), error
        return
    with feed:
        assert_same(read_all(dataset, seed=SEED, epoch=EPOCH), read(feed))
    print("HEADRACE-COUNT variants=1")


@pytest.mark.parametrize("every", [1, 2, 3, 5])
def test_makers_killed_at_every_kth_batch_change_nothing(cluster, ray, photos, every):
    dataset = pictures(photos)
    expected = read_all(dataset, epoch=1).rows
    found = []
    with hr.ray.feed(dataset, 2, resources=HERE, epoch=1) as feed:
        while rows := read_next(feed):
            found += rows
            if len(found) % every == 0:
                kill(ray, feed, len(found))
    assert found == expected


def read_next(feed) -> list:
    return read(feed, 1).rows


def kill(ray, feed, number: int) -> None:
    members = feed._makers._living
    ray.kill(members[number % len(members)].actor)


def test_a_process_that_is_killed_is_a_lost_maker(cluster, photos):
    dataset = pictures(photos)
    expected = read_all(dataset).rows
    with hr.ray.feed(dataset, 2, resources=HERE) as feed:
        found = read(feed, 4).rows
        for process in processes(feed):
            os.kill(process, signal.SIGKILL)
        found += read(feed).rows
        assert feed.report()["longest_wait"] < 30
    assert found == expected


def processes(feed) -> list[int]:
    """Of the makers that opened the pipeline."""
    places = [maker["place"] for maker in feed.report()["makers"].values() if not maker["lost"]]
    return [int(place.rpartition(" ")[2]) for place in places if "process" in place]


def test_a_silent_maker_is_asked_no_more_and_the_first_answer_counts(cluster, photos):
    dataset = wide(100, 1)
    expected = read_all(dataset).rows
    with hr.ray.feed(dataset, 2, resources=HERE) as feed:
        found = read(feed, 1).rows
        assert eventually(lambda: feed._turn(0.0) is None and len(processes(feed)) == 2, 60)
        stopped = processes(feed)[0]
        os.kill(stopped, signal.SIGSTOP)
        try:
            found += read(feed).rows
        finally:
            os.kill(stopped, signal.SIGCONT)
    assert found == expected


@pytest.mark.timeout(200)
def test_a_node_that_is_removed_and_one_that_is_added_change_nothing(cluster, photos):
    dataset = wide(40, 2)
    expected = read_all(dataset).rows
    node = cluster.add_node(num_cpus=2, object_store_memory=STORE, resources={"there": 4})
    cluster.wait_for_nodes()
    with hr.ray.feed(dataset, 2, resources={"num_cpus": 0, "resources": {"there": 1}}) as feed:
        found = read(feed, 9).rows
        cluster.remove_node(node, allow_graceful=False)
        cluster.add_node(num_cpus=2, object_store_memory=STORE, resources={"there": 4})
        found += read(feed).rows
        assert feed.report()["recomputed"] >= 1
    assert found == expected


def test_makers_that_come_and_go_change_nothing(cluster, photos):
    dataset = pictures(photos)
    expected = read_all(dataset).rows
    found = []
    with hr.ray.feed(dataset, 1, resources=HERE) as feed:
        for count in (3, 1, 2, 1, 4):
            feed.scale(count)
            found += read(feed, 3).rows
        found += read(feed).rows
    assert found == expected


def test_a_loop_that_waits_gets_makers_and_makers_that_wait_end(cluster, monkeypatch):
    monkeypatch.setattr(scaling, "PERIOD_SECONDS", 0.5)

    def slow(x):
        total = np.float64(x)
        for _ in range(20):
            total = np.sin(np.full(1 << 16, total)).sum()
        return x

    dataset = hr.Range(2000).map(slow, "value").batch(1)
    found, counts = [], []
    with hr.ray.feed(dataset, makers=(1, 2), resources=HERE) as feed:
        while counts[-1:] != [2]:
            found.append(int(next(feed)["value"][0]))
            counts.append(len(feed._makers))
        # Makers have nothing to do while the loop looks at one batch.
        end = time.monotonic() + 60
        while counts[-1] != 1 and time.monotonic() < end:
            feed._turn(0.01)
            counts.append(len(feed._makers))
        found += [int(next(feed)["value"][0]) for _ in range(20)]
    assert counts[0] == counts[-1] == 1 and 2 in counts
    assert found == list(range(len(found)))


def test_a_store_that_is_too_small_changes_nothing(cluster, ray):
    dataset = wide(30, 16)
    expected = read_all(dataset).rows
    with hr.ray.feed(dataset, 2, resources=HERE, window=24, window_memory="2GiB") as feed:
        assert read(feed).rows == expected


def test_the_window_bounds_what_is_in_the_store(cluster, ray):
    dataset = wide(20, 4)
    with hr.ray.feed(dataset, 2, resources=HERE, window_memory="16MiB") as feed:
        next(feed)
        assert eventually(lambda: feed._turn(0.0) is None and not feed._asked, 20)
        held = sum(run.bytes for run in feed._window.waiting)
        assert held <= 16 << 20
        assert len(read(feed).rows) == 19


def test_two_ranks_have_their_batches_at_the_same_time(makers, photos):
    dataset = pictures(photos)
    feeds = [hr.ray.feed(dataset, makers, shard=(rank, 2), even="drop", epoch=1) for rank in range(2)]
    found = [[], []]
    while rows := [read_next(feed) for feed in feeds]:
        if rows == [[], []]:
            break
        for rank in range(2):
            found[rank] += rows[rank]
    for rank in range(2):
        assert found[rank] == read_all(dataset, shard=(rank, 2), even="drop", epoch=1).rows


def test_a_run_moves_from_two_makers_to_this_machine_and_to_four_others(cluster, makers, photos):
    dataset = pictures(photos)
    expected = read_all(dataset, epoch=1, seed=9).rows
    with hr.ray.feed(dataset, makers, epoch=1, seed=9) as feed:
        found = read(feed, 3).rows
        state = feed.state()
    with dataset.iterate(state=state) as single:
        found += read(single, 4).rows
        state = single.state()
    with hr.ray.feed(dataset, 4, resources=HERE, state=state) as feed:
        found += read(feed).rows
    assert found == expected


def test_caches_of_makers_have_their_runs_in_the_next_epoch(cluster, ray, tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    rows = hr.Numpy({"x": np.arange(16, dtype=np.int64)})

    def counted(x):
        with open(calls / f"{int(x)}-{os.getpid()}-{os.urandom(4).hex()}", "x"):
            return x

    dataset = rows.map(counted, "x").cache().batch(1)
    with hr.ray.Makers(2, resources=HERE) as makers:
        for epoch in range(3):
            found = [int(batch["x"][0]) for batch in hr.ray.feed(dataset, makers, epoch=epoch)]
            assert found == list(range(16))
    # Each row was made at most once by each maker, whatever the number of epochs.
    assert 16 <= len(list(calls.iterdir())) <= 32


def test_batches_that_end_every_maker_are_an_error(cluster):
    def fatal(x):
        if int(x) == 5:
            os._exit(3)
        return x

    dataset = hr.Numpy({"x": np.arange(8)}).map(fatal, "x").batch(1)
    with hr.ray.feed(dataset, 2, resources=HERE) as feed:
        assert [int(next(feed)["x"][0]) for _ in range(5)] == list(range(5))
        with pytest.raises(hr.Error, match="makers were lost"):
            next(feed)


def test_errors_of_several_makers_come_in_order(cluster):
    def failing(x):
        if int(x) in (7, 3, 12):
            raise ValueError(f"row {int(x)}")
        return x

    dataset = hr.Numpy({"x": np.arange(16)}).map(failing, "x").batch(1)
    expected = read_all(dataset)
    with hr.ray.feed(dataset, 3, resources=HERE) as feed:
        assert_same(expected, read(feed))
