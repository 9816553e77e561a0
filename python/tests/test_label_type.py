"""The type of labels by `label_type`, of all sources that give labels."""

import json
import pathlib

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V


def test_labels_of_folders(photos: pathlib.Path):
    plain, wide = hr.ImageFolder(photos), hr.ImageFolder(photos, label_type="int64")
    assert plain.schema["label"].dtype == "int32" and wide.schema["label"].dtype == "int64"
    assert wide.classes == plain.classes and len(wide) == len(plain)
    for one, other in zip(plain, wide, strict=True):
        assert one["image"] == other["image"] and one["label"] == other["label"] and other["label"].dtype == np.int64
    assert wide[2]["label"].dtype == np.int64


def test_it_is_a_map_of_type_cast(photos: pathlib.Path):
    written = hr.ImageFolder(photos).map(T.TypeCast("float32"), "label")
    given = hr.ImageFolder(photos, label_type=np.float32)
    assert [node["op"] for node in _nodes(given)] == ["ImageFolder", "map"] == [node["op"] for node in _nodes(written)]
    assert hr.ImageFolder(photos, label_type=None).to_json() == hr.ImageFolder(photos).to_json()


def _nodes(dataset: hr.Dataset) -> list[dict]:
    return json.loads(dataset.to_json())["nodes"]


def test_draws_and_orders_stay(photos: pathlib.Path):
    def rows(**given):
        drawn = hr.ImageFolder(photos, shuffle=True, **given).sample(hr.ClassBalanced("label"))
        return list(drawn.map([V.Decode(), V.RandomResizedCrop(8)], "image").batch(4).iterate(seed=3))

    for one, other in zip(rows(), rows(label_type="int64"), strict=True):
        assert np.array_equal(one["image"], other["image"]) and np.array_equal(one["label"], other["label"])


@pytest.mark.parametrize("shuffle", [False, True])
def test_columns_of_classes_of_files(tmp_path: pathlib.Path, shuffle):
    (tmp_path / "t.csv").write_text("x,label,kind\n1,dog,a\n2,cat,b\n")
    (tmp_path / "t.jsonl").write_text('{"x": 1, "label": "dog", "kind": "a"}\n{"x": 2, "label": "cat", "kind": "b"}\n')
    classes = {"label": None, "kind": ["a", "b"]}
    for ds in (
        hr.Csv(tmp_path / "t.csv", classes=classes, label_type="int64", shuffle=shuffle),
        hr.JsonLines(tmp_path / "t.jsonl", classes=classes, label_type="int64", shuffle=shuffle),
    ):
        assert ds.schema["label"].dtype == ds.schema["kind"].dtype == "int64"
        assert ds.classes == ["cat", "dog"] and ds.classes_of("kind") == ["a", "b"]
        assert sorted(int(row["label"]) for row in ds) == [0, 1]


def test_columns_of_classes_of_tables(tmp_path: pathlib.Path, photos: pathlib.Path):
    texts = np.array(["b", "a"], object)
    ds = hr.Numpy({"x": np.arange(2), "kind": texts}, classes="kind", label_type="int64")
    assert ds.schema["kind"].dtype == "int64" and [int(row["kind"]) for row in ds] == [1, 0]
    ds = hr.Numpy({"label": np.arange(2, dtype=np.uint8)}, label_type="int64")
    assert ds.schema["label"] == ("int64", ())
    paths = [str(each) for each in sorted(photos.rglob("*.jpg"))[:2]]
    ds = hr.Manifest({"file_name": paths, "label": ["b", "a"]}, classes="label", label_type="int64")
    assert [int(row["label"]) for row in ds] == [1, 0] and ds.schema["label"].dtype == "int64"


def test_labels_of_image_records_and_lists(tmp_path: pathlib.Path, photos: pathlib.Path):
    hr.ImageFolder(photos).write_records(tmp_path / "t.rec")
    ds = hr.ImageRecord(tmp_path / "t.rec", label_type="int64")
    assert hr.ImageRecord(tmp_path / "t.rec").schema["label"].dtype == "float32"
    assert [int(row["label"]) for row in ds] == [int(row["label"]) for row in hr.ImageFolder(photos)]
    assert ds.schema["label"].dtype == "int64"


def test_what_is_kept_with_the_source_stays(photos: pathlib.Path):
    ds = hr.ImageFolder(photos, label_type="int64", storage={"s3": {"endpoint": "https://minio.lan:9000"}})
    assert "storage" in ds._options and ds.schema["label"].dtype == "int64"


def test_a_type_that_labels_cannot_have(photos: pathlib.Path):
    with pytest.raises(
        hr.GraphError, match=r'test_label_type.py:[0-9]+  map TypeCast: column "label": cannot cast int32'
    ):
        assert hr.ImageFolder(photos, label_type="string").schema
    with pytest.raises(hr.GraphError, match="ImageFolder: label_type is 'int64', and there is no column of labels"):
        hr.ImageFolder(photos, columns=["image"], label_type="int64")


def test_a_saved_graph_has_it(tmp_path: pathlib.Path, photos: pathlib.Path):
    hr.ImageFolder(photos, label_type="int64").save(tmp_path / "t.hrg")
    loaded = hr.load(tmp_path / "t.hrg")
    assert loaded.schema["label"].dtype == "int64" and loaded.classes == hr.ImageFolder(photos).classes
