"""`flat_map`: rows that a function makes of one."""

import gc
import itertools

import numpy as np
import pytest
from conftest import eventually, values

import headrace as hr

ORDERED = {"flat_map": {}, "interleave": {"cycle": 2, "block": 3}}


def counted(value):
    yield from range(int(value))


def letters(text):
    """An array of each sentence."""
    return [np.array([ord(letter) for letter in sentence]) for sentence in text.split(". ") if sentence]


def listed(batches, column="x"):
    return [row[column].tolist() for row in batches]


def resumed(dataset, **options):
    """The rows of an epoch, of which each was given by another iterator, from the state of the one before."""
    state, seen = None, []
    while True:
        with dataset.iterate(**(options if state is None else {"state": state})) as iterator:
            row = next(iterator, None)
            if row is None:
                return seen
            seen.append(row)
            state = iterator.state()


def test_rows_come_one_after_the_other():
    numbers = hr.Numpy({"value": np.array([2, 0, 3])})
    assert values(numbers.flat_map(counted, "value")) == [0, 1, 0, 1, 2]
    assert values(numbers.flat_map(counted)) == [0, 1, 0, 1, 2]
    assert values(numbers.flat_map(lambda value: [], "value")) == []
    pairs = numbers.flat_map(lambda value: [(value, str(value)), (value + 1, "more")], "value", ["x", "name"])
    assert [(int(row["x"]), row["name"]) for row in pairs][:2] == [(2, "2"), (3, "more")]
    named = numbers.flat_map(lambda value: ({"b": i, "a": b"raw"} for i in range(value)), "value", ["a", "b"])
    assert [(row["a"], int(row["b"])) for row in named] == [(b"raw", 0), (b"raw", 1)] + [(b"raw", i) for i in range(3)]


def test_other_columns_are_left_out():
    table = hr.Numpy({"a": np.arange(2), "b": np.arange(2) * 10})
    expected = [{"c": 0}, {"c": 0}, {"c": 1}, {"c": 10}]
    assert [dict(row) for row in table.flat_map(lambda a, b: [a, b], ["a", "b"], "c")] == expected
    assert [dict(row) for row in table.flat_map(lambda a, b: [a, b], output="c")] == expected
    assert [row["a"].tolist() for row in table.flat_map(lambda a, b: [(a, b)])] == [0, 1]


@pytest.mark.parametrize("method", ORDERED)
def test_rows_of_one_may_differ_in_shape(method):
    texts = hr.Numpy({"x": np.array(["ab. c", "", "def. gh. i"], object)})
    rows = getattr(texts, method)(letters, columns="x", **ORDERED[method])
    whole = listed(rows)
    assert sorted(map(len, whole)) == [1, 1, 2, 2, 3]
    if method == "flat_map":
        assert ["".join(map(chr, row)) for row in whole] == ["ab", "c", "def", "gh", "i"]
    assert listed(resumed(rows)) == whole
    assert listed(rows.iterate(executor="pull")) == whole
    assert rows.schema == {"x": ("unknown", None)}


def test_types_are_declared_and_checked():
    texts = hr.Numpy({"x": np.array(["ab. c", "def"], object)})
    rows = texts.flat_map(letters, "x", types={"x": ("int64", (None,))})
    assert rows.schema == {"x": ("int64", (None,))}
    assert [len(row["x"]) for row in rows] == [2, 1, 3]
    turns = texts.interleave(letters, 2, types={"x": ("int64", (2,))})
    with pytest.raises(hr.DataError, match=r'gave int64 \(3,\) for column "x", which was declared as int64 \(2,\)'):
        list(turns)
    with pytest.raises(hr.GraphError, match='types names "y"'):
        print(texts.flat_map(letters, "x", types={"y": "int64"}).schema)


def test_sentences_of_documents_go_into_buckets():
    texts = hr.Numpy({"x": np.array(["ab. c. def", "", "g. hi. jklm. n"], object)})
    sentences = texts.flat_map(letters, "x").map(lambda x: x - ord("a"), "x")
    batches = sentences.bucket_by_length("x", [2, 3], [3, 2, 2])
    whole = listed(batches)
    assert whole == [[[0, 1], [7, 8]], [[3, 4, 5, 0], [9, 10, 11, 12]], [[2], [6], [13]]]
    assert listed(resumed(batches)) == whole


@pytest.mark.parametrize("method", ORDERED)
def test_a_generator_runs_as_far_as_its_rows_are_needed(method):
    made, closed = [], []

    def endless(value):
        try:
            for number in itertools.count():
                made.append(number)
                yield number
        finally:
            closed.append(int(value))

    rows = getattr(hr.Range(1), method)(endless, columns="value", **ORDERED[method]).take(3)
    assert values(rows.iterate(executor="pull")) == [0, 1, 2]
    assert len(made) <= 32
    assert closed == [0]
    closed.clear()
    assert values(rows) == [0, 1, 2]
    assert eventually(lambda: closed == [0])


def test_one_that_never_ends_takes_no_memory():
    def endless(value):
        for number in itertools.count():
            yield np.full(100_000, number, np.int32)

    rows = hr.Range(3).flat_map(endless).take(200)
    assert [int(row["value"][0]) for row in rows.iterate(memory="4MiB")] == list(range(200))


def test_one_that_is_left_early_is_closed():
    closed = []

    def endless(value):
        try:
            yield from itertools.count()
        finally:
            closed.append(int(value))

    with hr.Range(3).flat_map(endless).iterate() as iterator:
        next(iterator)
    gc.collect()
    assert closed == [0]


def test_a_restart_goes_on_within_a_row_and_draws_the_same():
    def noisy(value, rng):
        return [value * 10**6 + rng.integers(10**6) for _ in range(value % 4)]

    dataset = (
        hr.Range(12, shuffle=True).flat_map(noisy, "value").map(lambda x, rng: x * 1000 + rng.integers(9), "value")
    )
    whole = values(dataset.iterate(epoch=3))
    assert len(set(whole)) == len(whole) == 18
    assert [int(row["value"]) for row in resumed(dataset, epoch=3)] == whole
    ranks = [values(dataset.iterate(epoch=3, shard=(rank, 3))) for rank in range(3)]
    assert sorted(sum(ranks, [])) == sorted(whole)


def test_a_restart_calls_the_function_for_the_row_that_is_open():
    calls = []

    def many(value):
        calls.append(int(value))
        for number in range(600):
            yield 1000 * value + number

    rows = hr.Range(4).flat_map(many)
    with rows.iterate() as iterator:
        given = [int(next(iterator)["value"]) for _ in range(900)]
        state = iterator.state()
    calls.clear()
    rest = values(rows.iterate(state=state))
    assert given + rest == [1000 * value + number for value in range(4) for number in range(600)]
    assert calls == [1, 2, 3]


def test_an_object_may_have_attributes_of_any_name():
    class Counted:
        def __init__(self):
            self._row = self._called = self._function = self._output = "its own"

        def __call__(self, value):
            assert self._row == self._output == self._function == "its own"
            return range(int(value))

    assert values(hr.Range(3).flat_map(Counted(), "value")) == [0, 0, 1]


def test_names_in_the_graph_are_the_functions(tmp_path):
    rows = hr.Range(3).flat_map(counted, "value")
    assert "test_flat_map.py:counted" in rows.to_text()
    assert values(hr.Range(3).flat_map(range, "value")) == [0, 0, 1]
    rows.save(tmp_path / "rows.hrg")
    (name,) = hr.load(tmp_path / "rows.hrg")._graph().references
    assert values(hr.load(tmp_path / "rows.hrg", references={name: counted})) == [0, 0, 1]


@pytest.mark.parametrize(
    ("function", "output", "error", "message"),
    [
        (lambda value: value, None, hr.FunctionError, "it must give rows, as a list or a generator"),
        (lambda value: "text", None, hr.FunctionError, "the function gave 'text'"),
        (lambda value: None, None, hr.FunctionError, "the function gave None"),
        (lambda value: [1], ["a", "b"], hr.GraphError, r"gave a .*; a row is .* \(a, b\)"),
        (lambda value: [{"a": 1}], ["a", "b"], hr.GraphError, r'gave a row without "b" \(it has a\)'),
        (lambda value: [(1, 2, 3)], ["a", "b"], hr.GraphError, r"a tuple of 3 values for 2 columns \(a, b\)"),
    ],
)
def test_rows_that_do_not_fit_are_errors(function, output, error, message):
    with pytest.raises(error, match=message):
        list(hr.Range(1).flat_map(function, "value", output))


@pytest.mark.parametrize("method", ORDERED)
def test_datasets_are_no_rows(method):
    inner = hr.Range(3)

    def run(function):
        return list(getattr(hr.Range(2), method)(function, columns="value", **ORDERED[method]))

    for of_dataset in (lambda value: inner, lambda value: iter(inner), lambda value: inner.iterate(epoch=0)):
        with pytest.raises(hr.FunctionError, match=r"list\(inner.iterate\(epoch=0\)\)"):
            run(of_dataset)
    assert len(run(lambda value: list(inner.iterate(epoch=0)))) == 6


def test_rows_before_an_error_are_given():
    def fails(value):
        yield value
        if value == 1:
            raise ValueError("no more of 1")
        yield value + 10

    rows = hr.Range(3).flat_map(fails)
    seen = []
    with pytest.raises(hr.FunctionError, match="no more of 1"):
        seen.extend(int(row["value"]) for row in rows)
    kept = rows.on_error("skip", max_errors=1)
    assert values(kept) == [0, 10, 1, 2, 12]
    assert [int(row["value"]) for row in resumed(kept)] == [0, 10, 1, 2, 12]


def test_what_is_no_function_is_refused():
    with pytest.raises(hr.GraphError, match="flat_map: 3 is no function"):
        hr.Range(3).flat_map(3, "value")
    with pytest.raises(hr.GraphError, match="called with one argument for each column"):
        hr.Range(3).flat_map(lambda: [1], "value")
