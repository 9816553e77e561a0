"""Named data sets made small, in the layouts of their publishers."""

import bz2
import gzip
import lzma
import pathlib
import pickle
import struct
import zlib
from collections.abc import Callable, Sequence

import numpy as np

Write = Callable[[pathlib.Path], None]

_IDX_TYPES = {"uint8": 0x08, "int32": 0x0C}


def idx_bytes(array: np.ndarray) -> bytes:
    head = struct.pack(">HBB", 0, _IDX_TYPES[array.dtype.name], array.ndim)
    return head + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(array.dtype.newbyteorder(">")).tobytes()


def digits(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of 28 × 28 and labels, 0 to 9."""
    draws = np.random.default_rng(seed)
    return draws.integers(0, 256, (count, 28, 28), np.uint8), draws.integers(0, 10, count).astype(np.uint8)


def write_mnist(folder: pathlib.Path, packed: bool = False, counts: tuple[int, int] = (12, 5)) -> None:
    for stem, count, seed in (("train", counts[0], 1), ("t10k", counts[1], 2)):
        pixels, labels = digits(count, seed)
        write(folder / f"{stem}-images-idx3-ubyte", idx_bytes(pixels), packed)
        write(folder / f"{stem}-labels-idx1-ubyte", idx_bytes(labels), packed)


def write(path: pathlib.Path, data: bytes, packed: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if packed:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(data, mtime=0))
    else:
        path.write_bytes(data)


def write_emnist(folder: pathlib.Path, subset: str, labels: Sequence[int], mapping: str | None) -> None:
    for part, seed in (("train", 1), ("test", 2)):
        pixels, _ = digits(len(labels), seed)
        write(folder / f"emnist-{subset}-{part}-images-idx3-ubyte", idx_bytes(pixels), packed=True)
        write(folder / f"emnist-{subset}-{part}-labels-idx1-ubyte", idx_bytes(np.array(labels, np.uint8)))
    if mapping is not None:
        (folder / f"emnist-{subset}-mapping.txt").write_text(mapping)


def qmnist_labels(count: int, seed: int) -> np.ndarray:
    labels = np.random.default_rng(seed).integers(0, 4000, (count, 8)).astype(np.int32)
    labels[:, 0] %= 10
    return labels


def write_qmnist(folder: pathlib.Path, counts: tuple[int, int] = (6, 10_003)) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for stem, count, seed in (("qmnist-train", counts[0], 1), ("qmnist-test", counts[1], 2)):
        write(folder / f"{stem}-images-idx3-ubyte", idx_bytes(digits(count, seed)[0]), packed=True)
        write(folder / f"{stem}-labels-idx2-int", idx_bytes(qmnist_labels(count, seed)), packed=True)
    (folder / "xnist-images-idx3-ubyte.xz").write_bytes(lzma.compress(idx_bytes(digits(4, 3)[0])))
    (folder / "xnist-labels-idx2-int.xz").write_bytes(lzma.compress(idx_bytes(qmnist_labels(4, 3))))


def planes(count: int, seed: int) -> np.ndarray:
    """Pictures of CIFAR as its files have them: planes, end to end."""
    return np.random.default_rng(seed).integers(0, 256, (count, 3072), np.uint8)


CIFAR_NAMES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def write_cifar10(folder: pathlib.Path, rows: int = 4) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate([*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]):
        labels = (np.arange(rows, dtype=np.uint8) + seed)[:, None] % 10
        (folder / f"{name}.bin").write_bytes(np.concatenate([labels, planes(rows, seed)], 1).tobytes())
    (folder / "batches.meta.txt").write_text("\n".join(CIFAR_NAMES) + "\n\n")


def write_cifar10_pickles(folder: pathlib.Path, rows: int = 4) -> None:
    """The rows of `write_cifar10`, as Python 2 pickled them."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate([*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]):
        labels = ((np.arange(rows) + seed) % 10).tolist()
        names = [f"picture_{row}.png" for row in range(rows)]
        (folder / name).write_bytes(
            pickle_of_python2({"batch_label": name, "labels": labels, "data": planes(rows, seed), "filenames": names})
        )
    (folder / "batches.meta").write_bytes(
        pickle_of_python2({"num_cases_per_batch": rows, "label_names": CIFAR_NAMES, "num_vis": 3072})
    )


def fine_names() -> list[str]:
    return [f"kind {number}" for number in range(100)]


def coarse_names() -> list[str]:
    return [f"group {number}" for number in range(20)]


def write_cifar100(folder: pathlib.Path, rows: int = 4) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(("train", "test")):
        numbers = np.arange(rows, dtype=np.uint8)[:, None]
        records = np.concatenate([numbers % 20, numbers + 90, planes(rows, seed)], 1)
        (folder / f"{name}.bin").write_bytes(records.tobytes())
    (folder / "fine_label_names.txt").write_text("\n".join(fine_names()))
    (folder / "coarse_label_names.txt").write_text("\n".join(coarse_names()))


def write_cifar100_pickles(folder: pathlib.Path, rows: int = 4, names: type = bytes) -> None:
    """The rows of `write_cifar100`, as Python 3 pickles them by protocol 2. `names`: how it has those of the classes."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(("train", "test")):
        held = {
            "data": planes(rows, seed),
            "fine_labels": [row + 90 for row in range(rows)],
            "coarse_labels": [row % 20 for row in range(rows)],
        }
        (folder / name).write_bytes(pickle.dumps(held, 2))
    listed = {"fine_label_names": fine_names(), "coarse_label_names": coarse_names()}
    held_names = {name.encode() if names is bytes else name: each for name, each in listed.items()}
    (folder / "meta").write_bytes(pickle.dumps(held_names, 2))


def pickle_of_python2(value: object) -> bytes:
    """By protocol 2, with texts as Python 2 has them."""
    made = bytearray(b"\x80\x02")
    _add(made, value)
    return bytes(made + b".")


def _add(made: bytearray, value: object) -> None:
    if isinstance(value, dict):
        made += b"}q\x00("
        for key, each in value.items():
            _add(made, key)
            _add(made, each)
        made += b"u"
    elif isinstance(value, list):
        made += b"]q\x01("
        for each in value:
            _add(made, each)
        made += b"e"
    elif isinstance(value, np.ndarray):
        made += b"cnumpy.core.multiarray\n_reconstruct\nq\x02cnumpy\nndarray\nK\x00\x85U\x01b\x87Rq\x03(K\x01"
        rows, columns = value.shape
        made += b"M" + struct.pack("<H", rows) + b"M" + struct.pack("<H", columns) + b"\x86"
        made += b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
        made += b"T" + struct.pack("<I", value.nbytes) + value.tobytes() + b"tb"
    elif isinstance(value, int):
        made += b"M" + struct.pack("<H", value)
    else:
        text = str(value).encode()
        made += b"U" + bytes([len(text)]) + text


def mat_element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def _mat_name(name: bytes) -> bytes:
    """As a small element, where it is short."""
    return struct.pack("<I", len(name) << 16 | 1) + name.ljust(4, b"\0") if len(name) <= 4 else mat_element(1, name)


def mat_array(name: str, array: np.ndarray) -> bytes:
    """A matrix of MATLAB 5 of uint8 or float64."""
    number_class, stored = {"uint8": (9, 2), "float64": (6, 9)}[array.dtype.name]
    parts = [
        mat_element(6, struct.pack("<II", number_class, 0)),
        mat_element(5, struct.pack(f"<{array.ndim}i", *array.shape)),
        _mat_name(name.encode()),
        mat_element(stored, array.tobytes(order="F")),
    ]
    return mat_element(14, b"".join(parts))


def mat_bytes(arrays: dict[str, np.ndarray], packed: bool = False) -> bytes:
    found = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)
    for name, array in arrays.items():
        element = mat_array(name, array)
        if packed:
            data = zlib.compress(element)
            element = struct.pack("<II", 15, len(data)) + data
        found += element
    return found


def svhn_arrays(count: int, seed: int) -> dict[str, np.ndarray]:
    draws = np.random.default_rng(seed)
    labels = (np.arange(count, dtype=np.uint8)[:, None] + seed) % 10 + 1
    return {"X": draws.integers(0, 256, (32, 32, 3, count), np.uint8), "y": labels}


def write_svhn(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, count) in enumerate({"train": 11, "test": 4, "extra": 3}.items()):
        (folder / f"{name}_32x32.mat").write_bytes(mat_bytes(svhn_arrays(count, seed), packed=seed != 1))


def write_stl10(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, count) in enumerate({"train": 5, "test": 3, "unlabeled": 4}.items()):
        draws = np.random.default_rng(seed)
        (folder / f"{name}_X.bin").write_bytes(draws.integers(0, 256, count * 27648, np.uint8).tobytes())
        if name != "unlabeled":
            (folder / f"{name}_y.bin").write_bytes(draws.integers(1, 11, count, np.uint8).tobytes())
    (folder / "class_names.txt").write_text("\n".join(CIFAR_NAMES) + "\n")
    (folder / "fold_indices.txt").write_text("0 2 4 \n1 3 \n")


def usps_values(count: int, seed: int) -> np.ndarray:
    return np.round(np.random.default_rng(seed).uniform(-1, 1, (count, 256)), 4)


def write_usps(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, count) in enumerate({"usps": 7, "usps.t": 3}.items()):
        lines = [
            f"{row % 10 + 1} " + " ".join(f"{place}:{value:g}" for place, value in enumerate(values, 1)) + " \n"
            for row, values in enumerate(usps_values(count, seed))
        ]
        (folder / f"{name}.bz2").write_bytes(bz2.compress("".join(lines).encode()))


def write_semeion(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    bits = np.random.default_rng(0).integers(0, 2, (6, 256))
    lines = [
        "".join(f"{bit}.0000 " for bit in row) + "".join(f"{int(digit == number)} " for digit in range(10)) + "\n"
        for number, row in enumerate(bits)
    ]
    (folder / "semeion.data").write_text("".join(lines))
