"""`hr.Mds`: folders that MosaicML Streaming wrote, and others that are damaged."""

import base64
import json
import pathlib
import shutil
import struct
from typing import Any

import numpy as np
import pytest

import headrace as hr
from tests.mds_bytes import write_mds

TESTDATA = pathlib.Path(__file__).resolve().parents[2] / "io/formats/mds/testdata"
EXPECTED: list[dict[str, Any]] = json.loads((TESTDATA / "expected.json").read_text())


def check_rows(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == len(EXPECTED)
    for row, wanted in zip(rows, EXPECTED, strict=True):
        for name in ("arr", "emb"):
            array = np.array(wanted[name]["values"], wanted[name]["dtype"]).reshape(wanted[name]["shape"])
            assert row[name].dtype == array.dtype
            np.testing.assert_array_equal(row[name], array)
        assert bytes(row["blob"]) == base64.b64decode(wanted["blob"])
        assert json.loads(str(row["meta"])) == wanted["meta"]
        assert str(row["text"]) == wanted["text"]
        assert (int(row["id"]), int(row["label"])) == (wanted["id"], wanted["label"])
        assert float(row["score"]) == wanted["score"]


@pytest.mark.parametrize("name", ["plain", "zstd"])
def test_samples_are_those_that_streaming_wrote(name):
    dataset = hr.Mds(TESTDATA / name, verify=True)
    assert len(dataset) == 12
    check_rows(list(dataset))
    shuffled = sorted(hr.Mds(TESTDATA / name, shuffle=True), key=lambda row: int(row["id"]))
    check_rows(shuffled)
    assert list(hr.Mds(TESTDATA / name, ["text", "id"]).schema) == ["text", "id"]


def test_a_merged_index_leads_to_folders_below(tmp_path):
    shards = []
    for name in ("plain", "zstd"):
        shutil.copytree(TESTDATA / name, tmp_path / name)
        (tmp_path / name / "index.json").unlink()
        for shard in json.loads((TESTDATA / name / "index.json").read_text())["shards"]:
            for form in ("raw_data", "zip_data"):
                if shard[form] is not None:
                    shard[form]["basename"] = f"{name}/{shard[form]['basename']}"
            shards.append(shard)
    (tmp_path / "index.json").write_text(json.dumps({"version": 2, "shards": shards}))
    rows = list(hr.Mds(tmp_path))
    check_rows(rows[:12])
    check_rows(rows[12:])


VALUES = {
    "bytes": (b"\0x", b"\0x"),
    "jpeg": (b"jpeg", b"jpeg"),
    "str": ("né", "né"),
    "json": ('{"a": 1}', '{"a": 1}'),
    "str_int": ("-17", np.int64(-17)),
    "str_float": ("1e-05", np.float64(1e-05)),
    "str_decimal": ("1.50", "1.50"),
    "int": (-5, np.int64(-5)),
    "uint8": (200, np.uint8(200)),
    "float32": (0.5, np.float32(0.5)),
    "ndarray": (b"\x22\x08\x02\x03" + np.arange(6, dtype="f4").tobytes(), np.arange(6, dtype="f4").reshape(2, 3)),
    "ndarray:int16": (b"\x04\x02" + b"\1\0\2\0", np.array([1, 2], "i2")),
    "ndarray:uint8:2,2": (b"abcd", np.frombuffer(b"abcd", np.uint8).reshape(2, 2)),
    "pil": (struct.pack("<3I", 2, 1, 3) + b"RGB" + b"abcdef", np.frombuffer(b"abcdef", np.uint8).reshape(1, 2, 3)),
}


@pytest.mark.parametrize("encoding", VALUES)
def test_every_encoding(tmp_path, encoding):
    given, wanted = VALUES[encoding]
    folder = write_mds(tmp_path / "x", {"a": encoding, "b": "int"}, [{"a": given, "b": 1}] * 3)
    for row in hr.Mds(folder):
        if isinstance(wanted, np.ndarray | np.generic):
            assert row["a"].dtype == wanted.dtype
            np.testing.assert_array_equal(row["a"], wanted)
        else:
            assert (bytes(row["a"]) if isinstance(wanted, bytes) else str(row["a"])) == wanted


def test_pickles_are_refused_and_may_be_left_out(tmp_path):
    folder = write_mds(tmp_path / "x", {"a": "pkl", "b": "int", "c": "list[int]"}, [{"a": b"", "b": 4, "c": b""}])
    with pytest.raises(hr.UnsupportedError, match='the column "a": its encoding is pkl.*never read'):
        hr.Mds(folder)
    with pytest.raises(hr.UnsupportedError, match=r'the column "c": its encoding is list\[int\]'):
        hr.Mds(folder, ["c"])
    assert [int(row["b"]) for row in hr.Mds(folder, ["b"])] == [4]


@pytest.mark.parametrize(
    "encoding, values, reason",
    [
        ("str", [b"a", b"\xff"], "not UTF-8"),
        ("str_int", ["1", "1.5"], '"1.5", which is not int64'),
        ("ndarray", [b"\x08\x04\x01a", b"\x09\x04\x01a"], "the first one was"),
        ("ndarray", [b"\x08\x04\x01a", b"\x08\x04\x02a"], "do not make"),
        ("ndarray:uint8:2", [b"ab", b"abc"], "do not make"),
    ],
)
def test_a_value_that_is_not_of_its_encoding(tmp_path, encoding, values, reason):
    folder = write_mds(tmp_path / "x", {"a": encoding}, [{"a": value} for value in values])
    with pytest.raises(hr.DataError, match=reason) as caught:
        list(hr.Mds(folder))
    assert "shard.00000.mds" in str(caught.value) and '"a"' in str(caught.value)
    assert len(list(hr.Mds(folder).on_error("skip"))) == 1


def test_a_shard_that_is_missing_or_damaged(tmp_path):
    folder = tmp_path / "x"
    shutil.copytree(TESTDATA / "plain", folder)
    shard = folder / "shard.00003.mds"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    with pytest.raises(hr.DataError, match="the index says"):
        list(hr.Mds(folder, ["id"]))
    shard.write_bytes(whole[:-1] + b"~")
    with pytest.raises(hr.DataError, match="its sha1 is"):
        list(hr.Mds(folder, ["id"], verify=True))
    shard.unlink()
    with pytest.raises(hr.NotFoundError, match="shard.00003.mds"):
        list(hr.Mds(folder, ["id"]))
    (folder / "index.json").unlink()
    with pytest.raises(hr.NotFoundError, match="index.json"):
        hr.Mds(folder)


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"compression": "br:5", "zip_data": {"basename": "s.br", "bytes": 3, "hashes": {}}}, "compressed by br"),
        ({"samples": 2}, "has 1 samples, and the index says 2"),
        ({"format": "json"}, "has the format json"),
        ({"column_sizes": [None, 8]}, "list of columns"),
        ({"raw_data": {"basename": "../x/shard.00000.mds", "bytes": 1, "hashes": {}}}, "not below its own folder"),
    ],
)
def test_an_index_that_does_not_fit(tmp_path, changes, reason):
    folder = write_mds(tmp_path / "x", {"a": "int"}, [{"a": 1}], **changes)
    if "zip_data" in changes:
        (folder / "shard.00000.mds").rename(folder / "s.br")
    with pytest.raises(hr.Error, match=reason):
        list(hr.Mds(folder))
