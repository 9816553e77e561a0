"""Files that the package writes: streams of the engine, sets of them, and their checksums."""

import os
import pathlib
import subprocess
import sys

import pytest

import headrace as hr
from headrace import _engine


def names(folder: pathlib.Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def kept(path: pathlib.Path, data: bytes) -> tuple[bytes, int]:
    stream = _engine.OutputStream(os.fsencode(path), ".draft")
    stream.append([data])
    stream.seal()
    size = stream.size
    stream.keep()
    return os.fsencode(path), size


def test_a_stream_takes_pieces_of_whatever_holds_bytes(tmp_path):
    stream = _engine.OutputStream(str(tmp_path / "a"))
    stream.append([b"one", bytearray(b"two"), memoryview(b"three")])
    assert stream.size == 11
    with pytest.raises(TypeError):
        stream.append(["text"])
    stream.commit()
    assert (tmp_path / "a").read_bytes() == b"onetwothree" and names(tmp_path) == ["a"]


def test_names_are_any_bytes(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\n"
    _engine.OutputStream(path).commit()
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff\n"]
    _engine.remove_file(path)
    _engine.remove_file(path)
    assert not os.listdir(tmp_path)


def test_the_head_is_written_again(tmp_path):
    stream = _engine.OutputStream(str(tmp_path / "a"), head=4)
    stream.append([b"????rest"])
    stream.rewrite(0, b"head")
    with pytest.raises(hr.InternalError, match="which may be written again"):
        stream.rewrite(2, b"too long")
    stream.commit()
    assert (tmp_path / "a").read_bytes() == b"headrest"


def test_nothing_follows_an_end(tmp_path):
    for end in ("commit", "discard"):
        stream = _engine.OutputStream(str(tmp_path / end))
        getattr(stream, end)()
        with pytest.raises(hr.ClosedError):
            stream.append([b"more"])
        stream.discard()
    assert names(tmp_path) == ["commit"]


def test_a_draft_is_gone_on_with(tmp_path):
    kept(tmp_path / "a", b"one, two")
    stream = _engine.OutputStream.resume(str(tmp_path / "a"), ".draft", 5)
    with pytest.raises(hr.UnsupportedError, match=r"a\.draft is being written by another"):
        _engine.OutputStream(str(tmp_path / "a"), ".draft")
    stream.append([b"three"])
    stream.commit()
    assert (tmp_path / "a").read_bytes() == b"one, three"


def test_a_set_is_named_together(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"old")
    files = [kept(tmp_path / name, name.encode() * 9) for name in ("a", "b")]
    with pytest.raises(hr.DataError, match="c: neither its draft nor the file of 9 bytes is there"):
        _engine.commit_set([*files, (os.fsencode(tmp_path / "c"), 9)], ".draft")
    assert (tmp_path / "a").read_bytes() == b"old" and (tmp_path / "b").read_bytes() == b"old"
    for _ in range(2):
        _engine.commit_set(files, ".draft")
        assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"a": b"a" * 9, "b": b"b" * 9}


def test_a_checksum_is_of_the_whole_file(tmp_path):
    (tmp_path / "a").write_bytes(b"123456789")
    assert _engine.file_checksum(str(tmp_path / "a")) == (9, 0xE3069283)
    (tmp_path / "b").write_bytes(bytes(9 << 20))
    first = _engine.file_checksum(str(tmp_path / "b"))
    with open(tmp_path / "b", "r+b") as file:
        file.seek(8 << 20)
        file.write(b"x")
    assert first[0] == 9 << 20 and _engine.file_checksum(str(tmp_path / "b"))[1] != first[1]
    with pytest.raises(hr.NotFoundError):
        _engine.file_checksum(str(tmp_path / "none"))


def test_a_forked_child_writes_files_of_its_own(tmp_path):
    """As the workers of a loader do, whose parent runs pipelines."""
    script = """
import os, numpy as np, headrace as hr, headrace.mx as mx
from headrace import _engine
rows = iter(hr.Range(1000).batch(2))
next(rows)
parents = _engine.OutputStream("parent")
child = os.fork()
if child == 0:
    hr.Range(3).save("graph.hrg")
    mx.nd.save("arrays", np.zeros(3))
    try:
        parents.commit()
    except hr.UnsupportedError as error:
        assert "the process that forked this one" in str(error)
        parents.discard()
        del parents
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
parents.append([b"the parent's"])
parents.commit()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=tmp_path, check=True)
    assert names(tmp_path) == ["arrays", "graph.hrg", "parent"]
    assert (tmp_path / "parent").read_bytes() == b"the parent's"
