"""What torchvision makes of the same files, where it is installed: pictures in their order, and what belongs to them."""

import json
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import PIL.Image
import pytest

from headrace import datasets
from headrace import vision as V
from tests import coco_files, picture_set_files
from tests.set_files import mat_bytes

torchvision = pytest.importorskip("torchvision")
# Which it imports.
pytestmark = pytest.mark.torch
of = torchvision.datasets

Call = Callable[[pathlib.Path], Any]


class Opened:
    """A picture that is no more than the bytes of its file."""

    def __init__(self, file: Any) -> None:
        self.data = file.read() if hasattr(file, "read") else pathlib.Path(file).read_bytes()

    def convert(self, mode: str) -> "Opened":
        return self


def write_celeb_a(at: pathlib.Path) -> None:
    """In one folder, and with the parts in the order of the other lists, by which they are joined there."""
    picture_set_files.write_celeb_a(at)
    for sub in ("Anno", "Eval"):
        for path in (at / sub).iterdir():
            path.rename(at / path.name)
    (at / "Img" / "img_align_celeba").rename(at / "img_align_celeba")
    pairs = zip(picture_set_files.CELEBS, picture_set_files.CELEB_PARTS, strict=True)
    (at / "list_eval_partition.txt").write_text("".join(f"{name} {part}\n" for name, part in pairs))


def write_food101(at: pathlib.Path) -> None:
    """With the lists in JSON, which are by class."""
    picture_set_files.write_food101(at)
    meta = at / "food-101" / "meta"
    (meta / "train.txt").write_text("cat/1\ncaterpillar/5\n")
    (meta / "train.json").write_text(json.dumps({"cat": ["cat/1"], "caterpillar": ["caterpillar/5"]}))


def write_flowers102(at: pathlib.Path) -> None:
    """With whole numbers, which it takes for numbers of files."""
    picture_set_files.write_flowers102(at)
    ids = {"trnid": [[5, 3]], "valid": [[1]], "tstid": [[2, 4]]}
    (at / "setid.mat").write_bytes(mat_bytes({name: np.array(rows, np.uint8) for name, rows in ids.items()}))


def celeb_label(target: Any) -> list[Any]:
    return [each.tolist() for each in target]


def celeb_columns(row: dict[str, Any]) -> list[Any]:
    return [row["attr"].tolist(), int(row["identity"]), row["landmarks"].ravel().tolist()]


def label(row: dict[str, Any]) -> int:
    return int(row["label"])


# Where it is written, who writes it, ours, theirs, and what is compared of a row of ours and of a target of theirs.
BY_FILES: dict[str, tuple[str, Call, Call, Call, Callable[..., Any], Callable[[Any], Any]]] = {
    "CelebA": (
        "celeba",
        write_celeb_a,
        lambda at: datasets.CelebA(at, more=["identity", "landmarks"]),
        lambda at: of.CelebA(at, target_type=["attr", "identity", "landmarks"]),
        celeb_columns,
        celeb_label,
    ),
    "DTD": ("dtd", picture_set_files.write_dtd, datasets.DTD, of.DTD, label, int),
    "FGVCAircraft": (
        "fgvc-aircraft-2013b",
        picture_set_files.write_aircraft,
        lambda at: datasets.FGVCAircraft(at, level="family"),
        lambda at: of.FGVCAircraft(at, annotation_level="family"),
        label,
        int,
    ),
    "Flowers102": (
        "flowers-102",
        write_flowers102,
        lambda at: datasets.Flowers102(at, "test"),
        lambda at: pytest.importorskip("scipy") and of.Flowers102(at, "test"),
        label,
        int,
    ),
    "Food101": ("", write_food101, datasets.Food101, of.Food101, label, int),
    "GTSRB": (
        "gtsrb",
        picture_set_files.write_gtsrb,
        lambda at: datasets.GTSRB(at, "test"),
        lambda at: of.GTSRB(at, "test"),
        label,
        int,
    ),
    "KITTI": (
        "Kitti/raw",
        picture_set_files.write_kitti,
        datasets.KITTI,
        # In the order in which the system lists a folder.
        lambda at: sorted(in_order(of.Kitti(at)), key=lambda item: item[0].data),
        lambda row: row["boxes"].tolist(),
        lambda target: [each["bbox"] for each in target],
    ),
    "LFWPeople": (
        "lfw-py",
        picture_set_files.write_lfw,
        lambda at: datasets.LFWPeople(at, "train"),
        lambda at: of.LFWPeople(at, "train"),
        label,
        int,
    ),
    "OxfordPets": (
        "oxford-iiit-pet",
        picture_set_files.write_oxford_pets,
        datasets.OxfordPets,
        lambda at: of.OxfordIIITPet(at, target_types=["category", "binary-category"]),
        lambda row: (int(row["label"]), int(row["species"])),
        tuple,
    ),
    "Places365": (
        "",
        picture_set_files.write_places365,
        datasets.Places365,
        of.Places365,
        label,
        int,
    ),
    "WIDERFace": (
        "widerface",
        picture_set_files.write_wider_face,
        lambda at: datasets.WIDERFace(at, boxes="xywh"),
        of.WIDERFace,
        lambda row: (row["boxes"].tolist(), row["blur"].tolist()),
        # A picture without a face has a face of nothing there.
        lambda target: (
            [each for each in target["bbox"].tolist() if any(each)],
            [blur for blur, box in zip(target["blur"].tolist(), target["bbox"].tolist(), strict=True) if any(box)],
        ),
    ),
}


@pytest.mark.parametrize("kind", BY_FILES)
def test_files_and_labels_are_theirs(tmp_path, kind, monkeypatch):
    place, write, ours, theirs, of_row, of_target = BY_FILES[kind]
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    write(tmp_path / place)
    # It compares the publisher's checksums, which small files do not have, and looks for archives.
    for module in (of.celeba, of.flowers102, of.lfw, of.places365):
        monkeypatch.setattr(module, "check_integrity", lambda *path, **md5: True)
    monkeypatch.setattr(of.WIDERFace, "_check_integrity", lambda self: True)
    monkeypatch.setattr(PIL.Image, "open", Opened)
    rows = list(ours(tmp_path / place))
    items = list(in_order(theirs(tmp_path)))
    assert [bytes(row["image"]) for row in rows] == [image.data for image, _ in items]
    assert [of_row(row) for row in rows] == [of_target(target) for _, target in items]


def in_order(dataset: Any) -> Iterable[Any]:
    return (dataset[number] for number in range(len(dataset)))


def test_coco_has_their_objects(tmp_path):
    pytest.importorskip("pycocotools")
    coco_files.write_coco(tmp_path)
    file = tmp_path / "annotations" / "instances_val2017.json"
    theirs = of.CocoDetection(tmp_path / "val2017", file)
    rows = {
        int(row["image_id"]): row
        for row in datasets.Coco(tmp_path, file, boxes="xywh", masks=True).map(V.Decode(), "image")
    }
    numbers = {category.id: number for number, category in enumerate(datasets.Coco(tmp_path, file).categories)}
    assert sorted(rows) == theirs.ids
    for number, (image, target) in zip(theirs.ids, in_order(theirs), strict=True):
        row = rows[number]
        np.testing.assert_array_equal(row["image"], np.asarray(image))
        order = [row["annotation_id"].tolist().index(each["id"]) for each in target]
        assert sorted(order) == list(range(len(row["annotation_id"])))
        for place, each in zip(order, target, strict=True):
            assert row["boxes"][place].tolist() == each["bbox"]
            assert row["category"][place] == numbers[each["category_id"]]
            assert row["iscrowd"][place] == each["iscrowd"] and row["area"][place] == each["area"]
            np.testing.assert_array_equal(row["masks"][place], theirs.coco.annToMask(each))


def test_coco_has_their_captions(tmp_path):
    pytest.importorskip("pycocotools")
    coco_files.write_coco(tmp_path)
    file = tmp_path / "annotations" / "captions_val2017.json"
    theirs = of.CocoCaptions(tmp_path / "val2017", file)
    rows = {int(row["image_id"]): row["captions"].tolist() for row in datasets.Coco(tmp_path, file, "captions")}
    assert [rows[number] for number in theirs.ids] == [captions for _, captions in in_order(theirs)]


def with_pictures(folder: pathlib.Path, names: str) -> None:
    for number, path in enumerate(sorted(folder.rglob(names))):
        pixels = np.random.default_rng(number).integers(0, 256, (6, 5, 3), np.uint8)
        PIL.Image.fromarray(pixels).save(path)


def test_voc_has_their_objects(tmp_path):
    picture_set_files.write_voc(tmp_path)
    with_pictures(tmp_path, "*.jpg")
    # It takes a blank line for a photograph.
    (tmp_path / "VOCdevkit" / "VOC2012" / "ImageSets" / "Main" / "train.txt").write_text("b\na\nc\n")
    theirs = of.VOCDetection(tmp_path, image_set="train")
    ours = list(datasets.VOC(tmp_path).map(V.Decode(), "image"))
    assert len(ours) == len(theirs)
    names = datasets.VOC(tmp_path).classes
    for row, (image, target) in zip(ours, in_order(theirs), strict=True):
        np.testing.assert_array_equal(row["image"], np.asarray(image))
        objects = target.get("annotation", {}).get("object", [])
        assert [names[number] for number in row["label"]] == [each["name"] for each in objects]
        corners = [[float(each["bndbox"][key]) for key in ("xmin", "ymin", "xmax", "ymax")] for each in objects]
        assert (row["boxes"] + [1, 1, 0, 0]).tolist() == corners
        assert row["difficult"].tolist() == [int(each.get("difficult", 0)) for each in objects]


def test_clevr_has_their_counts(tmp_path):
    picture_set_files.write_clevr(tmp_path / "clevr")
    with_pictures(tmp_path, "*.png")
    theirs = sorted(
        ((bytes(np.asarray(image)), count) for image, count in in_order(of.CLEVRClassification(tmp_path, "val")))
    )
    ours = datasets.CLEVR(tmp_path, "val").map(V.Decode(), "image")
    assert sorted((row["image"].tobytes(), int(row["count"])) for row in ours) == theirs


def test_voc_has_their_masks(tmp_path):
    picture_set_files.write_voc(tmp_path)
    with_pictures(tmp_path, "*.jpg")
    theirs = of.VOCSegmentation(tmp_path, image_set="train")
    for row, (_, mask) in zip(datasets.VOC(tmp_path, task="segmentation"), in_order(theirs), strict=True):
        np.testing.assert_array_equal(row["mask"][..., 0], np.asarray(mask))


@pytest.mark.parametrize(("task", "kind"), [("labels", "semantic"), ("instances", "instance"), ("colors", "color")])
def test_cityscapes_has_their_masks(tmp_path, task, kind):
    picture_set_files.write_cityscapes(tmp_path)
    with_pictures(tmp_path, "*_leftImg8bit.png")
    theirs = of.Cityscapes(tmp_path, "val", target_type=kind)
    found = {bytes(np.asarray(image)): np.asarray(mask) for image, mask in in_order(theirs)}
    rows = list(datasets.Cityscapes(tmp_path, "val", task=task).map(V.Decode(), "image"))
    assert len(rows) == len(found) == 2
    for row in rows:
        mask = found[row["image"].tobytes()]
        np.testing.assert_array_equal(row["mask"].reshape(mask.shape), mask)
