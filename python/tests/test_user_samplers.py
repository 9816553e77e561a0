"""User-defined samplers, and those of torch: called once for each epoch, sharded, resumed, and refused where they err."""

import sys
import threading

import numpy as np
import pytest
from conftest import values
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import transforms as T

quick = settings(max_examples=40, deadline=None, derandomize=True, database=None)


class Own:
    """`rows` numbers drawn below `of`, and `grows` more in each epoch."""

    def __init__(self, rows, of, grows=0):
        self.rows, self.of, self.grows = rows, of, grows
        self.asked = []

    def size(self, epoch):
        return self.rows + self.grows * epoch

    def indices(self, epoch, rng):
        self.asked.append(epoch)
        return rng.integers(0, self.of, self.size(epoch))


class Epochs:
    """In the form of torch's samplers."""

    def __init__(self, rows):
        self.rows = rows
        self.epoch = None

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return self.rows

    def __iter__(self):
        return iter((number + self.epoch) % self.rows for number in range(self.rows))


def read(dataset, **options):
    return [int(row["value"]) for row in dataset.iterate(**options)]


def noisy(value, rng):
    return value + 1000 * rng.integers(99)


@quick
@given(st.integers(1, 40), st.integers(0, 5), st.integers(1, 4), st.integers(0, 3), st.data())
def test_ranks_share_one_order_and_go_on_at_any_batch(rows, grows, world, epoch, data):
    dataset = hr.Range(20).sample(Own(rows, 20, grows)).map(noisy, "value")
    whole = read(dataset, epoch=epoch)
    assert len(whole) == rows + grows * epoch
    for rank in range(world):
        assert read(dataset, epoch=epoch, shard=(rank, world)) == whole[rank::world]
    size = data.draw(st.integers(1, 5))
    steps = data.draw(st.integers(0, len(whole) // world // size))
    seen = []
    for rank in range(world):
        with dataset.batch(size).iterate(epoch=epoch, shard=(rank, world)) as iterator:
            for _ in range(steps):
                seen += next(iterator)["value"].tolist()
            state = iterator.state()
    others = data.draw(st.integers(1, 4))
    for rank in range(others):
        for batch in dataset.batch(size).iterate(state=state, shard=(rank, others)):
            seen += batch["value"].tolist()
    assert sorted(seen) == sorted(whole)


def test_each_epoch_is_asked_for_once_and_never_before_its_time():
    sampler = Own(30, 10)
    dataset = hr.Range(10).sample(sampler).batch(4)
    first = values(dataset)
    assert sampler.asked == [0] and len(first) == 30
    second = values(dataset)
    assert sampler.asked == [0, 1] and list(first) != list(second)
    values(dataset.repeat(3))
    assert sampler.asked == [0, 1, 0, 1, 2]
    assert read(hr.Range(10).sample(sampler), epoch=1) == list(second), "a function of the epoch"
    assert read(hr.Range(10).sample(sampler), seed=1) != read(hr.Range(10).sample(sampler), seed=2)


def test_size_is_asked_for_each_epoch_once_and_ahead_on_the_thread_of_the_caller():
    class Watched(Own):
        def __init__(self, rows, of):
            super().__init__(rows, of)
            self.sizes = []

        def size(self, epoch):
            self.sizes.append((epoch, threading.current_thread() is threading.main_thread()))
            return self.rows

        def indices(self, epoch, rng):
            assert threading.current_thread() is not threading.main_thread()
            return range(self.rows)

    sampler = Watched(5, 5)
    dataset = hr.Range(5).sample(sampler).batch(2)
    for _ in range(3):
        values(dataset)
    assert sampler.sizes == [(0, True), (0, False), (1, False), (2, False)]
    assert len(dataset) == 3 and sampler.sizes[-1] == (3, True)


def test_it_is_told_the_pass_of_repeat_and_0_below_a_cache():
    for make, epochs in (
        (lambda dataset: dataset.repeat(3), [6, 7, 8]),
        (lambda dataset: dataset.repeat().take(12), [2 * 2**32, 2 * 2**32 + 1, 2 * 2**32 + 2]),
        (lambda dataset: dataset.batch(2).cache("1MiB"), [0]),
    ):
        sampler = Own(4, 5)
        list(make(hr.Range(5).sample(sampler)).iterate(epoch=2))
        assert sampler.asked[: len(epochs)] == epochs


@pytest.mark.parametrize(
    "make",
    [
        lambda drawn: drawn.batch(2),
        lambda drawn: drawn.batch(2).unbatch(),
        lambda drawn: drawn.filter(hr.col("value") > 2),
        lambda drawn: (
            drawn.map(T.TypeCast("int32"), "value").shuffle(3).concat(hr.Range(3).map(T.TypeCast("int32"), "value"))
        ),
        lambda drawn: drawn.shuffle(3).zip(hr.Range(3).rename({"value": "other"}).shuffle(2)),
    ],
)
def test_a_cache_in_order_keeps_nothing_of_it_between_runs(make, tmp_path):
    dataset = make(hr.Range(5).sample(Own(3, 5))).cache("1MiB", directory=tmp_path)
    with pytest.raises(hr.UnsupportedError, match="cannot be kept between runs"):
        dataset.iterate()


def test_epochs_may_differ_in_size():
    dataset = hr.Range(10).sample(Own(3, 10, grows=2)).map(noisy, "value").batch(2)
    assert len(dataset) == 2
    assert [len(values(dataset)) for _ in range(3)] == [3, 5, 7]
    assert len(dataset) == 5, "that of ds.epoch"
    with pytest.raises(TypeError):
        len(dataset.repeat(2))
    for epoch in range(3):
        ranks = [
            [batch["value"].tolist() for batch in dataset.iterate(epoch=epoch, shard=(rank, 2), even="pad")]
            for rank in range(2)
        ]
        assert len(ranks[0]) == len(ranks[1])


def test_it_stands_below_other_operators_on_indices():
    drawn = hr.Range(10).sample(Own(3, 10, grows=2))
    for epoch in range(3):
        whole = read(drawn, epoch=epoch)
        assert read(drawn.skip(1).take(3), epoch=epoch) == whole[1:4]
        assert read(drawn.sample(hr.Repeated(2)), epoch=epoch) == [row for row in whole for _ in range(2)]
        assert read(drawn.concat(hr.Range(2)), epoch=epoch) == [*whole, 0, 1]
    other = hr.Range(4).rename({"value": "other"})
    assert [len(list(drawn.zip(other).iterate(epoch=epoch))) for epoch in range(3)] == [3, 4, 4]


def test_images_are_read_beneath_the_maps_above_them(photos):
    from headrace import vision as V

    images = hr.ImageFolder(photos, shuffle=True).map([V.Decode(), V.RandomResizedCrop(8)], "image")
    drawn = images.sample(Own(20, 4)).batch(20)
    (batch,) = drawn.iterate()
    assert batch["image"].shape == (20, 8, 8, 3)
    assert len({image.tobytes() for image in batch["image"]}) == 20, "each has a crop of its own"
    (pulled,) = drawn.iterate(executor="pull")
    assert np.array_equal(pulled["image"], batch["image"])


class Moody(Own):
    """Gives others at every call."""

    def indices(self, epoch, rng):
        self.of -= 1
        return super().indices(epoch, rng)


@pytest.mark.parametrize("shard", [(0, 1), (1, 2)])
def test_a_restart_for_which_it_gives_others_is_refused(shard):
    dataset = hr.Range(100).sample(Moody(30, 100)).batch(3)
    with dataset.iterate() as iterator:
        next(iterator)
        state = iterator.state()
    with pytest.raises(hr.StateError, match="gives other rows for epoch 0"):
        next(dataset.iterate(state=state, shard=shard))


def test_samplers_with_iter_and_len_are_told_the_epoch():
    dataset = hr.Range(5).sample(hr.from_sampler(Epochs(5)))
    assert len(dataset) == 5
    assert [list(values(dataset)) for _ in range(3)] == [[0, 1, 2, 3, 4], [1, 2, 3, 4, 0], [2, 3, 4, 0, 1]]
    assert read(hr.Range(5).sample(hr.from_sampler(range(4, 0, -2)))) == [4, 2]


class Lazy(Epochs):
    """Looks at its epoch for each number."""

    def __iter__(self):
        for number in range(self.rows):
            yield (number + self.epoch) % 50


@pytest.fixture
def switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("switching")
def test_two_iterators_over_one_sampler_get_their_own_epochs():
    sampler = Lazy(20_000)
    datasets = [hr.Range(50).sample(hr.from_sampler(sampler)).batch(1000) for _ in range(2)]
    given_rows = {}

    def run(epoch):
        given_rows[epoch] = np.concatenate([batch["value"] for batch in datasets[epoch % 2].iterate(epoch=epoch)])

    threads = [threading.Thread(target=run, args=(epoch,)) for epoch in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for epoch in range(4):
        assert np.array_equal(given_rows[epoch], (np.arange(20_000) + epoch) % 50)


@pytest.mark.torch
def test_torch_samplers_follow_from_the_seed_alone():
    torch = pytest.importorskip("torch")
    data = torch.utils.data
    for make in (
        lambda: data.RandomSampler(range(20)),
        lambda: data.SubsetRandomSampler(range(20)),
        lambda: data.WeightedRandomSampler([1.0] * 20, 30),
        lambda: data.DistributedSampler(range(20), 1, 0),
        lambda: data.RandomSampler(range(20), generator=torch.Generator().manual_seed(5)),
    ):
        dataset = hr.Range(20).sample(hr.from_sampler(make()))
        before = torch.random.get_rng_state()
        first = read(dataset, epoch=0)
        assert torch.equal(before, torch.random.get_rng_state())
        torch.rand(3)
        assert read(hr.Range(20).sample(hr.from_sampler(make())), epoch=0) == first != read(dataset, epoch=1)
        with dataset.iterate(epoch=3) as iterator:
            whole = [int(next(iterator)["value"]) for _ in range(5)]
            state = iterator.state()
        assert whole + read(dataset, state=state) == read(dataset, epoch=3)
    with pytest.raises(hr.GraphError, match=r"for rows by their numbers write select\(indices\)"):
        hr.Range(20).sample(torch.tensor([1, 2]))
    with pytest.raises(hr.GraphError, match=r"gives batches of rows; .* write .batch\(n\)"):
        hr.from_sampler(data.BatchSampler(range(20), 4, False))
    with pytest.raises(hr.GraphError, match=r"or headrace.from_sampler\(sampler\) for one of torch's"):
        hr.Range(20).sample(data.RandomSampler(range(20)))


def answering(size, indices):
    class Answers:
        def size(self, epoch):
            return size

        def indices(self, epoch, rng):
            return indices

    return Answers()


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (answering(2.5, [1]), "size.0. of the sampler gave 2.5; it must give a whole number of 64 bits"),
        (answering(None, [1]), "size.0. of the sampler gave None"),
        (answering("3", [1]), "size.0. of the sampler gave '3'"),
        (answering(2**70, [1]), "gave 1180591620717411303424; it must"),
        (answering(0, []), "gave 0; an epoch has at least one row"),
        (answering(-1, []), "gave -1"),
        (answering(2, []), "gave 0 rows, but size.0. says 2"),
        (answering(2, [0, 1, 2]), "gave 3 rows, but size.0. says 2"),
        (answering(2, [0, float("nan")]), "gave float64 .2,.; it must give row numbers as int64"),
        (answering(2, None), "indices.0, rng. of the sampler gave None; it must give row numbers as int64"),
        (answering(2, (row for row in [0, 1])), "gave <generator object .*; it must give"),
        (answering(2, [[1], [1, 2]]), r"gave \[\[1\], \[1, 2\]\]; it must"),
        (answering(2, [0, 2**70]), r"gave \[0, 1180591620717411303424\]; it must"),
        (answering(2, [2**63, 2**63]), "gave 9223372036854775808, which has more than 63 bits"),
        (answering(2, ["a", "b"]), r"gave \['a', 'b'\]; it must"),
        (answering(2, [0, "b"]), r"gave \[0, 'b'\]; it must"),
        (answering(2, np.array(["a", "b"])), "gave string .2,."),
        (answering(2, np.array([0, None])), "gave array.*; it must"),
        (answering(2, 7), "gave int64 .."),
        (answering(2, np.array([True, False])), "gave bool .2,."),
        (answering(2, [[0, 1]]), "gave int64 .1, 2."),
        (answering(2, [0, 5]), "gave 5 at 1, but there are 5 rows, numbered from 0"),
        (answering(2, [-1, 0]), "gave -1 at 0"),
    ],
)
def test_wrong_answers_are_named(sampler, message):
    with pytest.raises(hr.GraphError, match=message):
        list(hr.Range(5).sample(sampler).iterate())


class Yields:
    def __init__(self, *numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __iter__(self):
        return iter(self.numbers)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.uint64, ">i8"])
def test_whole_numbers_of_any_width_are_row_numbers(dtype):
    numbers = np.array([3, 0, 3], dtype)
    for sampler in (answering(np.int16(3), numbers), answering(3, list(numbers))):
        assert read(hr.Range(5).sample(sampler)) == [3, 0, 3]
    assert read(hr.Range(5).sample(hr.from_sampler(Yields(*numbers)))) == [3, 0, 3]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((0, 1.5), "gave 1.5 at 1 of its __iter__; it must give row numbers"),
        ((0, None), "gave None at 1 of its __iter__"),
        ((0, 2**70), "gave .0, 1180591620717411303424."),
        ((0, 9), "gave 9 at 1, but there are 5 rows"),
    ],
)
def test_wrong_numbers_of_an_iterable_are_named(numbers, message):
    with pytest.raises(hr.GraphError, match=message):
        list(hr.Range(5).sample(hr.from_sampler(Yields(*numbers))).iterate())


def test_what_has_the_methods_by_accident_is_no_sampler():
    class Tensor(Own):
        def __array__(self, *_, **__):
            return np.arange(3)

    with pytest.raises(hr.GraphError, match=r"for rows by their numbers write select\(indices\)"):
        hr.Range(5).sample(Tensor(3, 5))


def test_what_it_raises_is_the_cause():
    class Broken(Own):
        def indices(self, epoch, rng):
            raise KeyError("lost")

    with pytest.raises(hr.FunctionError, match=r"Broken.indices raised KeyError") as caught:
        list(hr.Range(5).sample(Broken(3, 5)))
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hr.from_sampler(Epochs), "Epochs is a class; give an object of it"),
        (lambda: hr.from_sampler(iter([1])), "used up after one epoch"),
        (lambda: hr.from_sampler(3), "has no __iter__"),
        (lambda: len(hr.Range(5).filter(hr.col("value") > 1).sample(Own(3, 5))), "put it below filter"),
        (lambda: len(hr.Range(0).sample(Own(3, 5))), "has no rows to choose from"),
    ],
)
def test_mistakes_say_what_to_do(make, message):
    with pytest.raises(hr.GraphError, match=message):
        make()


def test_it_is_shown_by_its_name():
    sampler = Own(3, 5)
    assert repr(hr.from_sampler(sampler)) == f"from_sampler({sampler!r})"
    assert repr(hr.from_sampler(range(9, 0, -1))) == "from_sampler(range(9, 0, -1))"
    assert repr(hr.Range(9).sample(Own(3, 9))).startswith("<headrace.Dataset Range → from_sampler:")


def test_a_saved_graph_takes_the_sampler_again(tmp_path):
    hr.Range(9).sample(Own(5, 9)).save(tmp_path / "graph")
    names = [f"{Own.__module__}:Own.{method}#0" for method in ("size", "indices")]
    loaded = hr.load(tmp_path / "graph", references=dict.fromkeys(names, Own(5, 9)))
    assert read(loaded, epoch=2) == read(hr.Range(9).sample(Own(5, 9)), epoch=2)


def test_a_sampler_that_waits_does_not_hold_up_the_end():
    called, waits = threading.Event(), threading.Event()

    class Waiting(Own):
        def indices(self, epoch, rng):
            called.set()
            waits.wait()
            return super().indices(epoch, rng)

    iterator = hr.Range(5).sample(Waiting(3, 5)).iterate()
    reader = threading.Thread(target=lambda: pytest.raises(hr.ClosedError, next, iterator))
    reader.start()
    called.wait()
    with pytest.warns(RuntimeWarning, match=r"Waiting.indices"):
        iterator.close()
    waits.set()
    reader.join()
