"""The names of classes: from the source, through every method, as long as labels are what they were."""

from types import SimpleNamespace

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from headrace._datasets import class_names


@pytest.fixture
def folder(tmp_path):
    for name in ("dog", "cat", "Emu", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.png").write_bytes(V.EncodePng()(np.zeros((4, 4, 3), np.uint8)))
    (tmp_path / "notes.txt").write_text("no class")
    return tmp_path


def test_they_are_those_of_the_folders_in_the_order_of_labels(folder):
    ds = hr.ImageFolder(folder, columns=["label", "path"])
    assert ds.classes == ["Emu", "cat", "dog"]
    assert ds.class_to_idx == {"Emu": 0, "cat": 1, "dog": 2}
    for row in ds:
        assert f"/{ds.classes[row['label']]}/" in row["path"]


def test_given_labels_are_in_their_order(folder):
    ds = hr.ImageFolder(folder, classes={"cat": 7, "dog": 3})
    assert ds.classes == ["dog", "cat"]
    assert ds.class_to_idx == {"dog": 3, "cat": 7}


def test_they_follow_the_labels_through_every_method(folder, tmp_path):
    ds = hr.ImageFolder(folder, shuffle=True)
    decoded = ds.map(V.Decode(), "image")
    for same in (
        decoded,
        ds.shuffle(4),
        ds.take(2),
        ds.repeat(2),
        ds.cache(),
        ds.filter(hr.col("label") < 2),
        ds.select([0]),
        ds.split([0.5, 0.5])[0],
        ds.sample(hr.ClassBalanced("label")),
        ds.rename({"label": "target"}),
        ds.project(["label"]),
        decoded.batch(2),
        decoded.batch(2).unbatch(),
        ds.map(T.OneHot(3), "label"),
        ds.map(T.TypeCast("int64"), "label"),
        ds.map(T.OneHot(3), "label", output="other").project(["other"]),
        ds.options(workers=1),
        ds.concat(ds),
        hr.mix([ds, ds], [1, 1], "all"),
        hr.choose([ds, ds], hr.Range(2)),
        ds.bucket_by_length("image", [100], [2, 1], length=[1, 200, 1]),
        decoded.batch(2).map(V.ToFloat(), "image").map(V.MixUp(num_classes=3), ["image", "label"]),
        ds.zip(hr.Range(3)),
        hr.Range(3).zip(ds),
        ds.zip(ds.project(["label"]).rename({"label": "second"})),
    ):
        assert same.classes == ["Emu", "cat", "dog"], same
    assert decoded.map(lambda x: x, "image").class_to_idx["dog"] == 2
    decoded.save(tmp_path / "saved.hrg")
    assert hr.load(tmp_path / "saved.hrg").classes == ["Emu", "cat", "dog"]


def test_columns_that_a_map_adds_come_in_its_order():
    added = [f"copy{number}" for number in range(8)]
    node = SimpleNamespace(columns_of_steps=["label"], classes_after=lambda known: dict.fromkeys(["label", *added], 0))
    assert list(class_names._after_steps(node, {"label": {"cat": 0}})) == ["label", *added]


def test_where_they_are_not_known_the_reason_is_said(folder, tmp_path_factory):
    ds = hr.ImageFolder(folder)
    other = tmp_path_factory.mktemp("other")
    (other / "cow").mkdir()
    for dataset, reason in (
        (hr.Range(3), "no column of labels"),
        (ds.project(["image"]), "no column of labels"),
        (ds.map(lambda x: x + 1, "label"), 'column "label": a function changed the labels'),
        (ds.batch(2, function=lambda image, label: (image, label)), 'column "label": a function changed the labels'),
        (ds.scan(lambda last, label: (label, last), np.int32(0), "label"), "a function changed the labels"),
        (ds.map(T.Fill(1), "label"), 'column "label": Fill changed the labels'),
        (ds.map(T.TypeCast("bool"), "label"), 'column "label": TypeCast changed the labels'),
        (ds.concat(hr.ImageFolder(other)), "joined have different classes"),
        (
            ds.concat(hr.Numpy({"image": np.array([b"x"], object), "label": np.array([4], np.int32)})),
            "joined have diff",
        ),
    ):
        for name in ("classes", "class_to_idx"):
            assert not hasattr(dataset, name)
            with pytest.raises(AttributeError, match=f"a Dataset has no {name}; .*{reason}"):
                getattr(dataset, name)
    with pytest.raises(AttributeError, match="a Dataset has no class_names; write classes"):
        ds.class_names  # noqa: B018


class Labelled:
    classes = ("zero", "one")

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return index, index


def test_a_dataset_of_torchvision_gives_its_own():
    assert hr.from_dataset(Labelled(), columns=["image", "label"]).class_to_idx == {"zero": 0, "one": 1}
