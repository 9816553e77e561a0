"""`interleave`: rows that a function makes of several rows in turn."""

import numpy as np
import pytest
from conftest import state_after, values

import headrace as hr


def counted(value):
    for number in range(int(value)):
        yield 100 * int(value) + number


def test_rows_take_turns():
    numbers = hr.Numpy({"value": np.array([3, 1, 0, 2])})
    assert values(numbers.interleave(counted, 2)) == [300, 100, 301, 302, 200, 201]
    assert values(numbers.interleave(counted, 2, 2, "value")) == [300, 301, 100, 302, 200, 201]
    assert values(numbers.interleave(counted, cycle=1)) == values(numbers.flat_map(counted))
    # The example of tf.data's documentation.
    repeated = hr.Range(1, 6).interleave(lambda value: [value] * 6, cycle=2, block=4)
    runs = [(1, 4), (2, 4), (1, 2), (2, 2), (3, 4), (4, 4), (3, 2), (4, 2), (5, 6)]
    assert values(repeated) == [value for value, times in runs for _ in range(times)]


def test_columns_are_those_of_flat_map():
    table = hr.Numpy({"a": np.arange(3), "b": np.arange(3) * 10})
    pairs = table.interleave(lambda a, b: [(a, "first"), (b, "second")], 2, 1, ["a", "b"], ["x", "name"])
    assert [(int(row["x"]), row["name"]) for row in pairs] == [
        (0, "first"),
        (1, "first"),
        (0, "second"),
        (10, "second"),
        (2, "first"),
        (20, "second"),
    ]


@pytest.mark.parametrize("block", [1, 3])
def test_a_restart_goes_on_with_the_open_rows(block):
    calls = []

    def noisy(value, rng):
        calls.append(int(value))
        return [value * 10**6 + rng.integers(10**6) for _ in range(value % 5)]

    rows = hr.Range(20, shuffle=True).interleave(noisy, 3, block)
    dataset = rows.map(lambda x, rng: x * 1000 + rng.integers(9), "value")
    whole = values(dataset.iterate(epoch=3))
    assert len(set(whole)) == len(whole) == 40
    state, seen = None, []
    while True:
        options = {"epoch": 3} if state is None else {"state": state}
        with dataset.iterate(**options) as iterator:
            row = next(iterator, None)
            if row is None:
                break
            seen.append(int(row["value"]))
            state = iterator.state()
    assert seen == whole
    calls.clear()
    state = state_after(dataset, 20, epoch=3, executor="pull")
    begun = set(calls)
    calls.clear()
    assert values(dataset.iterate(state=state)) == whole[20:]
    assert len(begun & set(calls)) <= 3 < len(begun), "the function is called again for the open rows alone"


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_restart_makes_the_open_rows_alone_again(shuffle):
    made = []

    def noted(value):
        made.append(int(value))
        return value

    def children(value):
        return [1000 * value + number for number in range(200 if value == 5 else 2)]

    dataset = hr.Range(60, shuffle=shuffle).map(noted, "value").interleave(children, 3)
    whole = values(dataset.iterate(epoch=0))
    assert len(whole) == 318
    for steps in (1, 40, 150, 250, 317):
        state = state_after(dataset, steps, epoch=0, executor="pull")
        given = {value // 1000 for value in whole[:steps]}
        made.clear()
        assert values(dataset.iterate(state=state)) == whole[steps:]
        assert len(made) == len(set(made)), "each row is made once"
        assert len(given & set(made)) <= 3, "of the rows before, the open ones alone"
        assert {value // 1000 for value in whole[steps:]} <= set(made)


def test_ranks_take_turns_among_their_own_rows():
    dataset = hr.Range(12).interleave(counted, 2)
    ranks = [values(dataset.iterate(shard=(rank, 3))) for rank in range(3)]
    assert ranks[0] == values(hr.Range(0, 12, 3).interleave(counted, 2))
    assert sorted(sum(ranks, [])) == sorted(values(dataset))
    with pytest.raises(hr.UnsupportedError, match="even= needs a known number of rows"):
        dataset.iterate(shard=(0, 3), even="drop")


def test_mistakes_are_named():
    with pytest.raises(hr.GraphError, match="interleave: 3 is no function"):
        hr.Range(3).interleave(3, 2)
    with pytest.raises(hr.FunctionError, match="the function gave 'text'"):
        list(hr.Range(3).interleave(lambda value: "text", 2))
    with pytest.raises(hr.GraphError, match="cycle"):
        list(hr.Range(3).interleave(counted, cycle=0))
    with pytest.raises(hr.GraphError, match="cycle is 'value'; it is the number of rows that are open at a time"):
        hr.Range(3).interleave(counted, "value")
    with pytest.raises(TypeError, match="it is called cycle"):
        hr.Range(3).interleave(counted, cycle_length=2)
