"""Rows that a function makes of one."""

import numpy as np
import pytest
from conftest import values

import headrace as hr


def counted(value):
    yield from range(int(value))


def test_rows_come_one_after_the_other():
    numbers = hr.Numpy({"value": np.array([2, 0, 3])})
    assert values(numbers.flat_map(counted, "value")) == [0, 1, 0, 1, 2]
    assert values(numbers.flat_map(lambda value: [], "value")) == []
    pairs = numbers.flat_map(lambda value: [(value, str(value)), (value + 1, "more")], "value", ["x", "name"])
    assert [(int(row["x"]), row["name"]) for row in pairs][:2] == [(2, "2"), (3, "more")]
    named = numbers.flat_map(lambda value: ({"b": i, "a": b"raw"} for i in range(value)), "value", ["a", "b"])
    assert [(row["a"], int(row["b"])) for row in named] == [(b"raw", 0), (b"raw", 1)] + [(b"raw", i) for i in range(3)]


def test_other_columns_are_left_out():
    table = hr.Numpy({"a": np.arange(2), "b": np.arange(2) * 10})
    assert [dict(row) for row in table.flat_map(lambda a, b: [a, b], ["a", "b"], "c").project("c")] == [
        {"c": 0},
        {"c": 0},
        {"c": 1},
        {"c": 10},
    ]


def test_a_restart_goes_on_within_a_row_and_draws_the_same():
    def noisy(value, rng):
        return [value * 100 + rng.integers(100) for _ in range(value % 4)]

    dataset = (
        hr.Range(12, shuffle=True).flat_map(noisy, "value").map(lambda x, rng: x * 1000 + rng.integers(9), "value")
    )
    whole = values(dataset.iterate(epoch=3))
    assert len(set(whole)) == len(whole) == 18
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
    ranks = [values(dataset.iterate(epoch=3, shard=(rank, 3))) for rank in range(3)]
    assert sorted(sum(ranks, [])) == sorted(whole)


def test_an_object_may_have_attributes_of_any_name():
    class Counted:
        def __init__(self):
            self._row = self._called = self._function = self._output = "its own"

        def __call__(self, value):
            assert self._row == self._output == self._function == "its own"
            return range(int(value))

    assert values(hr.Range(3).flat_map(Counted(), "value")) == [0, 0, 1]


def test_names_in_the_graph_are_the_functions():
    assert "test_flat_map.py:counted" in hr.Range(3).flat_map(counted, "value").to_text()
    assert values(hr.Range(3).flat_map(range, "value")) == [0, 0, 1]


@pytest.mark.parametrize(
    ("function", "output", "message"),
    [
        (lambda value: value, None, "it must give rows, as a list or a generator"),
        (lambda value: "text", None, "the function gave 'text'"),
        (lambda value: [1, 2.5], None, r"column value is float64 \(\) in row 1, and int64 \(\) in row 0"),
        (lambda value: [np.zeros(2), np.zeros(3)], None, r"float64 \(3,\) in row 1"),
        (lambda value: ["a", 1], None, "column value is 1 in row 1, and str before"),
        (lambda value: [1], ["a", "b"], "row 0 is 1; it must have the columns a, b"),
        (lambda value: [{"a": 1}], ["a", "b"], "row 0 has the columns a; it must have the columns a, b"),
    ],
)
def test_rows_that_do_not_fit_are_errors_of_the_function(function, output, message):
    with pytest.raises(hr.FunctionError, match=message):
        list(hr.Range(1).flat_map(function, "value", output))


def test_what_is_no_function_is_refused():
    with pytest.raises(hr.GraphError, match="flat_map: 3 is no function"):
        hr.Range(3).flat_map(3, "value")
    with pytest.raises(hr.GraphError, match="called with one argument for each column"):
        hr.Range(3).flat_map(lambda: [1], "value")
