"""Folders of pictures with metadata.csv, metadata.jsonl or metadata.json in them: `hr.Manifest(folder)`."""

import csv
import json
import pathlib
import re

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V

PICTURES = ["a.png", "train/b.png", "train/deep/c.png"]


def picture(number: int) -> bytes:
    return V.EncodePng()(np.full((2, 2, 3), number, np.uint8))


@pytest.fixture
def folder(tmp_path) -> pathlib.Path:
    folder = tmp_path / "photos[1]"
    for number, name in enumerate(PICTURES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(picture(number))
    return folder


def rows() -> list[dict]:
    return [
        {"file_name": "a.png", "text": "one", "objects": {"bbox": [[1, 2, 3, 4.5]], "categories": ["cat"]}},
        {"file_name": "train/b.png", "text": "two", "objects": {"bbox": [], "categories": []}},
        {
            "file_name": "./train/deep/c.png",
            "text": "three",
            "objects": {"bbox": [[1, 2, 3, 4], [5, 6, 7, 8]], "categories": ["dog", "cat"]},
        },
    ]


def write_lines(path: pathlib.Path, given: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in given))


def check(ds: hr.Dataset, root: pathlib.Path) -> None:
    assert [row["text"] for row in ds] == ["one", "two", "three"]
    for row, name, expected in zip(ds, PICTURES, rows(), strict=True):
        assert row["image"] == (root / name).read_bytes()
        assert row["objects.bbox"].reshape(-1, 4).tolist() == expected["objects"]["bbox"]
        assert row["objects.categories"].tolist() == expected["objects"]["categories"]


def test_lines_of_json_name_pictures_captions_and_boxes(folder):
    write_lines(folder / "metadata.jsonl", rows())
    ds = hr.Manifest(folder, output="image")
    assert len(ds) == 3 and ds.schema["objects.bbox"] == ("float64", (None, 4)) and ds.schema["image"] == ("bytes", ())
    check(ds, folder)
    for same in (str(folder), f"{folder}/", f"file://{folder}", folder / "train" / ".."):
        check(hr.Manifest(same, "file_name", output="image"), folder)
    decoded = ds.project(["image", "objects.bbox"]).map([V.Decode(), V.Resize((4, 4))], "image").batch(3, pad=True)
    batch = next(iter(decoded))
    assert batch["image"].shape == (3, 4, 4, 3) and batch["objects.bbox"].shape == (3, 2, 4)


def test_an_array_of_json_is_the_same(folder):
    (folder / "metadata.json").write_text(json.dumps(rows(), indent=2))
    check(hr.Manifest(folder, output="image"), folder)


def test_a_table_in_csv_names_pictures_and_captions(folder):
    with (folder / "metadata.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file_name", "text", "score", "mask_file_name"])
        for number, name in enumerate(PICTURES):
            writer.writerow([name, f"a caption,\nof {number}", number / 2, "a.png"])
    ds = hr.Manifest(folder)
    assert [row["data"] for row in ds] == [picture(number) for number in range(3)]
    assert [row["text"] for row in ds] == [f"a caption,\nof {number}" for number in range(3)]
    assert [float(row["score"]) for row in ds] == [0, 0.5, 1]
    masks = hr.Manifest(folder, "mask_file_name", unmatched="skip")
    assert [row["data"] for row in masks] == 3 * [picture(0)]


def test_tables_of_subfolders_name_what_is_beside_them(folder):
    first, second, third = rows()
    write_lines(folder / "metadata.jsonl", [first])
    second["file_name"] = "b.png"
    third["file_name"] = "deep/c.png"
    (folder / "train/metadata.json").write_text(json.dumps([second, third]))
    ds = hr.Manifest(folder, output="image")
    check(ds, folder)
    assert [row["file_name"] for row in ds] == PICTURES
    train = hr.Manifest(folder / "train")
    assert [row["text"] for row in train] == ["two", "three"]


def test_numbers_of_several_tables_are_exact(folder):
    (folder / "metadata.csv").write_text("file_name,n\na.png,1\n")
    (folder / "train/metadata.csv").write_text("file_name,n\nb.png,2.5\ndeep/c.png,3\n")
    assert [float(row["n"]) for row in hr.Manifest(folder)] == [1, 2.5, 3]
    (folder / "metadata.csv").write_text(f"file_name,n\na.png,{2**53 + 1}\n")
    with pytest.raises(hr.GraphError, match='column "n"'):
        hr.Manifest(folder)


def test_rows_without_pictures_and_pictures_without_rows_are_named(folder):
    lost = [*rows()[:2], {**rows()[2], "file_name": "train/d.png"}]
    write_lines(folder / "metadata.jsonl", lost)
    with pytest.raises(
        hr.DataError, match=r"row 2 of metadata\.jsonl in .* names 'train/d\.png', and there is no such file"
    ):
        hr.Manifest(folder)
    write_lines(folder / "metadata.jsonl", rows()[:1])
    with pytest.raises(hr.DataError, match=r"train/b\.png in .* has no row in the metadata \(2 such pictures in all\)"):
        hr.Manifest(folder)
    (folder / "notes.txt").write_text("no picture")
    write_lines(folder / "metadata.jsonl", [lost[2], lost[0]])
    with pytest.warns(
        hr.PipelineWarning, match="1 row of the metadata of .* names no file, and 2 pictures have no row"
    ):
        ds = hr.Manifest(folder, unmatched="skip")
    assert [(row["text"], row["data"]) for row in ds] == [("one", picture(0))]
    assert [row["objects.bbox"].tolist() for row in ds] == [[[1, 2, 3, 4.5]]]


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({}, {}, r"has no metadata\.csv, metadata\.jsonl or metadata\.json in it or below"),
        (
            {"metadata.csv": "file_name\na.png\n", "metadata.jsonl": "{}\n"},
            {},
            r"has both metadata\.csv and metadata\.jsonl",
        ),
        ({"metadata.csv": "name\na.png\n"}, {}, r'metadata\.csv in .* has no column "file_name" \(columns: name\)'),
        ({"metadata.csv": "file_name\na.png\n"}, {"root": "/"}, "the table is a folder, .*; leave out root"),
        ({"metadata.csv": "file_name\na.png\n"}, {"unmatched": "drop"}, "unmatched is .*drop"),
        (
            {"metadata.csv": "file_name,x\na.png,1\n", "train/metadata.csv": "file_name,y\nb.png,1\n"},
            {},
            r"train/metadata\.csv has the columns file_name, y, and metadata\.csv file_name, x",
        ),
        (
            {"metadata.jsonl": '{"file_name": "a.png", "n": 1}\n{"file_name": "b.png", "n": null}\n'},
            {},
            r'^Manifest: "n" is None in row 2 .*; write the same in all rows, or leave it out, or say .*missing=',
        ),
        (
            {"metadata.jsonl": '{"file_name": "a.png", "n": 1}\n{"file_name": "b.png", "n": "x"}\n'},
            {},
            r'^Manifest: "n" is string .* before; write the same in all rows',
        ),
        ({"metadata.jsonl": "[]"}, {}, r"^Manifest: the files have no row .*; write one at least"),
        ({"metadata.jsonl": '{"file_name": 1}\n'}, {}, r'^Manifest: column "file_name" '),
    ],
)
def test_mistakes_say_what_to_do(folder, files, arguments, message):
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.raises(hr.GraphError, match=message):
        hr.Manifest(folder, **arguments)


def test_unmatched_is_for_folders(folder):
    with pytest.raises(hr.GraphError, match="unmatched is for a folder with metadata"):
        hr.Manifest({"path": ["/a"]}, "path", unmatched="skip")


def test_a_saved_graph_reads_the_folder_again(folder, tmp_path):
    write_lines(folder / "metadata.jsonl", rows())
    ds = hr.Manifest(folder, output="image", classes={"objects.categories": ["dog", "cat"]})
    ds.save(tmp_path / "graph.hrg")
    again = hr.load(tmp_path / "graph.hrg")
    assert again.classes == ["dog", "cat"]
    assert [row["objects.categories"].tolist() for row in again] == [[1], [], [0, 1]]
    (folder / "train/e.png").write_bytes(picture(4))
    with pytest.raises(hr.GraphError, match=re.escape("has changed since the graph was saved")):
        list(hr.load(tmp_path / "graph.hrg"))


def test_what_stands_for_missing_values(folder):
    (folder / "metadata.jsonl").write_text(
        '{"file_name": "a.png", "n": 1, "boxes": [[1.5, 2]]}\n'
        '{"file_name": "train/b.png", "n": null, "boxes": null}\n'
        '{"file_name": "train/deep/c.png", "boxes": [[1, 2], [3, 4]]}\n'
    )
    ds = hr.Manifest(folder, missing={"n": -1, "boxes": []})
    assert [int(row["n"]) for row in ds] == [1, -1, -1] and [len(row["boxes"]) for row in ds] == [1, 0, 2]
    with pytest.raises(hr.GraphError, match='"n" is None in row 2'):
        hr.Manifest(folder, missing={"boxes": []})
