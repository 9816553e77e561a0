"""Samplers: `ds.sample`, what it refuses, and what it promises over ranks and restarts."""

import collections
import signal
import struct

import numpy as np
import pytest
from conftest import read_bytes, values
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


def test_labels_come_from_the_listing_and_no_image_is_read_for_them(tmp_path):
    for name, count in (("cat", 30), ("dog", 2), ("owl", 1)):
        (tmp_path / name).mkdir()
        for number in range(count):
            (tmp_path / name / f"{number}.jpg").write_bytes(bytes(100_000))
    labels = hr.ImageFolder(tmp_path).sample(hr.ClassBalanced("label", n=3000)).project(["label"])
    list(labels)
    before = read_bytes()
    counts = collections.Counter(int(row["label"]) for row in labels)
    assert read_bytes() - before < 100_000
    for dataset in (labels, hr.ImageFolder(tmp_path).zip(hr.Range(33)).sample(hr.ClassBalanced("label", n=1))):
        before = read_bytes()
        assert len(dataset) in (3000, 1)
        dataset.iterate(optimize=False).close()
        dataset.iterate(disabled_passes="drop_unread_columns").close()
        # Sources read ahead: an image or two of those that are drawn.
        assert read_bytes() - before < 1_000_000
    assert all(850 < counts[label] < 1150 for label in range(3))
    images = hr.ImageFolder(tmp_path).sample(hr.ClassBalanced("label", n=3))
    before = read_bytes()
    assert len(list(images.iterate())) == 3
    assert 300_000 <= read_bytes() - before < 1_000_000


def test_a_sampler_stands_above_maps_and_shuffles_too(photos):
    images = hr.ImageFolder(photos, shuffle=True).map([V.Decode(), V.RandomResizedCrop(8)], "image")
    drawn = images.rename({"label": "kind"}).sample(hr.ClassBalanced("label", n=40)).batch(40)
    (batch,) = drawn
    assert batch["image"].shape == (40, 8, 8, 3) and set(batch["kind"].tolist()) == {0, 1, 2, 3}
    assert len({image.tobytes() for image in batch["image"]}) == 40, "each has a crop of its own"
    order = "permute"
    assert order not in drawn._graph().text()


def test_a_named_shuffle_below_a_sampler_is_no_second_one(photos):
    def drawn(labels):
        images = hr.ImageFolder(photos, shuffle=True, seed=3, name="train")
        sampled = images.sample(hr.ClassBalanced(labels, n=9)).project(["label"])
        return sampled.shuffle(4).iterate()

    labels = [int(row["label"]) for row in hr.ImageFolder(photos).project(["label"])]
    by_array = [int(row["label"]) for row in drawn(labels)]
    # The salts of what stands above are the same, too.
    assert [int(row["label"]) for row in drawn("label")] == by_array
    table = hr.Numpy({"label": np.arange(4)}, shuffle=True, name="table")
    assert set(int(row["label"]) for row in table.sample(hr.ClassBalanced(n=99))) == set(range(4))


def test_a_column_of_the_listing_serves_parts_above_maps(photos):
    images = hr.ImageFolder(photos).map([V.Decode(), V.RandomHorizontalFlip(name="flip")], "image")
    train, _ = images.rename({"label": "kind"}).split([0.75, 0.25], seed=1)
    members = [int(row["kind"]) for row in train.project(["kind"])]
    for optimize in (True, False):
        drawn = train.sample(hr.ClassBalanced("label", n=60)).project(["kind"]).iterate(optimize=optimize)
        by_array = train.sample(hr.ClassBalanced(members, n=60)).project(["kind"]).iterate(optimize=optimize)
        assert [int(row["kind"]) for row in drawn] == [int(row["kind"]) for row in by_array]


def test_labels_that_cannot_be_read_are_left_out_where_rows_are(tmp_path):
    path = tmp_path / "a.rec"
    payloads = [b"cat0", b"dog0", b"owl0"]
    path.write_bytes(b"".join(struct.pack("<II", 0xCED7230A, 4) + payload for payload in payloads))
    assert len(hr.RecordFile(path, index="build")) == 3
    data = bytearray(path.read_bytes())
    data[12:16] = bytes(4)
    path.write_bytes(data)  # damages the second record, and the first one, which none follows
    records = hr.RecordFile(path, index=tmp_path / "a.idx")
    with pytest.raises(hr.DataError):
        records.sample(hr.ClassBalanced("record")).iterate()
    skipping = records.on_error("skip").sample(hr.ClassBalanced("record", n=50))
    assert {row["record"] for row in skipping} == {b"owl0"}
    assert skipping._last_run.report()["skipped"] == []


def test_reading_labels_ends_with_ctrl_c():
    many = np.broadcast_to(np.int8(1), 60_000_000)
    sampled = hr.Range(len(many)).sample(hr.Weighted(many)).options(memory="16GiB")
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            len(sampled)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_samplers_follow_each_other():
    repeated = hr.Range(10, shuffle=True).sample(hr.Repeated(3)).take(24)
    first = read(repeated)
    assert first == [value for value in first[::3] for _ in range(3)]
    assert read(repeated, shard=(1, 3)) == first[1::3]
    again = hr.Range(3).sample(hr.Weighted([1, 0, 2], n=5)).sample(hr.Repeated(2))
    assert read(again)[::2] == read(again)[1::2] == read(hr.Range(3).sample(hr.Weighted([1, 0, 2], n=5)))


class Own:
    """A user-defined sampler: `rows` numbers below `of`."""

    def __init__(self, rows, of, grows=0):
        self.rows, self.of, self.grows = rows, of, grows

    def size(self, epoch):
        return self.rows + self.grows * epoch

    def indices(self, epoch, rng):
        return rng.integers(0, self.of, self.size(epoch))


# Orders of eight rows, made of a source of five, and samplers for them.
ORDERS = {
    "own": lambda: hr.Range(5).sample(Own(8, 5)),
    "weighted": lambda: hr.Range(5).sample(hr.Weighted([1, 2, 3, 4, 5], n=8)),
    "class balanced": lambda: hr.Range(5).sample(hr.ClassBalanced([0, 0, 1, 1, 1], n=8)),
    "repeated": lambda: hr.Range(4, shuffle=True).sample(hr.Repeated(2)),
    "shuffled take": lambda: hr.Range(10, shuffle=True).take(8),
    "shuffled concat": lambda: hr.Range(5, shuffle=True).concat(hr.Range(3)),
    "mix": lambda: hr.mix([hr.Range(5, shuffle=True), hr.Range(3)], [2, 1], stop="all"),
}
ABOVE = {
    "own": lambda: Own(9, 8),
    "weighted": lambda: hr.Weighted(np.arange(8), n=9),
    "weighted without replacement": lambda: hr.Weighted(np.arange(8), n=7, replacement=False),
    "class balanced": lambda: hr.ClassBalanced([0, 0, 0, 1, 1, 2, 2, 2]),
    "class balanced by a column": lambda: hr.ClassBalanced("value"),
    "weighted by a column": lambda: hr.Weighted("value", n=9),
    "repeated": lambda: hr.Repeated(2),
    "groups": lambda: hr.PK(2, 2, [0, 0, 0, 1, 1, 2, 2, 2], groups=3),
}


def noisy(value, rng):
    return value + 1000 * rng.integers(2**40)


@pytest.mark.parametrize("above", sorted(ABOVE))
@pytest.mark.parametrize("below", sorted(ORDERS))
def test_samplers_stand_above_every_order(below, above):
    order = ORDERS[below]()
    drawn = order.map(noisy, "value").sample(ABOVE[above]())
    for epoch in range(2):
        whole = read(drawn, epoch=epoch)
        assert {value % 1000 for value in whole} <= set(read(order, epoch=epoch))
        assert len(set(whole)) == len(whole), "each row has draws of its own, whichever sampler gives it again"
        if above != "groups":
            for rank in range(3):
                assert read(drawn, epoch=epoch, shard=(rank, 3)) == whole[rank::3]
    assert len(whole) == len(drawn)
    assert whole == read(drawn, epoch=1, optimize=False) == read(drawn, epoch=1, executor="pull")
    for steps in range(len(whole) + 1):
        with drawn.iterate(epoch=1) as iterator:
            assert [int(next(iterator)["value"]) for _ in range(steps)] == whole[:steps]
            state = iterator.state()
        assert read(drawn, state=state) == whole[steps:]
        # Groups stay together, so other ranks go on behind one.
        if above != "groups" or steps % 4 == 0:
            others = [read(drawn, state=state, shard=(rank, 2)) for rank in range(2)]
            assert sorted(others[0] + others[1]) == sorted(whole[steps:])


def test_numbers_of_a_chain_are_places_in_the_order_below():
    order = hr.Range(10, shuffle=True).take(4)
    for epoch in range(3):
        places = read(order, epoch=epoch)
        by_weight = order.map(abs, "value").sample(hr.Weighted([0, 0, 1, 0], n=5))
        assert read(by_weight, epoch=epoch) == [places[2]] * 5
        own = order.sample(hr.from_sampler([3, 0, 0]))
        assert read(own, epoch=epoch) == [places[3], places[0], places[0]]
        again = own.sample(hr.from_sampler([2, 0]))
        assert read(again, epoch=epoch) == [places[0], places[3]]


def test_a_column_follows_its_rows_through_other_orders(photos):
    labels = np.array([0] * 20 + [1] * 3 + [2])
    table = hr.Numpy({"value": np.arange(24), "label": labels}, shuffle=True)
    for order in (
        table.take(23),
        table.sample(hr.Weighted(np.ones(24), n=40)),
        table.sample(Own(40, 24, grows=3)),
        hr.Range(24).zip(hr.Numpy({"label": labels})).sample(hr.Weighted(np.ones(24), n=40)),
        hr.mix([table, table.take(20)], [1, 1], stop="all"),
        table.concat(table.take(4)),
    ):
        below = order.map(abs, "value").rename({"label": "kind"})
        drawn = below.sample(hr.ClassBalanced("label", n=900))
        for epoch in range(2):
            rows = [(int(row["value"]), int(row["kind"])) for row in below.iterate(epoch=epoch)]
            found = [(int(row["value"]), int(row["kind"])) for row in drawn.iterate(epoch=epoch)]
            assert set(found) == set(rows)
            counts = collections.Counter(label for _, label in found)
            assert all(abs(count - 900 / len(counts)) < 120 for count in counts.values())
        weighted = below.sample(hr.Weighted("label", n=30))
        assert min(int(row["kind"]) for row in weighted) > 0, "rows of weight 0 never come"
    images = hr.ImageFolder(photos, shuffle=True).take(6).map(V.Decode(), "image")
    chained = images.sample(hr.ClassBalanced("label", n=50)).project(["label"])
    assert {int(row["label"]) for row in chained} == {int(row["label"]) for row in images.project(["label"])}


def test_an_input_without_the_column_is_named():
    """Where orders stand below, values are those of rows by their numbers, and of zip those of its first input."""
    rows = np.arange(6)
    with_both = hr.Numpy({"x": rows, "w": rows, "y": rows})
    shuffled = hr.Numpy({"y": rows}, shuffle=True)
    first = hr.Numpy({"x": rows, "w": rows}).zip(shuffled)
    assert len(values(first.sample(hr.Weighted("w")), "x")) == 6
    message = r"by their numbers. There a zip, .*inputs 0 and 1 of concat differ \(x, w; x, w, y\); sample each input of concat"
    with pytest.raises(hr.GraphError, match=f'Weighted: takes its weights from the column "w" of rows {message}'):
        first.concat(with_both).sample(hr.Weighted("w"))
    second = hr.Numpy({"x": rows}).zip(hr.Numpy({"y": rows, "w": rows}, shuffle=True))
    message = "which input 1 of zip has: .*; zip the input with w first, or give the labels as an array"
    for dataset in (second, second.concat(with_both.project(["x", "y", "w"])), second.take(4).rename({"x": "z"})):
        with pytest.raises(hr.GraphError, match=f'ClassBalanced: takes its labels from the column "w", {message}'):
            dataset.sample(hr.ClassBalanced("w"))
    renamed = hr.mix([with_both.take(4), with_both.rename({"w": "v"}).rename({"v": "w"})], [1, 1], stop="all")
    message = r"which input 1 of mix does not have; name a column that all inputs have \(this one: x, v, y\)"
    with pytest.raises(hr.GraphError, match=message):
        hr.mix([with_both, hr.Numpy({"x": rows, "v": rows, "y": rows}).rename({"v": "w"})], [1, 1], stop="all").sample(
            hr.Weighted("w")
        )
    assert len(values(renamed.sample(hr.Weighted("w", n=5)), "x")) == 5


def test_repetitions_above_maps_have_draws_of_their_own():
    order = hr.Range(4, shuffle=True)
    below = order.sample(hr.Repeated(3)).map(abs, "value").map(noisy, "value")
    above = order.map(abs, "value").map(noisy, "value").sample(hr.Repeated(3))
    for optimize in (True, False):
        found = read(above, optimize=optimize)
        assert found == read(below) and len(set(found)) == 12
        assert [value % 1000 for value in found[::3]] == read(order)
    again = order.map(noisy, "value").sample(hr.Weighted([1, 1, 0, 0], n=5)).map(abs, "value").sample(hr.Repeated(2))
    assert len(set(read(again))) == 10
    with pytest.raises(hr.GraphError, match="acts on the numbers of rows"):
        len(hr.Range(4).map(abs, "value").shuffle(2).sample(hr.Repeated(2)))


def test_own_samplers_below_may_give_other_numbers_of_rows():
    grows = hr.Range(9).sample(Own(3, 9, grows=2))
    follows = grows.sample(hr.Weighted("value"))
    own = grows.sample(Own(5, 3))
    for epoch in range(3):
        assert len(read(follows, epoch=epoch)) == 3 + 2 * epoch
        assert set(read(own, epoch=epoch)) <= set(read(grows, epoch=epoch)[:3])
    by_place = grows.sample(hr.Weighted([1, 1, 1]))
    assert len(values(by_place)) == 3
    message = r"(?s)has a value for each of 3 rows, but its input has 5 in this epoch.*in: Weighted.*epoch 1"
    with pytest.raises(hr.GraphError, match=message):
        values(by_place)
    with pytest.raises(hr.GraphError, match="has 5 rows; give one of the weights for each, not 3"):
        read(by_place, epoch=1)


def test_epochs_in_which_nothing_can_be_drawn_are_errors():
    lone = hr.Range(3, shuffle=True).take(1).sample(hr.Weighted("value"))
    with pytest.raises(hr.GraphError, match=r"(?s)has no weight above 0.*in: Weighted.*epoch \d"):
        for epoch in range(20):
            assert read(lone, epoch=epoch)[0] > 0


def test_a_cache_by_key_tells_times_from_inputs():
    """The second input the third time is not the third input the second time."""

    def numbers(start):
        return hr.Numpy({"value": np.arange(start, start + 4)})

    joined = numbers(0).concat(numbers(100), numbers(200).sample(hr.Repeated(2))).sample(hr.Repeated(3))
    mapped = joined.map(lambda value: value + 0, "value")
    cached = mapped.cache("1MiB")
    assert read(mapped) == read(cached) == read(cached)


def test_a_cache_by_key_tells_padding_from_inputs():
    ones = [hr.Numpy({"value": np.array([number])}) for number in range(3)]
    mapped = ones[0].concat(ones[1].concat(ones[2])).map(lambda value: value + 0, "value")
    cached = mapped.cache("1MiB", transparent=False)
    for rank in range(2):
        shard = {"shard": (rank, 2), "even": "pad"}
        assert read(mapped, **shard) == read(cached, **shard)


def test_a_dataset_is_shown_without_the_values_of_a_sampler(photos):
    sampled = hr.ImageFolder(photos).sample(hr.ClassBalanced())
    assert repr(sampled).startswith("<headrace.Dataset ImageFolder → ClassBalanced")
    weighted = hr.Range(2).sample(hr.Weighted([1, 2])).batch(2)
    assert repr(weighted).startswith("<headrace.Dataset Range → Weighted → batch:")


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
        (
            lambda: hr.ClassBalanced([object()]),
            "ClassBalanced: labels: row 0 is <object object.*a column holds numbers, bools, bytes or texts",
        ),
        (lambda: hr.ClassBalanced(["a", 1]), "ClassBalanced: labels: row 1 is 1, a number, and row 0 is a text"),
        (lambda: hr.ClassBalanced(np.array(["a", 1], object)), "labels holds values of several kinds"),
        (lambda: hr.Weighted([1j, 2]), "Weighted: weights: row 0 is 1j .complex.; a column holds numbers"),
        (
            lambda: len(hr.from_dataset([1, 2, 3], "label").sample(hr.ClassBalanced())),
            "a value for each row from from_dataset .* which would be called for every row .* give them as a list",
        ),
        (lambda: len(hr.Range(3).sample(hr.Weighted(["a", "b", "c"]))), "must be single numbers"),
        (lambda: len(hr.Range(3).sample(hr.Weighted([1, 1]))), "has 3 rows; give one of the weights for each, not 2"),
        (lambda: len(hr.Range(3).sample(hr.Weighted([1, 1, 1], n=0))), "n is 0; it must be at least 1"),
        (lambda: len(hr.Range(3).sample(hr.Weighted([1, 1, -1]))), r"weights\[2\] is -1"),
        (
            lambda: len(hr.Range(3).sample(hr.Weighted([1, 1, 0], replacement=False))),
            "draws 3 rows without replacement",
        ),
        (
            lambda: len(hr.Range(3).sample(hr.ClassBalanced())),
            'from the column "label", which the source does not have',
        ),
        (
            lambda: len(hr.Range(9, shuffle=True).take(4).sample(hr.Weighted([1] * 9))),
            "has 4 rows; give one of the weights for each, not 9; those of the source's rows follow them where",
        ),
        (
            lambda: len(hr.Range(9).sample(hr.Repeated(2)).sample(hr.Weighted([1] * 18)).select([0])),
            "gives other rows in each epoch, which it draws: parts would overlap",
        ),
        (
            lambda: len(hr.Range(9).sample(hr.PK(2, 2, [0] * 5 + [1] * 4)).sample(hr.Weighted([1] * 8))),
            "does not keep rows together that the sampler below it gives in groups of 4",
        ),
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
    with pytest.raises(hr.ResourceError, match="10000000 draws, more than half of the budget"):
        drawn.iterate(memory="1MiB")
    assert len(drawn) == 10_000_000
    with pytest.raises(hr.ResourceError, match="more than half of the budget"):
        len(drawn.options(memory="1MiB"))
    # Each fits alone, but not both.
    both = hr.Range(20_000).sample(hr.Weighted([1] * 20_000, n=25_000))
    with pytest.raises(hr.ResourceError, match="more than half of the budget"):
        both.iterate(memory="1900KiB")
    assert len(list(both.iterate(memory="8MiB"))) == 25_000


def test_the_type_of_labels_does_not_matter():
    labels = [number % 4 == 0 for number in range(12)]
    texts = [str(each) for each in labels]
    numbers = [np.array(labels, dtype) for dtype in (np.uint8, np.float16, np.float32)]
    kinds = [labels, *numbers, texts, np.array(texts, object)]
    drawn = [read(hr.Range(12).map(T.TypeCast("int32"), "value").sample(hr.ClassBalanced(kind))) for kind in kinds]
    assert all(each == drawn[0] for each in drawn)


@pytest.mark.parametrize(
    "identity", [lambda rows: rows.skip(0), lambda rows: rows.take(8), lambda rows: rows.take(100)]
)
@pytest.mark.parametrize("sampler", [hr.Weighted([1.0, 1, 0, 0, 0, 0, 0, 0]), hr.ClassBalanced([0] * 7 + [1])])
def test_what_changes_no_row_changes_no_number(identity, sampler):
    """Above a shuffle a sampler names rows of the source, and above an operator on its order places."""
    rows = identity(hr.Range(8, shuffle=True)).sample(sampler)
    drawn = [int(row["value"]) for row in rows.iterate(epoch=1)]
    assert drawn == [int(row["value"]) for row in rows.iterate(epoch=1, optimize=False)]
    assert drawn == [int(row["value"]) for row in rows.iterate(epoch=1, disabled_passes=["remove_identities"])]


@pytest.mark.parametrize("optimize", [True, False])
def test_a_sampler_above_a_filter_is_refused_with_any_passes(optimize):
    """Even a filter that a pass removes, as what it kept apart stays apart."""
    rows = hr.Range(6).filter((hr.col("value") == 0) | True).sample(hr.Repeated(2))
    with pytest.raises(hr.GraphError, match="must stand next to a source with random access"):
        rows.iterate(optimize=optimize)
