"""Runs small pipelines in which one call of the engine fails: each start of a thread or operation on a file in turn.

    LD_PRELOAD=failing_calls.so python tests/faults/run.py PIPELINE KIND FIRST STEP LAST

Prints `point N` before each point and `done N` after the last one. Checks at each point: the right rows, or an
error of the right kind after a part of them; then the same pipeline gives the right rows, and no thread or descriptor is
left.
"""

import ctypes
import errno
import functools
import gc
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

import headrace as hr  # noqa: E402
from headrace import transforms as T  # noqa: E402
from headrace import vision as V  # noqa: E402
from tests.conftest import eventually, pipeline_threads  # noqa: E402
from tests.running import Outcome, frozen_row  # noqa: E402

# What the machine may lack.
LACKS = {"ENOMEM": errno.ENOMEM, "EMFILE": errno.EMFILE, "ENOSPC": errno.ENOSPC}
# By kind of failure, the errors of operations on files, which take turns; none: threads fail to start.
ERRORS = {"thread": [], "file": [errno.EIO], "scarce": [*LACKS.values()]} | {kind: [LACKS[kind]] for kind in LACKS}
Run = Callable[[pathlib.Path], Outcome]


def rows_of(dataset: hr.Dataset, **options: Any) -> Outcome:
    outcome = Outcome([])
    with dataset.iterate(**options) as iterator:
        for row in iterator:
            outcome.rows.append(frozen_row(row))
    return outcome


def doubled(value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return value * 2 + rng.integers(0, 9)


def counted(epoch: int) -> Any:
    return iter(range(5))


def numbers(folder: pathlib.Path, **options: Any) -> Outcome:
    column = hr.col("value")
    dataset = hr.Range(12, shuffle=True).map(T.TypeCast("float32"), "value").shuffle(3).filter(column > 2)
    return rows_of(dataset.repeat(2).batch(4), **options)


def numbers_pulled(folder: pathlib.Path) -> Outcome:
    return numbers(folder, executor="pull")


def images(folder: pathlib.Path, **options: Any) -> Outcome:
    kernels = [V.Decode(), V.RandomResizedCrop(16), V.RandomHorizontalFlip(), V.HWC2CHW()]
    return rows_of(hr.ImageFolder(folder / "photos", shuffle=True).map(kernels, "image").batch(2), **options)


def images_pulled(folder: pathlib.Path) -> Outcome:
    return images(folder, executor="pull")


def images_skipping(folder: pathlib.Path) -> Outcome:
    """A fault of the disk may pass: no row is left out for it."""
    images = hr.ImageFolder(folder / "photos", shuffle=True).map([V.Decode(), V.Resize((16, 16))], "image")
    return rows_of(images.on_error("skip").batch(2))


def kept(folder: pathlib.Path) -> Outcome:
    """Written to a cache's folder, then read from it."""
    shutil.rmtree(folder / "cache", ignore_errors=True)
    outcome = Outcome([])
    for _ in range(2):
        files = hr.Files(str(folder / "photos/*/*")).cache("1MiB", folder / "cache")
        outcome.rows += rows_of(files.batch(2)).rows
    return outcome


def lines(folder: pathlib.Path) -> Outcome:
    return rows_of(hr.Text(str(folder / "texts/*")).shuffle(3).cache().batch(3))


def functions(folder: pathlib.Path) -> Outcome:
    rows = hr.Generator(counted, {"value": "int64"})
    return rows_of(rows.map(doubled, "value", ordered=False).zip(hr.Numpy({"other": np.arange(9)})).batch(2))


def saved_and_restored(folder: pathlib.Path) -> Outcome:
    """Saves the graph, the state and the listing to files and reads them back."""
    images = hr.ImageFolder(folder / "photos", listing=folder / "listing", columns=["path", "label"])
    images.batch(1).save(folder / "graph")
    dataset = hr.load(folder / "graph")
    outcome = Outcome([])
    with dataset.iterate() as iterator:
        outcome.rows.append(frozen_row(next(iterator)))
        state = iterator.state()
    outcome.rows += rows_of(dataset, state=state).rows
    return outcome


def written(folder: pathlib.Path) -> Outcome:
    """Written to a set of files, then read from it."""
    hr.Files(str(folder / "photos/*/*")).project("data").write_records(folder / "set.rec", files=2)
    return rows_of(hr.RecordFile(str(folder / "set-*.rec"), index="build"))


PIPELINES: dict[str, Run] = {
    run.__name__: run
    for run in (
        numbers,
        numbers_pulled,
        images,
        images_pulled,
        images_skipping,
        kept,
        lines,
        functions,
        saved_and_restored,
        written,
    )
}


def write_files(folder: pathlib.Path) -> None:
    for name in ("animals/cat-eyes.jpg", "things/brick-wall.jpg", "people/photographer.jpg"):
        target = folder / "photos" / name
        target.parent.mkdir(parents=True)
        # A class of one image that is lost is an error by itself.
        for copied in (target, target.with_stem("second")):
            shutil.copy(ROOT / "examples/photos" / name, copied)
    (folder / "texts").mkdir()
    for number in range(2):
        (folder / f"texts/{number}").write_text("".join(f"line {number} {i}\n" for i in range(5)))


class Faults:
    def __init__(self, library: str) -> None:
        self._calls = ctypes.CDLL(library)
        self._calls.FailingCallsDisarm.restype = ctypes.c_int64
        self._calls.FailingCallsArmThreads.argtypes = [ctypes.c_int64]
        self._calls.FailingCallsArmFiles.argtypes = [ctypes.c_int64, ctypes.c_int]

    def run(self, run: Run, folder: pathlib.Path, kind: str, point: int) -> tuple[Outcome | Exception, int]:
        """The outcome of the run, and the number of calls."""
        result: Outcome | Exception
        errors = ERRORS[kind]
        if errors:
            self._calls.FailingCallsArmFiles(point, errors[point % len(errors)])
        else:
            self._calls.FailingCallsArmThreads(point)
        try:
            result = run(folder)
        except Exception as error:
            result = error
        return result, self._calls.FailingCallsDisarm()

    def hit(self) -> bool:
        return bool(self._calls.FailingCallsHit())

    def where(self) -> None:
        self._calls.FailingCallsWhere()


def forget(folder: pathlib.Path) -> None:
    """Changes the folder, because the process keeps listings of unchanged folders and each run must list again."""
    os.utime(folder / "photos")
    (folder / "listing").unlink(missing_ok=True)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def check(result: Outcome | Exception, expected: Outcome, kind: str) -> str | None:
    if isinstance(result, Outcome):
        return None if result == expected else f"wrong rows: {len(result.rows)} of {len(expected.rows)}"
    right = isinstance(result, hr.ResourceError) or (kind == "file" and isinstance(result, hr.DataError))
    return None if right else f"{type(result).__name__}: {result}"


def run_points(run: Run, kind: str, faults: Faults, folder: pathlib.Path, points: Iterable[int]) -> tuple[bool, bool]:
    """Whether every point had a permitted outcome, and whether these were all points."""
    # A thread that the process starts once can fail only before it exists.
    expected = run(folder) if kind != "thread" else Outcome([])
    opened = descriptors()
    right = True
    for point in points:
        print(f"point {point}", flush=True)
        forget(folder)
        result, calls = faults.run(run, folder, kind, point)
        if not faults.hit():
            print(f"done {calls}", flush=True)
            return right, True
        forget(folder)
        again, _ = faults.run(run, folder, kind, 0)
        expected = expected if expected.rows else again
        wrong = check(result, expected, kind) or check(again, expected, kind)
        del result, again  # an error's traceback keeps the objects of its frames alive
        gc.collect()
        if not eventually(lambda: pipeline_threads() == []):
            wrong = f"{wrong or ''} threads left: {pipeline_threads()}"
        if kind != "thread" and descriptors() > opened:
            wrong = f"{wrong or ''} descriptors left: {descriptors() - opened}"
        if wrong:
            right = False
            print(f"failed {point}: {wrong}", flush=True)
            faults.where()
    return right, False


def in_child(work: Callable[[], tuple[bool, bool]]) -> tuple[bool, bool]:
    """The result of `work` in a process forked from this one, in which nothing has run yet."""
    child = os.fork()
    if child == 0:
        status = 4
        try:
            right, ended = work()
            status = (not right) + 2 * ended
        finally:
            sys.stdout.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not 0 <= status < 4:
        sys.exit(f"the process of a point ended with {status}")
    return status % 2 == 0, status >= 2


def main() -> int:
    name, kind = sys.argv[1:3]
    first, step, last = (int(number) for number in sys.argv[3:6])
    faults = Faults(os.environ["LD_PRELOAD"])
    run = PIPELINES[name]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_files(folder)
        points = range(first, last + 1, step)
        if kind != "thread":
            return int(not run_points(run, kind, faults, folder, points)[0])
        # Most threads are started once per process.
        all_right = True
        for point in points:
            right, ended = in_child(functools.partial(run_points, run, kind, faults, folder, [point]))
            all_right &= right
            if ended:
                break
        return int(not all_right)


if __name__ == "__main__":
    sys.exit(main())
