"""Each named set gives the same rows shuffled, divided among ranks, restored, saved, pickled and by number."""

import pickle

import numpy as np
import pytest

import headrace as hr
from tests.named_sets import SMALL_SETS


def assert_same(found: list[dict[str, object]], expected: list[dict[str, object]]) -> None:
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        assert list(row) == list(other)
        for name, value in row.items():
            np.testing.assert_array_equal(value, other[name], strict=True)


@pytest.mark.parametrize("kind", SMALL_SETS)
@pytest.mark.filterwarnings("ignore::headrace.PipelineWarning")
def test_rows_are_the_same_in_every_way(tmp_path, kind):
    write, opened = SMALL_SETS[kind]
    at = tmp_path / "set"
    at.mkdir()
    write(at)
    ds = opened(at)
    rows = list(ds)
    assert len(rows) == len(ds) > 0
    assert_same([ds[-1], ds[0]], [rows[-1], rows[0]])
    shards = [list(ds.iterate(epoch=0, shard=(rank, 3))) for rank in range(3)]
    assert_same([shards[number % 3][number // 3] for number in range(len(rows))], rows)
    mixed = ds.shuffle(4).with_seed(3)
    run = mixed.iterate(epoch=1)
    shuffled = [next(run) for _ in range(len(rows) // 2)]
    shuffled += list(mixed.iterate(state=run.state()))
    assert_same(shuffled, list(mixed.iterate(epoch=1)))
    ds.save(tmp_path / "set.hrg")
    assert_same(list(hr.load(tmp_path / "set.hrg")), rows)
    assert_same(list(pickle.loads(pickle.dumps(ds))), rows)
