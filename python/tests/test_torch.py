"""Batches as PyTorch tensors; ./test --ci installs it."""

import gc

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"],
)
def test_every_dtype(dtype):
    column = np.arange(12).reshape(4, 3).astype(dtype)
    (batch,) = hr.Numpy({"x": column}).batch(4).iterate(as_="torch")
    assert isinstance(batch["x"], torch.Tensor)
    assert batch["x"].dtype == getattr(torch, dtype)
    assert np.array_equal(batch["x"].numpy(), column)


def test_bfloat16():
    (batch,) = hr.Range(4).map(T.TypeCast("bfloat16"), "value").batch(4).iterate(as_="torch")
    assert batch["value"].dtype == torch.bfloat16
    assert batch["value"].tolist() == [0, 1, 2, 3]


def test_tensors_outlive_the_iterator_and_may_be_written():
    it = hr.Range(3000).batch(1000).iterate(as_="torch")
    batches = [next(it)["value"] for _ in range(3)]
    it.close()
    del it
    gc.collect()
    for step, batch in enumerate(batches):
        batch += 1
        assert torch.equal(batch, torch.arange(1000) + 1 + 1000 * step)


def test_texts_and_bytes_stay_numpys():
    table = hr.Numpy({"x": np.zeros(2), "s": np.array(["a", "b"]), "b": np.array([b"", b"c"], object)})
    (batch,) = table.batch(2).iterate(as_="torch")
    assert batch["s"].tolist() == ["a", "b"] and batch["b"].tolist() == [b"", b"c"]
    row = next(table.iterate(as_="torch"))
    assert row["s"] == "a" and row["x"].shape == ()


def test_the_same_bytes_as_numpy(photos):
    pipeline = (
        hr.ImageFolder(photos, shuffle=True)
        .map([V.Decode(), V.RandomResizedCrop(32), V.Normalize([127.5] * 3, [64.0] * 3), V.HWC2CHW()], "image")
        .batch(4)
    )
    for one, two in zip(pipeline.iterate(as_="torch"), pipeline.iterate(), strict=True):
        assert np.array_equal(one["image"].numpy(), two["image"])
        assert one["image"].is_contiguous()


def test_functions_may_use_torch():
    def double(x):
        return torch.from_numpy(x.copy()) * 2

    assert [int(row["value"]) for row in hr.Range(3).map(double, "value")] == [0, 2, 4]
