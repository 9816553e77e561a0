"""Kills a process that writes, before each operation on files of the engine in turn, and looks at what is left.

    LD_PRELOAD=failing_calls.so python tests/faults/killed.py WRITER FIRST STEP LAST

Prints `point N` before each point and `done N` after the last one. What is left is the old files, or the new ones, or
some of either, but never old beside new ones; then a new process that goes on gives the new files and nothing else.
"""

import ctypes
import os
import pathlib
import shutil
import signal
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

import headrace as hr  # noqa: E402
from headrace import _engine, mx, pack  # noqa: E402
from headrace import vision as V  # noqa: E402

KILL = -1
# Writes the old files (0) or the new ones (1).
Writer = Callable[[pathlib.Path, int], None]


def payloads(version: int) -> list[bytes]:
    # Of other lengths, so that the indices differ.
    return [b"%d" % version * (3 + 9 * version + i) for i in range(7)]


def record_set(folder: pathlib.Path, version: int) -> None:
    rows = hr.Numpy({"record": np.array(payloads(version), object)})
    rows.write_records(folder / "set.rec", files=3, resume=version == 1)


def record_file(folder: pathlib.Path, version: int) -> None:
    rows = hr.Numpy({"record": np.array(payloads(version), object)})
    rows.write_records(folder / "set.rec", resume=version == 1)


def mind_set(folder: pathlib.Path, version: int) -> None:
    rows = hr.Numpy({"record": np.array(payloads(version), object)})
    rows.write_mindrecord(folder / "set", files=3, resume=version == 1)


def mxnet(folder: pathlib.Path, version: int) -> None:
    with mx.recordio.MXIndexedRecordIO(folder / "set.idx", folder / "set.rec", "w") as record:
        for number, payload in enumerate(payloads(version)):
            record.write_idx(number, payload)


def packed(folder: pathlib.Path, version: int) -> None:
    listing, photos = folder / "list/set.lst", folder / "list/photos"
    if not listing.exists():
        photos.mkdir(parents=True)
        for number in range(3):
            image = np.full((30, 40, 3), 60 * number, np.uint8)
            (photos / f"{number}.png").write_bytes(V.EncodePng()(image))
        pack.make_lists(folder / "list/set", photos)
    pack.pack_images(listing, photos, folder / "set.rec", resize=9 * (version + 1), resume=version == 1)


def graph(folder: pathlib.Path, version: int) -> None:
    hr.Range(version + 1).save(folder / "graph.hrg")


def model(folder: pathlib.Path, version: int) -> None:
    path = folder / "m.safetensors"
    if not path.exists():
        header = b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
        path.write_bytes(struct.pack("<Q", len(header)) + header + b"x")
    _engine.write_model_entries(os.fsencode(path), [("headrace.graph", "QUJD" * (version + 1))])


def rows_read(pattern: pathlib.Path) -> None:
    """Those of one version, or an error."""
    try:
        read = hr.MindRecord if pattern.name == PATTERNS["mind_set"] else hr.RecordFile
        rows = [row["record"] for row in read(str(pattern))]
    except hr.Error:
        return
    if rows not in (payloads(0), payloads(1)):
        raise SystemExit(f"wrong rows of {pattern}: {rows}")


# What reads a set by a pattern.
PATTERNS = {"record_set": "set-*.rec", "record_file": "set.rec", "mind_set": "set0", "mxnet": "set.rec"}

WRITERS: dict[str, Writer] = {
    write.__name__: write for write in (record_set, record_file, mind_set, mxnet, packed, graph, model)
}


def files_in(folder: pathlib.Path) -> dict[str, bytes]:
    """Without those of a name that nobody could foresee: a kill leaves them."""
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file() and each.name[0] != "."}


def in_child(work: Callable[[], None]) -> int:
    """How a process forked from this one, in which no pipeline has run, ended."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def must(work: Callable[[], None], what: str) -> None:
    if in_child(work) != 0:
        raise SystemExit(f"{what} failed")


def check_left(left: dict[str, bytes], old: dict[str, bytes], new: dict[str, bytes]) -> None:
    versions = {}
    for name, data in left.items():
        if name in new and old[name] != new[name]:
            versions[name] = "old" if data == old[name] else "new" if data == new[name] else "?"
    if "?" in versions.values() or {"old", "new"} <= {*versions.values()}:
        raise SystemExit(f"a mixed set: {versions}")


def run_point(write: Writer, folder: pathlib.Path, point: int, library: ctypes.CDLL) -> bool:
    """Whether the process was killed."""
    old, new = folder / "old", folder / "new"
    tried = folder / f"tried{point}"
    shutil.copytree(old, tried)

    def killed() -> None:
        library.FailingCallsArmFiles(point, KILL)
        write(tried, 1)
        library.FailingCallsDisarm()

    ended = in_child(killed)
    if ended not in (0, -signal.SIGKILL):
        raise SystemExit(f"point {point}: the process ended with {ended}")
    check_left(files_in(tried), files_in(old), files_in(new))
    if write.__name__ in PATTERNS:
        must(lambda: rows_read(tried / PATTERNS[write.__name__]), f"point {point}: reading")
    must(lambda: write(tried, 1), "the process that goes on")
    after = files_in(tried)
    if after != files_in(new):
        raise SystemExit(f"point {point}: {sorted(after)} in the end")
    shutil.rmtree(tried)
    return ended != 0


def main() -> int:
    write = WRITERS[sys.argv[1]]
    first, step, last = (int(number) for number in sys.argv[2:5])
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    library.FailingCallsArmFiles.argtypes = [ctypes.c_int64, ctypes.c_int]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        # What killed processes leave goes with it.
        (folder / "temporary").mkdir()
        tempfile.tempdir = str(folder / "temporary")
        (folder / "old").mkdir()
        must(lambda: write(folder / "old", 0), "writing the old files")
        shutil.copytree(folder / "old", folder / "new")
        must(lambda: write(folder / "new", 1), "writing the new files")
        for point in range(first, last + 1, step):
            print(f"point {point}", flush=True)
            if not run_point(write, folder, point, library):
                print(f"done {point}", flush=True)
                break
    return 0


if __name__ == "__main__":
    sys.exit(main())
