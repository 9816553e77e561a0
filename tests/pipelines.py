"""Pipelines that must give the same results in every way of running them, and their files."""

import ast
import importlib.util
import io
import json
import pathlib
import shutil
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import PIL.Image

import headrace as hr
from headrace import _engine, datasets
from headrace import transforms as T
from headrace import vision as V
from tests import coco_files, example_plugins, picture_set_files, set_files, sound_set_files, text_set_files
from tests.arrow_exporter import Table, dictionary, lists, numbers, record, texts
from tests.compressed_bytes import gzip_members, zstd_frames
from tests.front import kernel_of
from tests.tar_bytes import tar_bytes
from tests.tfrecord_bytes import example, frame

Build = Callable[[pathlib.Path], hr.Dataset]

# pyarrow decodes Parquet.
HAS_PARQUET = importlib.util.find_spec("pyarrow") is not None

SEED = 11
EPOCH = 2

# As they are when the tests are collected; tests register further operators.
OPERATORS = json.loads(_engine.declarations())["operators"]


def write_data(folder: pathlib.Path, photos: pathlib.Path) -> None:
    shutil.copytree(photos, folder / "photos", ignore=shutil.ignore_patterns("*.md"))
    _write_texts(folder / "texts")
    _write_compressed_texts(folder / "compressed-texts")
    _write_json_lines(folder)
    _write_json_arrays(folder / "arrays")
    _write_tables(folder)
    _write_sparse_rows(folder)
    _write_records(folder)
    _write_examples(folder)
    _write_samples(folder)
    _write_mind_records(folder / "mind")
    _write_parquet(folder / "parquet")
    _write_blocks(folder / "blocks")
    _write_sets(folder / "sets")
    _write_damaged(folder)
    _write_recovered(folder)
    _write_masks(folder / "masks")
    _write_readings(folder)
    # Now, and not while a soak takes memory away.
    example_plugins.build_all()


def _write_masks(folder: pathlib.Path) -> None:
    """PNGs of palette indices, and one of 16 bits."""
    folder.mkdir()
    draws = np.random.default_rng(2)
    for number in range(7):
        mask = PIL.Image.fromarray(draws.integers(0, 9, (14, 11), np.uint8), "P")
        mask.putpalette(draws.integers(0, 256, 27, np.uint8).tobytes())
        mask.save(folder / f"{number}.png")
    depths = draws.integers(0, 1 << 16, (12, 13), np.uint16)
    PIL.Image.fromarray(depths).save(folder / "7.png")


def _write_readings(folder: pathlib.Path) -> None:
    """Of two channels, in three files; the last one has a value that is not finite."""
    for part in range(3):
        readings = np.zeros(25 * (part != 1), np.dtype([("time", "<i8"), ("values", "<f4", (2,))]))
        readings["time"] = np.arange(len(readings)) + 100 * part
        readings["values"] = readings["time"][:, None] / [3, 7]
        if part == 2:
            readings["values"][11, 1] = np.inf
        (folder / f"{part}.gauge").write_bytes(b"GAUGE001" + readings.tobytes())


def _write_json_lines(folder: pathlib.Path) -> None:
    for part in range(2):
        rows = [
            {"text": f"row {part} {i}", "box": [i, i / 2], "words": ["w"] * (i % 3), "left out": None}
            for i in range(25)
        ]
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _write_json_arrays(folder: pathlib.Path) -> None:
    """Plain and compressed, beside lines; boxes are in objects, and their classes have names."""
    folder.mkdir()
    for part in range(4):
        rows = [
            {"part": part, "objects": {"box": [[i, i / 2]] * (i % 3), "class": ["cat", "dog"][: i % 3]}}
            for i in range(21 * (part != 1))
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        text = (json.dumps(rows, indent=part) if part < 3 else lines).encode()
        (folder / f"{part}.json").write_bytes(gzip_members(text) if part == 2 else text)
    # A comma is missing.
    (folder / "damaged").write_bytes(b'[{"part": 1}, {"part": 2}, {"part": 3} {"part": 4}]')


def _write_tables(folder: pathlib.Path) -> None:
    for part in range(3):
        rows = "".join(f'{part}.{i},"row ""{part}"", {i}",{i},{i * i},{-i / 3},\r\n' for i in range(25 * (part != 1)))
        (folder / f"{part}.csv").write_bytes(f"id,text,x0,x1,x2,empty\r\n{rows}".encode())


def _write_sparse_rows(folder: pathlib.Path) -> None:
    for part in range(3):
        rows = (
            f"{part}.{i}{''.join(f' {k}:{i / (k + 1)}' for k in range(part, 8 + i // 10, i % 4 + 1))}\n"
            for i in range(25)
        )
        (folder / f"{part}.libsvm").write_text("# none\n" + "".join(rows))


def _write_texts(folder: pathlib.Path) -> None:
    folder.mkdir()
    (folder / "a-unix.txt").write_bytes(b"".join(b"line %d\n" % i for i in range(37)))
    (folder / "b-windows.txt").write_bytes(b"first\r\n\r\nthird \xc3\xbcber\r\nlast without an end")
    (folder / "c-empty.txt").write_bytes(b"")
    (folder / "d-mark.txt").write_bytes(b"\xef\xbb\xbfafter a byte order mark\n\n\nlone\rreturn\n")


def _write_compressed_texts(folder: pathlib.Path) -> None:
    """Lines, JSON lines and tables by gzip and zstd, under any names, beside plain ones."""
    folder.mkdir()
    texts = [b"".join(b"%d, line %d\r\n" % (part, i) * (i % 9 > 0) + b"\n" for i in range(23)) for part in range(3)]
    (folder / "a.txt").write_bytes(gzip_members(texts[0]))
    (folder / "b.txt").write_bytes(texts[1])
    (folder / "c.txt").write_bytes(zstd_frames(b"\xef\xbb\xbf" + texts[2]))
    (folder / "d.txt").write_bytes(gzip_members(b""))
    objects = [b"".join(b'{"part": %d, "x": [%d, %d]}\n' % (part, i, i * i) for i in range(21)) for part in range(2)]
    (folder / "a.jsonl").write_bytes(zstd_frames(objects[0]))
    (folder / "b.jsonl.gz").write_bytes(gzip_members(objects[1]))
    table = [b"".join(b"%d,%d,%d\n" % (part, i, i % 5) for i in range(19)) for part in range(3)]
    for part, compress in enumerate((gzip_members, bytes, zstd_frames)):
        (folder / f"{part}.csv").write_bytes(compress(b"part,x,y\n" + table[part]))
    # The second half of the file is lost.
    (folder / "torn.gz").write_bytes(gzip_members(texts[0], 1)[:-20])


def record_bytes(payloads: Iterable[bytes]) -> bytes:
    """A RecordIO file of payloads without magic words."""
    return b"".join(
        struct.pack("<II", 0xCED7230A, len(payload)) + payload + bytes(-len(payload) % 4) for payload in payloads
    )


def image_record(number: int, label: float, image: bytes) -> bytes:
    return struct.pack("<IfQQ", 0, label, number, 0) + image


def _write_records(folder: pathlib.Path) -> None:
    """Image records in two files, one with damage after its first record, and a list that names the images."""
    photos = sorted((folder / "photos").rglob("*.jpg"))
    images = [image_record(number, number % 3, photo.read_bytes()) for number, photo in enumerate(photos)]
    records = folder / "records"
    records.mkdir()
    (records / "a.rec").write_bytes(record_bytes(images[:5]))
    (records / "b.rec").write_bytes(record_bytes(images[5:]))
    (folder / "photos.lst").write_text(
        "".join(f"{number}\t{number % 3}\t{photo.relative_to(folder)}\n" for number, photo in enumerate(photos))
    )
    lost = struct.pack("<II", 0xCED7230A, 1 << 20) + b"claims too much."
    (folder / "damaged.rec").write_bytes(record_bytes([b"one"]) + lost + record_bytes([b"two", b"", b"three"]))


def _write_examples(folder: pathlib.Path) -> None:
    """In three files, in one compressed by each of gzip and zlib, and in one beside a wrong checksum and a wrong type."""
    examples = folder / "examples"
    examples.mkdir()
    for part in range(3):
        records = [
            example(
                {
                    "number": ("int64", [100 * part + i]),
                    "box": ("float32", [i, i + 0.5] * (i % 3)),
                    "text": ("bytes", [b"text %d" % i]),
                    **({"data": ("bytes", [bytes(i)])} if i % 4 else {}),
                },
                packed=i % 2 == 0,
            )
            for i in range(25 * (part != 1))
        ]
        (examples / f"{part}.tfrecord").write_bytes(b"".join(map(frame, records)))
    frames = [frame(example({"number": ("int64", [i])})) for i in range(9)]
    for name, window in (("gzip", 31), ("zlib", 15)):
        packer = zlib.compressobj(wbits=window)
        (folder / f"{name}.examples").write_bytes(packer.compress(b"".join(frames)) + packer.flush())
    frames[3] = frames[3][:-1] + bytes([frames[3][-1] ^ 1])
    frames[5] = frame(example({"number": ("float32", [1.5])}))
    (folder / "damaged.examples").write_bytes(b"".join(frames))


def _write_samples(folder: pathlib.Path) -> None:
    """In three archives, one of them compressed, and in another one beside a sample that is not of its types."""
    shards = folder / "shards"
    shards.mkdir()
    for shard in range(3):
        members = []
        for i in range(25 * (shard != 1)):
            members += [(f"a/{i:02}.bin", bytes([i]) * (i * 37)), (f"a/{i:02}.Cls", b"%d\n" % (100 * shard + i))]
            members += [(f"a/{i:02}.json", b'{"text": "line %d", "box": [%d, 1]}' % (i, i))] * (i % 4 > 0)
            members += [("__meta__/x.txt", b"x")] * (i % 5 == 0)
        (shards / f"{shard}.tar").write_bytes(tar_bytes(members))
    plain = (shards / "2.tar").read_bytes()
    (folder / "compressed.tar").write_bytes(gzip_members(plain))
    wrong = [(f"{i}.cls", b"x" if i == 3 else b"%d" % i) for i in range(9)]
    (folder / "damaged.tar").write_bytes(tar_bytes(wrong))


def _write_blocks(folder: pathlib.Path) -> None:
    """Arrays of NumPy, and what LMDB and MosaicML Streaming wrote."""
    folder.mkdir()
    for part in (0, 1):
        np.save(folder / f"{part}.npy", np.arange(part * 30, part * 30 + 30, dtype=np.int32).reshape(10, 3))
    images = np.arange(11 * 4, dtype=np.uint8).reshape(11, 2, 2)
    np.savez(folder / "stored.npz", image=images, word=np.array([f"w{i}" for i in range(11)]))
    np.savez_compressed(folder / "packed.npz", image=images, label=np.arange(11, dtype=">i4"))
    formats = pathlib.Path(__file__).resolve().parents[1] / "io/formats"
    shutil.copyfile(formats / "lmdb/testdata/plain.mdb", folder / "data.mdb")
    for name in ("plain", "zstd"):
        shutil.copytree(formats / "mds/testdata" / name, folder / name)


def _write_mind_records(folder: pathlib.Path) -> None:
    """Files that MindSpore wrote: a set of four, and one with every type."""
    folder.mkdir()
    written = pathlib.Path(__file__).resolve().parents[1] / "io/formats/mindrecord/testdata"
    for path in [*written.glob("shards.mindrecord?"), written / "types.mindrecord"]:
        shutil.copyfile(path, folder / path.name)


def _write_parquet(folder: pathlib.Path) -> None:
    """In row groups of nine, below two folders of Hive's, with a file that has no rows and one with missing values."""
    if not HAS_PARQUET:
        return
    for part in range(4):
        rows = range(25 * part, 25 * part + 25 * (part != 1))
        columns = {
            "number": np.array(rows, np.int64),
            "text": np.array([f"téxt {i}" for i in rows], np.str_),
            "list": hr.ragged(np.arange(2 * len(rows), dtype=np.float32), 2 * np.arange(len(rows) + 1)),
        }
        (folder / f"part={part // 2}").mkdir(parents=True, exist_ok=True)
        hr.Numpy(columns).write_parquet(folder / f"part={part // 2}/{part}.parquet", row_group_rows=9)


def _write_sets(folder: pathlib.Path) -> None:
    """Named sets: pictures as arrays and as files with boxes, objects and masks, lines that the engine reads, and
    recordings."""
    text_set_files.write_ag_news(folder / "ag_news_csv")
    text_set_files.write_squad(folder)
    sound_set_files.write_vctk(folder)
    set_files.write_mnist(folder, packed=True)
    picture_set_files.write_wider_face(folder)
    for number, path in enumerate(sorted((folder / "WIDER_train").rglob("*.jpg"))):
        PIL.Image.new("RGB", (60 + number, 70), (40 * number, 90, 9)).save(path)
    coco_files.write_coco(folder / "coco")
    picture_set_files.write_voc(folder)
    picture_set_files.write_cityscapes(folder)
    picture_set_files.write_lsun(folder)


def _write_damaged(folder: pathlib.Path) -> None:
    """Files, of which one in the middle is not of the format that its name says."""
    images = folder / "damaged/class"
    images.mkdir(parents=True)
    whole = (folder / "photos/animals/cat-eyes.jpg").read_bytes()
    for number in range(14):
        (images / f"{number:02}.jpg").write_bytes(whole[: len(whole) // 2] if number == 9 else whole)
    texts = folder / "damaged-texts"
    texts.mkdir()
    (texts / "0.txt").write_bytes(b"good\n" * 20)
    (texts / "1.txt").write_bytes(b"good\n" * 5 + b"b\xffd\n" + b"good\n" * 5)


def _write_recovered(folder: pathlib.Path) -> None:
    """Images of which libjpeg invents a part: missing scans, damaged data, no end marker."""
    images = folder / "recovered/class"
    images.mkdir(parents=True)
    with PIL.Image.open(folder / "photos/animals/cat-eyes.jpg") as image:
        small = image.convert("RGB").resize((150, 110))
    for number in range(12):
        target = io.BytesIO()
        small.save(target, "JPEG", quality=60 + number, progressive=number % 2 == 0)
        whole = target.getvalue()
        scans = [at for at in range(len(whole)) if whole[at : at + 2] == b"\xff\xda"]
        if number % 4 == 0:
            spoilt = whole[: scans[3 + number // 4]] + b"\xff\xd9"
        elif number % 4 == 2:
            spoilt = whole[:-2]
        else:
            spoilt = whole[: len(whole) * (number + 4) // 16] + (b"\xff\xd9" if number < 8 else whole[-200:])
        (images / f"{number:02}.jpg").write_bytes(spoilt)


# ---- functions that pipelines call ----


def plus_noise(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + rng.integers(0, 1000)


def swap_and_sum(a: np.ndarray, b: np.ndarray) -> tuple[Any, Any, Any]:
    return b, a, a + b


def as_float(x: np.ndarray) -> np.float32:
    return np.float32(x)


def odd(value: np.ndarray) -> bool:
    return bool(value % 2)


def often(value: np.ndarray, rng: np.random.Generator) -> bool:
    return bool(rng.random() < 0.7)


def fails_at_37(value: np.ndarray) -> np.ndarray:
    if value == 37:
        raise ValueError("37 is not welcome")
    return value


def pieces(value: np.ndarray) -> np.ndarray:
    return np.arange(value % 4)


def of_length(n: np.ndarray) -> np.ndarray:
    return np.full(n, n)


def longer_from_13(value: np.ndarray) -> np.ndarray:
    return np.arange(3 + value // 13)


def padded_and_numbered(x: list[Any], rng: np.random.Generator, info: hr.BatchInfo) -> dict[str, Any]:
    """The rows in one array, and what is drawn for the batch."""
    starts = np.cumsum([0, *(len(each) for each in x)])
    return {"x": np.concatenate(x), "starts": starts, "drawn": rng.random(), "number": info.number}


def growing_batches(info: hr.BatchInfo) -> int:
    return 1 + (info.number + info.epoch) % 5


def reversed_rows(*columns: list[Any]) -> tuple[list[Any], ...]:
    return tuple(column[::-1] for column in columns)


def fails_at_batch_3(value: list[Any], info: hr.BatchInfo) -> list[Any]:
    if info.number == 3:
        raise ValueError("batch 3 is not welcome")
    return value


def several(value: np.ndarray, rng: np.random.Generator) -> list[int]:
    return [int(value) * 1000 + int(draw) for draw in rng.integers(0, 1000, int(value) * 7 % 5)]


def listed_together(value: list[Any], key: list[Any], info: hr.BatchInfo) -> dict[str, Any]:
    return {"key": key[0], "value": np.stack(value), "number": info.number}


def counted_rows(epoch: int) -> Iterator[dict[str, Any]]:
    for number in range(23):
        yield {"x": epoch * 100 + number, "name": f"row {number}", "raw": bytes([number] * (number % 5))}


def seekable_rows(epoch: int, start: int = 0) -> Iterator[tuple[int, np.ndarray]]:
    for number in range(start, 19):
        yield epoch * 100 + number, np.full((2, number % 3), number, np.float32)


def failing_rows() -> Iterator[int]:
    yield from range(13)
    raise KeyError("no more of these")


class OwnRows:
    """As a torch Dataset of dicts."""

    def __len__(self) -> int:
        return 37

    def __getitem__(self, number: int) -> dict[str, Any]:
        return {"x": number, "grid": np.full((2, number % 3), number, np.float32), "name": f"row {number}"}


class OwnRuns:
    """As a torch Dataset of tuples that takes many numbers at once."""

    def __len__(self) -> int:
        return 41

    def __getitem__(self, number: int) -> tuple[Any, int]:
        return PIL.Image.new("RGB", (5, 4), (number, 0, 9)), number

    def __getitems__(self, numbers: list[int]) -> list[tuple[Any, int]]:
        return [self[number] for number in numbers]


# ---- images ----


def training(data: pathlib.Path) -> hr.Dataset:
    return (
        hr.ImageFolder(data / "photos", shuffle=True)
        .map(
            [
                V.Decode(),
                V.RandomResizedCrop(32),
                V.RandomHorizontalFlip(),
                V.Normalize([120.0, 115.0, 100.0], [60.0, 58.0, 57.0]),
                V.HWC2CHW(),
            ],
            "image",
        )
        .batch(5)
    )


def opencv_training(data: pathlib.Path) -> hr.Dataset:
    return (
        hr.ImageFolder(data / "photos", shuffle=True, columns=["image", "label", "index"])
        .map(V.Decode(), "image", window=3)
        .map(V.RandomResizedCrop((24, 40), interpolation="bicubic", antialias=False), "image", workers=2)
        .map([V.RandomVerticalFlip(), V.Rescale(1 / 255), V.HWC2CHW()], "image", workers=3, window=2)
        .map(T.OneHot(4), "label")
        .repeat(2)
        .batch(8, drop_remainder=True)
    )


def evaluation(data: pathlib.Path) -> hr.Dataset:
    return (
        hr.ImageFolder(data / "photos", columns=["image", "label", "path"])
        .map([V.Decode(), V.Resize(40), V.CenterCrop(32), T.TypeCast("float16")], "image")
        .project(["label", "image"])
        .batch(3)
    )


def image_and_mask(data: pathlib.Path) -> hr.Dataset:
    images = np.random.default_rng(0).integers(0, 256, (40, 20, 24, 3), np.uint8)
    return (
        hr.Numpy({"image": images, "mask": images[..., :1] // 2, "number": np.arange(40)}, shuffle=True)
        .map([V.RandomCrop(16, padding=3), V.RandomHorizontalFlip(), V.RandomVerticalFlip(0.3)], ["image", "mask"])
        .map(V.Pad(1, mode="reflect"), "image")
        .shuffle(10)
        .batch(6)
    )


def strength_of(epoch: int) -> float:
    return 0.5 + epoch / 8


def changing_images(data: pathlib.Path) -> hr.Dataset:
    """Two parameters are read below repeat, and one of them above, by a function."""
    strength = hr.parameter("strength", strength_of)
    size = hr.parameter("size", lambda epoch: 24 + epoch % 3)

    def scaled(number: np.ndarray, by: Any = strength) -> np.ndarray:
        return number * by

    drawn = V.RandomApply([V.AdjustContrast(strength)], p=0.4)
    steps = [V.Decode(), V.Resize((30, 40)), V.CenterCrop(size), V.AdjustBrightness(strength), drawn, V.HWC2CHW()]
    images = hr.ImageFolder(data / "photos", shuffle=True).map(steps, "image").repeat(2)
    return images.map(scaled, "label", "scaled").batch(3, pad=True)


def ragged_images(data: pathlib.Path) -> hr.Dataset:
    return hr.ImageFolder(data / "photos").map([V.Decode(), V.Resize(20)], "image").batch(4, pad=True, pad_value=7)


def colored(data: pathlib.Path) -> hr.Dataset:
    """Pixel steps that draw, look at whole pixels and at the image, in one pass and after one that does not fit."""
    jitter = V.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1)
    return (
        hr.ImageFolder(data / "photos", shuffle=True)
        .map([V.Decode(), V.RandomResizedCrop(24), V.RandomHorizontalFlip(), jitter, V.AdjustContrast(1.3)], "image")
        .map([V.RandomErasing(), V.Grayscale(3), V.AdjustBrightness(0.8), T.TypeCast("float16")], "image")
        .map([V.Rescale(1 / 255), V.HWC2CHW(), V.Normalize([0.4, 0.5, 0.6], 0.2, "CHW")], "image")
        .batch(5)
    )


def patches(data: pathlib.Path) -> hr.Dataset:
    """Several columns become several times as many; an image and its mask are bent alike, and noise is of its own."""
    images = np.random.default_rng(0).integers(0, 256, (20, 21, 24, 3), np.uint8)
    rows = hr.Numpy({"image": images, "mask": images[..., :1] // 2, "number": np.arange(20)}, shuffle=True)
    columns = ["left", "right", "left of mask", "right of mask"]
    return (
        rows.map(V.ElasticTransform(40, 3, interpolation="nearest"), ["image", "mask"])
        .map([V.SlicePatches(1, 2), V.Resize(9, interpolation="lanczos")], ["image", "mask"], columns)
        .map([V.GaussianNoise(sigma=0.2), V.HWC2CHW(), V.Rescale(1 / 255), V.GaussianNoise()], "left")
        .map([V.JPEG((5, 60)), V.AugMix()], "right")
        .repeat(2)
        .batch(3)
    )


def unchanged_masks(data: pathlib.Path) -> hr.Dataset:
    masks = hr.Files(str(data / "masks/*.png"), shuffle=True).map(V.Decode(mode="unchanged"), "data")
    return masks.map([V.RandomCrop(9), V.RandomHorizontalFlip()], "data").repeat(2).batch(1)


def mixed_up(data: pathlib.Path) -> hr.Dataset:
    return (
        hr.ImageFolder(data / "photos", shuffle=True)
        .map([V.Decode(), V.RandomResizedCrop(16), V.Rescale(1 / 255), V.HWC2CHW()], "image")
        .batch(4)
        .map([V.MixUp(alpha=0.4, num_classes=4), V.CutMix()], ["image", "label"])
        .shuffle(2)
        .unbatch()
        .batch(3)
    )


def mosaics(data: pathlib.Path) -> hr.Dataset:
    """Of rows that differ in their boxes, some joined, with their labels and texts, then moved further."""
    draws = np.random.default_rng(12)
    images = draws.integers(0, 256, (30, 20, 24, 3), np.uint8)
    splits = np.cumsum([0, *draws.integers(0, 4, 30)])
    near = draws.uniform(0, 12, (splits[-1], 2)).astype(np.float32)
    given = {
        "image": images,
        "boxes": hr.ragged(np.concatenate([near, near + 8], -1), splits),
        "label": hr.ragged(draws.integers(0, 9, splits[-1]), splits),
        "name": hr.ragged([f"object {number}" for number in range(splits[-1])], splits),
    }
    columns = [each for name in ("boxes", "label", "name") for each in (name, f"{name}_splits")]
    boxes = hr.boxes("boxes", labels=["label", "name"])
    return (
        hr.Numpy(given, shuffle=True)
        .map(V.RandomHorizontalFlip(), ["image", boxes])
        .batch(5, ragged="splits")
        .map(V.Mosaic(p=0.7, layout="HWC", min_size=2.0), ["image", *columns])
        .unbatch()
        .map([V.RandomCrop(16), V.SanitizeBoxes(), V.HWC2CHW()], ["image", boxes])
        .batch(4, ragged="splits")
    )


def chosen_images(data: pathlib.Path) -> hr.Dataset:
    """What is drawn joins the pass that decodes, or ends it."""
    colors = [[V.RandomApply(V.ColorJitter(0.4), 0.8), V.Invert()], V.Equalize(), V.GaussianBlur(3)]
    order = [V.RandomVerticalFlip(), V.AdjustContrast(1.3), V.RandomErasing()]
    return (
        hr.ImageFolder(data / "photos", shuffle=True)
        .map([V.Decode(), V.RandomApply([V.RandomResizedCrop(30), V.RandomHorizontalFlip()], 0.6)], "image")
        .map([V.RandomChoice([V.Resize((24, 25)), V.RandomCrop((24, 25), pad_if_needed=True)]), V.Invert()], "image")
        .map([V.RandomChoice(colors, [2, 1, 1]), V.RandomOrder(order)], "image")
        .map([V.Compose([V.ToFloat(), V.HWC2CHW()]), V.RandomApply(V.Rescale(0.5), 1)], "image")
        .batch(5)
    )


def chosen_policies(data: pathlib.Path) -> hr.Dataset:
    policy = [[(V.RandomRotation(30), 0.5), (V.Equalize(), 0.9)], [(V.Invert(), 0.3)], [(V.RandomCrop(18), 1)]]
    return (
        hr.ImageFolder(data / "photos", shuffle=True)
        .map([V.Decode(), V.RandomResizedCrop(24), V.RandomSelectSubpolicy(policy), V.Resize((20, 20))], "image")
        .map([V.UniformAugment([V.RandomHorizontalFlip(1), V.Equalize(), V.AdjustGamma(2)]), V.HWC2CHW()], "image")
        .batch(5)
    )


def chosen_pairs(data: pathlib.Path) -> hr.Dataset:
    """One choice for an image and its mask, and for the whole batch."""
    images = np.random.default_rng(0).integers(0, 256, (40, 20, 24, 3), np.uint8)
    moves = [V.RandomVerticalFlip(), V.RandomApply([V.RandomCrop(16), V.Resize((20, 24))])]
    return (
        hr.Numpy({"image": images, "mask": images[..., :1] // 2, "label": np.arange(40) % 3}, shuffle=True)
        .map(V.RandomOrder(moves), ["image", "mask"])
        .map(V.RandomApply(V.Invert()), "image", "inverted")
        .map(V.ToFloat(), "image")
        .batch(6)
        .map(V.RandomChoice([V.MixUp(num_classes=3), V.CutMix(num_classes=3, layout="HWC")]), ["image", "label"])
    )


def with_targets(data: pathlib.Path, count: int = 3) -> hr.Dataset:
    """The images of the folder, encoded, with boxes, a label for each of them, and keypoints."""
    draws = np.random.default_rng(4)
    photos = hr.ImageFolder(data / "photos")
    rows = len(photos)
    near, far = draws.random((2, rows, count, 2), np.float32)
    boxes = np.concatenate([np.minimum(near, far), np.abs(near - far)], -1)
    labels = draws.integers(0, 9, (rows, count))
    arrays = {"boxes": boxes, "label": labels, "number": np.arange(rows), "points": draws.uniform(0, 60, (rows, 3, 2))}
    return photos.project("image").zip(hr.Numpy(arrays))


def detection(data: pathlib.Path) -> hr.Dataset:
    """Boxes beside images that are decoded in part, in pipelines that choose, and removed."""
    boxes = hr.boxes("boxes", format="xywh", labels="label", relative=True)
    steps = [
        V.Decode(),
        V.RandomResizedCrop((40, 44), scale=(0.3, 1.0)),
        V.RandomHorizontalFlip(),
        V.RandomApply([V.RandomVerticalFlip(), V.ColorJitter(0.3)]),
        V.RandomZoomOut(side_range=(1.0, 1.5)),
        V.SanitizeBoxes(min_size=6.0),
        V.CenterCrop(32),
        V.ClampBoxes(),
        V.ConvertBoxFormat("cxcywh"),
        V.HWC2CHW(),
    ]
    moved = with_targets(data).map(steps, ["image", boxes, hr.keypoints("points")]).shuffle(5)
    return moved.map(T.PadEnd((3, 4)), "boxes").map(T.PadEnd((3,), -1), "label").batch(3)


def poses(data: pathlib.Path) -> hr.Dataset:
    """Keypoints in groups, cropped among boxes, clamped, and removed with their labels."""
    draws = np.random.default_rng(9)
    given = with_targets(data)
    points = draws.uniform(0, 60, (len(given), 4, 5, 2)).astype(np.float32)
    people = hr.Numpy({"points": points, "person": np.arange(4 * len(given)).reshape(-1, 4)})
    rows = given.project(["image", "boxes"]).zip(people)
    boxes = hr.boxes("boxes", format="xywh", relative=True)
    steps = [
        V.Decode(),
        V.RandomIoUCrop(min_scale=0.5),
        V.RandomHorizontalFlip(),
        V.RandomAffine(15, translate=(0.1, 0.1)),
        V.RandomApply([V.ClampKeypoints(), V.RandomVerticalFlip()]),
        V.SanitizeKeypoints(),
        V.Rotate(5),
        V.ClampKeypoints(),
        V.Resize((24, 32)),
    ]
    moved = rows.map(steps, ["image", boxes, hr.keypoints("points", labels="person")]).shuffle(3)
    return moved.project(["image", "points", "person"]).batch(3, ragged="splits")


def objects_of_labels(data: pathlib.Path) -> hr.Dataset:
    """Labels as MXNet's detection records have them, and crops that depend on the boxes in them."""
    draws = np.random.default_rng(8)
    photos = hr.ImageFolder(data / "photos")
    rows = len(photos)
    near = draws.uniform(0, 0.5, (rows, 3, 2))
    objects = np.concatenate([draws.integers(0, 9, (rows, 3, 1)), near, near + draws.uniform(0, 0.5, (rows, 3, 2))], -1)
    labels = np.concatenate([np.tile([2.0, 5.0], (rows, 1)), objects.reshape(rows, -1)], -1).astype(np.float32)
    crops = [V.RandomIoUCrop(), V.RandomObjectCrop(), V.RandomConstrainedCrop(min_crop_scales=(0.4, 0.2))]
    steps = [V.Decode(), V.RandomPad(), *crops, V.RandomApply([V.RandomChoice(crops[1:])]), V.Resize((24, 32))]
    split = (
        photos.project("image")
        .zip(hr.Numpy({"label": labels, "points": draws.uniform(0, 60, (rows, 3, 2))}))
        .map(T.SplitDetections(), "label", ["header", "boxes", "rest"])
    )
    columns = ["image", hr.boxes("boxes", labels="rest", relative=True), hr.keypoints("points")]
    moved = split.map(steps, columns).shuffle(3)
    joined = moved.map(T.JoinDetections(), ["boxes", "rest"], "objects")
    joined = joined.map(T.DetectionLabel((3, 24, 32)), ["header", "objects"], "label").map(T.PadEnd((24,), -1), "label")
    return joined.map(T.PadEnd((3, -1), -1), "objects").project(["image", "objects", "label", "points"]).batch(3)


def segmentation(data: pathlib.Path) -> hr.Dataset:
    """Every kernel that moves masks, boxes and keypoints, on small images."""
    draws = np.random.default_rng(6)
    rows = hr.Numpy(
        {
            "image": draws.integers(0, 256, (11, 30, 34, 3), np.uint8),
            "mask": draws.integers(0, 5, (11, 30, 34), np.int32),
            "boxes": np.sort(draws.integers(0, 30, (11, 2, 2, 2)), -2).reshape(11, 2, 4),
            "points": draws.uniform(0, 30, (11, 3, 2)),
            "objects": draws.integers(0, 9, (11, 2, 30, 34), np.uint16),
        },
        shuffle=True,
    )
    steps = [
        V.RandomShortestSize([28, 33]),
        V.RandomVerticalFlip(),
        V.RandomCrop(26, padding=2, fill=9),
        V.RandomAffine(20, translate=(0.1, 0.1), fill=5),
        V.RandomAffineResize(10, 0.1, (0.9, 1.1), (0.9, 1.1), fill=5),
        V.RandomVerticalFlip(),
        V.HorizontalFlip(),
        V.ScaleJitter((40, 36), (0.8, 1.2)),
        V.RandomRotation(25, expand=True, interpolation="bilinear"),
        V.RandomPerspective(0.3, p=0.6),
        V.FitInside((30, 28)),
        V.EnlargeToSize((20, 24)),
        V.ResizeKeepRatio((26, 30), "cover"),
        V.ResizeToEdges(25, 31),
        V.ResizeToMultiple(2),
        V.PadToMultiple(8, fill=7),
        V.CenterSquare(),
        V.RandomSquare(17, 19),
        V.ResizeByFactor(1.3),
        V.RandomSizeCrop(15, 24),
        V.Rotate(90),
        V.VerticalFlip(),
        V.Affine(5, shear=3),
        V.RandomResize(24, 30),
        V.Pad((1, 2, 3, 4)),
        V.Perspective((0, 0, 29, 0, 29, 29, 0, 29), (1, 1, 28, 0, 29, 27, 2, 29)),
        V.PadToSize((60, 64)),
        V.Crop(3, 4, height=40, width=50),
        V.Resize((20, 24)),
        V.ElasticTransform(),
    ]
    columns = ["image", hr.mask("mask", fill=-1), hr.boxes("boxes", masks="objects"), hr.keypoints("points")]
    return rows.map(steps, columns).repeat(2).batch(4)


def instances(data: pathlib.Path) -> hr.Dataset:
    """Masks of single boxes, which kernels remove with the boxes."""
    draws = np.random.default_rng(8)
    near = draws.integers(0, 24, (12, 4, 2))
    rows = hr.Numpy(
        {
            "image": draws.integers(0, 256, (12, 30, 34, 3), np.uint8),
            "boxes": np.concatenate([near, near + draws.integers(1, 12, (12, 4, 2))], -1).astype(np.float32),
            "label": np.arange(48).reshape(12, 4),
            "masks": draws.integers(0, 2, (12, 4, 30, 34)).astype(bool),
        }
    )
    crops = [V.RandomIoUCrop(), V.RandomObjectCrop(), V.RandomConstrainedCrop(min_crop_scales=(0.4,))]
    steps = [
        V.RandomZoomOut(side_range=(1.0, 1.5)),
        V.RandomPad(),
        *crops,
        V.RandomApply([V.RandomChoice(crops[1:])]),
        V.RandomHorizontalFlip(),
        V.RandomResizedCrop((20, 24), scale=(0.5, 1.0)),
        V.SanitizeBoxes(min_size=3.0),
        V.CenterCrop(18),
    ]
    moved = rows.map(steps, ["image", hr.boxes("boxes", labels="label", masks="masks")]).shuffle(5)
    return moved.batch(3, ragged="splits")


def as_it_is(value: np.ndarray) -> np.ndarray:
    return value


def clips(data: pathlib.Path) -> hr.Dataset:
    """Frames with one draw, of a known shape and of one that a function hides, and what follows them."""
    draws = np.random.default_rng(12)
    rows = hr.Numpy(
        {
            "clip": draws.integers(0, 256, (11, 3, 30, 34, 3), np.uint8),
            "mask": draws.integers(0, 5, (11, 3, 30, 34), np.int32),
            "still": draws.integers(0, 5, (11, 30, 34), np.uint8),
            "boxes": np.sort(draws.integers(0, 30, (11, 2, 2, 2)), -2).reshape(11, 2, 4),
            "points": draws.uniform(0, 30, (11, 3, 2)),
        },
        shuffle=True,
    )
    steps = [
        V.RandomCrop(26, padding=2, fill=9),
        V.RandomHorizontalFlip(),
        V.RandomApply([V.RandomAffine(20, fill=5), V.ColorJitter(0.3)]),
        V.Resize((20, 24)),
        V.HWC2CHW(),
    ]
    columns = ["clip", hr.mask("mask", fill=-1), hr.mask("still"), hr.boxes("boxes"), hr.keypoints("points")]
    hidden = rows.map(steps, columns).map(as_it_is, "clip")
    return hidden.map([V.RandomErasing(layout="CHW"), V.Rescale(1 / 255)], "clip").repeat(2).batch(4)


# ---- every kernel, on the sample that its declaration gives ----


def with_kernels(dataset: hr.Dataset, kind: str) -> hr.Dataset:
    """Adds a column for each output of each kernel whose sample is of the kind; they read the dataset's columns."""
    columns = list(dataset.schema)
    for operator in OPERATORS:
        inputs = operator["sample"]["inputs"]
        if not inputs or set(inputs) != {kind}:
            continue
        given = {name: ast.literal_eval(value) for name, value in operator["sample"]["attributes"].items()}
        kernel = kernel_of(operator)(**given)
        count = operator["outputs"]
        outputs = [operator["name"]] if count == 1 else [f"{operator['name']} {i}" for i in range(count)]
        dataset = dataset.map(kernel, columns[: len(inputs)], outputs)
    return dataset


def kernels_on_images(data: pathlib.Path) -> hr.Dataset:
    images = np.random.default_rng(1).integers(0, 256, (13, 60, 80, 3), np.uint8)
    return with_kernels(hr.Numpy({"x": images}, shuffle=True), "image").repeat(2).batch(4, pad=True)


def kernels_on_encoded_images(data: pathlib.Path) -> hr.Dataset:
    files = hr.ImageFolder(data / "recovered", shuffle=True).project(["image"])
    return with_kernels(files, "encoded").repeat(2).batch(4, pad=True)


def kernels_on_vectors(data: pathlib.Path) -> hr.Dataset:
    columns = {name: (np.arange(44, dtype=np.int32).reshape(11, 4) + at) % 4 for at, name in enumerate("abc")}
    return with_kernels(hr.Numpy(columns, shuffle=True), "vector").repeat(2).batch(4)


# ---- other sources ----


def whole_files(data: pathlib.Path) -> hr.Dataset:
    return hr.Files([str(data / "photos/**/*.jpg"), str(data / "texts/*.txt")], shuffle=True).batch(3)


def table_of_files(data: pathlib.Path) -> hr.Dataset:
    paths = sorted(data.glob("photos/**/*.jpg"))
    table = {"path": paths, "label": np.arange(len(paths)), "box": np.arange(2 * len(paths)).reshape(-1, 2)}
    files = hr.Manifest(table, "path", output="image", shuffle=True)
    return files.project(["image", "label", "box"]).map([V.Decode(), V.Resize((9, 12))], "image").repeat(2).batch(4)


def set_of_arrays(data: pathlib.Path) -> hr.Dataset:
    return datasets.Mnist(data / "sets", "all", shuffle=True).map(V.RandomCrop((20, 24)), "image").repeat(2).batch(5)


def set_of_files(data: pathlib.Path) -> hr.Dataset:
    faces = datasets.WIDERFace(data / "sets", shuffle=True).repeat(3)
    moved = faces.map([V.Decode(), V.Resize((50, 40)), V.RandomHorizontalFlip()], ["image", hr.boxes("boxes")])
    return moved.project(["image", "boxes", "blur", "event"]).batch(4, ragged="splits")


def coco(data: pathlib.Path, name: str, task: str, **options: Any) -> hr.Dataset:
    return datasets.Coco(data / "sets/coco", f"{name}_val2017.json", task, shuffle=True, **options).repeat(4)


def set_of_objects(data: pathlib.Path) -> hr.Dataset:
    objects = coco(data, "instances", "detection", masks=True)
    columns = ["image", hr.boxes("boxes", labels=["category", "annotation_id"], masks="masks")]
    moved = objects.map([V.Decode(), V.RandomHorizontalFlip(), V.Resize((24, 36)), V.SanitizeBoxes()], columns)
    return moved.project(["boxes", "category", "annotation_id", "masks"]).batch(5, ragged="splits")


def set_of_keypoints(data: pathlib.Path) -> hr.Dataset:
    return coco(data, "person_keypoints", "keypoints", empty="drop").batch(3, ragged="splits")


def set_of_captions(data: pathlib.Path) -> hr.Dataset:
    return (
        coco(data, "captions", "captions").project(["image_id", "captions", "annotation_id"]).batch(5, ragged="splits")
    )


def set_of_stuff(data: pathlib.Path) -> hr.Dataset:
    return coco(data, "stuff", "stuff").project(["image_id", "mask"])


def set_of_segments(data: pathlib.Path) -> hr.Dataset:
    segments = coco(data, "panoptic", "panoptic").project(["image_id", "mask", "segment_id", "category"])
    return segments.map(V.PanopticCategories(), ["mask", "segment_id", "category"], "mask")


def set_of_parts(data: pathlib.Path) -> hr.Dataset:
    return datasets.VOC(data / "sets", boxes="xywh", parts=True, shuffle=True).repeat(3).batch(4, ragged="splits")


def set_of_streets(data: pathlib.Path) -> hr.Dataset:
    return datasets.Cityscapes(data / "sets", "val", task="instances", shuffle=True).repeat(4).batch(3)


def set_of_entries(data: pathlib.Path) -> hr.Dataset:
    scenes = datasets.LSUN(data / "sets", "val", ["kitchen", "bridge"], shuffle=True)
    return scenes.take(90).project(["label", "image"]).batch(8, drop_remainder=True)


def set_of_lines(data: pathlib.Path) -> hr.Dataset:
    return datasets.AGNews(data / "sets", shuffle=True).repeat(3).batch(5)


def set_of_questions(data: pathlib.Path) -> hr.Dataset:
    return datasets.SQuAD(data / "sets", "2.0", shuffle=True).repeat(4).batch(3, ragged="splits")


def set_of_recordings(data: pathlib.Path) -> hr.Dataset:
    return datasets.VCTK(data / "sets", shuffle=True).repeat(5).batch(4)


def text_lines(data: pathlib.Path) -> hr.Dataset:
    return hr.Text(str(data / "texts/*.txt")).shuffle(8).batch(7)


def whole_text_files(data: pathlib.Path) -> hr.Dataset:
    return hr.Text(data / "texts/*.txt", shuffle="files").batch(5)


def text_splits(data: pathlib.Path) -> hr.Dataset:
    return hr.Text(str(data / "texts/*.txt"), shuffle=True, window=6, interleave=3, split_bytes=40).batch(7)


def compressed_lines(data: pathlib.Path) -> hr.Dataset:
    return hr.Text(data / "compressed-texts/*.txt", skip_empty=True).batch(6)


def compressed_lines_in_splits(data: pathlib.Path) -> hr.Dataset:
    lines = hr.Text(data / "compressed-texts/*.txt", shuffle=True, window=5, interleave=3, split_bytes=40)
    return lines.repeat(2).batch(7)


def compressed_json_lines(data: pathlib.Path) -> hr.Dataset:
    columns = {"part": "int8", "x": ("float32", (2,))}
    rows = hr.JsonLines(str(data / "compressed-texts/*.jsonl*"), columns, sharding="contiguous", split_bytes=50)
    return rows.map(T.PadEnd(3), "x").batch(4)


def compressed_tables(data: pathlib.Path) -> hr.Dataset:
    # y does not fit in every row.
    rows = hr.Csv(data / "compressed-texts/*.csv", {"x": "int16", "y": bool}, sharding="splits", split_bytes=30)
    return rows.on_error("skip").shuffle(5).batch(4)


def torn_lines(data: pathlib.Path) -> hr.Dataset:
    return hr.Text(data / "compressed-texts/torn.gz").batch(4)


def json_lines(data: pathlib.Path) -> hr.Dataset:
    columns = {"text": str, "box": ("float32", (2,)), "words": (str, (None,))}
    rows = hr.JsonLines(str(data / "*.jsonl"), columns, shuffle=True, window=6, interleave=2, split_bytes=300)
    return rows.map(T.PadEnd(4), "box").map(len, "words").batch(4)


def json_arrays(data: pathlib.Path) -> hr.Dataset:
    columns = {"part": "int8", "objects.box": ("float32", (None, 2)), "objects.class": (str, (None,))}
    classes = {"objects.class": ["dog", "cat"]}
    rows = hr.JsonLines(str(data / "arrays/*.json"), columns, shuffle=True, window=6, interleave=2, classes=classes)
    return rows.batch(4, ragged="splits")


def numbered_json_arrays(data: pathlib.Path) -> hr.Dataset:
    columns = {"part": "int8", "objects.class": (str, (None,))}
    plain = [str(data / f"arrays/{part}.json") for part in (0, 1, 3)]
    rows = hr.JsonLines(plain, columns, classes={"objects.class": ["dog", "cat"]}, index="build", shuffle=True)
    return rows.repeat(2).batch(4, pad=True)


def damaged_json_array(data: pathlib.Path) -> hr.Dataset:
    return hr.JsonLines(str(data / "arrays/damaged"), {"part": "int8"}).batch(1)


def classes_of_tables(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Csv(str(data / "*.csv"), {"id": str, "x1": "int64"}, classes={"id": [f"{i % 3}.{i}" for i in range(25)]})
    return rows.on_error("skip").shuffle(5).batch(4)


def tables(data: pathlib.Path) -> hr.Dataset:
    types = {"x0": ("float32", (3,)), "text": str, "empty": "int16"}
    missing = {"empty": -7}
    rows = hr.Csv(str(data / "*.csv"), types, missing=missing, shuffle=True, window=6, interleave=2, split_bytes=300)
    return rows.map(T.PadEnd(4), "x0").map(len, "text").batch(4)


def damaged_table(data: pathlib.Path) -> hr.Dataset:
    return hr.Csv(str(data / "*.csv"), {"id": "float64", "x2": "float32", "x1": "uint8"}).batch(4)


def skipped_lines_of_tables(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Csv(str(data / "*.csv"), {"id": "float64", "x1": "uint8"}, sharding="splits", split_bytes=400)
    return rows.on_error("skip").shuffle(5).batch(4)


def numbered_lines(data: pathlib.Path) -> hr.Dataset:
    lines = hr.Text(str(data / "texts/*.txt"), index="build", shuffle=True)
    return lines.split([0.7, 0.3], seed=1)[0].batch(5)


def numbered_json_lines(data: pathlib.Path) -> hr.Dataset:
    columns = {"text": str, "box": ("float32", (2,)), "none": ("int8", (None,))}
    rows = hr.JsonLines(str(data / "*.jsonl"), columns, missing={"none": [1, 2]}, index="build", shuffle=True)
    return rows.map(T.PadEnd(4), "box").repeat(2).batch(4, pad=True)


def numbered_tables(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Csv(str(data / "*.csv"), {"id": "float64", "x1": "uint8"}, index="build", shuffle=True)
    return rows.on_error("skip").shuffle(5).batch(4)


def files_of_rows(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Files(str(data / "photos/**/*.jpg"), shuffle=True).project(["path"])
    steps = [T.ReadFile(), V.Decode(), V.RandomCrop(8)]
    return rows.map(steps, "path", output="image").project(["image"]).repeat(2).batch(3)


def sparse_rows(data: pathlib.Path) -> hr.Dataset:
    rows = hr.LibSvm(str(data / "*.libsvm"), 10, shuffle=True, window=6, interleave=2, split_bytes=300)
    return rows.map(T.PadEnd(10), "value").batch(4, pad=True, pad_value=-1)


def numbered_sparse_rows(data: pathlib.Path) -> hr.Dataset:
    rows = hr.LibSvm(str(data / "*.libsvm"), 10, index="build", shuffle=True)
    return rows.on_error("skip").split([0.7, 0.3], seed=1)[0].batch(4, pad=True, pad_value=-1)


def damaged_sparse_rows(data: pathlib.Path) -> hr.Dataset:
    return hr.LibSvm(str(data / "*.libsvm"), 8).batch(4, pad=True, pad_value=-1)


def skipped_sparse_rows(data: pathlib.Path) -> hr.Dataset:
    rows = hr.LibSvm(str(data / "*.libsvm"), 8, sharding="splits", split_bytes=400)
    return rows.on_error("skip").shuffle(5).batch(4, pad=True, pad_value=-1)


def packed_images(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageRecord(str(data / "records"), index="build", shuffle=True)
    return images.map([V.Decode(), V.RandomCrop(40)], "image").batch(4)


def packed_images_in_splits(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageRecord(str(data / "records"), shuffle=True, window=3, interleave=2, split_bytes=100_000)
    return images.map([V.Decode(), V.RandomCrop(40)], "image").batch(4)


def part_of_records(data: pathlib.Path) -> hr.Dataset:
    return hr.RecordFile(str(data / "records"), index="build").split([0.7, 0.3], seed=1)[0].batch(2)


def records_behind_damage(data: pathlib.Path) -> hr.Dataset:
    return hr.RecordFile(str(data / "damaged.rec"), damage="skip").repeat(2).batch(3)


def examples_by_number(data: pathlib.Path) -> hr.Dataset:
    features = {"number": "int64", "box": ("float32", (None, 2)), "text": str, "data": ("bytes", (), b"none")}
    rows = hr.TFRecord(str(data / "examples"), features, index="build", shuffle=True)
    return rows.project(["number", "text", "box"]).batch(4, ragged="splits")


def examples_in_files(data: pathlib.Path) -> hr.Dataset:
    rows = hr.TFRecord(str(data / "examples"), {"number": "int64"}, shuffle=True, window=7, interleave=2)
    return rows.repeat(2).batch(5)


def examples_beside_damage(data: pathlib.Path) -> hr.Dataset:
    rows = hr.TFRecord(str(data / "damaged.examples"), {"number": "int64"}, damage="skip")
    return rows.on_error("skip").batch(3)


def compressed_examples(data: pathlib.Path) -> hr.Dataset:
    paths = [str(data / "gzip.examples"), str(data / "examples/0.tfrecord"), str(data / "zlib.examples")]
    return hr.TFRecord(paths, {"number": "int64"}, shuffle="files").repeat(2).batch(4)


_SAMPLE_TYPES = {"cls": "int64", "json": {"text": str, "box": ("float32", (2,))}}
_NO_JSON = {"json.text": "none", "json.box": [0, 0]}


def samples_by_number(data: pathlib.Path) -> hr.Dataset:
    columns = ["__key__", "bin", "cls", "json"]
    rows = hr.WebDataset(str(data / "shards"), columns, _SAMPLE_TYPES, missing=_NO_JSON, index="build", shuffle=True)
    return rows.project(["cls", "bin", "json.box"]).batch(4)


def samples_in_shards(data: pathlib.Path) -> hr.Dataset:
    shards = str(data / "shards/{0..2}.tar") + "::" + str(data / "compressed.tar")
    rows = hr.WebDataset(shards, ["cls", "bin"], {"cls": "int32"}, shuffle=True, window=7, interleave=2)
    return rows.repeat(2).batch(5)


def samples_in_order(data: pathlib.Path) -> hr.Dataset:
    rows = hr.WebDataset(str(data / "shards"), ["json"], {"json": _SAMPLE_TYPES["json"]}, missing=_NO_JSON)
    return rows.batch(6)


def samples_beside_damage(data: pathlib.Path) -> hr.Dataset:
    return hr.WebDataset(str(data / "damaged.tar"), ["cls"], {"cls": "int64"}).on_error("skip").batch(3)


def mind_records(data: pathlib.Path) -> hr.Dataset:
    rows = hr.MindRecord(str(data / "mind/shards.mindrecord2"), shuffle=True)
    return rows.map(len, "file_name").repeat(3).batch(4)


def mind_arrays(data: pathlib.Path) -> hr.Dataset:
    columns = ["v32", "a64", "f32", "s", "b"]
    rows = hr.MindRecord([str(data / "mind/types.mindrecord")], columns=columns, index="build")
    return rows.skip(1).batch(3, pad=True, pad_value=-1)


def arrow_table() -> Table:
    """Of batches with other lengths, and dictionaries in another order."""
    batches = []
    for number, names in enumerate((["cat", "dog"], ["dog", "cat"], ["cat"])):
        rows = 5 + 2 * number
        counts = [(row + number) % 3 for row in range(rows)]
        batches.append(
            record(
                number=numbers("i", np.arange(10 * number, 10 * number + rows, dtype=np.int32)),
                label=dictionary([row % len(names) for row in range(rows)], names),
                boxes=lists(counts, numbers("f", np.arange(sum(counts), dtype=np.float32))),
                name=texts([f"row {row}" for row in range(rows)]),
            )
        )
    return Table(batches)


def arrow_tables(data: pathlib.Path) -> hr.Dataset:
    return hr.Arrow(arrow_table(), shuffle=True).repeat(2).batch(4, ragged="splits")


def parquet_by_number(data: pathlib.Path) -> hr.Dataset:
    return hr.Parquet(str(data / "parquet"), index="build", shuffle=True).repeat(2).batch(4, ragged="splits")


def parquet_in_row_groups(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Parquet(str(data / "parquet"), columns=["part", "number"], shuffle=True, window=7, interleave=2)
    return rows.repeat(2).batch(5)


def arrays_in_files(data: pathlib.Path) -> hr.Dataset:
    return hr.Npy(str(data / "blocks/*.npy"), shuffle=True).skip(2).batch(4)


def arrays_in_archives(data: pathlib.Path) -> hr.Dataset:
    stored = hr.Npz(str(data / "blocks/stored.npz"), columns=["word", "image"])
    return stored.zip(hr.Npz(str(data / "blocks/packed.npz"), columns=["label"], shuffle=True)).batch(3)


def database_entries(data: pathlib.Path) -> hr.Dataset:
    return hr.Lmdb(str(data / "blocks"), shuffle=True).take(40).map(len, "value").batch(7)


def streaming_samples(data: pathlib.Path) -> hr.Dataset:
    plain = hr.Mds(str(data / "blocks/plain"), columns=["id", "text", "arr", "emb"], shuffle=True)
    return plain.repeat(2).batch(5, pad=True)


def packed_streaming_samples(data: pathlib.Path) -> hr.Dataset:
    return hr.Mds(str(data / "blocks/zstd"), columns=["blob", "label", "meta"]).batch(4)


def listed_images(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageList(str(data / "photos.lst"), str(data), columns=["image", "label", "id"], shuffle=True)
    return images.map([V.Decode(), V.RandomCrop(40)], "image").batch(3)


def texts_repeated(data: pathlib.Path) -> hr.Dataset:
    return hr.Text([str(data / "texts/d*.txt"), str(data / "texts/b*.txt")]).repeat(3).skip(2).batch(4)


def table(data: pathlib.Path) -> hr.Dataset:
    columns = {
        "x": np.arange(30, dtype=np.float32).reshape(30, 1),
        "more": np.ones((30, 1), np.float32),
        "flag": np.arange(30) % 3 == 0,
        "name": np.array([f"näme {i}" for i in range(30)]),
        "raw": np.array([bytes([i]) * (i % 7) for i in range(30)], object),
        "wide": np.arange(60, dtype=np.uint64).reshape(30, 2) << 40,
    }
    return (
        hr.Numpy(columns, shuffle=True)
        .map(T.Concatenate(), ["x", "more"], "twice")
        .map(T.PadEnd(3, value=-1), "twice", "padded")
        .map(T.Slice(0, 1), "wide")
        .map(T.Fill(7), "more")
        .rename({"x": "y", "name": "x"})
        .batch(4)
    )


def generated(data: pathlib.Path) -> hr.Dataset:
    return hr.Generator(counted_rows, {"x": "int64", "name": str, "raw": bytes}).shuffle(6).batch(5)


def generated_from_anywhere(data: pathlib.Path) -> hr.Dataset:
    return hr.Generator(seekable_rows, {"x": "int64", "grid": ("float32", (2, None))}).repeat(2).batch(3, pad=True)


def boxes_of(number: Any) -> Any:
    return np.full((int(number) % 4, 4), number, np.float32), np.arange(int(number) % 4)


def boxes(data: pathlib.Path) -> hr.Dataset:
    types = {"boxes": ("float32", (None, 4)), "label": ("int64", (None,))}
    return hr.Range(23, shuffle=True).map(boxes_of, "value", ["boxes", "label"], types=types).repeat(2)


def ragged_splits(data: pathlib.Path) -> hr.Dataset:
    return boxes(data).batch(4, ragged="splits").map(T.TypeCast("int16"), "boxes").shuffle(2)


def ragged_lists(data: pathlib.Path) -> hr.Dataset:
    lists = boxes(data).batch(3, ragged="list").cache().shuffle(2).unbatch().skip(3)
    # A device takes no list.
    return lists.batch(5, ragged={"label": "splits", "boxes": "pad"}, pad_value={"boxes": -1})


def own_rows(data: pathlib.Path) -> hr.Dataset:
    rows = hr.from_dataset(OwnRows(), shuffle=True).skip(2).map(plus_noise, "x")
    return rows.map(as_float, "x", types={"x": ("float32", ())}).batch(5, pad=True)


def own_rows_in_processes(data: pathlib.Path) -> hr.Dataset:
    return hr.from_dataset(OwnRuns(), ["image", "label"], shuffle=True, processes=2).take(9).batch(4)


def own_runs(data: pathlib.Path) -> hr.Dataset:
    return hr.from_dataset(OwnRuns(), ["image", "label"], shuffle=True).map(V.RandomCrop(3), "image").batch(4)


# ---- rows that move ----


def filtered(data: pathlib.Path) -> hr.Dataset:
    column = hr.col("value")
    return hr.Range(100).filter((column % 3 == 0) | (column > 90)).shuffle(9).filter(odd, "value").batch(4)


def below_25(value: Any) -> bool:
    return bool(value < 25)


def up_to_a_condition(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(40).shuffle(3).take_while(hr.col("value") < 30)
    return rows.take_while(below_25, "value").repeat(2).batch(4)


def last_digit(value: Any) -> Any:
    return value % 17


def unlike_rows(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(60, shuffle=True).map(last_digit, "value", output="digit")
    return rows.unique("digit").shuffle(4).batch(3)


def with_total(total: Any, value: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    total = total + value + rng.integers(3)
    return total, total


def running_totals(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(25, shuffle=True).scan(with_total, np.int64(5), "value", output="total")
    return rows.filter(hr.col("value") != 3).batch(4)


def windows(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(30, shuffle=True).map(plus_noise, "value").window(4, shift=2, stride=2)


def chosen_inputs(data: pathlib.Path) -> hr.Dataset:
    choice = hr.Range(3).repeat(9).filter(hr.col("value") != 1)
    inputs = [hr.Range(7), hr.Range(100, 105), hr.Range(200, 205).shuffle(3)]
    return hr.choose(inputs, choice, stop="all").batch(4)


def taken_apart(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(50).batch(7).shuffle(3).unbatch().skip(5).take(31).batch(4).map(T.TypeCast("float32"), "value")


def unbatched_unevenly(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(20).map(pieces, "value").unbatch().batch(6, drop_remainder=True)


def interleaved(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(20, shuffle=True).interleave(several, 3, block=2).shuffle(4).batch(6)


def of_different_lengths(value: Any, rng: np.random.Generator) -> Iterator[Any]:
    for number in range(int(value) % 4):
        yield np.full(1 + (value + number) % 5, value * 10 + number + rng.integers(3))


def flat_mapped_to_different_lengths(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(30, shuffle=True).flat_map(of_different_lengths, "value", "x").shuffle(6)
    return rows.bucket_by_length("x", [3, 5], [4, 3, 2])


def different_lengths_in_turns(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(20).interleave(of_different_lengths, 3, 2, output="x").skip(2).batch(4, pad=True).repeat(2)


def fails_at_12(value: Any) -> Iterator[Any]:
    yield value
    if value == 12:
        raise ValueError("12 is not liked")
    yield value + 1


def skipped_and_flat_mapped(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(40).map(fails_at_37, "value").flat_map(fails_at_12).shuffle(4).on_error("skip").batch(5)


def texts_in_buckets(data: pathlib.Path) -> hr.Dataset:
    lines = hr.Text(data / "texts").shuffle(20).map(lambda line: np.array(list(str(line).encode()), np.uint8), "line")
    return lines.bucket_by_length("line", [4, 8, 12], [3, 4, 5, 2], pad_value=7)


def drawn_into_buckets(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(40, shuffle=True).map(longer_from_13, "value", "x").repeat(2)
    batches = rows.bucket_by_length("x", [4, 6, 9], [7, 3, 2, 1], pad="boundary")
    return batches.shuffle(3).project("x").map(T.TypeCast("float32"), "x")


def mixed_into_buckets(data: pathlib.Path) -> hr.Dataset:
    twice = hr.Range(30, shuffle=True).sample(hr.Repeated(2)).take(50)
    rows = hr.mix([twice, hr.Range(100, 112)], [3, 1], stop="all").map(longer_from_13, "value", "x")
    return rows.bucket_by_length("x", [4, 6, 9], [7, 3, 2, 4]).take(20).repeat(2).shuffle(3)


def buckets_of_known_lengths(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(40, shuffle=True).map(longer_from_13, "value", "x").skip(3)
    return rows.bucket_by_length("x", [4, 6, 9], [7, 3, 2, 1], length=1 + np.arange(40) % 9)


def buckets_of_a_mixture(data: pathlib.Path) -> hr.Dataset:
    table = {"label": np.arange(25), "n": np.arange(25) * 7 % 10}
    once, twice = hr.Numpy(table, shuffle=True), hr.Numpy(table).sample(hr.Repeated(2))
    rows = hr.mix([once, twice], [1, 2], stop="first").map(of_length, "n", "x")
    return rows.bucket_by_length("x", [3, 6, 11], [6, 3, 2, 1], pad="boundary", pad_value=-1, length="n")


def grouped_by_key(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(50, shuffle=True).map(lambda value: value % 7, "value", "key").filter(often, "value")
    return rows.group_by_window("key", 4, listed_together, ["key", "value", "number"])


def grouped_over_random_access(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(50, shuffle=True).skip(2).map(lambda value: value % 7, "value", "key")
    return rows.group_by_window("key", 4, listed_together, ["key", "value", "number"])


def zipped(data: pathlib.Path) -> hr.Dataset:
    letters = hr.Numpy({"letter": np.array(list("abcdefghijklm"))}, shuffle=True).repeat(3)
    return hr.Range(40, shuffle=True).zip(letters).zip(hr.Range(100, 0, -1).rename({"value": "down"})).batch(5)


def chained(data: pathlib.Path) -> hr.Dataset:
    evens, tens = hr.Range(0, 20, 2, shuffle=True), hr.Range(0, 100, 10).filter(hr.col("value") > 20)
    return evens.concat(tens, hr.Range(3).repeat(2)).shuffle(4).skip(1).batch(4)


def indices_only(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(30, shuffle=True).skip(3).concat(hr.Range(100, 110)).take(35).skip(1).batch(4)


# ---- mixtures ----


def mixed_images(data: pathlib.Path) -> hr.Dataset:
    photos, few = hr.ImageFolder(data / "photos", shuffle=True), hr.ImageFolder(data / "photos").take(5)
    mixed = hr.mix([photos, few], [3, 2], stop="repeat").map([V.Decode(), V.RandomResizedCrop(24)], "image")
    return mixed.shuffle(5).batch(4)


def mixed_streams(data: pathlib.Path) -> hr.Dataset:
    odd, named = (
        hr.Range(30, shuffle=True).filter(hr.col("value") % 2 != 0),
        hr.Range(100, 113).map(plus_noise, "value"),
    )
    inner = hr.mix([hr.Range(200, 208).shuffle(3), hr.Range(300, 320, shuffle=True)], [1, 3], stop="first")
    return hr.mix([odd, named, inner.repeat(2)], [0.5, 1, 2], stop="all").map(plus_noise, "value").batch(4)


def mixed_until_the_first_ends(data: pathlib.Path) -> hr.Dataset:
    halves = hr.Range(60, shuffle=True).split([0.5, 0.5])
    return hr.mix([*halves, hr.Range(90, 99).repeat()], [2, 1, 1], stop="first").repeat(2).batch(5)


# ---- chosen rows ----


def part_of_images(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageFolder(data / "photos", shuffle=True).map([V.Decode(), V.RandomResizedCrop(24)], "image")
    train, _ = images.split([0.7, 0.3], seed=2)
    return train.batch(4)


def folds_in_a_row(data: pathlib.Path) -> hr.Dataset:
    numbers = hr.Range(40, shuffle=True).map(T.TypeCast("float32"), "value")
    train, held_out = numbers.kfold(3)[1]
    return train.concat(held_out).map(plus_noise, "value").batch(7)


def chosen_again(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Numpy({"x": np.arange(60).reshape(20, 3)}, shuffle=True).concat(hr.Numpy({"x": np.ones((4, 3), int)}))
    chosen = hr.Range(50).skip(10).select([3, 3, 39, 0, 3]).rename({"value": "chosen"})
    return rows.zip(chosen.repeat(3)).batch(4)


# ---- plugins ----


def plugin_kernel(data: pathlib.Path) -> hr.Dataset:
    darkened = example_plugins.frames().Vignette(0.7)
    images = hr.ImageFolder(data / "photos", shuffle=True)
    steps = [V.Decode(), V.RandomResizedCrop(24), darkened, V.RandomHorizontalFlip(), V.HWC2CHW()]
    return images.map(steps, "image").cache("10KiB").repeat(2).batch(5)


def plugin_source(data: pathlib.Path) -> hr.Dataset:
    waves, other = (example_plugins.gauge().Waves(rows, length=12, shuffle=True) for rows in (30, 9))
    train, _ = waves.split([0.8, 0.2], seed=2)
    return train.concat(other).map(T.TypeCast("float64"), "wave").repeat(2).batch(4)


def plugin_format(data: pathlib.Path) -> hr.Dataset:
    readings = example_plugins.gauge().Readings(
        str(data / "[01].gauge"), channels=2, shuffle=True, window=6, interleave=3, split_bytes=50
    )
    return readings.map(plus_noise, "values").batch(4)


def damaged_plugin_format(data: pathlib.Path) -> hr.Dataset:
    return example_plugins.gauge().Readings(str(data / "*.gauge"), channels=2, split_bytes=50).batch(4)


def skipped_plugin_format(data: pathlib.Path) -> hr.Dataset:
    readings = example_plugins.gauge().Readings(str(data / "*.gauge"), 2, shuffle=True, interleave=2, split_bytes=90)
    return readings.on_error("skip").shuffle(3).repeat(2).batch(4)


# ---- samplers ----


def balanced_images(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageFolder(data / "photos", shuffle=True).map([V.Decode(), V.RandomResizedCrop(24)], "image")
    part, _ = images.split([0.75, 0.25])
    return part.sample(hr.ClassBalanced("label", n=30)).map(V.RandomHorizontalFlip(), "image").batch(4)


def weighted_rows(data: pathlib.Path) -> hr.Dataset:
    weights = [number % 5 for number in range(30)]
    drawn = hr.Range(30).sample(hr.Weighted(weights, n=50)).map(plus_noise, "value")
    return drawn.concat(hr.Range(30).sample(hr.Weighted(weights, n=20, replacement=False))).repeat(2).batch(7)


def repeated_augmentation(data: pathlib.Path) -> hr.Dataset:
    repeated = hr.ImageFolder(data / "photos", shuffle=True).sample(hr.Repeated(3)).take(31)
    return repeated.map([V.Decode(), V.RandomResizedCrop(24)], "image").cache("20KiB", transparent=False).batch(4)


class Curriculum:
    """More rows in each epoch, in an order of its own."""

    def __init__(self, of: int) -> None:
        self.of = of

    def size(self, epoch: int) -> int:
        return self.of * 2 // 3 + self.of // 6 * (epoch % 4)

    def indices(self, epoch: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, self.of, self.size(epoch))


def ordered_by_the_user(data: pathlib.Path) -> hr.Dataset:
    numbers = hr.Range(30, shuffle=True).map(plus_noise, "value").sample(Curriculum(30))
    return numbers.batch(4)


def images_ordered_by_the_user(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageFolder(data / "photos", shuffle=True).sample(Curriculum(6)).skip(1)
    return images.sample(hr.Repeated(3)).map([V.Decode(), V.RandomResizedCrop(24)], "image").repeat(2).batch(4)


def groups_of_classes(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageFolder(data / "photos", shuffle=True).map([V.Decode(), V.RandomResizedCrop(24)], "image")
    return images.sample(hr.PK(2, 2, groups=6)).batch(4)


def groups_of_two_sets(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageFolder(data / "photos", shuffle=True)
    crops = images.sample(hr.PK(2, 2, groups=3)).map([V.Decode(), V.RandomResizedCrop(24)], "image")
    whole = images.sample(hr.PK(4, 1, groups=4)).map([V.Decode(), V.Resize((24, 24))], "image")
    return crops.concat(whole).skip(4).batch(8)


def diamond(data: pathlib.Path) -> hr.Dataset:
    numbers = hr.Range(25).shuffle(5)
    return numbers.zip(numbers.rename({"value": "again"})).concat(numbers.zip(numbers.rename({"value": "again"})))


def repeated_inside(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(6).shuffle(4).repeat(3).batch(4).repeat(2).unbatch().shuffle(5).batch(7)


def endless(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(7, shuffle=True).repeat().map(plus_noise, "value").shuffle(5).take(40).batch(6)


def endless_and_filtered(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(9).shuffle(3).filter(hr.col("value") > 3).repeat().skip(4).take(23)


def empty(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(0).shuffle(3).repeat(2).batch(4)


def emptied(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(30).filter(hr.col("value") > 99).concat(hr.Range(5).take(0)).repeat(2).batch(4)


# ---- caches ----


def cached_images(data: pathlib.Path) -> hr.Dataset:
    """A cache with room for only some of the images."""
    return (
        hr.ImageFolder(data / "photos", shuffle=True)
        .map([V.Decode(), V.RandomCrop(48)], "image")
        .cache("100KiB")
        .map([V.RandomHorizontalFlip(), V.HWC2CHW()], "image")
        .repeat(2)
        .batch(5)
    )


def cached_and_reshuffled(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageFolder(data / "photos", shuffle=True).map(V.Decode(), "image").cache("1MiB", transparent=True)
    return images.map(V.RandomResizedCrop(24), "image").repeat(3).batch(5)


def cached_rows(data: pathlib.Path) -> hr.Dataset:
    lines = hr.Text(str(data / "texts/*.txt")).shuffle(6).cache()
    return lines.shuffle(5).repeat(3).batch(7)


def cached_functions(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(30, shuffle=True).map(plus_noise, "value").cache().map(plus_noise, "value").repeat(2).batch(4)


# ---- Python functions ----


def functions_in_order(data: pathlib.Path) -> hr.Dataset:
    return (
        hr.Range(30, shuffle=True)
        .map([plus_noise, T.TypeCast("int32"), plus_noise], "value")
        .filter(often, "value")
        .batch(4)
    )


def functions_in_processes(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(9, shuffle=True).map(plus_noise, "value", processes=2).batch(4)


def functions_in_any_order(data: pathlib.Path) -> hr.Dataset:
    pairs = hr.Numpy({"a": np.arange(30), "b": np.arange(30) * 2.5}, shuffle=True)
    return pairs.map(plus_noise, "a", ordered=False).map(swap_and_sum, ["a", "b"], ["c", "d", "e"]).shuffle(7).batch(4)


def batches_of_a_function(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(40, shuffle=True).map(longer_from_13, "value", "x").project(["x"])
    return rows.batch(6, function=padded_and_numbered, output=["x", "starts", "drawn", "number"])


def batches_of_chosen_sizes(data: pathlib.Path) -> hr.Dataset:
    images = hr.ImageFolder(data / "photos", shuffle=True).map([V.Decode(), V.RandomResizedCrop(24)], "image")
    return images.repeat(2).batch(growing_batches).map(T.TypeCast("float32"), "image")


def batches_of_functions_all_over(data: pathlib.Path) -> hr.Dataset:
    numbers = hr.Range(60).shuffle(7).filter(often, "value").batch(growing_batches, function=reversed_rows)
    return numbers.shuffle(3).unbatch().take(31).repeat(2).batch(4, True, function=reversed_rows).shuffle(2)


def recovered_images(data: pathlib.Path) -> hr.Dataset:
    return (
        hr.ImageFolder(data / "recovered", shuffle=True)
        .map([V.Decode(), V.RandomResizedCrop(24, scale=(0.05, 1)), V.RandomHorizontalFlip()], "image")
        .batch(4)
    )


def recovered_images_scaled(data: pathlib.Path) -> hr.Dataset:
    return hr.ImageFolder(data / "recovered").map([V.Decode(scale=2), V.RandomCrop(24)], "image").batch(4)


# ---- errors in the middle ----


def damaged_image(data: pathlib.Path) -> hr.Dataset:
    return hr.ImageFolder(data / "damaged").map([V.Decode(), V.Resize(16)], "image").batch(2)


def damaged_image_among_shuffled(data: pathlib.Path) -> hr.Dataset:
    return hr.ImageFolder(data / "damaged", shuffle=True).map([V.Decode(), V.Resize(16)], "image").shuffle(4).batch(2)


def damaged_text(data: pathlib.Path) -> hr.Dataset:
    return hr.Text(str(data / "damaged-texts/*.txt")).batch(4)


def skipped_images(data: pathlib.Path) -> hr.Dataset:
    steps = [V.Decode(), V.RandomResizedCrop(24), V.RandomHorizontalFlip(), V.Normalize([120.0] * 3, [60.0] * 3)]
    return hr.ImageFolder(data / "damaged", shuffle=True).map(steps, "image").batch(3).on_error("skip")


def skipped_and_recovered_images(data: pathlib.Path) -> hr.Dataset:
    both = hr.ImageFolder(data / "recovered").concat(hr.ImageFolder(data / "damaged"))
    return both.map([V.Decode(), V.CenterCrop(40), V.Resize(16)], "image").on_error("skip").shuffle(5).batch(4)


def skipped_numbers(data: pathlib.Path) -> hr.Dataset:
    numbers = hr.Range(50).map(fails_at_37, "value").shuffle(9).repeat(2).on_error("skip")
    return numbers.filter(hr.col("value") % 3 != 0).take(55).batch(4)


def skipped_below_a_function(data: pathlib.Path) -> hr.Dataset:
    numbers = hr.Range(50).map(fails_at_37, "value").shuffle(4).on_error("skip")
    return numbers.batch(growing_batches, function=reversed_rows)


def skipped_and_cached(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(45).map(fails_at_37, "value").shuffle(4).on_error("skip").cache().batch(4)


def skipped_and_mixed(data: pathlib.Path) -> hr.Dataset:
    kept = hr.Range(60, 90).map(fails_at_37, "value").filter(hr.col("value") % 3 != 0)
    failing = hr.Range(20, 50).map(fails_at_37, "value").filter(hr.col("value") % 2 != 0)
    return hr.mix([failing, kept], [2, 1], stop="all").repeat(2).on_error("skip").batch(4)


def skipped_in_turns_and_buckets(data: pathlib.Path) -> hr.Dataset:
    rows = hr.Range(60).map(fails_at_37, "value").filter(100 // (hr.col("value") - 11) < 50)
    turns = rows.interleave(lambda value: [value] * int(value % 4), 4)
    lengths = turns.map(lambda value: np.full(1 + value % 6, value), "value", "x")
    return lengths.bucket_by_length("x", [3, 5], [4, 3, 2]).on_error("skip")


def skipped_into_buckets(data: pathlib.Path) -> hr.Dataset:
    lengths = (
        hr.Range(30, 60, shuffle=True)
        .map(fails_at_37, "value")
        .map(lambda value: np.full(1 + value % 6, value), "value", "x")
    )
    return lengths.bucket_by_length("x", [3, 5], [4, 3, 2]).on_error("skip")


def skipped_up_to_the_limit(data: pathlib.Path) -> hr.Dataset:
    numbers = hr.Range(50).map(fails_at_37, "value").repeat(3).batch(5)
    return numbers.on_error("skip", max_errors=1)


def failing_function(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(100).map(fails_at_37, "value").shuffle(5).batch(5)


def failing_function_in_any_order(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(100).map(fails_at_37, "value", ordered=False).batch(5)


def failing_function_of_batches(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(100).shuffle(5).batch(7, function=fails_at_batch_3)


def failing_generator(data: pathlib.Path) -> hr.Dataset:
    return hr.Generator(failing_rows, {"x": "int64"}).map(T.TypeCast("float32"), "x").batch(4)


def ragged_rows(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(20).map(longer_from_13, "value").skip(4).batch(2)


def failing_filter(data: pathlib.Path) -> hr.Dataset:
    return hr.Range(-10, 20).filter(100 // hr.col("value") != -12).batch(2)


def error_that_nobody_reads(data: pathlib.Path) -> hr.Dataset:
    failing = hr.Range(100).map(fails_at_37, "value")
    return failing.take(37).concat(failing.skip(38).take(5)).zip(failing.rename({"value": "short"}).take(30)).batch(4)


PIPELINES: dict[str, Build] = {
    build.__name__: build
    for build in (
        training,
        opencv_training,
        evaluation,
        image_and_mask,
        changing_images,
        ragged_images,
        colored,
        patches,
        unchanged_masks,
        mixed_up,
        mosaics,
        chosen_images,
        chosen_policies,
        chosen_pairs,
        detection,
        poses,
        instances,
        clips,
        objects_of_labels,
        segmentation,
        kernels_on_images,
        kernels_on_encoded_images,
        kernels_on_vectors,
        whole_files,
        table_of_files,
        set_of_arrays,
        set_of_files,
        set_of_objects,
        set_of_keypoints,
        set_of_captions,
        set_of_stuff,
        set_of_segments,
        set_of_parts,
        set_of_streets,
        set_of_entries,
        set_of_lines,
        set_of_questions,
        set_of_recordings,
        text_lines,
        text_splits,
        whole_text_files,
        compressed_lines,
        compressed_lines_in_splits,
        compressed_json_lines,
        compressed_tables,
        json_lines,
        tables,
        damaged_table,
        skipped_lines_of_tables,
        numbered_lines,
        files_of_rows,
        numbered_json_lines,
        json_arrays,
        numbered_json_arrays,
        damaged_json_array,
        classes_of_tables,
        numbered_tables,
        sparse_rows,
        numbered_sparse_rows,
        damaged_sparse_rows,
        skipped_sparse_rows,
        packed_images,
        packed_images_in_splits,
        mind_arrays,
        mind_records,
        arrow_tables,
        arrays_in_files,
        arrays_in_archives,
        database_entries,
        streaming_samples,
        packed_streaming_samples,
        part_of_records,
        records_behind_damage,
        *((parquet_by_number, parquet_in_row_groups) if HAS_PARQUET else ()),
        examples_by_number,
        examples_in_files,
        examples_beside_damage,
        compressed_examples,
        samples_by_number,
        samples_in_shards,
        samples_in_order,
        samples_beside_damage,
        listed_images,
        texts_repeated,
        table,
        generated,
        generated_from_anywhere,
        ragged_splits,
        ragged_lists,
        own_rows,
        own_rows_in_processes,
        own_runs,
        filtered,
        up_to_a_condition,
        unlike_rows,
        running_totals,
        windows,
        chosen_inputs,
        taken_apart,
        unbatched_unevenly,
        interleaved,
        flat_mapped_to_different_lengths,
        different_lengths_in_turns,
        texts_in_buckets,
        drawn_into_buckets,
        mixed_into_buckets,
        buckets_of_known_lengths,
        buckets_of_a_mixture,
        grouped_by_key,
        grouped_over_random_access,
        skipped_in_turns_and_buckets,
        skipped_and_flat_mapped,
        skipped_into_buckets,
        zipped,
        chained,
        indices_only,
        mixed_images,
        mixed_streams,
        mixed_until_the_first_ends,
        part_of_images,
        folds_in_a_row,
        chosen_again,
        plugin_kernel,
        plugin_source,
        plugin_format,
        damaged_plugin_format,
        skipped_plugin_format,
        balanced_images,
        weighted_rows,
        repeated_augmentation,
        ordered_by_the_user,
        images_ordered_by_the_user,
        groups_of_classes,
        groups_of_two_sets,
        diamond,
        repeated_inside,
        endless,
        endless_and_filtered,
        empty,
        emptied,
        cached_images,
        cached_and_reshuffled,
        cached_rows,
        cached_functions,
        functions_in_order,
        functions_in_any_order,
        batches_of_a_function,
        batches_of_chosen_sizes,
        batches_of_functions_all_over,
        functions_in_processes,
        recovered_images,
        recovered_images_scaled,
        damaged_image,
        damaged_image_among_shuffled,
        damaged_text,
        torn_lines,
        skipped_images,
        skipped_and_recovered_images,
        skipped_numbers,
        skipped_and_cached,
        skipped_and_mixed,
        skipped_below_a_function,
        skipped_up_to_the_limit,
        failing_function,
        failing_function_in_any_order,
        failing_function_of_batches,
        failing_generator,
        ragged_rows,
        failing_filter,
        error_that_nobody_reads,
    )
}

# Kind of the error that ends them; the others have none.
FAILING = {
    "damaged_image": "DataError",
    "damaged_image_among_shuffled": "DataError",
    "damaged_text": "DataError",
    "torn_lines": "DataError",
    "damaged_json_array": "DataError",
    "damaged_table": "DataError",
    "damaged_sparse_rows": "DataError",
    "damaged_plugin_format": "DataError",
    "skipped_up_to_the_limit": "FunctionError",
    "failing_function": "FunctionError",
    "failing_function_in_any_order": "FunctionError",
    "failing_function_of_batches": "FunctionError",
    "failing_generator": "FunctionError",
    "ragged_rows": "GraphError",
    "failing_filter": "DataError",
}
