"""Groups of P classes and K rows: they stay together on their way into a batch, on every rank and after a restart."""

import numpy as np
import pytest
from conftest import read_bytes, state_after
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import vision as V

quick = settings(max_examples=40, deadline=None, derandomize=True, database=None)
LABELS = [number % 5 for number in range(40)]


def grouped(classes=2, samples=3, groups=None, rows=40):
    return hr.Range(rows).sample(hr.PK(classes, samples, LABELS[:rows], groups))


def batches(dataset, **options):
    return [batch["value"].tolist() for batch in dataset.iterate(**options)]


@quick
@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 9), st.integers(1, 3), st.integers(1, 4), st.data())
def test_no_group_is_cut_on_any_rank_or_after_a_restart(classes, samples, groups, joined, world, data):
    length = classes * samples
    dataset = grouped(classes, samples, groups).batch(length * joined)
    whole = sum(batches(dataset), [])
    expected = {tuple(whole[i : i + length]) for i in range(0, len(whole), length)}
    seen = []
    steps = data.draw(st.integers(0, groups // joined // world))
    for rank in range(world):
        with dataset.iterate(shard=(rank, world)) as iterator:
            seen += [next(iterator)["value"].tolist() for _ in range(steps)]
            state = iterator.state()
    others = data.draw(st.integers(1, 4))
    for rank in range(others):
        seen += batches(dataset, state=state, shard=(rank, others))
    for batch in seen:
        assert all(tuple(batch[i : i + length]) in expected for i in range(0, len(batch), length))
    assert sorted(sum(seen, [])) == sorted(whole)


@pytest.mark.parametrize(("world", "others"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 4), (6, 1), (1, 2)])
def test_a_state_within_a_group_fits_its_own_shard_alone(world, others):
    dataset = grouped(groups=6)
    whole = [int(row["value"]) for row in dataset]
    for given_rows in range(36 // world // 6 * 6 + 1):
        seen, states = [], []
        for rank in range(world):
            with dataset.iterate(epoch=0, shard=(rank, world)) as iterator:
                seen += [int(next(iterator)["value"]) for _ in range(given_rows)]
                states.append(iterator.state())
        own = [int(row["value"]) for row in dataset.iterate(epoch=0, shard=(0, world))]
        assert [int(row["value"]) for row in dataset.iterate(state=states[0], shard=(0, world))] == own[given_rows:]
        for rank in range(others):
            if (rank, others) == (0, world) and given_rows % 6:
                continue
            if given_rows % 6:
                with pytest.raises(hr.StateError, match="within a group of 6 rows, which stay together"):
                    dataset.iterate(state=states[0], shard=(rank, others))
            else:
                seen += [int(row["value"]) for row in dataset.iterate(state=states[0], shard=(rank, others))]
        if given_rows % 6 == 0:
            assert sorted(seen) == sorted(whole)


def test_rank_r_gets_the_groups_r_and_so_on():
    dataset = grouped(groups=7).map(lambda value: value + 0, "value").batch(6)
    whole = batches(dataset)
    for even, expected in (("off", [3, 2, 2]), ("drop", [2, 2, 2]), ("pad", [3, 3, 3])):
        ranks = [batches(dataset, shard=(rank, 3), even=even) for rank in range(3)]
        assert [len(rank) for rank in ranks] == expected
        assert all(rank[:2] == whole[number::3][:2] for number, rank in enumerate(ranks))
    assert "rows are sharded here in groups of 6: shard 1 of 3" in dataset.options(shard=(1, 3)).explain()


def test_take_skip_and_concat_keep_groups_whole():
    dataset = grouped(groups=5)
    whole = batches(dataset.batch(6))
    assert batches(dataset.skip(6).take(12).batch(6)) == whole[1:3]
    assert batches(dataset.concat(grouped(3, 2, groups=1)).batch(6))[:5] == whole
    assert len(dataset.take(99)) == 30


def plus(value):
    return value + 100


def draws(value, rng):
    return value + 100 * rng.integers(1, 99)


MAPPED = {
    "take": lambda rows, map_it: map_it(rows).take(18),
    "skip": lambda rows, map_it: map_it(rows).skip(12),
    "both, and a map between": lambda rows, map_it: map_it(rows).skip(6).project("value").take(18),
}
BELOW = {
    "take": lambda rows: rows.take(18),
    "skip": lambda rows: rows.skip(12),
    "both, and a map between": lambda rows: rows.skip(6).take(18),
}


@pytest.mark.parametrize("name", sorted(MAPPED))
def test_maps_may_stand_anywhere_between_groups_and_batch(name):
    rows = grouped(groups=7)
    expected_rows = BELOW[name](rows).batch(6)
    dataset = MAPPED[name](rows, lambda below: below.map(plus, "value")).batch(6)
    assert len(dataset) == len(expected_rows)
    for world in (1, 2, 3):
        for rank in range(world):
            for even in ("off", "drop", "pad"):
                shard = {"shard": (rank, world), "even": even, "epoch": 1}
                expected = [[value + 100 for value in batch] for batch in batches(expected_rows, **shard)]
                for optimize in (True, False):
                    assert batches(dataset, optimize=optimize, **shard) == expected
    for steps in range(len(dataset)):
        with dataset.iterate(epoch=1) as iterator:
            seen = [next(iterator)["value"].tolist() for _ in range(steps)]
            state = iterator.state()
        whole = batches(dataset, epoch=1)
        assert seen + batches(dataset, state=state) == whole
        others = [batches(dataset, state=state, shard=(rank, 2)) for rank in range(2)]
        assert sorted(others[0] + others[1]) == sorted(whole[steps:])


def dealt(groups, rank, world, even):
    """What a rank gets of the groups of one input."""
    rounds = {"off": len(groups[rank::world]), "drop": len(groups) // world, "pad": -(-len(groups) // world)}[even]
    return [groups[(rank + number * world) % len(groups)] for number in range(rounds)] if groups else []


@st.composite
def inputs_of_a_concat(draw):
    """The length of groups, data sets of such, some with maps, with the groups that each gives, and whether any has maps."""
    length = draw(st.sampled_from([1, 2, 4, 6]))
    joined = []
    mapped = False
    for number in range(draw(st.integers(2, 3))):
        classes = draw(st.sampled_from([each for each in range(1, 6) if length % each == 0]))
        # With a name, it draws the same by itself as among others.
        sampler = hr.PK(classes, length // classes, LABELS, draw(st.integers(1, 7)), name=f"groups {number}")
        rows = hr.Range(40).sample(sampler)
        rows = rows.skip(length * draw(st.integers(0, 2))).take(length * draw(st.integers(1, 6)))
        values = [int(row["value"]) for row in rows]
        for maps in range(draw(st.integers(0, 2))):
            added = 100 * number + 1000 * maps
            rows = rows.map(adding(added), "value").project("value")
            values = [value + added for value in values]
            mapped = True
        joined.append((rows, [values[i : i + length] for i in range(0, len(values), length)]))
    return length, joined, mapped


def adding(number):
    return lambda value: value + number


@quick
@given(inputs_of_a_concat(), st.integers(1, 3), st.integers(1, 4), st.sampled_from(["off", "drop", "pad"]), st.data())
def test_concat_above_maps_keeps_groups_whole_on_every_rank(inputs, of_batch, world, even, data):
    length, joined, mapped = inputs
    dataset = joined[0][0]
    for rows, _ in joined[1:]:
        dataset = dataset.concat(rows)
    skipped, taken = (data.draw(st.integers(0, 9)) for _ in range(2)) if mapped else (0, 99)
    dataset = dataset.skip(length * skipped).take(length * taken).batch(length * of_batch)
    for rank in range(world):
        groups = sum((dealt(each, rank, world, even) for _, each in joined), [])
        if not mapped:
            groups = dealt(sum((each for _, each in joined), []), rank, world, even)
        values = sum(groups[skipped:][:taken], [])
        expected = [values[i : i + length * of_batch] for i in range(0, len(values), length * of_batch)]
        shard = {"shard": (rank, world), "even": even, "epoch": 0}
        for optimize in (True, False):
            assert batches(dataset, optimize=optimize, **shard) == expected
        for steps in range(len(expected) + 1):
            state = state_after(dataset, steps, **shard)
            assert batches(dataset, state=state, shard=(rank, world)) == expected[steps:]


def test_the_plan_shows_where_the_groups_of_each_input_are_dealt():
    dataset = grouped(groups=5).map(plus, "value").concat(grouped(3, 2).map(draws, "value")).batch(12)
    assert dataset.options(shard=(1, 3)).explain().count("rows are sharded here in groups of 6: shard 1 of 3") == 2
    with pytest.raises(
        hr.StateError, match=r"with concat\[8\] the number of batches does not say which rows were seen"
    ):
        dataset.iterate(state=state_after(dataset, 1, shard=(0, 2)), shard=(0, 3))


def test_columns_are_renamed_above_the_maps():
    dataset = grouped(groups=5).map(plus, "value").rename({"value": "x"}).take(12).batch(6)
    assert [batch["x"].tolist() for batch in dataset] == [
        [value + 100 for value in batch] for batch in batches(grouped(groups=5).batch(6))[:2]
    ]


def test_draws_are_those_of_the_rows_wherever_maps_stand():
    rows = grouped(groups=7)
    below = rows.skip(6).take(18).map(draws, "value").batch(6)
    for above in (
        rows.map(draws, "value").skip(6).take(18),
        rows.skip(6).map(draws, "value").take(18),
        rows.map(draws, "value").map(abs, "value").skip(6).map(abs, "value").take(18),
    ):
        for rank in range(2):
            assert batches(above.batch(6), shard=(rank, 2)) == batches(below, shard=(rank, 2))


def test_a_cache_may_stand_among_the_maps():
    rows = grouped(groups=7)
    below = rows.skip(6).take(18).map(draws, "value").cache("1MiB").batch(6)
    above = rows.map(draws, "value").cache("1MiB").skip(6).take(18).batch(6)
    for rank in range(2):
        for epoch in range(3):
            expected = batches(below, shard=(rank, 2), epoch=epoch)
            assert batches(above, shard=(rank, 2), epoch=epoch) == expected
    assert batches(above, epoch=0) == batches(above, epoch=1)


def test_rows_that_fail_below_take_shorten_their_batch():
    rows = grouped(groups=20)
    failing = rows.map(some_fail, "value").skip(12).take(84).on_error("skip").batch(12)
    whole = batches(rows.skip(12).take(84).batch(12))
    expected = [[value for value in pair if value % 7 != 3] for pair in whole]
    assert batches(failing) == expected and min(map(len, expected)) < 12
    for steps in range(len(expected)):
        state = state_after(failing, steps, epoch=0)
        assert batches(failing, state=state) == expected[steps:]


def some_fail(value):
    if value % 7 == 3:
        raise ValueError(value)
    return value


def few_fail(value):
    if value % 31 == 3:
        raise ValueError(value)
    return value


def test_rows_that_fail_below_concat_shorten_their_batch():
    rows = grouped(groups=20)
    failing = rows.map(some_fail, "value").concat(rows.map(plus, "value")).on_error("skip").batch(6)
    whole = batches(rows.batch(6))
    expected = [[value for value in group if value % 7 != 3] for group in whole]
    expected = [group for group in expected if group] + [[value + 100 for value in group] for group in whole]
    assert batches(failing) == expected
    for steps in range(0, len(expected), 3):
        state = state_after(failing, steps, epoch=0)
        assert batches(failing, state=state) == expected[steps:]


def test_a_batch_in_which_rows_fail_is_given_shorter():
    dataset = grouped(groups=20)
    whole = batches(dataset.batch(6))
    failing = dataset.map(some_fail, "value").on_error("skip").batch(6)
    expected = [[value for value in group if value % 7 != 3] for group in whole]
    expected = [group for group in expected if group]
    assert batches(failing) == expected and min(map(len, expected)) < 6
    for steps in range(len(expected)):
        state = state_after(failing, steps, epoch=0)
        assert batches(failing, state=state) == expected[steps:]


def test_a_batch_of_several_groups_in_which_rows_fail_is_given_shorter():
    dataset = grouped(groups=20)
    whole = batches(dataset.batch(12))
    expected = [[value for value in pair if value % 7 != 3] for pair in whole]
    failing = dataset.map(some_fail, "value").on_error("skip").batch(12)
    assert batches(failing) == expected and min(map(len, expected)) < 12
    for steps in range(len(expected)):
        state = state_after(failing, steps, epoch=0)
        assert batches(failing, state=state) == expected[steps:]


@pytest.mark.parametrize("joined", [1, 2])
def test_shorter_batches_are_left_out_with_the_remainder(joined):
    dataset = grouped(groups=21)
    size = 6 * joined
    whole = [batch for batch in batches(dataset.batch(size)) if len(batch) == size]
    expected = [batch for batch in whole if all(value % 31 != 3 for value in batch)]
    failing = dataset.map(few_fail, "value").on_error("skip").batch(size, drop_remainder=True)
    assert batches(failing) == expected and 0 < len(expected) < len(whole)
    for steps in range(len(expected)):
        state = state_after(failing, steps, epoch=0)
        assert batches(failing, state=state) == expected[steps:]
    shapes = {batch["value"].shape for batch in failing}
    assert shapes == {(size,)}, "as the schema says"


@pytest.mark.parametrize("joined", [1, 2])
@pytest.mark.parametrize("drop_remainder", [False, True])
def test_even_pad_fills_the_places_of_rows_that_fail(joined, drop_remainder):
    dataset = grouped(groups=24)
    size = 6 * joined
    failing = dataset.map(some_fail, "value").on_error("skip").batch(size, drop_remainder=drop_remainder)
    for rank in range(2):
        whole = batches(dataset.batch(size), shard=(rank, 2))
        given_batches = list(failing.iterate(shard=(rank, 2), even="pad"))
        assert len(given_batches) == len(whole)
        for batch, expected in zip(given_batches, whole, strict=True):
            assert batch["value"].shape == (size,)
            assert batch["value"][~batch["_pad"]].tolist() == [value for value in expected if value % 7 != 3]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: grouped().filter(hr.col("value") > 2).batch(6),
            r"(?s)does not keep rows together.*put it after batch.*in: filter\[3\]",
        ),
        (lambda: grouped().shuffle(4).batch(6), r"(?s)does not keep rows together.*in: shuffle\[3\]"),
        (
            lambda: grouped().map(plus, "value").take(7).batch(6),
            r"(?s)count of 7 rows, which would cut the groups of 6.*in: take\[4\]",
        ),
        (
            lambda: grouped().map(plus, "value").concat(grouped(2, 2).map(plus, "value")).batch(12),
            r"(?s)groups of 6 with one of groups of 4; concat after batch.*in: concat\[8\]",
        ),
        (
            lambda: grouped().map(plus, "value").concat(hr.Range(6)).batch(6),
            "groups of 6 with one that has no groups",
        ),
        (
            lambda: grouped().concat(grouped().map(draws, "value")).take(7).batch(6),
            r"(?s)count of 7 rows, which would cut the groups of 6.*in: take\[8\]",
        ),
        (
            lambda: grouped().concat(grouped().map(plus, "value")).batch(8),
            "has 8 rows, which would cut the groups of 6",
        ),
        (lambda: grouped().repeat(2).batch(6), r"(?s)does not keep rows together.*in: repeat\[3\]"),
        (lambda: grouped().flat_map(lambda value: [value], "value").batch(6), "does not keep rows together"),
        (lambda: grouped().sample(hr.Repeated(2)).batch(6), r"(?s)does not keep rows together.*in: Repeated\[3\]"),
        (lambda: grouped().take(7).batch(6), "count of 7 rows, which would cut the groups of 6"),
        (lambda: grouped().skip(5).batch(6), "count of 5 rows, which would cut the groups of 6"),
        (lambda: grouped().batch(8), "has 8 rows, which would cut the groups of 6"),
        (lambda: grouped().batch(3), "has 3 rows, which would cut the groups of 6"),
        (lambda: grouped().concat(grouped(2, 2)).batch(12), "groups of 6 with one of groups of 4"),
        (lambda: grouped().concat(hr.Range(6)).batch(6), "groups of 6 with one that has no groups"),
        (
            lambda: hr.Numpy({"x": np.arange(40)}).zip(grouped()).batch(6),
            "rows stay together in groups of 6, but the rows beside them do not",
        ),
        (lambda: grouped(6, 1), "groups of 6 different classes, but there are 5"),
        (lambda: grouped(5, 9), "has 40 rows, fewer than a group of 45"),
        (lambda: grouped(groups=0), "groups is 0; it must be at least 1"),
    ],
)
def test_what_would_cut_a_group_is_refused(make, message):
    with pytest.raises(hr.GraphError, match=message):
        make().iterate()


def test_labels_come_from_the_listing_and_no_image_is_read_for_them(tmp_path):
    for name in ("cat", "dog", "owl"):
        (tmp_path / name).mkdir()
        for number in range(4):
            (tmp_path / name / f"{number}.jpg").write_bytes(bytes(100_000))
    images = hr.ImageFolder(tmp_path, shuffle=True).sample(hr.PK(2, 2, groups=10))
    labels = images.project(["label"]).batch(4)
    list(labels)
    before = read_bytes()
    assert len(images) == 40
    for batch in labels:
        first, second, third, fourth = batch["label"].tolist()
        assert first == second != third == fourth
    assert read_bytes() - before < 100_000
    with pytest.raises(hr.DataError):
        next(iter(images.map(V.Decode(), "image")))
