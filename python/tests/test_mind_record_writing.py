"""`headrace.mindrecord` and `ds.write_mindrecord`: what is written is read back, by our reader and by one of its own."""

import gc
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import _engine, mindrecord
from headrace import transforms as T
from headrace.mindrecord import SUCCESS, FileReader, FileWriter, MindPage
from tests.mind_record_reference import TESTDATA, header_of, index_rows, read_file, read_set
from tests.thinning import examples

SCHEMA = {"name": {"type": "string"}, "label": {"type": "int32"}, "data": {"type": "bytes"}}


def rows_of(count: int, first: int = 0, size: int = 5) -> list[dict[str, Any]]:
    return [
        {"name": f"{number}.jpg", "label": number % 3, "data": bytes([number % 251]) * size}
        for number in range(first, first + count)
    ]


def write(path: pathlib.Path | str, *calls: list[dict[str, Any]], files: int = 1, **given: Any) -> pathlib.Path:
    writer = FileWriter(path, files, **given)
    assert writer.add_schema(SCHEMA, "some images") == 0
    for rows in calls:
        assert writer.write_raw_data(rows) == SUCCESS
    assert writer.commit() == SUCCESS
    return pathlib.Path(path)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and (a == b or (a != a and b != b))


def assert_rows(found: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.keys() == other.keys()
        for name, value in one.items():
            assert same(value, other[name]), (name, value, other[name])


def read(path: pathlib.Path | str) -> list[dict[str, Any]]:
    return list(FileReader(str(path)).get_next())


# ---- FileWriter ----


def test_rows_are_read_back(tmp_path):
    path = write(tmp_path / "a.mindrecord", rows_of(20))
    assert_rows(read(path), rows_of(20))
    assert_rows(read_set(path), rows_of(20))
    assert sorted(os.listdir(tmp_path)) == ["a.mindrecord", "a.mindrecord.db"]
    header = header_of(path)
    assert header["version"] == "3.0" and header["shard_addresses"] == ["a.mindrecord"]
    assert header["schema"][0]["desc"] == "some images" and header["schema"][0]["blob_fields"] == ["data"]
    assert [each["index_field"] for each in header["index_fields"]] == ["label", "name"]
    assert path.stat().st_size < 60_000, "small data makes small files"


@pytest.mark.parametrize("files", [1, 2, 3, 11])
def test_order_is_kept_over_files_and_calls(tmp_path, files):
    path = write(tmp_path / "x", rows_of(3), rows_of(7, 3), rows_of(4, 10), files=files)
    names = [path.name] if files == 1 else [f"x{number:0{len(str(files - 1))}}" for number in range(files)]
    assert sorted(os.listdir(tmp_path)) == sorted([*names, *(f"{name}.db" for name in names)])
    counts = [len(read_file(tmp_path / name)) for name in names]
    assert sum(counts) == 14 and max(counts) - min(counts) <= 1
    for name in (names[0], names[-1]):
        assert_rows(read(tmp_path / name), rows_of(14))
        assert_rows(read_set(tmp_path / name), rows_of(14))


def test_many_pages(tmp_path):
    rows = rows_of(300, size=9_000)
    for row in rows:
        row["name"] *= 400
    path = write(tmp_path / "x", rows)
    assert len(header_of(path)["page"]) > 60
    assert_rows(read(path), rows)
    assert_rows(read_set(path), rows)


def test_sizes_are_as_small_as_the_rows_allow(tmp_path):
    sizes = {}
    for name, count, size in (("small", 3, 10), ("long", 3, 1_000_000), ("many", 400, 100_000)):
        path = write(tmp_path / name, rows_of(count, size=size))
        header = header_of(path)
        sizes[name] = header["header_size"], header["page_size"]
        assert header["header_size"] % 4 == header["page_size"] % 4 == 0
        assert_rows(read(path), rows_of(count, size=size))
    assert sizes["small"] == (16 << 10, 32 << 10)
    assert 1_000_000 < sizes["long"][1] < 1_010_000
    assert 100_000 < sizes["many"][1] <= 1 << 20


def test_sizes_may_be_set(tmp_path):
    writer = FileWriter(tmp_path / "x")
    writer.add_schema({"data": {"type": "bytes"}})
    writer.set_header_size(1 << 20)
    writer.set_page_size(1 << 16)
    for name, value in (("header_size", 1000), ("header_size", (16 << 10) + 1), ("page_size", 1 << 29)):
        with pytest.raises(hr.GraphError, match=f"{name} is .* multiple of 4 from"):
            getattr(writer, f"set_{name}")(value)
    fits = {"data": b"x" * ((1 << 16) - 8)}
    writer.write_raw_data([fits])
    with pytest.raises(hr.DataError, match="row 1: its arrays and bytes take 65,537 bytes, and a page has 65,536"):
        writer.write_raw_data([{"data": fits["data"] + b"x"}])
    with pytest.raises(hr.GraphError, match="call set_page_size before rows are written"):
        writer.set_page_size(1 << 17)
    writer.commit()
    assert header_of(tmp_path / "x")["header_size"] == 1 << 20
    assert_rows(read(tmp_path / "x"), [fits])


def test_a_header_must_hold_its_pages(tmp_path):
    writer = FileWriter(tmp_path / "x")
    writer.add_schema({"data": {"type": "bytes"}})
    writer.set_header_size(16 << 10)
    writer.set_page_size(32 << 10)
    writer.write_raw_data([{"data": bytes(20_000)} for _ in range(100)])
    with pytest.raises(hr.GraphError, match="the list of pages takes .* of the header, which has 16,384"):
        writer.commit()
    del writer
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_sets_without_rows(tmp_path):
    path = write(tmp_path / "x", files=2)
    assert len(hr.MindRecord(f"{path}0")) == 0 and read_set(f"{path}1") == []
    assert header_of(tmp_path / "x0")["page"] is None
    writer = FileWriter.open_for_append(f"{path}0")
    writer.write_raw_data(rows_of(3))
    writer.commit()
    assert_rows(read_set(f"{path}0"), rows_of(3))


UNFIT = [
    ("label", 1 << 31, "is 2147483648, which int32 does not hold"),
    ("label", 1.0, "is 1.0, of the type float; int32 takes an int"),
    ("label", True, "is True, of the type bool; int32 takes an int"),
    ("label", np.int64(1), "of the type int64; int32 takes an int"),
    ("label", "1", "of the type str; int32 takes an int"),
    ("label", None, "of the type NoneType"),
    ("name", np.str_("a"), "of the type str_; string takes a str"),
    ("name", b"a", "of the type bytes; string takes a str"),
    ("name", "\ud800", "a text that UTF-8 does not hold"),
    ("data", "text", "of the type str; bytes takes bytes"),
    ("data", np.zeros(3, np.uint8), "an array of uint8"),
    ("x", 1, "of the type int; float32 takes a float"),
    ("x", np.float64(1), "of the type float64; float32 takes a float"),
    ("x", 1e300, "is 1e\\+300, which float32 does not hold"),
    ("v", [1, 2], r"is \[1, 2\], of the type list; int64 with a shape takes an array of NumPy"),
    ("v", np.zeros((2, 2), np.int32), "an array of int32 of shape"),
    ("v", np.zeros(3, np.int64), r"does not have the shape \[2, -1\]"),
    ("v", np.zeros((3, 2), np.int64), r"does not have the shape \[2, -1\]"),
]


@pytest.mark.parametrize(("field", "value", "message"), UNFIT)
def test_values_that_do_not_fit_name_row_and_field(tmp_path, field, value, message):
    writer = FileWriter(tmp_path / "x")
    writer.add_schema({**SCHEMA, "x": {"type": "float32"}, "v": {"type": "int64", "shape": [2, -1]}})
    good = [{**row, "x": 0.5, "v": np.zeros((2, 1), np.int64)} for row in rows_of(3)]
    writer.write_raw_data(good)
    with pytest.raises(hr.DataError, match=f'row 4: "{field}" .*{message}'):
        writer.write_raw_data([good[0], {**good[1], field: value}])
    writer.commit()
    assert len(read(tmp_path / "x")) == 3, "nothing of the call was written"


def test_rows_have_the_fields_of_the_schema(tmp_path):
    writer = FileWriter(tmp_path / "x")
    writer.add_schema(SCHEMA)
    (row,) = rows_of(1)
    with pytest.raises(hr.DataError, match='row 0 has no "label"'):
        writer.write_raw_data([{"name": "a", "data": b""}])
    with pytest.raises(hr.DataError, match="row 0 has 'more', which the schema has not"):
        writer.write_raw_data([{**row, "more": 1}])
    for rows in ([], (row,), row, [1]):
        with pytest.raises(hr.GraphError):
            writer.write_raw_data(rows)


def test_numbers_of_numpy_and_flat_arrays_fit(tmp_path):
    writer = FileWriter(tmp_path / "x")
    types = ("int32", "int64", "float32", "float64")
    writer.add_schema({name: {"type": name} for name in types} | {"v": {"type": "float32", "shape": [2, -1]}})
    writer.write_raw_data([{name: np.dtype(name).type(3) for name in types} | {"v": np.arange(6, dtype=np.float32)}])
    swapped = np.arange(6, dtype=">f4").reshape(2, 3)
    writer.write_raw_data([dict.fromkeys(types[:2], -3) | dict.fromkeys(types[2:], 0.1) | {"v": swapped.T.copy().T}])
    writer.commit()
    first, second = read(tmp_path / "x")
    assert first["v"].tolist() == second["v"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert second["float64"] == 0.1 and second["float32"] == float(np.float32(0.1)) and second["int64"] == -3
    assert read_file(tmp_path / "x")[1]["float32"] == 0.1, "it is not rounded in the file"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "the schema is"),
        ({"a b": {"type": "int32"}}, "letters of ASCII"),
        ({"a": {"type": "uint8"}}, "types are int32"),
        ({"a": {"type": "string", "shape": [2]}}, "string with a shape"),
        ({"a": {"type": "int32", "shape": []}}, "has the shape"),
        ({"a": {"type": "int32", "shape": [-1, -1]}}, "has the shape"),
        ({"a": {"type": "int32", "shape": [0]}}, "has the shape"),
        ({"a": "int32"}, "the field"),
        ({"a": {"type": "int32", "size": 3}}, "the field"),
    ],
)
def test_schemas_that_are_none(tmp_path, content, message):
    with pytest.raises(hr.GraphError, match=message):
        FileWriter(tmp_path / "x").add_schema(content)


def test_the_index_has_the_fields_that_were_chosen(tmp_path):
    writer = FileWriter(tmp_path / "x")
    with pytest.raises(hr.GraphError, match="call add_schema first"):
        writer.add_index(["label"])
    writer.add_schema({**SCHEMA, "0day": {"type": "int64"}, "inc": {"type": "int64"}, "LABEL": {"type": "int64"}})
    for fields, message in (
        (["data"], "not one of the numbers and texts"),
        (["none"], "not one of the numbers and texts"),
        (["0day"], "begins with a digit"),
        (["inc"], "for its own columns"),
        (["label", "LABEL"], "differ in more than their case"),
        ("label", "give a list"),
    ):
        with pytest.raises(hr.GraphError, match=message):
            writer.add_index(fields)
    assert writer.add_index(["label"]) == SUCCESS
    row = {**rows_of(1)[0], "0day": 1, "inc": 2, "LABEL": 3}
    writer.write_raw_data([row])
    writer.commit()
    assert header_of(tmp_path / "x")["index_fields"] == [{"index_field": "label", "schema_id": 0}]
    assert index_rows(tmp_path / "x")[0][8:] == (0, row["label"])
    other = FileWriter(tmp_path / "y")
    other.add_schema({"0day": {"type": "int64"}, "inc": {"type": "int64"}})
    other.write_raw_data([{"0day": 1, "inc": 2}])
    other.commit()
    assert header_of(tmp_path / "y")["index_fields"] is None


def test_an_index_holds_what_others_cannot(tmp_path):
    writer = FileWriter(tmp_path / "x")
    writer.add_schema({"x": {"type": "float64"}, "s": {"type": "string"}})
    rows = [{"x": float("nan"), "s": "a\0b"}, {"x": float("inf"), "s": "é你😀"}, {"x": -0.0, "s": ""}]
    writer.write_raw_data(rows)
    writer.commit()
    assert_rows(read_set(tmp_path / "x"), rows)
    assert_rows(read(tmp_path / "x"), rows)
    assert index_rows(tmp_path / "x")[0][8:] == (0, "a\0b", 0, None)


def test_files_that_exist_are_replaced_where_that_is_asked_for(tmp_path):
    write(tmp_path / "x", rows_of(3))
    with pytest.raises(hr.GraphError, match="exists; give overwrite=True"):
        write(tmp_path / "x", rows_of(4))
    assert_rows(read(tmp_path / "x"), rows_of(3))
    write(tmp_path / "x", rows_of(4), overwrite=True)
    assert_rows(read_set(tmp_path / "x"), rows_of(4))


def test_a_smaller_set_leaves_nothing_of_a_larger_one(tmp_path):
    write(tmp_path / "x", rows_of(9), files=4)
    (tmp_path / "x9").write_bytes(b"somebody's")
    write(tmp_path / "x", rows_of(5), files=2, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["x0", "x0.db", "x1", "x1.db", "x9"]
    assert_rows(read(tmp_path / "x1"), rows_of(5))


def test_a_header_removes_no_file_of_others(tmp_path):
    """Only files that say themselves that they are of the set are removed with it."""
    write(tmp_path / "x", rows_of(2), files=2)
    text = (tmp_path / "x0").read_bytes()
    (tmp_path / "x0").write_bytes(text.replace(b'["x0","x1"]', b'["x0","yy"]'))
    (tmp_path / "yy").write_bytes((tmp_path / "x1").read_bytes())
    write(tmp_path / "x0", rows_of(1), overwrite=True)
    assert (tmp_path / "yy").exists()


def test_nothing_is_there_before_commit(tmp_path):
    writer = FileWriter(tmp_path / "x")
    writer.add_schema(SCHEMA)
    writer.write_raw_data(rows_of(3))
    assert not {"x", "x.db"} & set(os.listdir(tmp_path))
    with pytest.raises(hr.UnsupportedError, match="another"):
        write(tmp_path / "x", rows_of(1))
    del writer
    gc.collect()
    assert os.listdir(tmp_path) == []
    writer = FileWriter(tmp_path / "x")
    writer.add_schema(SCHEMA)
    writer.commit()
    for call in (writer.commit, lambda: writer.write_raw_data(rows_of(1))):
        with pytest.raises(hr.ClosedError, match="was committed"):
            call()


def killed_commit(steps: int) -> Any:
    """Gives a set its names as the engine does, and ends after so many steps, as a kill would."""

    def commit(files: list[tuple[bytes, int]], draft: str) -> None:
        done = [lambda path=path: os.path.lexists(path) and os.unlink(path) for path, _ in files[:0:-1]]
        done += [lambda path=path: os.replace(path + draft.encode(), path) for path, _ in files]
        for step in done[:steps]:
            step()
        raise KeyboardInterrupt

    return commit


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("appends", [False, True])
def test_a_kill_leaves_the_old_set_or_none(tmp_path, monkeypatch, files, appends):
    refused = 0
    # The last step would complete the set.
    for steps in range(3 if appends else 4 * files - 1):
        folder = tmp_path / str(steps)
        folder.mkdir()
        path = write(folder / "x", rows_of(6), files=files)
        first = folder / ("x" if files == 1 else "x0")
        if appends:
            writer = FileWriter.open_for_append(first)
        else:
            writer = FileWriter(path, files, overwrite=True)
            writer.add_schema(SCHEMA)
        writer.write_raw_data(rows_of(6, 100))
        with monkeypatch.context() as patched:
            patched.setattr(_engine, "commit_set", killed_commit(steps))
            with pytest.raises(KeyboardInterrupt):
                writer.commit()
        for name in [first, folder / "x2"][: 1 + (files > 1)]:
            try:
                found = read(name)
            except hr.Error:
                refused += 1
                continue
            assert_rows(found, rows_of(6))
        # The same call goes on.
        writer.commit()
        assert_rows(read_set(first), rows_of(6) * appends + rows_of(6, 100))
    assert refused > 0


def test_a_process_that_is_killed_leaves_the_old_set(tmp_path):
    write(tmp_path / "x", rows_of(3), files=2)
    script = """
import os, sys
from headrace.mindrecord import FileWriter
writer = FileWriter("x", 2, overwrite=True)
writer.add_schema({"name": {"type": "string"}, "label": {"type": "int32"}, "data": {"type": "bytes"}})
writer.write_raw_data([{"name": "a", "label": 1, "data": b"x" * 1000}] * 100)
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path).returncode == -9
    assert_rows(read(tmp_path / "x0"), rows_of(3))
    write(tmp_path / "x", rows_of(5), files=2, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["x0", "x0.db", "x1", "x1.db"]


def test_names_of_files(tmp_path):
    for name in ("a:b", "a*b", "a;b", " a", "a ", os.fsdecode(b"\xff")):
        with pytest.raises(hr.GraphError, match="the name"):
            FileWriter(tmp_path / name)
    for files in (0, 1001, 1.5, True):
        with pytest.raises(hr.GraphError, match="shard_num"):
            FileWriter(tmp_path / "x", files)
    with pytest.raises(hr.NotFoundError):
        write(tmp_path / "none/x", rows_of(1))


# ---- appending ----


@pytest.mark.parametrize("files", [1, 3])
def test_rows_are_appended_at_the_end_of_the_set(tmp_path, files):
    path = write(tmp_path / "x", rows_of(10), files=files)
    first = tmp_path / ("x" if files == 1 else "x0")
    before = first.read_bytes()
    for number in range(4):
        writer = FileWriter.open_for_append(first)
        writer.write_raw_data(rows_of(5, 10 + 5 * number))
        writer.commit()
    assert_rows(read(first), rows_of(30))
    assert_rows(read_set(first), rows_of(30))
    if files > 1:
        assert first.read_bytes() == before, "the last file alone is written anew"
        assert len(read_file(tmp_path / f"{path.name}2")) == 24


def test_rows_are_appended_to_what_mindspore_wrote(tmp_path):
    for name in ("pages.mindrecord", "rawpages.mindrecord", "types.mindrecord", "v2.mindrecord", "bytes.mindrecord"):
        (tmp_path / name).write_bytes((TESTDATA / name).read_bytes())
        before = read(tmp_path / name)
        writer = FileWriter.open_for_append(tmp_path / name)
        writer.write_raw_data(before[:2])
        writer.commit()
        assert_rows(read(tmp_path / name), before + before[:2])
        if name != "v2.mindrecord":
            assert_rows(
                read(tmp_path / name),
                [
                    {key: _as_read(value, other[key]) for key, value in row.items()}
                    for row, other in zip(read_set(tmp_path / name), read(tmp_path / name), strict=True)
                ],
            )
        header = header_of(tmp_path / name)
        assert header["version"] == ("2.0" if name.startswith("v2") else "3.0") and header["page_size"] == 32 << 10


def _as_read(value: Any, read_value: Any) -> Any:
    """float32 is not rounded in a file, and a float without a fraction may be there as an integer."""
    if not isinstance(read_value, float):
        return value
    return float(value) if value == read_value else float(np.float32(value))


def test_what_is_appended_keeps_what_the_set_has(tmp_path):
    path = write(tmp_path / "x", rows_of(2))
    writer = FileWriter.open_for_append(path)
    for call in (lambda: writer.set_page_size(1 << 20), lambda: writer.add_index(["label"])):
        with pytest.raises(hr.UnsupportedError, match="is for new sets"):
            call()
    with pytest.raises(hr.GraphError, match="the schema is there already"):
        writer.add_schema(SCHEMA)
    with pytest.raises(hr.DataError, match="row 0: its arrays and bytes take .*, and a page has 32,768"):
        writer.write_raw_data(rows_of(1, size=40_000))
    with pytest.raises(hr.NotFoundError):
        FileWriter.open_for_append(tmp_path / "none")


# ---- FileReader, MindPage ----


def test_file_reader(tmp_path):
    path = write(tmp_path / "x", rows_of(10), files=2)
    reader = FileReader(f"{path}0", num_consumer=2, columns=["label", "data"])
    rows = list(reader.get_next())
    assert rows == [{"label": row["label"], "data": row["data"]} for row in rows_of(10)]
    assert type(rows[0]["label"]) is int and type(rows[0]["data"]) is bytes
    assert reader.len() == 10 and reader.schema() == SCHEMA
    assert list(reader.get_next()) == rows
    begun = reader.get_next()
    next(begun)
    reader.close()
    assert len(list(FileReader([f"{path}1"]).get_next())) == 5
    assert len(list(FileReader(f"{path}1", columns=[]).get_next())) == 10
    assert FileReader(TESTDATA / "types.mindrecord").schema()["af64"] == {"shape": [2, -1], "type": "float64"}
    with pytest.raises(hr.GraphError, match="num_consumer"):
        FileReader(f"{path}0", num_consumer="2")


def test_mind_page(tmp_path):
    rows = rows_of(10)
    path = write(tmp_path / "x", rows, files=2)
    page = MindPage(f"{path}0")
    assert page.candidate_fields == page.get_category_fields() == ["label", "name"]
    assert page.category_field is None
    with pytest.raises(hr.GraphError, match="no field is chosen"):
        page.read_category_info()
    page.category_field = "label"
    assert page.read_category_info() == (
        '{"categories":[{"count":4,"id":0,"name":"0"},{"count":3,"id":1,"name":"1"},{"count":3,"id":2,"name":"2"}],'
        '"key":"label_0"}'
    )
    assert page.read_at_page_by_id(0, 0, 3) == [rows[0], rows[3], rows[6]]
    assert page.read_at_page_by_id(0, 1, 3) == [rows[9]]
    assert page.read_at_page_by_name("2", 0, 10) == [rows[2], rows[5], rows[8]]
    assert page.set_category_field("name") == SUCCESS
    assert page.read_at_page_by_name("7.jpg", 0, 1) == [rows[7]]
    for call in (
        lambda: page.read_at_page_by_id(99, 0, 1),
        lambda: page.read_at_page_by_id(0, 9, 1),
        lambda: page.read_at_page_by_id(0, 0, 0),
        lambda: page.read_at_page_by_name("none", 0, 1),
        lambda: page.set_category_field("data"),
    ):
        with pytest.raises(hr.GraphError):
            call()


def test_names_that_are_not_here_say_what_to_write():
    with pytest.raises(AttributeError, match=r"Cifar10ToMR'; docs/mindrecord.md says what to write"):
        mindrecord.Cifar10ToMR  # noqa: B018
    with pytest.raises(AttributeError, match="encrypted files are not read"):
        mindrecord.set_enc_key  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'other'$"):
        mindrecord.other  # noqa: B018


# ---- datasets ----


def test_a_dataset_is_written(tmp_path, photos):
    source = hr.ImageFolder(photos)
    written = source.write_mindrecord(tmp_path / "set.mindrecord", files=3, index=["label"])
    assert written.paths == [str(tmp_path / f"set.mindrecord{number}") for number in range(3)]
    assert sum(written.rows) == len(source) and max(written.rows) - min(written.rows) <= 1
    assert written.bytes == sum(os.path.getsize(path) for path in written.paths)
    wanted = [{"image": row["image"], "label": int(row["label"])} for row in source]
    assert_rows(read(written.paths[2]), wanted)
    assert_rows(read_set(written.paths[0]), wanted)
    again = hr.MindRecord(written.paths[0])
    assert [row["image"] for row in again] == [row["image"] for row in wanted]


def test_a_run_that_ended_early_is_gone_on_with(tmp_path):
    calls: list[int] = []

    def fails(value: Any) -> Any:
        calls.append(int(value))
        if value == 7 and len(calls) < 12:
            raise ValueError("seven")
        return value

    rows = hr.Range(9).map(fails, "value", types={"value": ("int64", ())}).options(workers=1, window=2)
    with pytest.raises(hr.FunctionError, match="seven"):
        rows.write_mindrecord(tmp_path / "x", files=3)
    assert "x0" not in os.listdir(tmp_path)
    calls[:] = [0] * 12
    written = rows.write_mindrecord(tmp_path / "x", files=3, resume=True)
    assert written.kept == 2 and min(calls[12:]) >= 6, "finished files are not made again"
    assert sorted(os.listdir(tmp_path)) == ["x0", "x0.db", "x1", "x1.db", "x2", "x2.db"]
    assert [row["value"] for row in read(tmp_path / "x0")] == list(range(9))
    assert written.rows == [3, 3, 3]
    calls.clear()
    with pytest.raises(hr.FunctionError, match="seven"):
        rows.write_mindrecord(tmp_path / "y", files=3)
    with pytest.raises(hr.StateError, match="other data or with other options"):
        rows.write_mindrecord(tmp_path / "y", files=3, resume=True, index=[])


def test_all_types_are_written(tmp_path):
    columns = {
        "i": np.arange(5, dtype=np.int64) - 2,
        "f": np.linspace(0, 1, 5, dtype=np.float32),
        "v": np.arange(30, dtype=np.int32).reshape(5, 2, 3) * 1000,
        "s": np.array(["a", "bé", "", "d", "e"]),
        "b": np.array([b"1", b"", b"33", b"4", b"5"], object),
    }
    dataset = hr.Numpy(columns)
    dataset.write_mindrecord(tmp_path / "x")
    found = list(hr.MindRecord(tmp_path / "x", columns=list(columns)))
    for row, wanted in zip(found, dataset, strict=True):
        assert row.keys() == wanted.keys()
        for name in columns:
            assert np.array_equal(row[name], wanted[name]), name
    assert {name: column.dtype for name, column in hr.MindRecord(tmp_path / "x").schema.items()} == {
        name: column.dtype for name, column in dataset.schema.items()
    }


def test_arrays_of_differing_lengths_are_written(tmp_path):
    def ragged(value: Any) -> Any:
        return np.arange(int(value), dtype=np.int64)

    dataset = hr.Range(6).map(ragged, "value", "v", types={"v": ("int64", (None,))}).project("v")
    dataset.write_mindrecord(tmp_path / "x", files=2)
    assert [row["v"].tolist() for row in hr.MindRecord(tmp_path / "x1")] == [list(range(n)) for n in range(6)]
    unknown = hr.Range(3).map(lambda value: value, "value", types={"value": ("int64", ())})
    unknown.write_mindrecord(tmp_path / "y")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": np.zeros(3, np.uint8)}, r'x is uint8.*\.map\(T\.TypeCast\("int32"\), "x"\)'),
        ({"x": np.zeros(3, np.uint64)}, "x is uint64, and MindRecord has int32"),
        ({"a b": np.zeros(3, np.int32)}, r"'a b'; MindRecord names.*rename\(\)"),
        ({"x": np.zeros((3, 0), np.int32)}, "none is 0"),
        ({"x": np.array([["a"]])}, "several string a row"),
    ],
)
def test_columns_that_mindrecord_has_not(tmp_path, columns, message):
    with pytest.raises(hr.GraphError, match=message):
        hr.Numpy(columns).write_mindrecord(tmp_path / "x")
    assert os.listdir(tmp_path) == []


def test_what_else_cannot_be_written(tmp_path):
    numbers = hr.Range(6)
    with pytest.raises(hr.GraphError, match="not known before the run"):
        numbers.map(lambda value: value, "value").write_mindrecord(tmp_path / "x")
    for wrong, message in (
        ({"files": 0}, "files"),
        ({"index": ["none"]}, "the index names"),
        ({"page_size": 3}, "page_size"),
        ({"header_size": 1 << 40}, "header_size"),
    ):
        with pytest.raises(hr.GraphError, match=message):
            numbers.write_mindrecord(tmp_path / "x", **wrong)

    def fails(value: Any) -> Any:
        if value == 4:
            raise ValueError("four")
        return value

    write(tmp_path / "x", rows_of(2))
    with pytest.raises(hr.FunctionError, match="four"):
        numbers.map(fails, "value", types={"value": ("int64", ())}).write_mindrecord(tmp_path / "x")
    assert_rows(read(tmp_path / "x"), rows_of(2))
    numbers.map(T.TypeCast("int32"), "value").write_mindrecord(tmp_path / "x")
    assert [row["value"] for row in read(tmp_path / "x")] == list(range(6))


# ---- any rows ----

TYPES = {
    "int32": st.integers(-(1 << 31), (1 << 31) - 1),
    "int64": st.integers(-(1 << 63), (1 << 63) - 1),
    "float32": st.floats(width=32),
    "float64": st.floats(),
    "string": st.text(st.characters(codec="utf-8"), max_size=40),
    "bytes": st.binary(max_size=60),
}


@st.composite
def tables(draw: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A schema, and rows of it."""
    names = draw(
        st.lists(st.from_regex(r"[A-Za-z_][0-9A-Za-z_]{0,20}", fullmatch=True), min_size=1, max_size=5, unique=True)
    )
    schema: dict[str, Any] = {}
    for name in names:
        kind = draw(st.sampled_from(sorted(TYPES)))
        schema[name] = {"type": kind}
        if kind not in ("string", "bytes") and draw(st.booleans()):
            shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
            if draw(st.booleans()):
                shape[draw(st.integers(0, len(shape) - 1))] = -1
            schema[name]["shape"] = shape
    rows = []
    for _ in range(draw(st.integers(0, 12))):
        row = {}
        for name, field in schema.items():
            if "shape" not in field:
                row[name] = draw(TYPES[field["type"]])
                continue
            free = draw(st.integers(0, 3))
            shape = [free if size == -1 else size for size in field["shape"]]
            count = int(np.prod(shape))
            values = draw(st.lists(TYPES[field["type"]], min_size=count, max_size=count))
            row[name] = np.array(values, field["type"]).reshape(shape)
        rows.append(row)
    return schema, rows


@settings(max_examples=examples(150), deadline=None, derandomize=True, database=None)
@given(table=tables(), files=st.integers(1, 4), calls=st.integers(1, 3))
def test_whatever_is_written_is_read(tmp_path_factory, table, files, calls):
    schema, rows = table
    folder = tmp_path_factory.mktemp("set")
    writer = FileWriter(folder / "x", files)
    writer.add_schema(schema)
    for call in range(calls):
        if part := rows[call::calls]:
            writer.write_raw_data(part)
    writer.commit()
    wanted = [row for call in range(calls) for row in rows[call::calls]]
    first = folder / ("x" if files == 1 else "x0")
    assert_rows(read_set(first), wanted)
    assert_rows(read(first), wanted)


# ---- MindSpore ----


def test_mindspore_reads_and_appends(tmp_path):
    theirs = pytest.importorskip("mindspore.mindrecord")
    dataset = pytest.importorskip("mindspore.dataset")
    rows = [{**row, "v": np.arange(number, dtype=np.int64) * 300} for number, row in enumerate(rows_of(12), 1)]
    schema = {**SCHEMA, "v": {"type": "int64", "shape": [-1]}}
    writer = FileWriter(tmp_path / "x", 3)
    writer.add_schema(schema)
    writer.write_raw_data(rows)
    writer.commit()
    found = list(theirs.FileReader(str(tmp_path / "x0")).get_next())
    assert_rows([{name: row[name] for name in rows[0]} for row in found], rows)
    loaded = dataset.MindDataset(str(tmp_path / "x0"), columns_list=["label", "v"], shuffle=False)
    assert [row[0].item() for row in loaded.create_tuple_iterator(output_numpy=True)] == [row["label"] for row in rows]
    more = theirs.FileWriter.open_for_append(str(tmp_path / "x0"))
    more.write_raw_data([dict(row) for row in rows[:4]])
    more.commit()
    again = read(tmp_path / "x0")
    assert sorted(row["name"] for row in again) == sorted(row["name"] for row in rows + rows[:4])
