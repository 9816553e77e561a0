"""Ranks divide the rows: each row comes once, whatever the number of ranks, even if it changes during an epoch."""

import collections
import functools
import pathlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import vision as V
from tests import example_plugins
from tests.recipes import compressed_lines, numbered_waves, objects, readings_of, recipes, samples, table
from tests.recipes import examples as examples_of
from tests.thinning import examples

bounded = settings(
    max_examples=examples(80), derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def values(dataset: hr.Dataset, column: str = "value", **options) -> list[int]:
    """The rows of all batches."""
    with dataset.iterate(**options) as iterator:
        return [number for row in iterator for number in np.atleast_1d(row[column]).tolist()]


def noisy(value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return value * 1000 + rng.integers(0, 1000)


def failing(recipe_text: str) -> bool:
    return "failing" in recipe_text


@bounded
@given(recipes().filter(lambda recipe: recipe.keeps_rows and not failing(recipe.text)), st.integers(2, 5))
def test_every_row_is_on_one_rank(recipe, world):
    whole = values(recipe.build(), epoch=1, seed=3)
    parts = [values(recipe.build(), epoch=1, seed=3, shard=(rank, world)) for rank in range(world)]
    assert collections.Counter(sum(parts, [])) == collections.Counter(whole)


INDEXED = {
    "Range": lambda count: hr.Range(count),
    "shuffled": lambda count: hr.Range(count, shuffle=True),
    "concat": lambda count: hr.Range(count - 5).concat(hr.Range(100, 105)),
    "taken": lambda count: hr.Range(count + 7, shuffle=True).skip(3).take(count),
    "mix": lambda count: hr.mix([hr.Range(count - 5, shuffle=True), hr.Range(100, 105)], [2, 1], stop="all"),
    "zip": lambda count: hr.Range(count).zip(hr.Numpy({"other": np.arange(100)}, shuffle=True)),
    "plugin source": lambda count: numbered_waves(count, shuffled=True),
    "JsonLines": lambda count: objects(count, index="build", shuffle=True),
    "Csv": lambda count: table(count, index="build", shuffle=True),
    "TFRecord": lambda count: examples_of(count, index="build", shuffle=True),
    "WebDataset": lambda count: samples(count, index="build", shuffle=True),
}
STREAMED = {
    "Generator": lambda count: hr.Generator(functools.partial(range_of, count), {"value": "int64"}),
    "mapped Generator": lambda count: hr.Generator(functools.partial(range_of, count), {"value": "int64"}).map(
        noisy, "value"
    ),
    "plugin format": lambda count: (
        example_plugins.gauge().Readings(readings_of(count), split_bytes=50).rename({"time": "value"})
    ),
    "objects of JSON": lambda count: objects(count, split_bytes=50),
    "compressed lines": lambda count: compressed_lines(count),
    "examples": lambda count: examples_of(count),
    "samples": lambda count: samples(count),
}
EXACT = INDEXED | STREAMED


def range_of(count: int, epoch: int) -> range:
    return iter(range(count))


@pytest.mark.parametrize("source", EXACT)
@pytest.mark.parametrize("world", [1, 2, 3, 7])
def test_a_rank_gets_every_so_manieth_row_with_the_same_content(source, world):
    build = EXACT[source]
    whole = values(build(23).map(noisy, "value"), epoch=2)
    for rank in range(world):
        part = values(build(23).map(noisy, "value"), epoch=2, shard=(rank, world))
        assert part == whole[rank::world]


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("world", [2, 3, 5, 40])
@pytest.mark.parametrize("source", INDEXED)
def test_even_makes_ranks_alike(source, world, size):
    dataset = INDEXED[source](23)
    whole = values(dataset, epoch=1)
    batched = dataset.batch(size)
    ranks = range(world)
    if world <= len(whole):
        dropped = [values(batched, epoch=1, shard=(rank, world), even="drop") for rank in ranks]
        kept = len(whole) // world
        assert dropped == [whole[rank : kept * world : world] for rank in ranks]
    padded = [list(batched.iterate(epoch=1, shard=(rank, world), even="pad")) for rank in ranks]
    shapes = [[len(batch["value"]) for batch in batches] for batches in padded]
    assert all(shape == shapes[0] for shape in shapes)
    rows = [
        [pair for batch in batches for pair in zip(batch["value"].tolist(), batch["_pad"].tolist(), strict=True)]
        for batches in padded
    ]
    turns = -(-len(whole) // world)
    for rank in ranks:
        positions = range(rank, turns * world, world)
        # Padding wraps to the start, and is marked.
        assert rows[rank] == [(whole[position % len(whole)], position >= len(whole)) for position in positions]


def test_padding_draws_anew():
    """A row that is repeated to pad a rank is not the same image twice."""
    images = np.random.default_rng(0).integers(0, 256, (3, 12, 12, 1), np.uint8)
    dataset = hr.Numpy({"image": images, "number": np.arange(3)}).map(V.RandomCrop(4), "image").batch(1)
    rows = [next(dataset.iterate(shard=(rank, 8), even="pad", seed=1)) for rank in range(8)]
    assert [int(row["number"][0]) for row in rows] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert [bool(row["_pad"][0]) for row in rows] == [False] * 3 + [True] * 5
    assert len({row["image"].tobytes() for row in rows}) == 8


@pytest.mark.parametrize("optimize", [True, False])
def test_padding_is_marked_once_for_two_users(optimize):
    numbers = hr.Range(5).batch(2).project(["value"])
    found = list(numbers.concat(numbers).iterate(shard=(1, 2), even="pad", optimize=optimize))
    assert [list(batch) for batch in found] == [["value", "_pad"]] * 4
    assert [batch["_pad"].tolist() for batch in found] == [[False, False], [True]] * 2


@pytest.mark.parametrize("optimize", [True, False])
def test_padding_is_marked_where_batches_are_zipped_with_themselves(optimize):
    numbers = hr.Range(5, shuffle=True).batch(2)
    pairs = numbers.zip(numbers.rename({"value": "again"}))
    for rank in range(2):
        plain = list(numbers.iterate(shard=(rank, 2), even="pad", optimize=optimize))
        found = list(pairs.iterate(shard=(rank, 2), even="pad", optimize=optimize))
        for batch, pair in zip(plain, found, strict=True):
            assert list(pair) == ["value", "_pad", "again"]
            assert pair["_pad"].tolist() == batch["_pad"].tolist()
            assert pair["value"].tolist() == pair["again"].tolist() == batch["value"].tolist()


@pytest.mark.parametrize("even", ["drop", "pad"])
@pytest.mark.parametrize("world", [1, 3])
def test_even_needs_a_known_number_of_rows(even, world, data: pathlib.Path):
    for dataset, culprit in [
        (hr.Range(9).filter(hr.col("value") > 2), "filter"),
        (hr.Text(str(data / "texts/*.txt")), "Text"),
        (hr.Generator(functools.partial(range_of, 9), "x"), "Generator"),
    ]:
        with pytest.raises(hr.UnsupportedError, match=f"even=.*{culprit}"):
            dataset.batch(2).iterate(shard=(0, world), even=even)


@pytest.mark.parametrize(
    ("dataset", "culprit"),
    [
        (hr.Range(9).zip(hr.Range(9).filter(hr.col("value") > 2).rename({"value": "b"})), "filter"),
        (hr.Range(9).shuffle(2).zip(hr.Range(9).rename({"value": "b"})), "shuffle"),
    ],
)
def test_zip_of_inputs_sharded_otherwise_is_refused(dataset, culprit):
    with pytest.raises(hr.UnsupportedError, match=f"zip with shards.*{culprit}"):
        dataset.iterate(shard=(0, 2))


# ---- another number of ranks after a restart ----


@st.composite
def restarts(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Numbers of ranks, each with the number of batches that every rank then reads."""
    return [(draw(st.integers(1, 5)), draw(st.integers(0, 3))) for _ in range(draw(st.integers(1, 3)))]


@bounded
@given(
    st.sampled_from(sorted(EXACT)),
    st.integers(1, 4),
    st.integers(5, 60),
    restarts(),
    st.integers(1, 5),
    st.sampled_from(["batch", "rows", "batch and map"]),
)
def test_restoring_with_other_ranks_loses_no_row(source, size, count, phases, last_world, shape):
    def build() -> hr.Dataset:
        dataset = EXACT[source](count).map(noisy, "value")
        if shape != "rows":
            dataset = dataset.batch(size)
        return dataset.map(lambda value: value + 1, "value") if shape == "batch and map" else dataset

    # A rank without a single row is an error of its own.
    if count < 5 * 3 * 4 * size:
        count = 5 * 3 * 4 * size + count
    whole = values(build(), epoch=1, seed=4)
    seen: list[int] = []
    states: list[bytes | None] = [None]
    for world, steps in phases:
        after = []
        for rank in range(world):
            state = states[rank % len(states)]
            run = {} if state is not None else {"epoch": 1, "seed": 4}
            with build().iterate(state=state, shard=(rank, world), **run) as iterator:
                for _ in range(steps):
                    seen += np.atleast_1d(next(iterator)["value"]).tolist()
                after.append(iterator.state())
        states = after
    for rank in range(last_world):
        state = states[rank % len(states)]
        run = {} if state is not None else {"epoch": 1, "seed": 4}
        seen += values(build(), shard=(rank, last_world), state=state, **run)
    assert sorted(seen) == sorted(whole)


@pytest.mark.parametrize("even", ["off", "pad", "drop"])
@pytest.mark.parametrize("last_world", [2, 3])
def test_a_finished_epoch_leaves_nothing_to_other_ranks(last_world, even):
    """A rank's last batch may have one row less than those of other ranks."""
    dataset = hr.Range(10).batch(2)
    for rank in range(3):
        with dataset.iterate(shard=(rank, 3), even=even) as iterator:
            for _ in range(2):
                next(iterator)
            state = iterator.state()
        for other in range(last_world):
            assert list(dataset.iterate(state=state, shard=(other, last_world), even=even)) == []


@pytest.mark.parametrize(
    ("dataset", "culprit"),
    [
        (hr.Range(40).filter(hr.col("value") > 2).batch(2), "filter"),
        (hr.Range(40).shuffle(3).batch(2), "shuffle"),
        (hr.Range(40).repeat(2).batch(2), "repeat"),
        (hr.Range(40).batch(2).unbatch(), "unbatch"),
        (hr.Range(40).map(noisy, "value").skip(2), "skip"),
        (hr.Range(40).map(noisy, "value").take(30), "take"),
        (hr.Range(40).batch(2).batch(2), "batch"),
    ],
)
def test_other_ranks_are_refused_where_the_number_of_batches_does_not_say_which_rows(dataset, culprit):
    with dataset.iterate(shard=(1, 2)) as iterator:
        next(iterator)
        state = iterator.state()
    assert list(dataset.iterate(state=state, shard=(1, 2)))
    for shard in [(0, 3), None, (0, 2)]:
        with pytest.raises(hr.StateError, match=rf"shard 1 of 2.*{culprit}\["):
            dataset.iterate(state=state, shard=shard)
