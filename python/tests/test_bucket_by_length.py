"""`bucket_by_length`: batches of rows of similar length."""

import numpy as np
import pytest
from conftest import state_after

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


@pytest.mark.parametrize("length", [None, "length"])
@pytest.mark.parametrize("pad", ["longest", "boundary"])
def test_columns_are_padded_with_values_of_their_own(length, pad):
    def sequence(length):
        return np.full(length, length), np.full(length // 2, 7, np.int16), np.ones(1)

    types = {"label": ("int16", (None,)), "weight": ("float64", (1,))}
    table = hr.Numpy({"length": np.array([1, 2])}).map(sequence, "length", ["x", "label", "weight"], types=types)
    values = {"label": -100, "weight": 0.5}
    (batch,) = table.bucket_by_length("x", [4], [2, 1], pad, values, length=length)
    ends = [0] if pad == "boundary" else []
    assert batch["x"].tolist() == [[1, 0, *ends], [2, 2, *ends]]
    labels = [-100] * (2 if pad == "boundary" else 0)
    assert batch["label"].tolist() == [[-100, *labels], [7, *labels]]
    assert batch["label"].dtype == np.int16
    assert batch["weight"].tolist() == [[1], [1]]
    # A column that nobody reads may have a padding.
    (read,) = table.bucket_by_length("x", [4], [2, 1], pad, values, length=length).project("x")
    assert read["x"].tolist() == batch["x"].tolist()


@pytest.mark.parametrize("length", [None, "length"])
def test_paddings_that_cannot_be_are_refused_as_by_batch(length):
    def bucketed(values):
        return rows(1, 2).bucket_by_length("x", [4], [2, 1], pad_value=values, length=length)

    for values, message in [
        ({"y": 1}, r'no column "y" \(columns: length, x\)'),
        ({"x": "a"}, "pad_values"),
        ({"x": 0.5}, "pad_value = 0.5 does not fit dtype int32"),
        ({3: 1}, "a column of pad_value is 3"),
    ]:
        with pytest.raises(hr.Error, match=message):
            list(bucketed(values))
        with pytest.raises(hr.Error, match=message):
            list(rows(1, 2).batch(2, pad=True, pad_value=values))


def test_a_state_resumes_with_the_rows_that_failed_counted_once():
    def sequence(value):
        if value % 9 == 4:
            raise ValueError("nine")
        return np.full(1 + value * 7 % 10, value)

    failing = hr.Range(80, shuffle=True).map(sequence, "value", "x")
    dataset = failing.bucket_by_length("x", [3, 6, 9], [5, 4, 3, 2]).on_error("skip", max_errors=9)
    whole = [batch["x"].tolist() for batch in dataset.iterate(epoch=1)]
    for step in range(len(whole) + 1):
        state = state_after(dataset, step, epoch=1)
        assert [batch["x"].tolist() for batch in dataset.iterate(state=state)] == whole[step:]
    with pytest.raises(hr.FunctionError, match="nine"):
        list(failing.bucket_by_length("x", [3], [5, 4]).on_error("skip", max_errors=8).iterate(epoch=1))


@pytest.mark.parametrize("shard", [(0, 1), (1, 3)])
def test_a_state_resumes_at_every_batch(shard):
    noisy = hr.Range(60, shuffle=True).map(lambda value, rng: rng.random(rng.integers(12)), "value", "x")
    dataset = noisy.bucket_by_length("x", [3, 6, 9], [5, 4, 3, 2])
    whole = [batch["x"].tolist() for batch in dataset.iterate(epoch=2, shard=shard)]
    for step in range(len(whole) + 1):
        state = state_after(dataset, step, epoch=2, shard=shard)
        assert [batch["x"].tolist() for batch in dataset.iterate(state=state, shard=shard)] == whole[step:]
    with pytest.raises(hr.StateError, match="bucket_by_length"):
        dataset.iterate(state=state, shard=(0, 2))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("shard", [(0, 1), (1, 2)])
def test_a_restart_makes_the_rows_held_and_no_others_again(shuffle, shard):
    measured, read = [], []

    def sequence(value):
        measured.append(int(value))
        return np.zeros(9 if value in (4, 5, 6) else 1)

    def also(value):
        read.append(int(value))
        return value

    rows = hr.Range(1000, shuffle=shuffle).sample(hr.Repeated(2)).take(1000)
    dataset = rows.map(sequence, "value", "x").map(also, "value", "z").bucket_by_length("x", [4], [4, 40])
    with dataset.iterate(executor="pull", shard=shard) as iterator:
        given = [value for _ in range(100) for value in next(iterator)["value"].tolist()]
        state = iterator.state()
    # Of rows that recur, each is read as often as it comes.
    ahead = sorted(measured)
    for value in given:
        ahead.remove(value)
    assert len(ahead) < 10
    measured.clear()
    read.clear()
    with dataset.iterate(state=state, executor="pull", shard=shard) as iterator:
        first = next(iterator)["value"].tolist()
    assert len(measured) < len(ahead) + 8
    assert read == measured
    assert measured[: len(ahead)] == [value for value in measured if value in ahead][: len(ahead)]
    assert set(first) <= set(measured)
    assert len(state) < 500


def test_a_state_grows_with_the_rows_held_alone():
    rows = hr.Range(5000).map(lambda value: np.zeros(1 if value % 2 else 9), "value", "x")
    sizes = []
    for held in (2, 100):
        with rows.bucket_by_length("x", [4], [4, 10 * held]).iterate() as iterator:
            for _ in range(held // 4 + 1):
                next(iterator)
            sizes.append(len(iterator.state()))
    assert 80 < sizes[1] - sizes[0] < 400


def test_a_restart_of_a_stream_reads_from_the_oldest_row_held():
    read = []

    def sequence(value):
        read.append(int(value))
        return np.zeros(1 + value % 2)

    stream = hr.Range(100).filter(hr.col("value") >= 0)
    dataset = stream.map(sequence, "value", "x").bucket_by_length("x", [2], [4, 4])
    state = state_after(dataset, 15, executor="pull")
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
        ([], [1], "boundaries is empty; give at least one"),
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


# ---- lengths that are known before rows are read ----


def known(shuffle: bool = False) -> hr.Dataset:
    table = {"length": np.array(LENGTHS, np.int64), "number": np.arange(len(LENGTHS))}
    return hr.Numpy(table, shuffle=shuffle).map(lambda length: np.full(length, length, np.int32), "length", "x")


def numbers_of(dataset: hr.Dataset, **options) -> list:
    return [batch["number"].tolist() for batch in dataset.iterate(**options)]


@pytest.mark.parametrize("length", ["length", LENGTHS, np.array(LENGTHS), np.array(LENGTHS, np.float32)])
@pytest.mark.parametrize("pad", ["longest", "boundary"])
def test_known_lengths_form_the_same_batches(length, pad):
    for shuffle in (False, True):
        measured = known(shuffle).bucket_by_length("x", [2, 4, 10], [3, 2, 1, 1], pad, -1)
        formed = known(shuffle).bucket_by_length("x", [2, 4, 10], [3, 2, 1, 1], pad, -1, length=length)
        for epoch in range(3):
            pairs = list(zip(measured.iterate(epoch=epoch), formed.iterate(epoch=epoch), strict=True))
            assert all((a["x"] == b["x"]).all() and (a["number"] == b["number"]).all() for a, b in pairs)
        assert len(formed) == len(pairs)


def test_ranks_get_whole_batches_of_one_epoch():
    dataset = known(shuffle=True).bucket_by_length("x", [2, 4], [3, 2, 1], length="length")
    whole = numbers_of(dataset, epoch=1)
    for world in (2, 3, 5):
        assert [numbers_of(dataset, epoch=1, shard=(rank, world)) for rank in range(world)] == [
            whole[rank::world] for rank in range(world)
        ]


def test_even_ranks_drop_or_repeat_whole_batches():
    dataset = known().bucket_by_length("x", [2, 4], [3, 2, 1], length="length")
    whole = numbers_of(dataset)
    assert len(whole) == 6
    dropped = [numbers_of(dataset, shard=(rank, 4), even="drop") for rank in range(4)]
    assert dropped == [[batch] for batch in whole[:4]]
    padded = [list(dataset.iterate(shard=(rank, 4), even="pad")) for rank in range(4)]
    assert [[batch["number"].tolist() for batch in rank] for rank in padded] == [
        [whole[rank], whole[(rank + 4) % 6]] for rank in range(4)
    ]
    marks = [[batch["_pad"].any() for batch in rank] for rank in padded]
    assert marks == [[False, False], [False, False], [False, True], [False, True]]
    assert all(batch["_pad"].all() == batch["_pad"].any() for rank in padded for batch in rank)


@pytest.mark.parametrize(("world", "others"), [(1, [1, 2, 3]), (2, [1, 2, 3])])
def test_a_state_is_a_position_that_any_world_goes_on_from(world, others):
    noisy = hr.Range(60, shuffle=True).map(lambda value, rng: rng.random(rng.integers(12)), "value", "x")
    dataset = noisy.bucket_by_length("x", [3, 6, 9], [5, 4, 3, 2], length=np.arange(60) % 11)

    def batches(**options) -> list:
        return [batch["x"].tolist() for batch in dataset.iterate(**options)]

    whole = batches(epoch=2)
    for step in range(0, len(whole) // world, 2):
        state = state_after(dataset, step, epoch=2, shard=(0, world))
        assert len(state) < 400
        for other in others:
            rest = whole[step * world :]
            assert [batches(state=state, shard=(rank, other)) for rank in range(other)] == [
                rest[rank::other] for rank in range(other)
            ]


def test_the_next_epoch_of_other_rows_has_other_batches():
    """Of a mixture, epochs have different numbers of rows."""
    first, second = (hr.Numpy({"length": np.arange(n) % 7, "part": np.full(n, n)}) for n in (11, 17))
    mixture = hr.mix([first, second], [1, 1], stop="first")
    sizes = [len(list(mixture.iterate(epoch=epoch))) for epoch in range(5)]
    rows = mixture.map(lambda length: np.zeros(length), "length", "x")
    bucketed = rows.bucket_by_length("x", [3, 6], [4, 3, 2], length="length")
    for epoch, size in enumerate(sizes):
        batches = [batch["length"].tolist() for batch in bucketed.iterate(epoch=epoch)]
        assert sum(map(len, batches)) == size
        measured = rows.bucket_by_length("x", [3, 6], [4, 3, 2])
        assert batches == [batch["length"].tolist() for batch in measured.iterate(epoch=epoch)]
    assert len(set(sizes)) > 1


def test_a_batch_in_which_rows_fail_takes_no_other_row():
    def sequence(length):
        if length == 5:
            raise ValueError("five")
        return np.full(length, length)

    lengths = np.array([5, 1, 4, 4, 1, 5, 5, 4])
    failing = hr.Numpy({"length": lengths, "number": np.arange(8)}).map(sequence, "length", "x").on_error("skip")
    dataset = failing.bucket_by_length("x", [2], [2, 3], length="length")
    assert numbers_of(dataset) == [[2, 3], [1, 4], [7]]
    with dataset.iterate() as iterator:
        assert next(iterator)["number"].tolist() == [2, 3]
        assert numbers_of(dataset, state=iterator.state()) == [[1, 4], [7]]


def test_lengths_of_a_listing_read_no_row_twice():
    read = []

    class Rows:
        def __len__(self) -> int:
            return 50

        def __getitem__(self, number: int) -> dict:
            read.append(number)
            return {"x": np.zeros(number % 9)}

    dataset = hr.from_dataset(Rows()).bucket_by_length("x", [3, 6], [4, 3, 2], length=np.arange(50) % 9)
    assert len(dataset) > 0
    assert set(read) <= {0}, "row 0 says which columns there are"
    read.clear()
    state = state_after(dataset, 9, executor="pull")
    before = set(read)
    read.clear()
    list(dataset.iterate(state=state, executor="pull"))
    assert sorted(read) == sorted(set(range(50)) - before)


def test_samplers_and_choices_may_stand_below():
    numbers = hr.Numpy({"length": np.array(LENGTHS), "number": np.arange(9)}).select(range(1, 9))
    some = numbers.sample(hr.Repeated(3)).take(20).skip(1)
    rows = some.map(lambda length: np.zeros(length), "length", "x")
    dataset = rows.bucket_by_length("x", [2, 4], [3, 2, 1], length="length")
    assert numbers_of(dataset) == numbers_of(rows.bucket_by_length("x", [2, 4], [3, 2, 1]))


def test_options_stay_where_the_order_changes():
    rows = known(shuffle=True).with_seed(5).on_error("skip").options(memory="64 MB")
    formed = rows.bucket_by_length("x", [2, 4], [3, 2, 1], length="length")
    assert numbers_of(formed) == numbers_of(rows.bucket_by_length("x", [2, 4], [3, 2, 1]))
    assert numbers_of(formed) != numbers_of(formed.with_seed(6))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda rows: rows.bucket_by_length("x", [2], [1, 1], length=[1, 2]),
            "for each of the 9 rows that the source has before take, select and samplers; got 2",
        ),
        (lambda rows: rows.bucket_by_length("x", [2], [1, 1], length="size"), 'lengths from the column "size"'),
        (lambda rows: rows.bucket_by_length("x", [2], [1, 1], length=[-1] * 9), "the length -1 for row 0"),
        (lambda rows: rows.bucket_by_length("x", [2], [1, 1], length=[np.nan] * 9), "the length nan for row 0"),
        (lambda rows: rows.bucket_by_length("x", [2], [1, 1], length=["a"] * 9), "must be single numbers"),
        (lambda rows: rows.bucket_by_length("y", [2], [1, 1], length="length"), 'no column "y"'),
        (
            lambda rows: rows.shuffle(4).bucket_by_length("x", [2], [1, 1], length="length"),
            "shuffle=True of the source",
        ),
        (
            lambda rows: rows.filter(lambda length: True, "length").bucket_by_length("x", [2], [1, 1], length="length"),
            "filter does not act on indices; leave length out",
        ),
        (lambda rows: rows.cache().bucket_by_length("x", [2], [1, 1], length="length"), "cache does not act on"),
        (lambda rows: rows.repeat(2).bucket_by_length("x", [2], [1, 1], length="length"), "repeat does not act on"),
        (lambda rows: rows.batch(2).bucket_by_length("x", [2], [1, 1], length="length"), "batch does not act on"),
        (
            lambda rows: rows.concat(rows).bucket_by_length("x", [2], [1, 1], length="length"),
            "map does not act on indices; put maps above concat",
        ),
        (
            lambda rows: hr.Generator(lambda: iter([[1]]), ["x"]).bucket_by_length("x", [2], [1, 1], length=[1]),
            "Generator gives its rows one after the other",
        ),
        (
            lambda rows: rows.sample(hr.PK(2, 2, [0, 1, 2] * 3)).bucket_by_length("x", [2], [1, 1], length="length"),
            "takes rows apart that the sampler below it gives in groups of 4",
        ),
    ],
)
def test_what_cannot_be_formed_is_refused(build, message):
    with pytest.raises(hr.Error, match=message):
        list(build(known()))


def test_no_rows_form_no_batches():
    dataset = known().take(0).bucket_by_length("x", [2], [1, 1], length="length")
    assert (len(dataset), list(dataset)) == (0, [])
    nothing = hr.Numpy({"length": np.zeros(0, np.int64), "x": np.zeros((0, 3))})
    empty = nothing.bucket_by_length("x", [2], [1, 1], length="length")
    assert (len(empty), list(empty)) == (0, [])


def test_masked_lengths_are_refused():
    with pytest.raises(hr.GraphError, match=r"length has masked values, .*give filled\(value\)"):
        known().bucket_by_length("x", [2], [1, 1], length=np.ma.masked_equal(LENGTHS, 3))


def test_explain_shows_whole_batches():
    table = hr.Numpy({"tokens": np.zeros((8, 3)), "n": np.arange(8)}, shuffle=True)
    dataset = table.bucket_by_length("tokens", [4], [3, 2], length="n")
    assert "rows are sharded here in groups of up to 3" in dataset.explain()


def test_given_lengths_need_no_axis_to_measure():
    names = hr.Numpy({"name": np.array(["a", "bb", "c", "d"], object), "n": np.arange(4)})
    batches = list(names.bucket_by_length("name", [2], [2, 1], length=[1, 3, 1, 1]))
    assert [batch["name"].tolist() for batch in batches] == [["bb"], ["a", "c"], ["d"]]
    assert [batch["n"].tolist() for batch in names.bucket_by_length("n", [2], [2, 1], length=[5, 1, 1, 5])] == [
        [0],
        [1, 2],
        [3],
    ]
    with pytest.raises(hr.GraphError, match="it has no first axis to measure"):
        list(names.bucket_by_length("n", [2], [2, 1], pad="boundary", length=[1, 3, 1, 1]))
    with pytest.raises(hr.GraphError, match='"nam"'):
        list(names.bucket_by_length("nam", [2], [2, 1], length=[1, 3, 1, 1]))
