"""Mixtures: which rows come, how many, and what is refused."""

import numpy as np
import pytest
from conftest import state_after
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr


def values(dataset, **options):
    with dataset.iterate(**options) as iterator:
        return [int(each) for row in iterator for each in np.atleast_1d(row["value"])]


def source(rows, first=0, **options):
    return hr.Range(first, first + rows, **options)


def streamed(rows, first=0):
    return source(rows, first).map(lambda value: value, "value")


BOTH = pytest.mark.parametrize("made", [source, streamed], ids=["indexed", "streamed"])


@BOTH
def test_rows_come_in_the_order_of_their_inputs_and_in_proportion(made):
    mixed = hr.mix([made(4000), made(4000, 10_000)], [3, 1], stop="first")
    rows = values(mixed)
    of_first = [row for row in rows if row < 10_000]
    of_second = [row for row in rows if row >= 10_000]
    assert of_first == list(range(len(of_first))) and of_second == list(range(10_000, 10_000 + len(of_second)))
    assert len(of_first) == 4000 and abs(len(of_second) / len(rows) - 0.25) < 0.03
    assert rows == values(mixed, epoch=0) != values(mixed, epoch=1)
    assert rows != values(mixed, seed=1)


@BOTH
@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=4),
    weights=st.lists(st.sampled_from([0.01, 1.0, 2.5, 100.0]), min_size=4, max_size=4),
    seed=st.integers(0, 5),
    workers=st.sampled_from([1, 7]),
)
def test_all_gives_each_row_once(made, sizes, weights, seed, workers):
    inputs = [made(size, 100 * number) for number, size in enumerate(sizes)]
    mixed = hr.mix(inputs, weights[: len(sizes)], stop="all")
    rows = values(mixed, seed=seed, workers=workers)
    assert sorted(rows) == [100 * number + row for number, size in enumerate(sizes) for row in range(size)]
    assert len(mixed) == len(rows)
    for number in range(len(sizes)):
        own = [row for row in rows if row // 100 == number]
        assert own == sorted(own)


def test_repeat_ends_when_each_has_ended_once():
    mixed = hr.mix([source(30, shuffle=True), source(4, 100, shuffle=True)], [1, 1], stop="repeat")
    for epoch in range(3):
        rows = values(mixed, epoch=epoch)
        small = [row for row in rows if row >= 100]
        assert set(range(30)) < set(rows) and len(small) > 8
        for begin in range(0, len(small) - 4, 4):
            assert sorted(small[begin : begin + 4]) == [100, 101, 102, 103]
        assert len({tuple(small[begin : begin + 4]) for begin in range(0, len(small) - 4, 4)}) > 1


def by_filter(rows, first=0):
    return hr.Range(-3, first + rows).filter(hr.col("value") >= first)


def by_generator(rows, first=0):
    return hr.Generator(lambda: ({"value": first + row} for row in range(rows)), {"value": "int64"})


STREAMS = {
    "map": streamed,
    "filter": by_filter,
    "generator": by_generator,
    "cache": lambda rows, first=0: streamed(rows, first).cache(),
    "unbatch": lambda rows, first=0: source(rows, first).batch(2).unbatch(),
}


@pytest.mark.parametrize("kind", sorted(STREAMS))
@pytest.mark.parametrize("seed", range(3))
def test_streams_begin_again_as_sources_do(kind, seed):
    made = STREAMS[kind]
    for sizes, weights in (((5, 3), [1, 1]), ((9, 1, 4), [3, 1, 2]), ((4,), [1])):
        expected = hr.mix([source(n, 100 * i) for i, n in enumerate(sizes)], weights, stop="repeat")
        mixed = hr.mix([made(n, 100 * i) for i, n in enumerate(sizes)], weights, stop="repeat")
        one = hr.mix([source(sizes[0]), *(made(n, 100 * (i + 1)) for i, n in enumerate(sizes[1:]))], weights, "repeat")
        for epoch in range(2):
            whole = values(expected, seed=seed, epoch=epoch)
            for options in ({}, {"executor": "pull"}, {"workers": 1, "window": 1}, {"optimize": False}):
                assert values(mixed, seed=seed, epoch=epoch, **options) == whole
            assert values(one, seed=seed, epoch=epoch) == whole


@pytest.mark.parametrize("kind", sorted(STREAMS))
@pytest.mark.parametrize("shard", [(0, 1), (1, 2)])
def test_streams_that_begin_again_go_on_at_every_row(kind, shard):
    made = STREAMS[kind]
    mixed = hr.mix([made(8), made(5, 100)], [2, 1], stop="repeat").map(
        lambda x, rng: x + 1000 * rng.integers(99), "value"
    )
    for epoch in range(2):
        whole = values(mixed, epoch=epoch, shard=shard)
        assert len({row % 1000 for row in whole}) < len(whole) == len(set(whole))
        states = []
        with mixed.iterate(epoch=epoch, shard=shard) as iterator:
            for row in whole:
                states.append(iterator.state())
                assert int(next(iterator)["value"]) == row
        for step, state in enumerate(states):
            assert values(mixed, state=state, shard=shard) == whole[step:]
    with pytest.raises(hr.StateError, match="cannot go on as shard 0 of 3"):
        mixed.iterate(state=states[3], shard=(0, 3))


def test_passes_of_streams_draw_anew():
    def noisy(value, rng):
        return value + 1000 * rng.integers(2**30)

    shuffled = hr.Range(6, shuffle=True).map(noisy, "value")
    mixed = hr.mix([shuffled, streamed(30, 100)], [1, 1], stop="repeat")
    rows = values(mixed, epoch=1)
    of_first = [row for row in rows if row % 1000 < 100]
    assert len(of_first) > 12 and len(set(of_first)) == len(of_first)
    endless = values(shuffled.repeat().take(len(of_first)), epoch=1)
    assert of_first == endless, "as under an endless repeat"


def test_epochs_of_streams_that_begin_again_follow_each_other():
    mixed = hr.mix([streamed(7), by_filter(3, 100)], [1, 1], stop="repeat")
    for dataset in (mixed.batch(4), mixed.take(9).batch(2), mixed.shuffle(4), mixed.repeat(2)):
        expected = [values(dataset, epoch=epoch) for epoch in range(4)]
        assert [[int(each) for row in dataset for each in np.atleast_1d(row["value"])] for _ in range(4)] == expected


def test_rows_that_fail_in_streams_that_begin_again_count_as_their_rows():
    def refused(value):
        if value % 5 == 2:
            raise ValueError("no")
        return value

    whole = values(hr.mix([streamed(8), streamed(4, 100)], [2, 1], stop="repeat"))
    mixed = hr.mix([source(8).map(refused, "value"), source(4, 100).map(refused, "value")], [2, 1], stop="repeat")
    mixed = mixed.on_error("skip")
    expected = [row for row in whole if row % 5 != 2]
    assert values(mixed) == expected
    for step in range(len(expected)):
        state = state_after(mixed, step, epoch=0)
        assert values(mixed, state=state) == expected[step:]


def test_empty_streams_have_no_end_under_repeat():
    nothing = hr.Range(3).filter(hr.col("value") > 5)
    mixed = hr.mix([streamed(3), nothing], [1, 1], stop="repeat")
    with pytest.raises(hr.GraphError, match='has no end with stop="repeat": input 1 gave no rows in a pass'):
        values(mixed)
    # A rank without rows of its own.
    with pytest.raises(hr.GraphError, match="input 0 gave no rows in a pass"):
        values(hr.mix([streamed(1), streamed(4, 100)], [1, 1], stop="repeat"), shard=(1, 2))
    assert len(values(mixed.take(1))) == 1


def test_a_row_that_comes_again_has_draws_of_its_own():
    mixed = hr.mix([source(1), source(40, 100)], [1, 1], stop="repeat")
    noisy = [float(row["value"]) for row in mixed.map(lambda value, rng: value + rng.random(), "value")]
    small = [number for number in noisy if number < 100]
    assert len(small) > 20 and len(set(small)) == len(small)


@pytest.mark.parametrize("stop", ["first", "all", "repeat"])
def test_len_is_that_of_the_epoch(stop):
    mixed = hr.mix([source(50), source(9, 100)], [2, 1], stop=stop)
    for epoch in range(4):
        mixed.epoch = epoch
        assert len(mixed) == len(values(mixed, epoch=epoch))
    assert len(hr.mix([source(50), source(9)], [2, 1], stop="all").repeat(3)) == 177


def test_len_of_streams():
    mixed = hr.mix([streamed(50), streamed(9, 100)], [2, 1], stop="first")
    assert len(mixed) == len(values(mixed))
    with pytest.raises(TypeError, match="only in running"):
        len(hr.mix([streamed(50), source(9).filter(hr.col("value") > 3)], [2, 1], stop="first"))
    with pytest.raises(TypeError, match="endless"):
        len(hr.mix([source(2).repeat(), source(3).repeat()], [2, 1], stop="first"))


@pytest.mark.parametrize("stop", ["first", "all", "repeat"])
def test_indexed_mixtures_are_sharded_above(stop):
    mixed = hr.mix([source(20, shuffle=True), source(7, 100)], [2, 1], stop=stop)
    whole = values(mixed)
    ranks = [values(mixed, shard=(rank, 3)) for rank in range(3)]
    assert [row for rows in zip(*ranks, strict=False) for row in rows] == whole[: len(whole) // 3 * 3]
    dropped = [values(mixed, shard=(rank, 3), even="drop") for rank in range(3)]
    padded = [values(mixed, shard=(rank, 3), even="pad") for rank in range(3)]
    assert {len(rows) for rows in dropped} == {len(whole) // 3}
    assert {len(rows) for rows in padded} == {-(-len(whole) // 3)}


@pytest.mark.parametrize("stop", ["first", "all", "repeat"])
def test_ranks_of_streams_make_the_same_draws(stop):
    mixed = hr.mix([streamed(20), streamed(8, 100)], [2, 1], stop=stop)
    ranks = [values(mixed, shard=(rank, 2)) for rank in range(2)]
    assert [row >= 100 for row in ranks[0]] == [row >= 100 for row in ranks[1]]
    assert not set(ranks[0]) & set(ranks[1])
    if stop == "repeat":
        with pytest.raises(hr.UnsupportedError, match="even= needs a known number of rows"):
            values(mixed, shard=(0, 2), even="drop")
        return
    uneven = hr.mix([streamed(21), streamed(8, 100)], [2, 1], stop=stop)
    assert len({len(values(uneven, shard=(rank, 2), even="drop")) for rank in range(2)}) == 1


@pytest.mark.parametrize("stop", ["first", "all", "repeat"])
def test_states_of_indexed_mixtures_fit_other_worlds(stop):
    mixed = hr.mix([source(20, shuffle=True), source(7, 100)], [2, 1], stop=stop).batch(2)
    for epoch in range(2):
        whole = values(hr.mix([source(20, shuffle=True), source(7, 100)], [2, 1], stop=stop), epoch=epoch)
        with mixed.iterate(shard=(0, 2), epoch=epoch) as iterator:
            next(iterator)
            state = iterator.state()
        rest = [values(mixed, shard=(rank, 3), state=state) for rank in range(3)]
        assert sorted(sum(rest, [])) == sorted(whole[4:])


def test_states_of_streamed_mixtures_fit_the_same_world():
    mixed = hr.mix([streamed(20), streamed(7, 100)], [2, 1], stop="all")
    whole = values(mixed, shard=(1, 2))
    for step in range(len(whole)):
        state = state_after(mixed, step, shard=(1, 2), epoch=0)
        assert values(mixed, state=state, shard=(1, 2)) == whole[step:]
    with pytest.raises(hr.StateError, match="cannot go on as shard 0 of 3: with mix"):
        mixed.iterate(state=state, shard=(0, 3))


def test_a_cache_below_and_above():
    inputs = [source(9).cache(), source(5, 100).cache()]
    mixed = hr.mix(inputs, [2, 1], stop="all")
    for epoch in range(3):
        assert sorted(values(mixed, epoch=epoch)) == [*range(9), *range(100, 105)]
    cached = hr.mix([source(9), source(5, 100)], [2, 1], stop="repeat").cache()
    assert (
        values(cached, epoch=0)
        == values(cached, epoch=1)
        == values(hr.mix([source(9), source(5, 100)], [2, 1], "repeat"))
    )


def test_rows_that_fail_count_as_their_rows():
    def refused(value):
        if value % 5 == 2:
            raise ValueError("no")
        return value

    whole = values(hr.mix([streamed(20), streamed(8, 100)], [2, 1], stop="all"))
    failing = [source(20).map(refused, "value"), source(8, 100).map(refused, "value")]
    mixed = hr.mix(failing, [2, 1], stop="all").on_error("skip")
    assert values(mixed) == [row for row in whole if row % 5 != 2]


def numbers():
    return hr.Range(4)


class Own:
    """Rows of which some fail."""

    def __init__(self, count, first, fails):
        self.count, self.first, self.fails = count, first, fails

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        if self.fails and number % 5 == 2:
            raise ValueError(number)
        return {"value": self.first + number}


class OwnInRuns(Own):
    def __getitems__(self, numbers):
        return [self[number] for number in numbers]


@pytest.mark.parametrize("kind", [Own, OwnInRuns])
@pytest.mark.parametrize("stop", ["first", "all", "repeat"])
def test_rows_that_fail_in_random_access_count_as_their_rows(kind, stop):
    def build(fails):
        inputs = [hr.from_dataset(kind(count, first, fails), "value") for count, first in ((20, 0), (9, 100))]
        return hr.mix(inputs, [2, 1], stop=stop).batch(4)

    kept = [row for row in values(build(fails=False)) if row % 100 % 5 != 2]
    mixed = build(fails=True).on_error("skip")
    assert kept == values(mixed) == values(mixed, executor="pull")
    if stop == "all":
        with pytest.raises(hr.FunctionError):
            values(build(fails=True))


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: hr.mix([], [], stop="all"), hr.GraphError, "inputs is empty; give at least one"),
        (lambda: hr.mix(numbers(), [1], stop="all"), hr.GraphError, "give a list of datasets"),
        (lambda: hr.mix(3, [1], stop="all"), hr.GraphError, "inputs is 3; give a list of datasets"),
        (lambda: hr.mix([numbers(), 3], [1, 1], stop="all"), hr.GraphError, "takes datasets, not 3"),
        (lambda: hr.mix([numbers()], [1, 2], stop="all"), hr.GraphError, "has 1 inputs and 2 weights"),
        (lambda: hr.mix([numbers()] * 2, [1, 0], stop="all"), hr.GraphError, "weights"),
        (lambda: hr.mix([numbers()] * 2, [1, float("nan")], stop="all"), hr.GraphError, "weights"),
        (lambda: hr.mix([numbers()] * 2, [1, 1e-13], stop="all"), hr.GraphError, r"weights\[1\] is 1e-13, less than 2"),
        (lambda: hr.mix([numbers()], [1], stop="never"), hr.GraphError, "stop .*first.*all.*repeat"),
        (lambda: hr.mix([numbers()], [1]), TypeError, "stop"),
        (lambda: hr.mix([numbers(), hr.Range(0)], [1, 1], stop="repeat"), hr.GraphError, "input 1 gives no rows"),
        (lambda: hr.mix([numbers()], [1], stop="all").select([0]), hr.GraphError, "mix .*gives other rows in each"),
        (lambda: hr.mix([numbers()], [1], stop="all").split([0.5, 0.5])[0], hr.GraphError, "put it below mix"),
        (lambda: hr.mix([numbers()], [1], stop="all").kfold(2)[0][0], hr.GraphError, "put it below mix"),
    ],
)
def test_what_is_refused(build, error, words):
    with pytest.raises(error, match=words):
        next(iter(build()))


def test_groups_are_refused():
    labels = hr.Numpy({"x": np.arange(8), "label": np.arange(8) % 2})
    grouped = labels.sample(hr.PK(2, 2))
    with pytest.raises(
        hr.GraphError, match="would split groups of [0-9]+ rows that the sampler of input 0 keeps together"
    ):
        next(iter(hr.mix([grouped, grouped], [1, 1], stop="all").batch(4)))
    mixed = hr.mix([grouped.batch(4), grouped.batch(4)], [1, 1], stop="all")
    assert all(sorted(batch["label"].tolist()) == [0, 0, 1, 1] for batch in mixed)


def test_parts_may_be_mixed():
    train, rest = hr.Range(20, shuffle=True).split([0.5, 0.5])
    assert sorted(values(hr.mix([train, rest], [1, 3], stop="all"))) == list(range(20))


def test_weights_may_be_an_array():
    inputs = [source(5), source(5, 100)]
    plain = values(hr.mix(inputs, [0.25, 0.75], stop="all"))
    assert plain == values(hr.mix(tuple(inputs), np.array([0.25, 0.75]), stop="all"))


def test_a_name_pins_the_draws():
    def build(**options):
        return hr.mix([source(30), source(30, 100)], [1, 1], stop="all", **options)

    assert values(build(name="a")) != values(build())
    assert values(build(name="a")) == values(hr.mix([build().take(0), build(name="a")], [1, 1], stop="all"))
    assert values(build(seed=3)) == values(build(seed=3), seed=9)
