"""Files that are added, changed and removed while pipelines run over them."""

import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import headrace as hr


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A class of two files."""
    for name in ("a", "b"):
        path = tmp_path / "data/class" / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
    return tmp_path / "data"


SOURCES: dict[str, Callable[[pathlib.Path], hr.Dataset]] = {
    "ImageFolder": lambda folder: hr.ImageFolder(folder, columns=["path"]),
    "Files": lambda folder: hr.Files(str(folder / "**/*.jpg"), columns=["path"]),
    "Text": lambda folder: hr.Text(str(folder / "**/*.jpg")),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_loop_sees_what_changed_since_the_last_one(name: str, folder: pathlib.Path):
    dataset = SOURCES[name](folder)
    assert len(list(dataset)) == 2
    (folder / "class/c.jpg").write_text("c\n")
    assert len(list(dataset)) == 3
    (folder / "class/a.jpg").unlink()
    assert len(list(dataset)) == 2
    assert dataset.epoch == 3
    os.rename(folder / "class/b.jpg", folder / "class/z.jpg")
    rows = list(dataset)
    assert len(rows) == 2
    if name != "Text":
        assert str(rows[1]["path"]).endswith("z.jpg")
    shutil.rmtree(folder)
    with pytest.raises(hr.NotFoundError, match="data"):
        list(dataset)


def test_a_loop_sees_other_values_of_an_array():
    values = np.arange(4)
    dataset = hr.Numpy({"value": values})
    assert [int(row["value"]) for row in dataset] == [0, 1, 2, 3]
    values += 10
    assert [int(row["value"]) for row in dataset] == [10, 11, 12, 13]


def test_a_loop_over_what_stays_goes_on_with_its_engine(folder: pathlib.Path):
    dataset = hr.Files(str(folder / "**/*.jpg"))
    list(dataset)
    (parked,) = dataset._parked
    iterator = iter(dataset)
    assert iterator._engine is parked


def test_a_file_that_was_half_written_is_not_kept(tmp_path: pathlib.Path):
    paths = [tmp_path / f"{i}.bin" for i in range(4)]
    for path in paths:
        path.write_bytes(bytes(100_000))

    def pipeline() -> hr.Dataset:
        return hr.Files(str(tmp_path / "*.bin")).cache(directory=tmp_path / "kept")

    iterator = pipeline().iterate(executor="pull")
    next(iterator)
    paths[3].write_bytes(bytes(500))
    assert [len(row["data"]) for row in iterator] == [100_000, 100_000, 500]
    paths[3].write_bytes(bytes(100_000))
    for _ in range(2):
        assert [len(row["data"]) for row in pipeline()] == [100_000] * 4


def test_a_text_that_shrinks_is_an_error(tmp_path: pathlib.Path):
    path = tmp_path / "lines.txt"
    path.write_text("line\n" * 1_000_000)
    iterator = hr.Text(str(path)).batch(100).iterate(executor="pull")
    next(iterator)
    os.truncate(path, 2_000_000)
    with pytest.raises(hr.DataError, match=r"lines\.txt was written to while it was read"):
        list(iterator)


def test_even_comes_with_the_state():
    pipeline = hr.Range(11).batch(2)
    for even in ("off", "drop", "pad"):
        iterator = pipeline.iterate(shard=(1, 3), even=even)
        next(iterator)
        state, rest = iterator.state(), [batch["value"].tolist() for batch in iterator]
        for given in ({}, {"even": even}):
            resumed = pipeline.iterate(shard=(1, 3), state=state, **given)
            assert [batch["value"].tolist() for batch in resumed] == rest
        other = "pad" if even == "drop" else "drop"
        with pytest.raises(hr.StateError, match=f'even="{even}", not "{other}"'):
            pipeline.iterate(shard=(1, 3), state=state, even=other)


NUL = {
    "pattern": lambda: hr.Files("a\0.jpg").schema,
    "lines": lambda: hr.Text("a\0.txt").schema,
    "root": lambda: hr.ImageFolder("a\0/b").schema,
    "listing": lambda: hr.ImageFolder("a", listing="b\0").schema,
    "class": lambda: hr.ImageFolder("a", classes={"b\0": 1}).schema,
    "directory": lambda: hr.Range(3).cache(directory="a\0/b").schema,
    "iterate": lambda: hr.Range(3).iterate(cache="a\0"),
    "profile": lambda: hr.Range(3).profile("a\0"),
    "save": lambda: hr.Range(3).save("a\0"),
    "load": lambda: hr.load("a\0"),
}


@pytest.mark.parametrize("where", NUL)
def test_a_nul_in_a_path_is_refused(where: str):
    with pytest.raises(hr.GraphError, match="contains a NUL character") as raised:
        NUL[where]()
    assert "\0" not in str(raised.value)


def test_only_regular_files_are_rows(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    os.mkfifo(folder / "class/pipe.jpg")
    # A socket's path must be short.
    monkeypatch.chdir(folder / "class")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.jpg")
        assert len(list(hr.ImageFolder(folder))) == 2
        assert len(list(hr.Files(str(folder / "class/*.jpg")))) == 2
        with pytest.raises(hr.NotFoundError, match="is a pipe, a socket or a device"):
            list(hr.Files(str(folder / "class/pipe.jpg")))
        for name in ("pipe", "socket"):
            with pytest.raises(hr.UnsupportedError, match="is a pipe, a socket or a device"):
                list(hr.ImageFolder(folder, listing=folder / f"class/{name}.jpg"))


def test_a_pipe_in_a_cache_folder_holds_up_nobody(tmp_path: pathlib.Path):
    pipeline = hr.Range(9).cache(directory=tmp_path)
    list(pipeline)
    (kept,) = tmp_path.iterdir()
    os.mkfifo(kept / "x.rows")
    os.mkfifo(kept / "y.list")
    assert len(list(hr.Range(9).cache(directory=tmp_path))) == 9


def test_a_cache_folder_of_many_writers_takes_few_descriptors(tmp_path: pathlib.Path):
    def pipeline() -> hr.Dataset:
        return hr.Range(9).cache("1MiB", tmp_path)

    list(pipeline())
    (written,) = tmp_path.glob("*/*.rows")
    for i in range(400):
        shutil.copy(written, written.with_name(f"{i:016x}.rows"))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 64, before[1]))
    try:
        assert len(list(pipeline())) == 9
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert len(list(tmp_path.glob("*/*.rows"))) < 40


def test_a_damaged_cache_in_order_makes_its_rows_again(tmp_path: pathlib.Path):
    def pipeline() -> hr.Dataset:
        return hr.Range(40).shuffle(9).cache(0, tmp_path).batch(3)

    expected = [batch["value"].tolist() for batch in pipeline()]
    (written,) = tmp_path.glob("*/*.rows")
    damaged = bytearray(written.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    written.write_bytes(damaged)
    looped = pipeline()
    for _ in range(3):
        assert [batch["value"].tolist() for batch in looped] == expected
    # The second loop kept them again, and the engine of the third runs ahead.
    assert re.search(r"\d+ found, 41 made", looped.explain())


@pytest.fixture
def fan(tmp_path: pathlib.Path) -> pathlib.Path:
    """26 links, which reach 20 files by 8,192 paths each."""
    levels = 12
    for level in range(levels):
        (tmp_path / f"store/{level}").mkdir(parents=True)
        for name in ("a", "b"):
            (tmp_path / f"store/{level}/{name}").symlink_to(f"../{level + 1}")
    (tmp_path / f"store/{levels}").mkdir()
    for number in range(20):
        (tmp_path / f"store/{levels}/{number}.jpg").touch()
    (tmp_path / "photos").mkdir()
    for name in ("c", "d"):
        (tmp_path / f"photos/{name}").symlink_to("../store/0")
    return tmp_path / "photos"


@pytest.mark.parametrize(
    "call",
    [
        lambda folder: len(hr.ImageFolder(folder)),
        lambda folder: len(hr.Files(str(folder / "**/*.jpg"))),
        lambda folder: len(hr.Files(f"{folder}/{'*/' * 13}*.jpg")),
        lambda folder: hr.pack.make_lists(folder.parent / "set", folder, recursive=True),
    ],
)
def test_links_do_not_multiply_files(call: Callable[[pathlib.Path], object], fan: pathlib.Path):
    with pytest.raises(hr.NotFoundError, match="symbolic links lead to this folder in more than 16 ways"):
        call(fan)


class Alarm(Exception):
    pass


@contextlib.contextmanager
def alarm() -> Iterator[None]:
    """Soon a signal's handler raises, as for Ctrl-C."""

    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def endless(tmp_path: pathlib.Path) -> pathlib.Path:
    """Links within linked folders: seconds of walking, although links reach no folder too often."""
    for group in range(60):
        for level in range(4):
            folder = tmp_path / f"levels/{group}/{level}"
            folder.mkdir(parents=True)
            for name in ("a", "b"):
                (folder / name).symlink_to(tmp_path / f"levels/{group}/{level + 1}")
        for number in range(200):
            (tmp_path / f"levels/{group}/4/{number}").mkdir(parents=True)
        (tmp_path / f"photos/{group}").mkdir(parents=True)
        (tmp_path / f"photos/{group}/0").symlink_to(tmp_path / f"levels/{group}/0")
    return tmp_path / "photos"


@pytest.mark.parametrize(
    "call",
    [
        lambda folder: len(hr.ImageFolder(folder)),
        lambda folder: iter(hr.ImageFolder(folder)),
        lambda folder: hr.Files(str(folder / "**/*.jpg")).iterate(),
        lambda folder: hr.Text(str(folder / "**/*.txt")).explain(),
    ],
)
def test_a_signal_ends_a_listing(call: Callable[[pathlib.Path], object], endless: pathlib.Path):
    started = time.monotonic()
    with pytest.raises(Alarm), alarm():
        call(endless)
    assert time.monotonic() - started < 30


def test_file_uris_are_paths(folder: pathlib.Path):
    uri = f"file://{folder}"
    assert len(list(hr.ImageFolder(uri))) == 2
    assert len(list(hr.Files(f"{uri}/**/*.jpg"))) == 2
    assert len(list(hr.Text([f"{uri}/**/a.jpg", f"{uri}/**/b.jpg"]))) == 2
    cached = hr.Files(f"{uri}/**/*.jpg").cache("1MiB", f"file://{folder.parent}/cache")
    assert len(list(cached)) == 2
    assert list((folder.parent / "cache").iterdir())
    listed = hr.ImageFolder(folder, listing=f"file://{folder.parent}/listing")
    assert len(list(listed)) == 2
    assert (folder.parent / "listing").exists()


REMOTE: dict[str, Callable[[pathlib.Path], hr.Dataset]] = {
    "ImageFolder": lambda folder: hr.ImageFolder("nosuch://bucket/photos"),
    "Files": lambda folder: hr.Files("nosuch://bucket/*.jpg"),
    "Text": lambda folder: hr.Text("nosuch://bucket/*.txt"),
    "RecordFile": lambda folder: hr.RecordFile("nosuch://bucket/a.rec", index="build"),
    "ImageRecord": lambda folder: hr.ImageRecord("nosuch://bucket/a.rec"),
    "ImageList": lambda folder: hr.ImageList("nosuch://bucket/a.lst"),
    "listing": lambda folder: hr.ImageFolder(folder, listing="nosuch://bucket/listing"),
    "cache": lambda folder: hr.Range(3).cache("1MiB", "nosuch://bucket/cache"),
}


@pytest.mark.parametrize("name", REMOTE)
def test_a_scheme_without_a_file_system_is_named(name: str, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    with pytest.raises(hr.UnsupportedError, match="nosuch://bucket/.*plain paths and file://"):
        list(REMOTE[name](folder))
    assert not (folder / "nosuch:").exists()


def test_shuffled_text_gives_every_line_once(tmp_path: pathlib.Path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("".join(f"{name}{number}\n" for number in range(300)))
    text = hr.Text(str(tmp_path / "*.txt"), shuffle=True, split_bytes=200)
    epochs = [[row["line"] for row in text.iterate(epoch=epoch)] for epoch in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1])
    assert len(set(epochs[0])) == 600
    assert epochs[0] != epochs[1] != sorted(epochs[1])
    assert epochs[0] == [row["line"] for row in text.iterate(epoch=0, workers=1)]
    ranks = [[row["line"] for row in text.iterate(shard=(rank, 50))] for rank in range(50)]
    assert sorted(sum(ranks, [])) == sorted(epochs[0])
    with pytest.raises(hr.UnsupportedError, match="even="):
        text.iterate(shard=(0, 2), even="drop")


def test_a_state_of_split_text_fits_its_own_ranks(tmp_path: pathlib.Path):
    (tmp_path / "a.txt").write_text("".join(f"{number}\n" for number in range(300)))
    text = hr.Text(str(tmp_path / "a.txt"), shuffle=True, split_bytes=200, window=0).batch(4)
    with text.iterate(shard=(1, 2)) as iterator:
        next(iterator)
        state = iterator.state()
        rest = [batch["line"].tolist() for batch in iterator]
    assert [batch["line"].tolist() for batch in text.iterate(shard=(1, 2), state=state)] == rest
    with pytest.raises(hr.StateError, match="Text"):
        text.iterate(shard=(0, 3), state=state)


def test_a_set_of_files_is_a_list_a_folder_or_texts_between_semicolons(tmp_path: pathlib.Path):
    for name in ("b.txt", "a.txt", "deeper/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    a, b, deeper = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "deeper"

    def lines(patterns: object) -> list[str]:
        return [str(row["line"]) for row in hr.Text(patterns)]  # type: ignore[arg-type]

    assert lines(tmp_path) == ["a.txt", "b.txt"]
    assert lines(f"{b};{a}") == lines([b, a]) == ["a.txt", "b.txt"]
    assert lines(f"{a};{deeper}") == ["a.txt", "deeper/c.txt"]
    (tmp_path / "a;b.txt").write_text("one file\n")
    assert lines(tmp_path / "a;b.txt") == ["one file"]
    assert lines(f"{tmp_path}/a[;]b.*;;{tmp_path}/a[;]?.txt") == ["one file"]
    assert lines(f"{tmp_path}/?[;]b.txt") == ["one file"]
    with pytest.raises(hr.NotFoundError, match=r"lost\.txt"):
        lines(f"{a};{tmp_path / 'lost.txt'}")
    assert len(list(hr.Files(deeper))) == 1
    assert len(list(hr.Csv(deeper, header=False, columns=["x"]))) == 1


def test_what_exists_under_the_very_name_is_meant(tmp_path: pathlib.Path):
    for name in ("runs[1]/x.txt", "runs1/y.txt", "a[1].txt", "a1.txt", "b?.txt", "bc.txt", "*.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")

    def lines(name: str) -> list[str]:
        return [str(row["line"]) for row in hr.Text(f"{tmp_path}/{name}")]

    for name in ("a[1].txt", "b?.txt", "*.txt"):
        assert lines(name) == [name]
    assert lines("runs[1]") == ["runs[1]/x.txt"]
    assert lines(f"runs[1];{tmp_path}/a[1].txt") == ["a[1].txt", "runs[1]/x.txt"]
    # Nothing has these names.
    assert lines("runs[12]/*") == ["runs1/y.txt"]
    assert lines("a[12].txt") == ["a1.txt"]
    assert [str(row["path"]) for row in hr.Files(tmp_path / "runs[1]", columns=["path"])] == [
        str(tmp_path / "runs[1]/x.txt")
    ]
