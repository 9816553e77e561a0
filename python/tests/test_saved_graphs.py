"""Graphs in files: written completely or not at all, read back unchanged, and refused if they are damaged."""

import contextlib
import errno
import functools
import json
import operator
import os
import re
import resource
import stat
import types
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import values

import headrace as hr
from headrace import _engine
from headrace import transforms as T
from headrace import vision as V
from headrace.__main__ import main
from headrace._files.system_error import system_error

SMALL = hr.Range(5).batch(2)


def nested(terms):
    return functools.reduce(operator.or_, [hr.col("value") == number for number in range(terms)])


def test_json_holds_nested_expressions(tmp_path):
    pipeline = hr.Range(300).filter(nested(240))
    (tmp_path / "graph.json").write_text(pipeline.to_json())
    assert json.loads(pipeline.to_json())["nodes"][0]["op"] == "Range"
    loaded = hr.load(tmp_path / "graph.json")
    assert loaded.to_json() == pipeline.to_json()
    assert values(loaded) == list(range(240))


def test_expressions_too_deep_are_refused_as_they_are_written():
    with pytest.raises(hr.GraphError, match=r"nested more than 250 deep; use several filters, or isin\(…\)"):
        nested(20_000)


def test_graphs_too_deep_are_refused(tmp_path):
    pipeline = hr.Range(5).shuffle(2)
    for _ in range(12_000):
        pipeline = pipeline.take(9)
    for use in (list, len, lambda pipeline: pipeline.explain(), lambda pipeline: pipeline.save(tmp_path / "deep.hrg")):
        with pytest.raises(hr.GraphError, match="it is 12002 operators deep; at most 1000"):
            use(pipeline)
    assert pipeline.to_json() and pipeline.to_text() and pipeline.to_dot()
    (tmp_path / "deep.json").write_text(pipeline.to_json())
    with pytest.raises(hr.GraphError, match="12002 operators deep"):
        hr.load(tmp_path / "deep.json")


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """What is written beyond is an error of the system, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "graph.hrg"
    SMALL.save(path)
    before = path.read_bytes()
    with files_of_at_most(10), pytest.raises(hr.DataError, match=f"cannot save to {path}: .*File too large"):
        hr.Range(7).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["graph.hrg"]


@pytest.mark.parametrize("call", ["append", "commit"])
def test_an_interrupt_while_a_file_is_written_leaves_the_old_one(tmp_path, monkeypatch, call):
    path = tmp_path / "graph.hrg"
    SMALL.save(path)
    before = path.read_bytes()

    class Interrupted:
        def __init__(self, *given, **named):
            self._stream = _engine.OutputStream(*given, **named)

        def __getattr__(self, name):
            if name == call:
                raise KeyboardInterrupt
            return getattr(self._stream, name)

    monkeypatch.setattr("headrace._files.whole_file._engine", types.SimpleNamespace(OutputStream=Interrupted))
    with pytest.raises(KeyboardInterrupt):
        hr.Range(7).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["graph.hrg"]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, hr.NotFoundError),
        (errno.EPERM, hr.NotFoundError),
        (errno.EDQUOT, hr.ResourceError),
        (errno.EMFILE, hr.ResourceError),
        (errno.ENXIO, hr.UnsupportedError),
        (errno.EIO, hr.DataError),
    ],
)
def test_an_error_of_the_system_has_the_kind_that_the_engine_gives_it(tmp_path, monkeypatch, number, kind):
    path = tmp_path / "graph.hrg"
    SMALL.save(path)

    def fails(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("builtins.open", fails)
    with pytest.raises(kind, match=f"no graph at {path}: {os.strerror(number)}"):
        hr.load(path)


def test_where_nothing_can_be_saved(tmp_path):
    for path, kind, why in [
        (tmp_path / "nowhere" / "graph.hrg", hr.NotFoundError, ".* has no 'nowhere'"),
        (tmp_path, hr.NotFoundError, "Is a directory"),
        ("/dev/full", hr.ResourceError, "No space left on device"),
    ]:
        with pytest.raises(kind, match=f"cannot save to {path}: {why}"):
            SMALL.save(path)


def test_a_saved_file_is_as_others(tmp_path):
    path = tmp_path / "graph.hrg"
    mask = os.umask(0o027)
    try:
        SMALL.save(path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link = tmp_path / "link.hrg"
    link.symlink_to("graph.hrg")
    hr.Range(7).save(link)
    assert link.is_symlink() and len(hr.load(path)) == 7
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    with pytest.raises(hr.NotFoundError, match="cannot save to"):
        SMALL.save(tmp_path / "nowhere" / "graph.hrg")


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        SMALL.save(pipe)
        assert _engine.Graph.parse(os.read(reader, 1 << 16)).text() == SMALL.to_text()
    finally:
        os.close(reader)


def test_only_a_regular_file_is_loaded(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), "/dev/zero"):
        with pytest.raises(
            hr.UnsupportedError, match=f"{path} is a pipe, a socket or a device, where a file is expected"
        ):
            hr.load(path)
    with pytest.raises(hr.NotFoundError, match="Is a directory"):
        hr.load(tmp_path)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the graph is empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "no Headrace graph, or it is damaged"),
        (b"PK\x03\x04 an archive", "no Headrace graph, or it is damaged"),
        (os.urandom(1000), "Headrace graph"),
        (b"{}", "does not name its format|empty"),
        (b'{"format": 9}', "the graph has format 9; this Headrace reads format 2: upgrade Headrace"),
        (b"\x08\x09", "the graph has format 9; this Headrace reads format 2: upgrade Headrace"),
        (b'{"nodes": [', "this is not the JSON of a Headrace graph: parse error at line 1"),
        (b'{"format": 1}', "the graph has format 1, whose operators drew other random numbers.*make it anew"),
        (b'{"format": 2, "\xff": 2}', "utf-8"),
        (b"[" * 1_000_000, "no Headrace graph"),
        (b'{"nodes": ' * 100_000, "this is not the JSON of a Headrace graph"),
    ],
)
def test_what_is_no_graph_of_this_version_is_refused(tmp_path, data, why):
    path = tmp_path / "graph.hrg"
    path.write_bytes(data)
    with pytest.raises(hr.GraphError, match=why) as caught:
        hr.load(path)
    assert caught.value.file == str(path)


BEYOND = 2**53 + 1


def test_whole_numbers_are_not_rounded():
    numbers = hr.Numpy({"value": np.arange(3, dtype=np.int64)})
    assert values(numbers.map(T.Fill(BEYOND), "value")) == [BEYOND] * 3
    assert values(numbers.map(T.Fill(-(2**63)), "value")) == [-(2**63)] * 3
    rows = hr.Generator(lambda: (np.full(n, BEYOND) for n in (1, 2)), {"value": ("int64", (None,))})
    (batch,) = rows.batch(2, pad=True, pad_value=BEYOND)
    assert batch["value"].tolist() == [[BEYOND, BEYOND]] * 2
    (row,) = rows.take(1).map(T.PadEnd((2,), value=BEYOND), "value")
    assert row["value"].tolist() == [BEYOND, BEYOND]
    assert [type(value) for value in values(numbers.map([T.TypeCast("float32"), T.Fill(1)], "value"))] == [float] * 3
    with pytest.raises(hr.GraphError, match="value = 128 does not fit dtype int8"):
        list(numbers.map([T.TypeCast("int8"), T.Fill(128)], "value"))
    assert values(hr.Range(BEYOND - 1, BEYOND + 2).filter(hr.col("value").isin([BEYOND]))) == [BEYOND]
    with pytest.raises(ValueError, match="give whole numbers alone"):
        hr.col("value").isin([BEYOND, 0.5])


def test_graphs_are_local_files_by_path_or_uri(tmp_path):
    SMALL.save(f"file://{tmp_path}/grün.hrg")
    assert values(hr.load(tmp_path / "grün.hrg")) == values(SMALL)
    assert hr.load(f"file://{tmp_path}/grün.hrg").to_json() == SMALL.to_json()
    for call in (SMALL.save, hr.load):
        with pytest.raises(
            hr.UnsupportedError, match="no file system for nosuch://; there is one for plain paths and file"
        ):
            call("nosuch://bucket/graph.hrg")
        with pytest.raises(hr.GraphError, match="NUL"):
            call("graph\0.hrg")


def test_a_read_only_file_system_is_no_fault_of_the_data():
    raised = system_error("cannot save to g.hrg", OSError(errno.EROFS, os.strerror(errno.EROFS)))
    assert isinstance(raised, hr.NotFoundError)
    assert str(raised) == "cannot save to g.hrg: Read-only file system"


def written_by(folder) -> dict[str, tuple[hr.Dataset, str]]:
    """Graphs whose runs write, and what they write, in words and as a file."""
    (folder / "photos/a").mkdir(parents=True)
    (folder / "photos/a/1.jpg").touch()
    hr.Numpy({"data": np.array([b"one", b"two"], object)}).write_records(folder / "set.rec")
    (folder / "set.idx").unlink()
    return {
        "listing": (hr.ImageFolder(folder / "photos", listing=folder / "listing"), f"the listing {folder}/listing"),
        "kept": (hr.Range(3).cache("1MiB", folder / "kept"), f"rows in the folder {folder}/kept"),
        "set.idx": (hr.RecordFile(str(folder / "set.rec"), index="build"), f"indices beside {folder}/set.rec"),
    }


def test_explaining_writes_nothing(tmp_path):
    for name, (dataset, _) in written_by(tmp_path).items():
        dataset.save(tmp_path / "graph.hrg")
        for explained in (
            lambda: hr.load(tmp_path / "graph.hrg").explain(),
            lambda: hr.load(tmp_path / "graph.hrg").explain(passes=True),
            lambda: main(["explain", str(tmp_path / "graph.hrg")]),
        ):
            explained()
            assert not (tmp_path / name).exists(), name
        # A run writes what it did not.
        list(hr.load(tmp_path / "graph.hrg"))
        assert (tmp_path / name).exists(), name


def test_a_graph_that_writes_can_be_refused(tmp_path):
    path = tmp_path / "graph.hrg"
    for name, (dataset, what) in written_by(tmp_path).items():
        dataset.batch(2).save(path)
        refused = re.escape(f"{path}: {dataset._node.op}[")
        with pytest.raises(
            hr.GraphError, match=rf"{refused}\d\] may write {re.escape(what)}; load was given writes=False"
        ):
            hr.load(path, writes=False)
        assert not (tmp_path / name).exists(), name
    hr.ImageFolder(tmp_path / "photos").cache("1MiB").save(path)
    assert len(hr.load(path, writes=False)) == 1
    with pytest.raises(hr.GraphError, match="load: writes is 'no'; it must be True or False"):
        hr.load(path, writes="no")  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["bench", "show"])
def test_commands_refuse_a_graph_that_writes(tmp_path, capsys, command):
    hr.Range(3).cache("1MiB", tmp_path / "kept").save(tmp_path / "graph.hrg")
    out = ["--out", str(tmp_path / "sheet.png")] if command == "show" else []
    assert main([command, str(tmp_path / "graph.hrg"), *out, "--no-writes"]) == 1
    assert f"may write rows in the folder {tmp_path}/kept" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


def test_a_link_of_another_user_is_not_written_through(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a link away")
    (tmp_path / "kept").write_text("as it was")
    (tmp_path / "graph.hrg").symlink_to("kept")
    os.lchown(tmp_path / "graph.hrg", 12345, 12345)
    with pytest.raises(
        hr.UnsupportedError, match="is a symbolic link of user 12345, and this process belongs to user 0"
    ):
        SMALL.save(tmp_path / "graph.hrg")
    assert (tmp_path / "kept").read_text() == "as it was"


# What is left of a graph that is cut off between two operators is a graph, too.
def test_what_was_cut_off_is_refused_at_any_length(tmp_path):
    path = tmp_path / "cut.hrg"
    SMALL.save(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(hr.GraphError) as refused:
            hr.load(path)
        assert refused.value.file == str(path)


def test_preprocessing_that_was_cut_off_is_refused_at_any_length(tmp_path):
    path = tmp_path / "cut.hrg"
    hr.InferenceGraph([V.Decode(), V.Resize(8)], {"image": "bytes"}).save(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(hr.Error, match=r"cut\.hrg"):
            hr.inference_of(path)
