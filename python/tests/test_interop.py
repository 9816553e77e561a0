"""Files of the formats between Headrace and the libraries that define them: what one writes, the other reads, whatever
the values. Each library is optional; without it its tests are left out."""

import csv
import gzip
import importlib.util
import io
import json
import math
import pathlib
import tarfile
import tempfile
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from tests.thinning import examples

some = settings(max_examples=examples(40), deadline=None, derandomize=True, database=None)

INT64 = st.integers(-(2**63), 2**63 - 1)
FLOAT32 = st.floats(width=32, allow_nan=False)
# UTF-8 has no surrogates; NULs and line ends are texts like any other.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
BYTES = st.binary(max_size=700)

Row = dict[str, Any]


def rows_of(**columns: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.fixed_dictionaries(columns), min_size=1, max_size=9)


ROWS = rows_of(number=INT64, ratio=FLOAT32, image=BYTES, caption=TEXT)
FILES = st.integers(1, 3)


def table(rows: list[Row]) -> hr.Dataset:
    """The rows as a dataset with typed columns."""
    dtypes = {"number": np.int64, "ratio": np.float32}
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        columns[name] = np.array(values, dtypes[name]) if name in dtypes else values
    return hr.Numpy(columns)


def plain(row: Row) -> Row:
    """A row of ours as values of Python."""
    found: Row = {}
    for name, value in row.items():
        if isinstance(value, np.ndarray | np.generic):
            found[name] = value.item() if value.ndim == 0 else value.tolist()
        else:
            found[name] = value
    return found


def read(dataset: hr.Dataset) -> list[Row]:
    return [plain(row) for row in dataset]


# ---- WebDataset ----

# A part of a path: what both sides take for a name, without the dot that ends a key.
KEY = st.text(st.characters(min_codepoint=48, max_codepoint=122), min_size=1, max_size=120).filter(
    lambda key: "\\" not in key and not key.startswith("__")
)
SAMPLES = st.lists(st.tuples(KEY, BYTES, INT64), min_size=1, max_size=6, unique_by=lambda sample: sample[0])


def add_member(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@some
@given(samples=SAMPLES)
def test_archives_of_tarfile_are_read(form, samples):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.tar"
        with tarfile.open(path, "w", format=form) as archive:
            for key, data, number in samples:
                # ustar has 100 bytes for the last part of a path.
                name = key if form != tarfile.USTAR_FORMAT else key[:90]
                add_member(archive, f"{name}.bin", data)
                add_member(archive, f"{name}.cls", str(number).encode())
        expected = [{"bin": data, "cls": number} for _, data, number in samples]
        if form == tarfile.USTAR_FORMAT and len({key[:90] for key, _, _ in samples}) < len(samples):
            return
        for index in (None, "build"):
            assert read(hr.WebDataset(path, ["bin", "cls"], {"cls": "int64"}, index=index)) == expected


@some
@given(rows=ROWS, files=FILES)
def test_tarfile_reads_what_is_written(rows, files):
    names = {"image": "jpg", "number": "cls", "caption": "txt", "ratio": "score"}
    with tempfile.TemporaryDirectory() as folder:
        written = table(rows).rename(names).write_tar(pathlib.Path(folder) / "a.tar", files=files)
        members: list[tuple[str, bytes]] = []
        for path in written.paths:
            with tarfile.open(path) as archive:
                members += [(member.name, archive.extractfile(member).read()) for member in archive]
        assert [data for name, data in members if name.endswith(".jpg")] == [row["image"] for row in rows]
        assert [int(data) for name, data in members if name.endswith(".cls")] == [row["number"] for row in rows]
        assert [data.decode() for name, data in members if name.endswith(".txt")] == [row["caption"] for row in rows]
        assert [np.float32(data) for name, data in members if name.endswith(".score")] == [
            np.float32(row["ratio"]) for row in rows
        ]
        assert sorted({name.split(".")[0] for name, _ in members}) == [f"{number:09}" for number in range(len(rows))]


@pytest.mark.skipif(importlib.util.find_spec("webdataset") is None, reason="webdataset is not installed")
@some
@given(rows=ROWS, files=FILES)
def test_webdataset_reads_what_is_written(rows, files):
    import webdataset as wds

    names = {"image": "jpg", "number": "cls", "caption": "txt"}
    with tempfile.TemporaryDirectory() as folder:
        dataset = table(rows).project(["image", "number", "caption"]).rename(names)
        written = dataset.write_tar(pathlib.Path(folder) / "a.tar", files=files)
        theirs = list(wds.WebDataset(written.paths, shardshuffle=False, empty_check=False).decode())
        assert [(row["jpg"], row["cls"], row["txt"]) for row in theirs] == [
            (row["image"], row["number"], row["caption"]) for row in rows
        ]


@pytest.mark.skipif(importlib.util.find_spec("webdataset") is None, reason="webdataset is not installed")
@some
@given(rows=ROWS)
def test_what_webdataset_writes_is_read(rows):
    import webdataset as wds

    # JSON has no infinities.
    ratios = [row["ratio"] if math.isfinite(row["ratio"]) else 0.5 for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.tar"
        with wds.TarWriter(str(path)) as writer:
            for number, row in enumerate(rows):
                sample = {"jpg": row["image"], "cls": row["number"], "txt": row["caption"]}
                writer.write({"__key__": f"set.d/{number:06}", **sample, "json": {"r": ratios[number]}})
        decode = {"cls": "int64", "txt": str, "json": {"r": "float64"}}
        for index in (None, "build"):
            found = read(hr.WebDataset(path, ["jpg", "cls", "txt", "json"], decode, index=index))
            assert [(row["jpg"], row["cls"], row["txt"], row["json.r"]) for row in found] == [
                (row["image"], row["number"], row["caption"], ratio) for row, ratio in zip(rows, ratios, strict=True)
            ]


# ---- TFRecord ----

FEATURES = {"number": "int64", "ratio": "float32", "image": "bytes", "caption": str}


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@some
@given(rows=ROWS, files=FILES)
def test_tensorflow_reads_what_is_written(rows, files):
    import tensorflow as tf

    spec = {
        "number": tf.io.FixedLenFeature((), tf.int64),
        "ratio": tf.io.FixedLenFeature((), tf.float32),
        "image": tf.io.FixedLenFeature((), tf.string),
        "caption": tf.io.FixedLenFeature((), tf.string),
    }
    with tempfile.TemporaryDirectory() as folder:
        written = table(rows).write_tfrecord(pathlib.Path(folder) / "a.tfrecord", files=files)
        theirs = [tf.io.parse_single_example(record, spec) for record in tf.data.TFRecordDataset(written.paths)]
        assert [
            {
                "number": int(row["number"]),
                "ratio": float(row["ratio"]),
                "image": row["image"].numpy(),
                "caption": row["caption"].numpy().decode(),
            }
            for row in theirs
        ] == rows


def tensorflow_example(tf: Any, row: Row) -> bytes:
    def texts(value: bytes) -> Any:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    feature = {
        "number": tf.train.Feature(int64_list=tf.train.Int64List(value=[row["number"]])),
        "ratio": tf.train.Feature(float_list=tf.train.FloatList(value=[row["ratio"]])),
        "image": texts(row["image"]),
        "caption": texts(row["caption"].encode()),
    }
    found: bytes = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    return found


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@some
@given(rows=ROWS)
def test_what_tensorflow_writes_is_read(compression, rows):
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "a.tfrecord")
        with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression)) as writer:
            for row in rows:
                writer.write(tensorflow_example(tf, row))
        for index in (None,) if compression else (None, "build"):
            assert read(hr.TFRecord(path, FEATURES, index=index)) == rows


# Its messages have the names of TensorFlow's, and a process can have one of the two.
ALONE = importlib.util.find_spec("tfrecord") is not None and importlib.util.find_spec("tensorflow") is None


@pytest.mark.skipif(not ALONE, reason="the package tfrecord is not installed, or TensorFlow is")
@some
@given(rows=ROWS)
def test_the_package_tfrecord_and_its_index_agree(rows):
    from tfrecord.reader import tfrecord_loader
    from tfrecord.tools.tfrecord2idx import create_index
    from tfrecord.writer import TFRecordWriter

    kinds = {"number": "int", "ratio": "float", "image": "byte"}
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs, index = (str(pathlib.Path(folder) / name) for name in ("a.tfrecord", "b.tfrecord", "b.tfindex"))
        table(rows).write_tfrecord(ours)
        found = list(tfrecord_loader(ours, None, kinds))
        assert [(int(row["number"][0]), bytes(row["image"])) for row in found] == [
            (row["number"], row["image"]) for row in rows
        ]
        writer = TFRecordWriter(theirs)
        for row in rows:
            writer.write({name: (row[name], kind) for name, kind in kinds.items()})
        writer.close()
        create_index(theirs, index)
        features = {name: FEATURES[name] for name in kinds}
        for given_index in (None, "build", index):
            assert read(hr.TFRecord(theirs, features, index=given_index)) == [
                {name: row[name] for name in kinds} for row in rows
            ]


# ---- MindRecord ----

# MindSpore ends the process where it writes an infinity, and writes four zeros for no bytes.
WRITTEN_BY_MINDSPORE = rows_of(
    number=INT64,
    ratio=st.floats(width=32, allow_nan=False, allow_infinity=False),
    image=st.binary(min_size=1, max_size=700),
    caption=TEXT,
)


@pytest.mark.skipif(importlib.util.find_spec("mindspore") is None, reason="MindSpore is not installed")
@settings(some, max_examples=examples(10))
@given(rows=ROWS, files=FILES)
def test_mindspore_reads_what_is_written(rows, files):
    import mindspore.dataset as ds
    from mindspore.mindrecord import FileReader

    with tempfile.TemporaryDirectory() as folder:
        written = table(rows).write_mindrecord(pathlib.Path(folder) / "a.mindrecord", files=files)
        reader = FileReader(written.paths[0])
        theirs = list(reader.get_next())
        reader.close()
        assert [(int(row["number"]), row["caption"], bytes(row["image"])) for row in theirs] == [
            (row["number"], row["caption"], row["image"]) for row in rows
        ]
        loaded = ds.MindDataset(written.paths[0], columns_list=["number"], shuffle=False)
        numbers = [row[0].item() for row in loaded.create_tuple_iterator(output_numpy=True, num_epochs=1)]
        assert sorted(numbers) == sorted(row["number"] for row in rows)


@pytest.mark.skipif(importlib.util.find_spec("mindspore") is None, reason="MindSpore is not installed")
@settings(some, max_examples=examples(10))
@given(rows=WRITTEN_BY_MINDSPORE)
def test_what_mindspore_writes_is_read(rows):
    from mindspore.mindrecord import FileWriter

    schema = {
        "number": {"type": "int64"},
        "ratio": {"type": "float32"},
        "image": {"type": "bytes"},
        "caption": {"type": "string"},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "a.mindrecord")
        writer = FileWriter(path, 1, overwrite=True)
        writer.add_schema(schema, "rows")
        writer.write_raw_data([dict(row) for row in rows])
        writer.commit()
        found = read(hr.MindRecord(path))
        assert [{name: row[name] for name in schema} for row in found] == rows


# ---- text ----


@some
@given(rows=ROWS)
def test_what_json_writes_is_read(rows):
    finite = [row for row in rows if math.isfinite(row["ratio"])]
    if not finite:
        return
    lines = [json.dumps({name: row[name] for name in ("number", "ratio", "caption")}) for row in finite]
    types = {"number": "int64", "ratio": "float32", "caption": str}
    with tempfile.TemporaryDirectory() as folder:
        plain_path, packed_path = (pathlib.Path(folder) / name for name in ("a.jsonl", "a.jsonl.gz"))
        plain_path.write_text("\n".join(lines) + "\n")
        packed_path.write_bytes(gzip.compress(plain_path.read_bytes()))
        expected = [{name: row[name] for name in types} for row in finite]
        assert read(hr.JsonLines(plain_path, types)) == expected
        assert read(hr.JsonLines(plain_path, types, index="build")) == expected
        assert read(hr.JsonLines(packed_path, types)) == expected


# Fields of a line: csv writes a carriage return alone without quotes, which ends a line elsewhere.
FIELD = TEXT.filter(lambda text: "\r" not in text and "\n" not in text and "\0" not in text)


@some
@given(rows=rows_of(number=INT64, caption=FIELD))
def test_what_csv_writes_is_read(rows):
    types = {"number": "int64", "caption": str}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(types), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        for index in (None, "build"):
            assert read(hr.Csv(path, types, index=index)) == rows


@some
@given(
    payload=st.lists(st.binary(min_size=1, max_size=60).filter(lambda line: b"\n" not in line and b"\r" not in line))
)
def test_what_zlib_compresses_is_read(payload):
    from tests.tfrecord_bytes import frame

    with tempfile.TemporaryDirectory() as folder:
        for wbits in (15, 31):  # zlib, gzip
            packer = zlib.compressobj(wbits=wbits)
            path = pathlib.Path(folder) / f"{wbits}.tfrecord"
            path.write_bytes(packer.compress(b"".join(map(frame, payload))) + packer.flush())
            assert [bytes(row["record"]) for row in hr.TFRecord(path)] == payload


# ---- tables ----


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
@some
@given(rows=rows_of(number=INT64, caption=FIELD))
def test_pyarrow_reads_and_writes_the_same_csv(rows):
    import pyarrow as pa
    from pyarrow import csv as pyarrow_csv

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.csv"
        pyarrow_csv.write_csv(pa.Table.from_pylist(rows), path)
        assert read(hr.Csv(path, {"number": "int64", "caption": str})) == rows


def arrow_table(rows: list[Row]) -> Any:
    import pyarrow as pa

    types = {"number": pa.int64(), "ratio": pa.float32(), "image": pa.binary(), "caption": pa.string()}
    return pa.Table.from_pylist(rows, schema=pa.schema(list(types.items())))


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
@some
@given(rows=ROWS)
def test_columns_of_pyarrow_become_the_same_rows(rows):
    assert read(hr.Numpy(arrow_table(rows))) == rows


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@some
@given(rows=ROWS, group=st.integers(1, 4))
def test_parquet_of_pyarrow_is_read(compression, rows, group):
    from pyarrow import parquet

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.parquet"
        parquet.write_table(arrow_table(rows), path, row_group_size=group, compression=compression)
        assert read(hr.Parquet(path, columns=list(rows[0]))) == rows


@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="datasets is not installed")
@settings(some, max_examples=examples(5))
@given(rows=ROWS, files=FILES)
def test_datasets_reads_the_archives_that_are_written(rows, files):
    import datasets

    names = {"image": "bin", "caption": "txt"}
    with tempfile.TemporaryDirectory() as folder:
        dataset = table(rows).project(["image", "caption"]).rename(names)
        written = dataset.write_tar(pathlib.Path(folder) / "a.tar", files=files)
        theirs = datasets.load_dataset(
            "webdataset", data_files={"train": list(written.paths)}, split="train", streaming=True
        )
        assert [(row["bin"], row["txt"]) for row in theirs] == [(row["image"], row["caption"]) for row in rows]
