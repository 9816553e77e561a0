"""Names of files, folders, classes, lines and columns, whatever their bytes are. Each is planted wherever a name may be:
rows come, caches serve, lists and graphs keep the bytes or refuse them, and nothing raw reaches the user's terminal."""

import contextlib
import glob
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import headrace as hr
from headrace import _engine, mx, pack
from headrace import transforms as T
from headrace import vision as V
from headrace.__main__ import main
from headrace.mx import recordio
from tests.mds_bytes import write_mds
from tests.mind_record_reference import TESTDATA
from tests.tar_bytes import tar_bytes
from tests.tfrecord_bytes import frame

NAMES = {
    "no UTF-8": b"caf\xe9",
    "one byte": b"\xff",
    "a surrogate": b"\xed\xa0\x80",
    "a character of paths": "\U0010ffe9".encode(),
    "red": b"\x1b[31mred\x1b[0m",
    "a title": b"\x1b]0;title\x07",
    "a C1 code": b"\xc2\x9b31m",
    "two lines": b"a\n  file: b",
    "a carriage return": b"a\rb",
    "a paragraph": "a\u2029b".encode(),
    "right to left": "a\u202egpj.exe".encode(),
    "isolated": "a\u2066b\u2069".encode(),
    "delete": b"a\x7f\x08b",
}
NAMED = pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
LMDB = (TESTDATA.parents[1] / "lmdb/testdata/plain.mdb").read_bytes()
MIND_RECORD = (TESTDATA / "scalars.mindrecord").read_bytes()
WHOLE = V.EncodeJpeg()(np.random.default_rng(0).integers(0, 256, (24, 24, 3), np.uint8))


def is_shown(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


def assert_shown(*texts: object) -> None:
    """Texts for people: without what a terminal obeys, and of characters alone."""
    for text in texts:
        assert is_shown(str(text)), ascii(str(text))


def shown(name: bytes) -> str:
    return _engine.printable(os.fsdecode(name))


def refused(kind, call) -> hr.Error:
    with pytest.raises(kind) as raised:
        call()
    error = raised.value
    fields = (error.operator, error.location, error.row, error.file)
    assert_shown(error, repr(error), *fields)
    assert not any("\n" in str(field) for field in fields), fields
    return error


def escaped(path: object) -> str:
    """A pattern that this path alone matches."""
    return glob.escape(str(path)).replace(";", "[;]")


class Planted:
    """A folder `NAME/NAME` with files that have the name, too."""

    def __init__(self, place: pathlib.Path, name: bytes) -> None:
        self.name = os.fsdecode(name)
        self.root = place / self.name
        self.folder = self.root / self.name
        self.folder.mkdir(parents=True)
        self.images = [self.write(f"{number}{self.name}.jpg", WHOLE) for number in range(3)]

    def write(self, name: str, contents: bytes) -> str:
        path = self.folder / name
        path.write_bytes(contents)
        return str(path)

    def pattern(self, ending: str) -> str:
        return f"{escaped(self.folder)}/*{ending}"

    def lines(self, ending: str, contents: bytes) -> str:
        return self.write(self.name + ending, contents)

    def records(self) -> str:
        path = self.write(f"{self.name}.rec", b"")
        with recordio.MXIndexedRecordIO(f"{path[:-4]}.idx", path, "w") as written:
            for number in range(3):
                written.write_idx(number, recordio.pack(recordio.IRHeader(0, 1.0, number, 0), bytes(WHOLE)))
        return path

    def listing(self) -> str:
        """Of the images, if a list can hold the name."""
        lines = b"".join(b"%d\t1\t%s\n" % (number, os.fsencode(path)) for number, path in enumerate(self.images))
        return self.write(f"{self.name}.lst", lines)


@pytest.fixture
def planted(tmp_path: pathlib.Path, name: bytes) -> Planted:
    return Planted(tmp_path, name)


def arrays(write: Callable[..., None], array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    write(stream, array)
    return stream.getvalue()


# Each with the number of its rows.
SOURCES = {
    "ImageFolder": (lambda at: hr.ImageFolder(at.root, columns=["image", "label", "path"]), 3),
    "ImageFolder, listing": (lambda at: hr.ImageFolder(at.root, listing=at.root / f"{at.name}.list"), 3),
    "ImageFolder, classes": (lambda at: hr.ImageFolder(at.root, classes={at.name: 7}), 3),
    "Files": (lambda at: hr.Files(at.pattern(".jpg")), 3),
    "Files, shuffled": (lambda at: hr.Files(at.pattern(".jpg"), shuffle=True), 3),
    "Files, a path": (lambda at: hr.Files(list(at.images)), 3),
    "Files, a path object": (lambda at: hr.Files(pathlib.Path(at.images[0])), 1),
    "Text": (lambda at: hr.Text(at.lines(".txt", b"a\nb\n")), 2),
    "Text, index": (lambda at: hr.Text(at.lines(".txt", b"a\nb\n"), index="build"), 2),
    "Csv": (lambda at: hr.Csv(at.lines(".csv", b"a,b\n1,2\n3,4\n")), 2),
    "JsonLines": (lambda at: hr.JsonLines(at.lines(".jsonl", b'{"a": 1}\n{"a": 2}\n')), 2),
    "LibSvm": (lambda at: hr.LibSvm(at.lines(".svm", b"1 0:1\n0 1:2\n"), features=2), 2),
    "RecordFile": (lambda at: hr.RecordFile(at.records()), 3),
    "ImageRecord": (lambda at: hr.ImageRecord(at.records()), 3),
    "TFRecord": (lambda at: hr.TFRecord(at.lines(".tfrecord", b"".join(map(frame, [b"1", b"2"])))), 2),
    "TFRecord, index": (lambda at: hr.TFRecord(at.lines(".tfrecord", frame(b"1")), index="build"), 1),
    "WebDataset": (lambda at: hr.WebDataset(at.lines(".tar", tar_bytes([("0.txt", b"1"), ("1.txt", b"2")]))), 2),
    "WebDataset, index": (lambda at: hr.WebDataset(at.lines(".tar", tar_bytes([("0.txt", b"1")])), index="build"), 1),
    "ImageRecord, index": (lambda at: hr.ImageRecord(path := at.records(), f"{path[:-4]}.idx"), 3),
    "MindRecord": (lambda at: hr.MindRecord(at.write(f"{at.name}.mr", MIND_RECORD)), 5),
    "Npy": (lambda at: hr.Npy(at.write(f"{at.name}.npy", arrays(np.save, np.arange(3)))), 3),
    "Npz": (lambda at: hr.Npz(at.write(f"{at.name}.npz", arrays(np.savez, np.arange(3)))), 3),
    "Lmdb": (lambda at: hr.Lmdb(at.write(f"{at.name}.mdb", LMDB)), 299),
    "Mds": (lambda at: hr.Mds(write_mds(os.path.join(at.folder, at.name), {"x": "int"}, [{"x": 1}])), 1),
    "Manifest": (lambda at: hr.Manifest({"path": at.images, "x": [1, 2, 3]}, "path"), 3),
    "Manifest, root": (
        lambda at: hr.Manifest({"path": [os.path.basename(path) for path in at.images]}, "path", root=at.folder),
        3,
    ),
    "ReadFile": (lambda at: hr.Numpy({"path": at.images}).map(T.ReadFile(), "path"), 3),
    "ReadFile, root": (
        lambda at: hr.Numpy({"path": [os.path.basename(path) for path in at.images]}).map(
            T.ReadFile(root=at.folder), "path"
        ),
        3,
    ),
    "cache, directory": (lambda at: hr.Files(at.pattern(".jpg")).cache(directory=at.root / f"{at.name}.kept"), 3),
    "on_error, log": (lambda at: hr.Files(at.pattern(".jpg")).on_error("skip", log=at.root / f"{at.name}.log"), 3),
}
BY_SOURCE = pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))


@NAMED
@BY_SOURCE
def test_rows_come_and_texts_are_printable(planted, source, tmp_path):
    make, rows = source
    dataset = make(planted)
    for epoch in range(2):
        assert len(list(dataset.iterate(epoch=epoch))) == rows
    graph = dataset._graph()
    assert_shown(repr(dataset), dataset.explain(), dataset.to_dot(), dataset.to_text(), dataset.to_json(), graph.dump())
    with dataset.iterate() as iterator:
        next(iterator)
        state = iterator.state()
        assert_shown(iterator.explain(), json.dumps(iterator.report()["stages"], ensure_ascii=False))
    assert len(list(dataset.iterate(state=state))) == rows - 1
    with dataset.profile(tmp_path / f"{planted.name}.profile") as batches:
        list(batches)
    for page in ("trace.json", "report.html"):
        assert_shown((tmp_path / f"{planted.name}.profile" / page).read_text("utf-8"))


@NAMED
@pytest.mark.parametrize("form", ["bytes", "json"])
def test_graphs_keep_names(planted, tmp_path, form):
    path = tmp_path / f"{planted.name}.hrg"
    for make, rows in (
        SOURCES[name] for name in ("ImageFolder", "ImageFolder, classes", "Files", "Text", "RecordFile")
    ):
        dataset = make(planted)
        if form == "bytes":
            dataset.save(path)
        else:
            path.write_text(dataset.to_json(), "utf-8")
        loaded = hr.load(path)
        assert loaded._graph().serialize() == dataset._graph().serialize()
        assert _engine.Graph.parse_text(dataset.to_text()).serialize() == dataset._graph().serialize()
        assert len(list(loaded)) == rows


@NAMED
def test_names_are_exact_where_they_are_values(planted):
    paths = [os.fsencode(row["path"]) for row in hr.Files(planted.pattern(".jpg"))]
    assert paths == sorted(map(os.fsencode, planted.images))
    folder = hr.ImageFolder(planted.root, columns=["label", "path"])
    assert sorted(os.fsencode(row["path"]) for row in folder) == paths
    assert folder.classes == [planted.name] and folder.class_to_idx == {planted.name: 0}
    assert len(list(hr.ImageFolder(planted.root, classes=folder.class_to_idx))) == 3
    batch = next(iter(hr.Files(planted.pattern(".jpg")).batch(3)))
    assert [os.fsencode(path) for path in batch["path"]] == paths


@NAMED
def test_caches_serve_rows_of_such_names(planted):
    calls = []

    def counted(data):
        calls.append(0)
        return data

    files = hr.Files(planted.pattern(".jpg")).map(counted, "data")
    for rows in (files.cache(), files.filter(lambda path: True, "path").cache()):
        calls.clear()
        epochs = [[row["path"] for row in rows.iterate(epoch=epoch)] for epoch in range(3)]
        assert epochs[0] == epochs[1] == epochs[2] and len(epochs[0]) == 3
        assert len(calls) == 3
    for directory in (planted.root / "plain", planted.root / f"{planted.name}.kept"):
        for served in (False, True):
            rows = hr.Files(planted.pattern(".jpg")).cache(directory=directory)
            assert len(list(rows)) == 3
            # Several epochs begin ahead of time: some rows may be made twice.
            assert (", 0 made" in rows.explain()) == served
            assert_shown(rows.explain())


@NAMED
def test_rows_that_fail_are_named(planted):
    bad = planted.write(f"bad{planted.name}.jpg", b"no image")
    for rows in (hr.Files(planted.pattern(".jpg")).rename({"data": "image"}), hr.ImageFolder(planted.root)):
        decoded = rows.map(V.Decode(), "image")
        error = refused(hr.DataError, lambda decoded=decoded: list(decoded))
        assert error.file.split(", record ")[0] == shown(os.fsencode(bad)) and shown(os.fsencode(planted.name)) in str(
            error
        )
        assert "\n  file: " not in str(error).split("\n", 1)[0]
        for copy in (pickle.loads(pickle.dumps(error)), error._remade(error.args, error.__dict__)):
            assert str(copy) == str(error) and copy.file == error.file and type(copy) is type(error)
        log = planted.root / "log"
        skipping = decoded.on_error("skip", log=log)
        with skipping.iterate() as iterator:
            assert len(list(iterator)) == 3
            report = iterator.report()
            assert_shown(iterator.explain(), *report["skipped"][0]["first"])
            assert "\n" not in report["skipped"][0]["first"][0]
        text = log.read_text("utf-8")
        assert_shown(text)
        assert json.loads(text)["file"] == bad
        log.unlink()
        refused(hr.DataError, lambda decoded=decoded: list(decoded.on_error("skip", max_errors=0)))

    def fail(data):
        raise OSError(f"cannot use {bad}")

    error = refused(hr.FunctionError, lambda: list(hr.Files(planted.pattern(".jpg")).map(fail, "data")))
    assert f"OSError: cannot use {shown(os.fsencode(bad))}" in str(error)


@NAMED
def test_what_is_missing_is_named(planted, tmp_path):
    gone = str(planted.folder / f"gone{planted.name}")
    # A semicolon would separate two paths.
    name = shown(os.fsencode(planted.name)).partition(";")[0]
    for call in (
        lambda: list(hr.Files(gone)),
        lambda: list(hr.ImageFolder(gone)),
        lambda: list(hr.RecordFile(gone)),
        lambda: list(hr.ImageList(gone, planted.root)),
        lambda: list(hr.Manifest({"path": [gone]}, "path")),
        lambda: hr.Csv([f"{gone}.csv"]),
        lambda: hr.Csv(gone),
        lambda: hr.JsonLines(gone),
        lambda: hr.load(gone),
        lambda: hr.load_plugin(gone),
        lambda: hr.Range(3).save(f"{gone}/graph.hrg"),
        lambda: recordio.MXRecordIO(gone, "r"),
        lambda: recordio.MXIndexedRecordIO(f"{gone}.idx", planted.records(), "r"),
        lambda: mx.nd.load(gone),
        lambda: mx.image.imread(gone),
        lambda: pack.make_lists(tmp_path / "set", gone),
        lambda: pack.pack_images(gone, planted.root),
        lambda: list(hr.Numpy({"path": [gone]}).map(T.ReadFile(), "path")),
    ):
        assert name in str(refused(hr.Error, call))


@NAMED
def test_lists_keep_names_or_refuse_them(planted, tmp_path, name):
    prefix = planted.root / f"{planted.name}.set"
    if any(mark in name for mark in (b"\n", b"\r", b"\t")):
        error = refused(hr.DataError, lambda: pack.make_lists(prefix, planted.root, recursive=True))
        assert "rename it" in str(error)
        return
    bad = planted.write(f"bad{planted.name}.jpg", b"no image")
    [listing] = pack.make_lists(prefix, planted.root, recursive=True, shuffle=False).paths
    listed = pathlib.Path(listing).read_bytes().splitlines()
    assert [line.split(b"\t")[2] for line in listed] == [
        os.fsencode(os.path.relpath(path, planted.root)) for path in sorted([*planted.images, bad], key=os.fsencode)
    ]
    paths = [os.fsencode(row["path"]) for row in hr.ImageList(listing, planted.root, columns=["path"])]
    assert len(paths) == 4
    packed = pack.pack_images(listing, planted.root)
    assert packed.records == 3
    [skipped] = packed.skipped
    assert skipped.path == bad
    assert_shown(skipped.reason)
    assert len(list(hr.ImageRecord(packed.path, packed.index))) == 3
    sheet = hr.ImageFolder(planted.root, columns=["image", "path"]).map(V.Decode(), "image").on_error("skip").show()
    assert_shown(sheet._repr_html_())


@NAMED
def test_lines_of_lists_are_named(planted, tmp_path, name):
    listing = tmp_path / "images.lst"
    listing.write_bytes(b"0\t0\ta.jpg\n" + name.replace(b"\n", b" ") + b"\n")
    assert "line 2" in str(refused(hr.DataError, lambda: list(hr.ImageList(listing, tmp_path))))
    assert "line 2" in str(refused(hr.DataError, lambda: pack.pack_images(listing, tmp_path)))
    index = tmp_path / "images.idx"
    index.write_bytes(b"0\t0\n" + name.replace(b"\n", b" ") + b"\n")
    records = planted.records()
    assert "line 2" in str(refused(hr.DataError, lambda: recordio.MXIndexedRecordIO(index, records, "r")))
    refused(hr.DataError, lambda: list(hr.RecordFile(records, str(index))))


@NAMED
def test_columns_have_the_names_of_the_header(tmp_path, name):
    try:
        column = name.decode()
    except UnicodeDecodeError:
        column = None
    table = tmp_path / "table.csv"
    table.write_bytes(b'x,"' + name + b'"\n1,2\n3,four\n')
    options = {"newlines_in_values": True} if b"\n" in name or b"\r" in name else {}
    if column is None:
        error = refused(hr.DataError, lambda: hr.Csv(table, **options))
        assert "UTF-8" in str(error) and "table.csv" in str(error)
        return
    rows = hr.Csv(table, types={"x": "int64", column: "string"}, header=True, **options)
    assert [row[column] for row in rows] == ["2", "four"]
    wrong = hr.Csv(table, types={column: "int64"}, header=True, **options)
    error = refused(hr.DataError, lambda: list(wrong))
    assert _engine.printable(column) in str(error)
    refused(hr.Error, lambda: rows.map(T.TypeCast("int64"), column).schema)
    refused(hr.Error, lambda: rows.project([f"{column}?"]).schema)
    refused(hr.Error, lambda: hr.Numpy({column: [1, "a"]}))
    assert_shown(rows.explain(), rows.filter(hr.col(column) == "2").explain(), hr.col(column), repr(rows))
    twice = tmp_path / "twice.csv"
    twice.write_bytes(b'"' + name + b'","' + name + b'"\n1,2\n')
    refused(hr.Error, lambda: hr.Csv(twice, **options))
    lines = tmp_path / "table.jsonl"
    lines.write_text(json.dumps({column: 1}) + "\n" + json.dumps({column: "a"}) + "\n")
    refused(hr.GraphError, lambda: hr.JsonLines(lines))


@NAMED
def test_keys_of_indexes_and_of_arrays(tmp_path, name):
    key = os.fsdecode(name)
    path, index = tmp_path / "keyed.rec", tmp_path / "keyed.idx"
    with recordio.MXIndexedRecordIO(index, path, "w", key_type=str) as written:
        if len(key.splitlines()) != 1:
            refused(hr.DataError, lambda: written.write_idx(key, b"x"))
            key = "plain"
        written.write_idx(key, b"x")
    with recordio.MXIndexedRecordIO(index, path, "r", key_type=str) as read:
        assert read.keys == [key] and read.read_idx(key) == b"x"
    refused(hr.DataError, lambda: recordio.MXIndexedRecordIO(index, path, "r"))
    array = mx.nd.array([1.0])
    mx.nd.save(tmp_path / "arrays", {os.fsdecode(name): array})
    assert list(mx.nd.load(str(tmp_path / "arrays"))) == [os.fsdecode(name)]


def test_a_nul_is_refused():
    for call in (
        lambda: hr.Files("a\0\x1b").schema,
        lambda: hr.ImageFolder("a", classes={"\0\x1b": 1}).schema,
        lambda: hr.load("a\0\x1b"),
    ):
        refused(hr.GraphError, call)


COMMANDS = {
    "explain": lambda at: ["explain", at.graph],
    "explain, passes": lambda at: ["explain", "--passes", at.graph],
    "show": lambda at: ["show", at.graph, "--out", f"{at.folder}/sheet.png"],
    "bench": lambda at: ["bench", at.graph, "--batches", "2"],
    "inspect": lambda at: ["inspect", at.rec],
    "verify": lambda at: ["verify", at.rec],
    "index": lambda at: ["index", at.rec, f"{at.folder}/{at.name}.idx2"],
    "unpack": lambda at: ["unpack", at.rec, f"{at.root}/{at.name}.unpacked"],
    "pack --list": lambda at: ["pack", "--list", "--recursive", f"{at.root}/{at.name}.made", str(at.root)],
    "pack": lambda at: ["pack", f"{at.folder}/{at.name}.lst", str(at.root)],
    "im2rec": lambda at: ["im2rec", at.listing(), "/", f"{at.root}/{at.name}.rec"],
    "check-plugin": lambda at: ["check-plugin", at.images[0]],
    "no such file": lambda at: ["inspect", f"{at.folder}/gone{at.name}.rec"],
    "no such graph": lambda at: ["explain", f"{at.folder}/gone{at.name}.hrg"],
    "no such command": lambda at: [at.name],
    "too many arguments": lambda at: ["inspect", at.rec, at.name],
    "no such operator": lambda at: ["ops", at.name],
    "no such pass": lambda at: ["passes", at.name],
}


@NAMED
def test_commands_print_nothing_raw(planted, name, capfdbinary):
    planted.write(f"bad{planted.name}.jpg", b"no image")
    planted.graph = str(planted.folder / f"{planted.name}.hrg")
    images = hr.ImageFolder(planted.root).map([V.Decode(), V.Resize((8, 8))], "image").on_error("skip")
    images.save(planted.graph)
    planted.rec = planted.records()
    planted.listing()
    for command, arguments in COMMANDS.items():
        with contextlib.suppress(SystemExit):
            main(arguments(planted))
        assert_printed(command, *capfdbinary.readouterr())


@NAMED
def test_a_process_prints_nothing_raw(planted, name):
    done = subprocess.run(
        [sys.executable, "-m", "headrace", "inspect", planted.records()], capture_output=True, timeout=120, check=True
    )
    assert_printed("inspect", done.stdout, done.stderr)


def assert_printed(command: str, *printed: bytes) -> None:
    for each in printed:
        text = each.decode()  # or it is not UTF-8
        assert is_shown(text), (command, ascii(text))
        assert "Traceback" not in text, (command, text)


@NAMED
def test_errors_made_of_names_are_lines_of_text(name):
    text = os.fsdecode(name)
    for error in (
        hr.DataError(f"{text} is bad"),
        hr.NotFoundError("first", text, "last"),
        pack.NothingPackedError(text),
    ):
        assert_shown(error, repr(error), *error.args)
    assert str(hr.DataError("a", text)).count("\n") == 1
    assert hr.DataError().args == () and str(hr.DataError()) == ""
    assert hr.DataError(3).args == ("3",)


def test_printable_is_that_of_the_engine():
    assert _engine.printable("a\udce9\x1b\n\u202e\\") == "a\\xe9\\x1b\\n\\u202e\\"
    assert _engine.printable("a\nb\r", keep_lines=True) == "a\nb\\r"
    assert _engine.printable("\ud800") == "\\ud800"
