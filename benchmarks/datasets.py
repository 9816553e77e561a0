"""Named data sets: opening, the first batch and rows a second, of ours, torchvision's and MindSpore's, in alternation.

The files are made: MNIST and CIFAR-10 of their publishers' sizes, photographs of 500 × 375 in 101 class folders as Food-101
has them, and photographs of 640 × 480 with seven objects each as COCO has them. Photographs are decoded and resized to
224 × 224, and boxes move along in ours and torchvision's; all are shuffled, in batches of 64. Each measurement has its own
process and gives the seconds from the call to an object and to the first batch, and the rate of the second epoch.
MindSpore opens files when rows are asked for. torchvision's checksums of CIFAR-10 are left out: made files do not have
them. Files are in the page cache.
"""

import argparse
import json
import os
import pathlib
import pickle
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import measuring

BATCH = 64
SIDE = 224
# From a data set to what begins an epoch of batches.
Build = Callable[[Any], Callable[[], Iterator[Any]]]
CORES = os.cpu_count() or 1


def idx(axes: tuple[int, ...], data: bytes) -> bytes:
    return struct.pack(f">BBBB{len(axes)}I", 0, 0, 8, len(axes), *axes) + data


def write_mnist(folder: pathlib.Path, share: float) -> None:
    place = folder / "MNIST" / "raw"
    place.mkdir(parents=True)
    for name, whole in (("train", 60_000), ("t10k", 10_000)):
        count = int(whole * share)
        (place / f"{name}-images-idx3-ubyte").write_bytes(idx((count, 28, 28), os.urandom(count * 784)))
        (place / f"{name}-labels-idx1-ubyte").write_bytes(idx((count,), bytes(row % 10 for row in range(count))))


CIFAR_FILES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


def write_cifar_pickles(folder: pathlib.Path, share: float) -> None:
    import numpy as np

    place = folder / "cifar-10-batches-py"
    place.mkdir(parents=True)
    count = int(10_000 * share)
    for name in CIFAR_FILES:
        data = np.frombuffer(os.urandom(count * 3072), np.uint8).reshape(count, 3072)
        (place / name).write_bytes(pickle_of_python2(data))
    (place / "batches.meta").write_bytes(pickle.dumps({"label_names": [str(number) for number in range(10)]}, 2))


def pickle_of_python2(data: Any) -> bytes:
    """As the publisher's are: Python 3 would write the bytes of arrays as text of UTF-8."""
    rows, columns = data.shape
    labels = b"".join(b"K" + bytes([row % 10]) for row in range(rows))
    names = b"".join(b"U\x1d" + f"thing_that_is_seen_{row:06}.png".encode() for row in range(rows))
    kind = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"
    array += (
        struct.pack("<cicic", b"J", rows, b"J", columns, b"\x86") + kind + b"\x89T" + struct.pack("<i", data.nbytes)
    )
    held = b"U\x06labels](" + labels + b"eU\x09filenames](" + names + b"eU\x04data" + array + data.tobytes() + b"tb"
    return b"\x80\x02}(" + held + b"u."


def write_cifar_binary(folder: pathlib.Path, share: float) -> None:
    """Of whole files: MindSpore takes no others."""
    place = folder / "cifar-10-batches-bin"
    place.mkdir(parents=True)
    for name in CIFAR_FILES:
        (place / f"{name}.bin").write_bytes(b"".join(bytes([row % 10]) + os.urandom(3072) for row in range(10_000)))
    (place / "batches.meta.txt").write_text("".join(f"{number}\n" for number in range(10)))


def write_pictures(folder: pathlib.Path, size: tuple[int, int]) -> list[pathlib.Path]:
    import PIL.Image

    folder.mkdir(parents=True)
    found = []
    for number, path in enumerate(sorted(measuring.PHOTOS.rglob("*.jpg"))):
        found.append(folder / f"{number}.jpg")
        PIL.Image.open(path).convert("RGB").resize(size).save(found[-1], quality=90)
    return found


def write_food(folder: pathlib.Path, share: float) -> None:
    pictures = write_pictures(folder / "made", (500, 375))
    place = folder / "food-101"
    classes = [f"kind_{number:03}" for number in range(101)]
    names: dict[str, list[str]] = {}
    for kind in classes:
        (place / "images" / kind).mkdir(parents=True)
        names[kind] = [f"{kind}/{number}" for number in range(max(1, int(80 * share)))]
        for number, name in enumerate(names[kind]):
            os.link(pictures[number % len(pictures)], place / "images" / f"{name}.jpg")
    (place / "meta").mkdir()
    (place / "meta" / "classes.txt").write_text("".join(f"{kind}\n" for kind in classes))
    for part in ("train", "test"):
        listed = "".join(f"{name}\n" for each in names.values() for name in each)
        (place / "meta" / f"{part}.txt").write_text(listed)
        (place / "meta" / f"{part}.json").write_text(json.dumps(names))


def write_coco(folder: pathlib.Path, share: float) -> None:
    import coco

    pictures = write_pictures(folder / "made", (640, 480))
    count = max(BATCH, int(8_000 * share))
    (folder / "train2017").mkdir()
    (folder / "annotations").mkdir()
    coco.write(folder / "annotations" / "instances_train2017.json", count, 7 * count)
    for number in range(count):
        os.link(pictures[number % len(pictures)], folder / "train2017" / f"{number:012}.jpg")


def headrace_of(kind: str, root: str) -> tuple[Any, Build]:
    import headrace as hr
    from headrace import vision as V

    steps = [V.Decode(), V.Resize((SIDE, SIDE))]
    if kind == "coco":
        ds = hr.datasets.Coco(root, "instances_train2017.json", shuffle=True)
        columns = ["image", hr.boxes("boxes", labels=["category", "iscrowd", "area", "annotation_id"])]
        return ds, lambda ds: ds.map(steps, columns).batch(BATCH, ragged="splits").__iter__
    if kind == "food101":
        return hr.datasets.Food101(root, shuffle=True), lambda ds: ds.map(steps, "image").batch(BATCH).__iter__
    named = hr.datasets.Mnist if kind == "mnist" else hr.datasets.Cifar10
    return named(root, shuffle=True), lambda ds: ds.batch(BATCH).__iter__


def torchvision_of(kind: str, root: str) -> tuple[Any, Build]:
    import torch.utils.data
    from torchvision import datasets
    from torchvision.transforms import v2

    def loaded(dataset: Any, collate: Any = None) -> Callable[[], Iterator[Any]]:
        given = {"shuffle": True, "num_workers": CORES, "collate_fn": collate}
        return torch.utils.data.DataLoader(dataset, BATCH, **given).__iter__

    resized = v2.Compose([v2.ToImage(), v2.Resize((SIDE, SIDE))])
    if kind == "coco":
        found = datasets.CocoDetection(
            f"{root}/train2017", f"{root}/annotations/instances_train2017.json", transforms=resized
        )
        wrapped = datasets.wrap_dataset_for_transforms_v2(found, target_keys=("boxes", "labels"))
        return wrapped, lambda dataset: loaded(dataset, list)
    if kind == "food101":
        return datasets.Food101(root, transform=resized), loaded
    datasets.cifar.check_integrity = lambda *given, **further: True
    named = datasets.MNIST if kind == "mnist" else datasets.CIFAR10
    return named(root, transform=v2.ToImage()), loaded


def mindspore_of(kind: str, root: str) -> tuple[Any, Build]:
    import mindspore.dataset as ds
    from mindspore.dataset import vision

    ds.config.set_num_parallel_workers(CORES)

    def batches(dataset: Any) -> Callable[[], Iterator[Any]]:
        return lambda: dataset.create_dict_iterator(num_epochs=1, output_numpy=True)

    def resized(dataset: Any) -> Any:
        return dataset.map(vision.Resize((SIDE, SIDE)), "image")

    if kind == "coco":
        file = f"{root}/annotations/instances_train2017.json"
        found = ds.CocoDataset(f"{root}/train2017", file, "Detection", decode=True, shuffle=True)
        padded = {"bbox": ([None, 4], 0), "category_id": ([None, 1], 0), "iscrowd": ([None, 1], 0)}
        return found, lambda dataset: batches(resized(dataset).padded_batch(BATCH, pad_info=padded))
    if kind == "food101":
        found = ds.Food101Dataset(f"{root}/food-101", "train", decode=True, shuffle=True)
        return found, lambda dataset: batches(resized(dataset).batch(BATCH))
    if kind == "mnist":
        found = ds.MnistDataset(f"{root}/MNIST/raw", "train", shuffle=True)
    else:
        found = ds.Cifar10Dataset(f"{root}/cifar-10-batches-bin", "train", shuffle=True)
    return found, lambda dataset: batches(dataset.batch(BATCH))


OF: dict[str, Callable[[str, str], tuple[Any, Build]]] = {
    "headrace": headrace_of,
    "torchvision": torchvision_of,
    "mindspore": mindspore_of,
}
# How each set is written, and by whom it is read beside ours.
SETS: dict[str, tuple[Callable[[pathlib.Path, float], None], tuple[str, ...]]] = {
    "mnist": (write_mnist, ("torchvision", "mindspore")),
    "cifar10 of pickles": (write_cifar_pickles, ("torchvision",)),
    "cifar10 of records": (write_cifar_binary, ("mindspore",)),
    "food101": (write_food, ("torchvision", "mindspore")),
    "coco": (write_coco, ("torchvision", "mindspore")),
}


def rows_of(side: str, kind: str, batch: Any) -> int:
    return len(
        batch if side == "torchvision" and kind == "coco" else batch["image"] if isinstance(batch, dict) else batch[0]
    )


def measure(side: str, kind: str, root: str) -> dict[str, float]:
    # The libraries are loaded, and what is loaded late with the first object.
    __import__({"headrace": "headrace", "torchvision": "torchvision", "mindspore": "mindspore.dataset"}[side])
    if side == "headrace":
        __import__("headrace.datasets")
    start = time.perf_counter()
    dataset, build = OF[side](kind, root)
    opened = time.perf_counter()
    epoch = build(dataset)
    first = epoch()
    rows = rows_of(side, kind, next(first))
    began = time.perf_counter()
    rows += sum(rows_of(side, kind, batch) for batch in first)
    again = time.perf_counter()
    if sum(rows_of(side, kind, batch) for batch in epoch()) != rows:
        sys.exit("two epochs differ in their rows")
    return {"open": opened - start, "first": began - start, "rate": rows / (time.perf_counter() - again), "rows": rows}


def compare(name: str, root: pathlib.Path, pythons: dict[str, str], rounds: int) -> None:
    sides = {side: python for side, python in pythons.items() if side == "headrace" or side in SETS[name][1]}
    if len(sides) == 1:
        return
    found = measuring.in_alternation(__file__, sides, rounds, name.partition(" ")[0], root)
    for side, runs in found.items():
        seconds = {key: measuring.summary([run[key] for run in runs], 3) for key in ("open", "first")}
        rate = measuring.summary([run["rate"] for run in runs])
        print(f"{name}, {side}: opened in s {seconds['open']}; first batch in s {seconds['first']}; {rate} rows/s")
    for side in list(sides)[1:]:
        for key, said in (("open", "seconds to open"), ("first", "seconds to the first batch"), ("rate", "rows/s")):
            if key == "open" and side == "mindspore":
                continue
            ours, theirs = ([run[key] for run in found[each]] for each in ("headrace", side))
            print(f"{name}: {said}, headrace / {side}: {measuring.ratio(ours, theirs)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows of each set")
    parser.add_argument("--torchvision", metavar="PYTHON", help="an interpreter that has it; left out without one")
    parser.add_argument("--mindspore", metavar="PYTHON", help="an interpreter that has it; left out without one")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--measure", nargs=3, metavar=("SIDE", "SET", "ROOT"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(*given.measure)))
        return
    pythons = {"headrace": sys.executable, "torchvision": given.torchvision, "mindspore": given.mindspore}
    pythons = {side: python for side, python in pythons.items() if python}
    if len(pythons) == 1:
        parser.error("give --torchvision or --mindspore an interpreter that has it")
    for name in given.sets:
        with tempfile.TemporaryDirectory() as folder:
            SETS[name][0](pathlib.Path(folder), given.share)
            compare(name, pathlib.Path(folder), pythons, given.rounds)


if __name__ == "__main__":
    main()
