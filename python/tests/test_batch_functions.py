"""Batches that a Python function makes of their rows, and batches whose sizes one chooses."""

import functools
import itertools
import threading

import numpy as np
import pytest
from conftest import state_after, values

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

TABLE = {"x": np.arange(10, dtype=np.float32), "name": np.array([f"n{i}" for i in range(10)])}


def table() -> hr.Dataset:
    return hr.Numpy(TABLE)


def summed(x, name, info):
    return {"total": sum(x), "names": " ".join(name), "at": [info.number, info.epoch, info.rank]}


def growing(info: hr.BatchInfo) -> int:
    return 1 + info.number + info.epoch % 2


def listed(dataset, **options) -> list:
    return [{name: np.asarray(value).tolist() for name, value in row.items()} for row in dataset.iterate(**options)]


# ---- what a function gets and gives ----


def test_a_function_gets_the_columns_as_lists_of_rows():
    seen = []

    def look(x, name):
        seen.append((x, name))
        return x, name

    batches = list(table().batch(4, function=look))
    assert [len(x) for x, _ in seen] == [4, 4, 2]
    x, name = seen[0]
    assert isinstance(x, list) and [type(each) for each in x] == [np.ndarray] * 4 and name == ["n0", "n1", "n2", "n3"]
    assert all(not each.flags.writeable for each in x)
    assert batches[0]["x"].tolist() == [0, 1, 2, 3] and batches[0]["x"].dtype == np.float32
    assert batches[2]["name"].tolist() == ["n8", "n9"]


def test_it_may_give_other_columns_and_knows_its_place():
    batches = table().batch(4, function=summed, output=["total", "names", "at"])
    assert listed(batches, epoch=3) == [
        {"total": 6.0, "names": "n0 n1 n2 n3", "at": [0, 3, 0]},
        {"total": 22.0, "names": "n4 n5 n6 n7", "at": [1, 3, 0]},
        {"total": 17.0, "names": "n8 n9", "at": [2, 3, 0]},
    ]
    ranked = table().batch(3, function=lambda x, name, info: info, output=["number", "epoch", "rank"])
    assert [row["rank"] for row in listed(ranked, shard=(1, 2))] == [1, 1]
    assert len(batches) == 3 and batches.schema["total"] == ("unknown", None)


@pytest.mark.parametrize(
    ("give", "shape", "dtype"),
    [
        (lambda x: x, (4,), "float32"),
        (lambda x: np.stack(x)[:, None], (4, 1), "float32"),
        (lambda x: np.concatenate([np.full(int(each), each) for each in x]), (6,), "float32"),
        (lambda x: [[each, each] for each in x], (4, 2), "float32"),
        (lambda x: ([each + 1 for each in x],), (4,), "float32"),
        (lambda x: {"x": tuple(x)}, (4,), "float32"),
        (lambda x: [str(each) for each in x], (4,), "object"),
        (lambda x: [b"a", b"", b"c"], (3,), "object"),
        (lambda x: [1, 2], (2,), "int64"),
        (lambda x: np.zeros((0, 3), np.int8), (0, 3), "int8"),
        (lambda x: len(x), (), "int64"),
    ],
)
def test_a_list_is_stacked_and_an_array_taken_as_it_is(give, shape, dtype):
    (batch,) = hr.Numpy({"x": np.arange(4, dtype=np.float32)}).batch(4, function=give)
    assert batch["x"].shape == shape and str(batch["x"].dtype) == dtype


@pytest.mark.parametrize(
    ("give", "output", "message"),
    [
        (lambda x, name: x, None, r"gave \[.* for 2 columns \(x, name\); it must give a dict, or a tuple"),
        (lambda x, name: (x, name, x), None, r"gave a tuple of 3 values for 2 columns"),
        (lambda x, name: {"x": x}, None, r"gave the columns x; it must give x, name"),
        (lambda x, name: {"a": x, "x": x, "b": x}, ["a", "b"], r"gave the columns a, x, b; it must give a, b"),
        (lambda x, name: (x, name[1:]), None, r"lists for columns x and name have 4 and 3 rows"),
        (lambda x, name: (x, []), None, r"the list for column name is empty"),
        (lambda x, name: [np.zeros(int(each)) for each in x], "x", r"column x is float64 \(1,\) in row 1"),
        (lambda x, name: [1, "two"], "x", r"column x, row 1|column x is"),
        (lambda x, name: None, "x", r"None is no value"),
        (lambda x, name: 1j, "x", r"1j \(complex\)"),
    ],
)
def test_what_it_may_not_give(give, output, message):
    with pytest.raises(hr.FunctionError, match=message) as caught:
        list(table().batch(4, function=give, output=output))
    assert "python_batch[1]" in str(caught.value) and "batch 0, of 4 rows" in str(caught.value)
    assert caught.value.location


def test_an_object_may_have_attributes_of_any_name():
    class Own:
        def __init__(self):
            self._called = self._row = self._function = self._takes_info = "its own"

        def __call__(self, x, name):
            assert self._called == self._function == self._takes_info == "its own"
            return x, name

    batches = table().batch(4, function=Own())
    assert [batch["x"].tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_types_are_part_of_the_schema_and_checked():
    def packed(x, name):
        return {"x": np.stack(x).reshape(1, -1), "name": name}

    batches = table().batch(5, function=packed, types={"x": ("float32", (1, None)), "name": str})
    assert batches.schema == {"x": ("float32", (1, None)), "name": ("string", None)}
    assert [batch["x"].shape for batch in batches] == [(1, 5), (1, 5)]
    with pytest.raises(
        hr.DataError, match=r'gave float32 \(1, 5\) for column "x", which was declared as float32 \(5,\)'
    ):
        list(table().batch(5, function=packed, types={"x": ("float32", (5,))}))
    with pytest.raises(hr.GraphError, match=r'types names "y", which the function does not give \(x, name\)'):
        list(table().batch(5, function=packed, types={"y": "float32"}))


def test_what_goes_above_sees_whole_arrays():
    seen = []

    def look(x):
        seen.append(x.shape)
        return x * 2

    batches = table().batch(4, function=lambda x, name: (np.stack([x, x]), name)).map(look, "x")
    assert [batch["x"].shape for batch in batches] == [(2, 4), (2, 4), (2, 2)]
    assert seen == [(2, 4), (2, 4), (2, 2)]
    rows = table().project(["x"]).batch(4, function=lambda x: x[:-1]).unbatch()
    assert values(rows, "x") == [0, 1, 2, 4, 5, 6, 8]


def test_kernels_of_batches_stand_above():
    images = hr.Numpy({"image": np.ones((6, 3, 8, 8), np.float32), "label": np.arange(6, dtype=np.int32) % 4})
    plain = images.batch(3).map(V.MixUp(alpha=0.4, num_classes=4), ["image", "label"])
    own = images.batch(3, function=lambda image, label: (image, label)).map(
        V.MixUp(alpha=0.4, num_classes=4), ["image", "label"]
    )
    assert listed(plain) == listed(own)


def test_rng_is_the_batchs_own():
    def draw(value, rng):
        return rng.integers(0, 1000, 3)

    def draws(skipped=0, **options):
        batches = hr.Range(12).skip(skipped).batch(3, function=draw)
        return [row["value"].tolist() for row in batches.iterate(**options)]

    first = draws()
    assert len({tuple(row) for row in first}) == 4
    assert draws() == draws(workers=1) == draws(executor="pull") == draws(window=1) == first
    assert draws(seed=1) != first and draws(epoch=1) != first
    # By its first row, not by its number.
    assert draws(3) == first[1:]


def test_callables_of_every_kind():
    class Collate:
        def __call__(self, value):
            return np.stack(value)

        def method(self, value, info):
            return np.stack(value) + 0 * info.number

    def collate(by, value):
        return np.stack(value) * by

    for function in (Collate(), Collate().method, functools.partial(collate, 1), np.stack, lambda *columns: columns):
        assert values(hr.Range(5).batch(2, function=function)) == list(range(5))


def test_columns_that_nothing_reads_reach_it():
    batches = table().batch(4, function=lambda x, name: (x, name)).project(["x"])
    assert values(batches, "x") == list(range(10))


# ---- sizes ----


def test_sizes_follow_from_number_and_epoch():
    asked = []

    def sizes(info):
        asked.append(info)
        return np.int32(growing(info))

    batches = hr.Range(10).batch(sizes)
    assert [batch["value"].tolist() for batch in batches.iterate()] == [[0], [1, 2], [3, 4, 5], [6, 7, 8, 9]]
    assert asked == [hr.BatchInfo(number, 0, 0) for number in range(4)]
    assert [len(batch["value"]) for batch in batches.iterate(epoch=1)] == [2, 3, 4, 1]
    assert [len(batch["value"]) for batch in hr.Range(9).batch(growing, drop_remainder=True)] == [1, 2, 3]
    assert [len(batch["value"]) for batch in hr.Range(9).batch(size=growing, pad=True)] == [1, 2, 3, 3]
    with pytest.raises(TypeError, match="shows only in running it"):
        len(batches)


def test_sizes_are_the_same_on_all_ranks():
    def sizes(info):
        assert info.rank == 0
        return 2 + info.number

    for rank in range(3):
        batches = hr.Range(30).batch(sizes).iterate(shard=(rank, 3))
        assert [batch["value"].tolist() for batch in batches] == [
            list(range(rank, 30, 3))[at:to] for at, to in ((0, 2), (2, 5), (5, 9), (9, 10))
        ]
    with pytest.raises(hr.UnsupportedError, match=r"even= needs a known number of rows.*python_batch\[1\]"):
        list(hr.Range(30).batch(sizes).iterate(shard=(0, 3), even="pad"))


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0"), (-1, "-1"), (2.5, "2.5"), ("4", "'4'"), (None, "None"), (2**31, str(2**31))]
)
def test_a_size_that_is_none_names_number_and_epoch(size, shown):
    with pytest.raises(hr.GraphError, match=f"size gave {shown} for batch 1 of epoch 5; it must give a whole number"):
        list(hr.Range(9).batch(lambda info: size if info.number else 3).iterate(epoch=5))


def test_sizes_and_a_function():
    batches = hr.Range(6).batch(growing, function=lambda value, info: [info.number, *value])
    assert [batch["value"].tolist() for batch in batches] == [[0, 0], [1, 1, 2], [2, 3, 4, 5]]


# ---- what is refused ----


def test_what_is_no_function():
    for function, message in [
        (3, "3 is no function"),
        (T.Fill(1), "is a kernel"),
    ]:
        with pytest.raises(hr.GraphError, match=message):
            hr.Range(3).batch(2, function=function)
    with pytest.raises(hr.GraphError, match="called with a BatchInfo alone"):
        hr.Range(3).batch(lambda number, epoch: 3)
    with pytest.raises(hr.GraphError, match="output and types say what a function gives"):
        hr.Range(3).batch(2, output="x")
    with pytest.raises(hr.GraphError, match='output names "x" twice'):
        hr.Range(3).batch(2, function=np.stack, output=["x", "x"])
    with pytest.raises(hr.GraphError, match="let the function join them"):
        list(hr.Range(3).batch(2, function=np.stack, pad=True))
    with pytest.raises(hr.GraphError, match="size is 0"):
        list(hr.Range(3).batch(0, function=np.stack))
    with pytest.raises(
        TypeError, match="worker processes are for Python functions of map and for datasets of from_dataset"
    ):
        hr.Range(3).batch(2, function=np.stack, processes=2)
    with pytest.raises(TypeError, match=r"batch\(size, function=…\)"):
        hr.Range(3).batch(2, collate_fn=np.stack)


def test_a_function_that_takes_something_else_is_told_what_it_gets():
    with pytest.raises(hr.FunctionError, match=r"one list of rows for each column \(x, name\)"):
        list(table().batch(4, function=lambda rows: rows))
    with pytest.raises(hr.FunctionError, match="one argument for each column, a list of its rows"):
        list(table().batch(4, function=lambda x, name: x["x"]))
    with pytest.raises(hr.FunctionError, match="can only concatenate list") as caught:
        list(table().batch(4, function=lambda x, name: x + 1 + name))
    assert "one list of rows" not in str(caught.value)


def test_groups_are_not_cut():
    labels = np.arange(12, dtype=np.int32) % 3
    groups = hr.Numpy({"label": labels}).sample(hr.PK(2, 2))
    batches = groups.batch(4, function=lambda label: label)
    assert all(len(set(batch["label"].tolist())) == 2 for batch in batches)
    with pytest.raises(hr.GraphError, match="could cut the groups of 4"):
        list(groups.batch(lambda info: 4))
    with pytest.raises(hr.GraphError, match="has 6 rows, which would cut the groups of 4"):
        list(groups.batch(6, function=lambda label: label))


# ---- errors, and rows that fail ----


def fails_at(number):
    def collate(value, info):
        if info.number == number:
            raise ValueError("no such batch")
        return value

    return collate


def test_the_users_exception_is_the_cause_and_names_the_batch():
    given = []
    with pytest.raises(hr.FunctionError, match="no such batch") as caught:
        for batch in hr.Range(20).batch(4, function=fails_at(2)):
            given.append(batch["value"].tolist())
    assert given == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert isinstance(caught.value.__cause__, ValueError)
    assert "batch 2, of 4 rows, which begins with epoch 0, key 8" in str(caught.value)
    assert "collate" in str(caught.value)


def test_no_policy_leaves_out_a_batch():
    with pytest.raises(hr.FunctionError, match="no such batch"):
        list(hr.Range(20).batch(4, function=fails_at(2)).on_error("skip"))


def bad(value):
    if value in (0, 5, 6):
        raise ValueError("bad row")
    return value


def test_rows_that_failed_are_replaced_by_the_next():
    rows = hr.Range(10).map(bad, "value").on_error("skip")
    assert [batch["value"].tolist() for batch in rows.batch(3, function=lambda value: value)] == [
        [1, 2, 3],
        [4, 7, 8],
        [9],
    ]
    assert [batch["value"].tolist() for batch in rows.batch(growing)] == [[1], [2, 3], [4, 7, 8], [9]]


def test_padding_is_marked():
    for dataset in (hr.Range(5), hr.Range(5).map(lambda value: bad(value + 3) - 3, "value").on_error("skip")):
        marks, rows = [], []
        batches = dataset.batch(2, function=lambda value: value)
        for rank in range(2):
            for batch in batches.iterate(shard=(rank, 2), even="pad"):
                marks += batch["_pad"].tolist()
                rows += batch["value"].tolist()
        assert len(marks) == len(rows) == 6
        real = sorted(row for row, mark in zip(rows, marks, strict=True) if not mark)
        assert real == ([0, 1, 2, 3, 4] if dataset._on_error is None else [0, 1, 4])
    with pytest.raises(hr.GraphError, match='gives a column "_pad", a name that is kept'):
        list(hr.Range(5).batch(2, function=lambda value: value, output="_pad").iterate(shard=(0, 2), even="pad"))


# ---- states ----

PIPELINES = {
    "function": lambda: hr.Range(23).shuffle(5).batch(4, function=lambda value, info: [info.number, *value]),
    "sizes": lambda: hr.Range(23, shuffle=True).batch(growing),
    "both": lambda: hr.Range(23).batch(
        growing, function=lambda value, rng, info: [rng.integers(9), info.number, *value]
    ),
    "over a filter": lambda: hr.Range(40).filter(hr.col("value") % 3 > 0).batch(growing),
    "below repeat": lambda: hr.Range(7).batch(growing, function=lambda value, info: [info.epoch, *value]).repeat(3),
    "below take": lambda: hr.Range(40).batch(growing).unbatch().take(17).batch(growing),
    "above batch": lambda: hr.Range(40).batch(3).batch(growing, pad=True),
}
PIPELINES["skipping"] = lambda: (
    hr.Range(30)
    .map(bad, "value")
    .on_error("skip")
    .batch(4, function=lambda value, info: (info.number, value), output=["number", "value"])
)


@pytest.mark.parametrize("name", PIPELINES)
def test_a_state_goes_on_exactly_at_any_batch(name):
    dataset = PIPELINES[name]()
    whole = listed(dataset, epoch=1)
    for position in range(len(whole) + 1):
        state = state_after(dataset, position, epoch=1)
        assert listed(PIPELINES[name](), state=state) == whole[position:]


def test_sizes_are_not_chosen_again_for_batches_given_before():
    asked = []

    def sizes(info):
        asked.append(info.number)
        return growing(info)

    state = state_after(hr.Range(30).batch(sizes), 3)
    asked.clear()
    list(hr.Range(30).batch(sizes).iterate(state=state))
    assert asked[0] == 3


def test_another_world_goes_on_where_sizes_are_constant():
    dataset = hr.Range(48).batch(4, function=lambda value, info: [info.number, *value])
    seen = []
    for rank in range(2):
        with dataset.iterate(shard=(rank, 2)) as iterator:
            seen += [row for _ in range(2) for row in next(iterator)["value"].tolist()[1:]]
            state = iterator.state()
    numbers = []
    for rank in range(4):
        for batch in dataset.iterate(state=state, shard=(rank, 4)):
            numbers.append(batch["value"][0])
            seen += batch["value"].tolist()[1:]
    assert sorted(seen) == list(range(48))
    assert numbers == [2, 3] * 4
    with hr.Range(48).batch(growing).iterate(shard=(0, 2)) as iterator:
        next(iterator)
        state = iterator.state()
    with pytest.raises(hr.StateError, match=r"with python_batch\[1\] the number of batches does not say"):
        hr.Range(48).batch(growing).iterate(state=state, shard=(0, 4))


# ---- epochs and threads ----


def test_it_is_called_for_no_epoch_that_was_not_asked_for():
    seen = []

    def collate(value, info):
        seen.append(info.epoch)
        return value

    dataset = hr.Range(8).batch(2, function=collate)
    for epoch in range(4):
        assert len(list(dataset)) == 4
        assert seen == [number for number in range(epoch + 1) for _ in range(4)]


def test_it_is_called_in_order_by_one_thread_of_its_own():
    here = threading.get_ident()
    calls = []

    def collate(value, info):
        calls.append((info.number, threading.get_ident()))
        return value

    list(hr.Range(40).batch(2, function=collate).iterate(workers=7))
    assert [number for number, _ in calls] == list(range(20))
    assert len({thread for _, thread in calls}) == 1 and here not in {thread for _, thread in calls}
    calls.clear()
    list(hr.Range(4).batch(2, function=collate).iterate(executor="pull"))
    assert {thread for _, thread in calls} == {here}


def test_it_may_wait_until_the_loop_has_the_batch_before():
    given = threading.Semaphore(1)

    def collate(value):
        assert given.acquire(timeout=60), "it was called before the batch in front of it was given"
        return value

    seen = []
    for batch in hr.Range(60).batch(3, function=collate):
        seen += batch["value"].tolist()
        given.release()
    assert seen == list(range(60))


def test_closing_inside_its_own_function():
    iterators = []

    def collate(value, info):
        if info.number == 3:
            iterators[0].close()
        return value

    iterators.append(hr.Range(100).batch(2, function=collate).iterate(window=1))
    with pytest.raises(hr.ClosedError):
        for _ in iterators[0]:
            pass


# ---- caches, devices, graphs in files ----


def test_a_cache_above_keeps_its_batches():
    calls = itertools.count()

    def collate(value, info):
        next(calls)
        return [info.number, info.epoch, *value]

    dataset = hr.Range(9).batch(2, function=collate).cache()
    first = listed(dataset)
    kept = list(dataset)
    again = list(dataset)
    assert [batch["value"].tolist() for batch in kept] == [batch["value"].tolist() for batch in again]
    assert [{"value": batch["value"].tolist()} for batch in again] == first
    assert next(calls) == 5


def test_batches_go_to_a_device():
    dataset = hr.Range(9).batch(2, function=lambda value: np.stack(value) * 2).to_device("cpu:0")
    assert values(dataset) == list(range(0, 18, 2))


def test_torch_or_any_array_may_be_given():
    class Array:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.array(self.values, dtype)

    (batch,) = hr.Range(3).batch(3, function=lambda value: Array([float(each) for each in value]))
    assert batch["value"].tolist() == [0, 1, 2]


def collate_by_name(value):
    return np.stack(value) + 1


def test_a_saved_graph_names_its_functions(tmp_path):
    dataset = hr.Range(6).batch(growing, function=collate_by_name)
    dataset.save(tmp_path / "graph.hrg")
    size, made = hr.load(tmp_path / "graph.hrg")._graph().references
    assert made == "test_batch_functions.py:collate_by_name#0" and size == "test_batch_functions.py:growing#0"
    with pytest.raises(hr.GraphError, match="not in the file"):
        list(hr.load(tmp_path / "graph.hrg"))
    loaded = hr.load(tmp_path / "graph.hrg", references={made: collate_by_name, size: growing})
    assert listed(loaded) == listed(dataset) == [{"value": [1]}, {"value": [2, 3]}, {"value": [4, 5, 6]}]
    with pytest.raises(hr.GraphError, match="no function"):
        hr.load(tmp_path / "graph.hrg", references={made: 3, size: growing})


def test_one_function_may_make_the_batches_of_two_places():
    rows = hr.Range(4)
    both = rows.batch(2, function=collate_by_name).concat(rows.batch(2, function=collate_by_name))
    assert values(both) == [1, 2, 3, 4] * 2


def test_explain_shows_its_thread():
    text = hr.Range(6).batch(2, function=collate_by_name).explain()
    assert "python_batch[1]" in text and "Python thread" in text


def test_rows_of_one_message_count_once_in_the_budget():
    # Each row is a view of a message of many rows.
    sums = hr.Range(300_000).batch(150_000, function=lambda value: np.sum(value), output="sum")
    with sums.iterate(memory="32MiB") as batches:
        assert [int(batch["sum"]) for batch in batches] == [sum(range(150_000)), sum(range(150_000, 300_000))]
