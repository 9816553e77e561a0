"""What users give goes in exactly, or is an error that names row and column."""

import collections
import fractions
import sys
import threading

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from headrace import transforms as T
from headrace import vision as V

BYTES = [b"PCM\0\0", b"\0", b"b"]
TEXTS = ["a\0", "\0", "b"]


def value_of(row):
    value = row["value"]
    return value if isinstance(value, (bytes, str)) else value.tolist()


def column(values):
    return [value_of(row) for row in hr.Numpy({"value": values})]


# Each gives the values back as they came through one way in.
WAYS = {
    "Numpy": column,
    "Manifest of columns": lambda v: [
        value_of(row) for row in hr.Manifest({"path": ["f"] * len(v), "value": v}, "path", root=".")
    ],
    "Manifest of rows": lambda v: [
        value_of(row) for row in hr.Manifest([{"path": "f", "value": x} for x in v], "path", root=".")
    ],
    "a function's list": lambda v: value_of(next(iter(hr.Range(1).map(lambda _: list(v), "value")))),
    "a list in a tuple": lambda v: value_of(
        next(iter(hr.Range(1).map(lambda _: (list(v), 1), "value", ["value", "n"])))
    ),
    "a dataset's list": lambda v: value_of(next(iter(hr.from_dataset([{"value": list(v)}])))),
    "a generator's list": lambda v: value_of(next(iter(hr.Generator(lambda: iter([{"value": list(v)}]), ["value"])))),
    "flat_map": lambda v: value_of(next(iter(hr.Range(1).flat_map(lambda _: [list(v)])))),
}


@pytest.fixture(autouse=True)
def a_file(tmp_path, monkeypatch):
    (tmp_path / "f").write_bytes(b"1")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "values",
    [
        BYTES,
        TEXTS,
        [2**64 - 1, 7],
        [2**63 + 1, 1],
        [-(2**63), 2**63 - 1],
        [2**53 + 1, 1],
        [1, 2.5, 2**53],
        [True, False],
        [1.5, float("inf")],
    ],
    ids=repr,
)
def test_a_list_keeps_its_values(way, values):
    got = WAYS[way](values)
    assert got == values and [isinstance(each, bool) for each in got] == [isinstance(each, bool) for each in values]
    if all(isinstance(each, int) for each in values):
        assert all(isinstance(each, int) for each in got)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([2**63 + 1, -1], "no dtype of whole numbers holds both"),
        ([1, 2**64], "18446744073709551616, which no dtype of whole numbers holds"),
        ([0.5, 2**53 + 1], "9007199254740993, which float64 does not hold"),
        ([1, "1"], "'1', a text, and .*is a number"),
        ([b"a", "a"], "'a', a text, and .*is bytes"),
        ([1, True], "True, a bool, and .*is a number"),
        ([1, None], "None, and no column holds a missing value"),
        (["a", None], "None, and no column holds a missing value"),
        ([[1, 2], [3]], r"a list of 1, and .*is a list of 2; the shapes of all must agree"),
        ([1, [2]], "a list of 1"),
        ([{"a": 1}], "is {'a': 1} .dict.; give each of its values a column"),
        ([{1}, {2}], "a set has no order"),
        ([fractions.Fraction(1, 3)], "Fraction"),
    ],
    ids=repr,
)
def test_a_list_that_no_column_holds_is_refused(way, values, says):
    with pytest.raises(hr.Error, match=says):
        WAYS[way](values)


def test_messages_name_row_and_column():
    with pytest.raises(hr.GraphError, match='Numpy: column "age": row 2 is None, and no column holds a missing value'):
        hr.Numpy({"age": [1, 2, None]})
    with pytest.raises(hr.GraphError, match=r'column "box": row 1 at \[0\] is .*x'):
        hr.Numpy({"box": [[1, 2], ["x", 3]]})
    with pytest.raises(hr.FunctionError, match=r"\[1\] is 'a'"):
        list(hr.Range(1).map(lambda _: [1, "a"], "value"))
    with pytest.raises(hr.FunctionError, match=r'column "b": \[0\] is None'):
        list(hr.from_dataset([(1, [None])], ["a", "b"]))
    with pytest.raises(hr.FunctionError, match=r"value 1 of its tuple: \[1\] is b"):
        list(hr.Range(1).map(lambda v: (v, ["a", b"b"]), "value", ["value", "more"]))


def test_numbers_of_numpy_keep_their_dtype():
    assert hr.Numpy({"x": [np.float32(1), np.float32(2)]}).schema["x"].dtype == "float32"
    assert hr.Numpy({"x": [np.int8(1), np.int16(2)]}).schema["x"].dtype == "int16"
    assert hr.Numpy({"x": [np.zeros(2, np.uint8), np.ones(2, np.uint8)]}).schema["x"] == ("uint8", (2,))
    assert hr.Numpy({"x": [[np.ones(2), np.ones(2)]] * 3}).schema["x"] == ("float64", (2, 2))
    assert hr.Numpy({"x": [[1, 2], np.array([3, 4])]}).schema["x"] == ("int64", (2,))
    assert hr.Numpy({"x": [np.array([1, 2]), [3, 4]]}).schema["x"] == ("int64", (2,))
    assert column([np.uint64(2**64 - 1), 1]) == [2**64 - 1, 1]
    assert column([np.uint64(1), np.int64(-1)]) == [1, -1]
    with pytest.raises(hr.GraphError, match="no dtype of whole numbers holds both"):
        column([np.uint64(2**63), -1])
    with pytest.raises(hr.GraphError, match="float64 does not hold"):
        column([np.array([2**53 + 1, 0]), np.array([0.5, 0])])


def test_other_sequences_are_lists_of_their_values():
    assert column(range(3)) == [0, 1, 2]
    assert column(collections.deque([1, 2])) == [1, 2]
    assert column((b"a\0", b"")) == [b"a\0", b""]
    assert column(memoryview(b"ab")) == [97, 98]
    assert hr.Numpy({"x": []}).schema["x"] == ("float64", ())
    assert hr.Numpy({"x": [[], []]}).schema["x"] == ("float64", (0,))


def test_labels_of_samplers_are_not_merged():
    for labels in (["a\0", "a", "b"], [b"a\0", b"a", b"b"], [2**63, 2**63 + 1, 0]):
        drawn = np.bincount([int(row["value"]) for row in hr.Range(3).sample(hr.ClassBalanced(labels, n=3000))])
        assert drawn.min() > 850
    with pytest.raises(hr.GraphError, match="row 1 is -1"):
        hr.ClassBalanced([2**63, -1])


def test_a_text_that_is_no_utf8_keeps_its_bytes():
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert value_of(next(iter(hr.Range(1).map(lambda _: name, "value")))) == name
    assert column([name, "b"]) == [name, "b"]
    with pytest.raises(hr.Error, match="UTF-8 cannot hold"):
        list(hr.Range(1).map(lambda _: "\ud800", "value"))


def test_a_function_that_gives_a_dict_is_told_to_give_a_tuple():
    with pytest.raises(hr.FunctionError, match=r"gave a dict of 'a', 'b'; give a tuple .*output=\['a', 'b'\]"):
        list(hr.Range(2).map(lambda v: {"a": v, "b": v}, "value"))
    with pytest.raises(hr.FunctionError, match=r'column "target" is a dict of boxes.* columns='):
        list(hr.from_dataset([(1, {"boxes": 2})], ["image", "target"]))


# ---- tables of other libraries, as far as they are here ----


class Frame:
    """A DataFrame, as far as it is looked at."""

    def __init__(self, names, columns):
        self.columns = names
        self._columns = columns

    def itertuples(self):
        raise NotImplementedError

    def __getitem__(self, name):
        return self._columns[self.columns.index(name)]


class ArrowColumn:
    """A column of pyarrow, as far as it is looked at."""

    def __init__(self, values, dictionary=False):
        self._values = values
        self.null_count = sum(each is None for each in values)
        self.type = type("Type", (), {"value_type": "plain", "index_type": "int"} if dictionary else {})()

    def cast(self, kind):
        assert kind == "plain"
        return ArrowColumn(self._values)

    def is_null(self):
        return type("Mask", (), {"to_pylist": lambda _: [each is None for each in self._values]})()

    def to_numpy(self, zero_copy_only=True):
        return np.array([each or "x" for each in self._values], object)


class ArrowTable:
    def __init__(self, **columns):
        self.column_names = list(columns)
        self.columns = list(columns.values())

    def column(self, name):
        return self.columns[self.column_names.index(name)]


def test_numpy_takes_a_frame_by_column():
    frame = Frame(["a", "b"], [np.array([1, 2]), np.array(["x", "y"], object)])
    assert list(hr.Numpy(frame).schema) == ["a", "b"]
    with pytest.raises(hr.GraphError, match="2 columns of the name 'a'"):
        hr.Numpy(Frame(["a", "a"], [np.array([1]), np.array([2])]))
    frame.__class__.__array__ = lambda self, dtype=None, copy=None: np.zeros((2, 2))
    with pytest.raises(hr.FunctionError, match="give its columns one by one"):
        list(hr.Range(1).map(lambda _: frame, "value"))


@pytest.mark.parametrize("dictionary", [False, True])
def test_a_null_of_arrow_is_an_error_of_its_row(dictionary):
    with pytest.raises(hr.GraphError, match='column "kind" has no value in row 1'):
        hr.Numpy(ArrowTable(kind=ArrowColumn(["cat", None, "dog"], dictionary)))
    with pytest.raises(hr.GraphError, match='Manifest: column "path" has no value in row 1'):
        hr.Manifest(ArrowTable(path=ArrowColumn(["f", None], dictionary)), "path")
    assert column_of(hr.Numpy(ArrowTable(kind=ArrowColumn(["cat", "dog"], dictionary))), "kind") == ["cat", "dog"]


def column_of(dataset, name):
    return [row[name] for row in dataset]


# ---- records ----


def picture():
    return V.EncodePng()(np.zeros((2, 2, 3), np.uint8))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2**24, 2**24 + 1]),
        np.array([[1, 2**24], [1, 2**24 + 1]]),
        np.array([2**63, 2**63 + 1], np.uint64),
        np.array([0.0, 2**24 + 1.0]),
    ],
    ids=str,
)
def test_records_refuse_labels_that_float32_rounds(labels, tmp_path):
    images = np.array([picture(), picture()], object)
    with pytest.raises(hr.DataError, match=r"the label of row 1 is \S+, a whole number that float32"):
        hr.Numpy({"image": images, "label": labels}).write_records(tmp_path / "a.rec")
    hr.Numpy({"image": images, "label": labels[:1].repeat(2, 0)}).write_records(tmp_path / "a.rec")


def test_records_refuse_what_is_no_label_and_no_id(tmp_path):
    def write(**columns):
        columns = {name: np.array(values) for name, values in columns.items()}
        hr.Numpy({"image": np.array([picture()], object), **columns}).write_records(tmp_path / "a.rec")

    with pytest.raises(hr.GraphError, match="label is string"):
        write(label=["cat"])
    with pytest.raises(hr.DataError, match="the id of row 0 is .*1.5"):
        write(label=[1], id=[1.5])
    with pytest.raises(hr.DataError, match="beyond float32"):
        write(label=[1e300])


def test_records_refuse_the_memory_of_arrays(tmp_path):
    rows = hr.Range(2).map(lambda v: np.full((2, 2), v, np.float32), "value")
    with pytest.raises(hr.DataError, match=r"value is float32 of shape \(2, 2\) in row 0"):
        rows.write_records(tmp_path / "a.rec")
    with pytest.raises(hr.DataError, match="value is a text in row 0"):
        hr.Range(2).map(lambda v: "text", "value").write_records(tmp_path / "a.rec")


@pytest.mark.parametrize("label", [2**24 + 1, [0, 2**24 + 1], np.array([2**24 + 1]), 16777217.0], ids=str)
def test_pack_warns_of_labels_that_float32_rounds(label):
    with pytest.warns(RuntimeWarning, match="16777217.* is a whole number that float32"):
        mx.recordio.pack(mx.recordio.IRHeader(0, label, 0, 0), b"")
    assert mx.recordio.unpack(mx.recordio.pack((0, 0.1, 0, 0), b""))[0].label == np.float32(0.1)
    assert mx.recordio.unpack(mx.recordio.pack((0, [2**25, 1e30], 0, 0), b""))[0].label[0] == 2**25


def test_a_list_refuses_labels_that_float32_rounds(tmp_path):
    for label in ("16777217", "16777217.000000", "18446744073709551617"):
        (tmp_path / "a.lst").write_text(f"0\t1.5\tf\n1\t{label}\tf\n")
        with pytest.raises(hr.DataError, match=f'line 2: the label "{label}" is a whole number that float32'):
            list(hr.ImageList("a.lst"))
    (tmp_path / "a.lst").write_text("0\t16777216\tf\n1\t0.1\tf\n2\t1e30\tf\n")
    assert [row["label"] for row in hr.ImageList("a.lst")] == [np.float32(x) for x in (2**24, 0.1, 1e30)]


def test_threads_read_the_records_that_they_ask_for(tmp_path):
    with mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "w") as record:
        for i in range(64):
            record.write_idx(i, b"%05d" % i)
    paused = threading.Event()

    class Slow(mx.recordio.MXIndexedRecordIO):
        def read(self):
            paused.wait(0.001)
            return super().read()

    reader, wrong = Slow("a.idx", "a.rec", "r"), []

    def many(first):
        wrong.extend(i for i in range(first, 64, 4) if reader.read_idx(i) != b"%05d" % i)

    threads = [threading.Thread(target=many, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- tensors ----


@pytest.mark.torch
def test_tensors_of_torch_without_a_gradient():
    torch = pytest.importorskip("torch")
    tensor = torch.ones(2, requires_grad=True)
    code = "import torch, headrace as hr; list(hr.from_dataset([torch.ones(2, requires_grad=True)] * 3, ['x']))"
    import subprocess

    run = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True)
    assert run.returncode == 0 and run.stderr.count("requires a gradient") == 1
    assert column_of(hr.from_dataset([tensor], ["x"]), "x")[0].tolist() == [1, 1]
    assert column([tensor.detach(), tensor.detach()]) == [[1, 1], [1, 1]]


@pytest.mark.torch
def test_bfloat16_of_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    for dataset in (hr.from_dataset([tensor] * 2, ["x"]), hr.Numpy({"x": torch.stack([tensor, tensor])})):
        (batch,) = dataset.batch(2).iterate(as_="torch")
        assert batch["x"].dtype == torch.bfloat16 and batch["x"].tolist() == [[1.5, -2.0]] * 2


# ---- single rows ----


def test_a_single_row_has_its_memory_to_itself():
    picture = V.EncodePng()(np.zeros((400, 400, 3), np.uint8))
    rows = hr.Numpy({"image": np.array([picture] * 2, object)}).map([V.Decode(), V.CenterCrop(16)], "image")
    for row in rows:
        image = row["image"]
        base = image
        while getattr(base, "base", None) is not None and isinstance(base.base, np.ndarray):
            base = base.base
        assert image.flags.c_contiguous and base.nbytes == image.nbytes


# ---- names and paths ----


def test_a_column_of_a_reserved_name_is_refused():
    for dataset in (
        hr.Numpy({"_pad": [1, 2], "value": [1, 2]}),
        hr.Range(2).rename({"value": "_pad"}),
        hr.Range(2).map(lambda v: v, "value", "_pad"),
        hr.Generator(lambda: iter([1]), ["_pad"]),
        hr.from_dataset([{"_pad": 1}]),
    ):
        with pytest.raises(hr.GraphError, match='"_pad", a name that is kept'):
            list(dataset)


def test_a_file_named_twice_is_read_once(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    for paths in (["a.txt", "./a.txt"], [str(tmp_path / "a.txt"), "a.txt"], ["./a.txt", ".//a.txt"]):
        assert len(list(hr.Text(paths))) == 1 and len(list(hr.Files(paths))) == 1


def test_a_folder_of_a_cache_may_be_below_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    list(hr.Range(3).map(T.TypeCast("float32"), "value").cache(directory="~/kept"))
    assert (tmp_path / "home" / "kept").is_dir() and not (tmp_path / "~").exists()


def test_len_of_a_dataset_that_is_no_size():
    class Odd:
        def __init__(self, length):
            self._length = length

        def __len__(self):
            return self._length

        def __getitem__(self, at):
            return at

    with pytest.raises(hr.UnsupportedError, match="more than Python's len"):
        len(hr.Range(2**62).repeat(3))
    for length in (-1, 2**70, 1.5):
        with pytest.raises(hr.GraphError, match="__len__ of Odd does not give a whole number"):
            hr.from_dataset(Odd(length), ["x"])


def test_pad_of_texts_and_bools():
    texts = hr.from_dataset([np.array(["a"], object), np.array(["b", "cc"], object)], ["x"])
    (batch,) = texts.batch(2, pad=True)
    assert batch["x"].tolist() == [["a", ""], ["b", "cc"]]
    nested = hr.from_dataset([[[b"a"]], [[b"b", b"c"], [b"d", b"e"]]], ["x"])
    (batch,) = nested.batch(2, pad=True)
    assert batch["x"].tolist() == [[[b"a", b""], [b"", b""]], [[b"b", b"c"], [b"d", b"e"]]]
    bools = hr.Range(1, 3).map(lambda n: np.zeros(n, bool), "value", types={"value": ("bool", (None,))})
    (batch,) = bools.batch(2, pad=True, pad_value=True)
    assert batch["value"].tolist() == [[False, True], [False, False]]
    numbers = hr.Range(1, 3).map(lambda n: np.zeros(n), "value", types={"value": ("float64", (None,))})
    with pytest.raises(hr.GraphError, match='pad_value is True, and column "value" holds float64'):
        numbers.batch(2, pad=True, pad_value=True)
