"""One maker on one node of Ray: the feed's batches, states and errors are those of the single machine."""

import contextlib
import itertools
import operator
import os
import pathlib
import pickle
import signal
import sys
import time

import numpy as np
import pytest
from conftest import run_python, state_after

import headrace as hr
from headrace import vision as V
from headrace._datasets import runs
from headrace.ray.feed import Feed
from headrace.ray.place import Place
from headrace.ray.raised_by_signals import raised_by_signals
from headrace.ray.window import Window
from tests.far import stores
from tests.far.s3_server import S3Server
from tests.ray_module import import_ray
from tests.running import Outcome, assert_same, read, read_all

pytestmark = pytest.mark.small_ray

HERE = {"num_cpus": 0}


@pytest.fixture(scope="module")
def ray():
    ray = import_ray()
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def makers(ray):
    with hr.ray.Makers(1, resources=HERE) as makers:
        yield makers


def pictures(photos: pathlib.Path) -> hr.Dataset:
    steps = [V.Decode(), V.RandomResizedCrop(24), V.RandomHorizontalFlip()]
    return hr.ImageFolder(str(photos), shuffle=True).map(steps, "image").batch(2)


def numbers(rows: int = 40) -> hr.Dataset:
    return hr.Numpy({"x": np.arange(rows, dtype=np.int32)}, shuffle=True).batch(3)


def actors_alive() -> int:
    from ray._private.state import actors

    return sum(each["State"] != "DEAD" for each in actors().values())


def objects_held() -> int:
    from ray._private.worker import global_worker

    return len(global_worker.core_worker.get_all_reference_counts())


def test_batches_are_those_of_the_single_machine_and_nothing_is_left_behind(ray, photos):
    dataset = pictures(photos)
    expected = read_all(dataset, epoch=3, seed=7)
    before = actors_alive(), objects_held()
    with hr.ray.feed(dataset, 1, resources=HERE, epoch=3, seed=7) as feed:
        assert feed.epoch == 3
        assert_same(expected, read(feed))
        report = feed.report()
        assert (report["given"], report["recomputed"]) == (len(expected.rows), 0)
        assert report["makers"][0]["batches"] == len(expected.rows)
        assert "maker" in feed.explain() and "batches given" in feed.explain()
    wait_until(lambda: (actors_alive(), objects_held()) == before)


def wait_until(condition) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_feed_that_is_left_early_leaves_nothing_behind(ray):
    before = actors_alive(), objects_held()
    feed = hr.ray.feed(numbers(), 1, resources=HERE)
    next(feed)
    feed.close()
    feed.close()
    with pytest.raises(hr.ClosedError):
        next(feed)
    wait_until(lambda: (actors_alive(), objects_held()) == before)


def test_a_maker_opens_one_pipeline_an_epoch_and_graph(ray):
    with hr.ray.Makers(1, resources=HERE) as makers:
        dataset = numbers()
        for epoch in range(3):
            assert_same(read_all(dataset, epoch=epoch), read(hr.ray.feed(dataset, makers, epoch=epoch)))
            (member,) = makers._living
            assert ray.get(member.actor.counts.remote())["openings"] == epoch + 1


@pytest.mark.parametrize("given", [0, 1, 5, 13, 14])
def test_a_state_moves_between_feed_and_single_machine(makers, given):
    dataset = numbers()
    whole = read_all(dataset, epoch=2, seed=5).rows
    feed = hr.ray.feed(dataset, makers, epoch=2, seed=5)
    assert read(feed, given).rows == whole[:given]
    state = feed.state()
    single = dataset.iterate(epoch=2, seed=5)
    read(single, given)
    # Neither the seed nor the epoch is given again.
    assert read_all(dataset, state=state).rows == whole[given:]
    assert read(hr.ray.feed(dataset, makers, state=single.state())).rows == whole[given:]
    single.close()
    assert dataset.epoch == 3


def test_a_feed_of_a_state_moves_the_epoch_and_goes_on_to_further_states(makers):
    dataset = numbers()
    whole = read_all(dataset, epoch=1, seed=5).rows
    state, found = None, []
    for _ in range(5):
        options = {"state": state} if state else {"epoch": 1, "seed": 5}
        with hr.ray.feed(dataset, makers, **options) as feed:
            found += read(feed, 3).rows
            state = feed.state()
    assert found == whole[: len(found)]
    assert len(found) == len(whole)


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
@pytest.mark.parametrize("even", ["off", "pad"])
def test_a_run_of_one_machine_goes_on_as_ranks_and_back(makers, even):
    dataset = numbers(61)
    with dataset.iterate(epoch=2, seed=3, even=even) as single:
        read(single, 5)
        state = single.state()
    for rank in range(3):
        expected = read_all(dataset, state=state, shard=(rank, 3))
        feed = hr.ray.feed(dataset, makers, state=state, shard=(rank, 3))
        assert feed.epoch == 2
        found = read(feed, 2)
        between = feed.state()
        assert_same(expected, Outcome(found.rows + read(feed).rows))
        assert_same(read_all(dataset, state=between), read(hr.ray.feed(dataset, makers, state=between)))
    assert dataset.epoch == 3


def test_a_state_of_other_ranks_is_a_warning_and_one_that_cannot_be_is_refused(makers):
    dataset = numbers()
    with dataset.iterate(shard=(0, 2)) as single:
        next(single)
        state = single.state()
    with pytest.warns(hr.PipelineWarning, match="another number of ranks.*makers make rows by their numbers"):
        hr.ray.feed(dataset, makers, state=state, shard=(0, 4)).close()
    window = hr.Numpy({"x": np.arange(40)}).shuffle(8).batch(3)
    with window.iterate(shard=(0, 2)) as single:
        next(single)
        state = single.state()
    with pytest.raises(hr.StateError, match="cannot go on as shard 0 of 4"):
        hr.ray.feed(window, makers, state=state, shard=(0, 4))


@pytest.mark.parametrize("even", ["off", "drop", "pad"])
def test_ranks_have_the_batches_of_the_single_machine(makers, even):
    dataset = numbers(40)
    for rank in range(3):
        options = {"epoch": 4, "seed": 2, "shard": (rank, 3), "even": even}
        assert_same(read_all(dataset, **options), read(hr.ray.feed(dataset, makers, **options)))


def test_start_leaves_batches_out(makers):
    dataset = numbers()
    assert_same(read_all(dataset, start=11), read(hr.ray.feed(dataset, makers, start=11)))
    assert read(hr.ray.feed(dataset, makers, start=99)).rows == []


def test_batches_are_tuples_tensors_and_arrow_as_asked(makers):
    dataset = numbers(8)
    (first, *_), (wanted, *_) = hr.ray.feed(dataset, makers, as_tuple=["x"]), dataset.iterate(as_tuple=["x"])
    assert isinstance(first, tuple) and first[0].tolist() == wanted[0].tolist()
    with hr.ray.feed(dataset, makers, as_tuple=True, shard=(0, 3), even="pad") as feed:
        next(feed)
        assert feed.pad.tolist() == next(dataset.iterate(shard=(0, 3), even="pad"))["_pad"].tolist()


def test_batches_are_tensors(makers):
    torch = pytest.importorskip("torch")
    dataset = numbers(8)
    for found, wanted in zip(hr.ray.feed(dataset, makers, as_="torch"), dataset.iterate(as_="torch"), strict=True):
        assert isinstance(found["x"], torch.Tensor) and torch.equal(found["x"], wanted["x"])
        found["x"] += 1


def test_batches_are_arrow(makers):
    pytest.importorskip("pyarrow")
    dataset = numbers(8)
    found, wanted = list(hr.ray.feed(dataset, makers, as_="arrow")), list(dataset.iterate(as_="arrow"))
    assert len(found) == len(wanted) and all(a.equals(b) for a, b in zip(found, wanted, strict=True))


def test_arrays_can_be_written_to_unless_they_are_not_copied(makers):
    assert next(iter(hr.ray.feed(numbers(), makers)))["x"].flags.writeable
    large = hr.Numpy({"x": np.zeros((8, 1 << 16), np.float32)}).batch(4)
    assert not next(iter(hr.ray.feed(large, makers, copy=False)))["x"].flags.writeable


def test_columns_of_every_kind_travel(makers):
    rows = {"bytes": [b"\x00a", b""], "text": ["\u00fc", "b"], "half": np.ones((2, 3), np.float16)}
    dataset = hr.Numpy(rows).map(lambda n: n, "half").batch(2)
    assert_same(read_all(dataset), read(hr.ray.feed(dataset, makers)))


def test_an_error_of_a_row_comes_at_its_place_once_it_was_the_same_three_times(makers):
    def failing(x):
        if int(x) == 17:
            raise ValueError("seventeen")
        return x

    dataset = hr.Numpy({"x": np.arange(40)}).map(failing, "x").batch(3)
    expected = read_all(dataset)
    assert len(expected.rows) == 5 and expected.failure.kind == "FunctionError"
    feed = hr.ray.feed(dataset, makers)
    assert_same(expected, read(feed))
    assert feed.report()["errors"] == 3


def test_a_damaged_file_is_the_same_error(makers, tmp_path, photos):
    folder = tmp_path / "photos"
    for number in range(6):
        kind = folder / "ab"[number % 2]
        kind.mkdir(parents=True, exist_ok=True)
        source = sorted(photos.rglob("*.jpg"))[number]
        data = source.read_bytes()
        (kind / f"{number}.jpg").write_bytes(data[: len(data) // 3] if number == 3 else data)
    dataset = pictures(folder)
    expected = read_all(dataset)
    assert expected.failure.kind == "DataError"
    assert_same(expected, read(hr.ray.feed(dataset, makers)))


class Interrupted(BaseException):
    """What a signal raises, as Ctrl-C does."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_signals_lose_no_batch(makers):
    dataset = numbers(1500)
    expected = [batch["x"].tolist() for batch in dataset.iterate(epoch=1)]
    found, interrupts, listening = [], 0, [True]

    def interrupt(number, frame):
        if listening:
            raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    with hr.ray.feed(dataset, makers, epoch=1, window=4) as feed:
        while listening:
            try:
                # Later and later, as a feed that begins again needs time.
                signal.setitimer(signal.ITIMER_REAL, 3e-3 * (1 + interrupts))
                # In C, where no signal comes between a batch and the list.
                found.extend(map(operator.itemgetter("x"), feed))
                listening.clear()
            except Interrupted:
                interrupts += 1
                after = itertools.islice(dataset.iterate(state=feed.state()), 1)
                assert [batch["x"].tolist() for batch in after] == expected[len(found) :][:1]
        signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    assert [x.tolist() for x in found] == expected and interrupts > 0


@pytest.mark.parametrize("end", ["makers' lists", "asks", "answers", "taking"])
def test_a_feed_that_was_interrupted_anywhere_goes_on(makers, monkeypatch, end):
    """In the middle of what a feed notes, where a signal seldom comes."""
    dataset = numbers(120)
    expected = [batch["x"].tolist() for batch in dataset.iterate(epoch=1)]
    cut = {
        "makers' lists": (Feed, "_opened"),
        "asks": (Feed, "_call"),
        "answers": (Window, "answered"),
        "taking": (Window, "take"),
    }
    of, name = cut[end]
    calls, plain = [], getattr(of, name)

    def interrupted(self, *given):
        calls.append(None)
        if len(calls) == 3:
            raise Interrupted
        done = plain(self, *given)
        if len(calls) == 5:
            raise Interrupted
        return done

    monkeypatch.setattr(of, name, interrupted)
    found, interrupts = [], 0
    with hr.ray.feed(dataset, makers, epoch=1, window=4) as feed:
        while len(found) < len(expected):
            try:
                found.append(next(feed)["x"].tolist())
            except Interrupted:
                interrupts += 1
    assert found == expected and (interrupts == 2 or end == "makers' lists")


def test_makers_show_what_is_for_users():
    assert [name for name in dir(hr.ray.Makers) if not name.startswith("_")] == ["close", "cpus", "scale"]


@pytest.mark.parametrize("error", [TimeoutError("of SIGALRM"), Interrupted("of SIGALRM")])
@pytest.mark.parametrize("call", ["wait", "get"])
def test_what_a_signal_raised_within_ray_is_given_as_it_is(ray, makers, monkeypatch, call, error):
    dataset = numbers(120)
    expected = [batch["x"].tolist() for batch in dataset.iterate(epoch=1)]
    calls, plain = [], getattr(ray, call)

    def interrupted(*given, **options):
        calls.append(None)
        if len(calls) in (2, 5):
            raise SystemError("returned a result with an exception set") from error
        return plain(*given, **options)

    found, interrupts = [], 0
    with hr.ray.feed(dataset, makers, epoch=1, window=4) as feed:
        monkeypatch.setattr(ray, call, interrupted)
        while len(found) < len(expected):
            try:
                found.append(next(feed)["x"].tolist())
            except type(error):
                interrupts += 1
        monkeypatch.setattr(ray, call, plain)
    assert found == expected and interrupts == 2


def test_errors_of_ray_and_of_the_caller_are_no_signals(ray):
    for cause in (None, ray.exceptions.RaySystemError("lost")):
        with pytest.raises(SystemError, match="broken"):
            try:
                raise ValueError("the caller's")
            except ValueError:
                with raised_by_signals():
                    raise SystemError("broken") from cause


@pytest.mark.parametrize("of", ["the feed", "Ray"])
def test_an_error_of_the_feed_is_its_last(ray, makers, monkeypatch, of):
    """A loop that asks again would else begin at no makers lost, and again, without an end."""
    kind, error = {
        "the feed": (hr.UnsupportedError, hr.UnsupportedError("feed: 13 makers were lost")),
        "Ray": (ray.exceptions.RayError, ray.exceptions.RaySystemError("lost")),
    }[of]
    answered, plain = [], Window.answered

    def broken(self, *given):
        answered.append(None)
        if len(answered) == 3:
            raise error
        return plain(self, *given)

    monkeypatch.setattr(Window, "answered", broken)
    begun = []
    monkeypatch.setattr(Feed, "_begin_again", lambda self: begun.append(None))
    with hr.ray.feed(numbers(120), makers, epoch=1, window=4) as feed:
        with pytest.raises(kind, match="lost"):
            list(feed)
        for _ in range(3):
            with pytest.raises(hr.Error, match="lost|ended with RaySystemError"):
                next(feed)
    assert len(answered) == 3 and not begun


def test_a_fork_takes_no_batches_and_ends_no_makers(ray):
    dataset = numbers()
    expected = read_all(dataset)
    with hr.ray.feed(dataset, 1, resources=HERE) as feed:
        found = read(feed, 2).rows
        child = os.fork()
        if child == 0:
            status = 1
            with contextlib.suppress(BaseException):
                signal.alarm(30)
                try:
                    next(feed)
                except hr.ClosedError as error:
                    status = 0 if "is a fork" in str(error) else 2
                feed.close()
            os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert_same(expected, Outcome(found + read(feed).rows))


def test_an_error_that_does_not_come_again_is_not_given(makers, tmp_path):
    marker = tmp_path / "marker"

    def once(x):
        if int(x) == 7 and not marker.exists():
            marker.touch()
            raise OSError("a moment")
        return x

    dataset = hr.Numpy({"x": np.arange(20)}).map(once, "x").batch(2)
    feed = hr.ray.feed(dataset, makers)
    assert [batch["x"].tolist() for batch in feed] == [[i, i + 1] for i in range(0, 20, 2)]
    assert feed.report()["errors"] == 1


def in_order(name: str) -> hr.Dataset:
    """A pipeline whose batches cannot be found by their numbers."""
    rows = hr.Numpy(
        {
            "x": np.arange(60, dtype=np.int32),
            "image": np.random.default_rng(1).integers(0, 256, (60, 8, 8, 3), np.uint8),
        },
        shuffle=True,
    )
    drawn = rows.map(V.RandomResizedCrop(4), "image")
    if name == "filter":
        return drawn.filter(hr.col("x") % 3 != 1).batch(4)
    if name == "shuffle":
        return drawn.shuffle(16).batch(4)
    if name == "repeat":
        return drawn.batch(4).shuffle(3).repeat(2)
    if name == "cache":
        return drawn.shuffle(16).cache().map(V.RandomHorizontalFlip(), "image").batch(4)
    return drawn.batch(4).unbatch().map(V.RandomHorizontalFlip(), "image").batch(3)


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
@pytest.mark.parametrize("options", [{"epoch": 2, "seed": 3}, {"epoch": 1, "seed": 3, "shard": (1, 2)}])
@pytest.mark.parametrize("name", ["filter", "shuffle", "unbatch", "repeat", "cache"])
def test_what_needs_rows_in_order_runs_here_over_rows_of_makers(makers, name, options):
    expected = read_all(in_order(name), **options)
    with hr.ray.feed(in_order(name), makers, **options) as feed:
        assert_same(expected, read(feed))
        assert "maker" in feed.explain()


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
@pytest.mark.parametrize("name", ["shuffle", "repeat", "cache"])
def test_ranks_are_even_where_rows_are_needed_in_order(makers, name):
    for even in ("drop", "pad"):
        options = {"epoch": 1, "seed": 3, "shard": (6, 7), "even": even}
        assert_same(read_all(in_order(name), **options), read(hr.ray.feed(in_order(name), makers, **options)))


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
def test_a_cache_of_the_loop_s_process_has_its_rows_in_the_next_epoch(makers):
    dataset = in_order("cache")
    expected = [read_all(dataset.options(), epoch=epoch) for epoch in range(2)]
    for epoch in range(2):
        with hr.ray.feed(dataset, makers, epoch=epoch) as feed:
            assert_same(expected[epoch], read(feed))
            # What the cache has is not asked of makers.
            assert (feed.report() == {}) == (epoch == 1)


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
def test_makers_of_a_feed_that_fails_before_its_first_batch_end(ray):
    def failing(x):
        raise ValueError("no row")

    before = actors_alive()
    dataset = hr.Numpy({"x": np.arange(60)}).map(failing, "x").filter(hr.col("x") % 3 != 1).batch(4)
    with pytest.raises(hr.FunctionError, match="no row"):
        hr.ray.feed(dataset, 1, resources=HERE, start=2)
    wait_until(lambda: actors_alive() == before)


def test_a_warning_names_the_operator_that_needs_rows_in_order(makers):
    with pytest.warns(hr.PipelineWarning, match=r"filter\[\d\].*makers make the rows below it"):
        hr.ray.feed(in_order("filter"), makers).close()


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
@pytest.mark.parametrize("name", ["filter", "shuffle", "unbatch", "repeat", "cache"])
def test_its_states_are_those_of_the_single_machine(makers, name):
    dataset = in_order(name)
    whole = read_all(dataset, epoch=2, seed=3).rows
    with hr.ray.feed(dataset, makers, epoch=2, seed=3) as feed:
        assert read(feed, 4).rows == whole[:4]
        state = feed.state()
    assert read_all(dataset, state=state).rows == whole[4:]
    with hr.ray.feed(dataset, makers, state=state) as feed:
        assert read(feed).rows == whole[4:]
    with hr.ray.feed(dataset, makers, epoch=2, seed=3, start=3) as feed:
        assert read(feed).rows == whole[3:]


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
def test_the_error_of_a_row_of_makers_is_that_of_the_single_machine(makers):
    def failing(x):
        if int(x) == 17:
            raise ValueError("seventeen")
        return x

    dataset = hr.Numpy({"x": np.arange(40)}).map(failing, "x").filter(hr.col("x") % 2 == 1).batch(3)
    expected = read_all(dataset)
    feed = hr.ray.feed(dataset, makers)
    assert_same(expected, read(feed))


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
@pytest.mark.parametrize("epoch", range(3))
def test_rows_after_one_that_fails_come_before_it_out_of_a_window(makers, epoch):
    def failing(x):
        if int(x) in (37, 39):
            raise ValueError(f"{int(x)}")
        return x

    dataset = hr.Range(100).map(failing, "value").shuffle(5).batch(5)
    expected = read_all(dataset, epoch=epoch, seed=4)
    assert_same(expected, read(hr.ray.feed(dataset, makers, epoch=epoch, seed=4)))


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
@pytest.mark.parametrize("max_errors", [100, 2])
def test_rows_that_fail_on_makers_are_left_out_as_on_the_single_machine(makers, tmp_path, max_errors):
    def odd_one_out(x):
        if int(x) % 11 == 6:
            raise ValueError(f"{x} is no good")
        return x

    log = tmp_path / "failed.jsonl"
    dataset = hr.Numpy({"x": np.arange(40)}, shuffle=True).map(odd_one_out, "x").batch(3)
    dataset = dataset.on_error("skip", max_errors=max_errors, log=log)
    here = dataset.iterate(epoch=2, seed=5)
    expected = read(here)
    assert (expected.failure is None) == (max_errors == 100)
    said = log.read_text()
    log.unlink()
    feed = hr.ray.feed(dataset, makers, epoch=2, seed=5)
    assert_same(expected, read(feed))
    assert log.read_text() == said
    if expected.failure is not None:
        return
    with hr.ray.feed(dataset, makers, epoch=2, seed=5) as feed:
        next(feed)
        state = feed.state()
    assert_same(Outcome(expected.rows[1:]), read(dataset.iterate(state=state)))
    assert_same(Outcome(expected.rows[1:]), read(hr.ray.feed(dataset, makers, state=state)))


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
def test_ranks_have_their_groups_of_rows_that_stay_together(makers):
    rows = hr.Numpy({"x": np.arange(41), "label": np.arange(41) % 5}, shuffle=True)
    dataset = rows.sample(hr.PK(2, 3)).batch(6).shuffle(3)
    for rank in range(2):
        options = {"epoch": 1, "seed": 3, "shard": (rank, 2)}
        assert_same(read_all(dataset, **options), read(hr.ray.feed(dataset, makers, **options)))
        with hr.ray.feed(dataset, makers, start=1, **options) as feed:
            assert read(feed).rows == read_all(dataset, **options).rows[1:]


def test_groups_of_unlike_sizes_are_refused_by_name_below_what_needs_rows_in_order(makers):
    texts = hr.ragged(np.arange(60), np.arange(0, 61, 3))
    rows = hr.Numpy({"x": texts, "length": np.full(20, 3)}, shuffle=True)
    dataset = rows.bucket_by_length("x", [2, 5], [4, 2, 1], length="length")
    assert_same(read_all(dataset), read(hr.ray.feed(dataset, makers)))
    with pytest.raises(hr.UnsupportedError, match=r"feed: .*groups of different sizes.*\n.*bucket_order\[\d\]"):
        hr.ray.feed(dataset.shuffle(3), makers)


def test_data_is_opened_once_for_a_feed_and_its_states(makers, photos, monkeypatch):
    openings = []
    start = runs.start_engine

    def counted(*given):
        openings.append(given)
        return start(*given)

    monkeypatch.setattr(runs, "start_engine", counted)
    with hr.ray.feed(pictures(photos), makers, seed=1) as feed:
        for _ in range(3):
            next(feed)
            feed.state()
        assert len(openings) == 1
    feed.state()
    assert len(openings) == 1


def test_data_is_closed_where_it_is_gone_before_the_state_is_looked_at(makers, monkeypatch):
    places = []

    def gone(place, state):
        places.append(place)
        raise hr.DataError("the data is gone")

    monkeypatch.setattr(Place, "holds", gone)
    with pytest.raises(hr.DataError, match="gone"):
        hr.ray.feed(numbers(), makers, state=state_after(numbers(), 2, seed=7))
    assert [place._ranges for place in places] == [None]


def test_a_far_folder_is_listed_once_by_each_process_whatever_the_epochs(ray, photos, monkeypatch):
    if lacking := stores.lacking():
        pytest.skip(lacking)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with S3Server() as server:
        store = stores.s3_store(server)
        for file in sorted(photos.rglob("*.jpg")):
            server.put(stores.BUCKET, f"set/{file.relative_to(photos)}", file.read_bytes())
        settings = store.storage

        def reach():
            return hr.storage(settings)

        with reach(), hr.ray.Makers(1, resources=HERE, setup=reach) as makers:
            dataset = pictures(store.root)
            for epoch in range(3):
                with hr.ray.feed(dataset, makers, epoch=epoch) as feed:
                    next(feed)
                    feed.state()
                    list(feed)
            assert read(hr.ray.feed(dataset, makers, epoch=0)).rows == read_all(pictures(photos), epoch=0).rows
        # One by the loop's process, one by the maker.
        assert server.counts()["list"] == 2


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
def test_rows_that_fail_are_left_out_below_a_repeat_and_a_cache(makers):
    def check(x):
        if int(x) % 11 == 4:
            raise ValueError(f"row {x}")
        return x

    rows = hr.Numpy({"x": np.arange(40)}, shuffle=True).map(check, "x", types={"x": "int64"}).batch(3)
    for dataset in (rows.on_error("skip").repeat(2), rows.on_error("skip").cache()):
        for options in ({}, {"shard": (1, 3), "even": "pad"}):
            expected = read_all(dataset.options(), epoch=1, **options)
            assert_same(expected, read(hr.ray.feed(dataset.options(), makers, epoch=1, **options)))


def test_parameters_have_the_values_of_the_epoch(makers):
    size = hr.parameter("size", fn=lambda epoch: 8 + epoch)
    images = hr.Numpy({"image": np.random.default_rng(0).integers(0, 256, (12, 20, 20, 3), np.uint8)})
    dataset = images.map([V.Resize((size, 16))], "image").batch(4)
    for epoch in (0, 3):
        assert_same(read_all(dataset, epoch=epoch), read(hr.ray.feed(dataset, makers, epoch=epoch)))
    size.set(30, 5)
    found = next(iter(hr.ray.feed(dataset, makers, epoch=5)))["image"]
    assert found.shape[1] == 30


def test_functions_of_the_script_travel_with_ray_alone(makers, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    scale = 3
    dataset = hr.Range(20, shuffle=True).map(lambda value: value * scale, "value").batch(4)
    assert_same(read_all(dataset), read(hr.ray.feed(dataset, makers)))


def test_setup_runs_before_the_pipeline_and_its_error_is_the_loops(ray, tmp_path):
    np.save(tmp_path / "numbers.npy", np.arange(4))
    folder = str(tmp_path)

    def setup():
        import fsspec

        hr.register_filesystem("rayfeed", fsspec.filesystem("dir", path=folder, target_protocol="file"))

    pytest.importorskip("fsspec")
    setup()
    dataset = hr.Npy("rayfeed:///numbers.npy")
    expected = read_all(dataset)
    assert len(expected.rows) == 4
    with hr.ray.feed(dataset, 1, resources=HERE, setup=setup) as feed:
        assert_same(expected, read(feed))
    with pytest.raises(hr.Error, match="rayfeed"):
        next(hr.ray.feed(dataset, 1, resources=HERE))

    def broken():
        raise RuntimeError("no key for the store")

    with pytest.raises(RuntimeError, match="no key for the store"):
        next(hr.ray.feed(numbers(), 1, resources=HERE, setup=broken))


def test_a_maker_of_another_version_is_refused_by_name(ray):
    def older():
        from headrace._datasets import runs

        runs.PRODUCER = "headrace 0.0.1"

    with pytest.raises(hr.UnsupportedError, match="maker 0 .* would make other batches: .*0\\.0\\.1"):
        next(hr.ray.feed(numbers(), 1, resources=HERE, setup=older))
    with hr.ray.Makers(1, resources=HERE, setup=older) as makers:
        with pytest.raises(hr.UnsupportedError, match="would make other batches"):
            next(hr.ray.feed(numbers(), makers))
        (member,) = makers._living
        wait_until(lambda: ray.get(member.actor.counts.remote())["open"] == 0)


def test_options_that_a_feed_does_not_take_are_refused(makers):
    with pytest.raises(hr.UnsupportedError, match="device"):
        hr.ray.feed(numbers().to_device("cpu:0"), makers)
    with pytest.raises(hr.UnsupportedError, match="option profile.*explain"):
        hr.ray.feed(numbers().options(profile="trace.json"), makers)
    with pytest.raises(hr.GraphError, match="dataset is .*; give a Dataset"):
        hr.ray.feed([1, 2], makers)
    with pytest.raises(hr.UnsupportedError, match=r"feed: .*\n.*Generator\[\d\]"):
        hr.ray.feed(hr.Generator(lambda: iter([]), {"x": "int64"}), makers)
    with pytest.raises(hr.GraphError, match="start or state"):
        hr.ray.feed(numbers(), makers, start=1, state=b"x")
    with pytest.raises(hr.GraphError, match="resources has"):
        hr.ray.Makers(1, resources={"max_restarts": 3})
    with pytest.raises(hr.GraphError, match="resources is 2; give a dict"):
        hr.ray.Makers(1, resources=2)
    with pytest.raises(hr.GraphError, match=r"count is \(8, 1\); give the least first"):
        hr.ray.Makers((8, 1))
    with pytest.raises(hr.GraphError, match="feed: makers is .*; give a number, or the least and the most"):
        hr.ray.feed(numbers(), makers=(1, 2, 3))
    with pytest.raises(hr.GraphError, match="setup is 3; give a function"):
        hr.ray.Makers(1, setup=3)
    with pytest.raises(hr.GraphError, match="arguments of hr.ray.Makers"):
        hr.ray.feed(numbers(), makers, resources=HERE)
    with pytest.raises(hr.GraphError, match="window"):
        hr.ray.feed(numbers(), makers, window=0)
    with pytest.raises(hr.GraphError, match="feed: makers is '4'; it must be a whole number"):
        hr.ray.feed(numbers(), "4")
    with pytest.raises(TypeError, match="no parameter num_workers; the number of actors is called makers"):
        hr.ray.feed(numbers(), num_workers=4)
    with pytest.raises(TypeError, match="no parameter executor; it has makers, resources.* disabled_passes$"):
        hr.ray.feed(numbers(), makers, executor="pull")
    with pytest.raises(TypeError, match="no parameter window_memry; did you mean window_memory"):
        hr.ray.feed(numbers(), makers, window_memry=1)
    with pytest.raises(TypeError, match="a process that takes batches makes others"):
        pickle.dumps(makers)


@pytest.mark.filterwarnings("ignore:feed:headrace.PipelineWarning")
def test_a_loop_that_takes_batches_apart_is_told(makers):
    for dataset in (numbers(), in_order("filter")):
        with pytest.raises(hr.GraphError, match="takes each batch apart.*as_tuple=True"):
            for x, image in hr.ray.feed(dataset, makers):
                raise AssertionError((x, image))
        for _ in hr.ray.feed(dataset, makers, as_tuple=True):
            break


def test_makers_that_wait_for_room_end_first(ray):
    with hr.ray.Makers(1, resources={"num_cpus": 1}) as makers:
        feed = hr.ray.feed(hr.Range(100).batch(1), makers)
        next(feed)
        (at_work,) = makers._living
        makers.scale(4)
        # As where it replaces one that was lost.
        makers._living.reverse()
        makers.scale(1)
        assert makers._living == [at_work]
        assert len(list(feed)) == 99


def test_a_feed_after_ray_was_shut_down_is_told_and_starts_no_other():
    code = """
import ray
import headrace as hr

for again in (False, True):
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    makers = hr.ray.Makers(1, resources={"num_cpus": 0})
    feed = hr.ray.feed(hr.Range(100).batch(1), makers)
    next(feed)
    ray.shutdown()
    if again:
        ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    for call in (lambda: list(feed), lambda: makers.scale(3), lambda: makers.scale((2, 3)), lambda: feed.scale(3)):
        try:
            print(call())
        except hr.ClosedError as error:
            print(error)
    feed.close()
    makers.close()
    print(ray.is_initialized() == again)
    ray.shutdown()
"""
    ran = run_python(code, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("Ray was shut down") == 8 and ran.stdout.count("True") == 2, ran.stdout
