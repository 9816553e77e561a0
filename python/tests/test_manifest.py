"""Tables that name files: `hr.Manifest`."""

import collections
import csv
import json
import pathlib

import numpy as np
import pytest

import headrace as hr

ROWS = 12


@pytest.fixture
def folder(tmp_path) -> pathlib.Path:
    (tmp_path / "deep").mkdir()
    for number in range(ROWS):
        (tmp_path / name_of(number)).write_bytes(b"file %d" % number)
    return tmp_path


def name_of(number: int) -> str:
    return f"{'deep/' if number % 3 == 0 else ''}{number}.bin"


def table() -> dict:
    return {
        "path": [name_of(number) for number in range(ROWS)],
        "label": np.arange(ROWS, dtype=np.int32) % 4,
        "weight": np.linspace(0, 1, ROWS),
        "text": [f"text {number}" for number in range(ROWS)],
        "box": np.arange(4 * ROWS).reshape(ROWS, 4),
    }


def numbers(rows) -> list[int]:
    return [int(row["data"].split()[1]) for row in rows]


def test_each_row_has_its_file_and_the_other_columns(folder):
    ds = hr.Manifest(table(), "path", folder)
    assert len(ds) == ROWS and ds.schema["data"] == ("bytes", ()) and ds.schema["box"] == ("int64", (4,))
    for number, row in enumerate(ds):
        assert row["data"] == b"file %d" % number and row["path"] == name_of(number)
        assert row["label"] == number % 4 and row["weight"] == table()["weight"][number]
        assert row["text"] == f"text {number}" and row["box"].tolist() == list(range(4 * number, 4 * number + 4))
    batch = next(iter(ds.batch(5)))
    assert batch["label"].tolist() == [0, 1, 2, 3, 0] and batch["data"][4] == b"file 4"


def test_the_bytes_may_have_another_name_or_that_of_the_paths(folder):
    named = hr.Manifest(table(), "path", folder, output="image")
    assert list(named.schema) == ["path", "label", "weight", "text", "box", "image"]
    instead = hr.Manifest(table(), "path", folder, output="path")
    assert list(instead.schema) == ["path", "label", "weight", "text", "box"]
    assert next(iter(instead))["path"] == b"file 0"


def test_tables_of_all_kinds_give_the_same_rows(folder):
    table_columns = {name: table()[name] for name in ("path", "label", "text")}
    rows = [{name: column[number] for name, column in table_columns.items()} for number in range(ROWS)]
    lines = folder / "table.jsonl"
    lines.write_text("".join(json.dumps(row | {"label": int(row["label"])}) + "\n" for row in rows))

    class Frame:
        """As of pandas."""

        columns = list(table_columns)
        itertuples = None

        def __getitem__(self, name):
            Column = collections.namedtuple("Column", "to_numpy")
            return Column(lambda: np.array(table_columns[name], object if name != "label" else None))

    class Arrow:
        """As of pyarrow."""

        column_names = list(table_columns)

        def column(self, name):
            return Frame()[name]

    fields = folder / "table.csv"
    fields.write_text("path,label,text\n" + "".join(f"{row['path']},{row['label']},{row['text']}\n" for row in rows))

    tables = [table_columns, rows, tuple(rows), lines, str(lines), fields, str(fields), Frame(), Arrow()]
    tables.append(table_columns | {"path": [pathlib.Path(each) for each in table_columns["path"]]})
    for each in tables:
        given = [(row["data"], row["label"], row["text"]) for row in hr.Manifest(each, "path", folder)]
        assert given == [(b"file %d" % number, number % 4, f"text {number}") for number in range(ROWS)]


def test_the_path_of_a_table_is_no_pattern(folder):
    for number, name in enumerate(["train[1].jsonl", "train1.jsonl", "train*.jsonl"]):
        (folder / name).write_text(json.dumps({"path": name_of(number)}) + "\n")
    (folder / "train?.csv").write_text(f"path\n{name_of(3)}\n")
    (folder / "trains.csv").write_text(f"path\n{name_of(4)}\n")
    names = ["train[1].jsonl", "train1.jsonl", "train*.jsonl", "train?.csv"]
    assert [numbers(hr.Manifest(folder / name, "path", folder)) for name in names] == [[0], [1], [2], [3]]
    assert numbers(hr.Manifest(f"file://{folder}/train[1].jsonl", "path", folder)) == [0]
    with pytest.raises(hr.NotFoundError):
        hr.Manifest(folder / "train[s].csv", "path", folder)


def test_paths_of_digits_in_csv_are_texts(folder):
    for name in ("0", "007", "1.50", "1e3"):
        (folder / name).write_bytes(name.encode())
    fields = folder / "table.csv"
    for names in (["0"], ["007"], ["1.50", "1e3"], ["0", "1.50", "007"]):
        fields.write_text("label,path\n" + "".join(f"{label},{name}\n" for label, name in enumerate(names)))
        rows = list(hr.Manifest(fields, "path", folder))
        assert [row["path"] for row in rows] == names
        assert [row["data"] for row in rows] == [name.encode() for name in names]
        assert [int(row["label"]) for row in rows] == list(range(len(names)))
    lines = folder / "table.jsonl"
    lines.write_text('{"path": 7}\n{"path": 8}\n')
    with pytest.raises(hr.GraphError, match=r'column "path" holds Python objects \(int\); only bytes alone or str'):
        hr.Manifest(lines, "path", folder)
    with pytest.raises(hr.GraphError, match=r'the table has no column "file" \(columns: label, path\)'):
        hr.Manifest(fields, "file", folder)


def test_a_table_in_csv_is_what_csv_writers_write(folder):
    texts = ["plain", 'a "quoted" word', "two\nlines", "with\r\nreturns", "comma, too", "", '"', "\n"]
    fields = folder / "table.csv"
    with fields.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "text", "label", "weight"])
        for number, text in enumerate(texts):
            writer.writerow([name_of(number), text, number, number / 2])
        file.write("\r\n\n")
    rows = list(hr.Manifest(fields, "path", folder))
    assert [row["text"] for row in rows] == texts and numbers(rows) == list(range(len(texts)))
    assert [int(row["label"]) for row in rows] == list(range(len(texts))) and rows[0]["label"].dtype == np.int64
    assert [float(row["weight"]) for row in rows] == [number / 2 for number in range(len(texts))]


def test_types_of_a_table_in_csv_are_those_of_all_rows(folder):
    fields = folder / "table.csv"
    fields.write_text("path,x\n" + f"{name_of(1)},1\n" * 1500 + f"{name_of(2)},2.5\n")
    rows = list(hr.Manifest(fields, "path", folder))
    assert len(rows) == 1501 and rows[-1]["x"] == 2.5 and rows[0]["x"].dtype == np.float64


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("", hr.DataError, "is empty; a table begins with the names of its columns"),
        ("path,x\n", hr.GraphError, "has no rows below its header"),
        ("path,path\na,b\n", hr.DataError, 'has the name "path" twice'),
        ('path,x\na,"1\n2\nb,3\n', hr.DataError, "quotes that open in line 2 of .*table.csv.* are not closed"),
        ('path,x\na,"1\n2"\nb,3,4\n', hr.DataError, "line 4 of .*table.csv.* has 3 fields, where 2 are expected"),
        ('path,x\na,b"c"\n', hr.DataError, "line 2 of .*table.csv.*: field 2 has a quote in it and none around it"),
        ("path,x\na,1\nb,\n", hr.DataError, '"x" is empty in line 3 of .*table.csv.*; give a number'),
        ("path,x\na,\xff\n", hr.DataError, "table.csv.* is not UTF-8 at byte 9"),
    ],
)
def test_a_table_in_csv_that_is_wrong_is_told_by_its_line(content, error, message, folder):
    (folder / "table.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(error, match=f"Manifest: .*{message}"):
        hr.Manifest(folder / "table.csv", "path", folder)


def test_paths_may_be_bytes_absolute_or_uris(folder):
    paths = [str(folder / name_of(1)), f"file://{folder / name_of(2)}", folder / name_of(3)]
    assert numbers(hr.Manifest({"path": paths}, "path")) == [1, 2, 3]
    assert numbers(hr.Manifest({"path": [name_of(4).encode()]}, "path", f"file://{folder}")) == [4]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"path": ["a.bin"]}, r"the path of row 0, a\.bin, is relative: say with root= to which folder"),
        ({"path": ["/a.bin", ""]}, "the path of row 1 is empty"),
        ({"path": ["/a\0.bin"]}, "the path of row 0"),
        ({"path": [3]}, r'column "path" holds Python objects \(int\); only bytes alone or str alone'),
        ({"path": "cat.jpg"}, 'Manifest: column "path" is a single value; its first axis must count the rows'),
        ({"path": b"cat.jpg"}, 'Manifest: column "path" is a single value'),
        ({"path": pathlib.Path("cat.jpg")}, 'Manifest: column "path" is a single value'),
        ({"path": 3}, 'Manifest: column "path" is a single value'),
        ({"path": {"/a": 1}}, 'Manifest: column "path" is a single value'),
        ({"path": (each for each in ["/a"])}, 'Manifest: column "path" is a single value'),
        ({"path": np.array(pathlib.Path("/a"), object)}, 'Manifest: column "path" is a single value'),
        ({"path": [["/a"], ["/b"]]}, r'column "path" holds Python objects \(list\)'),
        ({"path": [np.zeros(3), np.zeros(3)]}, r'column "path" holds Python objects \(ndarray\)'),
        ({"path": np.array([3])}, r'path_column "path" is int64 \(\); paths are texts, or bytes'),
        ({"path": np.array([["/a"]])}, "a row names one file"),
        ({"file": ["/a"]}, r'the table has no column "path" \(columns: file\)'),
        ({"path": ["/a"], "data": [1]}, 'the table has a column "data" already'),
        ({"path": ["/a"], "x": [1, 2]}, "Manifest: columns differ in their number of rows: path has 1, x has 2"),
        ([], "Manifest: the table has no rows"),
        ([{"path": "/a"}, {"file": "/b"}], "row 1 of the table has the columns file, and row 0 path"),
        ([{"path": "/a"}, 3], "row 1 of the table is 3; it must be a dict"),
        ("table.parquet", r"only files of JSON \(\.jsonl, \.json\) and CSV \(\.csv\) are read; .*pandas\.read_parquet"),
        (3, "Manifest: the table is 3; it must be a dict from column to values"),
    ],
)
def test_what_names_no_files_is_refused(given, why):
    with pytest.raises(hr.GraphError, match=why):
        list(hr.Manifest(given, "path"))


def test_a_file_that_is_missing_is_named_with_its_row(folder):
    (folder / name_of(5)).unlink()
    with pytest.raises(hr.NotFoundError, match=r"5\.bin, row 5 of the table"):
        list(hr.Manifest(table(), "path", folder, shuffle=True))
    skipping = hr.Manifest(table(), "path", folder).on_error("skip")
    assert numbers(skipping) == [number for number in range(ROWS) if number != 5]


def test_columns_alone_open_no_files(folder):
    for number in range(ROWS):
        (folder / name_of(number)).unlink()
    labels = [int(row["label"]) for row in hr.Manifest(table(), "path", folder).project(["label"])]
    assert labels == [number % 4 for number in range(ROWS)]


def test_it_has_random_access(folder):
    shuffled = hr.Manifest(table(), "path", folder, shuffle=True)
    first, second = numbers(shuffled.iterate(epoch=0)), numbers(shuffled.iterate(epoch=1))
    assert first != second and sorted(first) == sorted(second) == list(range(ROWS))
    ranks = [numbers(shuffled.iterate(epoch=0, shard=(rank, 3))) for rank in range(3)]
    assert [row for rank in ranks for row in rank] == first[0::3] + first[1::3] + first[2::3]
    train, rest = shuffled.split([0.75, 0.25])
    assert len(train) == 9 and sorted(numbers(train) + numbers(rest)) == list(range(ROWS))
    balanced = hr.Manifest(table(), "path", folder).sample(hr.ClassBalanced("label"))
    assert len(numbers(balanced)) == ROWS


def test_states_go_on_and_notice_files_that_changed(folder):
    ds = hr.Manifest(table(), "path", folder, shuffle=True)
    with ds.iterate() as it:
        given = numbers([next(it) for _ in range(5)])
        state = it.state()
    again = hr.Manifest(table(), "path", folder, shuffle=True)
    assert given + numbers(again.iterate(state=state)) == numbers(ds.iterate(epoch=0))
    (folder / name_of(7)).write_bytes(b"file 7, but longer")
    with pytest.raises(hr.StateError, match="the data changed"):
        again.iterate(state=state)


def test_a_saved_graph_takes_another_table(folder):
    hr.Manifest({"path": [name_of(1)], "label": [1]}, "path", folder).save(folder / "graph.hrg")
    (name,) = hr.load(folder / "graph.hrg")._graph().references
    other = {"path": np.array([name_of(3), name_of(2)]), "label": np.array([5, 6])}
    ds = hr.load(folder / "graph.hrg", references={name: other})
    assert numbers(ds) == [3, 2]


def test_columns_without_a_name_are_left_out(tmp_path):
    (tmp_path / "f").write_bytes(b"1")
    for text in (",path,label\n0,f,3\n1,f,4\n", "path,label,\nf,3,\nf,4,\n", ",path,,label\n0,f,x,3\n1,f,y,4\n"):
        (tmp_path / "table.csv").write_text(text)
        rows = hr.Manifest(tmp_path / "table.csv", "path", root=tmp_path)
        assert [row["label"].item() for row in rows] == [3, 4] and "" not in rows.schema


def test_types_of_json_lines_are_those_of_all_lines(tmp_path):
    (tmp_path / "f").write_bytes(b"1")
    lines = ['{"path": "f", "x": 1}'] * 1200 + ['{"path": "f", "x": 1.5}']
    (tmp_path / "table.jsonl").write_text("\n".join(lines))
    assert hr.Manifest(tmp_path / "table.jsonl", "path", root=tmp_path).schema["x"].dtype == "float64"
