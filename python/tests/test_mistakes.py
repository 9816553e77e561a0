"""Mistakes of a first day, each with what is said of it: the message has to be enough to mend it within a minute."""

import gzip
import itertools
import pathlib
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from conftest import run_python

import headrace as hr
from headrace import datasets
from headrace import torch as headrace_torch
from headrace import transforms as T
from headrace import vision as V
from headrace._arguments.doubts import _said
from headrace._arguments.set_names import SETS

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


def list_of_pairs(batches: object) -> None:
    raise AssertionError([(image, label) for image, label in (lambda: batches)()])  # type: ignore[attr-defined]


def dict_of_pairs(batches: object) -> None:
    raise AssertionError({str(image): label for image, label in batches})  # type: ignore[attr-defined]


def sum_over_pairs(batches: object) -> None:
    raise AssertionError(sum(len(label) for image, label in batches))  # type: ignore[attr-defined]


@pytest.mark.parametrize("written", [loop, counted_loop, loop_with_rest, list_of_pairs, dict_of_pairs, sum_over_pairs])
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


@pytest.mark.parametrize("batches", [lambda ds: ds, lambda ds: headrace_torch.Loader(ds, as_="numpy")])
def test_a_first_batch_that_is_taken_apart(images, batches):
    made = batches(images.batch(2))
    with pytest.raises(hr.GraphError, match=r"write `batch = next\(…\)` .* as_tuple=True"):
        image, label = next(iter(made))
    with pytest.raises(hr.GraphError, match=r"this line takes each batch apart"):
        image, *_ = next(iter((lambda: made)()))
    it = iter(made)
    with pytest.raises(hr.GraphError, match=r"this line takes each batch apart"):
        image, label = next(it)
    image, label = next(it).values()
    assert len(image) == len(label) == 2


class _Pairs:
    def __init__(self, batches: hr.Dataset) -> None:
        self.batches = batches

    def __iter__(self) -> Iterator[tuple[object, object]]:
        return map(_pair, self.batches)


def _pair(batch: dict[str, object]) -> tuple[object, object]:
    return batch["image"], batch["label"]


@pytest.mark.parametrize("batches", [lambda ds: ds, lambda ds: headrace_torch.Loader(ds, as_="numpy")])
def test_what_gives_pairs_of_batches_is_taken_apart(images, batches):
    made = batches(images.batch(2))
    it = map(_pair, made)
    image, label = next(it)
    assert len(image) == len(label) == 2
    whole = _Pairs(made)
    pairs = iter(whole)
    image, label = next(pairs)
    assert len(image) == len(label) == 2
    later = iter(made)
    later = map(_pair, later)  # type: ignore[assignment]
    image, label = next(later)
    assert len(image) == len(label) == 2
    counted = enumerate(made)
    number, batch = next(counted)
    assert (number, list(batch)) == (0, ["image", "label"])


def test_an_iterator_of_a_notebook_that_is_taken_apart(images):
    names = {"made": images.batch(2)}
    exec("it = iter(made)\nfirst = next(it)", names)
    names = {"made": images.batch(2)}
    with pytest.raises(hr.GraphError, match=r"this line takes each batch apart"):
        exec("it = iter(made)\nimage, label = next(it)", names)


def test_other_lines_that_take_apart_are_as_they_were(images):
    batches = images.batch(6)
    first, second = list(iter(batches))
    assert list(first) == list(second) == ["image", "label"]
    (first,) = next(iter([batches.take(1)]))
    assert list(first) == ["image", "label"]
    for image, label in zip(*[[1, 2], [3, 4]], strict=True):
        assert image + 2 == label
    assert [list(batch) for batch in [ds for ds, _ in [(batches, 0)]][0]] == [["image", "label"]] * 2
    assert [list(batch) for ds, _ in [(batches, 0)] for batch in ds] == [["image", "label"]] * 2


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


ITERATORS_OF_C: dict[str, Callable[[hr.Dataset], object]] = {
    "map": lambda ds: map(dict, iter(ds)),
    "islice": lambda ds: itertools.islice(ds, 3),
    "filter": lambda ds: filter(None, ds),
    "rows by number": lambda ds: map(ds.__getitem__, range(3)),
    "torch's Loader": lambda ds: itertools.islice(headrace_torch.Loader(ds, batch_size=None), 3),
}


@pytest.mark.parametrize(
    "made", [pytest.param(name, marks=pytest.mark.torch if "torch" in name else ()) for name in ITERATORS_OF_C]
)
def test_a_loop_may_have_no_caller_in_python(made):
    rows = hr.Generator(lambda: ITERATORS_OF_C[made](hr.Range(3)), {"value": "int64"})
    assert [int(row["value"]) for row in rows] == [0, 1, 2]


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
    "map without columns": (
        lambda ds: ds.map(V.HWC2CHW()),
        TypeError,
        r"map\(\) needs columns: The column, or columns, that the first kernel reads",
    ),
    "shuffle without a window": (
        lambda ds: ds.shuffle(),
        TypeError,
        r"shuffle\(\) needs window: How far a row may move",
    ),
    "a kernel without its number": (lambda _: T.OneHot(), TypeError, "needs num_classes"),
    "a source without its path": (lambda _: hr.ImageFolder(), TypeError, r"ImageFolder\(\) needs root: "),
    "two values for one column": (
        lambda ds: list(ds.map(lambda image: (image, image.mean()), "image")),
        hr.GraphError,
        r"gave 2 values for 1 columns; map\(…, output=\[…\]\) names a column for each value",
    ),
    "boxes that differ in number": (
        lambda _: list(hr.from_dataset([{"boxes": np.zeros((i, 4))} for i in range(2)]).batch(2)),
        hr.GraphError,
        r'use batch\(ragged="splits"\) or "list", which join them as they are, or batch\(pad=True\)',
    ),
    "boxes of COCO by name": (
        lambda _: hr.boxes("boxes", "coco"),
        hr.GraphError,
        "format is 'coco'; write format=\"xywh\"",
    ),
    "boxes of YOLO by name": (
        lambda _: hr.boxes("boxes", "yolo"),
        hr.GraphError,
        'write format="cxcywh", relative=True',
    ),
    "labels in place of the format": (
        lambda _: hr.boxes("boxes", "label"),
        hr.GraphError,
        r"columns of labels are named by labels=",
    ),
    "ds.to(device)": (lambda ds: ds.to("cuda"), AttributeError, r'a Dataset has no to; write to_device\("cuda:0"\)'),
    "ds.cuda()": (lambda ds: ds.cuda(), AttributeError, r'write to_device\("cuda:0"\)'),
    "ds.numpy()": (lambda ds: ds.batch(2).numpy(), AttributeError, "leave it out: batches hold NumPy arrays"),
    "a column as an attribute": (lambda ds: ds.labels_, AttributeError, r'each row has it: row\["labels_"\]'),
    "hr.random_split": (
        lambda ds: hr.random_split(ds, [1]),
        AttributeError,
        r"write dataset.split\(\[0.8, 0.2\], seed=0\)",
    ),
    "hr.from_tensor_slices": (lambda _: hr.from_tensor_slices, AttributeError, "it is called Numpy"),
    "hr.zip": (lambda _: hr.zip, AttributeError, r"write dataset.zip\(other\)"),
    "hr.Lines": (lambda _: hr.Lines, AttributeError, "it is called Text"),
    "a column expression in map": (
        lambda ds: ds.map(hr.col("label") / 10, "label"),
        hr.GraphError,
        "expressions are for filter: write a function of the columns",
    ),
    "a kernel by its name": (
        lambda ds: ds.map([V.HWC2CHW(), "Resize"], "image"),
        hr.GraphError,
        r"write Resize\(…\) of headrace.vision",
    ),
    "a condition in a text": (
        lambda ds: ds.filter("label > 1"),
        hr.GraphError,
        r"write an expression, such as hr.col\(\"x\"\) > 1",
    ),
    "select of columns": (
        lambda ds: ds.select(["image"]),
        hr.GraphError,
        r"indices\[0\] is 'image'; it chooses rows, and project\(columns\) columns",
    ),
    "a method of texts in a condition": (
        lambda ds: ds.filter(hr.col("label").strip() != ""),
        AttributeError,
        r"a column expression has no strip: .* such as filter\(lambda x: x.strip\(\), columns\)",
    ),
    "len in a condition": (
        lambda ds: ds.filter(len(hr.col("label")) > 2),
        TypeError,
        r"a column expression has no length .* filter\(lambda x: len\(x\) > 2, columns\)",
    ),
    "OneHot of texts": (
        lambda _: hr.Numpy({"x": ["a", "b"]}).map(T.OneHot(2), "x").schema,
        hr.GraphError,
        r"needs whole numbers, which Lookup makes of texts; got string \(\)",
    ),
    "prob= of a kernel": (lambda _: V.RandomGrayscale(prob=0.5), TypeError, "the chance of a kernel is called p"),
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
    "shuffel=": (lambda _: hr.ImageFolder(".", shuffel=True), TypeError, r"did you mean shuffle\?"),  # type: ignore[call-arg]
    "sede=": (lambda ds: ds.with_seed(sede=3), TypeError, r"did you mean seed\?"),
    "drop_remainer=": (lambda ds: ds.batch(2, drop_remainer=True), TypeError, r"did you mean drop_remainder\?"),
    "num_proc=": (
        lambda ds: ds.map(len, "image", num_proc=4),
        TypeError,
        r"has no parameter num_proc; write processes=… for Python functions: map\(function, columns, processes=4\)",
    ),
    "remove_columns=": (
        lambda ds: ds.map(len, "image", remove_columns=["label"]),
        TypeError,
        r"write project\(columns\) after the map, which names those that stay",
    ),
    "batched=": (
        lambda ds: ds.map(len, "image", batched=True),
        TypeError,
        r"leave it out: kernels take rows, and batch kernels .* stand after batch\(size\)",
    ),
    "remove_columns": (lambda ds: ds.remove_columns(["label"]), AttributeError, r"write project\(columns\)"),
    "with_format": (lambda ds: ds.with_format("torch"), AttributeError, r'write options\(as_="torch"\)'),
    "to_pandas": (lambda ds: ds.to_pandas(), AttributeError, r"write pyarrow.Table.from_batches\(.*\).to_pandas\(\)"),
    "LongestMaxSize": (lambda _: V.LongestMaxSize(8), AttributeError, r"write V.FitInside\(size\)"),
    "HueSaturationValue": (
        lambda _: V.HueSaturationValue(),
        AttributeError,
        r"write V.ColorJitter\(saturation=…, hue=…\), or V.RandomHls\(",
    ),
    "RandomBrightnessContrast": (
        lambda _: V.RandomBrightnessContrast(),
        AttributeError,
        r"write V.ColorJitter\(brightness=0.2, contrast=0.2\)",
    ),
    "hr.Parquett": (lambda _: hr.Parquett, AttributeError, r"did you mean Parquet\?"),
    "arrays side by side": (
        lambda _: hr.Numpy(np.zeros((3, 2)), np.zeros(3)),  # type: ignore[call-arg]
        TypeError,
        r'takes 1 value without a name \(arrays\), and got 2; give the arrays in a dict .*: hr.Numpy\({"features": x, "label": y}\)',
    ),
    "arrays in a tuple": (
        lambda _: hr.Numpy((np.zeros((3, 2)), np.zeros(3))),
        hr.GraphError,
        r'a tuple of 2 arrays, which have no names; .* hr.Numpy\({"features": x, "label": y}\)',
    ),
    "rows as arrays": (
        lambda _: hr.Numpy([{"a": 1}, {"a": 2}]),
        hr.GraphError,
        r"a list of rows, the first with 'a'; write hr.from_dataset\(rows\)",
    ),
    "a path as an array": (lambda _: hr.Numpy("x.npy"), hr.GraphError, r"arrays is 'x.npy'; write hr.Npy\(path\)"),
    "a generator as an array": (
        lambda _: hr.Numpy(each for each in range(3)),
        hr.GraphError,
        r"which gives rows one by one; write hr.Generator\(function, columns\)",
    ),
    "a dataset as an array": (lambda ds: hr.Numpy(ds), hr.GraphError, "it is a dataset already"),
    "files side by side": (
        lambda _: hr.Csv("a.csv", "b.csv"),  # type: ignore[arg-type]
        TypeError,
        r"Csv\(\) takes several files as a list: hr.Csv\(\['a.csv', 'b.csv'\]\)",
    ),
    "archives side by side": (
        lambda _: hr.WebDataset("a.tar", "b.tar"),  # type: ignore[arg-type]
        TypeError,
        r"hr.WebDataset\(\['a.tar', 'b.tar'\]\)",
    ),
    "columns side by side": (
        lambda ds: ds.project("image", "label"),
        TypeError,
        r"project\(\) takes 1 value without a name \(columns\), and got 2; give several columns as a list",
    ),
    "an epoch without its name": (
        lambda ds: ds.iterate(3),
        TypeError,
        r"iterate\(\) takes no values without a name, and got 1; name what follows: epoch=…",
    ),
    "too many numbers": (
        lambda ds: ds.take(1, 2),
        TypeError,
        r"take\(\) takes 1 value without a name \(count\), and got 2$",
    ),
    "cache of a path": (
        lambda ds: ds.cache("/tmp/kept"),
        hr.GraphError,
        "memory is '/tmp/kept'; write directory='/tmp/kept' for a folder",
    ),
    "iterator.state_dict()": (
        lambda ds: iter(ds).state_dict(),
        AttributeError,
        r"an Iterator has no state_dict; write it.state\(\)",
    ),
    "a step of an iterator": (
        lambda ds: iter(ds).batch(2),
        AttributeError,
        r"write it to the dataset, before iter\(dataset\): an iterator is one run",
    ),
    "ds.resume(state)": (
        lambda ds: ds.resume(b""),
        AttributeError,
        r"write iterate\(state=state\), with what it.state\(\) gave",
    ),
    "headrace.torch.Loder": (lambda _: headrace_torch.Loder, AttributeError, r"did you mean Loader\?"),
    "hr.shuffle": (lambda ds: hr.shuffle(ds), AttributeError, r"a dataset has it: dataset.shuffle\(…\)"),
    "hr.epoch": (lambda _: hr.epoch, AttributeError, "a dataset has it: dataset.epoch$"),
    "hr.schema": (lambda _: hr.schema, AttributeError, "a dataset has it: dataset.schema$"),
    "hr.MNIST": (lambda _: hr.MNIST, AttributeError, "it is headrace.datasets.Mnist"),
    "hr.datasets.ImageFolder": (lambda _: hr.datasets.ImageFolder, AttributeError, "it is headrace.ImageFolder"),
    "V.resize": (lambda _: V.resize, AttributeError, r"did you mean Resize\?"),
    "hr.manual_seed": (lambda _: hr.manual_seed(3), AttributeError, r"write dataset.with_seed\(seed\)"),
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
    "from headrace.torch import Loder": "module 'headrace.torch' has no attribute 'Loder'; did you mean Loader",
    "from headrace import Mnist": "it is headrace.datasets.Mnist",
    "from headrace.datasets import ImageFolder": "it is headrace.ImageFolder",
    "from headrace.datasets import Mnits": "did you mean Mnist",
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


def test_a_name_that_is_lacking_imports_no_sets():
    assert list(SETS) == datasets.__all__
    done = run_python("import sys, headrace as hr; print(hasattr(hr, 'mnits'), 'headrace.datasets' in sys.modules)")
    assert (done.stdout, done.stderr) == ("False False\n", "")


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
    "a loop over row numbers": (
        lambda _: [each[number] for each in [hr.Range(101)] for number in range(len(each))],
        r"dataset\[i\] was asked for more than 100 rows, with the engine begun anew for each: write `for row in dataset`",
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


def test_rows_by_number_are_doubted_once():
    rows = hr.Range(150)
    (said,) = warned(lambda: [rows[number] for number in range(150)])
    assert "for more than 100 rows" in said


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


@pytest.mark.parametrize("row", ["5.1,3.5,setosa", "7,3,12", "1.5"])
def test_a_csv_without_a_header(tmp_path, row):
    path = written(tmp_path, "t.csv", f"{row}\n{row}\n")
    (said,) = warned(lambda: hr.Csv(path))
    assert "seems to be a row: " in said and "write header=False, columns=[…] for files without a header" in said
    names = [f"c{at}" for at in range(row.count(",") + 1)]
    assert warned(lambda: hr.Csv(path, header=False, columns=names)) == []
    assert len(list(hr.Csv(path, header=False, columns=names))) == 2
    assert warned(lambda: hr.Csv(path, columns=names)) == []


def test_a_row_of_equal_numbers_for_a_header(tmp_path):
    path = written(tmp_path, "t.csv", "1,1,5\n3,4,5\n")
    with pytest.raises(
        hr.GraphError, match='the name "1" twice; if it is a row, write header=False, and name the fields'
    ):
        hr.Csv(path)


@pytest.mark.parametrize("header", ["0,1,2", "1990,1991", "label,1,7", "id", "1", "a,b", "nan,inf"])
def test_other_headers_are_not_doubted(tmp_path, header):
    path = written(tmp_path, "t.csv", f"{header}\n{header}\n")
    assert warned(lambda: hr.Csv(path)) == []


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
    shutil.copytree(pathlib.Path(hr.__file__).with_name("_arguments"), package / "_arguments")
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
