"""TFRecord files: features as columns, indices, damage, and what write_tfrecord writes."""

import base64
import gzip
import importlib.util
import json
import pathlib
import shutil
import struct
import tempfile
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import transforms as T
from headrace._datasets.fields.proposed_features import proposed_features
from tests.conftest import ROOT
from tests.tfrecord_bytes import crc_of, example, frame, parsed, payloads_of

FILES = ROOT / "io/formats/tfrecord/testdata"
EXPECTED = json.loads((FILES / "expected.json").read_text())

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def write(path: pathlib.Path, payloads: list[bytes]) -> pathlib.Path:
    path.write_bytes(b"".join(map(frame, payloads)))
    return path


def values_of(feature: dict) -> list:
    values = feature["value"]
    return [base64.b64decode(value) for value in values] if feature["kind"] == "bytes_list" else values


def expected_rows(kind: str, name: str) -> list[list]:
    """The values of a feature in each row; none where a record lacks it."""
    return [values_of(row[name]) if name in row and row[name]["kind"] is not None else [] for row in EXPECTED[kind]]


def test_a_checksum_is_that_of_the_standard():
    # CRC-32C of "123456789" is 0xe3069283.
    assert crc_of(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF


@pytest.mark.parametrize("name", ["examples.tfrecord", "examples.tfrecord.gz", "examples.tfrecord.zlib"])
@pytest.mark.parametrize("index", [None, "build", str(FILES / "examples.tfrecord.idx")])
def test_files_of_tensorflow_have_the_values_that_protobuf_parses(name, index, tmp_path):
    if index is not None and name != "examples.tfrecord":
        pytest.skip("compressed files have no index")
    features = {
        "label": "int64",
        "image": "bytes",
        "neg": (np.int64, (2,)),
        "score": ("float32", (2,)),
        "box": ("float32", (None, 4)),
        "words": (str, (None,)),
        "optional": ("int64", (None,)),
        "empty": ("bytes", (None,)),
    }
    # An index is written beside the file.
    file = shutil.copyfile(FILES / name, tmp_path / name)
    rows = list(hr.TFRecord(file, features, index=index))
    assert len(rows) == 5 and list(rows[0]) == list(features)
    for column in features:
        found = [row[column] for row in rows]
        if column == "image":
            assert [[value] for value in found] == expected_rows("examples", column)
        elif column == "words":
            assert [[word.encode() for word in row.tolist()] for row in found] == expected_rows("examples", column)
        else:
            assert [np.atleast_1d(row).ravel().tolist() for row in found] == expected_rows("examples", column)
    assert rows[1]["box"].shape == (1, 4) and rows[0]["box"].shape == (0, 4)
    assert np.signbit(rows[0]["score"][1]) and rows[0]["label"].dtype == np.int64


def test_lists_that_are_not_packed_and_names_that_come_twice():
    features = {"label": ("int64", (None,)), "score": ("float32", (None,))}
    rows = list(hr.TFRecord(FILES / "unpacked.tfrecord", features))
    for name in features:
        assert [row[name].tolist() for row in rows] == expected_rows("unpacked", name)


def test_sequence_examples():
    features = {"id": "int64", "name": str, "frame": ("bytes", (None,))}
    rows = list(hr.TFRecord(FILES / "sequence.tfrecord", features))
    for row, expected in zip(rows, EXPECTED["sequence"], strict=True):
        assert [int(row["id"])] == values_of(expected["context"]["id"])
        assert [row["name"].encode()] == values_of(expected["context"]["name"])
        steps = [values_of(step) for step in expected["feature_lists"]["frame"]]
        assert [[frame] for frame in row["frame"].tolist()] == steps
    with pytest.raises(hr.DataError, match="steps have different numbers of values") as caught:
        list(hr.TFRecord(FILES / "sequence.tfrecord", {"tokens": ("int64", (None, None))}))
    assert "sequence.tfrecord, byte 179" in str(caught.value)


def test_without_features_a_row_is_the_bytes_of_a_record():
    plain = (FILES / "examples.tfrecord").read_bytes()
    rows = [row["record"] for row in hr.TFRecord(FILES / "examples.tfrecord")]
    assert rows == payloads_of(plain)
    assert hr.TFRecord(FILES / "examples.tfrecord").schema == {"record": ("bytes", ())}


def test_defaults_stand_for_what_a_record_lacks(tmp_path):
    path = write(tmp_path / "a.tfrecord", [example({}), example({"x": ("int64", [1])})])
    features = {
        "x": ("int64", (), -(2**63)),
        "f": ("float32", (2,), [0.5, float("nan")]),
        "fill": ("float32", (3,), float("-inf")),
        "b": ("bytes", (), bytes(range(256))),
        "t": (str, (2,), ["ä", ""]),
        "r": ("int64", (None, 2), np.arange(4).reshape(2, 2)),
        "none": ("int64", (None,)),
    }
    first, second = hr.TFRecord(path, features)
    assert int(first["x"]) == -(2**63) and int(second["x"]) == 1
    assert first["f"][0] == 0.5 and np.isnan(first["f"][1]) and first["fill"].tolist() == [float("-inf")] * 3
    assert first["b"] == bytes(range(256)) and first["t"].tolist() == ["ä", ""]
    assert first["r"].tolist() == [[0, 1], [2, 3]] and first["none"].shape == (0,)


def test_a_graph_that_is_saved_reads_the_same(tmp_path):
    path = write(tmp_path / "a.tfrecord", [example({}), example({"b": ("bytes", [b"x"])})])
    dataset = hr.TFRecord(path, {"b": ("bytes", (), b"\x00\xff"), "f": ("float32", (None,), [float("nan")])})
    dataset.save(tmp_path / "a.hrg")
    rows = [row["b"] for row in hr.load(tmp_path / "a.hrg")]
    assert rows == [b"\x00\xff", b"x"]


def refusal(features: object, **options: object) -> str:
    with pytest.raises(hr.GraphError) as caught:
        hr.TFRecord("a.tfrecord", features, **options).schema  # noqa: B018
    return str(caught.value)


def test_types_that_no_feature_has_are_refused():
    assert 'such as {"label": "int64"}' in refusal({})
    assert 'such as {"label": "int64"}' in refusal(["label"])
    assert "features are int64, float32 or bytes" in refusal({"x": "int32"})
    assert "features are int64, float32 or bytes" in refusal({"x": float})
    assert 'the type of the feature "x" is' in refusal({"x": ("int64",)})
    assert 'the type of the feature "x" is' in refusal({"x": ("int64", 3)})
    assert 'the type of the feature "x" is' in refusal({"x": None})
    assert "None stands for the length of the first axis" in refusal({"x": ("int64", (2, 2, None))})
    assert 'the default of the feature "x" is True' in refusal({"x": ("int64", (), True)})
    assert "the default of the feature" in refusal({"x": ("int64", (), 0.5)})
    assert "it must be bytes" in refusal({"x": ("bytes", (), "text")})
    assert "it must be a text" in refusal({"x": (str, (), b"bytes")})
    assert "the default of the feature" in refusal({"x": ("float32", (2,), [1, 2, 3])})
    assert "the default of the feature" in refusal({"x": ("float32", (), 16777217)})
    assert "split_bytes" not in hr.TFRecord.__init__.__annotations__
    assert "leave out interleave" in refusal({"x": "int64"}, shuffle="files", interleave=2)


def test_a_row_that_is_wrong_names_the_feature_the_file_and_the_byte(tmp_path):
    payloads = [example({"x": ("int64", [1])}), example({"x": ("float32", [1.0])}), example({"y": ("int64", [1])})]
    path = write(tmp_path / "a.tfrecord", payloads)
    for index in (None, "build"):
        dataset = hr.TFRecord(path, {"x": "int64"}, index=index)
        with pytest.raises(hr.DataError, match='"x" has float32 values; the column\'s type is int64') as caught:
            list(dataset)
        assert f"a.tfrecord, byte {len(frame(payloads[0]))}" in str(caught.value)
        assert [int(row["x"]) for row in dataset.on_error("skip")] == [1]


# ---- files ----


def test_compression_is_found_or_stated(tmp_path):
    data = b"".join(map(frame, [b"one", b"two"]))
    files = {"gzip": gzip.compress(data[:10]) + gzip.compress(data[10:]), "zlib": zlib.compress(data), "none": data}
    for name, held in files.items():
        path = tmp_path / name
        path.write_bytes(held)
        for compression in ("auto", name, name.upper()):
            dataset = hr.TFRecord(path, compression=compression)
            assert [row["record"] for row in dataset] == [b"one", b"two"]
    with pytest.raises(hr.DataError, match="not compressed by gzip: a record begins at byte 0"):
        list(hr.TFRecord(tmp_path / "none", compression="gzip"))
    with pytest.raises(hr.DataError, match='leave out compression=, or give compression="gzip"'):
        list(hr.TFRecord(tmp_path / "gzip", compression=""))
    with pytest.raises(hr.GraphError, match="decompress it, or leave out index="):
        list(hr.TFRecord(tmp_path / "zlib", index="build"))


def test_damage_at_every_byte_of_a_small_file_is_noticed(tmp_path):
    data = b"".join(map(frame, [b"one", b"", b"three"]))
    path = tmp_path / "a.tfrecord"
    for byte in range(len(data)):
        for dataset in (hr.TFRecord(path), hr.TFRecord(path, index="build")):
            path.write_bytes(data[:byte] + bytes([data[byte] ^ 0x40]) + data[byte + 1 :])
            (tmp_path / "a.tfrecord.hridx").unlink(missing_ok=True)
            with pytest.raises((hr.DataError, hr.ResourceError)):
                list(dataset)
        path.write_bytes(data[:byte])
        whole = [row["record"] for row in hr.TFRecord(path, damage="skip")]
        assert whole == [b"one", b"", b"three"][: len(whole)]
        if byte not in (0, 19, 35):
            with pytest.raises(hr.DataError, match=f"ends at byte {byte}, within the record"):
                list(hr.TFRecord(path))


def test_damage_is_left_out_where_it_may_be(tmp_path):
    data = bytearray(b"".join(map(frame, [b"one", b"two", b"three"])))
    data[19 + 12] ^= 1
    path = tmp_path / "a.tfrecord"
    path.write_bytes(data + frame(b"four")[:-1])
    for index in (None, "build"):
        dataset = hr.TFRecord(path, damage="skip", index=index)
        assert [row["record"] for row in dataset] == [b"one", b"three"]
        assert "19 bytes left out" in str(dataset.explain())


def test_rows_by_number_are_shuffled_split_and_resumed(tmp_path):
    for part in range(3):
        numbers = range(10 * part, 10 * part + 10)
        write(tmp_path / f"train-0000{part}-of-00003", [example({"x": ("int64", [number])}) for number in numbers])
    train = hr.TFRecord(tmp_path / "train-*", {"x": "int64"}, index="build", shuffle=True)
    assert len(train) == 30 and (tmp_path / "train-00000-of-00003.hridx").exists()
    # The pattern matches the indices, too.
    assert len(hr.TFRecord(tmp_path / "train-*", index="build")) == 30
    first, second = ([int(row["x"]) for row in train.iterate(epoch=epoch)] for epoch in range(2))
    assert sorted(first) == sorted(second) == list(range(30)) and first != second
    ranks = [[int(row["x"]) for row in train.iterate(shard=(rank, 4), even="pad")] for rank in range(4)]
    assert [len(rank) for rank in ranks] == [8] * 4 and set(sum(ranks, [])) == set(range(30))
    kept, held_out = train.split([0.8, 0.2])
    assert len(kept) == 24 and len(held_out) == 6
    rows = train.iterate()
    before = [int(next(rows)["x"]) for _ in range(7)]
    assert before + [int(row["x"]) for row in train.iterate(state=rows.state())] == first


def test_ranks_have_files_where_they_are_shuffled_without_an_index(tmp_path):
    for part in range(5):
        write(tmp_path / f"{part}.tfrecord", [example({"x": ("int64", [10 * part + i])}) for i in range(4)])
    shuffled = hr.TFRecord(tmp_path, {"x": "int64"}, shuffle=True)
    ranks = [[int(row["x"]) for row in shuffled.iterate(shard=(rank, 2))] for rank in range(2)]
    assert sorted(sum(ranks, [])) == sorted(10 * part + i for part in range(5) for i in range(4))
    assert sorted(map(len, ranks)) == [8, 12]
    files = hr.TFRecord(tmp_path, {"x": "int64"}, shuffle="files")
    order = [int(row["x"]) for row in files]
    assert all(order[at : at + 4] == list(range(order[at], order[at] + 4)) for at in range(0, 20, 4))


def test_features_are_proposed():
    proposed = proposed_features(FILES / "examples.tfrecord")
    assert proposed.features == {
        "box": ("float32", (None,)),
        "image": "bytes",
        "label": "int64",
        "neg": ("int64", (2,)),
        "optional": ("int64", (None,)),
        "score": ("float32", (2,)),
        "words": ("bytes", (None,)),
    }
    assert proposed.refused == {"empty": "none of these records has a value of it"} and proposed.records == 5
    assert proposed.text().startswith('features={"box": ("float32", (None,)), "image": "bytes", "label": "int64", ')
    assert len(list(hr.TFRecord(FILES / "examples.tfrecord", proposed.features))) == 5


# ---- writing ----


def test_rows_are_written_as_examples(tmp_path):
    columns = {
        "label": np.arange(5, dtype=np.int32),
        "box": np.arange(20, dtype=np.float32).reshape(5, 2, 2),
        "flag": np.array([True, False, True, False, True]),
        "text": ["ä", "", "b", "c", "d"],
        "data": [b"\x00", b"", b"1", b"2", b"3"],
    }
    written = hr.Numpy(columns).write_tfrecord(tmp_path / "a.tfrecord")
    assert written.records == 5 and written.path == str(tmp_path / "a.tfrecord") and written.paths == [written.path]
    payloads = payloads_of((tmp_path / "a.tfrecord").read_bytes())
    assert written.bytes == sum(len(payload) + 16 for payload in payloads)
    assert list(parsed(payloads[0])) == ["box", "data", "flag", "label", "text"]
    assert parsed(payloads[4]) == {
        "box": ("float32", [16, 17, 18, 19]),
        "data": ("bytes", [b"3"]),
        "flag": ("int64", [1]),
        "label": ("int64", [4]),
        "text": ("bytes", [b"d"]),
    }
    types = {"label": "int64", "box": ("float32", (2, 2)), "text": str, "data": "bytes"}
    for row, label in zip(hr.TFRecord(written.path, types), range(5), strict=True):
        assert int(row["label"]) == label and row["box"].tolist() == columns["box"][label].tolist()
        assert row["text"] == columns["text"][label] and row["data"] == columns["data"][label]


def test_rows_are_divided_among_files_and_written_alike(tmp_path):
    numbers = hr.Range(10)
    written = numbers.write_tfrecord(tmp_path / "n.tfrecord", files=3)
    names = [pathlib.Path(path).name for path in written.paths]
    assert names == [f"n-0000{part}-of-00003.tfrecord" for part in range(3)]
    assert [int(row["value"]) for row in hr.TFRecord(written.path, {"value": "int64"})] == list(range(10))
    before = [pathlib.Path(path).read_bytes() for path in written.paths]
    numbers.write_tfrecord(tmp_path / "n.tfrecord", files=3)
    assert [pathlib.Path(path).read_bytes() for path in written.paths] == before


def test_records_are_written_as_they_are(tmp_path):
    source = FILES / "unpacked.tfrecord"
    hr.TFRecord(source).write_tfrecord(tmp_path / "copy.tfrecord")
    assert (tmp_path / "copy.tfrecord").read_bytes() == source.read_bytes()


def test_what_no_feature_holds_is_an_error(tmp_path):
    path = tmp_path / "a.tfrecord"
    doubles = hr.Numpy({"x": np.array([0.1])})
    with pytest.raises(hr.GraphError, match='x is float64, and features hold float32: .*TypeCast\\("float32"\\), "x"'):
        doubles.write_tfrecord(path)
    assert doubles.map(T.TypeCast("float32"), "x").write_tfrecord(path).records == 1
    large = hr.Numpy({"x": np.array([1, 2**63], np.uint64)})
    with pytest.raises(hr.DataError, match="x of row 1 is 9223372036854775808, and features hold int64"):
        large.write_tfrecord(path)
    assert path.stat().st_size > 0


kinds = st.sampled_from(["int64", "float32", "bytes"])


@st.composite
def features(draw: st.DrawFn) -> dict[str, tuple[str, list]]:
    values = {
        "int64": st.integers(-(2**63), 2**63 - 1),
        "float32": st.floats(width=32, allow_nan=False),
        "bytes": st.binary(max_size=40),
    }
    found = {}
    for name in draw(
        st.lists(
            st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=6),
            unique=True,
            max_size=5,
        )
    ):
        kind = draw(kinds)
        found[name] = (kind, draw(st.lists(values[kind], max_size=9)))
    return found


@quick
@given(st.lists(features(), min_size=1, max_size=6), st.booleans())
def test_examples_of_any_features_are_read(rows, packed):
    with tempfile.TemporaryDirectory() as folder:
        path = write(pathlib.Path(folder) / "a.tfrecord", [example(row, packed) for row in rows])
        kinds_of = {name: {row[name][0] for row in rows if name in row} for row in rows for name in row}
        types = {name: (next(iter(kinds)), (None,)) for name, kinds in kinds_of.items() if len(kinds) == 1}
        if not types:
            return
        for index in (None, "build"):
            found = list(hr.TFRecord(path, types, index=index))
            for row, expected in zip(found, rows, strict=True):
                for name in types:
                    assert row[name].tolist() == expected.get(name, ("", []))[1]


@quick
@given(st.lists(features(), min_size=1, max_size=4))
def test_what_is_read_is_written_again(rows):
    # One type for each name, as columns have it.
    types = {name: kind for row in reversed(rows) for name, (kind, _) in row.items()}
    rows = [{name: row[name] for name in sorted(types) if name in row and row[name][0] == types[name]} for row in rows]
    if not types:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = write(pathlib.Path(folder) / "a.tfrecord", [example(row) for row in rows])
        dataset = hr.TFRecord(path, {name: (kind, (None,)) for name, kind in types.items()})
        dataset.write_tfrecord(pathlib.Path(folder) / "b.tfrecord")
        payloads = payloads_of((pathlib.Path(folder) / "b.tfrecord").read_bytes())
        for payload, row in zip(payloads, rows, strict=True):
            assert payload == example({name: row.get(name, (kind, [])) for name, kind in sorted(types.items())})


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_tensorflow_reads_what_is_written(tmp_path):
    import tensorflow as tf

    rng = np.random.default_rng(3)
    columns = {
        "label": rng.integers(-(2**62), 2**62, 20),
        "score": rng.standard_normal((20, 3)).astype(np.float32),
        "data": [rng.bytes(int(size)) for size in rng.integers(0, 50, 20)],
    }
    written = hr.Numpy(columns).write_tfrecord(tmp_path / "a.tfrecord", files=2)
    spec = {
        "label": tf.io.FixedLenFeature((), tf.int64),
        "score": tf.io.FixedLenFeature((3,), tf.float32),
        "data": tf.io.FixedLenFeature((), tf.string),
    }
    rows = [tf.io.parse_single_example(record, spec) for record in tf.data.TFRecordDataset(written.paths)]
    assert [int(row["label"]) for row in rows] == columns["label"].tolist()
    assert [row["data"].numpy() for row in rows] == columns["data"]
    assert np.array_equal([row["score"].numpy() for row in rows], columns["score"])
    for compression in ("GZIP", "ZLIB"):
        options = tf.io.TFRecordOptions(compression)
        path = str(tmp_path / compression)
        with tf.io.TFRecordWriter(path, options) as writer:
            for payload in payloads_of(pathlib.Path(written.paths[0]).read_bytes()):
                writer.write(payload)
        assert [int(row["label"]) for row in hr.TFRecord(path, {"label": "int64"})] == columns["label"][:10].tolist()


def test_a_length_is_never_trusted(tmp_path):
    length = struct.pack("<Q", 2**31 - 1)
    (tmp_path / "a.tfrecord").write_bytes(length + struct.pack("<I", crc_of(length)) + b"little")
    with pytest.raises(hr.DataError, match="the file ends at byte 18, within the record at byte 0"):
        list(hr.TFRecord(tmp_path / "a.tfrecord"))
