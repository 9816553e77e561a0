"""Images packed from class folders are those of the folders: to a pipeline `ImageRecord` and `ImageFolder` give the same."""

import pathlib

import cv2
import numpy as np
import pytest

import headrace as hr
from headrace import vision as V
from headrace.__main__ import main

CLASSES, IMAGES = 4, 5


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> pathlib.Path:
    root = tmp_path_factory.mktemp("folders") / "root"
    draw = np.random.default_rng(0)
    for number in range(CLASSES * IMAGES):
        path = root / f"n{number % CLASSES:02}" / f"{number:03}.{'png' if number % 7 == 0 else 'JPEG'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        image = draw.integers(0, 256, (30 + number, 70 - number, 3), np.uint8)
        path.write_bytes(cv2.imencode(".png" if number % 7 == 0 else ".jpg", image)[1])
    return root


@pytest.fixture(scope="module")
def packed(folders) -> str:
    prefix = folders.parent / "set"
    assert main(["pack", str(prefix), str(folders), "--list", "--recursive", "--no-shuffle"]) == 0
    assert main(["pack", str(prefix), str(folders), "--pass-through"]) == 0
    return str(prefix)


def rows(dataset, **options) -> list[dict[str, object]]:
    with dataset.iterate(**options) as given:
        return [{name: _value(value) for name, value in row.items()} for row in given]


def _value(value: object) -> object:
    return value if isinstance(value, bytes) else (np.asarray(value).tobytes(), np.shape(value))


@pytest.mark.parametrize("indexed", [True, False])
def test_the_records_hold_the_files_and_their_classes(folders, packed, indexed):
    records = hr.ImageRecord(f"{packed}.rec", index=f"{packed}.idx" if indexed else None)
    files = hr.ImageFolder(folders)
    pairs = list(zip(records, files, strict=True))
    assert len(pairs) == CLASSES * IMAGES
    for record, file in pairs:
        assert record["image"] == file["image"] and int(record["label"]) == int(file["label"])


# Rows have the same numbers in both, so that shuffles and crops are drawn alike.
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_training_pipeline_gives_the_same_batches(folders, packed, shuffle):
    def train(source):
        crops = [V.Decode(), V.RandomResizedCrop(24, antialias=False), V.RandomHorizontalFlip(), V.HWC2CHW()]
        return source.map(crops, "image").map(lambda label: np.int32(label), "label").batch(4)

    records = train(hr.ImageRecord(f"{packed}.rec", index=f"{packed}.idx", shuffle=shuffle).project(["image", "label"]))
    files = train(hr.ImageFolder(folders, shuffle=shuffle))
    for epoch in range(2):
        assert rows(records, epoch=epoch, seed=3) == rows(files, epoch=epoch, seed=3)
