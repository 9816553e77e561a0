"""Errors about a file of another kind than the operator reads name that kind, by its first bytes."""

import bz2
import gzip
import io
import lzma
import os
import pathlib
import re
import struct
import zipfile

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V
from headrace._runs.foreign_files import kind_of

FORMATS = pathlib.Path(__file__).resolve().parents[2] / "io/formats"
TABLE = b"a,b\n1,2\n"
RECORD = struct.pack("<QI", 5, 0) + b"\xff\xfello" + struct.pack("<I", 0)


def zipped() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("t.csv", TABLE)
    return written.getvalue()


def npy() -> bytes:
    written = io.BytesIO()
    np.save(written, np.zeros(3))
    return written.getvalue()


KINDS = {
    "gzip": gzip.compress(TABLE),
    "bzip2": bz2.compress(TABLE),
    "xz": lzma.compress(TABLE),
    "zip": zipped(),
    "Parquet": b"PAR1" + bytes(range(256)) * 4 + b"PAR1",
    "TFRecord": RECORD,
    "NumPy .npy": npy(),
    "LMDB": (FORMATS / "lmdb/testdata/plain.mdb").read_bytes(),
    "MDS": (FORMATS / "mds/testdata/plain/shard.00000.mds").read_bytes(),
    "PNG": V.EncodePng()(np.zeros((4, 4, 3), np.uint8)),
    "UTF-16 text": "a,b\n1,2\n".encode("utf-16"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_reader_names_it(tmp_path, kind):
    path = tmp_path / "data"
    path.write_bytes(KINDS[kind])
    readers = [
        lambda: hr.RecordFile(path),
        lambda: hr.Csv(path),
        lambda: hr.Csv(path, {"a": "int64", "b": "int64"}),
        lambda: hr.JsonLines(path, {"a": "int64"}),
    ]
    # Texts may be compressed by gzip.
    if kind == "gzip":
        del readers[1:]
    for number, make in enumerate(readers):
        with pytest.raises(hr.Error) as caught:
            list(make())
        assert re.match(rf"(.*: )?the file is {re.escape(kind)}, by its first bytes: ", str(caught.value)), number
        assert caught.value.operator is not None


@pytest.mark.parametrize(
    ("make", "own"),
    [(hr.Npy, {"NumPy .npy"}), (hr.Npz, {"zip"}), (hr.Parquet, {"Parquet"}), (hr.MindRecord, set())],
)
def test_sources_that_look_into_files_when_they_are_made_name_it(tmp_path, make, own):
    if make is hr.Parquet:
        pytest.importorskip("pyarrow")
    path = tmp_path / "data"
    for kind in KINDS.keys() - own:
        path.write_bytes(KINDS[kind])
        with pytest.raises(hr.DataError) as caught:
            make(path)
        said = str(caught.value)
        assert re.search(rf"{re.escape(kind)}, by its first bytes: ", said) and str(path) in said, said
    for kind in own:
        path.write_bytes(KINDS[kind][:-1])
        with pytest.raises(hr.DataError) as caught:
            make(path)
        assert "by its first bytes" not in str(caught.value)


def test_several_tfrecords_and_the_files_that_are_read(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(RECORD * 3)
    assert kind_of(str(path))[0] == "TFRecord"
    path.write_bytes(TABLE)
    assert kind_of(str(path)) is None
    assert kind_of(str(tmp_path / "missing")) is None


def test_what_is_damaged_but_of_its_kind_is_not_renamed(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(TABLE + b"1,2,3\n")
    with pytest.raises(hr.DataError) as caught:
        list(hr.Csv(path))
    assert "by its first bytes" not in str(caught.value)
    path.write_bytes(KINDS["PNG"][:40])
    with pytest.raises(hr.DataError) as caught:
        list(hr.Files(path).map(V.Decode(), "data"))
    assert "by its first bytes" not in str(caught.value)
    path.write_bytes(b"<!DOCTYPE html><html>not found</html>")
    with pytest.raises(hr.DataError, match="but HTML: .*it may be the page of an error") as caught:
        list(hr.Files(path).map(V.Decode(), "data"))
    assert "by its first bytes" not in str(caught.value), "the kernel says it once"


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert kind_of(str(tmp_path / "pipe")) is None
