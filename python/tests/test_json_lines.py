"""Rows of JSON lines, their types, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_columns_have_the_types_given(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"t": "ä", "n": 3, "box": [1, 2.5], "words": ["a", "b"], "left": {}}] * 3)
    types = {"n": "int16", "t": str, "box": ("float32", (2,)), "words": (str, (None,))}
    rows = list(hr.JsonLines(path, types))
    assert len(rows) == 3 and list(rows[0]) == list(types)
    assert rows[0]["n"].dtype == np.int16 and rows[0]["t"] == "ä"
    assert rows[0]["box"].tolist() == [1, 2.5] and rows[0]["words"].tolist() == ["a", "b"]
    (batch,) = hr.JsonLines(path, types).batch(3)
    assert batch["box"].shape == (3, 2) and batch["t"].tolist() == ["ä"] * 3


def test_types_are_looked_for_in_the_first_lines(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"a": 1, "b": [1, 2], "c": True}, {"a": 2.5, "b": [3], "c": False}, {"a": "x"}])
    found = hr.JsonLines(path, look=2)
    assert found.schema == {"a": ("float64", ()), "b": ("int64", (None,)), "c": ("bool", ())}
    assert [float(row["a"]) for row in found.take(2)] == [1, 2.5]
    with pytest.raises(
        hr.GraphError,
        match='row 3 of .*a.jsonl.* has no "b", which other rows have; name the columns to read: .*, or say what .* missing=',
    ):
        hr.JsonLines(path)


scalars = st.one_of(
    st.text(max_size=5), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
)


@quick
@given(st.lists(st.tuples(scalars, st.text(), st.floats(width=32, allow_nan=False, allow_infinity=False)), max_size=30))
def test_rows_are_those_that_were_written(rows):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        written = [{"extra": a, "t": b, "f": c, "i": number} for number, (a, b, c) in enumerate(rows)]
        path = write(Path(folder) / "rows.jsonl", written)
        dataset = hr.JsonLines(path, {"i": "int64", "t": str, "f": "float64"}, split_bytes=40)
        found = [(int(row["i"]), row["t"], float(row["f"])) for row in dataset]
        assert found == [(each["i"], each["t"], each["f"]) for each in written]
        shuffled = hr.JsonLines(path, {"i": "int64"}, shuffle=True, split_bytes=40)
        ranks = [int(row["i"]) for rank in range(3) for row in shuffled.iterate(shard=(rank, 3), epoch=1)]
        assert sorted(ranks) == list(range(len(rows)))


def test_a_line_that_is_wrong_is_named_and_can_be_left_out(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": 1}\n{"x": 2\n{"x": null}\n{"y": 4}\n[5]\n{"x": 6}\n')
    dataset = hr.JsonLines(path, {"x": "int64"})
    with pytest.raises(hr.DataError, match="the row is not JSON") as caught:
        list(dataset)
    assert "a.jsonl, byte 9" in str(caught.value)
    kept = dataset.on_error("skip")
    assert [int(row["x"]) for row in kept] == [1, 6]


def test_what_is_looked_at_can_be_read(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"hash": 2**64 - 1, "mixed": 1, "low": -1}, {"hash": 5, "mixed": -(2**63), "low": 2.5}]
    write(path, rows)
    looked = hr.JsonLines(path)
    assert {name: dtype for name, (dtype, _) in looked.schema.items()} == {
        "hash": "uint64",
        "mixed": "int64",
        "low": "float64",
    }
    found = [{name: value.item() for name, value in row.items()} for row in looked]
    assert found == rows
    for text, message in (
        ('{"x": NaN}', "it has NaN, which JSON does not have"),
        ('{"x": [-Infinity]}', "it has -Infinity"),
        ('{"x": ' + 900 * "[" + "1" + 900 * "]" + "}", "has no type of a column"),
        ('{"x": ' + 100_000 * "[" + 100_000 * "]" + "}", "is not JSON"),
        ('{"x": 1}\n\n', "row 2 of .*a.jsonl"),
    ):
        path.write_text(text + "\n")
        with pytest.raises((hr.DataError, hr.GraphError), match=message):
            hr.JsonLines(path)
    write(path, [{"x": 2**63}, {"x": -1}])
    with pytest.raises(hr.GraphError, match=r'"x" is int64 \(\) in row 2 of .*a.jsonl.*, and uint64 \(\) before'):
        hr.JsonLines(path)


def test_files_that_are_not_there_are_those_of_the_user(tmp_path):
    with pytest.raises(hr.NotFoundError, match="JsonLines") as caught:
        hr.JsonLines(tmp_path / "none.jsonl")
    assert "Text" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": {}}, "give a dict from name to type"),
        ({"columns": ["x"]}, "give a dict from name to type"),
        ({"columns": {"x": object()}}, 'the type of column "x" is <object'),
        ({"columns": {"x": "bytes"}}, "has no type that a field can have"),
        ({"columns": {"x": ("int64", (-1,))}}, 'a dimension of column "x" is -1; it must be at least 0'),
        ({"columns": {"x": ("int64", (2.7,))}}, 'a dimension of column "x" is 2.7; it must be a whole number'),
        ({"columns": {"x": ("int64", ("4",))}}, "a dimension of column \"x\" is '4'"),
        ({"columns": {"x": ("int64", (True,))}}, r'the type of column "x" is \(\'int64\', \(True,\)\)'),
        ({"columns": {"x": ("int64", "44")}}, r'the type of column "x" is \(\'int64\', \'44\'\); give a dtype, or'),
        ({"look": 0}, "look is 0; it must be at least 1"),
        ({}, "the files have no row that shows the columns"),
    ],
)
def test_mistakes_say_what_to_do(arguments, message, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(hr.GraphError, match=message):
        list(hr.JsonLines(tmp_path / "*.jsonl", **arguments))


def test_a_type_that_none_of_the_lines_shows_is_asked_for(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"x": None}])
    with pytest.raises(hr.GraphError, match='"x" is None in row 1 of .*a.jsonl.*, which has no type of a column'):
        hr.JsonLines(path)
    write(path, [{"x": 1}, {"x": "a"}])
    with pytest.raises(hr.GraphError, match=r'"x" is string \(\) in row 2 of .*a.jsonl.*, and int64 \(\) before'):
        hr.JsonLines(path)


def test_json_that_is_no_json_lines_is_told_apart_while_columns_are_looked_for(tmp_path):
    (tmp_path / "a.json").write_text('{\n "a": 1\n}\n')
    with pytest.raises(hr.DataError, match=r"row 1 of .* is not JSON: .*; each line is a whole object, or .*: write"):
        hr.JsonLines(tmp_path / "a.json")


def test_a_blank_line_is_told_while_columns_are_looked_for(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n')
    with pytest.raises(hr.DataError, match="row 2 of .* is blank; take the line out"):
        hr.JsonLines(tmp_path / "a.jsonl")


def test_null_and_absent_keys_stand_for_what_is_given(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        [{"n": 1, "t": "a", "x": 0.5, "v": [1, 2]}, {"n": None, "t": None, "x": None, "v": None}, {}],
    )
    types = {"n": "int8", "t": str, "x": "float32", "v": ("int64", (None,))}
    missing = {"n": -1, "t": "", "x": float("nan"), "v": np.array([7])}
    for index in (None, "build"):
        found = list(hr.JsonLines(path, types, missing=missing, index=index))
        assert [int(row["n"]) for row in found] == [1, -1, -1]
        assert [row["t"] for row in found] == ["a", "", ""]
        assert found[0]["x"] == 0.5 and all(np.isnan(row["x"]) for row in found[1:])
        assert [row["v"].tolist() for row in found] == [[1, 2], [7], [7]]
    with pytest.raises(hr.DataError, match=r'"n" is null; .*such as missing=\{"n": 0\}'):
        list(hr.JsonLines(path, types, missing={"t": "", "x": 0, "v": []}))
    loaded = hr.JsonLines(path, types, missing=missing)
    loaded.save(tmp_path / "a.hrg")
    assert [int(row["n"]) for row in hr.load(tmp_path / "a.hrg")] == [1, -1, -1]


def test_types_are_looked_for_in_the_values_that_are_there(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"n": 1, "t": None}, {"n": 2.5, "w": "x"}, {"t": "a"}])
    looked = hr.JsonLines(path, missing={"n": 0, "t": "", "w": "none"})
    assert looked.schema == {"n": ("float64", ()), "w": ("string", ()), "t": ("string", ())}
    assert [(float(row["n"]), row["t"], row["w"]) for row in looked] == [
        (1, "", "none"),
        (2.5, "", "x"),
        (0, "a", "none"),
    ]
    with pytest.raises(hr.GraphError, match='no row that was looked at has a value of "z"'):
        hr.JsonLines(path, missing={"n": 0, "t": "", "w": "", "z": 0})
    with pytest.raises(hr.GraphError, match=r'"t" is None in row 1 .*such as missing=\{"t": 0\}'):
        hr.JsonLines(path, missing={"n": 0})


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (3, "missing is 3; give a dict from column to value"),
        ({"x": object()}, r'missing\["x"\] is <object.*; it must be a number'),
        ({"x": "a"}, 'missing: "x" is "a"; the column\'s type is int8'),
        ({"x": 300}, 'missing: "x" is 300'),
        ({"x": None}, 'missing: "x" is null'),
        ({"x": float("nan")}, 'missing: "x" is NaN'),
        ({"y": 1}, 'no column "y"'),
    ],
)
def test_what_stands_for_nothing_is_checked(missing, message, tmp_path):
    with pytest.raises(hr.GraphError, match=message):
        list(hr.JsonLines(write(tmp_path / "a.jsonl", [{"x": 1}]), {"x": "int8"}, missing=missing))


@quick
@given(
    st.lists(st.tuples(st.text(max_size=8), st.integers(-(2**63), 2**63 - 1)), max_size=20), st.booleans(), st.data()
)
def test_rows_by_number_are_those_that_json_reads(rows, last_end, data):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        lines = data.draw(st.sampled_from(["\n", "\r\n"])).join(json.dumps({"t": t, "i": i}) for t, i in rows)
        Path(folder, "a.jsonl").write_text(lines + ("\n" if last_end and rows else ""), newline="")
        table = hr.JsonLines(f"{folder}/a.jsonl", {"t": str, "i": "int64"}, index="build")
        assert [(row["t"], int(row["i"])) for row in table] == rows and len(table) == len(rows)
        shuffled = hr.JsonLines(f"{folder}/a.jsonl", {"t": str, "i": "int64"}, index="build", shuffle=True)
        assert sorted((row["t"], int(row["i"])) for row in shuffled.iterate(epoch=3)) == sorted(rows)
        for number in data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=4)) if rows else ():
            (row,) = table.select([number])
            assert (row["t"], int(row["i"])) == rows[number]


@pytest.mark.parametrize("columns", [None, {"id": "float64"}])
def test_two_ids_beyond_64_bits_stay_two(tmp_path, columns):
    (tmp_path / "a.jsonl").write_text(f'{{"id": {2**64}}}\n{{"id": {2**64 + 1}}}\n')
    with pytest.raises(hr.DataError, match=f"{2**64 + 1}, which neither 64 bits nor a double hold"):
        list(hr.JsonLines(tmp_path / "a.jsonl", columns))
