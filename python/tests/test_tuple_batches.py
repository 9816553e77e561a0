"""Batches as tuples of columns, by `as_tuple`."""

import pathlib

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V
from headrace._runs.device_batch import DeviceTuple
from headrace.torch import Loader

ROWS = 10


def table(**options) -> hr.Dataset:
    arrays = {"x": np.arange(ROWS), "label": np.arange(ROWS) % 3, "y": np.arange(ROWS) / 2}
    return hr.Numpy(arrays, shuffle=True).batch(3).options(**options)


def same(given, dicts, names=("x", "label", "y")) -> None:
    assert len(given) == len(dicts)
    for columns, batch in zip(given, dicts, strict=True):
        assert isinstance(columns, tuple) and len(columns) == len(names)
        for column, name in zip(columns, names, strict=True):
            np.testing.assert_array_equal(np.asarray(column), np.asarray(batch[name]))


def test_columns_are_in_the_order_of_the_schema():
    same(list(table(as_tuple=True)), list(table()))
    same(list(table().iterate(as_tuple=True)), list(table()))


def test_columns_are_those_named():
    same(list(table(as_tuple=["y", "x"])), list(table()), ["y", "x"])
    same(list(table(as_tuple="y")), list(table()), ["y"])
    assert all(isinstance(batch, dict) for batch in table(as_tuple=True).iterate(as_tuple=False))


def test_a_loop_takes_them_apart(photos: pathlib.Path):
    batches = hr.ImageFolder(photos).map([V.Decode(), V.Resize((8, 8))], "image").batch(4)
    for images, labels in batches.options(as_tuple=True):
        assert images.shape == (4, 8, 8, 3) and labels.shape == (4,)
    for number, (images, labels) in enumerate(Loader(batches, as_="numpy", as_tuple=True)):
        assert number >= 0 and len(images) == len(labels)


def test_rows_without_a_batch_are_tuples_too():
    assert [row for (row,) in hr.Range(3).options(as_tuple=True)] == [0, 1, 2]


@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_states_fit_both_forms(executor):
    batches = table(executor=executor)
    iterator = batches.iterate(epoch=2, as_tuple=True)
    taken = [next(iterator), next(iterator)]
    rest = list(batches.iterate(state=iterator.state()))
    same([*taken, *iterator], list(batches.iterate(epoch=2)))
    iterator = batches.iterate(epoch=2)
    next(iterator)
    same(list(batches.iterate(state=iterator.state(), as_tuple=True))[1:], rest)


def test_the_mark_of_rows_that_fill_up_stays_at_the_iterator():
    for rank in range(4):
        dicts = list(table().iterate(shard=(rank, 4), even="pad"))
        iterator = table().iterate(shard=(rank, 4), even="pad", as_tuple=True)
        assert iterator.pad is None
        same([batch for batch in iterator if iterator.pad is not None], dicts)
        np.testing.assert_array_equal(iterator.pad, dicts[-1]["_pad"])
    named = table().iterate(shard=(3, 4), even="pad", as_tuple=["x", "_pad"])
    assert all(np.array_equal(pad, named.pad) for _, pad in named)
    assert table().iterate().pad is None


def test_a_loader_has_the_mark_of_its_last_batch():
    loader = Loader(table(), as_="numpy", as_tuple=True, shard=(3, 4))
    assert loader.pad is None
    marks = []
    for x, _, _ in loader:
        marks.append(loader.pad.tolist())
        assert len(marks[-1]) == len(x)
    assert marks == [batch["_pad"].tolist() for batch in Loader(table(), as_="numpy", shard=(3, 4))]
    assert loader.pad is None


def test_a_loader_goes_on_in_mid_epoch():
    loader = Loader(table(), as_="numpy", as_tuple=True)
    loop = iter(loader)
    next(loop)
    state = loader.state_dict()
    rest = list(loop)
    again = Loader(table(), as_="numpy", as_tuple=True)
    again.load_state_dict(state)
    same(list(again), [dict(zip(("x", "label", "y"), batch, strict=True)) for batch in rest])


def test_batches_of_a_device_have_streams():
    batches = list(table(as_tuple=True, device="cpu:0"))
    same(batches, list(table()))
    assert all(type(batch) is DeviceTuple for batch in batches)
    batches[0].record_stream(0)
    made_again = DeviceTuple(batches[0])
    assert tuple(made_again) == tuple(batches[0])
    made_again.record_stream(0)


def test_columns_of_bytes_and_ragged_columns_are_theirs(photos: pathlib.Path):
    for images, labels in hr.ImageFolder(photos).batch(2).options(as_tuple=True):
        assert images.dtype == object and labels.dtype == np.int32
    rows = hr.Numpy({"x": hr.ragged(np.array([0, 0, 1, 2]), [0, 1, 4])}).batch(2, ragged="splits")
    ((values, splits),) = rows.options(as_tuple=True)
    assert values.tolist() == [0, 0, 1, 2] and splits.tolist() == [0, 1, 4]


def test_callbacks_and_progress_count_them():
    batches = hr.progress(table(as_tuple=True))
    assert sum(batches._iterator._rows_of(batch) or 0 for batch in batches) == ROWS


def test_what_reads_a_dataset_gets_dicts(tmp_path: pathlib.Path):
    rows = hr.Numpy({"record": np.array([b"a", b"bc"], object)}).options(as_tuple=True)
    rows.write_records(tmp_path / "t.rec")
    assert [row["record"] for row in hr.RecordFile(tmp_path / "t.rec")] == [b"a", b"bc"]
    assert rows.head(1) == [{"record": b"a"}]
    pictures = hr.Numpy({"image": np.zeros((2, 4, 4, 3), np.uint8)}).options(as_tuple=True)
    assert len(pictures.show()) == 2


@pytest.mark.torch
@pytest.mark.parametrize("workers", [0, 2])
def test_torchs_tensors(workers):
    torch = pytest.importorskip("torch")
    for x, label, y in Loader(table(), as_tuple=True):
        assert all(isinstance(each, torch.Tensor) for each in (x, label, y))
    device = Loader(table(), "cpu:0", as_tuple=["x"])
    assert [x.tolist() for (x,) in device] == [batch["x"].tolist() for batch in table()]
    # As Accelerate leaves the first batches out.
    from torch.utils.data import DataLoader

    loader = Loader(table(), as_tuple=True)
    given = DataLoader(loader.dataset, batch_sampler=loader.batch_sampler, collate_fn=loader.collate_fn)
    same(list(given), list(table()))
