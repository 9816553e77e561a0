"""`hr.Lmdb`: files that LMDB wrote, read without it."""

import os
import pathlib
import shutil

import numpy as np
import pytest

import headrace as hr

TESTDATA = pathlib.Path(__file__).resolve().parents[2] / "io/formats/lmdb/testdata"


def value_of(number: int) -> bytes:
    if number == 100:
        return b"b" * 9000
    return b"e" * 4080 if number == 299 else b"%d-" % number + b"v" * (number * 37 % 90)


def entries(dataset: hr.Dataset) -> list[tuple[bytes, bytes]]:
    return [(bytes(row["key"]), bytes(row["value"])) for row in dataset]


def test_entries_are_those_that_lmdb_wrote():
    dataset = hr.Lmdb(TESTDATA / "plain.mdb")
    expected = [(b"key-%05d" % number, value_of(number)) for number in range(300) if number != 7]
    assert len(dataset) == 299
    assert entries(dataset) == expected
    assert sorted(entries(hr.Lmdb(TESTDATA / "plain.mdb", shuffle=True))) == expected
    assert [bytes(row["key"]) for row in hr.Lmdb(TESTDATA / "plain.mdb", ["key"])] == [key for key, _ in expected]


def test_a_folder_that_cannot_be_written_to(tmp_path):
    shutil.copyfile(TESTDATA / "plain.mdb", tmp_path / "data.mdb")
    os.chmod(tmp_path / "data.mdb", 0o400)
    os.chmod(tmp_path, 0o500)
    try:
        assert len(entries(hr.Lmdb(tmp_path))) == 299
        assert os.listdir(tmp_path) == ["data.mdb"]
    finally:
        os.chmod(tmp_path, 0o700)


def test_named_databases():
    assert entries(hr.Lmdb(TESTDATA / "named.mdb", database="labels"))[2] == (b"2", b"l2")
    with pytest.raises(hr.Error, match='database=: "images", "labels"'):
        list(hr.Lmdb(TESTDATA / "named.mdb"))
    with pytest.raises(hr.Error, match='no database "x"; it has "images", "labels"'):
        list(hr.Lmdb(TESTDATA / "named.mdb", database="x"))
    with pytest.raises(hr.UnsupportedError, match="dupsort"):
        list(hr.Lmdb(TESTDATA / "dupsort.mdb", database="several"))
    assert len(hr.Lmdb(TESTDATA / "empty.mdb")) == 0


def test_a_file_of_another_kind_is_named(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(9))
    with pytest.raises(hr.DataError, match="the file is NumPy .npy, by its first bytes"):
        list(hr.Lmdb(tmp_path / "a.npy"))


def test_rows_of_every_size_and_order(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    draws = np.random.default_rng(7)
    rows = {
        draws.bytes(int(draws.integers(1, 500))): draws.bytes(int(draws.choice([0, 1, 50, 1900, 2100, 70_000])))
        for _ in range(700)
    }
    with lmdb.open(str(tmp_path / "x"), map_size=1 << 28) as environment:
        for key, value in rows.items():
            with environment.begin(write=True) as transaction:
                transaction.put(key, value)
        with environment.begin(write=True) as transaction:
            for key in sorted(rows)[::3]:
                transaction.delete(key)
                del rows[key]
    assert entries(hr.Lmdb(tmp_path / "x")) == sorted(rows.items())


def test_a_commit_during_a_run_is_an_error(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(tmp_path / "x"), map_size=1 << 24) as environment:
        with environment.begin(write=True) as transaction:
            for number in range(1000):
                transaction.put(b"%04d" % number, b"v" * 2000)
        with hr.Lmdb(tmp_path / "x").iterate(executor="pull") as rows:
            assert bytes(next(rows)["key"]) == b"0000"
            with environment.begin(write=True) as transaction:
                transaction.put(b"0500", b"another")
            with pytest.raises(hr.DataError, match="run without writers"):
                list(rows)
        assert entries(hr.Lmdb(tmp_path / "x"))[500] == (b"0500", b"another")
