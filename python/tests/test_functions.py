"""Python functions and generators inside a pipeline."""

import functools
import threading

import numpy as np
import pytest
from conftest import values

import headrace as hr


def test_a_function_gets_arrays_bytes_and_texts():
    seen = []

    def look(*columns):
        seen.append([(type(column).__name__, getattr(column, "shape", None)) for column in columns])
        return columns[0]

    table = hr.Numpy({"n": np.zeros((1, 2), np.uint8), "b": np.array([b"x"], object), "s": np.array(["y"])})
    list(table.map(look, ["n", "b", "s"], "n"))
    assert seen == [[("ndarray", (2,)), ("bytes", None), ("str", None)]]


@pytest.mark.parametrize(
    ("given", "expected", "dtype"),
    [
        (3, 3, "int64"),
        (2.5, 2.5, "float64"),
        (True, True, "bool"),
        ([1, 2], [1, 2], "int64"),
        (np.float32(1.5), 1.5, "float32"),
        (np.arange(3, dtype=">u2"), [0, 1, 2], "uint16"),
        (np.float16([1, 2])[::-1], [2, 1], "float16"),
        (b"bytes", b"bytes", None),
        (bytearray(b"bytes"), b"bytes", None),
        ("grün", "grün", None),
        (np.array(["a", "bc"]), ["a", "bc"], "object"),
        (np.array([b"a", b"\x00\x01"], object), [b"a", b"\x00\x01"], "object"),
        (np.zeros((0, 3), np.int8), [], "int8"),
    ],
)
def test_what_a_function_may_return(given, expected, dtype):
    (row,) = hr.Range(1).map(lambda _: given, "value")
    found = row["value"]
    if dtype is None:
        assert found == expected and type(found) is type(expected)
    else:
        assert str(found.dtype) == dtype
        assert found.tolist() == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "None is no value"),
        ({"a": 1}, "give a tuple of the values"),
        ([[1], [2, 3]], "the shapes of all must agree"),
        (np.array([1, "a"], object), "bytes alone or str alone"),
        (1j, "complex"),
        (np.datetime64("2020-01-01"), "datetime64"),
    ],
)
def test_what_a_function_may_not_return(given, message):
    with pytest.raises(hr.Error, match=message):
        list(hr.Range(1).map(lambda _: given, "value"))


def test_several_results():
    rows = hr.Range(3).map(lambda x: (x + 1, str(int(x))), "value", ["next", "name"])
    assert [(int(row["next"]), row["name"]) for row in rows] == [(1, "0"), (2, "1"), (3, "2")]
    with pytest.raises(hr.Error, match="gave 3 values for 2 columns"):
        list(hr.Range(3).map(lambda x: (x, x, x), "value", ["a", "b"]))


def test_functions_stand_anywhere_in_the_list():
    from headrace import transforms as T

    rows = hr.Range(3).map([lambda x: x + 1, T.TypeCast("float32"), lambda x: x / 2], "value")
    assert values(rows) == [0.5, 1.0, 1.5]


def test_rng_is_the_rows_own():
    def noise(x, rng):
        assert isinstance(rng, np.random.Generator)
        return rng.random(3)

    def draws(**options):
        return [row["value"].tolist() for row in hr.Range(20).map(noise, "value").iterate(**options)]

    first = draws()
    assert len({tuple(row) for row in first}) == 20
    assert draws() == draws(workers=1) == draws(executor="pull") == draws(window=1) == first
    assert draws(seed=1) != first and draws(epoch=1) != first
    # By the row, not by its position: shuffled, each row has the same draws.
    by_row = {}
    for row in hr.Range(20).shuffle(20).map(lambda x, rng: (x, rng.random(3)), "value", ["value", "noise"]):
        by_row[int(row["value"])] = row["noise"]
    again = {}
    for row in hr.Range(20, shuffle=True).map(lambda x, rng: (x, rng.random(3)), "value", ["value", "noise"]):
        again[int(row["value"])] = row["noise"]
    assert all(len(each) == 3 for each in by_row.values()) and sorted(by_row) == sorted(again)
    sharded = [
        row["value"].tolist() for rank in range(2) for row in hr.Range(20).map(noise, "value").iterate(shard=(rank, 2))
    ]
    assert sorted(sharded) == sorted(first)


def test_two_functions_draw_apart():
    def noise(x, rng):
        return rng.random()

    rows = hr.Range(5).map([noise], "value", "a").map([noise], "value", "b")
    assert all(row["a"] != row["b"] for row in rows)


def test_called_in_row_order_or_in_any():
    order = []

    def note(x):
        order.append(int(x))
        return x

    assert values(hr.Range(50).map(note, "value")) == list(range(50))
    assert order == list(range(50))
    order.clear()
    assert values(hr.Range(50).map(note, "value", ordered=False)) == list(range(50))
    assert sorted(order) == list(range(50))


def test_ordered_functions_may_have_state():
    total = 0

    def running(x):
        nonlocal total
        total += int(x)
        return total

    assert values(hr.Range(20).map(running, "value")) == np.cumsum(np.arange(20)).tolist()


def test_threads():
    here = threading.get_ident()
    where = set()

    def note(x):
        where.add(threading.get_ident())
        return x

    list(hr.Range(5).map(note, "value").iterate(executor="pull"))
    assert where == {here}
    where.clear()
    list(hr.Range(5).map(note, "value"))
    assert here not in where


def test_a_thread_keeps_what_is_its_own():
    local = threading.local()
    made = []

    def use(x):
        if not hasattr(local, "connection"):
            local.connection = object()
            made.append(threading.get_ident())
        return x

    assert values(hr.Range(50).map(use, "value")) == list(range(50))
    assert len(made) == 1
    made.clear()
    values(hr.Range(200).map(use, "value", ordered=False))
    assert len(made) == len(set(made)) <= 8


def test_callables_of_every_kind():
    class Adder:
        def __call__(self, x):
            return x + 1

        def method(self, x):
            return x + 1

    def add(x, by):
        return x + by

    for function in (Adder(), Adder().method, functools.partial(add, by=1), lambda x: x + 1):
        assert values(hr.Range(2).map(function, "value")) == [1, 2]
    assert values(hr.Range(2).map(np.negative, "value")) == [0, -1]
    assert values(hr.Range(2).map(abs, "value")) == [0, 1]


def test_filter_functions():
    assert values(hr.Range(10).filter(lambda x: x > 6)) == [7, 8, 9]
    assert values(hr.Range(10).filter(lambda x: np.bool_(x > 6), "value")) == [7, 8, 9]
    table = hr.Numpy({"a": np.arange(4), "b": np.arange(4)[::-1]})
    assert values(table.filter(lambda b, a: a > b, ["b", "a"]), "a") == [2, 3]
    assert values(table.filter(lambda a, b: a > b), "a") == [2, 3]
    kept = values(hr.Range(100).filter(lambda x, rng: rng.random() < 0.5))
    assert 25 < len(kept) < 75
    assert kept == values(hr.Range(100).filter(lambda x, rng: rng.random() < 0.5).iterate(workers=1))
    with pytest.raises(hr.FunctionError, match="ambiguous"):
        list(hr.Numpy(np.zeros((2, 2))).filter(lambda x: x > 1))
    with pytest.raises(hr.GraphError, match="neither a column expression nor a function"):
        hr.Range(3).filter(True)


def test_the_users_exception_is_the_cause():
    class Mine(Exception):
        pass

    def outer(x):
        return inner(x)

    def inner(x):
        raise Mine("deep", int(x))

    with pytest.raises(hr.FunctionError) as caught:
        list(hr.Range(3).map(outer, "value"))
    cause = caught.value.__cause__
    assert isinstance(cause, Mine) and cause.args == ("deep", 0)
    frames, trace = [], cause.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert frames == ["outer", "inner"]
    assert "test_functions.py" in caught.value.location and "Mine" in str(caught.value)


def test_exit_in_a_function_is_an_exit():
    def leave(x):
        raise SystemExit(4)

    with pytest.raises(SystemExit):
        list(hr.Range(3).map(leave, "value"))


# ---- generators ----


def test_generator_rows_of_every_form():
    def dicts():
        yield from ({"a": i, "b": str(i)} for i in range(3))

    def tuples():
        yield from ((i, str(i)) for i in range(3))

    for function in (dicts, tuples):
        rows = list(hr.Generator(function, ["a", "b"]))
        assert [(int(row["a"]), row["b"]) for row in rows] == [(0, "0"), (1, "1"), (2, "2")]
    assert values(hr.Generator(lambda: range(3), "value")) == [0, 1, 2]
    assert values(hr.Generator(lambda: [np.int8(1)], {"value": np.int8})) == [1]


@pytest.mark.parametrize("size", [8, 100])
def test_a_generator_may_wait_until_the_loop_has_its_last_batch(size):
    given = threading.Semaphore(0)

    def rows():
        for row in range(20 * size):
            if row > 0 and row % size == 0:
                assert given.acquire(timeout=60), f"row {row} was asked for before the batch in front of it was given"
            yield {"x": row, "y": row / 2, "flag": row % 3 == 0}

    seen = []
    for batch in hr.Generator(rows, {"x": "int64", "y": "float64", "flag": "bool"}).batch(size):
        assert batch["x"].dtype == np.int64 and batch["y"].dtype == np.float64 and batch["flag"].dtype == np.bool_
        assert (batch["y"] == batch["x"] / 2).all() and (batch["flag"] == (batch["x"] % 3 == 0)).all()
        seen.extend(batch["x"].tolist())
        given.release()
    assert seen == list(range(20 * size))


def test_a_generator_goes_on_exactly_from_every_batch():
    def rows(epoch, start=0):
        for row in range(start, 1000 + epoch):
            yield row, str(row), np.full(3, row)

    batches = hr.Generator(rows, ["x", "text", "some"]).batch(7).map(lambda x: x + 1, "x")
    with batches.iterate(epoch=1) as iterator:
        whole = [batch["x"].tolist() for batch in iterator]
    assert sum(whole, []) == list(range(1, 1002))
    with batches.iterate(epoch=1) as iterator:
        for done in range(1, len(whole), 13):
            while iterator.report()["delivered"] < done:
                next(iterator)
            assert [batch["x"].tolist() for batch in batches.iterate(state=iterator.state())] == whole[done:]


def test_numbers_become_what_numpy_makes_of_them():
    values = [True, False, 3, -1, 2**62, -(2**63), 2**63, 0.5, float("inf"), np.float32(1.5), np.int8(-3)]
    for value in values:
        (row,) = hr.Generator(lambda value=value: iter([(value,)]), ["x"])
        expected = np.asarray(value)
        assert row["x"].dtype == expected.dtype and row["x"] == expected and row["x"].shape == ()


def test_generator_schema():
    schema = hr.Generator(lambda: (), {"x": "float32", "y": ("uint8", (None, 3)), "z": bytes, "w": str}).schema
    assert schema == {
        "x": ("float32", None),
        "y": ("uint8", (None, 3)),
        "z": ("bytes", None),
        "w": ("string", None),
    } or schema["x"] == ("float32", ())
    assert hr.Generator(lambda: (), ["x"]).schema == {"x": ("unknown", None)}


def test_generator_gets_its_epoch():
    pipeline = hr.Generator(lambda epoch: iter([epoch]), {"value": "int64"})
    assert [values(pipeline) for _ in range(3)] == [[0], [1], [2]]
    assert values(pipeline.iterate(epoch=9)) == [9]


def test_generator_mistakes():
    def rows():
        yield {"a": 1, "c": 2}

    for function, columns, message in [
        (rows, ["a", "b"], 'without "b"'),
        (rows, ["a"], "2 values for 1 columns"),
        (lambda: [(1, 2, 3)], ["a", "b"], "tuple of 3 values for 2 columns"),
        (lambda: [7], ["a", "b"], "a row is a dict, or a tuple"),
        (lambda: 7, ["a"], "not iterable"),
        (lambda: iter([np.zeros(3)]), {"a": ("float32", (3,))}, "float64"),
    ]:
        with pytest.raises(hr.Error, match=message):
            list(hr.Generator(function, columns))
    with pytest.raises(hr.GraphError, match="used up after one epoch"):
        hr.Generator((i for i in range(3)), ["a"])
    with pytest.raises(hr.GraphError, match="used up after one epoch"):
        hr.Generator(iter([1, 2]), ["a"])
    with pytest.raises(hr.GraphError, match="lambda: iter"):
        hr.Generator([1, 2], ["a"])
    with pytest.raises(hr.GraphError, match="needs one, two"):
        hr.Generator(lambda one, two: iter([]), ["a"])


def test_the_same_iterator_twice_is_refused():
    rows = iter(range(3))
    pipeline = hr.Generator(lambda: rows, {"value": "int64"})
    assert values(pipeline) == [0, 1, 2]
    with pytest.raises(hr.UnsupportedError, match="same iterator for every epoch"):
        list(pipeline)


def test_generator_that_raises():
    def rows():
        yield 1
        yield 2
        raise OSError("disk gone")

    found = []
    with pytest.raises(hr.FunctionError, match="disk gone") as caught:
        for row in hr.Generator(rows, {"value": "int64"}):
            found.append(int(row["value"]))
    assert found == [1, 2]
    assert isinstance(caught.value.__cause__, OSError)


def test_numpy_mistakes():
    for arrays, message in [
        ({}, "no arrays"),
        ({"a": np.zeros(3), "b": np.zeros(4)}, "a has 3, b has 4"),
        ({"a": np.float32(3)}, "single value"),
        ({"a": np.zeros(3, complex)}, "complex128"),
        ({"a": np.array([1, "x"], object)}, "Python objects"),
        ({3: np.zeros(3)}, "a column's name is 3; it must be a text"),
    ]:
        with pytest.raises(hr.GraphError, match=message):
            hr.Numpy(arrays)


def test_declared_results_are_known_and_checked():
    rows = hr.Range(6).map(lambda x: (np.float32(x), str(int(x))), "value", ["x", "name"], types={"x": ("float32", ())})
    assert rows.schema["x"] == ("float32", ()) and rows.schema["name"] == ("unknown", None)
    assert rows.batch(2).schema["x"] == ("float32", (None,))
    assert [row["name"] for row in rows] == list("012345")
    wrong = hr.Range(3).map(lambda x: x / 2, "value", types={"value": ("float32", (None,))})
    with pytest.raises(
        hr.DataError, match=r'gave float64 \(\) for column "value", which was declared as float32 \(None,\)'
    ):
        list(wrong)
    short = hr.Range(9).map(lambda x: np.zeros(2 + x // 4), "value", types={"value": ("float64", (2,))})
    assert len(list(short.on_error("skip"))) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((lambda x: x, "value", None, {"y": "int64"}), 'types names "y", which the function does not give'),
        (([lambda x: x, lambda x: x], "value", None, {"value": "int64"}), "there are 2 here; write a map for each"),
        (([], "value", None, {"value": "int64"}), "the list of kernels is empty"),
        ((lambda x: x, "value", None, {"value": "int65"}), "int65"),
    ],
)
def test_declarations_that_are_wrong_are_refused(arguments, message):
    kernels, columns, output, types = arguments
    with pytest.raises(hr.GraphError, match=message):
        list(hr.Range(3).map(kernels, columns, output, types=types))


def test_rows_of_a_declared_shape_go_straight_into_their_batch():
    def image(x):
        return np.full((3, 40, 50), x, np.uint8)

    declared = hr.Range(64).map(image, "value", types={"value": ("uint8", (3, 40, 50))}).batch(16)
    plain = hr.Range(64).map(image, "value").batch(16)
    for one, other in zip(declared, plain, strict=True):
        assert np.array_equal(one["value"], other["value"])
    assert declared.schema["value"] == ("uint8", (None, 3, 40, 50))

    def peak(batches):
        with batches.iterate(executor="pull") as iterator:
            for _ in iterator:
                pass
            return iterator.report()["peak_bytes"]

    # One batch; a copy would need its rows besides.
    assert peak(declared) < 2 * 16 * 6000 <= peak(plain)


def test_ordered_is_true_or_false():
    with pytest.raises(hr.GraphError, match="map: ordered is 'no'; it must be True or False"):
        hr.Range(3).map(abs, "value", ordered="no")
    assert values(hr.Range(3).map(abs, "value", ordered=np.False_)) == [0, 1, 2]
