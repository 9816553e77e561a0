"""Parts of a dataset: chosen rows, splits and folds."""

import itertools
import json
import math

import numpy as np
import pytest
from conftest import values
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import _engine
from headrace import transforms as T

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def plain(rows, shuffle):
    return hr.Range(rows, shuffle=shuffle)


def mapped(rows, shuffle):
    return hr.Range(rows, shuffle=shuffle).map([T.TypeCast("float64"), T.TypeCast("int64")], "value")


def renamed(rows, shuffle):
    numbers = hr.Numpy({"number": np.arange(rows)}, shuffle=shuffle).rename({"number": "value"})
    return numbers.map(lambda x: x, "value").project("value")


def joined(rows, shuffle):
    return hr.Range(rows // 2).concat(hr.Range(rows // 2, rows + 3)).take(rows)


SOURCES = [plain, mapped, renamed, joined]


def read(dataset, **options):
    return [int(row["value"]) for row in dataset.iterate(**options)]


def read_ranks(dataset, world, epoch):
    """All ranks' rows, whatever each did before."""
    return [value for rank in range(world) for value in read(dataset, shard=(rank, world), epoch=epoch)]


fractions = st.lists(st.integers(1, 20), min_size=1, max_size=4).map(
    lambda parts: [each / sum(parts) for each in parts]
)


def ends(shares, rows):
    return [*(min(rows, math.floor(each * rows + 0.5)) for each in list(itertools.accumulate(shares))[:-1]), rows]


@quick
@given(st.sampled_from(SOURCES), st.integers(6, 60), st.booleans(), fractions, st.integers(0, 3), st.data())
def test_parts_of_a_split_are_disjoint_and_cover_all(source, rows, shuffle, shares, seed, data):
    borders = [0, *ends(shares, rows)]
    sizes = [end - begin for begin, end in itertools.pairwise(borders)]
    parts = source(rows, shuffle).split(shares, seed)
    assert len(parts) == len(shares)
    if 0 in sizes:
        with pytest.raises(hr.GraphError, match=f"part {sizes.index(0)} would be empty"):
            len(parts[0])
        return
    assert [len(part) for part in parts] == sizes
    seen = []
    for part in parts:
        world = data.draw(st.integers(1, min(3, len(part))))
        seen += read_ranks(part, world, data.draw(st.integers(0, 5)))
    assert sorted(seen) == list(range(rows))


@quick
@given(st.sampled_from(SOURCES), st.integers(2, 40), st.booleans(), st.integers(2, 6), st.integers(0, 3), st.data())
def test_every_row_is_held_out_once(source, rows, shuffle, k, seed, data):
    pairs = source(rows, shuffle).kfold(k, seed)
    assert len(pairs) == k
    if rows < k:
        with pytest.raises(hr.GraphError, match=f"k is {k}, but there are {rows} rows"):
            len(pairs[0][0])
        return
    held_out = []
    for fold, (train, validation) in enumerate(pairs):
        assert len(validation) == (fold + 1) * rows // k - fold * rows // k
        first, second = read(train, epoch=data.draw(st.integers(0, 3))), read(validation)
        assert sorted(first + second) == list(range(rows))
        held_out += second
    assert sorted(held_out) == list(range(rows))


@quick
@given(st.sampled_from(SOURCES), st.integers(1, 30), st.booleans(), st.data())
def test_select_gives_the_rows_with_those_numbers(source, rows, shuffle, data):
    indices = data.draw(st.lists(st.integers(0, rows - 1), max_size=20))
    shuffle = shuffle and source is not joined
    found = read(source(rows, shuffle).select(indices), epoch=data.draw(st.integers(0, 3)))
    assert sorted(found) == sorted(indices) if shuffle else found == indices
    assert len(source(rows, shuffle).select(indices)) == len(indices)


def test_parts_keep_the_order_of_their_source():
    train, validation = hr.Range(50).split([0.8, 0.2])
    assert values(train) == sorted(values(train)) and values(validation) == sorted(values(validation))
    shuffled, _ = hr.Range(50, shuffle=True).split([0.8, 0.2])
    assert values(shuffled) != sorted(values(shuffled))
    assert set(values(shuffled)) == set(values(train))
    assert read(shuffled, epoch=1) != read(shuffled, epoch=0)


def test_members_depend_on_the_seed_and_the_number_of_rows_alone():
    train, _ = hr.Range(50).split([0.8, 0.2])
    assert read(train, seed=5, epoch=3) == values(hr.Numpy({"value": np.arange(50)}).split([0.8, 0.2])[0])
    assert values(train) != values(hr.Range(50).split([0.8, 0.2], seed=1)[0])


def test_parts_of_parts():
    train, rest = hr.Range(40, shuffle=True).map(T.TypeCast("int32"), "value").split([0.5, 0.5])
    validation, test = rest.split([0.5, 0.5])
    assert sorted(values(train) + values(validation) + values(test)) == list(range(40))
    assert sorted(values(rest.select([0, 1]))) == sorted(values(hr.Range(40).split([0.5, 0.5])[1]))[:2]


def test_only_chosen_rows_are_read():
    called = []

    def note(value):
        called.append(int(value))
        return value

    chosen = hr.Range(30, shuffle=True).map(note, "value").select(range(5, 8))
    assert sorted(values(chosen)) == [5, 6, 7]
    assert set(called) == {5, 6, 7}


def test_a_part_goes_on_from_its_state():
    part = hr.Range(60, shuffle=True).map(T.TypeCast("int32"), "value").split([0.5, 0.5])[0].batch(4)
    whole = [batch["value"].tolist() for batch in part.iterate(epoch=1)]
    with part.iterate(epoch=1) as batches:
        next(batches)
        state = batches.state()
    assert [batch["value"].tolist() for batch in part.iterate(state=state)] == whole[1:]
    other = hr.Range(60, shuffle=True).map(T.TypeCast("int32"), "value").split([0.5, 0.5])[1].batch(4)
    with pytest.raises(hr.StateError, match="another pipeline"):
        other.iterate(state=state)


def test_a_saved_part_is_the_same(tmp_path):
    part = hr.Range(20, shuffle=True, seed=4, name="rows").map(T.TypeCast("int32"), "value").kfold(4)[2][1]
    part.save(tmp_path / "part.hrg")
    loaded = hr.load(tmp_path / "part.hrg")
    assert values(loaded) == values(part)
    assert repr(loaded).startswith("<headrace.Dataset Range → kfold → map, ")


@pytest.mark.parametrize(
    "indices",
    [[2, 0, 2], (2, 0, 2), np.array([2, 0, 2]), np.array([2, 0, 2], np.uint8), iter([2, 0, 2]), [np.int64(2), 0, 2]],
)
def test_indices_may_be(indices):
    assert values(hr.Range(4).select(indices)) == [2, 0, 2]


def test_subset_is_the_name_in_torch():
    assert values(hr.Subset(hr.Range(9), np.array([], int))) == []
    assert values(hr.Subset(hr.Range(9), range(7, 9))) == [7, 8]
    with pytest.raises(hr.GraphError, match=r"Subset: the dataset is \[1, 2\]"):
        hr.Subset([1, 2], [0])


@pytest.mark.parametrize(
    ("indices", "why"),
    [
        ([0, -1], r"indices\[1\] is -1; it must be at least 0"),
        (np.array([3, -2]), r"indices\[1\] is -2; it must be at least 0"),
        ([0, 1.5], r"indices\[1\] is 1.5; it must be a whole number"),
        (np.array([0.0, 1.0]), "an array of float64 of shape"),
        (np.zeros((2, 2), int), r"int64 of shape \(2, 2\); it must be whole numbers along one axis"),
        (np.array([True, False]), r"indices is a mask; give the numbers of rows: numpy.flatnonzero\(mask\)"),
        ([True], "not a mask"),
        (3, r"indices is 3; give the numbers of rows, such as \[0, 2, 5\]"),
        ("12", "indices is '12'; give the numbers of rows"),
        ([2**63], "indices.0. is 9223372036854775808; it must be below"),
        (np.array([2**63], np.uint64), "indices.0. is .*9223372036854775808.*; it must be below"),
    ],
)
def test_indices_that_are_none(indices, why):
    with pytest.raises(hr.GraphError, match=why):
        hr.Range(4).select(indices)


def test_indices_beyond_the_rows():
    with pytest.raises(hr.GraphError, match=r"indices\[1\] is 4, but there are 4 rows, numbered from 0") as caught:
        list(hr.Range(4).select([3, 4]))
    assert caught.value.operator == "select[1]"
    assert "test_parts.py" in caught.value.location


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        ([0.5, 0.4], r"fractions are \[0.5, 0.4\]; they must sum to 1, not 0.9"),
        ([0.7, 0.2], r"fractions are \[0.7, 0.2\]; they must sum to 1, not 0.9$"),
        ((0.7, 1), r"fractions are \[0.7, 1\]; they must sum to 1, not 1.7; counts of rows are whole"),
        ([80, 20.5], "must sum to 1, not 100.5; counts of rows are whole numbers above 0"),
        ([True, True], r"fractions\[0\] is True; it must be a number above 0"),
        ([], "must sum to 1"),
        ([1.5, -0.5], r"fractions\[1\] is -0.5; it must be a number above 0"),
        ([1.0, 0], r"fractions\[1\] is 0"),
        ([float("nan")], "is nan"),
        (["1"], "is '1'"),
        (0.8, r"fractions is 0.8; give one for each part, such as \[0.8, 0.2\]"),
        (np.array(0.8), r"fractions is array\(0.8\); give one for each part"),
    ],
)
def test_fractions_that_are_none(shares, why):
    with pytest.raises(hr.GraphError, match=why):
        hr.Range(10).split(shares)


@pytest.mark.parametrize("counts", [[6, 1, 3], (6, 1, 3), np.array([6, 1, 3]), iter([6, 1, 3])])
def test_a_split_by_counts(counts):
    parts = hr.Range(10).split(counts)
    assert [len(part) for part in parts] == [6, 1, 3]
    assert sorted(sum((values(part) for part in parts), [])) == list(range(10))
    # The members of fractions that come to the same numbers.
    assert values(parts[0]) == values(hr.Range(10).split([0.6, 0.1, 0.3])[0])


def test_counts_that_are_not_all_rows():
    for counts in ([6, 3], [6, 5], [11]):
        with pytest.raises(hr.GraphError, match=f"sum to {sum(counts)}, and there are 10 rows; they must sum to all"):
            hr.Range(10).split(counts)
    with pytest.raises(hr.GraphError, match="split: counts of rows need a dataset whose length is known"):
        hr.Range(10).filter(hr.col("value") < 5).split([2, 3])
    assert values(hr.Range(10).split([1])[0]) == list(range(10))
    for rows in (7, 1001, 99_991):
        counts = [1, rows // 3, rows - 1 - rows // 3]
        assert [len(part) for part in hr.Range(rows).split(counts)] == counts


def test_other_arguments():
    with pytest.raises(hr.GraphError, match="split: seed is 'x'"):
        hr.Range(10).split([1.0], seed="x")
    with pytest.raises(hr.GraphError, match="kfold: k is 1; it must be at least 2"):
        hr.Range(10).kfold(1)


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda: hr.Range(9).filter(hr.col("value") > 3), "put it below filter"),
        (lambda: hr.Range(9).shuffle(3), "put it below shuffle"),
        (lambda: hr.Range(9).batch(3), "put it below batch"),
        (lambda: hr.Generator(lambda: iter(range(3)), "value"), "Generator .* gives its rows one after the other"),
        (lambda: hr.Range(9, shuffle=True).take(5), "take .* gives other rows in each epoch"),
        (lambda: hr.Range(9, shuffle=True).concat(hr.Range(3)), "concat .* gives other rows in each epoch"),
        (
            lambda: hr.Range(9, shuffle=True).zip(hr.Range(9).rename({"value": "b"}).project("b")),
            "put it below zip",
        ),
    ],
)
def test_where_rows_have_no_numbers(build, why):
    for part in (build().select([0]), build().split([0.5, 0.5])[1], build().kfold(2)[0][0]):
        with pytest.raises(hr.GraphError, match=why):
            len(part)


# ---- salts ----


def crops(dataset):
    return [np.asarray(row["x"]).tolist() for row in dataset]


def noise(x, rng):
    return x + rng.integers(0, 1000)


def other_noise(x, rng):
    return x


IMAGES = {"x": np.arange(10 * 8 * 8 * 1, dtype=np.int64).reshape(10, 8, 8, 1)}


def test_another_augmentation_leaves_the_draws_as_they_were():
    from headrace import vision as V

    plain = hr.Numpy(IMAGES, shuffle=True).map(V.RandomCrop(3), "x")
    more = hr.Numpy(IMAGES, shuffle=True).map([V.RandomHorizontalFlip(0.0), V.RandomCrop(3)], "x").shuffle(1)
    assert crops(plain) == crops(more)
    twice = hr.Numpy(IMAGES, shuffle=True).map([V.RandomCrop(8), V.RandomCrop(3)], "x")
    assert crops(plain) != crops(twice)


def test_a_name_pins_the_draws():
    from headrace import vision as V

    named = hr.Numpy(IMAGES).map(V.RandomCrop(3, name="crop"), "x")
    twice = hr.Numpy(IMAGES).map([V.RandomCrop(8), V.RandomCrop(3, name="crop")], "x")
    assert crops(named) == crops(twice)
    assert crops(named) != crops(hr.Numpy(IMAGES).map(V.RandomCrop(3, name="other"), "x"))
    first, second = (hr.Range(30, shuffle=True, name=name) for name in ("a", "b"))
    assert read(first) != read(second)
    assert read(second) == read(hr.Numpy({"value": np.arange(30)}, shuffle=True, name="b"))
    assert values(hr.Range(30).shuffle(9, name="a")) != values(hr.Range(30).shuffle(9))


def test_a_name_given_twice_is_refused():
    from headrace import vision as V

    crop = V.RandomCrop(3, name="crop")
    with pytest.raises(
        hr.GraphError, match='has the name "crop", which map RandomCrop .* has, too: both would draw the same'
    ):
        _ = hr.Numpy(IMAGES).map(crop, "x").map(crop, "x").schema
    with pytest.raises(hr.GraphError, match='has the name "a"'):
        len(hr.Range(3, shuffle=True, name="a").shuffle(2, name="a"))
    both = hr.Numpy({**IMAGES, "y": IMAGES["x"]}).map(crop, ["x", "y"])
    assert all(np.array_equal(row["x"], row["y"]) for row in both)


def test_an_order_is_an_operator_of_the_canonical_graph():
    nodes = json.loads(hr.Range(5, shuffle=True).map(noise, "value").take(2).to_json())["nodes"]
    assert [node["op"] for node in nodes] == ["Range", "permute", "map", "take"]
    plan = hr.Range(5, shuffle=True).map(noise, "value").batch(2).explain()
    assert "Range[0]" in plan and "map[1]" in plan and "batch[2]" in plan and "permute" not in plan
    declared = {each["name"]: each for each in json.loads(_engine.declarations())["operators"]}
    assert declared["permute"]["python_module"] == "internal"


# ---- take and skip of one shuffled dataset ----


def run(dataset, epoch):
    return read(dataset, epoch=epoch)


def test_take_and_skip_that_overlap_are_warned_of_once(recwarn):
    rows = hr.Range(10, shuffle=True).map(T.TypeCast("int32"), "value")
    train, validation = rows.take(8).map(T.TypeCast("int64"), "value"), rows.skip(8)
    run(train, 0)
    run(validation, 0)
    assert not recwarn.list, "one epoch gives each row to one of them"
    run(train, 1)
    run(validation, 1)
    (warning,) = recwarn.list
    assert "split([0.8, 0.2])" in str(warning.message) and "take(count=8)" in str(warning.message)
    assert warning.filename.endswith("test_parts.py")


@pytest.mark.parametrize(
    "cut",
    [
        lambda: (hr.Range(10).take(8), hr.Range(10).skip(8)),
        lambda: (lambda rows: (rows.take(8), rows.skip(8)))(hr.Range(10)),
        lambda: (lambda rows: (rows.take(8), rows.skip(7)))(hr.Range(10, shuffle=True)),
        lambda: (lambda rows: (rows.take(3), rows.take(8)))(hr.Range(10, shuffle=True)),
        lambda: (lambda rows: (rows.skip(3).concat(rows.take(3)), rows))(hr.Range(10, shuffle=True)),
        lambda: hr.Range(10, shuffle=True).split([0.8, 0.2]),
    ],
)
def test_other_takes_and_skips_are_not_warned_of(cut, recwarn):
    one, other = cut()
    for epoch in range(2):
        run(one, epoch)
        run(other, epoch)
    assert not recwarn.list
