"""Batches of rows of similar length."""

import numpy as np
import pytest

import headrace as hr

LENGTHS = [1, 3, 0, 5, 2, 1, 3, 9, 4]


def rows(*lengths: int) -> hr.Dataset:
    sequences = hr.Numpy({"length": np.array(lengths, np.int64)})
    return sequences.map(lambda length: np.full(length, length, np.int32), "length", "x")


def shapes(dataset: hr.Dataset, **options) -> list:
    return [batch["x"].shape for batch in dataset.iterate(**options)]


def test_rows_meet_others_of_their_length():
    batches = list(rows(*LENGTHS).bucket_by_length("x", [2, 4], [3, 2, 1]))
    assert [batch["length"].tolist() for batch in batches] == [[5], [3, 2], [1, 0, 1], [9], [4], [3]]
    assert batches[1]["x"].tolist() == [[3, 3, 3], [2, 2, 0]]
    assert batches[1]["x"].dtype == np.int32


def test_a_boundary_gives_a_bucket_one_shape():
    dataset = rows(1, 3, 0, 2, 2).bucket_by_length("x", [3, 6], [2, 1, 1], pad="boundary", pad_value=-1)
    assert [batch["x"].tolist() for batch in dataset] == [
        [[3, 3, 3, -1, -1]],
        [[1, -1], [-1, -1]],
        [[2, 2], [2, 2]],
    ]
    with pytest.raises(hr.DataError, match='too long for pad="boundary".*6, and the last boundary is 6'):
        list(rows(1, 6).bucket_by_length("x", [3, 6], [2, 1, 1], pad="boundary"))


def test_a_boundary_pads_what_varies_and_nothing_else():
    def sequence(length):
        return np.zeros(length), np.ones(length // 2), np.arange(3)

    types = {"b": ("float64", (None,)), "box": ("int64", (3,))}
    table = hr.Range(1, 5).map(sequence, "value", ["a", "b", "box"], types=types)
    batch = next(iter(table.bucket_by_length("a", [8], [4, 1], pad="boundary")))
    assert {name: column.shape for name, column in batch.items()} == {
        "value": (4,),
        "a": (4, 7),
        "b": (4, 7),
        "box": (4, 3),
    }
    with pytest.raises(hr.DataError, match='column "b" is longer than what pad="boundary" pads its row to: 4 and 2'):
        longer = hr.Range(2, 3).map(lambda value: (np.zeros(value), np.zeros(4)), "value", ["a", "b"])
        list(longer.bucket_by_length("a", [3], [1, 1], pad="boundary"))


@pytest.mark.parametrize("shard", [(0, 1), (1, 3)])
def test_a_state_resumes_at_every_batch(shard):
    noisy = hr.Range(60, shuffle=True).map(lambda value, rng: rng.random(rng.integers(12)), "value", "x")
    dataset = noisy.bucket_by_length("x", [3, 6, 9], [5, 4, 3, 2])
    whole = [batch["x"].tolist() for batch in dataset.iterate(epoch=2, shard=shard)]
    for step in range(len(whole) + 1):
        with dataset.iterate(epoch=2, shard=shard) as iterator:
            for _ in range(step):
                next(iterator)
            state = iterator.state()
        assert [batch["x"].tolist() for batch in dataset.iterate(state=state, shard=shard)] == whole[step:]
    with pytest.raises(hr.StateError, match="bucket_by_length"):
        dataset.iterate(state=state, shard=(0, 2))


def test_a_restart_reads_from_the_oldest_row_held():
    read = []

    def sequence(value):
        read.append(int(value))
        return np.zeros(1 + value % 2)

    dataset = hr.Range(100).map(sequence, "value", "x").bucket_by_length("x", [2], [4, 4])
    with dataset.iterate(executor="pull") as iterator:
        for _ in range(15):
            next(iterator)
        state = iterator.state()
    read.clear()
    assert len(list(dataset.iterate(state=state, executor="pull"))) == 11
    assert min(read) >= 52


def test_ranks_that_must_step_alike_are_refused():
    dataset = rows(*LENGTHS).bucket_by_length("x", [2], [2, 2])
    for even in ("drop", "pad"):
        with pytest.raises(hr.UnsupportedError, match="even= needs a known number of rows.*bucket_by_length"):
            dataset.iterate(shard=(0, 2), even=even)
    with pytest.raises(TypeError, match="how many rows"):
        len(dataset)


@pytest.mark.parametrize(
    ("boundaries", "sizes", "message"),
    [
        ([], [1], "has no boundaries"),
        ([3, 3], [1, 1, 1], r"boundaries\[1\] is 3, not above the one before it, 3"),
        ([3], [1], "has 1 boundaries and 1 batch_sizes; give one size more"),
        ([0], [1, 1], "boundaries"),
        ([3], [1, 0], "batch_sizes"),
    ],
)
def test_buckets_that_cannot_be_are_refused(boundaries, sizes, message):
    with pytest.raises(hr.GraphError, match=message):
        list(rows(1).bucket_by_length("x", boundaries, sizes))


def test_columns_without_a_length_are_refused():
    with pytest.raises(hr.GraphError, match=r'no column "y" \(columns: length, x\)'):
        list(rows(1).bucket_by_length("y", [2], [1, 1]))
    with pytest.raises(hr.GraphError, match=r'column "length" is int64 \(\): it has no first axis to measure'):
        list(rows(1).bucket_by_length("length", [2], [1, 1]))
    with pytest.raises(hr.DataError, match="it has no first axis to measure"):
        list(hr.Range(3).map(lambda value: value * 1.0, "value", "x").bucket_by_length("x", [2], [1, 1]))
