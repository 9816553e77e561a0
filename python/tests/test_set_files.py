"""Files of named sets: several streams, what is cut off, what would take more memory than its bytes tell, and rows that
several files have."""

import bz2
import gzip
import io
import lzma
import pathlib
import weakref
import zlib

import numpy as np
import pytest

import headrace as hr
from headrace._files.xz_file import XzFile
from headrace._sets import set_file
from headrace._sets.picture_rows import joined_columns, rows_in_memory
from headrace._sets.set_file import SetFile

DATA = bytes(range(256)) * 300
COMPRESSED = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress}


def opened(path: pathlib.Path, data: bytes) -> SetFile:
    path.write_bytes(data)
    return SetFile(str(path), lambda size, checksum: None)


@pytest.mark.parametrize("name", COMPRESSED)
def test_streams_in_succession_are_one(tmp_path, name):
    compress = COMPRESSED[name]
    whole = compress(DATA[:1000]) + compress(b"") + compress(DATA[1000:])
    assert opened(tmp_path / "a", whole).rest() == DATA
    file = opened(tmp_path / "a", whole)
    assert bytes(file.read(1500, "the head")) + bytes(file.rest()) == DATA
    file.end("the array")


def test_a_plain_file_is_given_without_copies(tmp_path):
    file = opened(tmp_path / "a", DATA)
    head, rest = file.read(1500, "the head"), file.rest()
    assert head.obj is rest.obj
    assert bytes(head) + bytes(rest) == DATA
    file.end("the array")
    with pytest.raises(hr.DataError, match="/a: it ends within the tail, after 0 of 4 bytes"):
        file.read(4, "the tail")


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_file_that_is_cut_off_is_an_error(tmp_path, name):
    whole = COMPRESSED[name](DATA)
    for size in (len(whole) // 2, len(whole) - 3):
        with pytest.raises(hr.DataError, match="/a: its compressed data is cut off; get it anew"):
            opened(tmp_path / "a", whole[:size]).rest()


@pytest.mark.parametrize("name", COMPRESSED)
def test_what_grows_beyond_all_measure_is_an_error(tmp_path, monkeypatch, name):
    monkeypatch.setattr(set_file, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(set_file, "_PIECE", 1 << 16)
    bomb = COMPRESSED[name](bytes(1 << 24))
    with pytest.raises(hr.DataError, match="/a: its compressed data gives more than 200 times its bytes"):
        opened(tmp_path / "a", bomb).rest()
    with pytest.raises(hr.DataError, match="/a: its compressed data gives more than 200 times its bytes"):
        opened(tmp_path / "a", bomb).read(1 << 24, "the array")
    # Below the measure, and of a file that is not compressed.
    assert opened(tmp_path / "a", COMPRESSED[name](bytes(1 << 20))).rest() == bytes(1 << 20)
    assert len(opened(tmp_path / "a", bytes(1 << 22)).rest()) == 1 << 22


def test_a_large_dictionary_of_xz_is_an_error(tmp_path):
    whole = bytearray(lzma.compress(DATA, check=lzma.CHECK_NONE))
    # The size of the dictionary in the head of the block, whose checksum comes after it: 1.5 GiB.
    assert whole[12:16] == b"\x02\x00\x21\x01"
    whole[16] = 37
    whole[20:24] = zlib.crc32(whole[12:20]).to_bytes(4, "little")
    for data in (bytes(whole), lzma.compress(b"first") + bytes(whole)):
        with pytest.raises(
            hr.DataError, match="/a: its dictionary takes more than 128 MiB of memory; decompress it with unxz"
        ):
            opened(tmp_path / "a", data).rest()


def test_what_comes_after_the_streams_of_xz_is_left():
    for rest in (b"", bytes(8), b"\0\0\0\0no stream at all"):
        file = XzFile(io.BytesIO(lzma.compress(b"one") + bytes(4) + lzma.compress(b"two") + rest))
        assert (file.read(2), file.read(), file.read()) == (b"on", b"etwo", b"")


@pytest.mark.parametrize("counts", [(2, 2, 2), (3, 1, 0), (1, 2, 9), (0, 4, 1)])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 2, 1), (3, 0, 1, 2)])
def test_parts_are_joined_whatever_their_sizes_and_axes(counts, order):
    draws = np.random.default_rng(0)
    images = [draws.integers(0, 256, (count, 3, 4, 5), np.uint8).transpose(order) for count in counts]
    images = [each for each in images if order[0] == 0] or [draws.integers(0, 9, (3, 4, 5, 2)).transpose(order)]
    made = ({"image": each, "label": np.arange(len(each))} for each in images)
    columns = joined_columns(made, len(images))
    np.testing.assert_array_equal(columns["image"], np.concatenate(images))
    np.testing.assert_array_equal(columns["label"], np.concatenate([np.arange(len(each)) for each in images]))
    assert columns["image"].flags.c_contiguous
    assert rows_in_memory(columns["image"]) is columns["image"]
    for each in images:
        np.testing.assert_array_equal(rows_in_memory(each), each)


def test_parts_are_let_go_before_the_next_is_made():
    alive: list[weakref.ref[np.ndarray]] = []

    def parts():
        for count in (3, 1, 4):
            assert all(each() is None for each in alive)
            part = {"image": np.ones((count, 2))}
            alive.append(weakref.ref(part["image"]))
            yield part
            del part

    assert len(joined_columns(parts(), 3)["image"]) == 8
