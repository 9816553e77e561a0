"""The examples of detection and segmentation: what they print and draw, and the boxes and masks that they read."""

import importlib.util
import json
import pathlib
import re
import sys
from typing import Any

import numpy as np
import pytest
from PIL import Image

import headrace as hr
from headrace.__main__ import main

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
OBJECTS = [json.loads(line) for line in (EXAMPLES / "objects/boxes.jsonl").read_text().splitlines()]


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture(params=["detection", "segmentation"])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def pixels_of(kind: str, file: str) -> np.ndarray:
    with Image.open(EXAMPLES / kind / file) as image:
        return np.asarray(image)


def test_draws_the_same_sheet_as_the_command(
    name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--out", str(tmp_path)])
    example(name).main()
    printed = capsys.readouterr().out
    command = re.search("headrace (show .*)sheet.png", printed)
    assert command is not None
    assert main([*command[1].split(), str(tmp_path / "sheet.png")]) == 0
    assert capsys.readouterr().out.endswith("12 images\n")
    assert (tmp_path / "sheet.png").read_bytes() == (tmp_path / f"{name}.png").read_bytes()


def test_each_box_has_a_label(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: Any) -> None:
    script = example("detection")
    rows = list(script.training_images())
    assert [row["image"].shape for row in rows] == [(300, 300, 3)] * 12
    assert all(row["boxes"].shape == (len(row["labels"]), 4) for row in rows)
    assert all(np.all((row["boxes"] >= 0) & (row["boxes"] <= 300)) for row in rows)
    assert sum(len(row["labels"]) for row in rows) > 12
    monkeypatch.setattr(sys, "argv", ["detection", "--out", str(tmp_path)])
    script.main()
    lines = capsys.readouterr().out.splitlines()[:6]
    counts = [list(map(int, re.findall(r"\d+", line.partition(": ")[2]))) for line in lines[::2]]
    assert [count for batch in counts for count in batch] == [len(row["labels"]) for row in rows]
    classes = [script.CLASSES[label] for row in rows for label in row["labels"]]
    assert ", ".join(line.strip() for line in lines[1::2]).split(", ") == classes


def test_masks_hold_classes() -> None:
    script = example("segmentation")
    rows = list(script.training_images())
    assert [row["image"].shape for row in rows] == [(240, 240, 3)] * 12
    assert [row["mask"].shape for row in rows] == [(240, 240, 1)] * 12
    assert {int(value) for row in rows for value in np.unique(row["mask"])} == {*range(len(script.CLASSES)), 255}
    # What is left out has been padded, with one colour.
    assert all(len(np.unique(row["image"][row["mask"][..., 0] == script.IGNORED], axis=0)) <= 1 for row in rows)


def test_objects_are_those_of_the_images() -> None:
    images = hr.ImageFolder(str(EXAMPLES / "photos"), columns=["path"])
    assert [str(row["path"]).removeprefix(f"{EXAMPLES}/photos/") for row in images] == [
        each["picture"] for each in OBJECTS
    ]
    masks = sorted(str(path.relative_to(EXAMPLES / "objects/masks")) for path in EXAMPLES.glob("objects/masks/*/*"))
    assert masks == [each["picture"].replace(".jpg", ".png") for each in OBJECTS]


@pytest.mark.parametrize("row", OBJECTS, ids=lambda row: row["picture"])
def test_boxes_hold_the_pixels_of_their_class(row: dict[str, Any]) -> None:
    mask = pixels_of("objects/masks", row["picture"].replace(".jpg", ".png"))
    assert mask.shape == pixels_of("photos", row["picture"]).shape[:2]
    assert len(row["boxes"]) == len(row["labels"])
    outside = mask.copy()
    for (left, top, right, bottom), label in zip(row["boxes"], row["labels"], strict=True):
        assert 0 <= left < right <= mask.shape[1] and 0 <= top < bottom <= mask.shape[0]
        assert (mask[top:bottom, left:right] == label).mean() > 0.2
        within = outside[top:bottom, left:right]
        within[within == label] = 0
    assert not outside.any()
