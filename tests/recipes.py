"""Random pipelines, each with a model in plain Python of its rows."""

import contextlib
import dataclasses
import io
import os
import pathlib
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from hypothesis import strategies as st

import headrace as hr
from headrace import datasets
from headrace import transforms as T
from headrace import vision as V
from headrace.mx import recordio
from tests import example_plugins
from tests.arrow_exporter import Table, record
from tests.arrow_exporter import numbers as arrow_numbers
from tests.coco_files import write_numbered_coco
from tests.compressed_bytes import gzip_members, zstd_frames
from tests.pipelines import HAS_PARQUET, record_bytes
from tests.set_files import write_emnist
from tests.tar_bytes import tar_bytes
from tests.tfrecord_bytes import example, frame

Rows = list[Any]

# Rows are whole numbers in the column `value`, or lists of them once batched.

LAST_EPOCH = 2**64 - 2


class Draws(Protocol):
    """The source of a recipe's choices."""

    def integer(self, least: int, most: int) -> int: ...

    def choice(self, options: Sequence[Any]) -> Any: ...


class HypothesisDraws:
    """Choices that Hypothesis can shrink."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def choice(self, options: Sequence[Any]) -> Any:
        return self._draw(st.sampled_from(options))


class RandomDraws:
    """The same choices for the same number, in every process."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)

    def integer(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def choice(self, options: Sequence[Any]) -> Any:
        return self._random.choice(options)


class Unmodelled(Exception):
    """The model does not know the rows: a shuffle moved them, or one of them is an error."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A pipeline that can be built any number of times."""

    text: str
    build: Callable[[], hr.Dataset]
    model: Callable[[], Rows]
    depth: int = 0
    # Every row of the sources comes out once, whatever the number of ranks.
    keeps_rows: bool = True
    # The last epoch of which every pass of every repeat has a number of 64 bits; -1: none.
    last_epoch: int = LAST_EPOCH
    # A filter or batch: where rows are left out, the rows behind them have other positions.
    renumbers: bool = False
    # Rows that fail may be left out: no zip stands above what renumbers.
    may_skip: bool = True
    # Values of hr.parameter are read, which depend on the epoch.
    reads_parameter: bool = False
    # A cache refuses values of hr.parameter below an endless repeat, whose epochs cannot be listed.
    may_cache: bool = True
    # Rows that may be chosen by number: there are only maps above the source.
    numbered: int | None = None
    # Rows of every epoch that samplers may name by their places: a sampler gives them, with only maps above it.
    places: int | None = None
    # The rows of the source, where rows may be chosen by number: a choice of rows has fewer or more.
    source_rows: int | None = None

    def __post_init__(self) -> None:
        if self.source_rows is None:
            object.__setattr__(self, "source_rows", self.numbered)

    def __repr__(self) -> str:
        return self.text


def changed(recipe: Recipe, **changes: Any) -> Recipe:
    """The recipe with another operator on it."""
    source_rows = recipe.source_rows if changes.get("numbered") is not None else None
    return dataclasses.replace(recipe, **{"numbered": None, "places": None, "source_rows": source_rows, **changes})


def unmodelled() -> Rows:
    raise Unmodelled


# ---- sources ----


def numbers(count: int, shuffled: bool) -> Recipe:
    return Recipe(
        f"Range({count}, shuffle={shuffled})",
        lambda: hr.Range(count, shuffle=shuffled),
        unmodelled if shuffled else lambda: list(range(count)),
        numbered=count,
    )


def sometimes_empty(count: int, taken: int, given: int) -> Recipe:
    """Passes of some rows or none, which differ from pass to pass; one without rows ends the endless repeat with an error."""
    return Recipe(
        f"Range({count}, shuffle=True).take({taken}).filter(value % 2 == 1).repeat().take({given})",
        lambda: hr.Range(count, shuffle=True).take(taken).filter(hr.col("value") % 2 == 1).repeat().take(given),
        unmodelled,
        keeps_rows=False,
        last_epoch=counted(LAST_EPOCH, 2**32, 2**32 - 2),
        renumbers=True,
    )


def array(count: int) -> Recipe:
    values = [number * number % 101 for number in range(count)]
    return Recipe(
        f"Numpy({count})",
        lambda: hr.Numpy({"value": np.array(values, np.int64)}),
        lambda: list(values),
        numbered=count,
    )


def stream(count: int) -> Recipe:
    def rows(epoch: int) -> Any:
        return iter(range(count))

    return Recipe(
        f"Generator({count})", lambda: hr.Generator(rows, {"value": ("int64", ())}), lambda: list(range(count))
    )


class Cubes:
    """As a torch Dataset of dicts."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> dict[str, int]:
        return {"value": number**3 % 101}


class CubesInRuns(Cubes):
    def __getitems__(self, numbers: list[int]) -> list[dict[str, int]]:
        return [self[number] for number in numbers]


def own_rows(count: int, shuffled: bool, in_runs: bool) -> Recipe:
    kind = CubesInRuns if in_runs else Cubes
    return Recipe(
        f"from_dataset({kind.__name__}({count}), {shuffled})",
        lambda: hr.from_dataset(kind(count), "value", {"value": ("int64", ())}, shuffle=shuffled),
        unmodelled if shuffled else lambda: [number**3 % 101 for number in range(count)],
        numbered=count,
    )


def written(count: int, ending: str, contents: Callable[[], bytes]) -> pathlib.Path:
    """A file of the numbers below `count`; every process finds the same one."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"headrace-recipes-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    path = folder / f"{count}.{ending}"
    if not path.exists():
        draft = folder / f"{path.name}.{os.getpid()}.draft"
        draft.write_bytes(contents())
        draft.rename(path)
    return path


def read_in_splits(
    name: str,
    opened: Callable[..., hr.Dataset],
    count: int,
    shuffled: bool,
    interleave: int,
    split_bytes: int,
    sharding: str,
) -> Recipe:
    """The numbers of a file that is read in splits."""
    in_order = not shuffled and interleave == 1
    return Recipe(
        f"{name}({count}, {shuffled}, {interleave}, {split_bytes}, {sharding})",
        lambda: opened(
            count, shuffle=shuffled, window=5, interleave=interleave, sharding=sharding, split_bytes=split_bytes
        ),
        (lambda: list(range(count))) if in_order else unmodelled,
    )


def read_by_number(
    text: str, opened: Callable[[int, bool], hr.Dataset], count: int, shuffled: bool, maps_alone: bool = True
) -> Recipe:
    """The numbers of what is read by number: with `maps_alone` by way of maps, so that rows may be chosen by number."""
    return Recipe(
        text,
        lambda: opened(count, shuffled),
        unmodelled if shuffled else lambda: list(range(count)),
        numbered=count if maps_alone else None,
    )


def number_of(line: np.ndarray) -> np.ndarray:
    return np.array(int(str(line)), np.int64)


def lines(count: int, **options: Any) -> hr.Dataset:
    path = written(count, "txt", lambda: "".join(f"{number}\n" for number in range(count)).encode())
    return hr.Text(path, **options).map(number_of, "line", "value").project("value")


def compressed_lines(count: int, **options: Any) -> hr.Dataset:
    contents = "".join(f"{number}\n\n" for number in range(count)).encode()
    compress = gzip_members if count % 2 == 0 else zstd_frames
    path = written(count, "compressed", lambda: compress(contents))
    lines = hr.Text(path, skip_empty=True, **options)
    return lines.map(number_of, "line", "value").project("value")


def table_of(count: int) -> pathlib.Path:
    """The numbers in the second field of CSV."""
    rows = (f'"number, {number}",{number}\n' for number in range(count))
    return written(count, "csv", lambda: ("name,value\n" + "".join(rows)).encode())


def table(count: int, **options: Any) -> hr.Dataset:
    return hr.Csv(table_of(count), {"value": "int64"}, **options)


def numbered_table(count: int, shuffled: bool) -> Recipe:
    return read_by_number(
        f"Csv({count}, index, {shuffled})",
        lambda count, shuffled: table(count, shuffle=shuffled, index="build"),
        count,
        shuffled,
        maps_alone=False,
    )


def objects(count: int, **options: Any) -> hr.Dataset:
    """The numbers in objects of JSON, a third of them beside a null."""
    nulls = ('"other": null, ' if number % 3 == 0 else "" for number in range(count))
    lines = (f'{{{null}"value": {number}}}\n' for number, null in enumerate(nulls))
    path = written(count, "jsonl", lambda: "".join(lines).encode())
    return hr.JsonLines(path, {"value": "int64"}, **options)


def numbered_objects(count: int, shuffled: bool) -> Recipe:
    return read_by_number(
        f"JsonLines({count}, index, {shuffled})",
        lambda count, shuffled: objects(count, shuffle=shuffled, index="build"),
        count,
        shuffled,
        maps_alone=False,
    )


def number_of_value(value: Any) -> np.ndarray:
    return np.array(int(value[0]), np.int64)


def sparse_rows(count: int, **options: Any) -> hr.Dataset:
    """The numbers as values of the only feature of LibSVM text."""
    path = written(count, "libsvm", lambda: "".join(f"1 5:{number}\n\n" for number in range(count)).encode())
    return hr.LibSvm(path, **options).map(number_of_value, "value").project("value")


def number_of_record(record: Any) -> np.ndarray:
    return np.array(int(bytes(record)), np.int64)


def records(count: int, **options: Any) -> hr.Dataset:
    path = written(count, "rec", lambda: record_bytes(str(number).encode() for number in range(count)))
    return hr.RecordFile(path, **options).map(number_of_record, "record", "value").project("value")


def indexed_records(count: int, shuffled: bool) -> Recipe:
    return read_by_number(
        f"RecordFile({count}, index, {shuffled})",
        lambda count, shuffled: records(count, index="build", shuffle=shuffled),
        count,
        shuffled,
    )


def examples(count: int, **options: Any) -> hr.Dataset:
    """The numbers as a feature of TFRecords. A file is one split."""
    records = (example({"value": ("int64", [number]), "other": ("bytes", [b"x"])}) for number in range(count))
    path = written(count, "tfrecord", lambda: b"".join(map(frame, records)))
    options.pop("split_bytes", None)
    if options.get("sharding") == "contiguous":
        options["sharding"] = "splits"
    return hr.TFRecord(path, {"value": "int64"}, **options)


def indexed_examples(count: int, shuffled: bool) -> Recipe:
    return read_by_number(
        f"TFRecord({count}, index, {shuffled})",
        lambda count, shuffled: examples(count, index="build", shuffle=shuffled),
        count,
        shuffled,
        maps_alone=False,
    )


def parquet_bytes(count: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "numbers.parquet"
        hr.Range(count).write_parquet(path, row_group_rows=5)
        return path.read_bytes()


def row_groups(count: int, **options: Any) -> hr.Dataset:
    """The numbers in row groups of five, which are the splits."""
    options.pop("split_bytes", None)
    if options.get("sharding") == "contiguous":
        options["sharding"] = "splits"
    return hr.Parquet(written(count, "parquet", lambda: parquet_bytes(count)), **options)


def indexed_row_groups(count: int, shuffled: bool) -> Recipe:
    return read_by_number(
        f"Parquet({count}, index, {shuffled})",
        lambda count, shuffled: row_groups(count, index="build", shuffle=shuffled),
        count,
        shuffled,
        maps_alone=False,
    )


def samples(count: int, **options: Any) -> hr.Dataset:
    """The numbers as a field of samples in a tar archive. A file is one split."""
    members = [(f"{number}.value", b"%d" % number) for number in range(count)]
    path = written(count, "tar", lambda: tar_bytes(members))
    options.pop("split_bytes", None)
    if options.get("sharding") == "contiguous":
        options["sharding"] = "splits"
    return hr.WebDataset(path, ["value"], {"value": "int64"}, **options)


def indexed_samples(count: int, shuffled: bool) -> Recipe:
    return read_by_number(
        f"WebDataset({count}, index, {shuffled})",
        lambda count, shuffled: samples(count, index="build", shuffle=shuffled),
        count,
        shuffled,
        maps_alone=False,
    )


def numbers_as_labels(count: int, shuffled: bool) -> hr.Dataset:
    """The numbers as labels of records without images."""
    headers = (recordio.IRHeader(0, float(number), number, 0) for number in range(count))
    path = written(count, "images.rec", lambda: record_bytes(recordio.pack(header, b"") for header in headers))
    file = hr.ImageRecord(path, "build", shuffled)
    return file.map(T.TypeCast("int64"), "label", "value").project("value")


def image_records(count: int, shuffled: bool) -> Recipe:
    return read_by_number(f"ImageRecord({count}, index, {shuffled})", numbers_as_labels, count, shuffled)


def mind_record_bytes(count: int) -> bytes:
    """The numbers as a MindRecord file."""
    with tempfile.TemporaryDirectory() as folder:
        hr.Range(count).write_mindrecord(pathlib.Path(folder) / "numbers")
        return (pathlib.Path(folder) / "numbers").read_bytes()


def mind_records(count: int, shuffled: bool) -> Recipe:
    return read_by_number(
        f"MindRecord({count}, {shuffled})",
        lambda count, shuffled: hr.MindRecord(
            written(count, "mindrecord", lambda: mind_record_bytes(count)), shuffle=shuffled
        ),
        count,
        shuffled,
    )


def arrow_table(count: int, shuffled: bool) -> Recipe:
    """In batches of three rows."""
    return read_by_number(
        f"Arrow({count}, {shuffled})",
        lambda count, shuffled: hr.Arrow(
            Table(
                [
                    record(value=arrow_numbers("l", np.arange(at, min(at + 3, count))))
                    for at in range(0, max(count, 1), 3)
                ]
            ),
            shuffle=shuffled,
        ),
        count,
        shuffled,
    )


def npy_bytes(count: int) -> bytes:
    """The numbers as an array of NumPy."""
    stream = io.BytesIO()
    np.save(stream, np.arange(count, dtype=">i8"))
    return stream.getvalue()


def npy_rows(count: int, shuffled: bool) -> Recipe:
    return read_by_number(
        f"Npy({count}, {shuffled})",
        lambda count, shuffled: hr.Npy(written(count, "npy", lambda: npy_bytes(count)), shuffle=shuffled).rename(
            {"data": "value"}
        ),
        count,
        shuffled,
    )


def set_folder(count: int, kind: str, write: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """A named set of the numbers below `count`; every process finds the same one."""
    folder = written(count, "seen", bytes).with_name(f"{count}.{kind}")
    if not folder.exists():
        draft = folder.with_name(f"{folder.name}.{os.getpid()}.draft")
        draft.mkdir(exist_ok=True)
        write(draft)
        with contextlib.suppress(OSError):  # another process was first
            draft.rename(folder)
    return folder


def numbers_as_classes(count: int, shuffled: bool) -> hr.Dataset:
    """The numbers, at most 47, as labels of a set of arrays."""
    root = set_folder(count, "emnist", lambda folder: write_emnist(folder, "balanced", range(count), None))
    return datasets.EMnist(root, "balanced", shuffle=shuffled).rename({"label": "value"}).project("value")


def numbers_as_photographs(count: int, shuffled: bool) -> hr.Dataset:
    """The numbers as the ids of photographs with an object for each bit."""
    root = set_folder(count, "coco", lambda folder: write_numbered_coco(folder, count))
    photographs = datasets.Coco(root, "instances_val2017.json", masks=True, shuffle=shuffled)
    return photographs.map(number_of_objects, ["image_id", "category", "masks"], "value").project("value")


def number_of_objects(number: np.ndarray, category: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The number of a photograph, if it has the objects that are its own."""
    assert category.tolist() == masks.sum((1, 2)).tolist() and sum(1 << bit for bit in category.tolist()) == number
    return number


def set_of_arrays(count: int, shuffled: bool) -> Recipe:
    return read_by_number(f"EMnist({count}, {shuffled})", numbers_as_classes, count, shuffled)


def set_of_objects(count: int, shuffled: bool) -> Recipe:
    return read_by_number(f"Coco({count}, {shuffled})", numbers_as_photographs, count, shuffled)


def number_of_wave(wave: np.ndarray) -> np.ndarray:
    """Which wave it is, of fewer than an eighth of its values: its second value is the sine of an angle below 45°."""
    return np.array(round(float(np.arcsin(wave[1])) / (2 * np.pi) * len(wave)) - 1, np.int64)


def numbered_waves(count: int, shuffled: bool) -> hr.Dataset:
    waves = example_plugins.gauge().Waves(count, 8 * (count + 1), shuffled)
    return waves.map(number_of_wave, "wave", "value").project("value")


def plugin_source(count: int, shuffled: bool) -> Recipe:
    return read_by_number(f"plugin's Waves({count}, {shuffled})", numbered_waves, count, shuffled)


def readings_of(count: int) -> pathlib.Path:
    """The numbers as times of readings."""
    readings = np.zeros(count, np.dtype([("time", "<i8"), ("values", "<f4")]))
    readings["time"] = np.arange(count)
    return written(count, "gauge", lambda: b"GAUGE001" + readings.tobytes())


def readings(count: int, **options: Any) -> hr.Dataset:
    file = example_plugins.gauge().Readings(readings_of(count), **options)
    return file.rename({"time": "value"}).project("value")


def source(draws: Draws) -> Recipe:
    recipe = _source(draws)
    if recipe.text.startswith("Range") and recipe.numbered and draws.integer(0, 5) == 0:
        return mixture(recipe, numbers(draws.integer(1, 6), True), _weights(draws), "repeat")
    # Repetitions stand next to a source with random access.
    alone = recipe.text.startswith(("Range", "Numpy")) and bool(recipe.numbered) and draws.integer(0, 3) == 0
    return in_succession(recipe, draws.integer(1, 3)) if alone else recipe


def _source(draws: Draws) -> Recipe:
    size = draws.integer(0, draws.choice([30, 3]))
    kinds = [
        "range",
        "array",
        "stream",
        "lines",
        "compressed lines",
        "table",
        "objects",
        "sparse rows",
        "records",
        "numbered table",
        "numbered objects",
        "indexed records",
        "examples",
        "indexed examples",
        *(("row groups", "indexed row groups") if HAS_PARQUET else ()),
        "samples",
        "indexed samples",
        "image records",
        "mind records",
        "arrow table",
        "arrays",
        "set of arrays",
        "set of objects",
        "own rows",
        "plugin source",
        "plugin format",
        "sometimes empty",
    ]
    kind = draws.choice(kinds)
    if kind == "sometimes empty":
        return sometimes_empty(draws.integer(2, 6), draws.integer(1, 2), draws.integer(0, 12))
    if kind == "range":
        return numbers(size, draws.choice([False, True]))
    if kind == "own rows":
        return own_rows(size, draws.choice([False, True]), draws.choice([False, True]))
    indexed = {
        "numbered table": numbered_table,
        "numbered objects": numbered_objects,
        "indexed records": indexed_records,
        "indexed examples": indexed_examples,
        "indexed row groups": indexed_row_groups,
        "indexed samples": indexed_samples,
        "image records": image_records,
        "mind records": mind_records,
        "arrow table": arrow_table,
        "arrays": npy_rows,
        "set of arrays": set_of_arrays,
        "set of objects": set_of_objects,
        "plugin source": plugin_source,
    }
    if kind in indexed:
        return indexed[kind](size, draws.choice([False, True]))
    splits = {
        "lines": ("Text", lines),
        "compressed lines": ("compressed Text", compressed_lines),
        "table": ("Csv", table),
        "objects": ("JsonLines", objects),
        "sparse rows": ("LibSvm", sparse_rows),
        "records": ("RecordFile", records),
        "examples": ("TFRecord", examples),
        "row groups": ("Parquet", row_groups),
        "samples": ("WebDataset", samples),
        "plugin format": ("plugin's Readings", readings),
    }
    if kind in splits:
        return read_in_splits(
            *splits[kind],
            size,
            draws.choice([False, True]),
            draws.integer(1, 3),
            draws.choice([4, 17, 1000]),
            draws.choice(["rows", "splits", "contiguous"]),
        )
    return array(size) if kind == "array" else stream(size)


# ---- what is done to them ----


def tripled(x: np.ndarray) -> np.ndarray:
    return x * 3 + 1


def tripled_in_processes(number: np.ndarray) -> np.ndarray:
    """Not `tripled` itself: all uses of a function agree on its processes."""
    return tripled(number)


def noisy_in_processes(number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return noisy(number, rng)


def noisy(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + rng.integers(0, 1 << 40)


def fails_at_seven(x: np.ndarray) -> np.ndarray:
    if np.any(x == 7):
        raise ValueError("seven")
    return x


# A number of its own in each epoch.
CHANGING = hr.parameter("changing", lambda epoch: 2 + epoch % 5)


def multiplied(x: np.ndarray, by: Any = CHANGING) -> np.ndarray:
    return x * by


def added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a + b


def each(row: Any, change: Callable[[int], int]) -> Any:
    return [change(number) for number in row] if isinstance(row, list) else change(row)


CAST = [T.TypeCast("float64"), T.TypeCast("int64")]


def as_image(x: np.ndarray) -> np.ndarray:
    """Its numbers, each in a row of three pixels."""
    return (np.reshape(x, (-1, 1, 1)) + np.array([[[0], [101], [7]]])).astype(np.uint8)


def with_image(x: np.ndarray, image: np.ndarray) -> np.ndarray:
    return x + np.reshape(image.astype(np.int64).sum(axis=(1, 2)), np.shape(x))


def darkened(recipe: Recipe, strength: float) -> Recipe:
    """By a plugin's kernel."""

    def build() -> hr.Dataset:
        images = recipe.build().map(as_image, "value", "image", types={"image": ("uint8", (None, 3, 1))})
        darker = images.map(example_plugins.frames().Vignette(strength), "image")
        return darker.map(with_image, ["value", "image"], "value").project("value")

    def with_darkened(row: Any) -> Any:
        numbers = np.array(row, np.int64)
        image = as_image(numbers)
        middle = (len(image) - 1) / 2
        squares = (np.arange(len(image)) - middle)[:, None, None] ** 2 + np.array([[[1.0], [0.0], [1.0]]])
        light = 1 - strength * squares / max(middle * middle + 1, 1)
        return with_image(numbers, np.floor(image * light + 0.5).astype(np.uint8)).tolist()

    return changed(
        recipe,
        text=f"{recipe}.darkened({strength})",
        build=build,
        model=lambda: [with_darkened(row) for row in recipe.model()],
        # Of a batch the pixels depend on its size.
        keeps_rows=recipe.keeps_rows and recipe.depth == 0,
        numbered=recipe.numbered,
        places=recipe.places,
    )


def mapped(recipe: Recipe, kind: str) -> Recipe:
    kernels: dict[str, tuple[Any, bool | None]] = {
        "tripled": (tripled, True),
        "tripled in any order": (tripled, False),
        "kernels": (CAST, True),
        "noisy": (noisy, True),
        "tripled in processes": (tripled_in_processes, None),
        "noisy in processes": (noisy_in_processes, None),
        "noise": ([T.TypeCast("float32"), V.GaussianNoise(2, 9, clip=False), T.TypeCast("int64")], True),
        "drawn": (V.RandomChoice([V.RandomApply([T.Fill(3)], 0.3), T.Fill(5)], [2, 1]), True),
        "drawn for certain": ([V.RandomApply(T.Fill(3), 0), V.RandomChoice([CAST, T.Fill(3)], [1, 0])], True),
        "changing": (
            [
                V.RandomApply([T.Fill(CHANGING)], 0.5),
                V.RandomChoice([T.TypeCast("int64"), [T.TypeCast("int64"), T.Fill(9)]], [CHANGING, 3]),
            ],
            True,
        ),
        "multiplied": (multiplied, False),
        "failing": (fails_at_seven, False),
    }
    models: dict[str, Callable[[], Rows]] = {
        "tripled": lambda: [each(row, lambda number: number * 3 + 1) for row in recipe.model()],
        "kernels": recipe.model,
        "drawn for certain": recipe.model,
        "failing": lambda: _without_seven(recipe.model()),
    }
    draws = kind in ("noisy", "noisy in processes", "noise", "drawn", "changing")
    kernel, ordered = kernels[kind]
    options: dict[str, Any] = {"processes": 2} if ordered is None else {"ordered": ordered}
    return changed(
        recipe,
        text=f"{recipe}.map({kind})",
        build=lambda: recipe.build().map(kernel, "value", **options),
        model=models.get(kind.removesuffix(" in any order").removesuffix(" in processes"), unmodelled),
        # A batch draws by its first row, and other ranks form other batches.
        keeps_rows=recipe.keeps_rows and not (draws and recipe.depth > 0),
        numbered=recipe.numbered,
        places=recipe.places,
        reads_parameter=recipe.reads_parameter or kind in ("changing", "multiplied"),
    )


def _without_seven(rows: Rows) -> Rows:
    if any(row == 7 or (isinstance(row, list) and 7 in row) for row in rows):
        raise Unmodelled
    return rows


def batched(recipe: Recipe, size: int, drop: bool) -> Recipe:
    def model() -> Rows:
        rows = recipe.model()
        batches = [rows[start : start + size] for start in range(0, len(rows), size)]
        return [batch for batch in batches if not drop or len(batch) == size]

    return changed(
        recipe,
        text=f"{recipe}.batch({size}, drop_remainder={drop})",
        build=lambda: recipe.build().batch(size, drop_remainder=drop),
        model=model,
        depth=1,
        keeps_rows=recipe.keeps_rows and not drop,
        renumbers=True,
    )


def batched_by_functions(recipe: Recipe, most: int, drop: bool, made: bool) -> Recipe:
    """Sizes from 1 to `most`, one after the other; with `made`, a function reverses the rows of each batch."""

    def size(info: hr.BatchInfo) -> int:
        return 1 + info.number % most

    def model() -> Rows:
        rows = list(recipe.model())
        batches: Rows = []
        while rows:
            wanted = 1 + len(batches) % most
            batch, rows = rows[:wanted], rows[wanted:]
            if not drop or len(batch) == wanted:
                batches.append(batch[::-1] if made else batch)
        return batches

    def reverse(value: list[Any]) -> list[Any]:
        return value[::-1]

    return changed(
        recipe,
        text=f"{recipe}.batch(to {most}, drop_remainder={drop}, made={made})",
        build=lambda: recipe.build().batch(size, drop, function=reverse if made else None),
        model=model,
        depth=1,
        keeps_rows=recipe.keeps_rows and not drop,
        renumbers=True,
    )


def joined_and_taken_apart(recipe: Recipe, size: int, form: Any) -> Recipe:
    """Rows that differ in length, as one ragged column, and those rows again."""
    return changed(
        recipe,
        text=f"{recipe}.batch({size}, ragged={form}).unbatch()",
        build=lambda: recipe.build().batch(size, ragged={"value": form}).unbatch(),
        renumbers=True,
    )


def unbatched(recipe: Recipe) -> Recipe:
    return changed(
        recipe,
        text=f"{recipe}.unbatch()",
        build=lambda: recipe.build().unbatch(),
        model=lambda: [number for row in recipe.model() for number in row],
        depth=0,
        renumbers=True,
    )


def interleaved(recipe: Recipe, cycle: int, block: int) -> Recipe:
    """Each row becomes up to three, and rows take turns."""

    def pieces(value: Any) -> list[Any]:
        return [value * 4 + number for number in range(int(value) % 4)]

    def model() -> Rows:
        rows = iter([pieces(number) for number in recipe.model()])
        slots: list[list[Any] | None] = [None] * cycle
        given: Rows = []
        turn = ended = 0
        while not ended or any(slot is not None for slot in slots):
            slot = slots[turn]
            if slot is None:
                slot = slots[turn] = next(rows, None)
                ended |= slot is None
            if slot is not None:
                given += slot[:block]
                # A slot found without rows is empty from its next turn on.
                slots[turn] = slot[block:] if len(slot) >= block else None
            turn = (turn + 1) % cycle
        return given

    return changed(
        recipe,
        text=f"{recipe}.interleave({cycle}, {block})",
        build=lambda: recipe.build().interleave(pieces, cycle, block),
        model=model,
        keeps_rows=False,
        renumbers=True,
    )


def flat_mapped(recipe: Recipe, most: int) -> Recipe:
    """Each row becomes up to `most`, by a generator."""

    def pieces(value: Any) -> Iterator[Any]:
        for number in range(int(value) % (most + 1)):
            yield value * 4 + number

    return changed(
        recipe,
        text=f"{recipe}.flat_map({most})",
        build=lambda: recipe.build().flat_map(pieces),
        model=lambda: [piece for number in recipe.model() for piece in pieces(number)],
        keeps_rows=False,
        renumbers=True,
    )


def _grouped_rows(rows: Rows, key: Callable[[Any], Any], size: Callable[[Any], int], by_key: bool) -> Rows:
    held: dict[Any, list[Any]] = {}
    batches: Rows = []
    for row in rows:
        group = held.setdefault(key(row), [])
        group.append(row)
        if len(group) == size(key(row)):
            batches.append(held.pop(key(row)))
    return batches + [held[each] for each in (sorted(held) if by_key else held)]


def bucketed(recipe: Recipe, boundary: int, sizes: tuple[int, int]) -> Recipe:
    """Lengths 1 to 5, which follow from the row."""

    def length(value: Any) -> int:
        return 1 + int(value) % 5

    def build() -> hr.Dataset:
        measured = recipe.build().map(lambda value: np.zeros(length(value)), "value", "x")
        return measured.bucket_by_length("x", [boundary], list(sizes)).project("value")

    return changed(
        recipe,
        text=f"{recipe}.bucket_by_length({boundary}, {sizes})",
        build=build,
        model=lambda: _grouped_rows(
            list(recipe.model()), lambda row: length(row) >= boundary, lambda bucket: sizes[bucket], by_key=True
        ),
        depth=1,
        renumbers=True,
    )


def bucketed_by_number(recipe: Recipe, boundary: int, sizes: tuple[int, int]) -> Recipe:
    """Lengths 0 to 6, which follow from the number of the row in the source."""
    lengths = [number * 5 % 7 for number in range(recipe.source_rows or 0)]

    def build() -> hr.Dataset:
        rows = recipe.build().map(lambda value: np.zeros(2), "value", "x")
        return rows.bucket_by_length("x", [boundary], list(sizes), length=lengths).project("value")

    return changed(
        recipe,
        text=f"{recipe}.bucket_by_length({boundary}, {sizes}, length=…)",
        build=build,
        model=unmodelled,
        depth=1,
        renumbers=True,
    )


def grouped(recipe: Recipe, modulus: int, size: int) -> Recipe:
    def build() -> hr.Dataset:
        keyed = recipe.build().map(lambda value: value % modulus, "value", "key")
        return keyed.group_by_window("key", size, lambda value, key: value, "value")

    return changed(
        recipe,
        text=f"{recipe}.group_by_window(% {modulus}, {size})",
        build=build,
        model=lambda: _grouped_rows(list(recipe.model()), lambda row: row % modulus, lambda key: size, by_key=False),
        depth=1,
        renumbers=True,
    )


def mixed(recipe: Recipe) -> Recipe:
    """Mixes the rows of each batch: what comes out depends on which rows meet."""

    def build() -> hr.Dataset:
        numbers = recipe.build().map(T.TypeCast("float32"), "value", "mixed").map(T.Fill(1), "value", "label")
        mixtures = numbers.map(V.MixUp(alpha=0.5, num_classes=3), ["mixed", "label"])
        return mixtures.map(T.TypeCast("int64"), "mixed", "value").project("value")

    return changed(recipe, text=f"{recipe}.mixed()", build=build, model=unmodelled, keeps_rows=False)


def filtered(recipe: Recipe, modulus: int, called: bool) -> Recipe:
    condition: Any = (lambda value: value % modulus != 0) if called else hr.col("value") % modulus != 0
    return changed(
        recipe,
        text=f"{recipe}.filter(value % {modulus}, called={called})",
        build=lambda: recipe.build().filter(condition),
        model=lambda: [number for number in recipe.model() if number % modulus != 0],
        renumbers=True,
    )


def shuffled(recipe: Recipe, window: int) -> Recipe:
    return changed(
        recipe,
        text=f"{recipe}.shuffle({window})",
        build=lambda: recipe.build().shuffle(window),
        model=recipe.model if window == 1 else unmodelled,
    )


def cached(recipe: Recipe, memory: int | None) -> Recipe:
    return changed(
        recipe, text=f"{recipe}.cache({memory})", build=lambda: recipe.build().cache(memory), model=recipe.model
    )


def counted(last_epoch: int, numbers: int, last_pass: int) -> int:
    """The last epoch of a repeat with so many numbers of passes per epoch."""
    return (last_epoch - last_pass) // numbers if last_epoch >= last_pass else -1


def repeated(recipe: Recipe, count: int) -> Recipe:
    return changed(
        recipe,
        text=f"{recipe}.repeat({count})",
        build=lambda: recipe.build().repeat(count),
        model=lambda: recipe.model() * count,
        last_epoch=counted(recipe.last_epoch, count, count - 1),
    )


def repeated_endlessly(recipe: Recipe, count: int) -> Recipe:
    def model() -> Rows:
        rows = recipe.model()
        if not rows:
            raise Unmodelled  # an error, unless nothing is taken
        return (rows * count)[:count]

    return changed(
        recipe,
        text=f"{recipe}.repeat().take({count})",
        build=lambda: recipe.build().repeat().take(count),
        model=model,
        keeps_rows=False,
        last_epoch=counted(recipe.last_epoch, 2**32, 2**32 - 2),
        may_cache=recipe.may_cache and not recipe.reads_parameter,
    )


def taken(recipe: Recipe, count: int) -> Recipe:
    return changed(
        recipe,
        text=f"{recipe}.take({count})",
        build=lambda: recipe.build().take(count),
        model=lambda: recipe.model()[:count],
        keeps_rows=False,
    )


def skipped(recipe: Recipe, count: int) -> Recipe:
    return changed(
        recipe,
        text=f"{recipe}.skip({count})",
        build=lambda: recipe.build().skip(count),
        model=lambda: recipe.model()[count:],
        keeps_rows=False,
    )


def selected(recipe: Recipe, indices: list[int]) -> Recipe:
    def model() -> Rows:
        rows = recipe.model()
        return [rows[index] for index in indices]

    return changed(
        recipe,
        text=f"{recipe}.select({indices})",
        build=lambda: recipe.build().select(indices),
        model=model,
        keeps_rows=False,
        numbered=len(indices),
    )


def part_of_split(recipe: Recipe, first: int, part: int, seed: int) -> Recipe:
    """Of two parts, of which the first has so many rows."""
    rows = recipe.numbered or 0
    share = first / rows
    return changed(
        recipe,
        text=f"{recipe}.split([{first}/{rows}, …], {seed})[{part}]",
        build=lambda: recipe.build().split([share, 1 - share], seed)[part],
        model=unmodelled,
        keeps_rows=False,
        numbered=rows - first if part else first,
    )


def part_of_fold(recipe: Recipe, k: int, fold: int, held_out: bool) -> Recipe:
    rows = recipe.numbered or 0
    out = (fold + 1) * rows // k - fold * rows // k
    return changed(
        recipe,
        text=f"{recipe}.kfold({k})[{fold}][{int(held_out)}]",
        build=lambda: recipe.build().kfold(k)[fold][held_out],
        model=unmodelled,
        keeps_rows=False,
        numbered=out if held_out else rows - out,
    )


def below(recipe: Recipe) -> int:
    """The rows that a sampler on it names."""
    return recipe.numbered or recipe.places or 0


def weighted(recipe: Recipe, count: int, replacement: bool) -> Recipe:
    weights = [1 + number % 4 for number in range(below(recipe))]
    return changed(
        recipe,
        text=f"{recipe}.sample(Weighted(…, {count}, {replacement}))",
        build=lambda: recipe.build().sample(hr.Weighted(weights, count, replacement)),
        model=unmodelled,
        keeps_rows=False,
        places=count,
    )


def class_balanced(recipe: Recipe, count: int, classes: int) -> Recipe:
    labels = [number % classes for number in range(below(recipe))]
    return changed(
        recipe,
        text=f"{recipe}.sample(ClassBalanced(… % {classes}, {count}))",
        build=lambda: recipe.build().sample(hr.ClassBalanced(labels, count)),
        model=unmodelled,
        keeps_rows=False,
        places=count,
    )


class OwnOrder:
    """`grows` rows more in every other epoch."""

    def __init__(self, rows: int, size: int, grows: int) -> None:
        self.rows, self.first, self.grows = rows, size, grows

    def size(self, epoch: int) -> int:
        return self.first + self.grows * (epoch % 2)

    def indices(self, epoch: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, self.rows, self.size(epoch))


def ordered_by_the_user(recipe: Recipe, size: int, grows: int) -> Recipe:
    rows = below(recipe)
    return changed(
        recipe,
        text=f"{recipe}.sample(OwnOrder({rows}, {size}, {grows}))",
        build=lambda: recipe.build().sample(OwnOrder(rows, size, grows)),
        model=unmodelled,
        keeps_rows=False,
        places=size if grows == 0 else None,
    )


def in_succession(recipe: Recipe, times: int) -> Recipe:
    return changed(
        recipe,
        text=f"{recipe}.sample(Repeated({times}))",
        build=lambda: recipe.build().sample(hr.Repeated(times)),
        model=lambda: [row for row in recipe.model() for _ in range(times)],
        keeps_rows=False,
        places=below(recipe) * times or None,
    )


def sampled(draws: Draws, recipe: Recipe) -> Recipe:
    """Some of the rows, by number or place, others in each epoch."""
    ways: list[Callable[[], Recipe]] = [
        lambda: weighted(recipe, draws.integer(1, 30), True),
        lambda: weighted(recipe, draws.integer(1, below(recipe)), False),
        lambda: class_balanced(recipe, draws.integer(1, 30), draws.integer(1, 4)),
        lambda: ordered_by_the_user(recipe, draws.integer(1, 30), draws.integer(0, 3)),
        lambda: in_succession(recipe, draws.integer(1, 3)),
    ]
    return draws.choice(ways)()


def chosen(draws: Draws, recipe: Recipe) -> Recipe:
    """Some of the rows, by number."""
    rows = recipe.numbered or 0
    ways: list[Callable[[], Recipe]] = [
        lambda: selected(recipe, [draws.integer(0, rows - 1) for _ in range(draws.integer(0, 12))] if rows else [])
    ]
    if rows >= 1:
        ways += [lambda: sampled(draws, recipe)] * 4
    if rows >= 2:
        ways.append(lambda: part_of_split(recipe, draws.integer(1, rows - 1), draws.integer(0, 1), draws.integer(0, 2)))
    if rows >= 3:
        ways.append(lambda: part_of_fold(recipe, 3, draws.integer(0, 2), draws.choice([False, True])))
    return draws.choice(ways)()


def joined(recipe: Recipe, other: Recipe, **changes: Any) -> Recipe:
    """A recipe with two inputs."""
    of_both = {
        "last_epoch": min(recipe.last_epoch, other.last_epoch),
        "renumbers": recipe.renumbers or other.renumbers,
        "may_skip": recipe.may_skip and other.may_skip,
        "reads_parameter": recipe.reads_parameter or other.reads_parameter,
        "may_cache": recipe.may_cache and other.may_cache,
    }
    return changed(recipe, **{**of_both, **changes})


def chained(recipe: Recipe, other: Recipe) -> Recipe:
    return joined(
        recipe,
        other,
        text=f"{recipe}.concat({other})",
        build=lambda: recipe.build().concat(other.build()),
        model=lambda: recipe.model() + other.model(),
        keeps_rows=recipe.keeps_rows and other.keeps_rows,
    )


def mixture(recipe: Recipe, other: Recipe, weights: list[float], stop: Any) -> Recipe:
    both = joined(recipe, other)
    endless = stop == "repeat"
    return changed(
        both,
        text=f"mix([{recipe}, {other}], {weights}, {stop})",
        build=lambda: hr.mix([recipe.build(), other.build()], weights, stop),
        model=unmodelled,
        keeps_rows=stop == "all" and recipe.keeps_rows and other.keeps_rows,
        last_epoch=counted(both.last_epoch, 2**32, 2**32 - 2) if endless else both.last_epoch,
        may_cache=both.may_cache and not (endless and both.reads_parameter),
    )


def zipped(recipe: Recipe, other: Recipe) -> Recipe:
    def build() -> hr.Dataset:
        both = recipe.build().zip(other.build().rename({"value": "other"}))
        return both.map(added, ["value", "other"], "value").project("value")

    def model() -> Rows:
        return [_sum(a, b) for a, b in zip(recipe.model(), other.model(), strict=False)]

    return joined(
        recipe,
        other,
        text=f"{recipe}.zip({other})",
        build=build,
        model=model,
        keeps_rows=False,
        may_skip=recipe.may_skip and other.may_skip and not (recipe.renumbers or other.renumbers),
    )


def _sum(a: Any, b: Any) -> Any:
    if not isinstance(a, list):
        return a + b
    if len(a) != len(b):
        raise Unmodelled
    return [x + y for x, y in zip(a, b, strict=True)]


def skipping(recipe: Recipe, max_errors: int) -> Recipe:
    return dataclasses.replace(
        recipe,
        text=f"{recipe}.on_error(skip, {max_errors})",
        build=lambda: recipe.build().on_error("skip", max_errors),
        keeps_rows=False,
    )


def _weights(draws: Draws) -> list[float]:
    return [draws.choice([0.1, 1.0, 3.0]) for _ in range(2)]


MAPS = [
    "tripled",
    "tripled in any order",
    "kernels",
    "noisy",
    "tripled in processes",
    "noisy in processes",
    "noise",
    "failing",
    "drawn",
    "drawn for certain",
    "changing",
    "multiplied",
]


def extended(draws: Draws, recipe: Recipe, other: Recipe) -> Recipe:
    """Adds one operator."""
    ways: list[Callable[[], Recipe]] = [
        lambda: mapped(recipe, draws.choice(MAPS)),
        lambda: darkened(recipe, draws.choice([0.25, 1.0])),
        lambda: shuffled(recipe, draws.choice([draws.integer(1, 12), 1000])),
        lambda: repeated(recipe, draws.integer(1, 3)),
        lambda: repeated_endlessly(recipe, draws.integer(0, 40)),
        lambda: taken(recipe, draws.integer(0, 40)),
        lambda: skipped(recipe, draws.integer(0, 12)),
    ]
    if recipe.may_cache:
        ways.append(lambda: cached(recipe, draws.choice([None, 0, 600, 3000])))
    if recipe.depth == 0:
        ways.append(lambda: batched(recipe, draws.integer(1, 7), draws.choice([False, True])))
        flags = [False, True]
        ways.append(lambda: batched_by_functions(recipe, draws.integer(1, 5), draws.choice(flags), draws.choice(flags)))
        ways.append(lambda: filtered(recipe, draws.integer(2, 5), draws.choice([False, True])))
        ways.append(lambda: interleaved(recipe, draws.integer(1, 4), draws.integer(1, 3)))
        ways.append(lambda: flat_mapped(recipe, draws.choice([1, 3, 9])))
        ways.append(lambda: bucketed(recipe, draws.integer(1, 5), (draws.integer(1, 4), draws.integer(1, 4))))
        ways.append(lambda: grouped(recipe, draws.integer(1, 4), draws.integer(1, 4)))
    else:
        ways.append(lambda: unbatched(recipe))
        ways.append(lambda: joined_and_taken_apart(recipe, draws.integer(1, 5), draws.choice(["list", "splits"])))
        ways.append(lambda: mixed(recipe))
    if recipe.numbered is not None:
        ways.append(lambda: chosen(draws, recipe))
    if recipe.places is not None:
        ways += [lambda: sampled(draws, recipe)] * 3
    if recipe.numbered and recipe.depth == 0:
        sizes = (1, 5)
        ways.append(
            lambda: bucketed_by_number(recipe, draws.integer(1, 6), (draws.integer(*sizes), draws.integer(*sizes)))
        )
    if other.depth == recipe.depth:
        ways += [lambda: chained(recipe, other), lambda: zipped(recipe, other)]
        ways.append(lambda: mixture(recipe, other, _weights(draws), draws.choice(["first", "all"])))
        # As a stream: over sources with random access inputs must have as many rows in every pass.
        ways.append(lambda: mixture(mapped(recipe, "tripled"), other, [1.0, draws.choice([0.5, 1.0, 3.0])], "repeat"))
    return draws.choice(ways)()


def _drawn(draws: Draws, most: int) -> Recipe:
    recipe = source(draws)
    for _ in range(draws.integer(0, most)):
        other = _drawn(draws, most=2) if most > 2 and draws.choice([False, True]) else source(draws)
        recipe = extended(draws, recipe, other)
    return recipe


def drawn_recipe(draws: Draws, most: int = 6) -> Recipe:
    recipe = _drawn(draws, most)
    skips = recipe.may_skip and draws.choice([False, False, True])
    return skipping(recipe, draws.choice([0, 1, 3, 1000])) if skips else recipe


@st.composite
def recipes(draw: st.DrawFn, most: int = 6) -> Recipe:
    return drawn_recipe(HypothesisDraws(draw), most)
