"""Memory: images of 12 megapixels within a budget of 64 MiB, and no growth over epochs."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import PIL.Image
import pytest

import headrace as hr
from tests.running import assert_same, read_all

MIB = 1 << 20
IMAGES = 6

# Prints the largest growth of the resident size over the moment after import, less what the user holds, the hash of
# all batches, and the resident size after close().
MEASURE = """
import hashlib, json, os, sys, threading, time
import headrace as hr
from headrace import vision as V
import numpy as np

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

folder, memory, executor, workers = sys.argv[1:]
before = resident()
largest = 0
stopped = False

def watch():
    global largest
    while not stopped:
        largest = max(largest, resident() - before)
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
dataset = (
    hr.ImageFolder(folder)
    .map([V.Decode(), V.RandomResizedCrop(256), V.RandomHorizontalFlip()], "image")
    .repeat(3)
    .batch(4)
)
digest = hashlib.sha256()
peak = 0
with dataset.iterate(memory=memory, executor=executor, workers=int(workers) or None) as it:
    for batch in it:
        digest.update(batch["image"].tobytes() + batch["label"].tobytes())
        peak = it.report()["peak_bytes"]
    held = sum(column.nbytes for column in batch.values())
stopped = True
watcher.join()
del batch
from headrace import _engine
_engine.release_now()
print(json.dumps({"growth": largest - held, "hash": digest.hexdigest(), "peak": peak, "after": resident() - before}))
"""


def write_images(folder: pathlib.Path, progressive: int | None) -> pathlib.Path:
    """Images of 12 megapixels: 36 MB each when decoded."""
    (folder / "class").mkdir()
    random = np.random.default_rng(1)
    for number in range(IMAGES):
        coarse = random.integers(0, 256, (30, 40, 3), np.uint8)
        image = PIL.Image.fromarray(coarse).resize((4000, 3000), PIL.Image.Resampling.BICUBIC)
        image.save(folder / "class" / f"{number}.jpg", quality=60, progressive=number == progressive)
    return folder


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_images(tmp_path_factory.mktemp("large"), progressive=None)


@pytest.fixture(scope="module")
def progressive(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """libjpeg allocates as much again for one of these, and the C library may keep that memory."""
    return write_images(tmp_path_factory.mktemp("progressive"), progressive=4)


def measure(folder: pathlib.Path, memory: str, executor: str, workers: int) -> dict:
    command = [sys.executable, "-c", MEASURE, str(folder), memory, executor, str(workers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def unbounded(large: pathlib.Path) -> dict:
    return measure(large, "2GiB", "threads", 0)


@pytest.mark.parametrize(("executor", "workers"), [("threads", 0), ("threads", 7), ("pull", 0)])
def test_12_megapixels_in_64_mib(large, unbounded, executor, workers):
    found = measure(large, "64MiB", executor, workers)
    assert found["hash"] == unbounded["hash"]
    assert found["growth"] <= 128 * MIB, f"{found['growth'] / MIB:.0f} MiB"


def test_less_than_one_image_still_runs(progressive):
    """Only the message that is due everywhere may overdraw the budget."""
    found = measure(progressive, "1MiB", "threads", 0)
    assert found["hash"] == measure(progressive, "2GiB", "threads", 0)["hash"]
    # One image, and as much again inside libjpeg for the progressive one.
    assert found["growth"] <= 2 * 36 * MIB + 64 * MIB


def test_closing_gives_memory_back(unbounded):
    assert unbounded["after"] <= 64 * MIB, f"{unbounded['after'] / MIB:.0f} MiB"


# Prints after each epoch the bytes that malloc has given out, and the resident size. Memory under way, or kept in pools,
# depends on the load of the machine: the budget keeps it below the growth that the test allows.
EPOCHS = """
import ctypes, sys
import headrace as hr
from headrace import vision as V

class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split())]

mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Mallinfo2

def allocated():
    info = mallinfo2()
    return info.uordblks + info.hblkhd

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

dataset = (
    hr.ImageFolder(sys.argv[1], shuffle=True)
    .map([V.Decode(), V.RandomResizedCrop(64), V.HWC2CHW()], "image")
    .shuffle(4)
    .batch(5)
    .options(memory="1MiB")
)
for epoch in range(300):
    if sys.argv[2] == "iter":
        rows = sum(len(batch["label"]) for batch in dataset)
    else:
        with dataset.iterate(epoch=epoch) as it:
            rows = sum(len(batch["label"]) for batch in it)
    assert rows == 12
    print(allocated(), resident())
"""


@pytest.mark.parametrize("way", ["iter", "iterate"])
def test_epochs_do_not_grow(photos, way):
    command = [sys.executable, "-c", EPOCHS, str(photos), way]
    # The number of the C library's arenas depends on which threads allocate at once, and so on the load of the machine.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    sizes = np.array([int(size) for size in done.stdout.split()]).reshape(300, 2)
    # Pools reach their sizes in the first epochs, but for buffers that grow when the largest image meets a worker for
    # the first time: 1.5 MiB in 1,000 epochs. One lost image of 12 KiB an epoch would be 2.4 MiB. Pages settle later,
    # because the allocator keeps holes whose places depend on which threads allocate at once.
    allocated, resident = np.median(sizes[275:], axis=0) - np.median(sizes[75:100], axis=0)
    assert allocated < 2 * MIB, sizes[::10, 0] / MIB
    assert resident < 16 * MIB, sizes[::10, 1] / MIB


@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_a_shuffle_too_large_for_the_budget_names_itself(executor):
    rows = hr.Numpy({"x": np.zeros((400, 1 << 16), np.float32)}).map(lambda x: x + 1, "x", ordered=False)
    dataset = rows.shuffle(300).batch(2)
    with pytest.raises(hr.ResourceError, match="shuffle.*memory.*window smaller") as caught:
        list(dataset.iterate(memory="16MiB", executor=executor))
    assert caught.value.operator.startswith("shuffle")
    assert pathlib.Path(__file__).name in caught.value.location
    assert len(list(dataset.iterate(memory="256MiB", executor=executor))) == 200


def test_small_budgets_change_nothing(data):
    from tests.pipelines import EPOCH, PIPELINES, SEED

    for name in ("training", "opencv_training", "image_and_mask", "whole_files"):
        whole = read_all(PIPELINES[name](data), seed=SEED, epoch=EPOCH)
        for memory in (1, "100KiB", "1MiB", "4MiB"):
            found = read_all(PIPELINES[name](data), seed=SEED, epoch=EPOCH, memory=memory)
            if found.failure is not None and found.failure.kind == "ResourceError":
                assert memory != "4MiB"
                continue
            assert_same(whole, found)
            print("HEADRACE-COUNT variants=1")
