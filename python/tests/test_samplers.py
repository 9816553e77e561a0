"""Samplers: `ds.sample`, what it refuses, and what it promises over ranks and restarts."""

import collections
import pathlib
import re

import numpy as np
import pytest
from conftest import values
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)

SAMPLERS = {
    "weighted": lambda rows: hr.Weighted(np.arange(1, rows + 1), n=2 * rows),
    "weighted without replacement": lambda rows: hr.Weighted([1.5] * rows, n=rows - 1, replacement=False),
    "class balanced": lambda rows: hr.ClassBalanced([number % 3 for number in range(rows)]),
    "class balanced texts": lambda rows: hr.ClassBalanced(["ab"[number % 2] for number in range(rows)], n=3 * rows),
    "repeated": lambda rows: hr.Repeated(3),
}


def read(dataset, **options):
    return [int(row["value"]) for row in dataset.iterate(**options)]


@quick
@given(st.sampled_from(sorted(SAMPLERS)), st.integers(2, 40), st.integers(1, 4), st.integers(0, 3), st.data())
def test_ranks_share_one_order_and_go_on_at_any_row(name, rows, world, epoch, data):
    dataset = hr.Range(rows).sample(SAMPLERS[name](rows)).map(lambda x, rng: x + 1000 * rng.integers(99), "value")
    whole = read(dataset, epoch=epoch)
    assert len(whole) == len(dataset)
    for rank in range(world):
        assert read(dataset, epoch=epoch, shard=(rank, world)) == whole[rank::world]
    steps = data.draw(st.integers(0, len(whole) // world))
    seen = []
    for rank in range(world):
        with dataset.iterate(epoch=epoch, shard=(rank, world)) as iterator:
            seen += [int(next(iterator)["value"]) for _ in range(steps)]
            state = iterator.state()
    # The rest, on another number of ranks.
    others = data.draw(st.integers(1, 4))
    for rank in range(others):
        seen += read(dataset, state=state, shard=(rank, others))
    assert sorted(seen) == sorted(whole)


def test_each_epoch_draws_anew_and_again_the_same():
    for name in ("weighted", "class balanced", "weighted without replacement"):
        dataset = hr.Range(30).sample(SAMPLERS[name](30))
        assert read(dataset, epoch=1) == read(dataset, epoch=1) != read(dataset, epoch=2)
        assert read(dataset, seed=1) != read(dataset, seed=2)
        assert list(values(dataset)) == read(dataset, epoch=0)
        assert list(values(dataset)) == read(dataset, epoch=1), "the engine goes on"


def read_bytes():
    """What this process has read so far."""
    return int(re.search(r"rchar: (\d+)", pathlib.Path("/proc/self/io").read_text()).group(1))


def test_labels_come_from_the_listing_and_no_picture_is_read_for_them(tmp_path):
    for name, count in (("cat", 30), ("dog", 2), ("owl", 1)):
        (tmp_path / name).mkdir()
        for number in range(count):
            (tmp_path / name / f"{number}.jpg").write_bytes(bytes(100_000))
    labels = hr.ImageFolder(tmp_path).sample(hr.ClassBalanced("label", n=3000)).project(["label"])
    list(labels)
    before = read_bytes()
    counts = collections.Counter(int(row["label"]) for row in labels)
    assert read_bytes() - before < 100_000
    assert all(850 < counts[label] < 1150 for label in range(3))
    pictures = hr.ImageFolder(tmp_path).sample(hr.ClassBalanced("label", n=3))
    before = read_bytes()
    assert len(list(pictures.iterate())) == 3
    assert 300_000 <= read_bytes() - before < 1_000_000


def test_a_sampler_stands_above_maps_and_shuffles_too(photos):
    pictures = hr.ImageFolder(photos, shuffle=True).map([V.Decode(), V.RandomResizedCrop(8)], "image")
    drawn = pictures.rename({"label": "kind"}).sample(hr.ClassBalanced("label", n=40)).batch(40)
    (batch,) = drawn
    assert batch["image"].shape == (40, 8, 8, 3) and set(batch["kind"].tolist()) == {0, 1, 2, 3}
    assert len({picture.tobytes() for picture in batch["image"]}) == 40, "each has a crop of its own"
    order = "permute"
    assert order not in drawn._graph().text()


def test_samplers_follow_each_other():
    repeated = hr.Range(10, shuffle=True).sample(hr.Repeated(3)).take(24)
    first = read(repeated)
    assert first == [value for value in first[::3] for _ in range(3)]
    assert read(repeated, shard=(1, 3)) == first[1::3]
    again = hr.Range(3).sample(hr.Weighted([1, 0, 2], n=5)).sample(hr.Repeated(2))
    assert read(again)[::2] == read(again)[1::2] == read(hr.Range(3).sample(hr.Weighted([1, 0, 2], n=5)))


def test_a_sampler_is_a_value_of_its_own():
    weights = np.array([1.0, 0.0])
    sampler = hr.Weighted(weights, n=4)
    weights[:] = [0, 1]
    assert read(hr.Range(2).sample(sampler)) == read(hr.Range(2).sample(sampler)) == [0] * 4
    assert repr(sampler) == "Weighted(weights=array([1., 0.]), n=4, replacement=True)"
    assert repr(hr.Repeated(2)) == "Repeated(times=2)"
    assert isinstance(sampler, hr.Sampler)


def test_a_state_fits_the_same_weights_alone():
    def drawn(weights):
        return hr.Range(2).sample(hr.Weighted(weights, n=6))

    with drawn([1, 2]).iterate() as iterator:
        next(iterator)
        state = iterator.state()
    assert read(drawn([1, 2]), state=state) == read(drawn([1, 2]))[1:]
    with pytest.raises(hr.StateError):
        drawn([1, 3]).iterate(state=state)


def test_a_saved_graph_takes_its_labels_from_the_listing(photos, tmp_path):
    balanced = hr.ImageFolder(photos).sample(hr.ClassBalanced("label", n=20)).project(["label"])
    balanced.save(tmp_path / "graph")
    found = [int(row["label"]) for row in hr.load(tmp_path / "graph")]
    assert found == [int(row["label"]) for row in balanced]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hr.Range(3).sample([1, 0]), r"sample: the sampler is \[1, 0\]; give one such as .*select\(indices\)"),
        (lambda: hr.Range(3).sample(hr.Repeated), "sample: the sampler is <class"),
        (lambda: hr.Sampler(), "made by one of its classes"),
        (lambda: hr.Weighted(np.ones((3, 2))), r"Weighted: weights is an array of float64 of shape \(3, 2\)"),
        (lambda: hr.Weighted(3), r"Weighted: weights is an array of int64 of shape \(\)"),
        (lambda: hr.ClassBalanced([object()]), "ClassBalanced: labels is an array of object"),
        (lambda: len(hr.Range(3).sample(hr.Weighted(["a", "b", "c"]))), "must be single numbers"),
        (lambda: len(hr.Range(3).sample(hr.Weighted([1, 1]))), "got 2 weights for 3 rows"),
        (lambda: len(hr.Range(3).sample(hr.Weighted([1, 1, 1], n=0))), "n is 0; it must be at least 1"),
        (lambda: len(hr.Range(3).sample(hr.Weighted([1, 1, -1]))), r"weights\[2\] is -1"),
        (
            lambda: len(hr.Range(3).sample(hr.Weighted([1, 1, 0], replacement=False))),
            "draws 3 rows without replacement",
        ),
        (lambda: len(hr.Range(3).sample(hr.ClassBalanced())), 'from the column "label", which the source has not'),
        (lambda: len(hr.Range(3).sample(hr.Repeated(0))), "times is 0; it must be at least 1"),
        (lambda: len(hr.Range(9).batch(2).sample(hr.Weighted([1] * 5))), "put it below batch"),
        (lambda: len(hr.Range(9).filter(hr.col("value") > 2).sample(hr.Repeated(2))), "acts on the numbers of rows"),
    ],
)
def test_mistakes_say_what_to_do(make, message):
    with pytest.raises((hr.GraphError, TypeError), match=message):
        make()


def test_an_order_that_does_not_fit_the_budget_says_so():
    drawn = hr.Range(10).sample(hr.Weighted([1] * 10, n=10_000_000))
    with pytest.raises(hr.ResourceError, match="the order of 10000000 rows"):
        drawn.iterate(memory="1MiB")
    assert len(drawn) == 10_000_000


def test_the_type_of_labels_does_not_matter():
    labels = [number % 4 == 0 for number in range(12)]
    kinds = [labels, np.array(labels, np.uint8), np.array(labels, np.float32), [str(each) for each in labels]]
    drawn = [read(hr.Range(12).map(T.TypeCast("int32"), "value").sample(hr.ClassBalanced(kind))) for kind in kinds]
    assert all(each == drawn[0] for each in drawn)
