"""Folders that others may write to: links, pipes and files planted under the names that packing uses, and texts in them
that nobody here wrote."""

import json
import os
import pathlib
import resource
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable

import numpy as np
import pytest

import headrace as hr
from headrace import _engine, _formats, mx, pack
from headrace import vision as V
from headrace.__main__ import main
from headrace._files.opened_file import open_own_file
from headrace._files.whole_file import write_whole
from headrace.pack import list_packing
from headrace.pack.recipe import Recipe

KEPT = b"as it was\n"


@pytest.fixture
def kept(tmp_path: pathlib.Path) -> pathlib.Path:
    """A file of this user's, to which links are planted."""
    path = tmp_path / "kept"
    path.write_bytes(KEPT)
    return path


@pytest.fixture
def shared(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with an image, its list, and a file of its record."""
    folder = tmp_path / "shared"
    (folder / "root/a").mkdir(parents=True)
    (folder / "root/a/1.png").write_bytes(V.EncodePng()(np.zeros((4, 4, 3), np.uint8)))
    (folder / "set.lst").write_text("0\t0\ta/1.png\n")
    return folder


def write_records(folder: pathlib.Path) -> None:
    hr.Numpy({"data": np.array([b"x", b"y"], object)}).write_records(folder / "set.rec")


def convert(folder: pathlib.Path, name: str = "out.tfrecord") -> None:
    hr.Range(3).write_tfrecord(folder / "in.tfrecord")
    _formats.convert(_formats.Conversion(str(folder / "in.tfrecord"), str(folder / name), overwrite=True))


def convert_to_tar(folder: pathlib.Path) -> None:
    convert(folder, "out.tar")


def write_by_mx(folder: pathlib.Path) -> None:
    with mx.recordio.MXIndexedRecordIO(folder / "set.idx", folder / "set.rec", "w") as record:
        record.write_idx(0, b"abcd")


def pack_images(folder: pathlib.Path, resume: bool = False) -> None:
    pack.pack_images(folder / "set.lst", folder / "root", resume=resume)


def index(folder: pathlib.Path) -> None:
    if not (folder / "set.rec").exists():
        (folder / "set.rec").write_bytes(b"")
    assert main(["index", str(folder / "set.rec")]) == 0


def make_list(folder: pathlib.Path) -> None:
    pack.make_lists(folder / "made", folder / "root", recursive=True)


def profile(folder: pathlib.Path) -> None:
    assert len(list(hr.Range(3).profile(folder))) == 3


PLACES: list[tuple[Callable[[pathlib.Path], None], str]] = [
    *((write_records, name) for name in ("set.rec.draft", "set.idx.draft", "set.rec.journal", "set.idx", "set.rec")),
    *((pack_images, name) for name in ("set.rec.draft", "set.idx.draft", "set.rec.journal", "set.idx", "set.rec")),
    *((write_by_mx, name) for name in ("set.rec.draft", "set.idx", "set.rec")),
    *((convert, name) for name in ("out.tfrecord.draft", "out.tfrecord.journal", "out.tfrecord")),
    *((convert_to_tar, name) for name in ("out.tar.draft", "out.tar.journal", "out.tar")),
    (index, "set.idx"),
    (make_list, "made.lst"),
    (profile, "trace.json"),
    (profile, "report.html"),
]


@pytest.mark.parametrize(("write", "name"), PLACES)
@pytest.mark.parametrize("kind", ["link", "second name"])
def test_what_a_planted_name_leads_to_is_not_written(shared, kept, write, name, kind):
    if kind == "link":
        (shared / name).symlink_to(kept)
    else:
        os.link(kept, shared / name)
    try:
        write(shared)
    except hr.UnsupportedError as error:
        why = "is a symbolic link" if kind == "link" else "has 2 names"
        assert f"{shared}/{name} {why}" in str(error) and "remove it" in str(error)
    else:
        assert not (shared / name).is_symlink()
    assert kept.read_bytes() == KEPT


@pytest.mark.parametrize("name", ["set.rec.draft", "set.idx.draft", "set.rec.journal"])
def test_going_on_refuses_what_is_not_ours(shared, kept, name):
    for each in ("set.rec.draft", "set.idx.draft", "set.rec.journal"):
        (shared / each).touch()
    (shared / name).unlink()
    (shared / name).symlink_to(kept)
    with pytest.raises(hr.UnsupportedError, match=f"{name} is a symbolic link"):
        pack_images(shared, resume=True)
    (shared / name).unlink()
    os.mkfifo(shared / name)
    with pytest.raises(hr.UnsupportedError, match=f"{name} is a pipe"):
        pack_images(shared, resume=True)
    if os.geteuid() == 0:
        (shared / name).unlink()
        (shared / name).touch()
        os.chown(shared / name, 12345, 12345)
        with pytest.raises(hr.UnsupportedError, match=f"{name} belongs to user 12345"):
            pack_images(shared, resume=True)
    assert kept.read_bytes() == KEPT and not (shared / "set.rec").exists()


@pytest.mark.parametrize("name", ["set.rec.draft", "set.idx.draft"])
def test_a_planted_file_does_not_become_the_result(shared, name):
    with open(shared / name, "wb") as planted:
        write_records(shared)
        result = shared / name.removesuffix(".draft")
        assert result.stat().st_ino != os.fstat(planted.fileno()).st_ino
        planted.write(b"more")
    assert list(hr.RecordFile(str(shared / "set.rec")))[0]["record"] == b"x"


def checkpoint(**changed: object) -> bytes:
    fields = {"position": 0, "records": 0, "record_bytes": 0, "index_bytes": 0, "crc": 0, "skipped": []} | changed
    return json.dumps(fields).encode()


JOURNALS = {
    "not JSON": b"{",
    "other fields": b'{"x": 1}',
    "no dict": b"[1]",
    "too deep": b"[" * 100_000,
    "too deep within": b'{"skipped": ' + b"[" * 100_000,
    "too many digits": b'{"position": ' + b"1" * 5000 + b"}",
    "a field more": checkpoint(more=1),
    "a float": checkpoint(position=0.5),
    "a bool": checkpoint(position=True),
    "a negative number": checkpoint(record_bytes=-4),
    "beyond 64 bits": checkpoint(record_bytes=1 << 70),
    "beyond the file": checkpoint(record_bytes=1 << 40),
    "skipped without a reason": checkpoint(skipped=[["a.png"]]),
    "skipped numbers": checkpoint(skipped=[[1, 2]]),
    "skipped a text": checkpoint(skipped="ab"),
    "no UTF-8": b'{"position": "\xff"}',
}


@pytest.mark.parametrize("text", JOURNALS.values(), ids=JOURNALS.keys())
def test_a_journal_is_checked_before_it_is_used(shared, text):
    recipe = Recipe(False, 0, False, 95, 1, ".jpg").checked("pack")
    job = list_packing._job(
        str(shared / "set.lst"), str(shared / "root"), recipe, list_packing.Labels(), list_packing.Part(0, 1)
    )
    for name in ("set.rec.draft", "set.idx.draft"):
        (shared / name).touch()
    line = b"%08x %s\n" % (zlib.crc32(text), text)
    (shared / "set.rec.journal").write_bytes(json.dumps({"job": job}).encode() + b"\n" + line)
    packed = pack.pack_images(shared / "set.lst", shared / "root", resume=True)
    assert (packed.kept, packed.records) == (0, 1)
    assert sorted(each.name for each in shared.glob("set.*")) == ["set.idx", "set.lst", "set.rec"]


# ---- what is read ----


def pipe(path: pathlib.Path) -> None:
    os.mkfifo(path)


def endless(path: pathlib.Path) -> None:
    path.symlink_to("/dev/zero")


def sparse(path: pathlib.Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)


def many_digits(path: pathlib.Path) -> None:
    path.write_text("1" * 5000 + "\t0\n")


def no_utf8(path: pathlib.Path) -> None:
    path.write_bytes(b"\xff\t0\n")


def command(*arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "headrace", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )


@pytest.mark.parametrize("make", [pipe, endless, sparse, many_digits, no_utf8])
def test_an_index_is_read_only_if_it_may_be_one(shared, make):
    write_records(shared)
    (shared / "set.idx").unlink()
    make(shared / "set.idx")
    for arguments in (["verify", "--raw"], ["inspect"]):
        done = command(*arguments, shared / "set.rec")
        assert "Traceback" not in done.stderr, done.stderr
        assert "set.idx" in done.stdout and "2 records" in done.stdout
        assert done.returncode == (1 if arguments[0] == "verify" else 0)
    if make is not sparse:
        with pytest.raises((hr.UnsupportedError, hr.DataError), match="set.idx"):
            mx.recordio.MXIndexedRecordIO(shared / "set.idx", shared / "set.rec", "r")


@pytest.mark.parametrize("name", ["set.rec.journal", "set.rec.draft"])
def test_a_pipe_does_not_hold_the_packer(shared, name):
    os.mkfifo(shared / name)
    for more in ([], ["--resume"]):
        done = command("pack", shared / "set", shared / "root", *more)
        assert done.returncode == 1 and f"{name} is a pipe" in done.stderr
        assert "Traceback" not in done.stderr and "--resume goes on" not in done.stderr, done.stderr


def test_a_list_that_is_a_pipe_is_refused(shared):
    os.mkfifo(shared / "pipe.lst")
    for arguments in (["im2rec"], ["im2rec", "nsplit=2"]):
        done = command(arguments[0], shared / "pipe.lst", shared / "root", shared / "out.rec", *arguments[1:])
        assert done.returncode == 1 and "pipe.lst" in done.stderr and "Traceback" not in done.stderr


# ---- what is written ----


def test_unpacking_enters_only_folders_that_it_made(shared, tmp_path):
    pack_images(shared)
    (tmp_path / "elsewhere").mkdir()
    out = shared / "out"
    out.mkdir()
    made = os.mkdir

    def planting(path, *arguments):
        # Between the look at the folder and the first file.
        if os.path.basename(path) == "0":
            os.symlink(tmp_path / "elsewhere", path)
        made(path, *arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "mkdir", planting)
        assert main(["unpack", str(shared / "set.rec"), str(out)]) == 1
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_replaced_file_does_not_keep_the_permissions_of_others(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"planted")
    path.chmod(0o666)
    write_whole(path, b"ours", named=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666
    if os.geteuid() != 0:
        return
    os.chown(path, 12345, 12345)
    mask = os.umask(0o022)
    try:
        write_whole(path, b"ours", named=False)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644 and path.stat().st_uid == 0


def test_a_name_that_can_be_foreseen_is_not_written_through(tmp_path, kept):
    (tmp_path / "link").symlink_to(kept)
    write_whole(tmp_path / "link", b"new", named=False)
    assert kept.read_bytes() == KEPT and (tmp_path / "link").read_bytes() == b"new"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(hr.UnsupportedError, match="pipe is a pipe"):
        write_whole(tmp_path / "pipe", b"new", named=False)


def test_only_files_of_this_user_are_gone_on_with(tmp_path, kept):
    with open_own_file(kept) as file:
        assert file.read() == KEPT
    (tmp_path / "a.link").symlink_to(kept)
    os.link(kept, tmp_path / "a.second")
    for draft, why in ((".link", "is a symbolic link"), (".second", "has 2 names")):
        with pytest.raises(hr.UnsupportedError, match=f"a{draft} {why}"):
            open_own_file(tmp_path / f"a{draft}")
        with pytest.raises(hr.UnsupportedError, match=f"a{draft} {why}"):
            _engine.OutputStream.resume(os.fsencode(tmp_path / "a"), draft, 0)
    assert kept.read_bytes() == KEPT


def test_caches_are_for_their_owner_alone(tmp_path):
    mask = os.umask(0)
    try:
        for _ in range(2):
            assert len(list(hr.Range(50).batch(2).cache("1MiB", tmp_path / "above/kept"))) == 25
    finally:
        os.umask(mask)
    made = list((tmp_path / "above/kept").rglob("*"))
    modes = {each.is_dir(): stat.S_IMODE(each.stat().st_mode) for each in made}
    assert len(made) >= 3 and modes == {True: 0o700, False: 0o600}
