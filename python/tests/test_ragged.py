"""Batches of rows that differ in length: padded, as values and splits, or as lists; and rows made of them again."""

import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import transforms as T

COUNTS = (2, 0, 3, 1, 0, 0, 4)
TYPES = {"boxes": ("float32", (None, 4)), "label": ("int64", (None,)), "number": ("int32", ())}


def row(number: int, count: int) -> dict[str, Any]:
    boxes = np.arange(count * 4, dtype=np.float32).reshape(count, 4) + 100 * number
    return {"boxes": boxes, "label": np.full(count, number, np.int64), "number": np.int32(number)}


def images(counts: tuple[int, ...] | list[int] = COUNTS, types: Any = None) -> hr.Dataset:
    def rows() -> Iterator[dict[str, Any]]:
        return (row(number, count) for number, count in enumerate(counts))

    return hr.Generator(rows, TYPES if types is None else types)


def indexed(counts: tuple[int, ...] | list[int] = COUNTS, **options: Any) -> hr.Dataset:
    rows = [row(number, count) for number, count in enumerate(counts)]
    return hr.from_dataset(rows, types=TYPES, **options)


def same(given: Any, wanted: Any) -> None:
    assert len(given) == len(wanted)
    for a, b in zip(given, wanted, strict=True):
        assert list(a) == list(b)
        for name in a:
            assert np.asarray(a[name]).dtype == np.asarray(b[name]).dtype
            np.testing.assert_array_equal(a[name], b[name])


def test_splits_say_where_each_row_is() -> None:
    first, second, last = images().batch(3, ragged="splits")
    assert list(first) == ["boxes", "boxes_splits", "label", "label_splits", "number"]
    assert first["boxes"].shape == (5, 4) and first["boxes"].dtype == np.float32
    assert first["boxes_splits"].dtype == np.int64
    assert first["boxes_splits"].tolist() == first["label_splits"].tolist() == [0, 2, 2, 5]
    ends = first["boxes_splits"]
    for number in range(3):
        np.testing.assert_array_equal(
            first["boxes"][ends[number] : ends[number + 1]], row(number, COUNTS[number])["boxes"]
        )
    assert second["label"].tolist() == [3]
    assert last["boxes_splits"].tolist() == [0, 4]


def test_a_list_has_one_array_a_row() -> None:
    first, *_ = images().batch(3, ragged="list")
    assert list(first) == ["boxes", "label", "number"]
    assert [boxes.shape for boxes in first["boxes"]] == [(2, 4), (0, 4), (3, 4)]
    for number, boxes in enumerate(first["boxes"]):
        np.testing.assert_array_equal(boxes, row(number, COUNTS[number])["boxes"])
        assert boxes.flags.writeable and boxes.base is not None
    assert first["number"].tolist() == [0, 1, 2]


def test_padding_by_column() -> None:
    (batch,) = images().batch(7, ragged="pad", pad_value={"boxes": -1, "label": -100})
    assert batch["boxes"].shape == (7, 4, 4) and batch["label"].shape == (7, 4)
    assert batch["boxes"][1].tolist() == [[-1] * 4] * 4
    assert batch["label"].tolist()[3] == [3, -100, -100, -100]
    (plain,) = images().batch(7, pad=True)
    (named,) = images().batch(7, ragged={"boxes": "pad", "label": "pad"}, pad_value=0)
    same([plain], [named])


def test_forms_differ_by_column() -> None:
    (batch,) = images((1, 2)).batch(2, ragged={"boxes": "list", "label": "pad"}, pad_value={"label": 9})
    assert [boxes.shape for boxes in batch["boxes"]] == [(1, 4), (2, 4)]
    assert batch["label"].tolist() == [[0, 9], [1, 1]]
    (others,) = images((1, 2)).batch(2, pad=True, ragged={"boxes": "splits"})
    assert others["label"].tolist() == [[0, 0], [1, 1]] and others["boxes"].shape == (3, 4)


def test_the_schema_tells_what_comes() -> None:
    splits = images().batch(3, True, ragged="splits").schema
    assert splits["boxes"] == ("float32", (None, 4)) and splits["boxes_splits"] == ("int64", (4,))
    lists = images().batch(3, True, ragged="list")
    assert list(lists.schema) == ["boxes", "label", "number"]
    assert lists.schema["boxes"] == ("float32", (3, None, 4))
    assert images().batch(3, ragged="pad").schema["boxes"] == ("float32", (None, None, 4))
    assert images().batch(3, ragged="splits").unbatch().schema == images().schema
    assert indexed().batch(3, True, ragged="splits").unbatch().schema == images().schema
    assert len(indexed().batch(3, ragged="list")) == 3
    assert len(indexed().batch(3, True, ragged="splits").unbatch()) == 6
    assert "batch" in lists.explain() and "list" in lists.to_json()


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    size=st.integers(1, 5),
    form=st.sampled_from(["list", "splits"]),
    above=st.sampled_from([None, "list", "splits"]),
)
def test_unbatch_inverts(counts: list[int], size: int, form: Any, above: Any) -> None:
    rows = images(counts).batch(size, ragged=form).unbatch()
    if above is not None:
        rows = rows.batch(size + 1, ragged={"boxes": above, "label": "splits"}).unbatch()
    same(list(rows), [row(number, count) for number, count in enumerate(counts)])


def pipelines() -> dict[str, hr.Dataset]:
    base = indexed(shuffle=True).repeat(2)
    return {
        "splits": base.batch(3, ragged="splits"),
        "list": base.batch(3, ragged="list"),
        "unbatched": base.batch(4, ragged="list").unbatch().shuffle(3).batch(3, ragged="splits"),
        "cached": images().cache().batch(2, ragged="splits").repeat(2),
        "batches cached": images().batch(2, ragged="list").cache().repeat(2).shuffle(2),
        "taken": base.batch(2, ragged="list").skip(1).take(5).project(["label", "boxes"]),
    }


@pytest.mark.parametrize("name", list(pipelines()))
def test_states_go_on_at_every_step(name: str) -> None:
    dataset = pipelines()[name]

    def flat(batch: dict[str, Any]) -> str:
        return repr(
            {
                key: np.asarray(value).tolist() if not isinstance(value, list) else [v.tolist() for v in value]
                for key, value in batch.items()
            }
        )

    with dataset.iterate(epoch=1) as running:
        states = [running.state()]
        batches = []
        for batch in running:
            batches.append(flat(batch))
            states.append(running.state())
    for executor in ("threads", "pull"):
        assert [flat(batch) for batch in dataset.iterate(epoch=1, executor=executor, optimize=False)] == batches
    for at, state in enumerate(states):
        assert [flat(batch) for batch in dataset.iterate(state=state)] == batches[at:]


def test_ranks_that_pad_mark_their_rows() -> None:
    dataset = indexed((1, 2, 3)).batch(2, ragged="list")
    (batch,) = dataset.iterate(shard=(1, 2), even="pad")
    assert batch["_pad"].tolist() == [False, True]
    assert [len(boxes) for boxes in batch["boxes"]] == [2, 1]


def test_rows_that_fail_are_left_out() -> None:
    def rejects_three(boxes: Any) -> Any:
        if len(boxes) == 3:
            raise ValueError("three")
        return boxes

    rows = images((1, 3, 2, 3, 0)).map(rejects_three, "boxes", types={"boxes": TYPES["boxes"]})
    batches = list(rows.on_error("skip").batch(2, ragged="list"))
    assert [[len(boxes) for boxes in batch["boxes"]] for batch in batches] == [[1, 2], [0]]


def test_a_row_that_differs_is_named() -> None:
    rows = [np.zeros((2, 4), np.float32), np.zeros((1, 5), np.float32)]
    types = {"boxes": ("float32", (None, None))}
    with pytest.raises(hr.GraphError, match=r'"boxes", in the row of .*key 1.*float32 \(None, 4\).*float32 \(1, 5\)'):
        list(hr.Generator(lambda: iter(rows), types).batch(2, ragged="splits"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: images().batch(2, ragged="tuple"), 'ragged is .tuple.*"list", "pad" or "splits"'),
        (lambda: images().batch(2, ragged={"box": "list"}), 'no column "box" '),
        (lambda: images().batch(2, ragged={"number": "list"}), '"number" is int32 .*needs a first axis'),
        (lambda: images().batch(2, pad=True, ragged="list"), "pad=True is short for"),
        (lambda: images().batch(2, pad_value={"boxes": 1}), '"boxes", which is not padded'),
        (lambda: images().batch(2, ragged="list", function=len), "let the function join them"),
        (lambda: images(types=["boxes", "label", "number"]).batch(2, ragged="list"), "say which columns are ragged"),
        (lambda: images().batch(2, ragged="list").batch(2), "is ragged already"),
        (lambda: images().batch(2, ragged="list").filter(len, "boxes"), "given to a filter's function"),
        (lambda: images().batch(2, ragged="list").batch(2, function=len), "cannot be batched again"),
        (lambda: images().batch(2, ragged="list").map(len, "boxes"), "cannot be mapped; do that below batch"),
    ],
)
def test_mistakes_say_what_to_write(make: Any, message: str) -> None:
    with pytest.raises(hr.GraphError, match=message):
        list(make())


def test_kernels_take_values_between() -> None:
    halved = images().batch(3, ragged="splits").map(T.TypeCast("float64"), "boxes")
    same(
        list(halved.unbatch()),
        [{**row(n, c), "boxes": row(n, c)["boxes"].astype(np.float64)} for n, c in enumerate(COUNTS)],
    )
    shortened = images().batch(3, ragged="splits").map(lambda boxes: boxes[1:], "boxes")
    with pytest.raises(hr.DataError, match='"boxes": splits .* are not those of values'):
        list(shortened.unbatch())


def test_chosen_sizes_join_ragged_rows() -> None:
    batches = list(images().batch(lambda info: info.number + 1, ragged="splits"))
    assert [batch["boxes_splits"].tolist() for batch in batches] == [[0, 2], [0, 0, 3], [0, 1, 1, 1], [0, 4]]


def test_a_saved_graph_keeps_the_forms(tmp_path: pathlib.Path) -> None:
    dataset = indexed().batch(3, ragged={"boxes": "list", "label": "pad"}, pad_value={"label": -7})
    dataset.save(tmp_path / "graph.hrg")
    assert hr.load(tmp_path / "graph.hrg").schema == dataset.schema


def test_on_a_device_splits_are_two_tensors_and_lists_are_refused() -> None:
    batches = list(images().batch(3, ragged="splits").to_device("cpu:0"))
    same(batches, list(images().batch(3, ragged="splits")))
    (empty,) = images((0, 0)).batch(2, ragged="splits").to_device("cpu:0")
    assert empty["boxes"].shape == (0, 4)
    with pytest.raises(hr.UnsupportedError, match=r'"boxes" is a list of rows, which cpu:0 does not take.*"splits"'):
        list(images().batch(3, ragged="list").to_device("cpu:0"))


def test_columns_called_as_the_splits_of_lists_are_delivered() -> None:
    arrays = {"x": np.arange(4), "x[splits]": np.arange(4) + 10}
    plain = hr.Numpy(arrays)
    assert plain.schema == {name: ("int64", ()) for name in arrays}
    (batch,) = plain.batch(4)
    same([batch], [arrays])
    assert [list(row) for row in plain.project(["x"]).take(1)] == [["x"]]
    ragged = hr.Generator(
        lambda: iter({"x": np.arange(count), "x[splits]": np.int64(count)} for count in (2, 1)),
        {"x": ("int64", (None,)), "x[splits]": ("int64", ())},
    )
    (batch,) = ragged.batch(2, ragged="splits")
    same([batch], [{"x": [0, 1, 0], "x_splits": [0, 2, 3], "x[splits]": [2, 1]}])
    with pytest.raises(hr.GraphError, match=r'are to be column "x\[splits\]", and there is a column of that name'):
        list(ragged.batch(2, ragged="list"))


def test_dlpack_gives_two_tensors_or_a_list() -> None:
    batch = next(images().batch(3, ragged="splits").iterate(as_="dlpack"))
    assert np.from_dlpack(batch["boxes"]).shape == (5, 4)
    assert np.from_dlpack(batch["boxes_splits"]).tolist() == [0, 2, 2, 5]
    batch = next(images().batch(3, ragged="list").iterate(as_="dlpack"))
    assert [np.from_dlpack(boxes).shape for boxes in batch["boxes"]] == [(2, 4), (0, 4), (3, 4)]


@pytest.mark.torch
def test_torch_gets_lists_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    batch = next(images().batch(3, ragged="list").iterate(as_="torch"))
    assert all(isinstance(boxes, torch.Tensor) for boxes in batch["boxes"])
    assert [tuple(boxes.shape) for boxes in batch["boxes"]] == [(2, 4), (0, 4), (3, 4)]
    batch["boxes"][0] += 1
    assert float(batch["boxes"][0][0, 0]) == 1.0


def test_texts_may_be_ragged() -> None:
    rows = [["a", "bc"], [], ["def"]]
    names = hr.Generator(lambda: iter(np.array(each, object) for each in rows), {"name": ("string", (None,))})
    (batch,) = names.batch(3, ragged="list")
    assert [each.tolist() for each in batch["name"]] == rows
    (batch,) = names.batch(3, ragged="splits")
    assert batch["name"].tolist() == ["a", "bc", "def"] and batch["name_splits"].tolist() == [0, 2, 2, 3]
