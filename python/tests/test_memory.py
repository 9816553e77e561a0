"""Ownership of memory: arrays in, arrays out, and leaks."""

import gc
import pathlib
import sys
import weakref

import numpy as np
import pytest
from conftest import run_python

import headrace as hr
from headrace import _engine


def shares(array: np.ndarray, other: np.ndarray) -> bool:
    return np.shares_memory(array, other)


def test_batches_are_not_copied():
    batch = next(iter(hr.Range(100_000).batch(100_000)))["value"]
    assert not batch.flags.owndata
    assert batch.flags.writeable and batch.flags.aligned and batch.flags.c_contiguous
    assert batch.ctypes.data % 64 == 0
    batch += 1
    assert batch[0] == 1


def test_rows_of_arrays_are_views_and_read_only():
    column = np.arange(20_000.0).reshape(4, 5000)
    row = next(iter(hr.Numpy({"x": column})))["x"]
    assert shares(row, column)
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 1


def test_arrays_are_held_while_they_are_used_and_no_longer():
    column = np.arange(5000.0).reshape(5, 1000)
    gone = weakref.ref(column)
    pipeline = hr.Numpy({"x": column})
    row = next(iter(pipeline))["x"]
    del column
    gc.collect()
    assert gone() is not None
    del pipeline
    gc.collect()
    assert row.tolist() == list(range(1000))
    del row
    gc.collect()
    _engine.release_now()
    assert gone() is None


def test_lines_that_grow_stay_within_the_budget(tmp_path):
    """The rows of a message are chosen by the lines before it, which may be far shorter."""
    (tmp_path / "lines.txt").write_bytes(b"short\n" * 200_000 + (b"x" * (1 << 20) + b"\n") * 64)
    with hr.Text(tmp_path / "lines.txt").iterate(memory="32MiB") as rows:
        assert sum(1 for _ in rows) == 200_064
        # What is due may overdraw alone.
        assert rows.report()["peak_bytes"] <= 40 << 20


def test_arrays_of_any_layout():
    base = np.arange(24).reshape(4, 6)
    for column in (
        base[:, ::2],
        base.T,
        base[::-1],
        base.astype(">i4"),
        np.broadcast_to(base[0], (4, 6)),
        np.asfortranarray(base),
    ):
        (batch,) = hr.Numpy({"x": column}).batch(10)
        assert np.array_equal(batch["x"], column)
        assert batch["x"].dtype.isnative


def test_what_a_function_gets_is_read_only():
    seen = []

    def scribble(x):
        seen.append(x.flags.writeable)
        x[0] = 1
        return x

    with pytest.raises(hr.FunctionError, match="read-only"):
        list(hr.Numpy({"x": np.zeros((2, 3))}).map(scribble, "x"))
    assert seen == [False] * len(seen)


def test_what_a_function_gives_is_not_copied_where_it_is_alone():
    given = []

    def fresh(x):
        result = np.full(10_000, x)
        given.append(result.ctypes.data)
        return result

    row = next(iter(hr.Range(1).map(fresh, "value")))["value"]
    assert row.ctypes.data == given[0]


def test_what_a_function_keeps_is_copied():
    scratch = np.zeros(10_000)

    def reuse(x):
        scratch[:] = x
        return scratch

    rows = list(hr.Range(20).map(reuse, "value"))
    assert [row["value"][0] for row in rows] == list(range(20))
    assert all((row["value"] == row["value"][0]).all() for row in rows)


def test_a_function_may_give_its_input_back():
    images = np.random.default_rng(0).integers(0, 255, (3, 50, 50), np.uint8)
    rows = list(hr.Numpy({"x": images}).map([lambda x: x, lambda x: x[::-1], lambda x: x[::-1]], "x"))
    assert np.array_equal(np.stack([row["x"] for row in rows]), images)


def test_a_batch_dies_with_its_array():
    before = _engine.outstanding_bytes()
    it = hr.Range(4).map(lambda x: np.zeros(1_000_000), "value").batch(2).iterate()
    batches = [next(it), next(it)]
    it.close()
    assert _engine.outstanding_bytes() >= before + 2 * 16_000_000
    view = batches[0]["value"][1, :10]
    del batches
    gc.collect()
    assert _engine.outstanding_bytes() >= before + 16_000_000
    assert view.tolist() == [0.0] * 10
    del view
    gc.collect()
    assert _engine.outstanding_bytes() <= before + 1_000_000


def test_references_of_functions_are_let_go():
    class Held:
        def __call__(self, x):
            return x

    held = Held()
    gone = weakref.ref(held)
    pipeline = hr.Range(10).map(held, "value")
    list(pipeline)
    with pytest.raises(hr.FunctionError):
        list(hr.Range(3).map(lambda x, held=held: 1 / 0, "value"))
    del pipeline, held
    gc.collect()
    _engine.release_now()
    gc.collect()
    assert gone() is None


def resident() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


FLAT = """
import gc, pathlib, sys
import headrace as hr
from headrace import vision as V

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

pipeline = (
    hr.ImageFolder(sys.argv[1], shuffle=True)
    .map([V.Decode(), V.RandomResizedCrop(64), V.HWC2CHW()], "image")
    .map(lambda image, rng: image + rng.random(), "image")
    .batch(4)
)
sizes = []
for epoch in range(50):
    for batch in pipeline:
        pass
    sizes.append(resident())
print(*sizes)
"""


def test_fifty_epochs_stay_flat(photos):
    done = run_python(FLAT, str(photos), timeout=120)
    assert done.returncode == 0, done.stderr
    sizes = [int(size) for size in done.stdout.split()]
    assert max(sizes[25:]) - max(sizes[5:25]) < 8 << 20, [size >> 20 for size in sizes]


# Prints the largest growth of the resident size while rows are made and dropped. Watched by a thread, since memory
# comes and goes between two rows.
GROWTH = """
import pathlib, sys, threading, time
import numpy as np
import headrace as hr

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

def array(value, mib):
    return np.full(mib << 20, value, np.uint8)

def zipped():
    maps = [
        hr.Range(60).map(lambda value: array(value, 4), "value").rename({"value": f"value {i}"}) for i in range(5)
    ]
    return maps[0].zip(*maps[1:])

def chained():
    rows = hr.Range(60).map(lambda value: array(value, 8), "value")
    for _ in range(30):
        rows = rows.map(lambda value: value + np.uint8(1), "value")
    return rows

pipeline = {"zipped": zipped, "chained": chained}[sys.argv[1]]()
before = largest = resident()
ended = threading.Event()

def watch():
    global largest
    while not ended.wait(0.002):
        largest = max(largest, resident())

watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
rows = 0
with pipeline.iterate(memory="64MiB") as iterator:
    while next(iterator, None) is not None:
        rows += 1
        time.sleep(0.02)  # the stages run ahead of a slow loop
ended.set()
watcher.join()
print(rows, largest - before)
"""


@pytest.mark.parametrize("pipeline", ["zipped", "chained"])
def test_large_arrays_of_functions_keep_to_the_budget(monkeypatch, pipeline):
    # Without it glibc keeps freed arrays, which the promise leaves out.
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", str(128 << 10))
    done = run_python(GROWTH, pipeline, timeout=120)
    assert done.returncode == 0, done.stderr
    rows, growth = (int(number) for number in done.stdout.split())
    assert rows == 60
    assert growth <= (64 + 64) << 20, growth


def test_objects_of_python_are_not_leaked():
    def once():
        list(hr.Range(50).map(lambda x: np.zeros(10), "value").batch(5))
        next(iter(hr.Range(50).batch(5)))

    for _ in range(3):
        once()
    gc.collect()
    before = len(gc.get_objects()), sys.getrefcount(None)
    for _ in range(20):
        once()
    gc.collect()
    assert len(gc.get_objects()) - before[0] < 50
    assert abs(sys.getrefcount(None) - before[1]) < 50
