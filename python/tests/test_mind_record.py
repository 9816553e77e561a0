"""`hr.MindRecord`: files that MindSpore wrote, and others that are damaged."""

import base64
import hashlib
import json
import pathlib
import shutil
import struct
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace.mindrecord import FileWriter
from tests.mind_record_reference import TESTDATA, header_of

EXPECTED: dict[str, dict[str, Any]] = json.loads((TESTDATA / "expected.json").read_text())


def matches(value: Any, expected: Any, field: dict[str, Any]) -> bool:
    """Whether it is what expected.json has: long texts and bytes are there by their hashes."""
    if isinstance(expected, dict) and "dtype" in expected:
        wanted = np.array(expected["values"], expected["dtype"]).reshape(expected["shape"])
        return value.dtype == wanted.dtype and value.shape == wanted.shape and bool((value == wanted).all())
    if isinstance(expected, dict) and "base64" in expected:
        return value == base64.b64decode(expected["base64"])
    if isinstance(expected, dict) and "bytes" in expected:
        return len(value) == expected["bytes"] and hashlib.sha256(value).hexdigest() == expected["sha256"]
    if isinstance(expected, dict):
        return len(value) == expected["text"] and hashlib.sha256(value.encode()).hexdigest() == expected["utf8_sha256"]
    if isinstance(expected, str):
        return value == expected
    wanted = np.array(expected, field["type"])
    return value.dtype == wanted.dtype and value.shape == () and value.tobytes() == wanted.tobytes()


def copied(tmp_path: pathlib.Path, *names: str) -> list[pathlib.Path]:
    return [pathlib.Path(shutil.copyfile(TESTDATA / name, tmp_path / name)) for name in names]


SHARDS = [f"shards.mindrecord{number}" for number in range(4)]


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_are_those_that_mindspore_wrote(name):
    expected = EXPECTED[name]
    dataset = hr.MindRecord(TESTDATA / expected["files"][0])
    assert list(dataset.schema) == sorted(expected["schema"])
    rows = list(dataset)
    assert len(rows) == len(dataset) == len(expected["rows"])
    for row, wanted in zip(rows, expected["rows"], strict=True):
        assert row.keys() == wanted.keys()
        for column, value in row.items():
            assert matches(value, wanted[column], expected["schema"][column]), (column, value)


def test_types_come_from_the_schema():
    schema = hr.MindRecord(TESTDATA / "types.mindrecord").schema
    assert schema["i32"] == ("int32", ()) and schema["f64"] == ("float64", ())
    assert schema["s"] == ("string", ()) and schema["b"] == ("bytes", ())
    assert schema["a32"] == ("int32", (2, 3)) and schema["af64"] == ("float64", (2, None))


def test_any_file_stands_for_its_set():
    wanted = [row["file_name"] for row in EXPECTED["shards.mindrecord"]["rows"]]
    for name in SHARDS:
        assert [row["file_name"] for row in hr.MindRecord(TESTDATA / name, columns=["file_name"])] == wanted
    assert [row["file_name"] for row in hr.MindRecord([TESTDATA / SHARDS[1]])] == wanted[3:6]
    assert [row["file_name"] for row in hr.MindRecord(str(TESTDATA / "shards.mindrecord*"))] == wanted
    assert [row["file_name"] for row in hr.MindRecord([str(TESTDATA / SHARDS[3]), TESTDATA / SHARDS[0]])] == [
        *wanted[9:],
        *wanted[:3],
    ]


def test_rows_have_numbers():
    dataset = hr.MindRecord(TESTDATA / SHARDS[0], columns=["file_name", "label"])
    assert str(dataset[6]["file_name"]) == "02.jpg" and int(dataset[-1]["label"]) == 0
    shuffled = hr.MindRecord(TESTDATA / SHARDS[0], columns=["file_name"], shuffle=True)
    names = [str(row["file_name"]) for row in shuffled]
    assert sorted(names) == [f"{number:02}.jpg" for number in range(10)] and names != sorted(names)
    ranks = [[str(row["file_name"]) for row in dataset.iterate(shard=(rank, 3), even="pad")] for rank in range(3)]
    assert [len(rank) for rank in ranks] == [4, 4, 4]
    with dataset.iterate() as rows:
        for _ in range(7):
            next(rows)
        state = rows.state()
    assert [str(row["file_name"]) for row in dataset.iterate(state=state)] == ["07.jpg", "08.jpg", "09.jpg"]
    train, test = dataset.split([0.8, 0.2], seed=1)
    assert len(train) == 8 and len(test) == 2


def test_a_graph_knows_its_types_without_the_files(tmp_path):
    (path,) = copied(tmp_path, "scalars.mindrecord")
    hr.MindRecord(path).batch(2).save(tmp_path / "graph.hrg")
    path.rename(tmp_path / "gone")
    loaded = hr.load(tmp_path / "graph.hrg")
    assert loaded.schema["x"] == ("int64", (None,))
    with pytest.raises(hr.NotFoundError, match="scalars"):
        list(loaded)
    (tmp_path / "gone").rename(path)
    assert [batch["x"].tolist() for batch in loaded] == [[-5, -4], [-1, 4], [11]]


def test_an_index_is_kept_where_it_is_asked_for(tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    tmp_path = tmp_path / "set"
    tmp_path.mkdir()
    copied(tmp_path, *SHARDS)
    list(hr.MindRecord(tmp_path / SHARDS[0]))
    assert not list(tmp_path.glob("*.hridx"))
    graph = hr.MindRecord(tmp_path / SHARDS[0], index="build")
    wanted = [row["file_name"] for row in EXPECTED["shards.mindrecord"]["rows"]]
    for _ in range(2):
        assert [row["file_name"] for row in graph] == wanted
        assert len(list(tmp_path.glob("*.hridx"))) == 4
    graph.save(saved / "graph.hrg")
    with pytest.raises(hr.GraphError, match="hridx|indices beside"):
        hr.load(saved / "graph.hrg", writes=False)
    assert [row["file_name"] for row in hr.MindRecord(tmp_path)] == wanted, "what is not a data file is left out"


# ---- files that cannot be read ----


def damage(path: pathlib.Path, at: int, data: bytes) -> None:
    whole = bytearray(path.read_bytes())
    whole[at : at + len(data)] = data
    path.write_bytes(whole)


def test_what_cannot_be_read_is_named(tmp_path):
    (path,) = copied(tmp_path, "scalars.mindrecord")
    whole = path.read_bytes()

    def refused(data: bytes, kind: type[hr.Error], message: str) -> None:
        path.write_bytes(data)
        with pytest.raises(kind, match=message) as raised:
            hr.MindRecord(path)
        assert "scalars.mindrecord" in str(raised.value)

    refused(b"", hr.DataError, "the file is empty")
    refused(bytes(50_000), hr.DataError, "was never committed")
    refused(whole[:-1], hr.DataError, rf"page 1 reaches byte {len(whole)} of {len(whole) - 1}")
    refused(whole[:300], hr.DataError, "is cut off")
    refused(struct.pack("<Q", 1 << 40) + whole[8:], hr.DataError, "not a MindRecord file")
    refused(whole[:8] + b"x" + whole[9:], hr.DataError, "not JSON")
    refused(whole.replace(b'"3.0"', b'"9.9"'), hr.UnsupportedError, 'version "9.9"')
    refused(whole.replace(b'"int64"', b'"array"'), hr.UnsupportedError, 'the type "array"')
    block = struct.pack(">I", 9) + b"encrypted" + bytes(4) + b"AES-GCMENCRYPT"
    refused(block, hr.UnsupportedError, "is encrypted; decrypt it with MindSpore first")
    refused(b"SQLite format 3\0", hr.DataError, "name the file without .db")
    path.write_bytes(whole + b"any bytes, a hash perhapsHASH")
    assert len(list(hr.MindRecord(path))) == 5


def test_a_file_that_is_missing_from_its_set_is_named(tmp_path):
    files = copied(tmp_path, *SHARDS)
    files[2].unlink()
    with pytest.raises(hr.NotFoundError, match=r"shards\.mindrecord2 is missing.*shards\.mindrecord1"):
        hr.MindRecord(files[1])
    assert len(hr.MindRecord(files[:2])) == 6
    with pytest.raises(hr.NotFoundError, match="nowhere"):
        hr.MindRecord(tmp_path / "nowhere")


def test_a_mixed_set_is_refused(tmp_path):
    files = copied(tmp_path, *SHARDS)
    text = files[1].read_bytes()
    files[1].write_bytes(text.replace(b'"label":{"type":"int32"}', b'"label":{"type":"int64"}'))
    with pytest.raises(hr.DataError, match=r"shards\.mindrecord1 has another schema than .*shards\.mindrecord0"):
        len(hr.MindRecord(files[0]))
    files[1].write_bytes(text.replace(b'"3.0"', b'"2.0"'))
    with pytest.raises(hr.DataError, match="another version"):
        len(hr.MindRecord(files[0]))


def test_damage_of_a_row_is_named(tmp_path):
    (path,) = copied(tmp_path, "scalars.mindrecord")
    page = header_of(path)["header_size"] + header_of(path)["page_size"]
    (length,) = struct.unpack_from("<Q", path.read_bytes(), page)
    second = page + 8 + length
    damage(path, second + 8, b"\xc1")
    dataset = hr.MindRecord(path)
    with pytest.raises(hr.DataError, match=r"they are no map of MessagePack \(in page 1\)") as raised:
        list(dataset)
    assert raised.value.file is not None
    assert raised.value.file.endswith(f"scalars.mindrecord, record 1, byte {second}")
    assert [int(row["x"]) for row in dataset.on_error("skip")] == [-5, -1, 4, 11]
    damage(path, second, b"\xff" * 8)
    with pytest.raises(hr.DataError, match=rf"byte {second}: the scalars of row 1 are damaged: they claim \d+ bytes"):
        list(hr.MindRecord(path))


def test_a_kept_index_hides_no_change(tmp_path):
    (path,) = copied(tmp_path, "scalars.mindrecord")
    list(hr.MindRecord(path, index="build"))
    writer = FileWriter(path, overwrite=True)
    writer.add_schema({"t": {"type": "string"}, "x": {"type": "int64"}})
    writer.write_raw_data([{"t": "other", "x": number} for number in range(9)])
    writer.commit()
    assert [int(row["x"]) for row in hr.MindRecord(path, index="build")] == list(range(9))


def test_names_that_do_not_exist(tmp_path):
    with pytest.raises(hr.GraphError, match="labels.*label"):
        list(hr.MindRecord(TESTDATA / SHARDS[0], columns=["labels"]))
    for paths in (3, [], None, [3]):
        with pytest.raises(hr.GraphError, match="paths"):
            hr.MindRecord(paths)


def test_other_sources_say_what_such_a_file_is():
    with pytest.raises(hr.DataError, match="the file is MindRecord, by its first bytes: read it with hr.MindRecord"):
        list(hr.RecordFile(TESTDATA / "types.mindrecord"))
