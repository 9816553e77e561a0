"""hr.Arrow and as_="arrow": tables and streams of other libraries, by the Arrow C data interface."""

import gc
import json
import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import _engine
from headrace._datasets.fields.arrow_schema import feature_classes, tensor_shape
from headrace._parquet.fixed_shapes import with_stated_shapes
from tests.arrow_exporter import Array, Stream, Table, dictionary, fixed_list, lists, numbers, record, texts

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def ints(*values: int) -> Array:
    return numbers("l", np.array(values, np.int64))


def values_of(dataset: hr.Dataset, column: str = "x") -> list[object]:
    return [np.asarray(row[column]).tolist() if hasattr(row[column], "shape") else row[column] for row in dataset]


# ---- tables ----


def test_tables_have_rows_by_number():
    table = Table([record(x=ints(0, 1, 2)), record(x=ints(3)), record(x=ints(4, 5))])
    ds = hr.Arrow(table)
    assert len(ds) == 6
    assert values_of(ds) == [0, 1, 2, 3, 4, 5]
    assert values_of(ds) == [0, 1, 2, 3, 4, 5], "again"
    assert ds[4]["x"] == 4
    assert ds[-1]["x"] == 5


def test_shuffled_rows_are_those_of_numpy():
    table = Table([record(x=ints(*range(at, at + 7))) for at in range(0, 28, 7)])
    shuffled = values_of(hr.Arrow(table, shuffle=True))
    assert sorted(shuffled) == list(range(28)) != shuffled
    assert shuffled == values_of(hr.Numpy({"x": np.arange(28)}, shuffle=True))


def test_ranks_share_the_rows_and_states_go_on():
    ds = hr.Arrow(Table([record(x=ints(*range(10)))]), shuffle=True)
    whole = values_of(ds)
    parts = [[row["x"].item() for row in ds.iterate(epoch=0, shard=(rank, 2))] for rank in range(2)]
    assert sorted(parts[0] + parts[1]) == sorted(whole)
    iterator = ds.iterate(epoch=0)
    first = [next(iterator)["x"].item() for _ in range(4)]
    state = iterator.state()
    assert first + [row["x"].item() for row in ds.iterate(state=state)] == whole


def test_an_array_that_is_exported_is_a_table():
    assert len(hr.Arrow(record(x=ints(1, 2)))) == 2
    assert values_of(hr.Arrow(ints(1, 2)), "data") == [1, 2]


def test_structs_are_released_once_and_after_the_last_row():
    table = record(x=ints(*range(1000)))
    rows = list(hr.Arrow(table).batch(1000))
    gc.collect()
    list(hr.Range(1))  # where a thread has the GIL, what was let go is released
    assert rows[0]["x"].tolist() == list(range(1000))
    del rows
    gc.collect()
    list(hr.Range(1))
    assert sorted(table.released) == ["array", "schema"]


@pytest.mark.parametrize("table", [True, False])
def test_data_is_read_once_before_its_columns_are_asked_for(table):
    batches = [record(x=ints(0, 1))]
    data = _engine.ArrowData(Table(batches) if table else Stream(batches), table)
    for of_columns in ("columns", "units", "classes"):
        with pytest.raises(hr.InternalError, match="before it is read"):
            getattr(data, of_columns)
    data.read(None, {}, {}, {})
    assert data.columns == [("x", "int64", ())]
    with pytest.raises(hr.InternalError, match="was read before"):
        data.read(None, {}, {}, {})
    assert data.columns == [("x", "int64", ())]


# ---- streams ----


def test_a_stream_gives_its_rows_once():
    ds = hr.Arrow(Stream([record(x=ints(0, 1)), record(x=ints(2))]))
    assert values_of(ds) == [0, 1, 2]
    with pytest.raises(hr.UnsupportedError, match="gives its rows once"):
        list(ds)


def test_streams_have_no_length_and_are_not_shuffled():
    ds = hr.Arrow(Stream([record(x=ints(0, 1))]))
    with pytest.raises(TypeError):
        len(ds)
    with pytest.raises(hr.GraphError, match="a stream has none"):
        list(hr.Arrow(Stream([record(x=ints(0, 1))]), shuffle=True))
    assert sorted(values_of(hr.Arrow(Stream([record(x=ints(*range(9)))])).shuffle(4))) == list(range(9))


def test_a_stream_says_what_its_producer_says():
    ds = hr.Arrow(Stream([record(x=ints(0))], "the disk is gone"))
    with pytest.raises(hr.DataError, match="the disk is gone"):
        list(ds)


def test_a_generator_of_batches_is_a_stream():
    ds = hr.Arrow(record(x=ints(at, at + 1)) for at in (0, 2, 4))
    assert values_of(ds) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(hr.DataError, match="other columns than the first"):
        list(hr.Arrow(iter([record(x=ints(0)), record(y=ints(1))])))
    with pytest.raises(hr.GraphError, match="it gave a"):
        hr.Arrow(iter([1]))
    with pytest.raises(hr.GraphError, match="gives no record batches"):
        hr.Arrow(iter([]))


def test_a_generator_that_raises_ends_the_run():
    def batches():
        yield record(x=ints(0))
        raise ValueError("no more paper")

    with pytest.raises(hr.DataError, match="no more paper"):
        list(hr.Arrow(batches()))

    class Mute(Exception):
        def __str__(self):
            raise ValueError("no text")

    def mute():
        yield record(x=ints(0))
        raise Mute

    with pytest.raises(hr.DataError, match="cannot be shown"):
        list(hr.Arrow(mute()))


def test_a_class_that_only_claims_to_be_an_iterator_is_refused():
    class Claims:
        pass

    Iterator.register(Claims)
    with pytest.raises(hr.GraphError, match="not an iterator"):
        hr.Arrow(Claims())


# ---- types ----


def test_texts_bytes_and_bools():
    table = record(t=texts(["a", "ü"]), b=texts([b"\x00", b"\xff"], "z"), f=Array("b", 2, [None, b"\x02"]))
    rows = list(hr.Arrow(table))
    assert [(row["t"], row["b"], bool(row["f"])) for row in rows] == [("a", b"\x00", False), ("ü", b"\xff", True)]


def test_structs_become_dotted_columns():
    person = record(name=texts(["Ada"]), age=ints(36))
    assert list(next(iter(hr.Arrow(record(person=person))))) == ["person.name", "person.age"]
    assert list(next(iter(hr.Arrow(record(person=person, x=ints(1)), columns=["x", "person"])))) == [
        "x",
        "person.name",
        "person.age",
    ]


def test_lists_are_ragged_and_fixed_lists_are_axes():
    boxes = fixed_list(4, numbers("f", np.arange(12, dtype=np.float32)))
    table = record(x=lists([2, 0, 1], boxes))
    batch = next(iter(hr.Arrow(table).batch(3, ragged="splits")))
    assert batch["x"].shape == (3, 4)
    assert batch["x_splits"].tolist() == [0, 2, 2, 3]
    vectors = record(x=fixed_list(2, ints(1, 2, 3, 4)))
    assert values_of(hr.Arrow(vectors)) == [[1, 2], [3, 4]]


def test_lists_in_lists_need_equal_lengths_in_a_row():
    same = record(x=lists([2, 1], lists([2, 2, 2], ints(1, 2, 3, 4, 5, 6))))
    assert values_of(hr.Arrow(same)) == [[[1, 2], [3, 4]], [[5, 6]]]
    other = record(x=lists([2], lists([2, 1], ints(1, 2, 3))))
    with pytest.raises(hr.DataError, match='column "x" holds lists of lists of unequal lengths'):
        list(hr.Arrow(other))


def test_tensors_have_their_shape():
    column = fixed_list(6, numbers("C", np.arange(12, dtype=np.uint8)))
    column.metadata = {
        b"ARROW:extension:name": b"arrow.fixed_shape_tensor",
        b"ARROW:extension:metadata": b'{"shape": [2, 3]}',
    }
    assert [row["x"].shape for row in hr.Arrow(record(x=column))] == [(2, 3), (2, 3)]


def test_times_are_int64_in_their_unit():
    table = record(day=numbers("tdD", np.array([1], np.int32)), at=numbers("tsu:UTC", np.array([5], np.int64)))
    row = next(iter(hr.Arrow(table)))
    assert (row["day"], row["at"]) == (1, 5)
    assert row["day"].dtype == np.int64
    assert "us UTC" in hr.Arrow(table).to_json()


def test_types_that_are_none_name_the_column_and_what_to_write():
    table = record(price=Array("d:9,2", 1, [None, bytes(16)]), x=ints(1))
    with pytest.raises(hr.UnsupportedError, match='"price" holds decimals'):
        hr.Arrow(table)
    assert values_of(hr.Arrow(table, columns="x")) == [1]


# ---- files ----


def test_bytes_and_path_are_one_column(tmp_path, monkeypatch):
    (tmp_path / "b.txt").write_bytes(b"from the file")
    image = record(bytes=texts([b"here", b""], "z").with_missing(True, False), path=texts(["a.txt", "b.txt"]))
    table = record(image=image)
    assert values_of(hr.Arrow(table, root=tmp_path), "image") == [b"here", b"from the file"]
    monkeypatch.chdir(tmp_path)
    assert values_of(hr.Arrow(table), "image") == [b"here", b"from the file"]
    with pytest.raises(hr.NotFoundError, match=r"b\.txt"):
        list(hr.Arrow(table, root=tmp_path / "nowhere"))


# ---- classes ----


def test_dictionaries_are_mapped_by_value():
    table = Table([record(label=dictionary([1, 0], ["cat", "dog"])), record(label=dictionary([0], ["dog"]))])
    ds = hr.Arrow(table)
    assert values_of(ds, "label") == [1, 0, 1]
    assert ds.classes == ["cat", "dog"]
    assert ds.classes_of("label") == ["cat", "dog"]
    unknown = Table([record(label=dictionary([0], ["cat"])), record(label=dictionary([0], ["emu"]))])
    with pytest.raises(hr.DataError, match=r'column "label" holds a value .*"emu" \(row 1\)'):
        list(hr.Arrow(unknown))


def test_classes_may_be_given():
    ds = hr.Arrow(record(label=texts(["dog", "cat"])), classes=["cat", "dog"])
    assert values_of(ds, "label") == [1, 0]
    assert ds.classes == ["cat", "dog"]
    ds = hr.Arrow(record(a=dictionary([0], ["x"]), b=texts(["y"])), classes={"b": ["y", "z"]})
    assert ds.classes_of("a") == ["x"]
    assert ds.classes_of("b") == ["y", "z"]
    with pytest.raises(AttributeError, match="different classes"):
        _ = ds.classes
    for classes, said in (
        ("a", "give the names of the classes"),
        (["x", "x"], "'x' 2 times"),
        ({"a": 1}, "is 1"),
    ):
        with pytest.raises(hr.GraphError, match=said):
            hr.Arrow(record(a=texts(["x"])), classes=classes)
    with pytest.raises(hr.GraphError, match="not clear of which column"):
        hr.Arrow(record(a=texts(["x"]), b=texts(["y"])), classes=["x"])


def test_classes_may_be_those_that_occur(tmp_path):
    table = Table([record(a=texts(["dog", "cat"]), b=ints(1, 2)), record(a=texts(["emu", "cat"]), b=ints(3, 4))])
    ds = hr.Arrow(table, ["b", "a"], classes={"a": None})
    assert ds.classes == ["cat", "dog", "emu"]
    assert values_of(ds, "a") == [1, 0, 2, 0]
    listed = record(a=lists([2, 0], texts(["y", "x"])), b=texts(["q", "p"]))
    both = hr.Arrow(listed, classes={"a": None, "b": ["p", "q"]})
    assert both.classes_of("a") == ["x", "y"] and both.classes_of("b") == ["p", "q"]
    missing = record(a=texts(["dog", ""]).with_missing(True, False))
    assert hr.Arrow(missing, classes={"a": None}, missing={"a": "none"}).classes == ["dog", "none"]
    ds.save(tmp_path / "graph")
    (name,) = hr.load(tmp_path / "graph")._node.references
    other = record(a=texts(["emu"]), b=ints(1))
    assert values_of(hr.load(tmp_path / "graph", references={name: other}), "a") == [2]


@pytest.mark.parametrize(
    ("given", "name", "said"),
    [
        (record(a=ints(1)), "a", "is int64, and names of classes are texts"),
        (record(a=texts([])), "a", "has no texts to name classes by"),
        (record(a=texts(["x"])), "b", r"there is no such column \(a\)"),
        (record(a=dictionary([0], ["x"])), "a", "is a dictionary, which has names of its own"),
        (iter([record(a=texts(["x"]))]), "a", "the rows of a stream come once"),
        (record(a=texts(["x", "y"]).with_missing(True, False)), "a", "no value in row 1"),
    ],
)
def test_names_that_occur_are_not_known_of_all(given, name, said):
    with pytest.raises(hr.Error, match=said):
        hr.Arrow(given, classes={name: None})


def test_class_labels_of_hugging_face_have_names():
    table = record(label=ints(1, 0), image=texts([b"", b""], "z"))
    features = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}, "image": {"_type": "Image"}}
    table.metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    ds = hr.Arrow(table)
    assert ds.classes == ["cat", "dog"]
    assert values_of(ds, "label") == [1, 0]


def test_metadata_that_is_damaged_is_an_error():
    assert feature_classes({}, "Arrow") == {}
    with pytest.raises(hr.DataError, match="cannot be read"):
        feature_classes({b"huggingface": b"{"}, "Arrow")
    with pytest.raises(hr.DataError, match="cannot be read"):
        feature_classes({b"huggingface": b"[" * 100_000}, "Arrow")
    nested = {"objects": {"feature": {"kind": {"names": ["a"], "_type": "ClassLabel"}}, "_type": "Sequence"}}
    assert feature_classes({b"huggingface": json.dumps({"info": {"features": nested}}).encode()}, "Arrow") == {
        "objects.kind": ["a"]
    }
    with pytest.raises(hr.DataError, match="has no shape"):
        tensor_shape("x", "arrow.fixed_shape_tensor", b"{}", "Arrow")
    with pytest.raises(hr.GraphError, match="another order"):
        tensor_shape("x", "arrow.fixed_shape_tensor", b'{"shape": [2, 3], "permutation": [1, 0]}', "Arrow")


# ---- missing values ----


def test_a_missing_value_is_an_error_or_what_stands_for_it():
    table = record(x=ints(1, 2).with_missing(True, False), t=texts(["a", "b"]).with_missing(False, True))
    with pytest.raises(hr.DataError, match='column "x" has no value in row 1'):
        hr.Arrow(table)
    ds = hr.Arrow(table, missing={"x": -1, "t": "none"})
    assert values_of(ds) == [1, -1]
    assert values_of(ds, "t") == ["none", "b"]
    assert next(iter(ds))["x"].dtype == np.int64
    with pytest.raises(hr.GraphError, match="no such column"):
        hr.Arrow(table, missing={"y": 1})
    for wrong in (1.5, "a", None, [1]):
        with pytest.raises(hr.GraphError, match=r'missing\["x"\]'):
            hr.Arrow(table, missing={"x": wrong, "t": ""})


def test_a_missing_list_is_an_empty_one_where_that_is_stated():
    table = record(x=lists([1, 1], ints(1, 2)).with_missing(True, False))
    with pytest.raises(hr.DataError, match="no value in row 1"):
        hr.Arrow(table)
    assert values_of(hr.Arrow(table, missing={"x": []})) == [[1], []]
    with pytest.raises(hr.GraphError, match="an empty list"):
        hr.Arrow(table, missing={"x": 0})


def test_a_missing_class_may_be_a_name_or_a_number():
    table = record(label=dictionary([0, 1], ["cat", "dog"]).with_missing(True, False))
    assert values_of(hr.Arrow(table, missing={"label": -1}), "label") == [0, -1]
    assert values_of(hr.Arrow(table, classes=["cat", "dog"], missing={"label": "dog"}), "label") == [0, 1]
    with pytest.raises(hr.GraphError, match=r"a dictionary; give the number of a class, .*classes="):
        hr.Arrow(table, missing={"label": "dog"})


def test_rows_of_streams_without_a_value_can_be_left_out():
    stream = Stream([record(x=ints(1, 2, 3).with_missing(True, False, True))])
    assert values_of(hr.Arrow(stream).on_error("skip")) == [1, 3]


# ---- what is refused ----


@pytest.mark.parametrize("given", [1, "table.arrow", {"x": [1]}, [1, 2], record, None])
def test_what_shares_nothing_is_refused(given):
    with pytest.raises(hr.GraphError, match="^Arrow: "):
        hr.Arrow(given)


def test_a_dataset_is_used_as_it_is():
    with pytest.raises(hr.GraphError, match="already"):
        hr.Arrow(hr.Range(3))


def test_damaged_structs_are_errors():
    for wrong in (
        Array("l", 2, [None]),
        Array("l", -1, [None, bytes(16)]),
        Array("l", 2, [None, bytes(16)], offset=-1),
        Array("+l", 2, [None, np.array([0, 3, 1], np.int32).tobytes()], children=[ints(1, 2, 3)]),
        Array("u", 1, [None, np.array([-1, 3], np.int32).tobytes(), b"abc"]),
    ):
        with pytest.raises(hr.DataError, match="damaged"):
            hr.Arrow(Array("+s", 2, [None], children=[wrong.named("x")]))


# ---- graphs ----


def test_a_saved_graph_takes_other_data(tmp_path):
    ds = hr.Arrow(record(x=ints(1, 2).with_missing(True, False), label=dictionary([0, 0], ["cat"])), missing={"x": 7})
    ds.save(tmp_path / "graph")
    (name,) = hr.load(tmp_path / "graph")._node.references
    other = record(x=ints(5, 6, 7).with_missing(False, True, True), label=dictionary([0, 0, 0], ["cat"]))
    loaded = hr.load(tmp_path / "graph", references={name: other})
    assert values_of(loaded) == [7, 6, 7]
    assert loaded.classes == ["cat"]


# ---- batches as Arrow's ----


def test_batches_go_out_and_come_back():
    columns = {"x": np.arange(6), "v": np.arange(12.0).reshape(6, 2), "t": [f"row {i}" for i in range(6)]}
    batches = list(hr.Numpy(columns).batch(4).options(as_="arrow"))
    assert [len(batch) for batch in batches] == [4, 2]
    again = hr.Arrow(iter(batches))
    for row, expected in zip(again, hr.Numpy(columns), strict=True):
        assert row.keys() == expected.keys()
        for name in row:
            np.testing.assert_array_equal(row[name], expected[name])


def test_ragged_columns_go_out_as_lists():
    rows = hr.Numpy({"x": hr.ragged(np.arange(5), [0, 2, 2, 5])})
    for how in ("splits", "list"):
        (batch,) = rows.batch(3, ragged=how).options(as_="arrow")
        assert values_of(hr.Arrow(batch)) == [[0, 1], [], [2, 3, 4]]


def test_rows_that_are_no_batch_are_refused():
    with pytest.raises(hr.UnsupportedError, match=r"write batch\(n\)"):
        list(hr.Numpy({"x": np.arange(3)}).options(as_="arrow"))


def test_batches_of_arrow_are_in_host_memory():
    with pytest.raises(hr.UnsupportedError, match="leave device out"):
        list(hr.Numpy({"x": np.arange(4)}).batch(2).to_device("cpu:0").options(as_="arrow"))


def test_tables_without_rows_are_empty():
    assert list(hr.Arrow(Table([record(x=ints(), label=dictionary([], []))]))) == []


# ---- with pyarrow ----


def arrow_columns():
    return st.integers(1, 12).flatmap(
        lambda rows: st.fixed_dictionaries(
            {
                "i": st.lists(st.integers(-(2**63), 2**63 - 1), min_size=rows, max_size=rows),
                "f": st.lists(st.floats(allow_nan=False, width=32), min_size=rows, max_size=rows),
                "b": st.lists(st.booleans(), min_size=rows, max_size=rows),
                "t": st.lists(st.text(max_size=5), min_size=rows, max_size=rows),
                "z": st.lists(st.binary(max_size=5), min_size=rows, max_size=rows),
                "l": st.lists(st.lists(st.integers(-100, 100), max_size=4), min_size=rows, max_size=rows),
            }
        )
    )


@quick
@given(columns=arrow_columns(), chunk=st.integers(1, 5))
def test_tables_of_pyarrow_come_back_equal(columns, chunk):
    pa = pytest.importorskip("pyarrow")
    types = {
        "i": pa.int64(),
        "f": pa.float32(),
        "b": pa.bool_(),
        "t": pa.utf8(),
        "z": pa.binary(),
        "l": pa.list_(pa.int16()),
    }
    schema = pa.schema([pa.field(name, kind) for name, kind in types.items()])
    table = pa.table(columns, schema=schema)
    pieces = pa.Table.from_batches(table.to_batches(max_chunksize=chunk))
    batches = list(hr.Arrow(pieces).batch(5, ragged={"l": "splits"}).options(as_="arrow"))
    assert all(isinstance(batch, pa.RecordBatch) for batch in batches)
    again = pa.Table.from_batches(batches)
    assert again.to_pydict() == table.to_pydict()
    assert [again.schema.field(name).type for name in types if name != "l"] == [
        types[name] for name in types if name != "l"
    ]


def test_sliced_tables_and_readers_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": range(20), "t": [str(i) for i in range(20)], "f": [i % 2 == 0 for i in range(20)]})
    part = hr.Arrow(table.slice(7, 9))
    assert values_of(part) == list(range(7, 16))
    assert [bool(row["f"]) for row in part] == [i % 2 == 0 for i in range(7, 16)]
    reader = hr.Arrow(table.to_reader(max_chunksize=6))
    assert values_of(reader, "t") == [str(i) for i in range(20)]
    with pytest.raises(hr.UnsupportedError, match="once"):
        list(reader)


def test_what_has_no_rows_yet_says_what_to_give():
    dataset = pytest.importorskip("pyarrow.dataset")
    made = dataset.dataset(pytest.importorskip("pyarrow").table({"x": [1]}))
    with pytest.raises(hr.GraphError, match=r"to_table\(\) returns, or for a stream scanner\(\)\.to_reader\(\)"):
        hr.Arrow(made)
    with pytest.raises(hr.GraphError, match=r"to_table\(\) returns, or for a stream to_reader\(\)"):
        hr.Arrow(made.scanner())
    assert values_of(hr.Arrow(made.scanner().to_reader())) == values_of(hr.Arrow(made.to_table())) == [1]
    with pytest.raises(hr.GraphError, match=r"a dict; give it to pyarrow\.table, or its arrays to hr\.Numpy"):
        hr.Arrow({"x": [1]})


def test_data_that_its_library_cannot_give_are_named():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(hr.DataError, match="Arrow: this DataFrame cannot be given as Arrow: .*column a "):
        hr.Arrow(pandas.DataFrame({"a": ["x", 1]}))


@pytest.mark.parametrize("column", [[{"bytes": b"1", "path": None}] * 2, [{"path": None, "bytes": b"1"}] * 2])
def test_files_without_any_path(column):
    """pyarrow, polars and pandas give the type null to a field without a value."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": column})
    assert pa.types.is_null(table.schema.field("x").type.field("path").type)
    ds = hr.Arrow(table)
    assert ds.schema["x"] == ("bytes", ())
    assert [bytes(row["x"]) for row in ds] == [b"1", b"1"]


def test_files_without_any_bytes(tmp_path):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "a").write_bytes(b"1")
    ds = hr.Arrow(pa.table({"x": [{"bytes": None, "path": "a"}] * 2}), root=tmp_path)
    assert [bytes(row["x"]) for row in ds] == [b"1", b"1"]


def of_hugging_face(rows: list, shape: list, chunk: int | None = None):
    """A column as the library `datasets` stores an Array2D, for readers that did not import it."""
    pa = pytest.importorskip("pyarrow")
    metadata = {
        b"ARROW:extension:name": b"datasets.features.features.Array2DExtensionType",
        b"ARROW:extension:metadata": json.dumps([shape, "int32"]).encode(),
    }
    field = pa.field("x", pa.list_(pa.list_(pa.int32())), metadata=metadata)
    batches = pa.table([pa.array(rows, field.type)], pa.schema([field])).to_batches(chunk)
    return pa.Table.from_batches(batches, pa.schema([field], {"kept": "1"}))


def test_arrays_of_hugging_face_have_their_shape():
    rows = [[[3 * n, 1, 2], [3, 4, n]] for n in range(5)]
    table = of_hugging_face(rows, [2, 3], chunk=2)
    for each, want in ((table, rows), (table.slice(1, 3), rows[1:4])):
        ds = hr.Arrow(each)
        assert ds.schema["x"] == ("int32", (2, 3))
        assert [row["x"].tolist() for row in ds] == want
    assert next(iter(hr.Arrow(table).batch(5)))["x"].shape == (5, 2, 3)


def test_arrays_of_hugging_face_of_other_shapes_are_lists():
    uneven = [[[1, 2, 3]], [[1, 2, 3], [4, 5, 6]]]
    assert hr.Arrow(of_hugging_face(uneven, [2, 3])).schema["x"] == ("int32", (None, 3))
    assert hr.Arrow(of_hugging_face(uneven, [None, 3])).schema["x"] == ("int32", (None, 3))
    missing = hr.Arrow(of_hugging_face([[[1, 2, 3]], None], [1, 3]), missing={"x": []})
    assert [row["x"].shape[0] for row in missing] == [1, 0]
    for shape in ("a", [-1, 3], [2], [[2]], []):
        assert len(list(hr.Arrow(of_hugging_face(uneven, shape)))) == 2


@pytest.mark.parametrize(
    ("rows", "shape", "said"),
    [
        (
            [[[1, 2]], [[1, 2]] * 3],
            [1, 2],
            r"\(1, 2\) for each row, and row 11 .* has \(3, 2\): write shape=\(None, 2\) in",
        ),
        (
            [[[1, 2]], [[1]]],
            [1, 2],
            r".* row 11 of the stream has \(1, 1\): write remove_columns\(\['x'\]\) of the dataset",
        ),
        ([[[1, 2], [1]]], [None, 2], r"\(None, 2\) for each row, and row 10 .* has \(2, …\): write remove_columns"),
    ],
)
def test_a_row_of_a_stream_of_another_shape_is_named(rows, shape, said):
    with pytest.raises(hr.DataError, match=f'^column "x" states the shape {said}'):
        with_stated_shapes(of_hugging_face(rows, shape, chunk=1), 10)


def test_images_go_out_as_tensors_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    images = np.arange(2 * 3 * 4 * 3, dtype=np.uint8).reshape(2, 3, 4, 3)
    (batch,) = hr.Numpy({"image": images}).batch(2).options(as_="arrow")
    assert batch.schema.field("image").type == pa.fixed_shape_tensor(pa.uint8(), (3, 4, 3))
    np.testing.assert_array_equal(batch.column("image").to_numpy_ndarray(), images)


def test_batches_of_several_shapes_go_out_with_their_own_types():
    pa = pytest.importorskip("pyarrow")
    rows = hr.Numpy({"x": hr.ragged(np.arange(9), [0, 2, 4, 7, 9])}).map(lambda x: x[:, None] * [[1, 10]], "x")
    batches = list(rows.batch(2, pad=True).options(as_="arrow"))
    assert [batch.schema.field("x").type for batch in batches] == [
        pa.fixed_shape_tensor(pa.int64(), (length, 2)) for length in (2, 3)
    ]
    shown = [batch.column("x").to_numpy_ndarray().tolist() for batch in batches]
    assert shown == [batch["x"].tolist() for batch in rows.batch(2, pad=True)]


def test_batches_of_pyarrow_are_valid_after_the_next_ones():
    pytest.importorskip("pyarrow")
    batches = list(hr.Numpy({"x": np.arange(10), "t": [str(i) for i in range(10)]}).batch(3).options(as_="arrow"))
    assert [row for batch in batches for row in batch.to_pylist()] == [{"x": i, "t": str(i)} for i in range(10)]


def test_a_batch_that_arrow_cannot_hold_is_an_error_after_others():
    pytest.importorskip("pyarrow")
    texts = [os.fsdecode(each) for each in (b"a", b"b", b"\xff", b"c")]
    iterator = iter(hr.Numpy({"x": texts}).batch(1).options(as_="arrow"))
    assert [next(iterator).to_pylist() for _ in range(2)] == [[{"x": "a"}], [{"x": "b"}]]
    with pytest.raises(hr.DataError, match="not UTF-8, which Arrow"):
        next(iterator)


def test_layouts_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    words = ["a", "a longer text than a view holds", ""]
    kinds = [pa.large_utf8(), pa.string_view(), pa.utf8()]
    for kind in kinds:
        assert values_of(hr.Arrow(pa.table({"x": pa.array(words, kind)}))) == words
    for kind in (pa.decimal128(5, 2), pa.map_(pa.utf8(), pa.int64())):
        with pytest.raises(hr.Error, match='column "x" holds'):
            hr.Arrow(pa.table({"x": pa.array([None], kind)}))
