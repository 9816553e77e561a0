"""headrace.mx.recordio: what MXNet writes and reads, byte for byte."""

import multiprocessing
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import threading

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
import headrace.mx as mx

TESTDATA = pathlib.Path(__file__).resolve().parents[2] / "io/formats/recordio/testdata"
MAGIC = b"\x0a\x23\xd7\xce"

# Payloads in which magic words come at every alignment.
payloads = st.lists(
    st.lists(st.sampled_from([MAGIC, b"", b"a", b"bc", b"def", MAGIC[:2], b"\0" * 5]), max_size=12).map(b"".join),
    max_size=20,
)


def framed(payload: bytes) -> bytes:
    """A record as the specification has it, written as simply as can be."""
    words = [payload[at : at + 4] for at in range(0, len(payload), 4)]
    parts = [b""]
    for word in words:
        if word == MAGIC:
            parts.append(b"")
        else:
            parts[-1] += word
    heads = [0] if len(parts) == 1 else [1, *[2] * (len(parts) - 2), 3]
    frames = b"".join(
        MAGIC + struct.pack("<I", head << 29 | len(part)) + part for head, part in zip(heads, parts, strict=True)
    )
    return frames + b"\0" * (-len(frames) % 4)


def written(path: pathlib.Path, records: list[bytes]) -> bytes:
    record = mx.recordio.MXRecordIO(path, "w")
    for each in records:
        record.write(each)
    record.close()
    return path.read_bytes()


def read(path: pathlib.Path) -> list[bytes]:
    record = mx.recordio.MXRecordIO(str(path), "r")
    return list(iter(record.read, None))


@settings(max_examples=300, deadline=None)
@given(records=payloads)
def test_files_are_those_of_the_specification(tmp_path_factory: pytest.TempPathFactory, records: list[bytes]) -> None:
    path = tmp_path_factory.getbasetemp() / "given.rec"
    assert written(path, records) == b"".join(map(framed, records))
    assert read(path) == records


@settings(max_examples=100, deadline=None)
@given(records=payloads, keys=st.data())
def test_an_index_gives_every_record(
    tmp_path_factory: pytest.TempPathFactory, records: list[bytes], keys: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    names = keys.draw(st.lists(st.integers(0, 2**64 - 1), min_size=len(records), max_size=len(records), unique=True))
    record = mx.recordio.MXIndexedRecordIO(folder / "given.idx", folder / "given.rec", "w")
    for name, each in zip(names, records, strict=True):
        record.write_idx(name, each)
    record.close()
    offsets = [sum(len(framed(each)) for each in records[:i]) for i in range(len(records))]
    lines = "".join(f"{name}\t{offset}\n" for name, offset in zip(names, offsets, strict=True))
    assert (folder / "given.idx").read_text() == lines
    again = mx.recordio.MXIndexedRecordIO(folder / "given.idx", folder / "given.rec", "r")
    assert again.keys == names and again.idx == dict(zip(names, offsets, strict=True))
    for name, each in keys.draw(st.permutations(list(zip(names, records, strict=True)))):
        assert again.read_idx(name) == each


def test_a_file_of_mxnet_is_read_and_written_as_it_is(tmp_path: pathlib.Path) -> None:
    expected = [b"", MAGIC, b"abcd" + MAGIC + b"x", MAGIC * 2 + b"abc", b"ab" + MAGIC + b"cd", bytes(range(256))]
    expected.append(mx.recordio.pack(mx.recordio.IRHeader(0, 3.5, 16777217, 9), b"encoded"))
    expected.append(mx.recordio.pack(mx.recordio.IRHeader(5, [1, 2.5, -3], 2**64 - 1, 0), b"encoded"))
    sample = mx.recordio.MXIndexedRecordIO(str(TESTDATA / "mxnet-sample.idx"), str(TESTDATA / "mxnet-sample.rec"), "r")
    assert [sample.read_idx(10 * i) for i in range(8)] == expected
    again = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    for i, each in enumerate(expected):
        again.write_idx(10 * i, each)
    again.close()
    for kind in ("rec", "idx"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (TESTDATA / f"mxnet-sample.{kind}").read_bytes()


def test_paths_may_be_uris(tmp_path: pathlib.Path) -> None:
    index, uri = f"file://{tmp_path}/a.idx", f"file://{tmp_path}/a.rec"
    with mx.recordio.MXIndexedRecordIO(index, uri, "w") as record:
        record.write_idx(7, b"seven")
    assert (tmp_path / "a.idx").read_text() == "7\t0\n"
    with mx.recordio.MXIndexedRecordIO(index, uri, "r") as record:
        assert record.read_idx(7) == b"seven"
    for paths in (("nosuch://bucket/a.idx", uri), (index, "nosuch://bucket/a.rec")):
        for flag in ("r", "w"):
            with pytest.raises(hr.UnsupportedError, match="no file system for nosuch://"):
                mx.recordio.MXIndexedRecordIO(*paths, flag)


def test_an_index_that_is_a_pipe_is_refused(tmp_path: pathlib.Path) -> None:
    pipe = tmp_path / "a.idx"
    os.mkfifo(pipe)
    (tmp_path / "a.rec").write_bytes(b"")
    with pytest.raises(hr.UnsupportedError, match=f"{pipe} is a pipe, a socket or a device, where a file is expected"):
        mx.recordio.MXIndexedRecordIO(pipe, tmp_path / "a.rec", "r")


def test_a_script_of_mxnet_runs(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record = mx.recordio.MXIndexedRecordIO("test.idx", "test.rec", "w")
    for i in range(5):
        record.write_idx(i, b"record_%d" % i)
    tells = record.tell()
    record.close()
    assert tells == 5 * 16
    record = mx.recordio.MXIndexedRecordIO("test.idx", "test.rec", "r")
    assert record.read_idx(3) == b"record_3"
    assert record.read() == b"record_4" and record.read() is None
    record.reset()
    assert record.read() == b"record_0"
    record.seek(2)
    assert record.read() == b"record_2"
    assert record.keys == [0, 1, 2, 3, 4]


def test_long_records_are_read_in_any_order(tmp_path: pathlib.Path) -> None:
    random = np.random.default_rng(5)
    records = [random.bytes(size) for size in (0, 10, 300_000, 1, 5_000_000, 131_072, 131_064, 7)] * 3
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    for i, each in enumerate(records):
        record.write_idx(i, each)
    record.close()
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "r")
    for i in random.permutation(len(records)).tolist() + list(range(len(records))):
        assert record.read_idx(i) == records[i]


def test_a_file_gets_its_name_when_it_is_closed(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.rec"
    written(path, [b"before"])
    record = mx.recordio.MXRecordIO(path, "w")
    record.write(b"after")
    assert read(path) == [b"before"]
    with pytest.raises(hr.UnsupportedError, match="is being written by another"):
        mx.recordio.MXRecordIO(path, "w")
    record.close()
    record.close()
    assert read(path) == [b"after"]
    assert os.listdir(tmp_path) == ["a.rec"]


def test_with_drops_what_an_exception_cut_off(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ZeroDivisionError), mx.recordio.MXRecordIO(tmp_path / "a.rec", "w") as record:
        record.write(b"one")
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []
    with mx.recordio.MXRecordIO(tmp_path / "a.rec", "w") as record:
        record.write(b"one")
    assert read(tmp_path / "a.rec") == [b"one"]


def test_names_need_not_be_texts(tmp_path: pathlib.Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    record = mx.recordio.MXIndexedRecordIO(name + ".idx", name + ".rec", "w")
    record.write_idx(1, b"one")
    record.close()
    assert mx.recordio.MXIndexedRecordIO(name + ".idx", name + ".rec", "r").read_idx(1) == b"one"
    pathlib.Path(name + ".idx").write_text("nonsense")
    with pytest.raises(hr.DataError, match="idx, line 1"):
        mx.recordio.MXIndexedRecordIO(name + ".idx", name + ".rec", "r")


def test_reset_begins_a_file_anew(tmp_path: pathlib.Path) -> None:
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    record.write_idx(1, b"one")
    record.reset()
    record.write_idx(2, b"two")
    record.close()
    assert read(tmp_path / "a.rec") == [b"two"]
    assert (tmp_path / "a.idx").read_text() == "2\t0\n"


def test_what_nobody_closes_is_closed_with_the_process(tmp_path: pathlib.Path) -> None:
    script = (
        "import headrace.mx as mx\nrecord = mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w')\n"
        "record.write_idx(7, b'one')\nkept = [record]; kept.append(kept)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert read(tmp_path / "a.rec") == [b"one"]
    assert (tmp_path / "a.idx").read_text() == "7\t0\n"


def test_a_reader_may_be_pickled_and_a_writer_not(tmp_path: pathlib.Path) -> None:
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    record.write_idx(1, b"one")
    record.write_idx(2, b"two")
    with pytest.raises(hr.UnsupportedError, match="cannot be pickled"):
        pickle.dumps(record)
    record.close()
    assert not pickle.loads(pickle.dumps(record)).is_open
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "r")
    assert record.read() == b"one"
    copy = pickle.loads(pickle.dumps(record))
    assert copy.read() == b"one" and record.read() == b"two"
    assert copy.read_idx(2) == b"two" and copy.keys == [1, 2]
    record.close()
    assert not pickle.loads(pickle.dumps(record)).is_open


def _read_all(record: mx.recordio.MXIndexedRecordIO, results: "multiprocessing.Queue[list[bytes]]") -> None:
    results.put([*iter(record.read, None), record.read_idx(0)])


def test_a_spawned_process_reads_from_the_start(tmp_path: pathlib.Path) -> None:
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    records = [b"record %d" % i for i in range(1000)]
    for i, each in enumerate(records):
        record.write_idx(i, each)
    record.close()
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "r")
    assert record.read() == records[0]
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_read_all, args=(record, results))
    process.start()
    assert results.get(timeout=60) == [*records, records[0]]
    process.join()
    assert record.read() == records[1]


# In a process of its own: threads of pipelines that this one has run do not survive a fork.
def test_a_forked_process_goes_on(tmp_path: pathlib.Path) -> None:
    script = """
import os, headrace.mx as mx
record = mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "w")
for i in range(1000): record.write_idx(i, b"record %d" % i)
record.close()
record = mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "r")
for _ in range(10): record.read()
child = os.fork()
assert len(list(iter(record.read, None))) == 990 and record.read_idx(0) == b"record 0"
if child: assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


def test_a_child_leaves_a_writer_alone(tmp_path: pathlib.Path) -> None:
    script = """
import os, headrace as hr, headrace.mx as mx
record = mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "w")
record.write_idx(0, b"one")
child = os.fork()
if child == 0:
    try:
        record.write_idx(1, b"from the child")
    except hr.UnsupportedError as error:
        assert "the process that forked this one" in str(error)
        record.close()
        del record
        raise SystemExit
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
assert os.path.exists("a.rec.draft") and not os.path.exists("a.rec")
record.write_idx(2, b"two")
record.close()
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert read(tmp_path / "a.rec") == [b"one", b"two"]
    assert (tmp_path / "a.idx").read_text() == "0\t0\n2\t12\n"


def test_forks_find_no_lock_taken(tmp_path: pathlib.Path) -> None:
    written(tmp_path / "a.rec", [os.urandom(50_000) for _ in range(100)])
    script = """
import os, threading, headrace.mx as mx
records = [mx.recordio.MXRecordIO("a.rec", "r") for _ in range(4)]
done = False
def work(record):
    while not done:
        while record.read() is not None: pass
        record.reset()
threads = [threading.Thread(target=work, args=(record,)) for record in records[1:]]
for thread in threads: thread.start()
for _ in range(30):
    child = os.fork()
    if child == 0:
        records[0].reset()
        while records[0].read() is not None: pass
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
done = True
for thread in threads: thread.join()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=tmp_path, check=True, timeout=120)


def test_threads_share_a_reader(tmp_path: pathlib.Path) -> None:
    records = [b"%d" % i * (i % 50) for i in range(5000)]
    written(tmp_path / "a.rec", records)
    record = mx.recordio.MXRecordIO(tmp_path / "a.rec", "r")
    found: list[list[bytes]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda mine=mine: mine.extend(iter(record.read, None))) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sum(found, [])) == sorted(records)


def test_keys_may_be_texts(tmp_path: pathlib.Path) -> None:
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w", key_type=str)
    record.write_idx("a cat", b"cat")
    record.write_idx("ein Mädchen", b"girl")
    for key in ("a\tb", "a\nb", "", " a"):
        with pytest.raises(hr.DataError, match="without tabs"):
            record.write_idx(key, b"x")
    record.close()
    record = mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "r", key_type=str)
    assert record.read_idx("ein Mädchen") == b"girl" and record.keys == ["a cat", "ein Mädchen"]
    with pytest.raises(hr.DataError, match=r"a.idx, line 1: 'a cat' is no key"):
        mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "r")
    (tmp_path / "a.idx").write_text(f"{2**64 - 1}\t0\n{10**20}\t0\n")
    with pytest.raises(hr.DataError, match="a.idx, line 2: .* is no key: a whole number has at most 64 bits"):
        mx.recordio.MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "r")


def test_errors_name_the_file_and_the_place(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.rec"
    whole = written(path, [b"one", b"two"])
    path.write_bytes(whole[:-1])
    record = mx.recordio.MXRecordIO(path, "r")
    assert record.read() == b"one"
    for _ in range(2):
        with pytest.raises(hr.DataError, match="at byte 12 is cut off") as raised:
            record.read()
        assert raised.value.file == f"{path}, byte 12"
    path.write_bytes(whole)
    index = tmp_path / "a.idx"
    index.write_text("0\t0\n1\t8\n2\t24\n3\t2000\n")
    indexed = mx.recordio.MXIndexedRecordIO(index, path, "r")
    with pytest.raises(hr.DataError, match="no record begins at byte 8"):
        indexed.read_idx(1)
    for beyond in (2, 3):
        with pytest.raises(hr.DataError, match="a.rec"):
            indexed.read_idx(beyond)
    assert indexed.read_idx(0) == b"one"
    with pytest.raises(KeyError):
        indexed.read_idx(9)
    index.write_text("0\t0\nnonsense\n")
    with pytest.raises(hr.DataError, match="a.idx, line 2"):
        mx.recordio.MXIndexedRecordIO(index, path, "r")
    with pytest.raises(hr.NotFoundError, match="none.rec"):
        mx.recordio.MXRecordIO(tmp_path / "none.rec", "r")
    with pytest.raises(hr.NotFoundError, match="none.idx"):
        mx.recordio.MXIndexedRecordIO(tmp_path / "none.idx", path, "r")
    with pytest.raises(hr.NotFoundError, match="no folder"):
        mx.recordio.MXIndexedRecordIO(tmp_path / "none/a.idx", tmp_path / "b.rec", "w")
    assert sorted(os.listdir(tmp_path)) == ["a.idx", "a.rec"]


def test_what_the_flag_does_not_allow_is_refused(tmp_path: pathlib.Path) -> None:
    written(tmp_path / "a.rec", [b"one"])
    with pytest.raises(ValueError, match='"r", to read, or "w"'):
        mx.recordio.MXRecordIO(tmp_path / "a.rec", "a")
    reader = mx.recordio.MXRecordIO(tmp_path / "a.rec", "r")
    with pytest.raises(hr.UnsupportedError, match="cannot be written"):
        reader.write(b"two")
    writer = mx.recordio.MXRecordIO(tmp_path / "b.rec", "w")
    with pytest.raises(hr.UnsupportedError, match="cannot be read"):
        writer.read()
    for record in (reader, writer):
        record.close()
        with pytest.raises(hr.ClosedError):
            record.tell()


def test_headers_are_packed_as_mxnet_packs_them() -> None:
    header = mx.recordio.IRHeader(7, 3.5, 16777217, 9)
    packed = mx.recordio.pack(header, b"jpeg")
    assert packed == struct.pack("IfQQ", 0, 3.5, 16777217, 9) + b"jpeg"
    assert mx.recordio.unpack(packed) == ((0, 3.5, 16777217, 9), b"jpeg")
    several = mx.recordio.pack((0, np.array([1, 2.5]), 2**64 - 1, 0), b"jpeg")
    assert several == struct.pack("IfQQff", 2, 0, 2**64 - 1, 0, 1, 2.5) + b"jpeg"
    unpacked, image = mx.recordio.unpack(several)
    assert image == b"jpeg" and unpacked.flag == 2 and unpacked.id == 2**64 - 1
    assert isinstance(unpacked.label, np.ndarray) and unpacked.label.tolist() == [1, 2.5]


@settings(deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False), max_size=6), st.integers(0, 2**64 - 1), st.binary(max_size=50))
def test_headers_are_given_back(labels: list[float], number: int, image: bytes) -> None:
    header, found = mx.recordio.unpack(mx.recordio.pack(mx.recordio.IRHeader(0, labels, number, 1), image))
    assert (found, header.id, header.id2, header.flag) == (image, number, 1, len(labels))
    assert np.asarray(header.label).tolist() == (labels or 0)


def test_bad_headers_are_refused() -> None:
    with pytest.raises(hr.DataError, match="24 bytes, and this record has 23"):
        mx.recordio.unpack(b"x" * 23)
    with pytest.raises(hr.DataError, match="claims 3 labels, and 8 bytes"):
        mx.recordio.unpack(struct.pack("IfQQ", 3, 0, 0, 0) + b"x" * 8)
    for bad in [(0, 1, -1, 0), (0, 1, 2**64, 0), (0, 1e300, 0, 0), (0, 1, 0.5, 0)]:
        with pytest.raises(hr.DataError, match="whole numbers from 0"):
            mx.recordio.pack(bad, b"")


def gradient(channels: int) -> np.ndarray:
    plane = np.add.outer(np.arange(37) * 3, np.arange(51) * 2).astype(np.uint8)
    return np.stack([plane, plane[::-1], 255 - plane, plane[:, ::-1]], axis=2)[:, :, :channels]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("fmt", "quality"), [(".jpg", 95), (".JPEG", 50), (".png", 3)])
def test_images_are_those_of_opencv(channels: int, fmt: str, quality: int) -> None:
    image = gradient(channels)
    packed = mx.recordio.pack_img(mx.recordio.IRHeader(0, 1, 2, 0), image, quality=quality, img_fmt=fmt)
    _, encoded = mx.recordio.unpack(packed)
    for iscolor in (-1, 0, 1):
        header, decoded = mx.recordio.unpack_img(packed, iscolor)
        assert header == (0, 1, 2, 0)
        expected = cv2.imdecode(np.frombuffer(encoded, np.uint8), iscolor)
        assert decoded.shape == expected.shape and decoded.dtype == np.uint8
        if fmt == ".png" and iscolor == 0 and channels == 3:
            # OpenCV and Pillow round the sum of a PNG's colours in other ways.
            assert np.abs(decoded.astype(int) - expected).max() <= 1
        else:
            assert np.array_equal(decoded, expected)


def test_pngs_keep_their_pixels_and_alpha() -> None:
    for channels in (1, 3, 4):
        image = gradient(channels)
        _, decoded = mx.recordio.unpack_img(mx.recordio.pack_img((0, 1, 2, 0), image, quality=9, img_fmt=".png"))
        assert np.array_equal(decoded, image[:, :, 0] if channels == 1 else image)


def test_images_that_are_none_are_refused() -> None:
    with pytest.raises(hr.GraphError, match="img_fmt"):
        mx.recordio.pack_img((0, 1, 2, 0), gradient(3), img_fmt=".bmp")
    with pytest.raises(hr.GraphError, match="float64"):
        mx.recordio.pack_img((0, 1, 2, 0), np.zeros((4, 4, 3)))
    with pytest.raises(hr.GraphError, match="iscolor"):
        mx.recordio.unpack_img(mx.recordio.pack((0, 1, 2, 0), b"x"), iscolor=4)
    with pytest.raises(hr.DataError, match="not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM"):
        mx.recordio.unpack_img(mx.recordio.pack((0, 1, 2, 0), b"x"))
