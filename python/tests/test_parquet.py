"""Parquet files: types, classes, missing values, folders, ranks and states of hr.Parquet, and what write_parquet writes."""

import json
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace._parquet.row_groups import OpenedFile

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

quick = settings(max_examples=25, deadline=None, derandomize=True, database=None)


def write(path: pathlib.Path, table: object, rows: int = 4, **options: object) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=rows, **options)
    return path


def numbers(first: int, count: int) -> object:
    return pa.table({"value": pa.array(range(first, first + count), pa.int64())})


def values(dataset: hr.Dataset, column: str = "value", **options: object) -> list:
    return [row[column].item() for row in dataset.iterate(**options)]


# ---- what is read ----


def test_types_come_as_they_are(tmp_path):
    table = pa.table(
        {
            "whole": pa.array([1, 2, 3], pa.int16()),
            "real": pa.array([0.5, 1.5, 2.5], pa.float32()),
            "flag": pa.array([True, False, True]),
            "text": pa.array(["a", "é", ""]),
            "data": pa.array([b"a", b"", b"\xff"]),
            "list": pa.array([[1, 2], [], [3]], pa.list_(pa.int32())),
            "fixed": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float64(), 2)),
            "time": pa.array([1, 2, 3], pa.timestamp("us")),
            "nested": pa.array([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]),
        }
    )
    path = write(tmp_path / "a.parquet", table, rows=2)
    for dataset in (hr.Parquet(path), hr.Parquet(path, index="build")):
        assert {name: each.dtype for name, each in dataset.schema.items()} == {
            "whole": "int16",
            "real": "float32",
            "flag": "bool",
            "text": "string",
            "data": "bytes",
            "list": "int32",
            "fixed": "float64",
            "time": "int64",
            "nested.a": "int64",
            "nested.b": "string",
        }
        rows = list(dataset)
        assert [row["whole"].item() for row in rows] == [1, 2, 3]
        assert [row["real"].item() for row in rows] == [0.5, 1.5, 2.5]
        assert [row["flag"].item() for row in rows] == [True, False, True]
        assert [row["text"] for row in rows] == ["a", "é", ""]
        assert [bytes(row["data"]) for row in rows] == [b"a", b"", b"\xff"]
        assert [row["list"].tolist() for row in rows] == [[1, 2], [], [3]]
        assert [row["fixed"].tolist() for row in rows] == [[1, 2], [3, 4], [5, 6]]
        assert [row["time"].item() for row in rows] == [1, 2, 3]
        assert [row["nested.b"] for row in rows] == ["x", "y", "z"]


def test_columns_are_chosen_in_order(tmp_path):
    path = write(
        tmp_path / "a.parquet", pa.table({"a": [1, 2], "s": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "b": [5, 6]})
    )
    assert list(hr.Parquet(path, columns=["b", "s"]).schema) == ["b", "s.x", "s.y"]
    assert list(hr.Parquet(path, columns=["s.y", "a"]).schema) == ["s.y", "a"]
    with pytest.raises(hr.GraphError, match="nope"):
        hr.Parquet(path, columns=["nope"])


def test_files_come_in_order_and_rows_have_numbers(tmp_path):
    write(tmp_path / "0.parquet", numbers(0, 9))
    write(tmp_path / "1.parquet", numbers(9, 0))
    write(tmp_path / "2.parquet", numbers(9, 5))
    for paths in (tmp_path, str(tmp_path / "*.parquet"), [tmp_path / f"{i}.parquet" for i in range(3)]):
        assert values(hr.Parquet(paths)) == list(range(14))
        indexed = hr.Parquet(paths, index="build")
        assert len(indexed) == 14
        assert values(indexed) == list(range(14))
        assert values(indexed.select([13, 0, 9])) == [13, 0, 9]


@pytest.mark.parametrize("index", [None, "build"])
def test_shuffled_epochs_have_all_rows(tmp_path, index):
    for part in range(4):
        write(tmp_path / f"{part}.parquet", numbers(50 * part, 50), rows=9)
    dataset = hr.Parquet(tmp_path, index=index, shuffle=True)
    first, second = values(dataset, epoch=0), values(dataset, epoch=1)
    assert sorted(first) == sorted(second) == list(range(200))
    assert first != second
    assert values(dataset, epoch=0, workers=1) == first


def test_files_alone_can_be_shuffled(tmp_path):
    for part in range(6):
        write(tmp_path / f"{part}.parquet", numbers(10 * part, 10), rows=10)
    order = values(hr.Parquet(tmp_path, shuffle="files"))
    assert sorted(order) == list(range(60))
    assert all(order[i] + 1 == order[i + 1] for i in range(59) if i % 10 != 9)


@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"shuffle": True, "index": "build"}])
def test_ranks_share_the_rows(tmp_path, options):
    write(tmp_path / "a.parquet", numbers(0, 40), rows=5)
    shared = [values(hr.Parquet(tmp_path / "a.parquet", **options), shard=(rank, 3)) for rank in range(3)]
    assert sorted(sum(shared, [])) == list(range(40))


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "window": 7}, {"index": "build", "shuffle": True}])
def test_a_state_goes_on_after_any_row(tmp_path, options):
    write(tmp_path / "a.parquet", numbers(0, 23), rows=5)
    write(tmp_path / "b.parquet", numbers(23, 8), rows=8)
    dataset = hr.Parquet(tmp_path, **options)
    whole = values(dataset, epoch=0)
    for after in range(0, 31, 3):
        with dataset.iterate(epoch=0) as rows:
            for _ in range(after):
                next(rows)
            state = rows.state()
        assert len(state) < 2000
        assert values(dataset, state=state, workers=1) == whole[after:]


def test_a_state_is_not_taken_for_other_files(tmp_path):
    path = write(tmp_path / "a.parquet", numbers(0, 23), rows=5)
    with hr.Parquet(path).iterate() as rows:
        next(rows)
        state = rows.state()
    write(path, numbers(0, 23), rows=7)
    with pytest.raises(hr.StateError, match=r"a\.parquet"):
        list(hr.Parquet(path).iterate(state=state))


def test_graphs_are_saved_with_their_types(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"label": pa.array(["b", "a", "b"]).dictionary_encode()}))
    hr.Parquet(path, index="build").save(tmp_path / "graph.hrg")
    assert values(hr.load(tmp_path / "graph.hrg"), "label") == [0, 1, 0]


# ---- pictures and classes ----


def test_a_struct_of_bytes_and_path_is_one_column(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files/b.bin").write_bytes(b"from the file")
    rows = [{"bytes": b"here", "path": None}, {"bytes": None, "path": "b.bin"}, {"bytes": b"", "path": "b.bin"}]
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    path = write(tmp_path / "files/a.parquet", pa.table({"image": pa.array(rows, kind)}))
    for dataset in (hr.Parquet(path), hr.Parquet(path, index="build")):
        assert [bytes(row["image"]) for row in dataset] == [b"here", b"from the file", b""]


@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"index": "build", "shuffle": True}])
def test_a_struct_may_have_no_path_in_one_file_and_no_bytes_in_another(tmp_path, options):
    (tmp_path / "b.jpg").write_bytes(b"of the file")
    write(tmp_path / "0.parquet", pa.table({"image": [{"bytes": b"own", "path": None}] * 6}))
    write(tmp_path / "1.parquet", pa.table({"image": [{"bytes": None, "path": "b.jpg"}] * 6}))
    ds = hr.Parquet([tmp_path / "0.parquet", tmp_path / "1.parquet"], **options)
    assert sorted(bytes(row["image"]) for row in ds) == [b"of the file"] * 6 + [b"own"] * 6
    assert len(ds.batch(12).head(1)[0]["image"]) == 12


def test_class_labels_have_the_names_of_the_metadata(tmp_path):
    features = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}
    table = pa.table({"label": pa.array([1, 0], pa.int64())}).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )
    dataset = hr.Parquet(write(tmp_path / "a.parquet", table))
    assert dataset.classes == ["cat", "dog"]
    assert values(dataset, "label") == [1, 0]


def test_dictionaries_are_mapped_by_value(tmp_path):
    write(tmp_path / "0.parquet", pa.table({"label": pa.array(["b", "a", "b"]).dictionary_encode()}))
    write(tmp_path / "1.parquet", pa.table({"label": pa.array(["a", "b"]).dictionary_encode()}))
    write(tmp_path / "2.parquet", pa.table({"label": pa.array(["a"])}))
    dataset = hr.Parquet(tmp_path)
    assert dataset.classes == ["b", "a"]
    assert values(dataset, "label") == [0, 1, 0, 1, 0, 1]
    write(tmp_path / "3.parquet", pa.table({"label": pa.array(["c"]).dictionary_encode()}))
    with pytest.raises(hr.DataError, match=r'(?s)"c".*3\.parquet'):
        values(hr.Parquet(tmp_path), "label")


def test_dictionaries_in_lists_are_classes(tmp_path):
    lists = pa.array([["b", "a"], [], ["a"]], pa.list_(pa.dictionary(pa.int32(), pa.string())))
    fixed = pa.array([["x"], ["y"], ["x"]], pa.list_(pa.dictionary(pa.int32(), pa.string()), 1))
    dataset = hr.Parquet(write(tmp_path / "a.parquet", pa.table({"tags": lists, "one": fixed})))
    assert (dataset.classes_of("tags"), dataset.classes_of("one")) == (["b", "a"], ["x", "y"])
    assert [row["tags"].tolist() for row in dataset] == [[0, 1], [], [1]]
    assert [row["one"].tolist() for row in dataset] == [[0], [1], [0]]


def test_dictionaries_whose_names_have_dots(tmp_path):
    kinds = pa.array(["b", "a"]).dictionary_encode()
    structs = pa.StructArray.from_arrays([kinds, pa.array([1, 2])], ["x.y", "n"])
    dataset = hr.Parquet(write(tmp_path / "a.parquet", pa.table({"a.b": kinds, "s": structs})))
    assert dataset.classes_of("a.b") == dataset.classes_of("s.x.y") == ["b", "a"]
    assert values(dataset, "a.b") == values(dataset, "s.x.y") == [0, 1]


def test_a_field_of_a_struct_is_not_taken_for_the_column_of_its_dotted_name(tmp_path):
    kinds = pa.array(["b", "a"]).dictionary_encode()
    inner = pa.StructArray.from_arrays([pa.array([5, 6])], ["c"])
    structs = pa.StructArray.from_arrays([inner], ["b"])
    path = write(tmp_path / "a.parquet", pa.table({"a": structs, "a.b": kinds, "x": [1, 2]}))
    dataset = hr.Parquet(path)
    assert dataset.classes_of("a.b") == ["b", "a"]
    assert [(row["a.b"], row["a.b.c"], row["x"]) for row in dataset] == [(0, 5, 1), (1, 6, 2)]


@pytest.mark.parametrize("index", [None, "build"])
def test_names_that_two_columns_have_are_refused_where_they_are_chosen(tmp_path, index):
    path = write(tmp_path / "a.parquet", pa.table({"a.b": [1, 2], "a": [{"b": 10, "c": 5}, {"b": 11, "c": 6}]}))
    for columns in (None, ["a.b"]):
        with pytest.raises(hr.GraphError, match=r'a\.parquet: the Arrow schema has two columns "a\.b"; rename one'):
            hr.Parquet(path, columns=columns, index=index)
    assert values(hr.Parquet(path, columns=["a.c"], index=index), "a.c") == [5, 6]


def test_classes_number_texts(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"kind": ["b", "a"], "other": ["x", "y"]}))
    dataset = hr.Parquet(path, classes={"kind": ["a", "b"]})
    assert values(dataset, "kind") == [1, 0]
    assert dataset.classes_of("kind") == ["a", "b"]
    assert dataset.schema["other"].dtype == "string"
    with pytest.raises(hr.GraphError, match="of which column"):
        hr.Parquet(path, classes=["a", "b"])
    with pytest.raises(hr.GraphError, match="classes is .kind.; give the names of the classes"):
        hr.Parquet(path, classes="kind")
    with pytest.raises(hr.GraphError, match=r'classes\["kind"\] is None, and the files do not say .*; give the list'):
        hr.Parquet(path, classes={"kind": None})


def test_what_is_wrong_of_columns_names_the_file(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"n": [1], "nothing": pa.nulls(1)}))
    with pytest.raises(hr.GraphError, match=r'Parquet: .*a\.parquet: columns names "m", .*\(n, nothing\)'):
        hr.Parquet(path, columns=["m"])
    for missing in ({}, {"nothing": 0}):
        with pytest.raises(hr.UnsupportedError, match=r'Parquet: .*a\.parquet: column "nothing" has the type null'):
            hr.Parquet(path, missing=missing)


def test_a_missing_value_is_an_error_unless_one_is_given(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"age": pa.array([1, None, 3], pa.int32())}))
    with pytest.raises(hr.DataError, match=r'(?s)"age".*a\.parquet, record 1'):
        values(hr.Parquet(path), "age")
    assert values(hr.Parquet(path, missing={"age": -1}), "age") == [1, -1, 3]
    assert values(hr.Parquet(path, index="build").on_error("skip"), "age") == [1, 3]
    with pytest.raises(hr.GraphError, match="missing"):
        hr.Parquet(path, missing={"age": "none"})


# ---- folders ----


def test_folders_of_keys_give_columns(tmp_path):
    write(tmp_path / "year=2024/split=train/a.parquet", numbers(0, 2))
    write(tmp_path / "year=2025/split=a%20b/a.parquet", numbers(2, 1))
    write(tmp_path / "year=2025/_temporary/a.parquet", numbers(9, 1))
    dataset = hr.Parquet(tmp_path)
    assert [(row["value"].item(), row["year"].item(), row["split"]) for row in dataset] == [
        (0, 2024, "train"),
        (1, 2024, "train"),
        (2, 2025, "a b"),
    ]
    assert list(hr.Parquet(tmp_path, columns=["year"]).schema) == ["year"]
    assert values(hr.Parquet(tmp_path, columns=["year"], index="build"), "year") == [2024, 2024, 2025]


@pytest.mark.parametrize("given", [{"classes": {"split": ["train"]}}, {"missing": {"split": "none"}}])
def test_what_folders_name_has_no_classes_and_no_missing_values(tmp_path, given):
    write(tmp_path / "split=train/a.parquet", numbers(0, 2))
    with pytest.raises(hr.GraphError, match=r'names "split", whose values are names of folders'):
        hr.Parquet(tmp_path, **given)


def test_columns_of_files_come_before_those_of_folders(tmp_path):
    write(tmp_path / "value=7/a.parquet", numbers(0, 2))
    assert values(hr.Parquet(tmp_path)) == [0, 1]


# ---- what is refused ----


def test_files_of_another_schema_are_named(tmp_path):
    write(tmp_path / "a.parquet", numbers(0, 2))
    write(tmp_path / "b.parquet", pa.table({"value": pa.array([1], pa.int32())}))
    with pytest.raises(hr.DataError, match=r'(?s)"value" is int32.*b\.parquet'):
        list(hr.Parquet(tmp_path))
    write(tmp_path / "b.parquet", pa.table({"other": [1]}))
    with pytest.raises(hr.Error, match=r"(?s)value.*b\.parquet"):
        list(hr.Parquet(tmp_path))


def test_units_of_times_are_part_of_the_schema(tmp_path):
    write(tmp_path / "a.parquet", pa.table({"at": pa.array([1], pa.timestamp("us"))}))
    write(tmp_path / "b.parquet", pa.table({"at": pa.array([1], pa.timestamp("ms"))}))
    with pytest.raises(hr.DataError, match=r'(?s)"at" is a time in ms.*b\.parquet'):
        list(hr.Parquet(tmp_path))


def test_damaged_files_are_named(tmp_path):
    good = write(tmp_path / "a.parquet", numbers(0, 8)).read_bytes()
    for name, data in {"cut": good[:-5], "empty": b"", "text": b"a,b\n1,2\n", "short": good[:40]}.items():
        (tmp_path / f"{name}.parquet").write_bytes(data)
        with pytest.raises(hr.DataError, match=f"{name}.parquet"):
            hr.Parquet(tmp_path / f"{name}.parquet")
        with pytest.raises(hr.DataError, match=f"{name}.parquet"):
            list(hr.Parquet([tmp_path / "a.parquet", tmp_path / f"{name}.parquet"]))


def test_damaged_row_groups_are_named(tmp_path):
    path = write(tmp_path / "a.parquet", numbers(0, 8), compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    begin = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    data[begin : begin + 16] = b"\xff" * 16
    path.write_bytes(data)
    for index in (None, "build"):
        with hr.Parquet(path, index=index).iterate() as rows:
            with pytest.raises(hr.DataError, match=r"(?s)row group 1: .*a\.parquet"):
                list(rows)


def test_encrypted_files_are_refused(tmp_path):
    good = write(tmp_path / "a.parquet", numbers(0, 8)).read_bytes()
    (tmp_path / "b.parquet").write_bytes(b"PARE" + good[4:-4] + b"PARE")
    with pytest.raises(hr.DataError, match=r"b\.parquet.*encrypted"):
        hr.Parquet(tmp_path / "b.parquet")


def test_types_that_are_refused_can_be_left_out(tmp_path):
    table = pa.table({"price": pa.array([1], pa.decimal128(5, 2)), "count": [1]})
    path = write(tmp_path / "a.parquet", table)
    with pytest.raises(hr.UnsupportedError, match='"price"'):
        hr.Parquet(path)
    assert values(hr.Parquet(path, columns=["count"]), "count") == [1]


def test_paths_are_checked(tmp_path):
    with pytest.raises(hr.NotFoundError, match="none"):
        hr.Parquet(tmp_path / "none.parquet")
    with pytest.raises(hr.GraphError, match="paths"):
        hr.Parquet([])
    write(tmp_path / "a.parquet", numbers(0, 1))
    with pytest.raises(hr.GraphError, match="leave out one"):
        len(hr.Parquet(tmp_path, index="build", sharding="splits"))


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    path = write(tmp_path / "a.parquet", numbers(0, 1))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(hr.UnsupportedError, match="pip install pyarrow"):
        hr.Parquet(path)
    with pytest.raises(hr.UnsupportedError, match="pip install pyarrow"):
        hr.Range(3).write_parquet(tmp_path / "b.parquet")


# ---- what is written ----


def test_datasets_are_read_back(tmp_path):
    rows = hr.Numpy(
        {
            "real": np.arange(10, dtype=np.float32),
            "text": np.array([f"é{i}" for i in range(10)]),
            "matrix": np.arange(60).reshape(10, 3, 2),
            "list": hr.ragged(np.arange(20, dtype=np.int16), np.array([0, 2, 2, 4, 8, 10, 12, 14, 16, 18, 20])),
            "flag": np.arange(10) % 2 == 0,
        }
    )
    written = rows.write_parquet(tmp_path / "a.parquet", row_group_rows=4)
    assert (written.rows, written.kept) == (10, 0)
    assert pq.ParquetFile(written.paths[0]).metadata.num_row_groups == 3
    again = hr.Parquet(written.path)
    assert again.schema == rows.schema
    for given_row, row in zip(rows, again, strict=True):
        for name, value in given_row.items():
            assert np.array_equal(row[name], value), name


def test_sets_are_written_together(tmp_path):
    written = hr.Range(10).write_parquet(tmp_path / "a.parquet", files=3)
    assert [pathlib.Path(each).name for each in written.paths] == [f"a-{i:05}-of-00003.parquet" for i in range(3)]
    assert values(hr.Parquet(written.path)) == list(range(10))
    assert written.bytes == sum(pathlib.Path(each).stat().st_size for each in written.paths)


def test_equal_rows_are_equal_bytes(tmp_path):
    for name in ("a", "b"):
        hr.Range(1000).write_parquet(tmp_path / f"{name}.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_set_goes_on_after_an_error(tmp_path):
    fails = [True]

    def checked(value: np.ndarray) -> np.ndarray:
        if value == 25 and fails[0]:
            raise ValueError("25")
        return value

    rows = hr.Range(30).map(checked, "value", types={"value": ("int64", ())})
    with pytest.raises(hr.FunctionError):
        rows.write_parquet(tmp_path / "a.parquet", files=3)
    assert not list(tmp_path.glob("*.parquet"))
    fails[0] = False
    written = rows.write_parquet(tmp_path / "a.parquet", files=3, resume=True)
    assert (written.rows, written.kept) == (30, 2)
    assert values(hr.Parquet(written.path)) == list(range(30))


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "brotli", "lz4", "none"])
def test_compressions(tmp_path, compression):
    hr.Range(5).write_parquet(tmp_path / "a.parquet", compression=compression)
    assert values(hr.Parquet(tmp_path / "a.parquet")) == list(range(5))


def test_images_and_classes_are_described_for_datasets(tmp_path, photos):
    written = hr.ImageFolder(photos).write_parquet(tmp_path / "a.parquet", images="image")
    metadata = json.loads(pq.read_schema(written.path).metadata[b"huggingface"])
    features = metadata["info"]["features"]
    assert features["image"] == {"_type": "Image"}
    assert features["label"] == {"names": hr.ImageFolder(photos).classes, "_type": "ClassLabel"}
    again = hr.Parquet(written.path)
    assert again.classes == hr.ImageFolder(photos).classes
    first, second = next(iter(hr.ImageFolder(photos))), next(iter(again))
    assert bytes(first["image"]) == bytes(second["image"])


def test_columns_that_parquet_does_not_hold_are_refused(tmp_path):
    pictures = hr.Range(3).map(
        lambda value: np.zeros((int(value) + 1, 2, 3), np.uint8), "value", types={"value": ("uint8", (None, None, 3))}
    )
    with pytest.raises(hr.GraphError, match="EncodeJpeg"):
        pictures.write_parquet(tmp_path / "a.parquet")
    unknown = hr.Range(3).map(lambda value: value, "value", types=None)
    with pytest.raises(hr.GraphError, match="state it with types="):
        unknown.write_parquet(tmp_path / "a.parquet")
    for options, said in [
        ({"images": "nope"}, "images names"),
        ({"images": "value"}, "encode the images"),
        ({"compression": "zip"}, "compression"),
        ({"row_group_rows": 0}, "row_group_rows"),
    ]:
        with pytest.raises(hr.GraphError, match=said):
            hr.Range(3).write_parquet(tmp_path / "a.parquet", **options)
    assert not list(tmp_path.iterdir())


@quick
@given(
    st.lists(
        st.tuples(
            st.integers(-(2**63), 2**63 - 1), st.text(max_size=5), st.binary(max_size=5), st.lists(st.integers(-5, 5))
        ),
        min_size=1,
        max_size=30,
    ),
    st.integers(1, 8),
)
def test_pyarrow_and_headrace_read_the_same(tmp_path_factory, rows, group_rows):
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    whole, texts, data, lists = zip(*rows, strict=True)
    table = pa.table(
        {
            "whole": pa.array(whole, pa.int64()),
            "text": pa.array(texts, pa.string()),
            "data": pa.array(data, pa.binary()),
            "list": pa.array(lists, pa.list_(pa.int8())),
        }
    )
    write(path, table, group_rows)
    for index in (None, "build"):
        read = [
            (row["whole"].item(), row["text"], bytes(row["data"]), row["list"].tolist())
            for row in hr.Parquet(path, index=index)
        ]
        assert read == rows


# ---- columns in one piece ----


def columns_of_each_form(rows: int) -> object:
    numbers = range(rows)
    return pa.table(
        {
            "value": pa.array(numbers, pa.int64()),
            "half": pa.array([i / 2 for i in numbers], pa.float32()),
            "pair": pa.array([[i, -i] for i in numbers], pa.list_(pa.int16(), 2)),
            "list": pa.array([list(range(i % 4)) for i in numbers], pa.list_(pa.int32())),
            "boxes": pa.array([[[i, j] for j in range(i % 3)] for i in numbers], pa.list_(pa.list_(pa.float32(), 2))),
            "words": pa.array([["ä" * j for j in range(i % 5)] for i in numbers], pa.list_(pa.string())),
            "text": pa.array(["é" * (i % 3) for i in numbers]),
            "long": pa.array(["x" * 200 + str(i) for i in numbers]),
            "flag": pa.array([i % 2 == 0 for i in numbers]),
            "some": pa.array([None if i % 7 == 0 else i for i in numbers], pa.int32()),
            "lists": pa.array([None if i % 6 == 1 else [i] for i in numbers], pa.list_(pa.int64())),
        }
    )


def row_of_each_form(i: int) -> dict:
    return {
        "value": i,
        "half": i / 2,
        "pair": [i, -i],
        "list": list(range(i % 4)),
        "boxes": [[i, j] for j in range(i % 3)],
        "words": ["ä" * j for j in range(i % 5)],
        "text": "é" * (i % 3),
        "long": "x" * 200 + str(i),
        "flag": i % 2 == 0,
        "some": -1 if i % 7 == 0 else i,
        "lists": [] if i % 6 == 1 else [i],
    }


@pytest.mark.parametrize(
    "options",
    [{}, {"shuffle": True}, {"shuffle": True, "window": 0}, {"index": "build"}, {"index": "build", "shuffle": True}],
)
def test_rows_are_the_same_in_whatever_pieces_they_come(tmp_path, options):
    path = write(tmp_path / "a.parquet", columns_of_each_form(300), rows=37)
    source = hr.Parquet(path, missing={"some": -1, "lists": []}, **options)

    def check(rows: list, numbers: list | None = None) -> None:
        assert [{name: np.asarray(value).tolist() for name, value in row.items()} for row in rows] == [
            row_of_each_form(i) for i in (numbers or [int(row["value"]) for row in rows])
        ]

    rows = list(source)
    check(rows, None if "shuffle" in options else list(range(300)))
    assert sorted(int(row["value"]) for row in rows) == list(range(300))
    order = [int(row["value"]) for row in rows]
    for size in (1, 7, 128):
        for ragged in ("splits", "list"):
            check(list(source.batch(size, ragged=ragged).unbatch()), order)
    ranks = [list(source.iterate(shard=(rank, 3))) for rank in range(3)]
    for rank in ranks:
        check(rank)
    assert sorted(int(row["value"]) for rank in ranks for row in rank) == list(range(300))


def test_a_text_that_begins_within_a_character_is_the_error_of_its_row(tmp_path):
    text = pa.py_buffer("aé".encode())
    offsets = pa.py_buffer(np.array([0, 1, 2, 3], np.int32).tobytes())
    damaged = pa.StringArray.from_buffers(3, offsets, text)
    path = write(tmp_path / "a.parquet", pa.table({"text": damaged}))
    given = []
    with pytest.raises(hr.DataError, match=r"is not UTF-8.*row 1"):
        given.extend(row["text"] for row in hr.Parquet(path))
    assert given == ["a"]


@pytest.mark.parametrize("options", [{"window": 0}, {"window": 5}, {"index": "build"}])
def test_texts_that_are_not_utf8_are_skipped_wherever_they_are_in_a_shuffle(tmp_path, options):
    words = [b"word %d" % i if i % 11 else b"\xff%d" % i for i in range(200)]
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int32)
    texts = pa.StringArray.from_buffers(200, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(words)))
    path = write(tmp_path / "a.parquet", pa.table({"value": range(200), "text": texts}), rows=30)
    rows = hr.Parquet(path, shuffle=True, **options).on_error("skip")
    for dataset in (rows, rows.batch(16).unbatch()):
        found = {int(row["value"]): row["text"] for row in dataset}
        assert found == {i: f"word {i}" for i in range(200) if i % 11}


# ---- Ctrl-C ----


def with_a_stated_shape(rows: list, shape: object) -> object:
    """A column `x` as the library `datasets` writes an Array2D of int32, for readers that did not import it."""
    metadata = {
        b"ARROW:extension:name": b"datasets.features.features.Array2DExtensionType",
        b"ARROW:extension:metadata": json.dumps([shape, "int32"]).encode(),
    }
    field = pa.field("x", pa.list_(pa.list_(pa.int32())), metadata=metadata)
    schema = pa.schema([pa.field("value", pa.int64()), field])
    return pa.table([pa.array(range(len(rows))), pa.array(rows, field.type)], schema)


ARRAYS = [[[3 * n, 1, 2], [3, 4, n]] for n in range(9)]


@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"index": "build", "shuffle": True}])
@pytest.mark.parametrize("columns", [None, ["x", "value"]])
def test_arrays_of_hugging_face_have_the_shape_that_they_state(tmp_path, options, columns):
    path = write(tmp_path / "a.parquet", with_a_stated_shape(ARRAYS, [2, 3]))
    ds = hr.Parquet(path, columns, **options)
    assert ds.schema["x"] == ("int32", (2, 3))
    assert sorted((int(row["value"]), row["x"].tolist()) for row in ds) == list(enumerate(ARRAYS))
    assert next(iter(ds.batch(9)))["x"].shape == (9, 2, 3)
    assert sorted(values(hr.Parquet(path, ["value"], **options))) == list(range(9))


def test_arrays_of_hugging_face_may_differ_in_the_first_axis(tmp_path):
    rows = [[[1, 2, 3]] * (n % 3) for n in range(6)]
    ds = hr.Parquet(write(tmp_path / "a.parquet", with_a_stated_shape(rows, [None, 3])))
    assert ds.schema["x"] == ("int32", (None, 3))
    assert [row["x"].shape for row in ds] == [(n % 3, 3) for n in range(6)]


def test_a_row_of_another_shape_than_is_stated_is_damage_of_its_row_group(tmp_path):
    path = write(tmp_path / "a.parquet", with_a_stated_shape([*ARRAYS[:5], [[1, 2, 3]]], [2, 3]))
    with pytest.raises(
        hr.DataError,
        match=r'row group 1: .* a row of the column "x" has another shape than its column states(?s:.*)file: .*a\.parquet',
    ):
        list(hr.Parquet(path))


def test_damage_is_not_said_to_be_another_shape_where_no_array_is_read(tmp_path):
    table = with_a_stated_shape(ARRAYS, [2, 3])
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=False)
    first = pq.ParquetFile(path).metadata.row_group(0).column(0)
    written = bytearray(path.read_bytes())
    written[first.data_page_offset : first.data_page_offset + first.total_compressed_size] = (
        b"\xff" * first.total_compressed_size
    )
    path.write_bytes(written)
    with pytest.raises(hr.DataError, match="pyarrow cannot decode it: "):
        list(hr.Parquet(path, ["value"]))
    with pytest.raises(hr.DataError, match='pyarrow cannot decode it, perhaps because a row of the column "x" has'):
        list(hr.Parquet(path))


def test_missing_arrays_of_hugging_face(tmp_path):
    path = write(tmp_path / "a.parquet", with_a_stated_shape([*ARRAYS[:5], None], [2, 3]))
    with pytest.raises(hr.DataError, match='column "x" has no value in row 5'):
        list(hr.Parquet(path))
    assert list(hr.Parquet(path, missing={"x": -1}))[5]["x"].tolist() == [[-1] * 3] * 2


@pytest.mark.parametrize("shape", ["a", [-1, 3], [[2]], [], [2, None], [2, 3, 4], {"a": 1}, None])
def test_shapes_that_no_array_has_are_passed_over(tmp_path, shape):
    ds = hr.Parquet(write(tmp_path / "a.parquet", with_a_stated_shape(ARRAYS, shape)))
    assert ds.schema["x"] == ("int32", (None, None))
    assert [row["x"].tolist() for row in ds] == ARRAYS


@pytest.mark.parametrize("method", ["__init__", "read"])
@pytest.mark.parametrize("policy", ["raise", "skip"])
def test_ctrl_c_within_pyarrow_is_not_an_error_of_a_row(tmp_path, monkeypatch, method, policy):
    path = write(tmp_path / "a.parquet", numbers(0, 8))
    iterator = hr.Parquet(path).on_error(policy).iterate(executor="pull")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt("now")

    monkeypatch.setattr(OpenedFile, method, interrupted)
    with pytest.raises(KeyboardInterrupt, match="now"):
        next(iterator)
    with pytest.raises(hr.ClosedError, match="ended with KeyboardInterrupt"):
        next(iterator)
