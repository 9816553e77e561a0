"""Photographs with annotations in COCO's form."""

import copy
import gzip
import json
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import datasets
from headrace import vision as V
from tests import coco_files as made


@pytest.fixture
def coco(tmp_path: pathlib.Path) -> pathlib.Path:
    made.write_coco(tmp_path)
    return tmp_path


def values(ds: hr.Dataset, name: str) -> list:
    return [np.asarray(row[name]).tolist() for row in ds]


def altered(folder: pathlib.Path, annotations: list, name: str = "instances_val2017.json", **other: object) -> None:
    """Replaces a file of annotations."""
    text = made.file_of(annotations, **({"categories": made.CATEGORIES} | other))
    (folder / "annotations" / name).write_text(text)


def test_objects_are_in_the_order_of_the_file(coco):
    ds = datasets.Coco(coco, "instances_val2017.json")
    assert list(ds.schema) == ["image", "image_id", "boxes", "category", "iscrowd", "area", "annotation_id"]
    assert ds.schema["boxes"] == ("float32", (None, 4)) and ds.schema["category"] == ("int64", (None,))
    assert values(ds, "image_id") == [7, 2, 9]
    assert values(ds, "annotation_id") == [[5], [11, 12], []]
    assert values(ds, "category") == [[0], [1, 0], []]
    assert values(ds, "boxes") == [[[0, 0, 2, 40]], [[10, 5, 30.5, 20], [5, 5, 15, 15]], []]
    assert values(ds, "iscrowd") == [[1], [0, 0], []]
    assert values(ds, "area") == [[70], [200.25, 50], []]
    assert ds.classes == ["person", "zebra"]
    assert [(each.id, each.name) for each in ds.categories] == [(1, "person"), (90, "zebra")]
    assert ds.categories[0].keypoints == ("nose", "tail") and ds.categories[0].skeleton == ((1, 2),)
    assert [image.shape for image in (row["image"] for row in ds.map(V.Decode(), "image"))][0] == (40, 60, 3)


def test_boxes_have_the_form_that_is_asked_for(coco):
    ds = datasets.Coco(coco, "instances_val2017.json", boxes="xywh")
    assert values(ds, "boxes")[1] == [[10, 5, 20.5, 15], [5, 5, 10, 10]]


def test_images_without_an_annotation_stay_or_go(coco):
    assert len(datasets.Coco(coco, "instances_val2017.json")) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", hr.PipelineWarning)
        ds = datasets.Coco(coco, "instances_val2017.json", empty="drop", masks=True)
    assert len(ds) + len(ds.left_out) == len(datasets.Coco(coco, "instances_val2017.json"))
    assert {each.reason for each in ds.left_out} == {"it has no annotation"}
    assert ds.left_out[0].file.endswith("instances_val2017.json")
    assert values(ds, "image_id") == [7, 2] and values(ds, "annotation_id") == [[5], [11, 12]]
    assert [row["masks"].shape for row in ds] == [(1, 40, 60), (2, 30, 50)]
    captions = datasets.Coco(coco, "captions_val2017.json", "captions", empty="drop")
    assert values(captions, "captions") == [["A zebra.\n", "Two of them."], ["Nothing, naïvely."]]


def test_masks_are_those_of_pycocotools(coco):
    tools = pytest.importorskip("pycocotools.coco")
    reference = tools.COCO(str(coco / "annotations" / "instances_val2017.json"))
    ds = datasets.Coco(coco, "instances_val2017.json", masks=True)
    assert ds.schema["masks"] == ("uint8", (None, None, None)) and "outlines" not in ds.schema
    for row in ds:
        expected = [reference.annToMask(reference.anns[number]) for number in row["annotation_id"].tolist()]
        assert row["masks"].shape[0] == len(expected)
        for mask, other in zip(row["masks"], expected, strict=True):
            np.testing.assert_array_equal(mask, other)


def test_masks_of_random_polygons_are_those_of_pycocotools(coco):
    coco_masks = pytest.importorskip("pycocotools.mask")
    draws = np.random.default_rng(5)
    objects = []
    for number in range(60):
        image = made.IMAGES[number % 3]
        parts = [
            (draws.uniform(-0.2, 1.2, (draws.integers(3, 9), 2)) * [image["width"], image["height"]]).round(2)
            for _ in range(draws.integers(1, 4))
        ]
        outline = [part.ravel().tolist() for part in parts]
        packed = number % 4 == 0
        if packed:
            runs = coco_masks.merge(coco_masks.frPyObjects(outline, image["height"], image["width"]))
            outline = {"size": runs["size"], "counts": runs["counts"].decode()}
        objects.append(made.OBJECTS[0] | {"id": number, "image_id": image["id"], "segmentation": outline})
    altered(coco, objects)
    by_id = {each["id"]: each for each in objects}
    for row in datasets.Coco(coco, "instances_val2017.json", masks=True):
        for number, mask in zip(row["annotation_id"].tolist(), row["masks"], strict=True):
            runs = by_id[number]["segmentation"]
            if isinstance(runs, list):
                runs = coco_masks.merge(coco_masks.frPyObjects(runs, *mask.shape))
            np.testing.assert_array_equal(mask, coco_masks.decode(runs))


def test_masks_move_with_their_image(coco):
    ds = datasets.Coco(coco, "instances_val2017.json", masks=True, empty="drop")
    columns = ["image", hr.boxes("boxes", labels=["category", "iscrowd", "annotation_id"], masks="masks")]
    flipped = ds.map([V.Decode(), V.RandomHorizontalFlip(p=1.0)], columns)
    for before, after in zip(ds, flipped, strict=True):
        np.testing.assert_array_equal(after["masks"], before["masks"][:, :, ::-1])


def test_outlines_are_drawn_when_they_are_asked_for(coco):
    ds = datasets.Coco(coco, "instances_val2017.json", outlines=True)
    assert ds.schema["outlines"] == ("uint8", (None,))
    drawn = ds.map(V.DrawMasks(), "outlines", "masks")
    expected = datasets.Coco(coco, "instances_val2017.json", masks=True)
    for row, other in zip(drawn, expected, strict=True):
        np.testing.assert_array_equal(row["masks"], other["masks"])


def test_stuff_is_a_map_of_categories(coco):
    ds = datasets.Coco(coco, "stuff_val2017.json", "stuff")
    assert ds.schema["mask"] == ("uint8", (None, None)) and "outlines" not in ds.schema
    masks = datasets.Coco(coco, "instances_val2017.json", masks=True)
    for row, other in zip(ds, masks, strict=True):
        expected = np.full(row["mask"].shape, 255, np.uint8)
        for mask, category in zip(other["masks"], other["category"], strict=True):
            expected[mask == 1] = category
        np.testing.assert_array_equal(row["mask"], expected)


def test_maps_of_categories_have_their_classes(coco, tmp_path):
    stuff = datasets.Coco(coco, "stuff_val2017.json", "stuff")
    panoptic = datasets.Coco(coco, "panoptic_val2017.json", "panoptic")
    with pytest.raises(hr.GraphError, match='column "mask" has no classes with names'):
        panoptic.classes_of("mask")
    by_category = panoptic.map(V.PanopticCategories(), ["mask", "segment_id", "category"], "mask")
    for ds in (stuff, by_category):
        ds.take(2).save(tmp_path / "coco.hrg")
        loaded = hr.load(tmp_path / "coco.hrg")
        assert loaded.classes_of("mask") == loaded.classes == ds.classes_of("category") == ds.classes


def test_keypoints_have_coordinates_and_visibility(coco):
    ds = datasets.Coco(coco, "person_keypoints_val2017.json", "keypoints")
    assert ds.schema["keypoints"] == ("float32", (None, 2, 2)) and ds.schema["visibility"] == ("uint8", (None, 2))
    assert values(ds, "keypoints") == [[[[1, 2], [3, 4]]], [[[12, 7.5], [0, 0]], [[0, 0], [0, 0]]], []]
    assert values(ds, "visibility") == [[[1, 2]], [[2, 0], [0, 0]], []]


def test_captions_are_lists_of_texts(coco):
    ds = datasets.Coco(coco, "captions_val2017.json", "captions")
    assert list(ds.schema) == ["image", "image_id", "captions", "annotation_id"]
    assert values(ds, "captions") == [[], ["A zebra.\n", "Two of them."], ["Nothing, naïvely."]]
    assert values(ds, "annotation_id") == [[], [1, 3], [2]]


def test_panoptic_masks_have_the_numbers_of_segments(coco):
    ds = datasets.Coco(coco, "panoptic_val2017.json", "panoptic")
    assert ds.schema["mask"] == ("int32", (None, None))
    row = list(ds)[1]
    assert row["segment_id"].tolist() == [1000, 70_000] and row["category"].tolist() == [1, 0]
    assert row["mask"].shape == (30, 50)
    assert [row["mask"][0, 0], row["mask"][15, 30], row["mask"][0, 49]] == [1000, 70_000, 0]
    by_category = ds.map(V.PanopticCategories(), ["mask", "segment_id", "category"], "mask")
    mask = list(by_category)[1]["mask"]
    assert [mask[0, 0], mask[15, 30], mask[0, 49]] == [1, 0, 255]


def test_what_may_not_be_meant_is_counted(coco):
    odd = made.OBJECTS[0] | {"bbox": [-1, 0, 100, 0], "segmentation": []}
    odd.pop("area")
    altered(coco, [odd])
    ds = datasets.Coco(coco, "instances_val2017.json", boxes="xywh", masks=True)
    assert ds.doubts == {
        "boxes_outside": 1,
        "boxes_empty": 1,
        "outlines_empty": 1,
        "areas_missing": 1,
        "images_without": 2,
        "first_outside": "annotation 11 of image 2",
        "first_empty": "annotation 11 of image 2",
    }
    row = list(ds)[1]
    assert row["boxes"].tolist() == [[-1, 0, 100, 0]] and row["masks"].sum() == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"image_id": 8}, "annotation 11 is of image 8, which the file does not list"),
        ({"category_id": 8}, "annotation 11 is of category 8, which the file does not list"),
        ({"id": 5}, "two annotations have the id 5"),
        ({"bbox": [1, 2, 3]}, "a box has four numbers"),
        ({"segmentation": {"size": [5, 5], "counts": [25]}}, "are of height 5 and width 5; its image 2 has height 30"),
    ],
)
def test_damage_names_the_file_and_the_entry(coco, change, said):
    objects = copy.deepcopy(made.OBJECTS)
    objects[0] |= change
    altered(coco, objects)
    with pytest.raises(hr.DataError, match=said) as error:
        datasets.Coco(coco, "instances_val2017.json")
    assert str(error.value.file) == str(coco / "annotations" / "instances_val2017.json")


RUNS: dict[str, tuple[object, str]] = {
    "one beyond the image": ([0, 1501], "run lengths go beyond their"),
    "together beyond the image": ([1000, 501], "run lengths go beyond their"),
    "a sum beyond 64 bits": ([0, 2**62, 2**62, 2**62, 2**62, 5], "run lengths go beyond their"),
    "one beyond 63 bits": ([0, 2**63], "not a whole number of at least 0"),
    "one beyond all numbers": ([0, 10**400], "number"),
    "below 0": ([5, -1], "not a whole number of at least 0"),
    "packed, below 0": ("5N", "packed run lengths are damaged"),
    "packed, beyond 50 bits": ("o" * 40 + "0", "packed run lengths are damaged"),
    "packed, beyond the image": ("0ll1", "run lengths go beyond their"),
    "packed, cut off": ("oo", "packed run lengths are damaged"),
}


@pytest.mark.parametrize("what", RUNS)
def test_run_lengths_that_no_mask_has(coco, what):
    counts, said = RUNS[what]
    objects = copy.deepcopy(made.OBJECTS)
    objects[1]["segmentation"] = {"size": [30, 50], "counts": counts}
    altered(coco, objects)
    with pytest.raises(hr.DataError, match=f"annotation 1 of the list: .*{said}") as error:
        datasets.Coco(coco, "instances_val2017.json", masks=True)
    assert str(error.value.file) == str(coco / "annotations" / "instances_val2017.json")


@pytest.mark.parametrize("name", ["/etc/passwd", "../a.jpg", "a/../../b.jpg", "", "http://host/a.jpg"])
def test_names_of_photographs_stay_within_their_folder(coco, name):
    altered(coco, [], images=[made.IMAGES[0] | {"file_name": name}])
    with pytest.raises(hr.DataError, match="is not a path within a folder"):
        datasets.Coco(coco, "instances_val2017.json")


def test_missing_photographs_are_an_error_or_left_out(coco):
    (coco / "val2017" / "a.jpg").unlink()
    with pytest.raises(hr.NotFoundError, match="Coco: 1 of 3 files missing: a.jpg"):
        datasets.Coco(coco, "instances_val2017.json")
    with pytest.warns(UserWarning, match="left out a.jpg"):
        ds = datasets.Coco(coco, "instances_val2017.json", missing="skip")
    assert values(ds, "annotation_id") == [[5], []]
    assert [each.entry for each in ds.left_out] == ["a.jpg"]


def test_photographs_and_annotations_may_lie_anywhere(coco, tmp_path):
    file = coco / "annotations" / "instances_val2017.json"
    assert values(datasets.Coco(coco / "val2017", file), "image_id") == [7, 2, 9]
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert values(datasets.Coco(coco, packed, pictures="val2017"), "image_id") == [7, 2, 9]
    with pytest.raises(hr.NotFoundError, match="Coco: 1 of 1 file missing: instances_train2017.json"):
        datasets.Coco(coco, "instances_train2017.json")


def test_a_file_is_read_again_when_it_changed(coco):
    assert len(datasets.Coco(coco, "instances_val2017.json")) == 3
    altered(coco, [], images=made.IMAGES[:1])
    assert len(datasets.Coco(coco, "instances_val2017.json")) == 1


def test_masks_are_of_objects_alone(coco):
    with pytest.raises(hr.GraphError, match='masks=True needs task="detection" or "keypoints"; got \'captions\''):
        datasets.Coco(coco, "captions_val2017.json", "captions", masks=True)


@pytest.mark.parametrize("task", ["detection", "stuff", "panoptic"])
def test_a_saved_graph_reads_the_annotations_again(coco, tmp_path, task):
    name = {"detection": "instances", "stuff": "stuff", "panoptic": "panoptic"}[task]
    ds = datasets.Coco(coco, f"{name}_val2017.json", task, masks=task == "detection", shuffle=True, seed=3)
    ds.save(tmp_path / "coco.hrg")
    again = hr.load(tmp_path / "coco.hrg")
    for row, other in zip(ds, again, strict=True):
        assert row.keys() == other.keys()
        for column in row:
            np.testing.assert_array_equal(row[column], other[column])
    assert again.classes == ds.classes
    path = coco / "annotations" / f"{name}_val2017.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"info": {}}))
    with pytest.raises(hr.GraphError, match="are not as they were when the graph was saved"):
        list(hr.load(tmp_path / "coco.hrg"))


@pytest.mark.parametrize(
    ("name", "said"),
    [("detection", "Average Precision"), ("segmentation", "mask uint8 (3, 240, 240)"), ("keypoints", "3 people")],
)
def test_the_examples_run_over_coco(coco, name, said):
    if name == "detection":
        pytest.importorskip("pycocotools.cocoeval")
    script = pathlib.Path(__file__).resolve().parents[2] / "examples" / f"{name}.py"
    command = [sys.executable, str(script), "--coco", str(coco)]
    assert said in subprocess.run(command, check=True, capture_output=True, text=True).stdout
