"""Rows of CSV, their types, and what is refused."""

import csv
import io
import math
import struct
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import state_after
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def write(path, text):
    path.write_bytes(text.encode())
    return path


def rows(dataset):
    return [
        {name: value.item() if value.ndim == 0 else value.tolist() for name, value in row.items()} for row in dataset
    ]


def test_columns_have_the_types_given(tmp_path):
    path = write(tmp_path / "a.csv", 'id,name,x,ok\n1,"ä, ö",1.5,true\n2,,-2,0\n')
    dataset = hr.Csv(path, {"x": "float32", "name": str, "id": "uint8", "ok": bool})
    assert dataset.schema == {"x": ("float32", ()), "name": ("string", ()), "id": ("uint8", ()), "ok": ("bool", ())}
    found = list(dataset)
    assert [list(row) for row in found] == [["x", "name", "id", "ok"]] * 2
    assert found[0]["x"].dtype == np.float32 and found[0]["id"].dtype == np.uint8 and found[0]["ok"].dtype == bool
    assert [(float(row["x"]), row["name"], int(row["id"]), bool(row["ok"])) for row in found] == [
        (1.5, "ä, ö", 1, True),
        (-2.0, "", 2, False),
    ]
    (batch,) = hr.Csv(path, {"id": "int64"}).batch(2)
    assert batch["id"].tolist() == [1, 2] and list(batch) == ["id"]


def test_consecutive_fields_are_one_vector(tmp_path):
    numbers = np.arange(60).reshape(4, 15)
    path = write(tmp_path / "a.csv", "".join(",".join(map(str, row)) + "\n" for row in numbers))
    types = {"pixels": ("float32", (2, 7)), "label": "int32"}
    (batch,) = hr.Csv(path, types, header=False).batch(4)
    assert batch["pixels"].dtype == np.float32 and batch["pixels"].shape == (4, 2, 7)
    np.testing.assert_array_equal(batch["pixels"].reshape(4, 14), numbers[:, :14])
    np.testing.assert_array_equal(batch["label"], numbers[:, 14])
    (later,) = hr.Csv(path, types, header=False, columns=["label", "pixels"]).batch(4)
    np.testing.assert_array_equal(later["pixels"].reshape(4, 14), numbers[:, 1:])
    (words,) = hr.Csv(path, {"all": (str, (15,))}, header=False).batch(4)
    assert words["all"].tolist() == [[str(number) for number in row] for row in numbers]


def test_names_replace_those_of_the_header(tmp_path):
    path = write(tmp_path / "a.csv", "label,p0,p1,id\n7,1,2,x\n")
    types = {"pixels": ("int64", (2,)), "y": "int64"}
    assert rows(hr.Csv(path, types, columns=["y", "pixels", "rest"])) == [{"pixels": [1, 2], "y": 7}]
    assert rows(hr.Csv(path, {"p0": ("int64", (2,))})) == [{"p0": [1, 2]}]


def test_types_are_looked_for_in_the_first_rows(tmp_path):
    path = write(
        tmp_path / "a.csv",
        "i,f,mixed,big,huge,zip,phone,t,word,nan,empty\n"
        "1,1.5,1,18446744073709551615,18446744073709551616,01234,+49,x,nan,1,\n"
        "-2,.5,2e3,5,1,1,1,2,inf,nan,\n"
        ",1,,,,,,,,,\n"
        "x,x,x,x,x,x,x,x,x,x,x\n",
    )
    found = hr.Csv(path, look=3)
    assert {name: dtype for name, (dtype, _) in found.schema.items()} == {
        "i": "int64",
        "f": "float64",
        "mixed": "float64",
        "big": "uint64",
        "huge": "string",
        "zip": "string",
        "phone": "string",
        "t": "string",
        "word": "string",
        "nan": "float64",
        "empty": "string",
    }
    assert next(iter(found.project(["i", "zip"])))["zip"] == "01234"
    with pytest.raises(hr.DataError, match='field 1, of "i", is empty; say what that stands for'):
        list(found.project("i"))
    kept = hr.Csv(path, look=3, missing={"i": -1}).project("i").take(3)
    assert [int(row["i"]) for row in kept] == [1, -2, -1]
    named = hr.Csv(write(tmp_path / "b.csv", "1;x\n2;y\n"), header=False, columns=["n", "t"], delimiter=";")
    assert rows(named.project("n")) == [{"n": 1}, {"n": 2}] and named.schema["t"] == ("string", ())


# Numbers as Python reads and writes them, and digits of any length.
numerals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(r"\A[+-]?[0-9]{1,22}\.[0-9]{0,22}([eE][+-]?[0-9]{1,2})?\Z"),
    st.sampled_from(
        ["nan", "-nan", "NaN", "inf", "-Infinity", "1e-400", "-0", "5e-324", "9007199254740993", ".5", "+5."]
    ),
)


@quick
@given(st.lists(numerals, min_size=1, max_size=50))
def test_floats_have_the_bits_of_pythons(texts):
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "a.csv", "".join(f"{text}\n" for text in texts))
        (batch,) = hr.Csv(path, {"x": "float64"}, header=False).batch(len(texts))
        assert batch["x"].tobytes() == b"".join(struct.pack("<d", float(text)) for text in texts)


@quick
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_characters="\r\n"), max_size=6), min_size=3, max_size=3), max_size=30
    )
)
def test_texts_are_those_that_were_written(table):
    with tempfile.TemporaryDirectory() as folder:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([["a", "b", "c"], *table])
        path = write(Path(folder) / "a.csv", text.getvalue())
        dataset = hr.Csv(path, {"c": str, "a": str, "b": str}, split_bytes=20)
        assert [[str(row[name]) for name in "abc"] for row in dataset] == table
        shuffled = hr.Csv(path, {"a": str}, shuffle=True, split_bytes=20)
        ranks = [str(row["a"]) for rank in range(3) for row in shuffled.iterate(shard=(rank, 3), epoch=1)]
        assert sorted(ranks) == sorted(row[0] for row in table)


def test_a_line_that_is_wrong_is_named_and_can_be_left_out(tmp_path):
    path = write(tmp_path / "a.csv", 'x,t\n1,a\n2\n3,b,c\nx,d\n300,"e\n\n6,f\n')
    dataset = hr.Csv(path, {"x": "uint8"})
    with pytest.raises(hr.DataError, match="the line has 1 field, where 2 are expected: 2") as caught:
        list(dataset)
    assert "a.csv, byte 8" in str(caught.value)
    assert [int(row["x"]) for row in dataset.on_error("skip")] == [1, 6]


def test_files_begin_with_the_same_header(tmp_path):
    write(tmp_path / "a.csv", "x,y\n1,2\n")
    write(tmp_path / "b.csv", "y,x\n3,4\n")
    with pytest.raises(hr.DataError, match="the file does not begin with the header of .*a.csv") as caught:
        list(hr.Csv(tmp_path / "*.csv", {"x": "int64"}).on_error("skip"))
    assert "b.csv, byte 0" in str(caught.value)


def test_empty_fields_stand_for_what_is_given(tmp_path):
    path = write(tmp_path / "a.csv", "i,f,t,b\n,,,\n1,2,x,1\n")
    missing = {"i": np.int64(-1), "f": math.nan, "t": "none", "b": False}
    types = {"i": "int32", "f": "float32", "t": str, "b": bool}
    first, second = hr.Csv(path, types, missing=missing)
    assert int(first["i"]) == -1 and math.isnan(first["f"]) and first["t"] == "none" and not first["b"]
    assert int(second["i"]) == 1 and float(second["f"]) == 2 and second["t"] == "x" and second["b"]


def test_a_saved_graph_reads_the_same(tmp_path):
    path = write(tmp_path / "a.csv", "x;t\n;'a;'\n")
    dataset = hr.Csv(path, {"x": "float32", "t": str}, delimiter=";", quote="'", missing={"x": 0.1})
    dataset.save(tmp_path / "csv.hrg")
    loaded = hr.load(tmp_path / "csv.hrg")
    assert loaded.to_json() == dataset.to_json()
    assert rows(loaded.project("x")) == [{"x": float(np.float32(0.1))}]


def test_files_that_are_not_there_are_those_of_the_user(tmp_path):
    with pytest.raises(hr.NotFoundError, match="Csv") as caught:
        hr.Csv(tmp_path / "none.csv")
    assert "Text" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"types": {}}, "types is {}; give a dict from name to type"),
        ({"types": ["x"]}, "give a dict from name to type"),
        ({"types": {"x": object()}}, 'the type of column "x" is <object'),
        ({"types": {"x": "bytes"}}, "has no type that a field can have"),
        ({"types": {"x": ("int64", (None,))}}, "say how many fields it takes"),
        ({"types": {"x": "int64"}, "header": 1}, "header is 1; it must be True or False"),
        ({"types": {"x": "int64"}, "columns": ["y"]}, 'columns has no "x"'),
        ({"types": {"x": "int64"}, "columns": ["x", "x"]}, 'columns names "x" twice'),
        ({"types": {"x": "int64"}, "columns": 5}, "columns is 5; it must be a text, or a list of texts"),
        ({"types": {"x": "int64"}, "delimiter": "ab"}, "delimiter is 'ab'; it must be one ASCII character"),
        ({"types": {"x": "int64"}, "delimiter": None}, "delimiter is None; it must be a text"),
        ({"types": {"x": "int64"}, "quote": ","}, "quote is ','"),
        ({"types": {"x": "int64"}, "missing": 0}, "missing is 0; give a dict from column to value"),
        ({"types": {"x": "int64"}, "missing": {"y": 0}}, 'no column "y"'),
        ({"types": {"x": "int64"}, "missing": {"x": "0"}}, "it must be a number or a bool"),
        ({"types": {"x": str}, "missing": {"x": 0}}, "it must be a text"),
        ({"types": {"x": "int64"}, "missing": {"x": 0.5}}, 'missing gives "x" as 0.5'),
        ({"types": {"x": "int64"}, "missing": {"x": None}}, 'missing gives "x" as None'),
        ({"types": {"p": "int64"}}, 'the header has no "p"'),
        ({"look": 0}, "look is 0; it must be at least 1"),
        ({"header": False}, "without a header the columns have no names"),
        ({"columns": []}, "columns is empty"),
        ({"delimiter": "ab"}, "delimiter is 'ab'"),
    ],
)
def test_mistakes_say_what_to_do(arguments, message, tmp_path):
    write(tmp_path / "a.csv", "x,y\n1,2\n")
    with pytest.raises(hr.GraphError, match=message):
        list(hr.Csv(tmp_path / "*.csv", **arguments))


def test_headers_that_give_no_names_are_refused(tmp_path):
    path = write(tmp_path / "a.csv", "x,x\n1,2\n")
    with pytest.raises(hr.GraphError, match='has the name "x" twice; name the fields'):
        hr.Csv(path)
    with pytest.raises(hr.GraphError, match='the header has the name "x" twice'):
        list(hr.Csv(path, {"x": "int64"}))
    assert rows(hr.Csv(path, columns=["a", "b"])) == [{"a": 1, "b": 2}]
    write(path, 'x,"y\n1,2\n')
    with pytest.raises(hr.DataError, match="the header of .*a.csv.*: the quotes of field 2 are not closed"):
        hr.Csv(path)
    write(path, "")
    with pytest.raises(hr.GraphError, match="the files are empty, so that no header names the columns"):
        hr.Csv(path)
    with pytest.raises(hr.DataError, match="none of the 1 files has a header, as all are empty"):
        list(hr.Csv(path, {"x": "int64"}))


def test_an_error_while_types_are_looked_for_names_the_column(tmp_path):
    (tmp_path / "a.csv").write_bytes("id,city\n1,Köln\n".encode("latin-1"))
    with pytest.raises(hr.DataError, match='^field 2, of "city", is not UTF-8'):
        hr.Csv(tmp_path / "a.csv")


def test_blank_lines_are_left_out_where_lines_have_several_fields(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["a,b", "", "1,2", "", "", "3,4", "", ""]))
    for index in (None, "build"):
        found = hr.Csv(path, index=index)
        assert found.schema == {"a": ("int64", ()), "b": ("int64", ())}
        assert [(int(row["a"]), int(row["b"])) for row in found] == [(1, 2), (3, 4)]
    path.write_text("a\nx\n\ny\n")
    assert [row["a"] for row in hr.Csv(path)] == ["x", "", "y"]
    assert [row["a"] for row in hr.Csv(path, index="build")] == ["x", "", "y"]


ends = st.sampled_from(["\n", "\r\n"])
cells = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\n\r\0"), max_size=6)


@quick
@given(
    st.lists(st.lists(st.tuples(cells, cells), max_size=8), min_size=1, max_size=3),
    ends,
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_rows_by_number_are_those_that_csv_reads(files, end, mark, last_end, data):
    with tempfile.TemporaryDirectory() as folder:
        expected = []
        for number, rows in enumerate(files):
            text = io.StringIO()
            writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL)
            writer.writerows([("a", "b"), *rows])
            content = text.getvalue() + end * data.draw(st.integers(0, 2))
            content = ("\ufeff" if mark else "") + (content if last_end else content.removesuffix(end))
            file = Path(folder, f"{number}.csv")
            file.write_text(content, "utf-8", newline="")
            with file.open(encoding="utf-8-sig", newline="") as opened:
                expected += [tuple(row) for row in csv.reader(opened) if row][1:]
        table = hr.Csv(f"{folder}/*.csv", {"a": str, "b": str}, index="build")
        streamed = [(row["a"], row["b"]) for row in hr.Csv(f"{folder}/*.csv", {"a": str, "b": str})]
        assert len(table) == len(expected) and [(row["a"], row["b"]) for row in table] == expected == streamed
        if not expected:
            return
        numbers = data.draw(st.lists(st.integers(0, len(expected) - 1), min_size=1, max_size=8))
        assert [(row["a"], row["b"]) for row in table.select(numbers)] == [expected[number] for number in numbers]
        ranks = [list(table.iterate(shard=(rank, 2), even="pad")) for rank in range(2)]
        dealt = [(row["a"], row["b"]) for pair in zip(*ranks, strict=True) for row in pair]
        assert dealt[: len(expected)] == expected


lines = st.text(st.sampled_from('a,"\n\r;ä'), max_size=6)


@quick
@given(st.lists(st.lists(st.tuples(lines, lines), max_size=6), min_size=1, max_size=3), ends, st.data())
def test_line_ends_in_quotes_are_those_that_csv_reads(files, end, data):
    with tempfile.TemporaryDirectory() as folder:
        expected = []
        for number, rows in enumerate(files):
            text = io.StringIO()
            csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
            Path(folder, f"{number}.csv").write_text(text.getvalue(), "utf-8", newline="")
            expected += rows
        types = {"a": str, "b": str}
        streamed = hr.Csv(f"{folder}/*.csv", types, newlines_in_values=True)
        indexed = hr.Csv(f"{folder}/*.csv", types, newlines_in_values=True, index="build")
        assert len(indexed) == len(expected)
        for dataset in (streamed, indexed):
            assert [(row["a"], row["b"]) for row in dataset.iterate(epoch=0)] == expected
            steps = data.draw(st.integers(0, len(expected)))
            state = state_after(dataset, steps, epoch=0)
            assert [(row["a"], row["b"]) for row in dataset.iterate(state=state)] == expected[steps:]
            ranks = [[(row["a"], row["b"]) for row in dataset.iterate(shard=(rank, 2))] for rank in range(2)]
            assert ranks == [expected[0::2], expected[1::2]]
        shuffled = hr.Csv(f"{folder}/*.csv", types, newlines_in_values=True, shuffle=True, window=4)
        epochs = [[(row["a"], row["b"]) for row in shuffled.iterate(epoch=epoch)] for epoch in range(2)]
        assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(expected)
        of_ranks = [(row["a"], row["b"]) for rank in range(2) for row in shuffled.iterate(shard=(rank, 2), epoch=0)]
        assert sorted(of_ranks) == sorted(expected)


def test_types_are_looked_for_where_fields_have_line_ends(tmp_path):
    path = write(tmp_path / "a.csv", 'x,"two\nlines"\n1,"a\nb"\n2,c\n')
    table = hr.Csv(path, newlines_in_values=True)
    assert table.schema == {"x": ("int64", ()), "two\nlines": ("string", ())}
    assert [row["two\nlines"] for row in table] == ["a\nb", "c"]
    other = tmp_path / "other.csv"
    other.write_bytes(b'"two\r\nlines",x\r\n"a\r\nb",1\r\n')
    assert [row["two\nlines"] for row in hr.Csv(other, newlines_in_values=True)] == ["a\r\nb"]
    with pytest.raises(hr.DataError, match="not closed in the line; .*read with newlines_in_values=True"):
        hr.Csv(path)
    whole = hr.Csv(path, newlines_in_values=True).iterate().state()
    with pytest.raises(hr.StateError, match="another pipeline"):
        hr.Csv(path, {"x": "int64", "two\nlines": str}).iterate(state=whole)
    with pytest.raises(hr.GraphError, match="newlines_in_values is 1; it must be True or False"):
        hr.Csv(path, newlines_in_values=1)


def test_an_index_gives_what_random_access_gives(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,t\n" + "".join(f"{number},{'y' * (number % 7)}\n" for number in range(100)))
    table = hr.Csv(path, {"x": "int32", "t": str}, index="build", shuffle=True)
    assert len(table) == 100
    epochs = [[int(row["x"]) for row in table.iterate(epoch=epoch)] for epoch in (0, 1)]
    assert epochs[0] != epochs[1] and sorted(epochs[0]) == sorted(epochs[1]) == list(range(100))
    parts = [[int(row["x"]) for row in part.iterate(epoch=0)] for part in table.split([0.8, 0.2])]
    assert [len(part) for part in parts] == [80, 20] and sorted(parts[0] + parts[1]) == list(range(100))
    drawn = table.sample(hr.Weighted([0] * 99 + [1], 5))
    assert [int(row["x"]) for row in drawn] == [99] * 5
    batches = table.batch(7)
    it = batches.iterate(epoch=0)
    first = [next(it)["x"].tolist() for _ in range(4)]
    rest = [batch["x"].tolist() for batch in batches.iterate(state=it.state())]
    assert sum(first + rest, []) == epochs[0]
    with pytest.raises(hr.GraphError, match="sharding= is for reading in splits"):
        list(hr.Csv(path, index="build", sharding="splits"))
    with pytest.raises(hr.GraphError, match="index"):
        list(hr.Csv(path, index="a.idx"))


def test_what_needs_random_access_says_how_to_get_it(tmp_path):
    path = write(tmp_path / "a.csv", "x\n1\n2\n")
    with pytest.raises(hr.GraphError, match=r'gives its rows one after the other; give it index="build"'):
        list(hr.Csv(path).select([1]))
    with pytest.raises(hr.UnsupportedError, match=r'use even="off", or index="build"'):
        list(hr.Csv(path).iterate(shard=(0, 2), even="pad"))


def test_a_state_by_number_is_refused_for_files_that_changed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n2\n3\n")
    table = hr.Csv(path, index="build")
    it = table.iterate()
    next(it)
    state = it.state()
    path.write_text("x\n1\n\n\n3\n")
    with pytest.raises(hr.StateError):
        list(table.iterate(state=state))


def test_words_for_missing_numbers_where_missing_names_the_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("age,height,city\nNA,1.5,NA\n3,N/A,null\n,NaN,\n")
    rows = hr.Csv(path, missing={"age": -1, "height": 0.0})
    assert [each.dtype for each in rows.schema.values()] == ["int64", "float64", "string"]
    assert [row["age"].item() for row in rows] == [-1, 3, -1]
    assert [row["height"].item() for row in rows] == [1.5, 0, 0]
    assert [row["city"] for row in rows] == ["NA", "null", ""]
    assert hr.Csv(path).schema["age"].dtype == "string"
    floats = hr.Csv(path, missing={"age": float("nan")})
    assert floats.schema["age"].dtype == "float64" and np.isnan(next(iter(floats))["age"])


def test_ids_beside_fractions_stay_what_they_are(tmp_path):
    (tmp_path / "a.csv").write_text(f"id,x\n{2**53 + 1},{2**53}\n1.5,1.5\n")
    rows = hr.Csv(tmp_path / "a.csv")
    assert [each.dtype for each in rows.schema.values()] == ["string", "float64"]


def test_an_inferred_type_that_does_not_fit_says_how_to_state_it(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n2.5\n")
    with pytest.raises(hr.DataError, match=r'inferred from the first rows; .* state types=\{"x": "float64"'):
        list(hr.Csv(tmp_path / "a.csv", look=1))
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n{"x": "one"}\n')
    with pytest.raises(hr.DataError, match=r'inferred from the first rows; .* state columns=\{"x": str'):
        list(hr.JsonLines(tmp_path / "a.jsonl", look=1))


@pytest.mark.parametrize("options", [{}, {"newlines_in_values": True}, {"index": "build"}, {"columns": ["a", "b"]}])
def test_lines_that_end_with_returns_alone_are_refused(tmp_path, options):
    (tmp_path / "a.csv").write_bytes(b"id,name\r1,cat\r2,dog\r")
    with pytest.raises(hr.DataError, match="field 2 has a carriage return in it"):
        list(hr.Csv(tmp_path / "a.csv", **options))


def test_time_grows_as_the_columns_do(tmp_path):
    for count in (2_000, 20_000):
        (tmp_path / f"{count}.csv").write_text(",".join(f"c{i}" for i in range(count)) + "\n" + ",".join("1" * count))
    took = []
    for count in (2_000, 20_000):
        begin = time.process_time()
        assert len(list(hr.Csv(tmp_path / f"{count}.csv").iterate())) == 1
        took.append(time.process_time() - begin)
    assert took[1] < 40 * took[0] or took[1] < 2
