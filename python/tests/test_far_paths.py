"""Paths of far stores, in every place that takes a path: by file systems of fsspec's, whose bytes are those of local files."""

import asyncio
import io
import os
import pathlib
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import _engine, mx
from headrace.__main__ import main
from headrace._files.far_file import FarFile
from headrace.errors import FunctionError, GraphError, NotFoundError, UnsupportedError

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

SCHEME = "tested"


class Store(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory that are its own, with a list of what was asked for."""

    cachable = False
    protocol = SCHEME

    def __init__(self) -> None:
        super().__init__()
        self.store: dict[str, Any] = {}
        self.pseudo_dirs = [""]
        self.ranges: list[tuple[str, int | None, int | None]] = []
        self.looked_at: list[str] = []
        self.threads: set[int] = set()
        self.before: Callable[[str], None] = lambda path: None

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix(f"{SCHEME}://").strip("/") if path.strip("/") else ""

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **given: Any) -> bytes:
        self.threads.add(threading.get_ident())
        self.before(path)
        self.ranges.append((path, start, end))
        found: bytes = super().cat_file(path, start, end, **given)
        return found

    def info(self, path: str, **given: Any) -> dict[str, Any]:
        self.looked_at.append(path)
        found: dict[str, Any] = super().info(path, **given)
        return found

    def put(self, path: str, data: bytes) -> None:
        self.pipe_file(path, data)

    def put_folder(self, folder: pathlib.Path, to: str) -> str:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{to}/{path.relative_to(folder)}", path.read_bytes())
        return f"{SCHEME}://{to}"

    def fetched(self, path: str) -> int:
        return sum((end or len(self.cat(each))) - (start or 0) for each, start, end in self.ranges if path in each)


@pytest.fixture
def store() -> Store:
    made = Store()
    hr.register_filesystem(SCHEME, made)
    return made


def plain(row: Any) -> Any:
    if isinstance(row, dict):
        return {name: plain(value) for name, value in row.items() if name not in ("path", "__url__")}
    return row.tolist() if hasattr(row, "tolist") else row


def rows_of(dataset: hr.Dataset) -> list[Any]:
    return [plain(row) for row in dataset]


# ---- sources ----


def written(folder: pathlib.Path) -> dict[str, Callable[[str], hr.Dataset]]:
    """Files of each format in a folder, and what reads them, given where the folder is."""
    numbers = hr.Numpy({"x": np.arange(40), "name": [f"row {number}" for number in range(40)]})
    (folder / "lines.txt").write_text("".join(f"line {number}\n" for number in range(40)))
    (folder / "table.csv").write_text("x,name\n" + "".join(f"{number},n{number}\n" for number in range(40)))
    (folder / "rows.jsonl").write_text("".join(f'{{"x": {number}}}\n' for number in range(40)))
    numbers.write_tfrecord(folder / "rows.tfrecord", files=2)
    numbers.write_mindrecord(folder / "rows.mindrecord")
    numbers.map(lambda name: name.encode(), "name", types={"name": "bytes"}).project(["name"]).write_records(
        folder / "rows.rec"
    )
    numbers.rename({"x": "cls", "name": "txt"}).write_tar(folder / "rows.tar")
    np.save(folder / "array.npy", np.arange(120).reshape(40, 3))
    np.savez(folder / "arrays.npz", a=np.arange(40), b=np.ones((40, 2)))
    for name in ("cat", "dog"):
        (folder / "classes" / name).mkdir(parents=True)
        for number in range(3):
            (folder / "classes" / name / f"{number}.jpg").write_bytes(f"{name} {number}".encode())
    return {
        "Files": lambda at: hr.Files(f"{at}/classes/**/*.jpg"),
        "shuffled Files": lambda at: hr.Files(f"{at}/classes/**/*.jpg", shuffle=True),
        "ImageFolder": lambda at: hr.ImageFolder(f"{at}/classes"),
        "Text": lambda at: hr.Text(f"{at}/lines.txt"),
        "Csv": lambda at: hr.Csv(f"{at}/table.csv"),
        "indexed Csv": lambda at: hr.Csv(f"{at}/table.csv", shuffle=True, window=8),
        "JsonLines": lambda at: hr.JsonLines(f"{at}/rows.jsonl"),
        "TFRecord": lambda at: hr.TFRecord(f"{at}/rows-*.tfrecord", {"x": "int64", "name": "string"}),
        "MindRecord": lambda at: hr.MindRecord(f"{at}/rows.mindrecord", shuffle=True),
        "RecordFile": lambda at: hr.RecordFile(f"{at}/rows.rec", shuffle=True),
        "WebDataset": lambda at: hr.WebDataset(f"{at}/rows.tar", ["cls", "txt"], {"cls": "int64"}),
        "Npy": lambda at: hr.Npy(f"{at}/array.npy", shuffle=True),
        "Npz": lambda at: hr.Npz(f"{at}/arrays.npz"),
    }


NAMES: tuple[str, ...] = (
    "Files",
    "shuffled Files",
    "ImageFolder",
    "Text",
    "Csv",
    "indexed Csv",
    "JsonLines",
    "TFRecord",
    "MindRecord",
)
NAMES += ("RecordFile", "WebDataset", "Npy", "Npz")


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_local_files(name: str, store: Store, tmp_path: pathlib.Path) -> None:
    sources = written(tmp_path)
    assert tuple(sources) == NAMES
    made = sources[name]
    at = store.put_folder(tmp_path, "bucket/data")
    far = rows_of(made(at))
    assert far == rows_of(made(str(tmp_path))) == rows_of(made(f"file://{tmp_path}"))
    assert len(far) >= 6 and store.ranges


@pytest.mark.parametrize(
    ("raised", "kind"), [(MemoryError("no room"), hr.ResourceError), (ValueError("no answer"), FunctionError)]
)
def test_parquet_tells_why_a_store_gave_no_bytes(
    store: Store, tmp_path: pathlib.Path, raised: Exception, kind: type[hr.Error]
) -> None:
    pytest.importorskip("pyarrow")
    for name in ("a", "b"):
        hr.Numpy({"x": np.arange(40), name: np.arange(40)}).write_parquet(tmp_path / f"{name}.parquet")
    at = store.put_folder(tmp_path, "bucket")
    dataset = hr.Parquet([f"{at}/a.parquet", f"{at}/b.parquet"], columns=["x"])
    # The first read of a file is of its footer, those of rows are pyarrow's own.
    for reads, raises in ((0, kind), (1, hr.DataError)):
        left = None

        def before(path: str) -> None:
            nonlocal left
            if left is None or "b.parquet" not in path:
                return
            left -= 1
            if left < 0:
                raise raised

        store.before = before
        given = 0
        with pytest.raises(raises, match=f"its file system raised {type(raised).__name__}: {raised}") as caught:
            for _ in dataset.iterate(epoch=0):
                left, given = reads if given == 0 else left, given + 1
        assert given == 40 and caught.value.file == f"{at}/b.parquet"
        assert "Traceback" not in str(caught.value) and "no memory" not in str(caught.value)


def test_parquet_fetches_footers_and_the_columns_that_are_asked_for(store: Store, tmp_path: pathlib.Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    other = np.frombuffer(np.random.default_rng(0).bytes(8 * 60_000), np.int64)
    path = tmp_path / "rows.parquet"
    hr.Numpy({"x": np.arange(60_000), "other": other}).write_parquet(path, compression="none", row_group_rows=15_000)
    at = store.put_folder(tmp_path, "bucket")

    def rows(at: str | os.PathLike[str]) -> list[Any]:
        with hr.Parquet(f"{at}/rows.parquet", columns=["x"], shuffle=True).batch(1000).iterate(epoch=0) as batches:
            return [plain(batch) for batch in batches]

    assert rows(at) == rows(tmp_path)
    metadata = parquet.ParquetFile(path).metadata
    chunks = [metadata.row_group(group).column(0) for group in range(4)]
    wanted = [(each.dictionary_page_offset, each.total_compressed_size) for each in chunks]
    size = path.stat().st_size
    ranges = [(start or 0, size if end is None else end) for _, start, end in store.ranges]
    within = [each for each in ranges if any(begin <= each[0] and each[1] <= begin + size for begin, size in wanted)]
    assert sum(end - begin for begin, end in within) == sum(size for _, size in wanted)
    # The rest are footers, of at most so much.
    assert all(begin >= size - (64 << 10) for begin, _ in set(ranges) - set(within))


def test_classes_are_those_of_far_folders(store: Store) -> None:
    for path in ("bucket/cat/1.jpg", "bucket/dog/1.jpg"):
        store.put(path, b"bytes")
    assert hr.ImageFolder(f"{SCHEME}://bucket").class_to_idx == {"cat": 0, "dog": 1}


def test_a_folder_is_listed_once_a_dataset_and_no_file_looked_at_before_it_is_read(store: Store) -> None:
    for number in range(50):
        store.put(f"bucket/{number:02}.jpg", b"%d" % number)
    dataset = hr.Files(f"{SCHEME}://bucket/*.jpg")
    assert len(dataset) == 50
    store.looked_at.clear()
    assert [bytes(row["data"]) for row in dataset.iterate()] == [b"%d" % number for number in range(50)]
    # Once each, after it was read, as the store has no conditional reads.
    assert len([path for path in store.looked_at if path.endswith(".jpg") and "*" not in path]) <= 50
    assert len(store.ranges) == 50


def test_calls_run_on_few_threads_of_their_own(store: Store) -> None:
    for number in range(200):
        store.put(f"bucket/{number:03}.jpg", b"%d" % number)
    dataset = hr.Files(f"{SCHEME}://bucket/*.jpg", shuffle=True)
    assert len(rows_of(dataset)) == 200
    assert 0 < len(store.threads) <= 16
    assert threading.get_ident() not in store.threads


# ---- what changes and fails ----


def test_a_changed_file_is_an_error_that_names_it(store: Store) -> None:
    for number in range(4):
        store.put(f"bucket/{number}.jpg", b"old")

    def change(path: str) -> None:
        if path.endswith("3.jpg"):
            store.before = lambda path: None
            store.put("bucket/3.jpg", b"new")

    store.before = change
    with pytest.raises(hr.DataError, match=rf"{SCHEME}://bucket/3.jpg changed since it was listed"):
        list(hr.Files(f"{SCHEME}://bucket/*.jpg").batch(4))


def test_an_exception_of_the_file_system_is_the_cause(store: Store) -> None:
    store.put("bucket/1.jpg", b"bytes")

    def fail(path: str) -> None:
        raise RuntimeError("out of order")

    store.before = fail
    rows = hr.Files(f"{SCHEME}://bucket/*.jpg").iterate()
    with pytest.raises(FunctionError, match=r"bucket/1.jpg.*RuntimeError: out of order") as raised:
        next(rows)
    assert isinstance(raised.value.__cause__, RuntimeError)
    assert raised.value.__cause__.__traceback__ is None


@pytest.mark.parametrize(
    ("exception", "kind", "text"),
    [
        (FileNotFoundError("gone"), NotFoundError, "not found"),
        (PermissionError("no"), NotFoundError, "no permission"),
        (NotImplementedError("never"), UnsupportedError, "cannot do this"),
        (MemoryError(), hr.ResourceError, "memory|MemoryError"),
        (ConnectionError("cut"), FunctionError, "ConnectionError: cut"),
    ],
)
def test_exceptions_have_kinds(exception: Exception, kind: type[hr.Error], text: str, store: Store) -> None:
    store.put("bucket/1.jpg", b"bytes")

    def fail(path: str) -> None:
        raise exception

    store.before = fail
    with pytest.raises(kind, match=text):
        list(hr.Files(f"{SCHEME}://bucket/*.jpg"))


def test_a_listing_that_is_refused_is_not_a_missing_folder(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("bucket/cat/1.jpg", b"bytes")

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError("no")

    for method in ("ls", "find"):
        monkeypatch.setattr(store, method, refuse)
    for make in (
        lambda: hr.Files(f"{SCHEME}://bucket/cat/*.jpg"),
        lambda: hr.Files(f"{SCHEME}://bucket/**/*.jpg"),
        lambda: hr.ImageFolder(f"{SCHEME}://bucket"),
    ):
        with pytest.raises(NotFoundError, match="no permission") as raised:
            list(make())
        assert isinstance(raised.value.__cause__, PermissionError)


def test_a_file_that_may_not_be_looked_at_is_not_missing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("bucket/1.parquet", b"bytes")

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError("no")

    monkeypatch.setattr(store, "info", refuse)
    with pytest.raises(NotFoundError, match="open: .*no permission"):
        hr.open(f"{SCHEME}://bucket/1.parquet")
    monkeypatch.undo()
    with pytest.raises(NotFoundError, match="open: there is no"):
        hr.open(f"{SCHEME}://bucket/2.parquet")


def test_what_is_not_there_is_named(store: Store) -> None:
    store.put("bucket/1.jpg", b"bytes")
    with pytest.raises(NotFoundError, match=f"{SCHEME}://bucket"):
        list(hr.Files(f"{SCHEME}://bucket/*.png"))
    with pytest.raises(NotFoundError, match=f"{SCHEME}://bucket/2.jpg"):
        _engine.read_file(f"{SCHEME}://bucket/2.jpg".encode())
    assert _engine.stat_file(f"{SCHEME}://bucket/2.jpg".encode()) is None


def test_other_things_than_bytes_are_refused(store: Store) -> None:
    store.put("bucket/1.jpg", b"bytes")
    setattr(store, "cat_file", lambda *given, **named: 5)  # noqa: B010
    with pytest.raises(hr.Error, match=r"bucket/1.jpg"):
        _engine.read_file(f"{SCHEME}://bucket/1.jpg".encode())


def test_close_does_not_wait_for_the_file_system(store: Store) -> None:
    going = threading.Event()
    for number in range(40):
        store.put(f"bucket/{number:02}.jpg", b"%d" % number)

    def wait(path: str) -> None:
        if not path.endswith("00.jpg"):
            going.wait()

    store.before = wait
    try:
        rows = hr.Files(f"{SCHEME}://bucket/*.jpg").iterate()
        assert bytes(next(rows)["data"]) == b"0"
        rows.close()
    finally:
        going.set()


def test_ctrl_c_ends_a_wait_for_the_file_system(store: Store) -> None:
    going = threading.Event()
    store.put("bucket/1.bin", b"bytes")
    waits = threading.Event()

    def wait(path: str) -> None:
        waits.set()
        going.wait()

    store.before = wait

    def interrupt() -> None:
        waits.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            _engine.read_file(f"{SCHEME}://bucket/1.bin".encode())
    finally:
        going.set()
        thread.join()


def test_a_child_of_a_fork_has_threads_of_its_own() -> None:
    """As it has none of its parent's."""
    code = f"""
import os, sys
import headrace as hr
from headrace import _engine
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_far_paths import Store
store = Store()
hr.register_filesystem("tested", store)
store.put("bucket/1.bin", b"bytes")
assert _engine.read_file(b"tested://bucket/1.bin") == b"bytes"
child = os.fork()
if child == 0:
    os._exit(0 if _engine.read_file(b"tested://bucket/1.bin") == b"bytes" else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, timeout=120).returncode == 0


def test_a_fork_does_not_wait_for_the_file_system(store: Store) -> None:
    waits, going = threading.Event(), threading.Event()

    def wait(*given: Any, **named: Any) -> Any:
        waits.set()
        going.wait()
        return opened(*given, **named)

    opened = store._open
    setattr(store, "_open", wait)  # noqa: B010
    thread = threading.Thread(target=lambda: hr.Range(3).save(f"{SCHEME}://bucket/a.hrg"))
    thread.start()
    waits.wait()
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    going.set()
    thread.join()
    assert len(hr.load(f"{SCHEME}://bucket/a.hrg")) == 3


# ---- files ----


def test_far_files_are_read_as_python_s_files_are(store: Store) -> None:
    data = bytes(range(256)) * 40
    store.put("bucket/a.bin", data)
    with FarFile(f"{SCHEME}://bucket/a.bin") as far, io.BytesIO(data) as local:
        assert far.size == len(data) and far.seekable() and far.readable() and not far.writable()
        for place, whence, size in ((10, 0, 5), (3, 1, 100), (-7, 2, 20), (0, 0, -1), (len(data) + 5, 0, 3)):
            assert far.seek(place, whence) == local.seek(place, whence)
            assert far.read(size) == local.read(size) and far.tell() == local.tell()
        into = bytearray(33)
        far.seek(200)
        assert far.readinto(into) == 33 and bytes(into) == data[200:233]
        with pytest.raises(ValueError, match="no byte -1"):
            far.seek(-1)
    with pytest.raises(ValueError, match="closed"):
        far.read(1)
    store.ranges.clear()
    with io.BufferedReader(FarFile(f"{SCHEME}://bucket/a.bin"), 4096) as buffered:
        buffered.seek(300)
        assert buffered.read(10) == data[300:310]
    assert store.fetched("a.bin") <= 4096


def test_graphs_are_saved_and_loaded(store: Store, tmp_path: pathlib.Path) -> None:
    dataset = hr.Range(10).batch(3)
    dataset.save(f"{SCHEME}://bucket/graphs/a.hrg")
    assert rows_of(hr.load(f"{SCHEME}://bucket/graphs/a.hrg")) == rows_of(dataset)
    with pytest.raises(NotFoundError, match="bucket/graphs/b.hrg"):
        hr.load(f"{SCHEME}://bucket/graphs/b.hrg")


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("form", ["tar", "tfrecord", "records", "parquet"])
def test_sets_are_written_as_to_the_disk(form: str, files: int, store: Store, tmp_path: pathlib.Path) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    dataset = hr.Numpy({"data": np.array([b"%d" % number for number in range(30)], object)})
    write = getattr(dataset, f"write_{form}")
    write(tmp_path / f"rows.{form}", files=files)
    store.put(f"bucket/rows.{form}", b"old")
    told = write(f"{SCHEME}://bucket/rows.{form}", files=files)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    there = {name.removeprefix("/bucket/"): store.cat(name) for name in store.find("/bucket")}
    if files > 1:
        del there[f"rows.{form}"]
    assert there == made
    assert told.paths == [f"{SCHEME}://bucket/{name}" for name in sorted(made) if not name.endswith(".idx")]


def test_an_error_leaves_nothing_of_a_set(store: Store) -> None:
    store.put("bucket/rows.tar", b"old")
    dataset = hr.Range(10).map(lambda x: b"%d" % (10 // (5 - int(x))), "value", types={"value": "bytes"})
    for files in (1, 2):
        with pytest.raises(FunctionError):
            dataset.write_tar(f"{SCHEME}://bucket/rows.tar", files=files)
    assert store.find("/bucket") == ["/bucket/rows.tar"] and store.cat("/bucket/rows.tar") == b"old"


def test_going_on_is_refused_where_nothing_is_kept(store: Store) -> None:
    with pytest.raises(UnsupportedError, match="resume"):
        hr.Range(3).write_tar(f"{SCHEME}://bucket/rows.tar", resume=True)


def test_open_finds_formats(store: Store, tmp_path: pathlib.Path) -> None:
    written(tmp_path)
    at = store.put_folder(tmp_path, "bucket/data")
    for name in ("table.csv", "rows.jsonl", "rows-*.tfrecord", "rows.tar", "rows.rec", "array.npy", "classes"):
        assert rows_of(hr.open(f"{at}/{name}")) == rows_of(hr.open(tmp_path / name)), name
    with pytest.raises(NotFoundError, match="there is no"):
        hr.open(f"{at}/nothing.csv")
    with pytest.raises(NotFoundError, match="nothing matches"):
        hr.open(f"{at}/*.nothing")


def test_tables_may_be_far(store: Store) -> None:
    store.put("bucket/a.jpg", b"a")
    store.put("bucket/b.jpg", b"b")
    store.put("bucket/list.csv", b"path,label\na.jpg,0\nb.jpg,1\n")
    store.put("pictures/metadata.csv", b"file_name,label\n1.jpg,5\n")
    store.put("pictures/1.jpg", b"one")
    at = f"{SCHEME}://bucket"
    rows = list(hr.Manifest(f"{at}/list.csv", path_column="path", root=at))
    assert [bytes(row["data"]) for row in rows] == [b"a", b"b"] and [int(row["label"]) for row in rows] == [0, 1]
    (row,) = hr.Manifest(f"{SCHEME}://pictures")
    assert bytes(row["data"]) == b"one" and int(row["label"]) == 5


def test_mxnet_s_files_may_be_far(store: Store, tmp_path: pathlib.Path) -> None:
    with mx.recordio.MXIndexedRecordIO(f"{SCHEME}://bucket/a.idx", f"{SCHEME}://bucket/a.rec", "w") as writing:
        for number in range(5):
            writing.write_idx(number, b"record %d" % number)
    with mx.recordio.MXIndexedRecordIO(f"{SCHEME}://bucket/a.idx", f"{SCHEME}://bucket/a.rec", "r") as reading:
        assert reading.read_idx(3) == b"record 3"
    mx.nd.save(f"{SCHEME}://bucket/a.params", {"x": np.arange(3)})
    (saved,) = dict(mx.nd.load(f"{SCHEME}://bucket/a.params")).values()
    assert np.array(saved).tolist() == [0, 1, 2]
    store.put("bucket/a.csv", b"1,2\n3,4\n\n")
    batch = next(iter(mx.io.CSVIter(data_csv=f"{SCHEME}://bucket/a.csv", data_shape=(2,), batch_size=2)))
    assert batch.data is not None and batch.data[0].asnumpy().tolist() == [[1, 2], [3, 4]]


def test_pictures_are_packed_and_unpacked(store: Store, tmp_path: pathlib.Path, photos: pathlib.Path) -> None:
    at = store.put_folder(photos, "photos")
    for root, prefix in ((at, f"{SCHEME}://packed/a"), (str(photos), str(tmp_path / "a"))):
        hr.pack.make_lists(prefix, root, recursive=True)
        hr.pack.pack_images(f"{prefix}.lst", root, pass_through=True)
    for ending in ("lst", "rec", "idx"):
        assert store.cat(f"/packed/a.{ending}") == (tmp_path / f"a.{ending}").read_bytes()
    with pytest.raises(UnsupportedError, match="resume"):
        hr.pack.pack_images(f"{SCHEME}://packed/a.lst", at, pass_through=True, resume=True)


def test_commands_take_far_paths(
    store: Store, tmp_path: pathlib.Path, photos: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = f"{SCHEME}://bucket"
    store.put_folder(photos, "photos")
    assert main(["pack", "--list", "--recursive", f"{at}/a", f"{SCHEME}://photos"]) == 0
    assert main(["pack", "--pass-through", f"{at}/a", f"{SCHEME}://photos"]) == 0
    for command in (["verify"], ["inspect"], ["index"]):
        assert main([*command, f"{at}/a.rec"]) == 0, capsys.readouterr()
    assert main(["unpack", f"{at}/a.rec", f"{at}/unpacked"]) == 0
    pictures = sorted(path.read_bytes() for path in photos.rglob("*.jpg"))
    assert sorted(store.cat(path) for path in store.find("/bucket/unpacked") if path.endswith(".jpg")) == pictures
    assert main(["unpack", f"{at}/a.rec", f"{at}/unpacked"]) == 1
    assert main(["convert", f"{at}/a.rec", f"{at}/a.tar", "--columns", "image=jpg", "label=cls"]) == 0
    assert main(["convert", f"{at}/a.rec", f"{at}/a.tar", "--columns", "image=jpg", "label=cls"]) == 1
    assert main(["convert", f"{at}/a.rec", f"{at}/a.rec", "--overwrite"]) == 1
    assert len(rows_of(hr.open(f"{at}/a.tar"))) == len(pictures)
    assert "--overwrite" in capsys.readouterr().err


def test_what_must_be_local_says_so(store: Store, tmp_path: pathlib.Path) -> None:
    for call in (
        lambda: hr.Range(3).iterate(cache=f"{SCHEME}://bucket/cache"),
        lambda: hr.Range(3).write_mindrecord(f"{SCHEME}://bucket/rows.mindrecord"),
    ):
        with pytest.raises(UnsupportedError, match=r"far store.*this machine"):
            call()


# ---- registering ----


@pytest.mark.parametrize(
    ("scheme", "given", "text"),
    [
        ("g s", Store(), "scheme is 'g s'"),
        (5, Store(), "scheme is a int"),
        ("file", Store(), "files of this machine"),
        ("gs", object(), "without info, ls"),
        ("gs", "no such file system", "fsspec"),
        ("gs", Store, r"the class Store; give an object of it, Store\(\)"),
    ],
)
def test_what_is_no_file_system_is_refused(scheme: Any, given: Any, text: str) -> None:
    with pytest.raises((GraphError, UnsupportedError), match=text):
        hr.register_filesystem(scheme, given)


def test_a_file_system_that_needs_a_package_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(UnsupportedError, match=r"install gcsfs|gcsfs.*install"):
        hr.register_filesystem("gs", "gs")


def test_options_belong_to_a_name() -> None:
    with pytest.raises(GraphError, match="token"):
        hr.register_filesystem("gs", Store(), token="secret")


def test_a_name_makes_a_file_system(tmp_path: pathlib.Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.txt").write_text("one\ntwo\n")
    hr.register_filesystem("mounted", "dir", path=str(tmp_path), fs=fsspec.filesystem("file", auto_mkdir=True))
    assert [str(row["line"]) for row in hr.Text("mounted://data/a.txt")] == ["one", "two"]
    hr.Range(4).save("mounted://new/a.hrg")
    assert len(hr.load(tmp_path / "new/a.hrg")) == 4


def test_the_last_one_registered_serves_new_runs(store: Store) -> None:
    store.put("bucket/1.bin", b"first")
    dataset = hr.Files(f"{SCHEME}://bucket/*.bin")
    assert [bytes(row["data"]) for row in dataset] == [b"first"]
    other = Store()
    other.put("bucket/1.bin", b"other")
    hr.register_filesystem(SCHEME, other)
    assert [bytes(row["data"]) for row in hr.Files(f"{SCHEME}://bucket/*.bin")] == [b"other"]


def test_a_registered_file_system_has_its_own_settings(store: Store) -> None:
    store.put("bucket/1.bin", b"bytes")
    with pytest.raises(GraphError, match=f"{SCHEME}://.*register_filesystem"):
        list(hr.Files(f"{SCHEME}://bucket/*.bin").iterate(storage={SCHEME: {"region": "here"}}))
    with (
        hr.storage({f"{SCHEME}://bucket/": {"region": "here"}}),
        pytest.raises(GraphError, match=f"{SCHEME}://.*register_filesystem"),
    ):
        hr.open(f"{SCHEME}://bucket/1.bin")


# ---- settings ----

SECRET = "not-to-be-seen"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([], "storage is a list"),
        ({"s3": SECRET}, "storage has a str for 's3'"),
        ({5: {}}, "no scheme"),
        ({"s3": {"acces_key": SECRET}}, "access_key"),
        ({"s3": {"token": [SECRET]}}, "token is a list"),
        ({"s3": {"region": 5}}, "region must be a text"),
        ({"s3": {"timeout": SECRET}}, "timeout must be"),
        ({"s3": {"anonymous": SECRET}}, "anonymous must be true or false"),
        ({"s3": {"connections": 1 << 70}}, "64 bits"),
    ],
)
def test_settings_are_checked_and_their_values_never_shown(given: Any, text: str) -> None:
    for call in (
        lambda: hr.storage(given),
        lambda: hr.Range(3).options(storage=given),
        lambda: hr.Range(3).iterate(storage=given),
    ):
        with pytest.raises(GraphError, match=text) as raised:
            call()
        assert SECRET not in str(raised.value)


def test_kept_settings_are_named_without_their_values() -> None:
    keyed = {"access_key": "known", "secret_key": SECRET}
    dataset = hr.Range(3).options(storage={"s3": keyed, f"s3://user:{SECRET}@bucket/": keyed})
    text = dataset.explain()
    assert "storage={'s3': …, 's3://bucket/': …}" in text and SECRET not in text
    assert SECRET not in dataset.to_json() + dataset.to_text() + dataset.to_dot()
    other = hr.Range(3).options(storage={"s3": {"region": "other"}})
    with pytest.raises(GraphError, match="storage is") as raised:
        dataset.zip(other)
    assert SECRET not in str(raised.value)
    with dataset.iterate() as rows:
        next(rows)
        assert SECRET.encode() not in rows.state() and SECRET not in repr(rows.report())
    assert SECRET not in repr(_engine.StorageTable({"s3": {"token": SECRET}}))


def current() -> _engine.StorageTable | None:
    return _engine.storage_variable.get(None)


def table(**of: str) -> _engine.StorageTable:
    return _engine.StorageTable({scheme: {"region": region} for scheme, region in of.items()})


def test_blocks_hold_within_each_other() -> None:
    assert current() is None
    with hr.storage({"s3": {"region": "outer"}, "hdfs": {"region": "outer"}}):
        assert current() == table(s3="outer", hdfs="outer")
        with pytest.raises(KeyError), hr.storage({"s3": {"region": "inner"}}):
            assert current() == table(s3="inner", hdfs="outer")
            raise KeyError
        assert current() == table(s3="outer", hdfs="outer")
    assert current() is None


def test_blocks_are_a_thread_s_and_a_task_s() -> None:
    seen: list[Any] = []
    with hr.storage({"s3": {"region": "here"}}):
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen == [None]

    async def work(region: str) -> bool:
        with hr.storage({"s3": {"region": region}}):
            await asyncio.sleep(0)
            return current() == table(s3=region)

    async def both() -> list[bool]:
        return list(await asyncio.gather(work("one"), work("two")))

    assert asyncio.run(both()) == [True, True]


def test_functions_of_a_run_have_its_settings() -> None:
    def region(x: Any) -> int:
        return int(current() == table(s3="here"))

    dataset = hr.Range(3).map(region, "value", types={"value": "int64"})
    with hr.storage({"s3": {"region": "here"}}):
        assert [int(row["value"]) for row in dataset] == [1, 1, 1]
    assert [int(row["value"]) for row in dataset.iterate(storage={"s3": {"region": "here"}})] == [1, 1, 1]
    assert [int(row["value"]) for row in dataset.iterate()] == [0, 0, 0]
    assert current() is None


def test_worker_processes_have_the_settings_of_the_run() -> None:
    given = {"s3": {"region": "here", "timeout": 2, "anonymous": True}, "hdfs://n/": {"user": "u"}}
    made = _engine.StorageTable(given)
    assert _engine.StorageTable(made.settings()) == made

    wanted = made.settings()

    def region(x: Any) -> int:
        table = _engine.storage_variable.get(None)
        return int(table is not None and table.settings() == wanted)

    dataset = hr.Range(3).map(region, "value", types={"value": "int64"}, processes=1)
    with hr.storage(given):
        assert [int(row["value"]) for row in dataset] == [1, 1, 1]
    assert [int(row["value"]) for row in dataset.iterate(storage=given)] == [1, 1, 1]
    assert [int(row["value"]) for row in dataset] == [0, 0, 0]


def test_sources_read_and_run_with_settings_of_their_own(tmp_path: pathlib.Path) -> None:
    seen: list[bool] = []
    (tmp_path / "rows.csv").write_text("x\n1\n")

    def region(x: Any) -> int:
        return int(current() == table(s3="here"))

    given = {"s3": {"region": "here"}}
    for source in (hr.Csv(tmp_path / "rows.csv", storage=given), hr.open(tmp_path / "rows.csv", storage=given)):
        assert "storage={'s3': …}" in source.explain()
        seen += [bool(row["x"]) for row in source.map(region, "x", types={"x": "int64"})]
    assert seen == [True, True]
    with pytest.raises(GraphError, match="Csv: storage is a str"):
        hr.Csv(tmp_path / "rows.csv", storage=SECRET)  # type: ignore[arg-type]


def test_paths_in_settings_are_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.chdir(tmp_path)
    with hr.storage({"s3": {"ca_file": "ca.pem", "object_cache": tmp_path / "c", "object_cache_bytes": "1GB"}}):
        cache = str(tmp_path / "c")
        held: dict[str, Any] = {"ca_file": str(tmp_path / "ca.pem"), "object_cache": cache, "object_cache_bytes": 10**9}
        assert current() == _engine.StorageTable({"s3": held})


@pytest.fixture(autouse=True)
def no_settings_are_left() -> Iterator[None]:
    yield
    assert current() is None
