"""Rows in their succession: windows, functions with a state, ends of epochs, and values that came before."""

import numpy as np
import pytest
from conftest import state_after, values

import headrace as hr
from headrace import transforms as T


def windows_of(dataset, **options):
    with dataset.iterate(**options) as iterator:
        return [row["value"].tolist() for row in iterator]


# ---- window ----


def test_windows_overlap():
    assert windows_of(hr.Range(6).window(3, shift=1)) == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]
    assert windows_of(hr.Range(7).window(3)) == [[0, 1, 2], [3, 4, 5]]
    assert windows_of(hr.Range(9).window(3, shift=2, stride=3)) == [[0, 3, 6], [2, 5, 8]]
    assert windows_of(hr.Range(2).window(3)) == []


def test_windows_are_counted_dealt_and_resumed():
    rows = hr.Range(10, shuffle=True).map(T.TypeCast("int32"), "value").window(4, shift=2)
    assert len(rows) == 4 and rows.schema["value"].shape == (4,)
    whole = windows_of(rows, epoch=3)
    assert windows_of(rows, epoch=3, shard=(0, 2)) == whole[::2]
    assert windows_of(rows, epoch=3, shard=(1, 2)) == whole[1::2]
    state = state_after(rows, 2, epoch=3)
    assert [row["value"].tolist() for row in rows.iterate(state=state)] == whole[2:]


def test_windows_need_indices():
    with pytest.raises(hr.GraphError, match="window"):
        windows_of(hr.Range(9).shuffle(3).window(2))
    with pytest.raises(hr.GraphError, match="size is 0"):
        hr.Range(9).window(0).schema  # noqa: B018
    with pytest.raises(hr.GraphError, match="stride is 0"):
        hr.Range(9).window(2, stride=0).schema  # noqa: B018


# ---- take_while ----


def test_take_while_ends_the_epoch():
    assert values(hr.Range(9).take_while(hr.col("value") < 4)) == [0, 1, 2, 3]
    assert values(hr.Range(9).take_while(lambda value: value < 4)) == [0, 1, 2, 3]
    assert values(hr.Range(9).repeat().take_while(hr.col("value") < 4)) == [0, 1, 2, 3]
    assert values(hr.Range(9).take_while(hr.col("value") < 4).repeat(2)) == [0, 1, 2, 3] * 2


def test_take_while_checks_its_condition():
    with pytest.raises(hr.GraphError, match="take_while: 3 is neither a column expression nor a function"):
        hr.Range(9).take_while(3)
    with pytest.raises(hr.GraphError, match="take_while: an expression names its columns itself"):
        hr.Range(9).take_while(hr.col("value") < 4, "value")
    with pytest.raises(hr.FunctionError, match="truth value of an array"):
        values(hr.Range(9).take_while(lambda value: np.zeros(2)))


def test_a_row_that_take_while_cannot_try_ends_the_epoch_under_skip_too():
    rows = hr.Range(9).take_while(lambda value: 5 // (3 - int(value)) >= 0).on_error("skip", max_errors=9)
    with pytest.raises(hr.FunctionError, match="ZeroDivisionError"):
        values(rows)


# ---- unique ----


def test_unique_keeps_the_first_of_equal_rows():
    table = {"a": np.array([1, 2, 1, 2, 1]), "value": np.arange(5)}
    assert values(hr.Numpy(table).unique("a")) == [0, 1]
    assert values(hr.Numpy(table).unique()) == [0, 1, 2, 3, 4]
    texts = hr.Numpy({"t": np.array(["a", "ab", "a", "b", "ab"], object), "value": np.arange(5)})
    assert values(texts.unique(["t"])) == [0, 1, 3]


def test_unique_resumes():
    rows = hr.Numpy({"a": np.arange(40) % 7, "value": np.arange(40)}, shuffle=True).unique("a")
    whole = [int(row["value"]) for row in rows.iterate(epoch=2)]
    assert len(whole) == 7
    for given in range(8):
        state = state_after(rows, given, epoch=2)
        assert [int(row["value"]) for row in rows.iterate(state=state)] == whole[given:]


def test_unique_names_its_columns():
    with pytest.raises(hr.GraphError, match="valu"):
        hr.Range(3).unique("valu").schema  # noqa: B018
    with pytest.raises(hr.GraphError, match="columns is empty"):
        hr.Range(3).unique([]).schema  # noqa: B018


# ---- scan ----


def add(total, value):
    return total + value, total + value


def test_scan_hands_a_state_on():
    rows = hr.Range(5).scan(add, 10, "value", output="total")
    assert [int(row["total"]) for row in rows] == [10, 11, 13, 16, 20]
    assert [int(row["value"]) for row in rows] == [0, 1, 2, 3, 4]
    assert values(hr.Range(5).scan(add, 0, "value")) == [0, 1, 3, 6, 10]
    assert values(hr.Range(3).scan(add, 0, "value").repeat(2)) == [0, 1, 3] * 2


def test_a_state_may_be_an_array():
    def last_three(state, value):
        state = np.append(state[1:], value)
        return state, state

    rows = hr.Range(4).scan(last_three, np.zeros(3, np.int64), "value", output="last", types={"last": ("int64", (3,))})
    assert [row["last"].tolist() for row in rows] == [[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, 2, 3]]
    assert rows.schema["last"].shape == (3,)


def test_a_state_goes_in_exactly():
    def seen(state, value):
        return state, state

    for state in ("a\0", b"a\0", np.uint64(2**64 - 1)):
        rows = hr.Range(2).scan(seen, state, "value", output="state")
        assert [row["state"] for row in rows] == [state, state]


def test_scan_resumes():
    rows = hr.Range(12, shuffle=True).scan(add, 0, "value", output="total").batch(2)
    whole = [row["total"].tolist() for row in rows.iterate(epoch=1)]
    for given in (0, 1, 3, 6):
        state = state_after(rows, given, epoch=1)
        assert [row["total"].tolist() for row in rows.iterate(state=state)] == whole[given:]


@pytest.mark.parametrize(
    ("function", "initial", "why"),
    [
        (lambda total, value: total, 0, "must give the new state and 1 value, as a tuple"),
        (lambda total, value: (total + 0.5, value), 0, "gave the state float64 .*, which began as int64"),
    ],
)
def test_what_a_scan_must_give(function, initial, why):
    with pytest.raises(hr.Error, match=why):
        values(hr.Range(5).scan(function, initial, "value"))


def test_what_a_scan_needs():
    for initial, message in [
        ({"a": 1}, "scan: initial is {'a': 1} .dict."),
        (None, "scan: initial is None, and no column holds a missing value"),
        ([[1], [1, 2]], "scan: initial: row 1 is a list of 2, and row 0 is a list of 1"),
        ([1, "1"], "scan: initial: row 1 is '1', a text, and row 0 is a number"),
        ([2**63, -1], "scan: initial: row 1 is -1 and row 0 is 9223372036854775808"),
        (np.datetime64("2020-01-01"), "scan: initial is .*; the state must be a number"),
    ]:
        with pytest.raises(hr.GraphError, match=message):
            hr.Range(5).scan(add, initial, "value")
    with pytest.raises(hr.GraphError, match="scan: 3 is not a function"):
        hr.Range(5).scan(3, 0, "value")
    with pytest.raises(hr.GraphError, match="is called with one argument for each column"):
        hr.Range(5).scan(lambda value: value, 0, "value")


# ---- choose ----


def test_choose_takes_rows_in_the_order_of_the_choices():
    inputs = [hr.Range(3), hr.Range(10, 15)]
    choice = hr.Numpy({"input": np.array([1, 0, 1, 1, 0])})
    assert values(hr.choose(inputs, choice)) == [10, 0, 11, 12, 1]
    endless = hr.Range(2).repeat()
    assert values(hr.choose(inputs, endless)) == [0, 10, 1, 11, 2, 12]
    assert values(hr.choose(inputs, endless, stop="all")) == [0, 10, 1, 11, 2, 12, 13, 14]


def test_what_choose_refuses():
    inputs = [hr.Range(3), hr.Range(10, 15)]
    with pytest.raises(hr.DataError, match="chooses input 2; it must be a whole number of 0 … 1"):
        values(hr.choose(inputs, hr.Range(3)))
    with pytest.raises(hr.GraphError, match=r"choose: choice is \[0, 1\]; give a dataset of one column"):
        hr.choose(inputs, [0, 1])
    with pytest.raises(hr.GraphError, match="choose: inputs is empty"):
        hr.choose([], hr.Range(3))
    with pytest.raises(hr.GraphError, match="it must be one whole number"):
        hr.choose(inputs, hr.Numpy({"x": np.array([0.5])})).schema  # noqa: B018
