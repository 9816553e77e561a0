"""Photographs of scenes in LMDB files."""

import io
import itertools
import pathlib
import shutil

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from headrace import datasets
from headrace import vision as V
from tests.picture_set_files import write_lsun

TWO = ["kitchen", "bridge"]


@pytest.fixture
def lsun(tmp_path: pathlib.Path) -> pathlib.Path:
    write_lsun(tmp_path / "here")
    return tmp_path / "here"


def rows(ds: hr.Dataset, **options: object) -> list[tuple[bytes, int]]:
    return [(bytes(row["image"]), int(row["label"])) for row in ds.iterate(**options)]


def entries(lsun: pathlib.Path) -> list[bytes]:
    return [bytes(row["value"]) for row in hr.Lmdb(lsun / "kitchen_val_lmdb")]


def test_rows_are_those_of_the_files_one_after_the_other(lsun):
    ds = datasets.LSUN(lsun, "val", TWO)
    assert ds.schema == {"image": ("bytes", ()), "label": ("int64", ())} and len(ds) == 2 * 299
    assert rows(ds) == [(entry, label) for label in (0, 1) for entry in entries(lsun)]
    assert ds.classes == TWO and ds.batch(7).classes == TWO
    assert bytes(ds[299]["image"]) == entries(lsun)[0] and ds[299]["label"] == 1
    alone = datasets.LSUN(lsun, "val", ["bridge"])
    assert len(alone) == 299 and alone.class_to_idx == {"bridge": 0}


def test_labels_stay_with_their_pictures_in_every_order(lsun):
    plain = rows(datasets.LSUN(lsun, "val", TWO))
    ds = datasets.LSUN(lsun, "val", TWO, shuffle=True, seed=3)
    first = rows(ds, epoch=0)
    assert first != plain and sorted(first) == sorted(plain) and first != rows(ds, epoch=1)
    shards = [rows(ds, epoch=0, shard=(rank, 3)) for rank in range(3)]
    assert sorted(sum(shards, [])) == sorted(plain)
    started = ds.iterate(epoch=0)
    begun = [(bytes(row["image"]), int(row["label"])) for row in itertools.islice(started, 100)]
    assert begun + rows(ds, state=started.state()) == first


def test_what_is_missing_is_named(lsun):
    with pytest.raises(hr.NotFoundError, match="LSUN: 8 of 10 files missing: bedroom_val_lmdb/data.mdb, church"):
        datasets.LSUN(lsun, "val")
    with pytest.raises(
        hr.NotFoundError, match=r"LSUN: 1 of 2 files missing: tower_val_lmdb/data.mdb; looked in .*, .*/lsun\."
    ):
        datasets.LSUN(lsun, "val", ["kitchen", "tower"])


def test_classes_are_those_of_the_set(lsun):
    with pytest.raises(hr.GraphError, match="LSUN: classes is 'beach'; it must be one of 'bedroom', "):
        datasets.LSUN(lsun, "val", ["beach"])
    with pytest.raises(hr.GraphError, match="names a class twice: bridge, bridge"):
        datasets.LSUN(lsun, "val", ["bridge", "bridge"])
    with pytest.raises(hr.GraphError, match='split "test" has no classes'):
        datasets.LSUN(lsun, "test", ["bridge"])


def test_the_set_without_labels(lsun):
    shutil.copytree(lsun / "kitchen_val_lmdb", lsun / "lsun" / "test_lmdb")
    ds = datasets.LSUN(lsun, "test")
    assert rows(ds) == [(entry, -1) for entry in entries(lsun)]


def test_a_graph_goes_to_where_its_files_lie(lsun, tmp_path):
    ds = datasets.LSUN(lsun, "val", TWO, shuffle=True, name="scenes")
    expected = rows(ds, seed=5)
    ds.save(tmp_path / "g.hrg")
    again = hr.load(tmp_path / "g.hrg")
    assert rows(again, seed=5) == expected and again.classes == TWO
    shutil.move(lsun, tmp_path / "there")
    moved = hr.load(tmp_path / "g.hrg", {"arrays#0": tmp_path / "there"})
    assert rows(moved, seed=5) == expected


def test_a_graph_notices_other_files(lsun, tmp_path):
    datasets.LSUN(lsun, "val", TWO).save(tmp_path / "g.hrg")
    file = lsun / "bridge_val_lmdb" / "data.mdb"
    shutil.copyfile(pathlib.Path(__file__).resolve().parents[2] / "io/formats/lmdb/testdata/empty.mdb", file)
    with pytest.raises(hr.GraphError, match="are not as they were when the graph was saved"):
        list(hr.load(tmp_path / "g.hrg"))


def test_a_damaged_file_is_named(lsun):
    file = lsun / "bridge_val_lmdb" / "data.mdb"
    file.write_bytes(file.read_bytes()[:10_000])
    with pytest.raises(hr.DataError, match="bridge_val_lmdb/data.mdb"):
        datasets.LSUN(lsun, "val", TWO)


@pytest.mark.torch
def test_pictures_are_those_that_torchvision_reads(tmp_path, monkeypatch):
    lmdb = pytest.importorskip("lmdb")
    torchvision = pytest.importorskip("torchvision")
    draws = np.random.default_rng(3)
    for name in ("bridge_val", "kitchen_val"):
        with lmdb.open(str(tmp_path / f"{name}_lmdb"), map_size=1 << 24) as environment:
            with environment.begin(write=True) as transaction:
                for _ in range(9):
                    packed = io.BytesIO()
                    PIL.Image.fromarray(draws.integers(0, 256, (8, 9, 3), np.uint8)).save(packed, "png")
                    transaction.put(draws.bytes(20).hex().encode(), packed.getvalue())
    # It writes its list of keys there.
    monkeypatch.chdir(tmp_path)
    theirs = torchvision.datasets.LSUN(str(tmp_path), ["bridge_val", "kitchen_val"])
    ours = datasets.LSUN(tmp_path, "val", ["bridge", "kitchen"]).map(V.Decode(), "image")
    assert len(ours) == len(theirs) == 18
    for row, (image, label) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(row["image"], np.asarray(image))
        assert row["label"] == label
