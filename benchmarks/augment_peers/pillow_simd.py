TITLE = "Pillow-SIMD, a loop by hand"
VENV = "pillow-simd"
REQUIREMENTS = ("pillow-simd==12.1.1.post0", "numpy")
BUILD = {"CC": "cc -mavx2"}
DEBIAN = ("gcc", "python3-dev", "libjpeg-dev", "zlib1g-dev")
DISTRIBUTIONS = ("pillow-simd",)
SETUP = (
    "Pillow-SIMD, which stands in for Pillow, built for AVX2; the functions that torchvision calls for PIL images, called "
    "by hand, without torch; NumPy for the rest; a process for each worker by multiprocessing, each of which writes whole "
    "batches into shared memory, a queue of 4 for each. Batches come as they are ready"
)
DIFFERS = {"simclr": "near: Pillow's blur is three passes of a box filter"}

_QUEUE = 4


def _fill_batches(recipe, seed, batches, tasks, done):
    """What a process does: fills the batch of each task with the images that it names."""
    import random

    import pillow_augment

    random.seed(seed)
    for slot, files in iter(tasks.get, None):
        for row, (path, label) in enumerate(files):
            pillow_augment.write_views(recipe, path, [view[row] for view in batches[slot][0]])
            batches[slot][1][row] = label
        done.put(slot)


def _shared_array(shape, dtype):
    import mmap

    import numpy as np

    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(mmap.mmap(-1, size), dtype).reshape(shape)


def _tasks(folder):
    """Endless: the files of each batch, shuffled anew for each epoch."""
    import random

    import augment_recipes as recipes

    files = recipes.labelled_files(folder)
    while True:
        random.shuffle(files)
        for start in range(0, len(files) - recipes.BATCH + 1, recipes.BATCH):
            yield files[start : start + recipes.BATCH]


def _taken(shared, coming, tasks, done):
    """The views of each batch as it is done; its memory is filled anew once the next one is asked for."""
    for slot in range(len(shared)):
        tasks.put((slot, next(coming)))
    while True:
        slot = done.get()
        yield shared[slot][0]
        tasks.put((slot, next(coming)))


def batches(recipe, folder, workers):
    import multiprocessing

    import augment_recipes as recipes

    # Children that are forked share the memory without a copy.
    forking = multiprocessing.get_context("fork")
    shape = (recipes.BATCH, 3, recipes.SIDE, recipes.SIDE)
    shared = [
        ([_shared_array(shape, "float32") for _ in range(recipes.VIEWS[recipe])], _shared_array(shape[:1], "int64"))
        for _ in range(_QUEUE * workers)
    ]
    tasks, done = forking.SimpleQueue(), forking.SimpleQueue()
    running = [
        forking.Process(target=_fill_batches, args=(recipe, seed, shared, tasks, done), daemon=True)
        for seed in range(workers)
    ]
    for process in running:
        process.start()
    try:
        yield from _taken(shared, _tasks(folder), tasks, done)
    finally:
        for process in running:
            process.terminate()
            process.join()
