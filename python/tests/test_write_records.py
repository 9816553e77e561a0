"""`ds.write_records`: the rows of any dataset as records."""

import pathlib
import struct

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from headrace import vision as V

MAGIC = 0xCED7230A


def payloads(path) -> list[bytes]:
    data, at, found = pathlib.Path(path).read_bytes(), 0, []
    while at < len(data):
        magic, length = struct.unpack_from("<II", data, at)
        assert magic == MAGIC and length < 1 << 29
        found.append(data[at + 8 : at + 8 + length])
        at += 8 + -(-length // 4) * 4
    return found


def column(values: list[bytes]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def test_image_and_label_become_image_records(tmp_path, photos):
    source = hr.ImageFolder(photos)
    written = source.write_records(tmp_path / "set.rec")
    expected = [struct.pack("<IfQQ", 0, row["label"], i, 0) + row["image"] for i, row in enumerate(source)]
    assert payloads(written.path) == expected and written.records == len(expected)
    assert written.bytes == (tmp_path / "set.rec").stat().st_size
    keys = [line.split("\t")[0] for line in pathlib.Path(written.index).read_text().splitlines()]
    assert keys == [str(i) for i in range(len(expected))]


def test_the_path_may_be_a_uri(tmp_path):
    written = hr.Numpy({"data": column([b"a"])}).write_records(f"file://{tmp_path}/set.rec")
    assert written.path == str(tmp_path / "set.rec") and payloads(written.path) == [b"a"]
    with pytest.raises(hr.UnsupportedError, match="no file system for nosuch://"):
        hr.Numpy({"data": column([b"a"])}).write_records("nosuch://bucket/set.rec")


def test_the_id_is_the_key(tmp_path):
    images = column([b"a", b"bc", b""])
    source = hr.Numpy({"image": images, "label": np.array([1.5, 0, 2], np.float32), "id": np.array([7, 1 << 40, 3])})
    source.write_records(tmp_path / "set.rec")
    assert payloads(tmp_path / "set.rec") == [
        struct.pack("<IfQQ", 0, 1.5, 7, 0) + b"a",
        struct.pack("<IfQQ", 0, 0, 1 << 40, 0) + b"bc",
        struct.pack("<IfQQ", 0, 2, 3, 0),
    ]
    assert (tmp_path / "set.idx").read_text().split() == ["7", "0", str(1 << 40), "36", "3", "72"]


def test_labels_that_are_arrays_are_packed_behind_the_header(tmp_path):
    labels = np.array([[1, 2.5], [3, 4]], np.float64)
    hr.Numpy({"image": column([b"a", b"b"]), "label": labels}).write_records(tmp_path / "set.rec")
    assert payloads(tmp_path / "set.rec")[1] == struct.pack("<IfQQ2f", 2, 0, 1, 0, 3, 4) + b"b"


def test_one_column_of_bytes_becomes_raw_records(tmp_path):
    magic = struct.pack("<I", MAGIC)
    contents = [b"", b"x", b"ab" + magic + b"cd", magic * 3, b"1234" + magic + b"x"]
    written = hr.Numpy({"line": column(contents)}).write_records(tmp_path / "lines.rec", workers=3)
    assert written.records == 5
    reader = mx.recordio.MXRecordIO(str(tmp_path / "lines.rec"), "r")
    assert [reader.read() for _ in contents] == contents and reader.read() is None


def test_images_are_encoded_before(tmp_path, photos):
    small = hr.ImageFolder(photos).map([V.Decode(), V.Resize((8, 9))], "image")
    with pytest.raises(hr.GraphError, match="EncodeJpeg"):
        small.write_records(tmp_path / "set.rec")
    written = small.map(V.EncodePng(), "image").write_records(tmp_path / "set.rec")
    again = hr.Numpy({"image": column([payload[24:] for payload in payloads(written.path)])}).map(V.Decode(), "image")
    for ours, expected in zip(again, small, strict=True):
        assert np.array_equal(ours["image"], expected["image"])


def test_texts_are_encoded_before(tmp_path):
    (tmp_path / "a.txt").write_text("one\nzwölf\n")
    lines = hr.Text(tmp_path / "a.txt")
    with pytest.raises(hr.GraphError, match=r"line is a text.*text\.encode\(\)") as caught:
        lines.write_records(tmp_path / "set.rec")
    assert "EncodeJpeg" not in str(caught.value)
    with pytest.raises(hr.GraphError, match=r"line is string of shape \(None,\).*: leave batch\(\) out") as caught:
        lines.batch(2).write_records(tmp_path / "set.rec")
    assert "encode" not in str(caught.value)
    encoded = lines.map(lambda text: text.encode(), "line", types={"line": "bytes"})
    assert payloads(encoded.write_records(tmp_path / "set.rec").path) == [b"one", "zwölf".encode()]


@pytest.mark.parametrize(
    "source",
    [
        hr.Range(3),
        hr.Range(3).batch(2),
        hr.Numpy({"image": column([b"a"]), "other": column([b"b"])}),
        hr.Numpy({"image": column([b"a", b"b"]), "label": np.array([0, 1])}).batch(2),
    ],
)
def test_other_columns_are_refused(tmp_path, source):
    with pytest.raises(hr.GraphError, match="write_records"):
        source.write_records(tmp_path / "set.rec")
    assert not list(tmp_path.iterdir())


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "set.rec").write_bytes(b"old")
    (tmp_path / "set.idx").write_bytes(b"older")

    def refuse(value):
        if value == b"3":
            raise ValueError("no")
        return value

    source = hr.Numpy({"x": column([b"1", b"2", b"3", b"4"])}).map(refuse, "x")
    with pytest.raises(hr.FunctionError):
        source.write_records(tmp_path / "set.rec")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"set.rec": b"old", "set.idx": b"older"}
    assert source.on_error("skip").write_records(tmp_path / "set.rec").records == 3


@pytest.mark.parametrize("kept", [{"as_": "dlpack"}, {"device": "cpu:0"}, {"bytes_as": "memoryview"}])
def test_options_that_are_for_loops_change_nothing(tmp_path, photos, kept):
    rows = hr.ImageFolder(photos, shuffle=True)
    plain, other = tmp_path / "plain.rec", tmp_path / "other.rec"
    rows.write_records(plain)
    rows.options(**kept).write_records(other)
    assert plain.read_bytes() == other.read_bytes()


def test_options_are_those_of_iterate(tmp_path):
    source = hr.Numpy({"x": column([bytes([i]) for i in range(10)])}, shuffle=True)
    source.write_records(tmp_path / "part.rec", shard=(1, 2), seed=3)
    with source.iterate(shard=(1, 2), seed=3) as rows:
        assert payloads(tmp_path / "part.rec") == [row["x"] for row in rows]


def test_negative_ids_are_refused(tmp_path):
    source = hr.Numpy({"image": column([b"a"]), "label": np.array([0]), "id": np.array([-1])})
    with pytest.raises(hr.DataError, match="id of row 0 is -1"):
        source.write_records(tmp_path / "set.rec")
