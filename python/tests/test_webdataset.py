"""WebDataset's tar archives: samples and fields, decoding, shards, indices, damage, and what write_tar writes."""

import base64
import bz2
import gzip
import importlib.util
import io
import itertools
import json
import lzma
import pathlib
import random
import tarfile
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace._records.tar_head import member_head
from tests.conftest import ROOT
from tests.tar_bytes import tar_bytes

FILES = ROOT / "io/formats/tar/testdata"
EXPECTED = json.loads((FILES / "expected.json").read_text())

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def npy(array) -> bytes:
    written = io.BytesIO()
    np.save(written, array)
    return written.getvalue()


def write_shards(folder: pathlib.Path, counts, sizes=lambda i: i % 7 * 100) -> list[tuple[bytes, int]]:
    """Archives s-0.tar and so on of pictures and classes. Returns the rows."""
    rows = []
    for shard, count in enumerate(counts):
        members = []
        for i in range(count):
            rows.append((bytes([i % 256]) * sizes(i), 1000 * shard + i))
            members += [(f"{i:04}.jpg", rows[-1][0]), (f"{i:04}.cls", b"%d" % rows[-1][1])]
        (folder / f"s-{shard}.tar").write_bytes(tar_bytes(members))
    return rows


def pairs(dataset) -> list[tuple[bytes, int]]:
    return [(bytes(row["jpg"]), int(row["cls"])) for row in dataset]


CLASSES = {"cls": "int64"}


# ---- what webdataset gives ----


@pytest.mark.parametrize("name", ["plain.tar", "plain.tar.gz", "pax.tar", "gnu.tar"])
@pytest.mark.parametrize("index", [None, "build"])
def test_the_samples_are_those_of_webdataset(name, index, tmp_path):
    path = tmp_path / name
    path.write_bytes((FILES / name).read_bytes())
    if index is not None and name.endswith(".gz"):
        with pytest.raises(hr.GraphError, match="compressed by gzip.*decompress it, or leave out index="):
            list(hr.WebDataset(path, ["jpg"], index=index))
        return
    fields = sorted({field for sample in EXPECTED[name] for field in sample} - {"__key__"})
    columns = ["__key__", "__url__", "__fields__", *fields]
    # No field holds this.
    missing = dict.fromkeys(fields, b"\0missing")
    rows = list(hr.WebDataset(path, columns, missing=missing, index=index))
    assert len(rows) == len(EXPECTED[name])
    for row, sample in zip(rows, EXPECTED[name], strict=True):
        assert row["__key__"] == sample["__key__"] and row["__url__"] == str(path)
        assert sorted(row["__fields__"].tolist()) == sorted(sample.keys() - {"__key__"})
        for field in fields:
            wanted = base64.b64decode(sample[field]) if field in sample else b"\0missing"
            assert row[field] == wanted, field


def test_values_are_decoded_by_their_types(tmp_path):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    members = [
        ("0.cls", b" 12\n"),
        ("0.txt", "h\xe9llo\n".encode()),
        ("0.json", b'{"caption": "a b", "size": [1, 2], "n": null}'),
        ("0.box.json", b"[[1, 2.5]]"),
        ("0.emb.npy", npy(array)),
        ("0.any.npy", npy(array[:1].astype(">f4"))),
        ("0.score", b"1e-3"),
        ("0.ok", b"true"),
        ("0.jpg", b"\xff\xd8"),
    ]
    (tmp_path / "a.tar").write_bytes(tar_bytes(members))
    decode = {
        "cls": int,
        "txt": str,
        "json": {"caption": str, "size": ("int32", (2,)), "n": "float64"},
        "box.json": ("float32", (None, 2)),
        "emb.npy": (np.float32, (2, 3)),
        "any.npy": ("float32", (None, 3)),
        "score": "float32",
        "ok": bool,
    }
    dataset = hr.WebDataset(tmp_path / "a.tar", decode=decode, missing={"json.n": -1})
    assert dataset.schema["json.caption"] == ("string", ()) and dataset.schema["jpg"] == ("bytes", ())
    (row,) = dataset
    assert row["cls"] == 12 and row["txt"] == "h\xe9llo\n" and row["json.caption"] == "a b" and row["json.n"] == -1
    assert row["json.size"].tolist() == [1, 2] and row["box.json"].tolist() == [[1, 2.5]]
    assert np.array_equal(row["emb.npy"], array) and np.array_equal(row["any.npy"], array[:1])
    assert row["score"] == np.float32(1e-3) and row["ok"] and row["jpg"] == b"\xff\xd8"
    batch = next(
        iter(
            hr.WebDataset(tmp_path / "a.tar", ["cls", "emb.npy"], {"emb.npy": ("float32", (2, 3)), **CLASSES}).batch(1)
        )
    )
    assert batch["cls"].tolist() == [12] and batch["emb.npy"].shape == (1, 2, 3)


def test_columns_are_looked_for_in_the_first_samples(tmp_path):
    (tmp_path / "a.tar").write_bytes(tar_bytes([("0.JPG", b"a"), ("0.cls", b"1"), ("1.cls", b"2"), ("1.jpg", b"b")]))
    dataset = hr.WebDataset(tmp_path / "a.tar", decode=CLASSES)
    assert dataset.schema == {"jpg": ("bytes", ()), "cls": ("int64", ())}
    assert pairs(dataset) == [(b"a", 1), (b"b", 2)]
    # One that has another is an error, at once or when it comes.
    (tmp_path / "b.tar").write_bytes(tar_bytes([("0.jpg", b"a"), ("1.jpg", b"b"), ("1.txt", b"c")]))
    with pytest.raises(
        hr.GraphError, match='the sample "0" of .* has no field "txt", which others have.*columns='
    ) as caught:
        hr.WebDataset(tmp_path / "b.tar")
    assert 'missing={"txt": …}' in str(caught.value)
    assert [row["txt"] for row in hr.WebDataset(tmp_path / "b.tar", missing={"txt": b""})] == [b"", b"c"]
    assert hr.WebDataset(tmp_path / "b.tar", look=1).schema == {"jpg": ("bytes", ())}
    with pytest.raises(hr.GraphError, match='decode names "cls", and the first samples have the fields jpg'):
        hr.WebDataset(tmp_path / "b.tar", look=1, decode=CLASSES)
    (tmp_path / "c.tar").write_bytes(tar_bytes([("noext", b"a")]))
    with pytest.raises(hr.GraphError, match="no sample that shows the columns"):
        hr.WebDataset(tmp_path / "c.tar")


def test_a_sample_without_a_column_is_an_error_of_its_row(tmp_path):
    members = [("0.jpg", b"a"), ("0.cls", b"1"), ("1.jpg", b"b"), ("1.txt", b"c"), ("2.cls", b"3"), ("2.jpg", b"d")]
    (tmp_path / "a.tar").write_bytes(tar_bytes(members))
    dataset = hr.WebDataset(tmp_path / "a.tar", ["jpg", "cls"], CLASSES)
    with pytest.raises(hr.DataError, match='the sample "1" has no field "cls"; it has jpg, txt') as caught:
        pairs(dataset)
    assert "a.tar, byte 2048" in str(caught.value) and 'missing={"cls": 0}' in str(caught.value)
    assert pairs(dataset.on_error("skip")) == [(b"a", 1), (b"d", 3)]
    assert pairs(hr.WebDataset(tmp_path / "a.tar", ["jpg", "cls"], CLASSES, missing={"cls": -1})) == [
        (b"a", 1),
        (b"b", -1),
        (b"d", 3),
    ]


def test_the_first_of_several_fields_counts(tmp_path):
    (tmp_path / "a.tar").write_bytes(tar_bytes([("0.png", b"a"), ("1.jpg", b"b"), ("1.png", b"c")]))
    dataset = hr.WebDataset(tmp_path / "a.tar", ["jpg;png"]).rename({"jpg;png": "image"})
    assert [row["image"] for row in dataset] == [b"a", b"b"]


# ---- archives ----


COMPRESSED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compression_is_found_by_content(tmp_path, kind):
    rows = write_shards(tmp_path, [20, 5], sizes=lambda i: i * 997)
    (tmp_path / "s-0.tar").write_bytes(COMPRESSED[kind]((tmp_path / "s-0.tar").read_bytes()))
    dataset = hr.WebDataset(str(tmp_path / "s-*.tar"), ["jpg", "cls"], CLASSES)
    assert pairs(dataset) == rows
    data = (tmp_path / "s-0.tar").read_bytes()
    (tmp_path / "s-0.tar").write_bytes(data[: len(data) // 2])
    with pytest.raises(hr.DataError, match="was cut off") as caught:
        pairs(dataset)
    assert "s-0.tar" in str(caught.value)


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_of_any_length_are_read(tmp_path, kind):
    short = kind == tarfile.USTAR_FORMAT
    keys = ["a", "folder/b", "x" * 90, "d" * 80 + "/" + "e" * 90] + (
        [] if short else ["y" * 300, "\xfc" * 120, "z/" * 200 + "z"]
    )
    (tmp_path / "a.tar").write_bytes(tar_bytes([(f"{key}.Txt", key.encode()) for key in keys], kind))
    for index in (None, "build"):
        rows = list(hr.WebDataset(tmp_path / "a.tar", ["__key__", "txt"], {"txt": str}, index=index))
        assert [(str(row["__key__"]), str(row["txt"])) for row in rows] == [(key, key) for key in keys]


def test_a_cut_archive_is_never_a_silent_end(tmp_path):
    members = [(f"{i}.txt", b"x" * (i * 300)) for i in range(6)]
    whole = tar_bytes(members)
    ends = whole[: -(-len(whole) // 10240) * 10240].rstrip(b"\0")
    data_end = (len(ends) + 511) // 512 * 512
    path = tmp_path / "a.tar"
    for size in [0, 1, 511, 512, 513, 700, *range(1024, data_end + 1024, 512), data_end + 1]:
        path.write_bytes(whole[:size])
        dataset = hr.WebDataset(path, ["txt"])
        given_rows = []
        with pytest.raises(hr.DataError) as caught:
            for row in dataset:
                given_rows.append(row["txt"])
        assert "a.tar" in str(caught.value)
        assert given_rows == [data for _, data in members[: len(given_rows)]]
        with pytest.raises(hr.DataError, match="a.tar"):
            len(hr.WebDataset(path, ["txt"], index="build"))
    path.write_bytes(whole[: data_end + 1024])
    assert len(list(hr.WebDataset(path, ["txt"]))) == 6


def test_each_damaged_header_is_named(tmp_path):
    whole = tar_bytes([(f"{i}.txt", b"x") for i in range(4)])
    for i in range(4):
        damaged = bytearray(whole)
        damaged[1024 * i + 3] ^= 1
        (tmp_path / "a.tar").write_bytes(damaged)
        for index in (None, "build"):
            with pytest.raises(hr.DataError, match=f"the header at byte {1024 * i} is damaged"):
                list(hr.WebDataset(tmp_path / "a.tar", ["txt"], index=index))
    (tmp_path / "a.tar").write_bytes(whole.rstrip(b"\0").ljust(5120, b"\0") + whole)
    with pytest.raises(hr.DataError, match="were several archives joined?"):
        list(hr.WebDataset(tmp_path / "a.tar", ["txt"]))


def test_no_byte_of_an_archive_changes_a_row_without_a_word_but_data(tmp_path):
    """Each byte in turn: rows are as they were, or other data of a member, or an error."""
    members = [("a/0.txt", b"one"), ("a/0.cls", b"7"), ("b.d/1.txt", b"two"), ("b.d/1.cls", b"8")]
    whole = tar_bytes(members)
    plain = [("a/0", b"one", b"7"), ("b.d/1", b"two", b"8")]
    data_at = {1024 * i + 512 + at for i, (_, data) in enumerate(members) for at in range(len(data))}
    random_ = random.Random(3)
    for at in sorted(random_.sample(range(5120), 150)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x55
        (tmp_path / "a.tar").write_bytes(damaged)
        try:
            rows = [
                (str(row["__key__"]), row["txt"], row["cls"])
                for row in hr.WebDataset(tmp_path / "a.tar", ["__key__", "txt", "cls"])
            ]
        except hr.DataError:
            continue
        assert rows == plain or at in data_at, at


# ---- lists of shards ----


def test_braces_and_lists_name_shards(tmp_path, monkeypatch):
    rows = write_shards(tmp_path, [3, 2, 4])
    monkeypatch.chdir(tmp_path)
    for paths in (
        "s-{0..2}.tar",
        "s-{0,1}.tar::s-2.tar",
        ["s-0.tar", "s-{1..2}.tar"],
        "s-0.tar;s-1.tar;s-2.tar",
        ".",
        "s-*.tar",
    ):
        assert pairs(hr.WebDataset(paths, ["jpg", "cls"], CLASSES)) == rows, paths
    assert pairs(hr.WebDataset("s-{2..0..2}.tar", ["jpg", "cls"], CLASSES)) == rows[5:] + rows[:3]
    monkeypatch.setenv("WDS_WHERE", str(tmp_path))
    assert pairs(hr.WebDataset("${WHERE}/s-{0..2}.tar", ["jpg", "cls"], CLASSES)) == rows
    with pytest.raises(hr.GraphError, match="environment variable WDS_NOWHERE, and it is not set"):
        hr.WebDataset("${NOWHERE}/s.tar", ["jpg"])
    with pytest.raises(hr.GraphError, match="commands are never run"):
        list(hr.WebDataset("pipe:cat s-0.tar", ["jpg"]))
    with pytest.raises(hr.NotFoundError, match=r"s-3\.tar"):
        list(hr.WebDataset("s-{0..3}.tar", ["jpg"]))


@pytest.mark.skipif(importlib.util.find_spec("braceexpand") is None, reason="compares with braceexpand")
@given(st.text(alphabet="ab{},.0123-\\", max_size=14))
@quick
def test_braces_are_those_of_braceexpand(text):
    import braceexpand

    try:
        wanted = list(dict.fromkeys(braceexpand.braceexpand(text)))
    except braceexpand.UnbalancedBracesError:
        return
    names = [name for name in wanted if name not in ("", ".", "..") and not name.endswith(("/.", "/.."))]
    if names != wanted or "{" not in text:
        return
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(names):
            (pathlib.Path(folder) / name).write_bytes(tar_bytes([("0.txt", b"%d" % number)]))
        if (pathlib.Path(folder) / text).exists():
            return
        rows = [row["txt"] for row in hr.WebDataset(f"{folder}/{text}", ["txt"])]
    assert rows == [b"%d" % number for number in range(len(names))]


# ---- rows by number, ranks and states ----


def test_an_index_gives_numbers_and_true_shuffles(tmp_path):
    rows = write_shards(tmp_path, [30, 1, 12])
    shards = str(tmp_path / "s-{0..2}.tar")
    by_number = hr.WebDataset(shards, ["jpg", "cls"], CLASSES, index="build", shuffle=True)
    assert len(by_number) == 43
    first, second = (pairs(by_number.iterate(epoch=epoch)) for epoch in range(2))
    assert sorted(first) == sorted(second) == sorted(rows) and first != second
    assert (tmp_path / "s-0.tar.hridx").exists()
    ranks = [pairs(by_number.iterate(shard=(rank, 5), even="pad")) for rank in range(5)]
    assert {len(rank) for rank in ranks} == {9} and set(sum(ranks, [])) == set(rows)
    plain = hr.WebDataset(shards, ["jpg", "cls"], CLASSES, index="build")
    assert pairs(plain) == rows and pairs([plain[31]]) == [rows[31]]
    # What was kept is found again, and made anew for another archive.
    assert pairs(hr.WebDataset(str(tmp_path / "s-*"), ["jpg", "cls"], CLASSES, index="build")) == rows
    (tmp_path / "s-1.tar").write_bytes(tar_bytes([("9.jpg", b"new"), ("9.cls", b"5")]))
    assert pairs(plain)[30] == (b"new", 5)


def test_dalis_index_gives_numbers(tmp_path):
    rows = write_shards(tmp_path, [10])
    with tarfile.open(tmp_path / "s-0.tar") as archive:
        members = archive.getmembers()
    lines = ["v1.2 10"]
    for i in range(10):
        parts = members[2 * i : 2 * i + 2]
        lines.append(
            " ".join(f"{each.name.partition('.')[2]} {each.offset_data} {each.size} {each.name}" for each in parts)
        )
    (tmp_path / "s-0.idx").write_text("\n".join(lines) + "\n")
    dataset = hr.WebDataset(tmp_path / "s-0.tar", ["jpg", "cls"], CLASSES, index=tmp_path / "s-0.idx")
    assert len(dataset) == 10 and pairs(dataset) == rows
    (tmp_path / "s-0.idx").write_text("\n".join(["v1.2 9", *lines[1:-1]]) + "\n")
    with pytest.raises(hr.DataError, match="names no sample from byte"):
        len(dataset)
    with pytest.raises(hr.GraphError, match="index names 1 file and paths 2"):
        (tmp_path / "s-1.tar").write_bytes(tar_bytes([]))
        len(hr.WebDataset(str(tmp_path / "s-*.tar"), ["jpg"], index=tmp_path / "s-0.idx"))


def test_shards_are_splits(tmp_path):
    rows = write_shards(tmp_path, [20, 3, 9, 11])
    dataset = hr.WebDataset(str(tmp_path / "*.tar"), ["jpg", "cls"], CLASSES, shuffle=True, window=8)
    ranks = [pairs(dataset.iterate(shard=(rank, 3))) for rank in range(3)]
    assert sorted(sum(ranks, [])) == sorted(rows)
    # Without an index ranks have other numbers of rows: steps are made equal by repeating.
    steps = hr.WebDataset(str(tmp_path / "*.tar"), ["jpg", "cls"], CLASSES, shuffle=True).repeat().batch(4).take(6)
    assert [len(list(steps.iterate(shard=(rank, 3)))) for rank in range(3)] == [6, 6, 6]
    files = hr.WebDataset(str(tmp_path / "*.tar"), ["jpg", "cls"], CLASSES, shuffle="files")
    order = [number // 1000 for _, number in pairs(files)]
    assert len(order) == 43 and order == sorted(order, key=list(dict.fromkeys(order)).index)


def test_a_state_goes_on_in_the_middle_of_a_shard(tmp_path):
    rows = write_shards(tmp_path, [17, 8], sizes=lambda i: i * 311)
    (tmp_path / "s-1.tar").write_bytes(gzip.compress((tmp_path / "s-1.tar").read_bytes()))
    dataset = hr.WebDataset(str(tmp_path / "s-*.tar"), ["jpg", "cls"], CLASSES)
    for taken in (0, 1, 9, 17, 20, 25):
        with dataset.iterate() as run:
            first = pairs(itertools.islice(run, taken))
            state = run.state()
        with dataset.iterate(state=state) as rest:
            assert first + pairs(rest) == rows


# ---- what is written ----


def test_what_is_written_is_read_again(tmp_path):
    columns = {
        "__key__": ["a/x", "a/y", "b"],
        "jpg": [b"1", b"", b"\xff" * 600],
        "cls": np.array([3, -4, 5], np.int16),
        "score": np.array([0.1, float("inf"), 1e-30], np.float32),
        "ok": np.array([True, False, True]),
        "txt": ["h\xe9", "", "line\n"],
        "emb.npy": np.arange(6, dtype=np.float64).reshape(3, 2),
        "json.caption": ["a", "b", '"'],
        "json.n": np.array([1, 2, 3]),
        "box.json": np.arange(12, dtype=np.float32).reshape(3, 4),
    }
    dataset = hr.Numpy(columns)
    written = dataset.write_tar(tmp_path / "a.tar")
    assert written.samples == 3 and written.bytes == (tmp_path / "a.tar").stat().st_size
    decode = {
        "cls": "int16",
        "score": "float32",
        "ok": bool,
        "txt": str,
        "emb.npy": ("float64", (2,)),
        "json": {"caption": str, "n": "int64"},
        "box.json": ("float32", (4,)),
    }
    for index in (None, "build"):
        rows = list(hr.WebDataset(tmp_path / "a.tar", ["__key__", "jpg", *decode], decode, index=index))
        assert len(rows) == 3
        for number, row in enumerate(rows):
            for name, column in columns.items():
                assert np.array_equal(row[name], column[number]), name
    with tarfile.open(tmp_path / "a.tar") as archive:
        members = archive.getmembers()
        assert [member.name for member in members][:3] == ["a/x.jpg", "a/x.cls", "a/x.score"]
        assert {(member.mtime, member.uid, member.uname, member.mode) for member in members} == {
            (0, 0, "bigdata", 0o444)
        }
        assert archive.extractfile("a/x.cls").read() == b"3" and archive.extractfile("a/x.ok").read() == b"1"
    again = dataset.write_tar(tmp_path / "b.tar")
    assert (tmp_path / "b.tar").read_bytes() == (tmp_path / "a.tar").read_bytes() and again.paths == [
        str(tmp_path / "b.tar")
    ]


def test_rows_are_divided_among_archives(tmp_path):
    written = hr.Range(10).rename({"value": "cls"}).write_tar(tmp_path / "n.tar", files=3)
    assert [pathlib.Path(path).name for path in written.paths] == [f"n-0000{part}-of-00003.tar" for part in range(3)]
    rows = list(hr.WebDataset(written.path, ["__key__", "cls"], CLASSES))
    assert [int(row["cls"]) for row in rows] == list(range(10))
    assert [str(row["__key__"]) for row in rows] == [f"{number:09}" for number in range(10)]
    # Samples of one archive, with its keys.
    copied = hr.WebDataset(written.path, ["__key__", "__url__", "cls"]).write_tar(tmp_path / "copy.tar")
    assert copied.samples == 10
    assert [row["cls"] for row in hr.WebDataset(copied.path, ["cls"])] == [b"%d" % number for number in range(10)]


def test_what_cannot_be_written_is_refused(tmp_path):
    def refused(kind, match, columns, path="a.tar"):
        with pytest.raises(kind, match=match):
            hr.Numpy(columns).write_tar(tmp_path / path)
        assert not (tmp_path / path).exists()

    refused(hr.GraphError, "lower case", {"JPG": [b"x"]})
    refused(hr.GraphError, 'without "/"', {"a/b": [b"x"]})
    refused(hr.GraphError, "one field", {"json": ["{}"], "json.a": [1]})
    refused(hr.GraphError, "no column that becomes a field", {"__key__": ["a"]})
    refused(hr.GraphError, r"box\.npy", {"box": np.zeros((2, 4))})
    refused(hr.GraphError, "names a compressed file", {"txt": ["x"]}, "a.tar.gz")
    refused(hr.GraphError, "keys are texts", {"__key__": [1], "txt": ["x"]})
    refused(hr.DataError, "the key of row 0 is 'a.b'.*has a dot", {"__key__": ["a.b"], "txt": ["x"]})
    refused(hr.DataError, "has a dot", {"__key__": [".a"], "txt": ["x"]})
    refused(hr.DataError, "empty", {"__key__": ["a/"], "txt": ["x"]})
    refused(hr.DataError, "leave out", {"__key__": ["__meta__/a"], "txt": ["x"]})
    refused(hr.DataError, "the key of row 1 is 'a'.*would be one sample", {"__key__": ["a", "a"], "txt": ["x", "y"]})
    refused(hr.DataError, "which JSON does not hold", {"x.json": np.array([float("nan")])})
    refused(hr.DataError, "JSON has none", {"json.a": [b"x"]})


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
KEYS = st.text(alphabet="abcdefghijk/_-\xe9 ", min_size=1, max_size=300).filter(
    lambda key: not key.endswith("/") and not key.startswith("/")
)


@given(
    st.lists(
        st.tuples(KEYS, st.binary(max_size=1200), st.integers(-(2**63), 2**63 - 1), TEXTS),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[0],
    )
)
@quick
def test_rows_come_back_from_archives_of_any_reader_and_writer(rows):
    keys = [key for key, *_ in rows]
    if any(
        key.partition("/")[0].startswith("__") and key.partition("/")[0].endswith("__") for key in keys if "/" in key
    ):
        return
    texts = [text.encode("utf-8", "replace").decode() for *_, text in rows]
    columns = {
        "__key__": keys,
        "bin": [data for _, data, *_ in rows],
        "cls": np.array([n for _, _, n, _ in rows]),
        "txt": texts,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.tar"
        hr.Numpy(columns).write_tar(path)
        read = list(hr.WebDataset(path, list(columns), {"cls": "int64", "txt": str}, index="build"))
        assert [[str(row["__key__"]), row["bin"], int(row["cls"]), str(row["txt"])] for row in read] == [
            [key, data, number, text] for (key, data, number, _), text in zip(rows, texts, strict=True)
        ]
        with tarfile.open(path) as archive:
            found = {member.name: archive.extractfile(member).read() for member in archive}
        assert len(found) == 3 * len(rows)
        for key, data, number, _ in rows:
            assert found[f"{key}.bin"] == data and found[f"{key}.cls"] == b"%d" % number
        # And back: Python's tarfile writes, in each of its formats.
        for kind in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            path.write_bytes(tar_bytes(found.items(), kind))
            again = list(hr.WebDataset(path, ["__key__", "bin"]))
            assert [(str(row["__key__"]), row["bin"]) for row in again] == [(key, data) for key, data, *_ in rows]


@pytest.mark.parametrize("size", [0, 8**11 - 1, 8**11, 1 << 40])
def test_headers_hold_sizes_of_any_length(size):
    head = member_head(b"a.jpg", size)
    archive = tarfile.open(fileobj=io.BytesIO(head + bytes(1024)), mode="r|")
    assert archive.next().size == size


@pytest.mark.skipif(importlib.util.find_spec("webdataset") is None, reason="compares with webdataset")
def test_webdataset_reads_what_is_written_and_the_other_way_round(tmp_path):
    import webdataset as wds

    columns = {"jpg": [b"1", b"2"], "cls": np.array([3, 4]), "txt": ["a", "b"], "emb.npy": np.arange(4.0).reshape(2, 2)}
    hr.Numpy(columns).write_tar(tmp_path / "a.tar")
    rows = list(wds.WebDataset(str(tmp_path / "a.tar"), shardshuffle=False).decode())
    assert [(row["jpg"], row["cls"], row["txt"], row["emb.npy"].tolist()) for row in rows] == [
        (b"1", 3, "a", [0, 1]),
        (b"2", 4, "b", [2, 3]),
    ]
    with wds.TarWriter(str(tmp_path / "b.tar")) as writer:
        for number in range(20):
            writer.write({"__key__": f"k/{number}", "txt": f"text {number}", "cls": number, "x.json": {"n": number}})
    read = list(hr.WebDataset(tmp_path / "b.tar", decode={"cls": "int64", "txt": str, "x.json": {"n": "int64"}}))
    assert [(str(row["txt"]), int(row["cls"]), int(row["x.json.n"])) for row in read] == [
        (f"text {number}", number, number) for number in range(20)
    ]


# ---- what is refused ----


def test_arguments_are_checked_at_once(tmp_path):
    path = tmp_path / "a.tar"
    path.write_bytes(tar_bytes([("0.jpg", b"x")]))

    def refused(match, **arguments):
        with pytest.raises(hr.GraphError, match=match):
            hr.WebDataset(path, **{"columns": ["jpg"], **arguments}).schema  # noqa: B018

    refused("decode is 3; give a dict", decode=3)
    refused("missing is 3; give a dict", missing=3)
    refused('decode names "cls", and the columns are jpg', decode=CLASSES)
    refused("may run any code", columns=["a.pkl"], decode={"a.pkl": "int64"})
    refused("does not end with json", columns=["cls"], decode={"cls": {"a": "int64"}})
    refused("has the shape", columns=["cls"], decode={"cls": ("int64", (3,))})
    refused("the type of column", columns=["cls"], decode={"cls": 3})
    refused("columns is empty", columns=[])
    refused('columns names "jpg" twice', columns=["jpg", "jpg"])
    refused("it must be bytes", missing={"jpg": "x"})
    refused("it must be a number", columns=["cls"], decode=CLASSES, missing={"cls": b"x"})
    refused('no column "png"', missing={"png": 0})
    refused("look is 0", look=0)
    refused("interleave= is for reading in splits", index="build", interleave=2)


def test_a_file_of_another_kind_is_named(tmp_path):
    (tmp_path / "a.tar").write_bytes(b"PK\3\4" + bytes(600))
    with pytest.raises(hr.DataError, match="the file is zip, by its first bytes"):
        list(hr.WebDataset(tmp_path / "a.tar", ["jpg"]))
    (tmp_path / "b.csv").write_bytes(tar_bytes([("0.jpg", b"x")]))
    with pytest.raises(hr.Error, match="the file is tar, by its first bytes: read it with hr.WebDataset"):
        list(hr.RecordFile(tmp_path / "b.csv"))


def test_a_saved_graph_reads_the_same(tmp_path):
    rows = write_shards(tmp_path, [4])
    dataset = hr.WebDataset(tmp_path / "s-0.tar", ["jpg", "cls"], CLASSES, missing={"jpg": b"\xff\0"})
    dataset.save(tmp_path / "a.hrg")
    assert pairs(hr.load(tmp_path / "a.hrg")) == rows


def test_columns_that_nothing_reads_are_not_decoded(tmp_path):
    (tmp_path / "a.tar").write_bytes(tar_bytes([("0.cls", b"no number"), ("0.txt", b"x")]))
    dataset = hr.WebDataset(tmp_path / "a.tar", ["cls", "txt"], {"cls": "int64", "txt": str})
    assert [str(row["txt"]) for row in dataset.project(["txt"])] == ["x"]
    with pytest.raises(hr.DataError, match='the field "cls" of the sample "0" is "?no number'):
        list(dataset)
