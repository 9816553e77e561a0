"""Batches that a function makes of rows with equal keys."""

import numpy as np
import pytest
from conftest import state_after

import headrace as hr

TABLE = {"key": np.array(list("abacbcabb")), "value": np.arange(9)}


def together(key, value, info):
    assert len(set(key)) == 1
    return {"key": key[0], "value": value, "number": info.number}


def grouped(size: int = 2, **options) -> hr.Dataset:
    return hr.Numpy(TABLE, **options).group_by_window("key", size, together, ["key", "value", "number"])


def listed(dataset: hr.Dataset, **options) -> list:
    return [(str(batch["key"]), batch["value"].tolist(), int(batch["number"])) for batch in dataset.iterate(**options)]


def test_rows_of_a_key_meet():
    expected = [("a", [0, 2]), ("b", [1, 4]), ("c", [3, 5]), ("b", [7, 8]), ("a", [6])]
    assert listed(grouped()) == [(*batch, number) for number, batch in enumerate(expected)]
    assert [value for _, value, _ in listed(grouped(5))] == [[0, 2, 6], [1, 4, 7, 8], [3, 5]]


@pytest.mark.parametrize(
    "keys", [np.array([1, 2, 1], np.uint8), np.array([True, False, True]), np.array([b"x", b"", b"x"])]
)
def test_keys_may_be_of_any_exact_type(keys):
    dataset = hr.Numpy({"key": keys, "value": np.arange(3)}).group_by_window(
        "key", 9, lambda key, value: value, "value"
    )
    assert [batch["value"].tolist() for batch in dataset] == [[0, 2], [1]]


def test_a_state_resumes_at_every_batch_without_calling_again():
    calls = []

    def drawn(key, value, rng, info):
        calls.append(info.number)
        return {"value": [value[0] + int(rng.integers(1000)) * 100], "number": info.number}

    rows = hr.Range(50, shuffle=True).map(lambda value: value % 7, "value", "key")
    dataset = rows.group_by_window(
        "key", 4, lambda value, key, rng, info: drawn(key, value, rng, info), ["value", "number"]
    )
    whole = [(batch["value"].tolist(), int(batch["number"])) for batch in dataset.iterate(epoch=1)]
    assert [number for _, number in whole] == list(range(len(whole)))
    for step in range(len(whole) + 1):
        state = state_after(dataset, step, epoch=1)
        calls.clear()
        rest = [(batch["value"].tolist(), int(batch["number"])) for batch in dataset.iterate(state=state)]
        assert rest == whole[step:]
        # After the end the next epoch may have begun.
        assert calls[: len(rest)] == list(range(step, len(whole)))


def test_a_restart_makes_the_rows_held_and_no_others_again():
    made = []

    def key(value):
        made.append(int(value))
        return int(value) % 3

    dataset = hr.Range(1000).map(key, "value", "key").group_by_window("key", 4, lambda value, key: (value, key))
    with dataset.iterate(executor="pull") as iterator:
        given = [value for _ in range(200) for value in next(iterator)["value"].tolist()]
        state = iterator.state()
    held = sorted(set(made) - set(given))
    made.clear()
    with dataset.iterate(state=state, executor="pull") as iterator:
        batch = next(iterator)
    assert made[: len(held)] == held
    assert len(made) < len(held) + 12
    assert min(batch["value"]) in held


def test_rows_that_fail_are_left_out():
    def fails(value):
        if value in (0, 4):
            raise ValueError("not this")
        return value

    dataset = hr.Numpy(TABLE).map(fails, "value").group_by_window("key", 2, together, ["key", "value", "number"])
    batches = listed(dataset.on_error("skip"))
    assert [value for _, value, _ in batches] == [[3, 5], [2, 6], [1, 7], [8]]


def test_mistakes_are_named():
    with pytest.raises(hr.GraphError, match="group_by_window: 3 is no function"):
        hr.Numpy(TABLE).group_by_window("key", 2, 3)
    with pytest.raises(hr.GraphError, match='no column "keys"; did you mean "key"'):
        list(hr.Numpy(TABLE).group_by_window("keys", 2, together))
    with pytest.raises(hr.GraphError, match='the key, column "x", is float64'):
        list(hr.Numpy({"x": np.zeros(3)}).group_by_window("x", 2, lambda x: x))
    with pytest.raises(hr.FunctionError, match="group_by_window: the function gave 3 for 2 columns"):
        list(hr.Numpy(TABLE).group_by_window("key", 2, lambda key, value: 3))
    with pytest.raises(hr.UnsupportedError, match="even= needs a known number of rows"):
        grouped().iterate(shard=(0, 2), even="pad")


def test_one_input_of_a_mixture_holds_rows():
    """Its checkpoints grow and shrink with the rows that it holds, and the messages of a failing map are used in part."""

    def fail(value):
        if value % 4 == 1:
            raise ValueError("no")
        return value

    groups = hr.Range(200).map(lambda value: value % 3, "value", "key")
    groups = groups.group_by_window("key", 4, lambda value, key: {"value": value}, "value").unbatch()
    rows = hr.mix([groups.map(fail, "value")], [1], stop="all").on_error("skip")
    whole = [int(row["value"]) for row in rows]
    for step in range(1, len(whole), 7):
        state = state_after(rows, step, epoch=0)
        assert [int(row["value"]) for row in rows.iterate(state=state)] == whole[step:]
