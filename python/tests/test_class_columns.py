"""Texts as labels: `classes=` of tables and of files of lines, and the names that datasets give."""

import csv
import json
import pathlib
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import transforms as T

quick = settings(max_examples=40, deadline=None, derandomize=True, database=None)
ANIMALS = ["dog", "cat", "emu", "cat"]


def numbers(ds: hr.Dataset, column: str = "label") -> list:
    return [row[column].tolist() for row in ds]


def sources(folder: pathlib.Path, classes) -> list[hr.Dataset]:
    (folder / "f").write_bytes(b"")
    with (folder / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["path", "label"], *(["f", each] for each in ANIMALS)])
    rows = [{"path": "f", "label": each} for each in ANIMALS]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = {"label": ANIMALS}
    return [
        hr.Numpy(table, classes=classes),
        hr.Numpy({"label": np.array(ANIMALS)}, classes=classes),
        hr.Manifest(rows, "path", folder, classes=classes),
        hr.Manifest(folder / "a.csv", "path", folder, classes=classes),
        hr.Manifest(folder / "a.jsonl", "path", folder, classes=classes),
        hr.Csv(folder / "a.csv", classes=classes),
        hr.Csv(folder / "a.csv", {"label": str}, classes=classes, index="build"),
        hr.JsonLines(folder / "a.jsonl", classes=classes),
        hr.JsonLines(folder / "a.jsonl", {"label": str}, classes=classes),
    ]


def test_names_that_occur_are_numbered_in_sorted_order(tmp_path):
    for classes in ("label", {"label": None}):
        for ds in sources(tmp_path, classes):
            assert ds.schema["label"] == ("int32", ()), ds
            assert numbers(ds) == [1, 0, 2, 0], ds
            assert ds.classes == ds.classes_of("label") == ["cat", "dog", "emu"], ds
            assert ds.class_to_idx == {"cat": 0, "dog": 1, "emu": 2}


def test_given_names_have_their_order(tmp_path):
    for ds in sources(tmp_path, {"label": ["emu", "cow", "dog", "cat"]}):
        assert numbers(ds) == [2, 3, 0, 3], ds
        assert ds.classes == ["emu", "cow", "dog", "cat"], ds


def test_a_text_that_is_no_name_is_an_error_of_its_row(tmp_path):
    for make in (
        lambda: hr.Numpy({"label": ANIMALS}, classes={"label": ["dog", "cats"]}),
        lambda: list(sources(tmp_path, {"label": ["dog", "cats"]})[5]),
    ):
        with pytest.raises(hr.DataError, match='cat.*, not one of the 2 classes; did you mean "?cats'):
            make()
    with pytest.raises(hr.DataError, match="column \"label\" is 'cat' in row 1, not one"):
        hr.Numpy({"label": ANIMALS}, classes={"label": ["dog"]})
    (tmp_path / "b.csv").write_text("label\ndog\ncat\n")
    with pytest.raises(hr.DataError, match=r"(?s)is cat, not one of the 1 classes.*b\.csv, byte 10"):
        list(hr.Csv(tmp_path / "b.csv", classes={"label": ["dog"]}))
    kept = hr.Csv(tmp_path / "b.csv", classes={"label": ["dog"]}).on_error("skip")
    assert numbers(kept) == [0]


def test_names_follow_the_labels(tmp_path):
    ds = hr.Numpy({"label": ANIMALS, "x": range(4)}, classes="label")
    for same in (
        ds.batch(2),
        ds.shuffle(4),
        ds.rename({"label": "target"}),
        ds.map(T.OneHot(3), "label"),
        ds.sample(hr.ClassBalanced("label")),
        ds.concat(ds),
        ds.zip(hr.Range(4)),
    ):
        assert same.classes == ["cat", "dog", "emu"], same
    assert ds.rename({"label": "target"}).classes_of("target") == ["cat", "dog", "emu"]
    with pytest.raises(hr.GraphError, match='column "label" has no classes with names: a function changed the labels'):
        ds.map(lambda x: x, "label").classes_of("label")
    with pytest.raises(
        hr.GraphError, match=r'column "x" has no classes with names: .* \(columns with names: "label"\)'
    ):
        ds.classes_of("x")
    for each in sources(tmp_path, "label")[5:]:
        each.save(tmp_path / "graph.hrg")
        loaded = hr.load(tmp_path / "graph.hrg")
        assert loaded.classes == ["cat", "dog", "emu"] and numbers(loaded) == [1, 0, 2, 0]


def test_several_columns_have_names_of_their_own(tmp_path):
    ds = hr.Numpy(
        {"a": ["x", "y"], "b": ["u", "u"], "tags": hr.ragged(["x", "z", "x"], [0, 0, 3])},
        classes={"a": None, "b": None, "tags": ["z", "x"]},
    )
    assert ds.classes_of("a") == ["x", "y"] and ds.classes_of("b") == ["u"] and ds.classes_of("tags") == ["z", "x"]
    assert numbers(ds, "tags") == [[], [1, 0, 1]] and ds.schema["tags"] == ("int32", (None,))
    with pytest.raises(
        AttributeError, match=r'"a", "b", "tags" have different classes; ask for those of one: classes_of'
    ):
        ds.classes  # noqa: B018
    assert ds.project(["b"]).classes == ["u"]
    with pytest.raises(hr.DataError, match="column \"tags\" is 'y' in row 2, not one of the 1 classes"):
        hr.Numpy({"tags": hr.ragged(["x", "x", "y"], [0, 2, 2, 3])}, classes={"tags": ["x"]})
    (tmp_path / "a.jsonl").write_text('{"o": {"names": []}}\n{"o": {"names": ["b", "a"]}}\n')
    assert numbers(hr.JsonLines(tmp_path / "a.jsonl", classes="o.names"), "o.names") == [[], [1, 0]]


def test_digits_may_be_names(tmp_path):
    (tmp_path / "a.csv").write_text("label\n7\n07\n7\n")
    ds = hr.Csv(tmp_path / "a.csv", classes="label")
    assert ds.classes == ["07", "7"] and numbers(ds) == [1, 0, 1]


def test_missing_labels_have_the_class_that_is_stated(tmp_path):
    ds = hr.Numpy({"label": ["a", None]}, missing={"label": "none"}, classes="label")
    assert ds.classes == ["a", "none"] and numbers(ds) == [0, 1]
    (tmp_path / "a.jsonl").write_text('{"label": "a"}\n{"label": null}\n')
    ds = hr.JsonLines(tmp_path / "a.jsonl", missing={"label": "none"}, classes="label")
    assert ds.classes == ["a", "none"] and numbers(ds) == [0, 1]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (3, "classes is 3; give the name of a column of texts"),
        ("lable", 'classes names "lable", and there is no such column'),
        ({"label": "cat"}, r'classes\["label"\] is .*; give a list of names'),
        ({"label": []}, r'classes\["label"\] has no names'),
        ({"label": ["a", "b", "a"]}, r'classes\["label"\] has .*a.* 2 times; a name has one number'),
        ({"label": [1]}, r'a name of classes\["label"\]'),
        ({"x": None}, 'column "x" is int64, and names of classes are texts'),
    ],
)
def test_mistakes_say_what_to_do(classes, message):
    with pytest.raises(hr.GraphError, match=message):
        hr.Numpy({"label": ["a", "b"], "x": [1, 2]}, classes=classes)


def test_mistakes_of_files_say_what_to_do(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"label": "a", "x": 1}\n')
    for classes, message in (
        ("lable", 'no column "lable"'),
        ("x", 'column "x" is int64'),
        ({"x": ["a"]}, '"x" has classes'),
    ):
        with pytest.raises(hr.GraphError, match=message):
            list(hr.JsonLines(tmp_path / "a.jsonl", classes=classes))


@quick
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), min_size=1),
        min_size=1,
        max_size=20,
    )
)
def test_numbers_stand_for_the_texts_that_were_written(names):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["label", "n"], *([name, 1] for name in names)])
        rows = pathlib.Path(folder) / "a.json"
        rows.write_text(json.dumps([{"label": name} for name in names]))
        for ds in (
            hr.Csv(path, newlines_in_values=True, classes="label"),
            hr.JsonLines(rows, classes="label"),
            hr.Numpy({"label": names}, classes="label"),
        ):
            assert [ds.classes[row["label"]] for row in ds] == names
            assert ds.classes == sorted(set(names))
