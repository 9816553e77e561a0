"""Photographs in the forms of Pascal VOC and Cityscapes."""

import pathlib
import shutil

import numpy as np
import pytest

import headrace as hr
from headrace import datasets
from tests.picture_set_files import write_cityscapes, write_voc


@pytest.fixture
def voc(tmp_path: pathlib.Path) -> pathlib.Path:
    write_voc(tmp_path)
    return tmp_path


def values(ds: hr.Dataset, name: str) -> list:
    return [np.asarray(row[name]).tolist() for row in ds]


def test_voc_counts_pixels_from_zero(voc):
    ds = datasets.VOC(voc, parts=True)
    assert values(ds, "name") == ["b", "a", "c"]
    assert [row["image"] for row in ds] == [b"b.jpg", b"a.jpg", b"c.jpg"]
    assert values(ds, "boxes") == [[[2, 2, 4, 4], [0, 0, 2, 2]], [[0, 1, 30, 40.5]], []]
    assert values(ds, "label") == [[7, 11], [14], []] and ds.classes[14] == "person"
    assert values(ds, "difficult") == [[1, 0], [0], []] and values(ds, "truncated") == [[0, 0], [1], []]
    assert values(ds, "part_boxes") == [[], [[4, 5, 9, 9]], []]
    assert values(ds, "part_name") == [[], ["head"], []] and values(ds, "part_object") == [[], [0], []]
    assert values(datasets.VOC(voc, boxes="xywh"), "boxes")[1] == [[0, 1, 30, 39.5]]


def test_voc_drops_difficult_objects(voc):
    ds = datasets.VOC(voc / "VOCdevkit" / "VOC2012", difficult="drop")
    assert values(ds, "label") == [[11], [14], []]


@pytest.mark.parametrize("task", ["segmentation", "instances"])
def test_voc_masks_are_the_indices_of_the_palette(voc, task):
    ds = datasets.VOC(voc, task=task)
    assert values(ds, "mask") == [[[[0], [15]], [[255], [15]]]]


def test_voc_names_what_is_wrong(voc):
    with pytest.raises(hr.DataError, match="b.xml: an object is of the class 'cat', which is not among classes"):
        datasets.VOC(voc, classes=["dog", "person"])
    (voc / "VOCdevkit" / "VOC2012" / "Annotations" / "a.xml").write_text("<annotation>")
    with pytest.raises(hr.DataError, match="cut off") as error:
        datasets.VOC(voc)
    assert str(error.value.file).endswith("a.xml")


def test_a_graph_over_voc_notices_other_annotations(voc, tmp_path):
    ds = datasets.VOC(voc)
    ds.save(tmp_path / "voc.hrg")
    assert values(hr.load(tmp_path / "voc.hrg"), "boxes") == values(ds, "boxes")
    (voc / "VOCdevkit" / "VOC2012" / "Annotations" / "c.xml").write_text("<annotation></annotation> ")
    with pytest.raises(hr.GraphError, match="are not as they were when the graph was saved"):
        list(hr.load(tmp_path / "voc.hrg"))


def test_masks_go_with_a_graph_to_where_its_files_lie(tmp_path):
    for place in ("here", "there"):
        write_voc(tmp_path / place)
    ds = datasets.VOC(tmp_path / "here", task="segmentation")
    expected = values(ds, "mask")
    ds.save(tmp_path / "voc.hrg")
    shutil.rmtree(tmp_path / "here")
    assert values(hr.load(tmp_path / "voc.hrg", {"arrays#0": tmp_path / "there"}), "mask") == expected


def test_cityscapes_has_masks_of_classes_and_instances(tmp_path):
    write_cityscapes(tmp_path)
    ds = datasets.Cityscapes(tmp_path, "val")
    assert values(ds, "city") == ["bonn", "ulm"] and values(ds, "name")[0] == "bonn_000001_000019"
    assert values(ds, "mask")[0] == [[[7], [33]]]
    assert values(datasets.Cityscapes(tmp_path, "val", task="instances"), "mask")[1] == [[[7], [26001]]]
    with pytest.raises(
        hr.NotFoundError, match="2 of 2 files missing: bonn/bonn_000001_000019_gtFine_labelTrainIds.png"
    ):
        datasets.Cityscapes(tmp_path, "val", task="train_labels")
    with pytest.raises(hr.GraphError, match="quality='fine' has the splits"):
        datasets.Cityscapes(tmp_path, "train_extra")
