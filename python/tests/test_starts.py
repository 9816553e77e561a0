"""`iterate(start=n)` and `ds[i]`: an epoch from its batch n on, and its single rows."""

import numpy as np
import pytest
from conftest import values

import headrace as hr

SOURCE = hr.Range(50, shuffle=True)
EXACT = {
    "rows": SOURCE.take(20),
    "batches": SOURCE.batch(4),
    "batches of a function": SOURCE.batch(4, function=lambda value, info: [each + 100 * info.number for each in value]),
    "windows": hr.Range(40).window(3, shift=2),
    "whole batches": SOURCE.batch(4, drop_remainder=True),
    "map that draws": SOURCE.map(lambda x, rng: x + rng.integers(100), "value").batch(4),
    "take and skip": SOURCE.take(30).skip(3).batch(4),
    "zip": SOURCE.zip(hr.Range(50).rename({"value": "b"})).batch(4),
    "cache": hr.Range(40).cache().batch(3),
    "sampler": hr.Range(40).sample(hr.Weighted(np.arange(1, 41))).batch(3),
    "mix": hr.mix([hr.Range(30, shuffle=True), hr.Range(20)], [2, 1], "all").batch(3),
    "concat": hr.Range(10).concat(hr.Range(30, shuffle=True)).batch(3),
    "objects": hr.from_dataset(list(range(30)), columns="x", shuffle=True).batch(4),
}
REPLAYED = {
    "shuffle": hr.Range(50).shuffle(10).batch(4),
    "filter": hr.Range(50).filter(hr.col("value") % 2 == 0).batch(3),
    "repeat": hr.Range(10, shuffle=True).repeat(3).batch(4),
    "take of batches": SOURCE.batch(4).take(6),
    "generator": hr.Generator(lambda epoch: iter(range(epoch * 3, 40)), ["x"]).batch(3),
    "skipped rows": hr.Range(40).batch(3).on_error("skip"),
    "batches of batches": hr.Range(40).batch(2).batch(3),
    "unbatch": hr.Range(40).batch(4).unbatch(),
    "sizes": hr.Range(40).batch(lambda info: info.number % 3 + 1),
}
ALL = EXACT | REPLAYED


def same(found, wanted):
    found, wanted = list(found), list(wanted)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])


@pytest.mark.parametrize("name", ALL)
def test_an_epoch_from_a_batch_on_is_the_rest_of_it(name):
    ds = ALL[name]
    whole = list(ds.iterate(epoch=2))
    for start in (0, 1, 3, len(whole) - 1, len(whole), len(whole) + 3):
        same(ds.iterate(epoch=2, start=start), whole[start:])
    with ds.iterate(epoch=2, start=2) as running:
        next(running)
        state = running.state()
    same(ds.options().iterate(state=state), whole[3:])
    assert ds.epoch == 0


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("even", ["off", "pad", "drop"])
def test_of_each_rank_too(name, even):
    for rank in range(3):
        given = {"epoch": 1, "shard": (rank, 3), "even": even}
        same(EXACT[name].iterate(start=2, **given), list(EXACT[name].iterate(**given))[2:])


@pytest.mark.parametrize("size", [None, 4, 8])
def test_groups_that_stay_together_are_not_cut(size):
    rows = hr.Range(40).sample(hr.PK(2, 2, [number % 5 for number in range(40)]))
    ds = rows if size is None else rows.batch(size)
    for rank in range(2):
        given = {"epoch": 1, "shard": (rank, 2)}
        whole = list(ds.iterate(**given))
        for start in (1, 2, 4):
            same(ds.iterate(start=start, **given), whole[start:])
    if size is None:
        with pytest.raises(hr.UnsupportedError, match=r"dataset\[1\]: .*within a group of 4 rows"):
            rows[1]


def test_a_row_leaves_the_report_of_the_loop():
    ds = hr.Range(10).batch(2)
    with ds.iterate() as running:
        assert len(list(running)) == 5
    before = ds.explain()
    assert ds[1]["value"].tolist() == [2, 3] and ds.explain() == before


def test_what_is_left_out_is_not_made_where_a_number_says_which_rows_come():
    made = []

    def note(value):
        made.append(int(value))
        return value

    assert values(hr.Range(1000).map(note, "value").iterate(start=998)) == [998, 999]
    assert made == [998, 999]


def test_callbacks_see_what_is_given_alone():
    class Counts(hr.Callback):
        def __init__(self):
            self.seen = []

        def batch_begin(self, at):
            self.seen.append(at.batch)

    for ds in (hr.Range(12).batch(3), hr.Range(12).shuffle(4).batch(3)):
        counts = Counts()
        assert len(list(ds.iterate(start=2, callbacks=[counts]))) == 2
        assert counts.seen == [2, 3]


def test_a_wrong_start_is_refused():
    ds = hr.Range(3)
    with pytest.raises(hr.GraphError, match="start is -1; it must be at least 0"):
        ds.iterate(start=-1)
    with ds.iterate() as running, pytest.raises(hr.GraphError, match="give start or state, not both"):
        ds.iterate(start=1, state=running.state())


@pytest.mark.parametrize("name", EXACT)
def test_a_row_by_its_number_is_that_of_the_epoch(name):
    ds = EXACT[name].options()
    ds.epoch = 2
    whole = list(ds.iterate(epoch=2))
    for index in (0, 1, len(whole) - 1, -1, -len(whole), np.int64(1)):
        same([ds[index]], [whole[index]])
    for index in (len(whole), -len(whole) - 1):
        with pytest.raises(IndexError, match=rf"dataset\[{index}\]: the dataset has {len(whole)} rows in epoch 2"):
            ds[index]
    assert ds.epoch == 2


def test_the_options_of_the_dataset_hold():
    ds = hr.Range(10).batch(2).options(shard=(1, 2))
    assert ds[0]["value"].tolist() == [1, 3]


@pytest.mark.parametrize(
    ("name", "culprit"),
    [
        ("shuffle", "shuffle"),
        ("filter", "filter"),
        ("repeat", "repeat"),
        ("generator", "Generator"),
        ("unbatch", "unbatch"),
        ("batches of batches", "batch"),
    ],
)
def test_a_stream_names_the_operator(name, culprit):
    with pytest.raises(hr.UnsupportedError, match=rf"dataset\[0\]: .*\b{culprit}\b.*loop over the dataset"):
        REPLAYED[name][0]


def test_what_is_no_number_says_what_to_write():
    for index, advice in (
        ("x", 'row\\["x"\\]'),
        (slice(1, 3), r"select\(range\(1, 3\)\)"),
        (True, "select"),
        (1.5, "select"),
    ):
        with pytest.raises(TypeError, match=advice):
            hr.Range(3)[index]


def test_rows_of_a_batch_as_torch_asks_for_them():
    ds = hr.Range(10, shuffle=True)
    whole = values(ds.iterate(epoch=0))
    with pytest.warns(hr.PipelineWarning, match="write headrace.torch.Loader") as caught:
        rows = ds.__getitems__([2, 3, 4, 0, 9])
    assert [int(row["value"]) for row in rows] == [whole[i] for i in (2, 3, 4, 0, 9)]
    assert caught[0].filename.endswith("test_starts.py")


def test_len_names_the_operator_that_hides_it():
    with pytest.raises(TypeError, match=r"because of filter; count them in a loop"):
        len(hr.Range(5).filter(hr.col("value") < 3).batch(2))
    with pytest.raises(TypeError, match=r"endless: .* write repeat\(count\)"):
        len(hr.Range(5).repeat())
