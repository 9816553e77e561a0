"""Photographs in the forms of Pascal VOC and Cityscapes."""

import copy
import json
import pathlib
import pickle
import shutil
from collections.abc import Callable

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from headrace import datasets
from headrace import transforms as T
from headrace import vision as V
from headrace._datasets.class_names import known_classes
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


def test_voc_counts_boxes_that_may_not_be_meant(voc):
    assert datasets.VOC(voc).doubts == {
        "boxes_outside": 0, "boxes_empty": 0, "first_outside": "", "first_empty": ""
    }  # fmt: skip
    path = voc / "VOCdevkit" / "VOC2012" / "Annotations" / "b.xml"
    size = "<size><width>4</width><height>50</height></size>"
    path.write_text(path.read_text().replace("<object>", f"{size}<object>", 1).replace(">2<", ">5<"))
    ds = datasets.VOC(voc, boxes="xywh")
    assert ds.doubts["boxes_outside"] == 1 and ds.doubts["first_outside"] == "box 1 of JPEGImages/b.jpg"
    # Where the file says no size, those that begin before the photograph.
    path = voc / "VOCdevkit" / "VOC2012" / "Annotations" / "a.xml"
    path.write_text(path.read_text().replace("<xmin>1<", "<xmin>0<").replace("<ymax>40.5<", "<ymax>1<"))
    doubts = datasets.VOC(voc).doubts
    assert doubts["boxes_outside"] == 2 and doubts["boxes_empty"] == 1
    assert doubts["first_empty"] == "box 0 of JPEGImages/a.jpg"


def test_voc_drops_difficult_objects(voc):
    ds = datasets.VOC(voc / "VOCdevkit" / "VOC2012", difficult="drop")
    assert values(ds, "label") == [[11], [14], []]


@pytest.mark.parametrize("task", ["segmentation", "instances"])
def test_voc_masks_are_the_indices_of_the_palette(voc, task):
    ds = datasets.VOC(voc, task=task)
    assert values(ds, "mask") == [[[[0], [15]], [[255], [15]]]]
    if task == "segmentation":
        assert ds.classes[15] == "person" and ds.class_to_idx["background"] == 0 and len(ds.classes) == 21
        assert datasets.VOC(voc, task=task, classes=["hat"]).classes_of("mask") == ["background", "hat"]
    else:
        with pytest.raises(AttributeError, match="no column of labels"):
            ds.classes  # noqa: B018


KEEP_MASKS: dict[str, Callable[[hr.Dataset], hr.Dataset]] = {
    "seed": lambda ds: ds.with_seed(3),
    "options": lambda ds: ds.options(workers=1),
    "take": lambda ds: ds.take(1),
    "batch": lambda ds: ds.batch(1),
    "concat": lambda ds: ds.concat(ds),
    "copy": copy.copy,
    "pickle": lambda ds: pickle.loads(pickle.dumps(ds)),
    "map of images": lambda ds: ds.map(V.Decode(), "image"),
    "rename": lambda ds: ds.rename({"mask": "truth"}),
    "moves of both": lambda ds: ds.map([V.Decode(), V.RandomAffine(9), V.Resize(8)], ["image", hr.mask("mask")]),
    "choice": lambda ds: ds.map([V.Decode(), V.RandomApply([V.Pad(2)], 0.5)], ["image", hr.mask("mask")]),
    "move of nearest pixels": lambda ds: ds.map([V.Resize(8, interpolation="nearest"), V.HWC2CHW()], "mask"),
    "type": lambda ds: ds.map(T.TypeCast("int64"), "mask"),
    "stack": lambda ds: ds.map(T.Stack(), "mask"),
    "under two names": lambda ds: ds.map(T.Duplicate(), "mask", ["mask", "truth"]),
}


@pytest.mark.parametrize("operator", KEEP_MASKS)
def test_masks_keep_their_classes(voc, operator):
    ds = KEEP_MASKS[operator](datasets.VOC(voc, task="segmentation"))
    assert ds.classes[15] == "person" and len(ds.classes) == 21
    for name in {"mask", "truth"} & set(ds.schema):
        assert ds.classes_of(name) == ds.classes


@pytest.mark.parametrize(
    "kernels",
    [
        [V.RandomIoUCrop(), V.Resize(8)],
        [V.RandomCrop(8, pad_if_needed=True), V.SanitizeBoxes()],
        [V.RandomApply([V.RandomObjectCrop()], 0.5), V.SanitizeBoxes()],
    ],
)
def test_labels_of_boxes_keep_their_classes_where_boxes_are_cut(voc, kernels):
    ds = datasets.VOC(voc).map([V.Decode(), *kernels], ["image", hr.boxes("boxes", labels=["label", "difficult"])])
    assert ds.classes == ds.classes_of("label") and ds.classes[14] == "person"


def test_a_graph_names_the_classes_of_masks(voc, tmp_path):
    datasets.VOC(voc, task="segmentation").take(1).save(tmp_path / "voc.hrg")
    assert hr.load(tmp_path / "voc.hrg").classes[15] == "person"


def test_files_name_the_classes_of_labels_alone(voc):
    assert list(known_classes(datasets.VOC(voc))) == ["label"]
    assert known_classes(datasets.VOC(voc, task="segmentation")) == {}


CHANGE_MASKS: dict[str, tuple[Callable[[hr.Dataset], hr.Dataset], str]] = {
    "function": (lambda ds: ds.map(lambda mask: mask, "mask"), "a function"),
    "mixed pixels": (lambda ds: ds.map(V.Resize(8), "mask"), "Resize"),
    "numbers": (lambda ds: ds.map(V.ToFloat(), "mask"), "ToFloat"),
    "choice": (lambda ds: ds.map(V.RandomApply([V.Invert()], 0.5), "mask"), "Invert"),
}


@pytest.mark.filterwarnings("ignore:map. Resize interpolates")
@pytest.mark.parametrize("operator", CHANGE_MASKS)
def test_other_kernels_change_the_classes_of_masks(voc, operator):
    make, by = CHANGE_MASKS[operator]
    ds = make(datasets.VOC(voc, task="segmentation"))
    with pytest.raises(AttributeError, match=f'column "mask": {by} changed the labels'):
        ds.classes  # noqa: B018
    with pytest.raises(hr.GraphError, match=f"{by} changed the labels"):
        ds.classes_of("mask")


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        (["dog", "person", "dog"], r"classes must name each class once; got \['dog', 'person', 'dog'\]"),
        ([], "classes must name each class once"),
        (["background", "dog"], "background is not one of the classes"),
    ],
)
def test_voc_has_each_class_once(voc, classes, said):
    for task in ("detection", "segmentation"):
        with pytest.raises(hr.GraphError, match=said):
            datasets.VOC(voc, task=task, classes=classes)


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
    with pytest.raises(hr.GraphError, match="quality='fine' has the splits"):
        datasets.Cityscapes(tmp_path, "train_extra")


def test_cityscapes_has_colors_and_polygons(tmp_path):
    write_cityscapes(tmp_path)
    colors = datasets.Cityscapes(tmp_path, "val", task="colors")
    assert values(colors, "mask")[0] == [[[128, 64, 128, 255], [119, 11, 32, 255]]]
    polygons = datasets.Cityscapes(tmp_path, "val", task="polygons")
    assert polygons.schema["polygons"] == ("bytes", ()) and "mask" not in polygons.schema
    assert json.loads(next(iter(polygons))["polygons"])["objects"][0]["label"] == "road"
    (tmp_path / "gtFine" / "val" / "bonn" / "bonn_000001_000019_gtFine_polygons.json").unlink()
    with pytest.raises(hr.NotFoundError, match=r"bonn_000001_000019_gtFine_polygons\.json"):
        datasets.Cityscapes(tmp_path, "val", task="polygons")


def test_cityscapes_has_classes_of_training_of_the_same_files(tmp_path):
    write_cityscapes(tmp_path)
    ids = np.arange(34, dtype=np.uint8).reshape(2, 17)
    for path in tmp_path.rglob("*_labelIds.png"):
        PIL.Image.fromarray(ids).save(path)
    ds = datasets.Cityscapes(tmp_path, "val", task="train_labels")
    assert list(ds.schema) == ["image", "mask", "city", "name"] and ds.schema["mask"] == ("uint8", (None, None, 1))
    trained = [7, 8, 11, 12, 13, *range(17, 18), *range(19, 29), 31, 32, 33]
    expected = [trained.index(each) if each in trained else 255 for each in range(34)]
    assert np.ravel(values(ds, "mask")[0]).tolist() == expected
    assert len(ds.classes) == 19 and ds.classes[0] == "road" and ds.classes[18] == "bicycle"
    assert datasets.Cityscapes(tmp_path, "val").classes[33] == "bicycle"
    ds.save(tmp_path / "graph.hrg")
    loaded = hr.load(tmp_path / "graph.hrg")
    assert values(loaded, "mask") == values(ds, "mask") and loaded.classes_of("mask") == ds.classes
