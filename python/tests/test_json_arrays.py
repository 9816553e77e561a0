"""Files of JSON that are one array, and nested objects: `hr.JsonLines`."""

import gzip
import json
import pathlib
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def test_the_elements_of_an_array_are_rows(tmp_path):
    rows = [{"text": f"[{number}],", "label": number} for number in range(5)]
    for name, text in (
        ("plain", json.dumps(rows)),
        ("indented", json.dumps(rows, indent=2) + "\n"),
        ("spaced", "\ufeff\r\n [" + " ,\t".join(map(json.dumps, rows)) + " ] \n"),
    ):
        (tmp_path / f"{name}.json").write_text(text)
        (tmp_path / f"{name}.json.gz").write_bytes(gzip.compress(text.encode()))
        for path in (tmp_path / f"{name}.json", tmp_path / f"{name}.json.gz"):
            ds = hr.JsonLines(path)
            assert ds.schema == {"text": ("string", ()), "label": ("int64", ())}
            assert [{"text": row["text"], "label": int(row["label"])} for row in ds] == rows
    (tmp_path / "lines.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    both = hr.JsonLines([tmp_path / "lines.json", tmp_path / "plain.json"], {"label": "int8"}, index="build")
    assert len(both) == 10 and int(both[7]["label"]) == 2
    assert sorted(int(row["label"]) for row in both.shuffle(4)) == sorted(2 * list(range(5)))


def test_an_array_of_no_rows_has_none(tmp_path):
    (tmp_path / "a.json").write_text("[ ]")
    assert list(hr.JsonLines(tmp_path / "a.json", {"x": "int64"})) == []
    with pytest.raises(hr.GraphError, match="the files have no row that shows the columns"):
        hr.JsonLines(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("text", "before", "message", "byte"),
    [
        ('[{"x": 1}, {"x": 2}', 1, "the file ends at byte 19 within the array", 11),
        (
            '[{"x": 1}, {"x": 2} {"x": 3}]',
            1,
            "a comma, or the bracket that ends the array, is missing in front of byte 20",
            11,
        ),
        ('[{"x": 1}, {"x": 2},]', 1, "no element comes after the comma at byte 19", 11),
        ('[{"x": 1}] 7', 1, "the array ends at byte 9, and the file goes on at byte 11", 9),
        ('[{"x": 1}, [2]]', 1, r"the row is \[2\]; it must be an object", 11),
        ('[{"x": 1}, {"x": tru}]', 1, "the row is not JSON: what is wrong begins at its byte", 11),
    ],
)
def test_what_is_wrong_with_an_array_is_told_by_its_byte(text, before, message, byte, tmp_path):
    (tmp_path / "a.json").write_text(text)
    rows = []
    with pytest.raises(hr.DataError, match=message) as caught:
        rows.extend(row for row in hr.JsonLines(tmp_path / "a.json", {"x": "int64"}))
    assert f"a.json, byte {byte}" in str(caught.value)
    with hr.JsonLines(tmp_path / "a.json", {"x": "int64"}).iterate(workers=1) as rows:
        assert [int(next(rows)["x"]) for _ in range(before)] == [1]


def test_states_go_on_within_an_array(tmp_path):
    rows = [{"x": number} for number in range(3000)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    ds = hr.JsonLines(tmp_path / "a.json", {"x": "int64"})
    with ds.iterate() as it:
        given = [int(next(it)["x"]) for _ in range(1234)]
        state = it.state()
    assert given + [int(row["x"]) for row in ds.iterate(state=state)] == list(range(3000))


def test_nested_objects_have_columns_of_their_own(tmp_path):
    rows = [
        {"a": {"b": 1, "c": {"d": "x"}}, "boxes": []},
        {"a": {"b": 2.5, "c": {"d": "y"}}, "boxes": [[1, 2, 3, 4], [5, 6, 7, 8]]},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ds = hr.JsonLines(tmp_path / "a.jsonl")
    assert ds.schema == {
        "a.b": ("float64", ()),
        "a.c.d": ("string", ()),
        "boxes": ("int64", (None, 4)),
    }
    assert [row["a.c.d"] for row in ds] == ["x", "y"] and [len(row["boxes"]) for row in ds] == [0, 2]
    declared = hr.JsonLines(tmp_path / "a.jsonl", {"a.b": "float32"})
    assert [float(row["a.b"]) for row in declared] == [1, 2.5]
    (tmp_path / "a.jsonl").write_text('{"a": {"b": 1}, "a.b": 2}\n{"a": null}\n')
    assert [int(row["a.b"]) for row in hr.JsonLines(tmp_path / "a.jsonl", missing={"a.b": 0})] == [2, 0]


def test_lists_that_are_all_empty_have_no_type(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": []}\n{"x": []}\n')
    with pytest.raises(hr.GraphError, match='"x" is an empty list in all rows that were looked at'):
        hr.JsonLines(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"x": []}\n{"x": 3}\n')
    with pytest.raises(hr.GraphError, match=r'"x" is int64 \(\) in row 2 of'):
        hr.JsonLines(tmp_path / "a.jsonl")


texts = st.text(max_size=6)
objects = st.fixed_dictionaries(
    {
        "t": texts,
        "n": st.integers(-(2**63), 2**63 - 1),
        "o": st.fixed_dictionaries(
            {"f": st.floats(allow_nan=False, allow_infinity=False), "w": st.lists(texts, max_size=3)}
        ),
    }
)


@quick
@given(st.lists(objects, max_size=20), st.sampled_from([None, 0, 1, "\t"]), st.booleans())
def test_an_array_is_what_was_written(rows, indent, ascii_alone):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.json"
        path.write_text(json.dumps(rows, indent=indent, ensure_ascii=ascii_alone), encoding="utf-8")
        types = {"t": str, "n": "int64", "o.f": "float64", "o.w": (str, (None,))}
        for index in (None, "build"):
            found = [
                {"t": row["t"], "n": int(row["n"]), "o": {"f": float(row["o.f"]), "w": row["o.w"].tolist()}}
                for row in hr.JsonLines(path, types, index=index)
            ]
            assert found == rows
        if rows and any(row["o"]["w"] for row in rows):
            assert hr.JsonLines(path).schema["o.w"].dtype == "string"
            assert np.array_equal([row["n"] for row in hr.JsonLines(path)], [row["n"] for row in rows])
