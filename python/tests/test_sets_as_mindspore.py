"""What MindSpore makes of the same files, where it is installed."""

import json
import pathlib
from typing import Any

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from headrace import datasets
from headrace import vision as V
from tests import coco_files, picture_set_files, set_files

mindspore = pytest.importorskip("mindspore.dataset")


def rows_of(dataset: Any) -> list[dict[str, Any]]:
    return list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))


def same(ours: hr.Dataset, theirs: list[dict[str, Any]], names: dict[str, str]) -> None:
    """`names`: from columns of ours to columns of theirs."""
    rows = list(ours)
    assert len(rows) == len(theirs) > 0
    for row, other in zip(rows, theirs, strict=True):
        for name, its_name in names.items():
            np.testing.assert_array_equal(row[name], other[its_name].reshape(np.shape(row[name])), name)


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("kind", ["Mnist", "FashionMnist", "KMnist"])
def test_digits(tmp_path, kind, split):
    set_files.write_mnist(tmp_path)
    theirs = rows_of(getattr(mindspore, f"{kind}Dataset")(str(tmp_path), split, shuffle=False))
    same(getattr(datasets, kind)(tmp_path, split), theirs, {"image": "image", "label": "label"})


def records(labels: list[np.ndarray]) -> bytes:
    """As many as MindSpore takes a file to have."""
    columns = [each.astype(np.uint8)[:, None] for each in labels]
    return np.concatenate([*columns, set_files.planes(10_000, 1)], 1).tobytes()


def test_cifar(tmp_path):
    numbers = np.arange(10_000)
    (tmp_path / "test_batch.bin").write_bytes(records([numbers % 10]))
    theirs = rows_of(mindspore.Cifar10Dataset(str(tmp_path), "test", shuffle=False))
    set_files.write_cifar10(tmp_path / "names")
    (tmp_path / "names" / "batches.meta.txt").rename(tmp_path / "batches.meta.txt")
    same(datasets.Cifar10(tmp_path, "test"), theirs, {"image": "image", "label": "label"})


def test_cifar100(tmp_path):
    set_files.write_cifar100(tmp_path)
    numbers = np.arange(10_000)
    (tmp_path / "test.bin").write_bytes(records([numbers % 20, numbers % 100]))
    (tmp_path / "train.bin").unlink()
    theirs = rows_of(mindspore.Cifar100Dataset(str(tmp_path), "test", shuffle=False))
    columns = {"image": "image", "label": "fine_label", "coarse_label": "coarse_label"}
    same(datasets.Cifar100(tmp_path, "test"), theirs, columns)


def test_celebrities(tmp_path):
    picture_set_files.write_celeb_a(tmp_path)
    # It looks for lists and pictures in one folder, and joins the lists by line.
    for folder in (tmp_path / "Anno", tmp_path / "Eval", tmp_path / "Img" / "img_align_celeba"):
        for path in folder.iterdir():
            path.rename(tmp_path / path.name)
    pairs = zip(picture_set_files.CELEBS, picture_set_files.CELEB_PARTS, strict=True)
    (tmp_path / "list_eval_partition.txt").write_text("".join(f"{name} {part}\n" for name, part in pairs))
    theirs = rows_of(mindspore.CelebADataset(str(tmp_path), usage="train", shuffle=False))
    (tmp_path / "img_align_celeba").mkdir()
    for name in picture_set_files.CELEBS:
        (tmp_path / name).rename(tmp_path / "img_align_celeba" / name)
    ours = list(datasets.CelebA(tmp_path))
    assert [row["attr"].tolist() for row in ours] == [row["attr"].tolist() for row in theirs]
    assert [bytes(row["image"]) for row in ours] == [row["image"].tobytes() for row in theirs]


def with_pictures(folder: pathlib.Path) -> None:
    for number, path in enumerate(sorted(folder.rglob("*.jpg"))):
        pixels = np.random.default_rng(number).integers(0, 256, (30, 40, 3), np.uint8)
        PIL.Image.fromarray(pixels).save(path)


def test_objects_of_voc(tmp_path):
    picture_set_files.write_voc(tmp_path)
    with_pictures(tmp_path)
    base = tmp_path / "VOCdevkit" / "VOC2012"
    # It refuses a photograph without an object, and takes a blank line for one.
    (base / "ImageSets" / "Main" / "train.txt").write_text("b\na\n")
    kinds = datasets.VOC(tmp_path).class_to_idx
    theirs = rows_of(mindspore.VOCDataset(str(base), "Detection", "train", kinds, shuffle=False))
    ours = list(datasets.VOC(tmp_path))
    for row, other in zip(ours, theirs, strict=True):
        assert bytes(row["image"]) == other["image"].tobytes()
        assert row["label"].tolist() == other["label"].ravel().tolist()
        assert row["difficult"].tolist() == other["difficult"].ravel().tolist()
        assert row["truncated"].tolist() == other["truncate"].ravel().tolist()
        # Its pixels count from 1, and its width is that from the first pixel to the last.
        left, top, right, bottom = row["boxes"].T
        expected = np.stack([left + 1, top + 1, right - left - 1, bottom - top - 1], 1)
        np.testing.assert_array_equal(other["bbox"], expected)


def with_what_it_needs(file: pathlib.Path) -> None:
    held = json.loads(file.read_text())
    for each in held.get("categories", []):
        each["isthing"] = 1
    for each in held["annotations"]:
        if "keypoints" in each:
            each["num_keypoints"] = sum(seen > 0 for seen in each["keypoints"][2::3])
    file.write_text(json.dumps(held))


@pytest.mark.parametrize("task", ["Detection", "Keypoint", "Panoptic", "Captioning"])
def test_coco(tmp_path, task):
    coco_files.write_coco(tmp_path)
    name, of_task = {
        "Detection": ("instances", "detection"),
        "Keypoint": ("person_keypoints", "keypoints"),
        "Panoptic": ("panoptic", "panoptic"),
        "Captioning": ("captions", "captions"),
    }[task]
    file = tmp_path / "annotations" / f"{name}_val2017.json"
    with_what_it_needs(file)
    theirs = rows_of(mindspore.CocoDataset(str(tmp_path / "val2017"), str(file), task, shuffle=False))
    ds = datasets.Coco(tmp_path, file, of_task, boxes="xywh", empty="drop")
    ids = [each.id for each in ds.categories]
    ours = list(ds)
    assert len(ours) == len(theirs) > 0
    for row, other in zip(ours, theirs, strict=True):
        assert bytes(row["image"]) == other["image"].tobytes()
        if task == "Captioning":
            assert row["captions"].tolist() == other["captions"].ravel().tolist()
        if task == "Keypoint":
            points = np.concatenate([row["keypoints"], row["visibility"][:, :, None]], 2)
            np.testing.assert_array_equal(points.reshape(len(points), -1), other["keypoints"])
        if task in ("Detection", "Panoptic"):
            np.testing.assert_array_equal(row["boxes"], other["bbox"])
            assert [ids[number] for number in row["category"]] == other["category_id"].ravel().tolist()
            assert row["iscrowd"].tolist() == other["iscrowd"].ravel().tolist()


def test_masks_of_voc(tmp_path):
    picture_set_files.write_voc(tmp_path)
    with_pictures(tmp_path)
    base = tmp_path / "VOCdevkit" / "VOC2012"
    theirs = rows_of(mindspore.VOCDataset(str(base), "Segmentation", "train", decode=True, shuffle=False))
    ours = list(datasets.VOC(tmp_path, task="segmentation").map(V.Decode(), "image"))
    colours = np.array([value % 256 for value in range(3, 771)], np.uint8).reshape(256, 3)
    for row, other in zip(ours, theirs, strict=True):
        # It gives the colours of the palette.
        np.testing.assert_array_equal(colours[row["mask"][..., 0]], other["target"])
