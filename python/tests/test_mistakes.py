"""Mistakes of a first day, each with what is said of it: the message has to be enough to mend it within a minute."""

import gzip
import pathlib
import re
import sys
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import headrace as hr
from headrace import torch as headrace_torch
from headrace import vision as V
from headrace._arguments.doubts import _said

SIDE = 8
OF_BYTES = V.Normalize([123.675, 116.28, 103.53], [58.395, 57.12, 57.375])
OF_FLOATS = V.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])


@pytest.fixture
def images(photos: pathlib.Path) -> hr.Dataset:
    return hr.ImageFolder(photos).map([V.Decode(), V.Resize((SIDE, SIDE))], "image")


def pictures(column: str = "image", rows: int = 4) -> hr.Dataset:
    return hr.Numpy({column: np.zeros((rows, SIDE, SIDE, 1), np.uint8)})


def masked() -> hr.Dataset:
    image, mask = np.zeros((2, SIDE, SIDE, 3), np.uint8), np.zeros((2, SIDE, SIDE, 1), np.uint8)
    return hr.Numpy({"image": image, "mask": mask})


# ---- loops ----


def loop(batches: object) -> None:
    for image, label in batches:  # type: ignore[attr-defined]
        raise AssertionError((image, label))


def counted_loop(batches: object) -> None:
    for _, (image, label) in enumerate(batches):  # type: ignore[arg-type,var-annotated]
        raise AssertionError((image, label))


def loop_with_rest(batches: object) -> None:
    for image, *rest in batches:  # type: ignore[attr-defined]
        raise AssertionError((image, rest))


@pytest.mark.parametrize("written", [loop, counted_loop, loop_with_rest])
@pytest.mark.parametrize(
    "batches",
    [
        lambda ds: ds,
        lambda ds: iter(ds),
        lambda ds: ds.iterate(epoch=1),
        lambda ds: hr.progress(ds),
        lambda ds: headrace_torch.Loader(ds, as_="numpy"),
    ],
)
def test_a_loop_that_takes_dicts_apart(images, written, batches):
    with pytest.raises(hr.GraphError, match=r"gives the names of its columns: write `for batch in …` .* as_tuple=True"):
        written(batches(images.batch(2)))


def test_other_loops_are_as_they_were(images):
    batches = images.batch(2)
    first = next(iter(batches))
    for number, batch in enumerate(batches):
        assert list(batch) == ["image", "label"] and number >= 0
    for one, other in zip(batches.iterate(epoch=0), batches.iterate(epoch=0), strict=True):
        assert list(one) == list(other) == list(first)
    for number, (one, other) in enumerate(zip(batches.iterate(epoch=0), batches.iterate(epoch=0), strict=True)):
        assert number >= 0 and list(one) == list(other)
    assert [name for name, _ in (batch.items() for batch in batches.take(1)).__next__()] == ["image", "label"]


# ---- errors ----

ERRORS: dict[str, tuple[Callable[[hr.Dataset], object], type[BaseException], str]] = {
    "cache(True)": (lambda ds: ds.cache(True), hr.GraphError, "cache: memory is True; it must be a whole number"),
    "memory=True": (
        lambda ds: ds.iterate(memory=True),
        hr.GraphError,
        "iterate: memory is True; it must be a whole number",
    ),
    "cache=True": (lambda ds: ds.iterate(cache=True), hr.GraphError, "iterate: cache is True; it must be a path"),
    "a function gives a dict": (
        lambda ds: list(ds.map(lambda image: {"image": image, "mean": image.mean()}, "image")),
        hr.FunctionError,
        r"gave a dict of 'image', 'mean'; give a tuple of the values, and name their columns: output=\['image', 'mean'\]",
    ),
    "targets in a dict": (
        lambda _: list(hr.from_dataset([(np.zeros(3), {"boxes": np.zeros((1, 4))})], columns=["image", "target"])),
        hr.FunctionError,
        'column "target" is a dict of boxes; .* give each of these a column of its own',
    ),
    "ds.state()": (lambda ds: ds.state(), AttributeError, r"write it = iter\(dataset\), and then it.state\(\)"),
    "ds[0] of a stream": (
        lambda ds: ds.filter(hr.col("label") > 0)[0],
        hr.UnsupportedError,
        "with filter rows have no numbers; loop over the dataset",
    ),
    "hr.DataLoader": (lambda _: hr.DataLoader, AttributeError, r"write headrace.torch.Loader\(dataset, batch_size=…\)"),
    "headrace.torch.DataLoader": (
        lambda _: headrace_torch.DataLoader,
        AttributeError,
        r"write Loader\(dataset, batch_size=…\)",
    ),
    "Resize of one number, then batch": (
        lambda _: list(
            hr.from_dataset([np.zeros((9, 10 + i, 3), np.uint8) for i in range(2)], ["image"])
            .map(V.Resize(SIDE), "image")
            .batch(2)
        ),
        hr.GraphError,
        r"Resize with one number keeps proportions: give it both, as in Resize\(\(224, 224\)\)",
    ),
    "float64 for float32": (
        lambda ds: list(ds.map(lambda image: image / 255.0, "image", types={"image": "float32"})),
        hr.DataError,
        r'the function gave float64 \(8, 8, 3\) for column "image", which was declared as float32 of any shape; return '
        r'array.astype\("float32"\), or declare float64',
    ),
    "len of a filter": (
        lambda ds: len(ds.filter(hr.col("label") > 0).batch(2)),
        TypeError,
        r"because of filter; count them in a loop, sum\(1 for _ in dataset\)",
    ),
    "as_tuple of a column that is not there": (
        lambda ds: ds.iterate(as_tuple=["image", "lable"]),
        hr.GraphError,
        r"as_tuple names 'lable', and there is no such column; did you mean label\? \(columns: image, label\)",
    ),
    "as_tuple of record batches": (
        lambda ds: ds.iterate(as_tuple=True, as_="arrow"),
        hr.GraphError,
        'as_="arrow" gives record batches: leave one out',
    ),
    "as_tuple of nothing": (lambda ds: ds.iterate(as_tuple=[]), hr.GraphError, "as_tuple names no column"),
    "as_tuple of a number": (lambda ds: ds.options(as_tuple=2), hr.GraphError, "as_tuple is 2; write True"),
    "label_type without labels": (
        lambda _: hr.Numpy({"x": np.arange(3)}, label_type="int64"),
        hr.GraphError,
        "Numpy: label_type is 'int64', and there is no column of labels; leave it out",
    ),
}


@pytest.mark.parametrize("mistake", ERRORS)
def test_an_error_says_what_to_write(images, mistake):
    made, kind, said = ERRORS[mistake]
    with pytest.raises(kind, match=said):
        made(images)


IMPORTS = {
    "from headrace.torch import DataLoader": r"write Loader\(dataset, batch_size=…\)",
    "from headrace import DataLoader": r"write headrace.torch.Loader\(dataset, batch_size=…\)",
    "from headrace.vision import ToTensor": r"write V.ToFloat\(\) for values of 0 … 1",
    "from headrace.vision import Reszie": "did you mean Resize",
    "from headrace.torch import Loder": "module 'headrace.torch' has no attribute 'Loder'",
}


@pytest.mark.parametrize("statement", IMPORTS)
def test_an_import_says_what_to_write(statement):
    with pytest.raises(ImportError, match=IMPORTS[statement]):
        exec(statement)


@pytest.mark.parametrize("module", [hr, headrace_torch, V])
def test_other_ways_to_ask_for_a_name_are_as_they_were(module):
    assert not hasattr(module, "DataLoader") and getattr(module, "DataLoader", None) is None
    with pytest.raises(AttributeError):
        _ = module.DataLoader


# ---- warnings ----

WARNINGS: dict[str, tuple[Callable[[hr.Dataset], object], str]] = {
    "cache above random crops": (
        lambda ds: list(ds.map(V.RandomCrop(4), "image").cache()),
        "RandomCrop below it draws, and each row keeps what it drew .* put the random steps into a map above the cache",
    ),
    "ToFloat, then means of 0 … 255": (
        lambda ds: list(ds.map([V.ToFloat(), OF_BYTES], "image")),
        "ToFloat below it made them 0 … 1, .* leave ToFloat out, or divide mean and std by 255",
    ),
    "means of 0 … 1 over bytes": (
        lambda ds: list(ds.map(OF_FLOATS, "image")),
        r"the pixels are 0 … 255, as nothing divided them; put Rescale\(1 / 255\) before it",
    ),
    "a pair whose mask is missing": (
        lambda _: list(pictures(rows=5).zip(pictures("mask"))),
        "the inputs have 5 and 4 rows, .* every pair is a wrong one; find what is missing",
    ),
    "a mask that is resized as an image": (
        lambda _: list(masked().map(V.Resize(4), ["image", "mask"])),
        r'column "mask", which seems to be a mask: .* write hr.mask\("mask"\) after the image',
    ),
    "DataLoader over a dataset": (
        lambda ds: ds.__getitems__([0, 1]),
        r"one row at a time, .* write headrace.torch.Loader\(dataset, batch_size=…\)",
    ),
}


def warned(made: Callable[[], object]) -> list[str]:
    _said.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made()
    return [str(each.message) for each in caught if issubclass(each.category, hr.PipelineWarning)]


@pytest.mark.parametrize("mistake", WARNINGS)
def test_what_runs_is_doubted(images, mistake):
    made, said = WARNINGS[mistake]
    (found,) = warned(lambda: made(images))
    assert re.search(said, found)


# ---- files ----


def written(folder: pathlib.Path, name: str, content: str | bytes) -> pathlib.Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_type_that_was_inferred(tmp_path):
    lines = "".join(f"{row},2\n" for row in range(1500))
    path = written(tmp_path, "t.csv", f"a,b\n{lines}x,3\n")
    with pytest.raises(hr.DataError, match=r'inferred from the first rows; .* state types=\{"a": str, …\}'):
        list(hr.Csv(path))


@pytest.mark.parametrize("word", ["NA", "N/A", "null", " NA "])
def test_words_among_the_numbers_of_a_csv(tmp_path, word):
    path = written(tmp_path, "t.csv", f"a,b\n1,2\n3,{word}\n4,NaN\n")
    (said,) = warned(lambda: hr.Csv(path))
    assert f'column "b" of {str(path)!r} is text, as {word!r} stands among its numbers' in said
    assert 'write missing={"b": -1}, with the number that it stands for' in said
    assert warned(lambda: hr.Csv(path, missing={"b": -1})) == []
    assert [int(row["b"]) for row in hr.Csv(path, missing={"b": -1})] == [2, -1, -1]
    assert warned(lambda: hr.Csv(path, types={"b": str})) == []


@pytest.mark.parametrize("fields", ["x\nNA\ny\n", "1\n2\nNaN\n", "NA\nNA\n", "1\nx\nNA\n", "1.5\n2\n"])
def test_other_columns_of_a_csv_are_not_doubted(tmp_path, fields):
    path = written(tmp_path, "t.csv", f"a\n{fields}")
    assert warned(lambda: list(hr.Csv(path))) == []


def test_a_word_stands_for_a_class_or_a_text(tmp_path):
    path = written(tmp_path, "t.csv", "a,b\n1,2\n3,NA\n")
    assert warned(lambda: hr.Csv(path, missing={"b": "none"})) == []


def test_tabs_in_a_csv(tmp_path):
    path = written(tmp_path, "t.csv", "a\tb\n1\t2\n")
    (said,) = warned(lambda: hr.Csv(path))
    assert 'the columns seem to be between tabs; write delimiter="\\t"' in said


def test_files_of_another_kind(tmp_path):
    packed = written(tmp_path, "t.npy", gzip.compress(b"x" * 100))
    with pytest.raises(hr.DataError, match="the file is gzip, by its first bytes: decompress it first"):
        hr.Npy(packed)
    parquet = written(tmp_path, "t.csv", b"PAR1\x15\x04\xff\xfe\n")
    for source in (hr.Csv, hr.JsonLines, hr.Text, hr.RecordFile):
        with pytest.raises(hr.DataError, match=r"the file is Parquet, by its first bytes: write hr.Parquet\(path\)"):
            list(source(parquet))
    record = tmp_path / "t.tfrecord"
    hr.Numpy({"a": np.arange(3)}).write_tfrecord(record)
    for source in (hr.Csv, hr.JsonLines, hr.Text, hr.RecordFile):
        with pytest.raises(hr.DataError, match="the file is TFRecord, by its first bytes: read it with hr.TFRecord"):
            list(source(record))


def test_a_table_of_pandas_keeps_its_columns():
    class Frame:
        """Has what a DataFrame has."""

        columns = ("a", "b")

        def itertuples(self) -> None: ...

        def __getitem__(self, name: str) -> np.ndarray:
            return np.arange(2) if name == "a" else np.ones(2)

    assert dict(hr.Numpy(Frame()).schema) == {"a": ("int64", ()), "b": ("float64", ())}


def test_another_python_is_named(tmp_path):
    source = pathlib.Path(hr.__file__).read_text()
    package = tmp_path / "headrace"
    package.mkdir()
    (package / "__init__.py").write_text(source[: source.index("from headrace import functions")])
    other = "_engine.cpython-399-x86_64-linux-gnu.so"
    (package / other).touch()
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "headrace"}
    sys.path.insert(0, str(tmp_path))
    try:
        with pytest.raises(
            ImportError, match=rf"the engine's module is built for another Python: {other}; run the program"
        ):
            __import__("headrace")
    finally:
        sys.path.remove(str(tmp_path))
        for name in [name for name in sys.modules if name.partition(".")[0] == "headrace"]:
            del sys.modules[name]
        sys.modules.update(kept)
