"""Columns of tables whose rows differ in their first axis: values and splits, declared with `hr.ragged`."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest
from conftest import state_after
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import transforms as T

BOXES = np.arange(24, dtype=np.float32).reshape(6, 4)
SPLITS = [0, 2, 2, 3, 6]


def rows_of(dataset: hr.Dataset, column: str) -> list[Any]:
    return [row[column].tolist() for row in dataset]


def cut(values: Any, splits: Any) -> list[Any]:
    return [list(values[a:b]) for a, b in zip(splits[:-1], splits[1:], strict=True)]


def test_a_row_is_what_stands_between_two_splits() -> None:
    ds = hr.Numpy({"boxes": hr.ragged(BOXES, SPLITS), "id": np.arange(4)})
    assert ds.schema == {"boxes": ("float32", (None, 4)), "id": ("int64", ())} and len(ds) == 4
    rows = list(ds)
    assert [row["boxes"].shape for row in rows] == [(2, 4), (0, 4), (1, 4), (3, 4)]
    assert all(row["boxes"].dtype == np.float32 for row in rows)
    np.testing.assert_array_equal(np.concatenate([row["boxes"] for row in rows]), BOXES)


@pytest.mark.parametrize("values", [["a", "", "caf\xe9", "a\0"], [b"a", b"", b"\xff\0", b"d"]], ids=["texts", "bytes"])
@pytest.mark.parametrize("kind", [list, tuple, lambda each: np.array(each, object)])
def test_rows_of_texts_and_bytes(values: Any, kind: Any) -> None:
    ds = hr.Numpy({"words": hr.ragged(kind(values), [0, 0, 3, 4])})
    assert ds.schema["words"] == ("string" if isinstance(values[0], str) else "bytes", (None,))
    assert rows_of(ds, "words") == [[], values[:3], values[3:]]


def test_rows_are_views() -> None:
    values = np.arange(4000.0)
    rows = list(hr.Numpy({"x": hr.ragged(values, [0, 1500, 4000])}))
    assert all(np.shares_memory(row["x"], values) for row in rows)


def test_further_axes_lists_and_tensors() -> None:
    assert hr.Numpy(hr.ragged(np.zeros((3, 2, 5), np.uint8), [0, 3])).schema == {"data": ("uint8", (None, 2, 5))}
    assert rows_of(hr.Numpy({"x": hr.ragged([1, 2, 3], range(4))}), "x") == [[1], [2], [3]]
    assert rows_of(hr.Numpy({"x": hr.ragged([1.5, 2], (0, 2))}), "x") == [[1.5, 2.0]]
    assert rows_of(hr.Numpy({"x": hr.ragged(BOXES[::2, :1], np.array([0, 1, 3], np.uint8))}), "x") == [
        BOXES[:1, :1].tolist(),
        BOXES[2::2, :1].tolist(),
    ]
    assert rows_of(hr.Numpy({"x": hr.ragged([], [0])}), "x") == []
    assert rows_of(hr.Numpy({"x": hr.ragged([], [0, 0, 0])}), "x") == [[], []]


def test_splits_may_change_afterwards() -> None:
    splits = np.array(SPLITS)
    ds = hr.Numpy({"boxes": hr.ragged(BOXES, splits)})
    splits[:] = 1 << 40
    assert [len(row["boxes"]) for row in ds] == [2, 0, 1, 3]


def test_batches_have_the_same_form() -> None:
    ds = hr.Numpy({"boxes": hr.ragged(BOXES, SPLITS), "words": hr.ragged(list("abcdef"), SPLITS)})
    [batch] = ds.batch(4, ragged="splits")
    np.testing.assert_array_equal(batch["boxes"], BOXES)
    assert batch["boxes_splits"].tolist() == batch["words_splits"].tolist() == SPLITS
    assert batch["words"].tolist() == list("abcdef")
    again = hr.Numpy({"boxes": hr.ragged(batch["boxes"], batch["boxes_splits"])})
    assert rows_of(again, "boxes") == rows_of(ds, "boxes")
    [batch] = ds.project(["boxes"]).batch(4, pad=True)
    assert batch["boxes"].shape == (4, 3, 4)
    with pytest.raises(hr.GraphError, match="boxes"):
        list(ds.batch(4))


def test_rows_go_by_number() -> None:
    ds = hr.Numpy({"x": hr.ragged(np.arange(45), np.cumsum([0, *range(10)])), "id": np.arange(10)}, shuffle=True)
    rows = list(ds)
    assert sorted(int(row["id"]) for row in rows) == list(range(10))
    assert all(len(row["x"]) == row["id"] for row in rows)
    ranks = [list(ds.iterate(shard=(rank, 3))) for rank in range(3)]
    assert {int(row["id"]) for rank in ranks for row in rank} == set(range(10))
    assert [int(row["id"]) for row in ds.select([7, 2]).map(T.TypeCast("float32"), "x")] == [7, 2]


def test_states_notice_other_splits() -> None:
    def of(values: Any, splits: Any) -> hr.Dataset:
        return hr.Numpy({"x": hr.ragged(values, splits)})

    state = state_after(of([1, 2, 3], [0, 1, 3]), 1)
    assert [row["x"].tolist() for row in of([1, 2, 3], [0, 1, 3]).iterate(state=state)] == [[2, 3]]
    for other in (of([1, 2, 3], [0, 2, 3]), of([1, 2, 4], [0, 1, 3])):
        with pytest.raises(hr.StateError):
            list(other.iterate(state=state))


def test_a_manifest_has_ragged_columns(tmp_path: pathlib.Path) -> None:
    for name in "abcd":
        (tmp_path / name).write_text(name)
    table = {"path": list("abcd"), "boxes": hr.ragged(BOXES, SPLITS), "tags": hr.ragged(list("uvwxyz"), SPLITS)}
    ds = hr.Manifest(table, "path", tmp_path)
    assert ds.schema["boxes"] == ("float32", (None, 4)) and ds.schema["tags"] == ("string", (None,))
    assert [(row["data"], len(row["boxes"]), row["tags"].tolist()) for row in ds] == [
        (name.encode(), len(tags), list(tags)) for name, tags in zip("abcd", ["uv", "", "w", "xyz"], strict=True)
    ]
    with pytest.raises(hr.GraphError, match=r'path_column "path" is string \(None,\); a row names one file'):
        list(hr.Manifest({"path": hr.ragged(["a", "b"], [0, 1, 2])}, "path", tmp_path))


def test_a_saved_graph_takes_ragged_columns(tmp_path: pathlib.Path) -> None:
    hr.Numpy({"x": hr.ragged([1, 2, 3], [0, 1, 3])}).save(tmp_path / "g.hrg")
    given = {"arrays#0": {"x": hr.ragged(np.array([7, 8, 9]), [0, 0, 3])}}
    loaded = hr.load(tmp_path / "g.hrg", given)
    assert rows_of(loaded, "x") == [[], [7, 8, 9]]
    with pytest.raises(hr.GraphError, match=r"rows of int64 \(\); the graph was built for int64 \(None,\)"):
        list(hr.load(tmp_path / "g.hrg", {"arrays#0": {"x": np.arange(3)}}))


@pytest.mark.parametrize(
    ("values", "splits", "says"),
    [
        ([1, 2, 3], [0, 2], "splits go from 0 to 2; they must go from 0 to 3, the number of values"),
        ([1, 2, 3], [1, 3], "splits go from 1 to 3"),
        ([1, 2, 3], [0, 2, 1, 3], "row 1 begins at value 2 and ends at value 1; splits must not decrease"),
        ([1, 2, 3], [0, -1, 3], "row 0 begins at value 0 and ends at value -1"),
        ([1, 2, 3], [], r"splits is empty; n rows have n \+ 1 splits"),
        ([1, 2, 3], [0.0, 3.0], r"it must be n \+ 1 whole numbers"),
        ([1, 2, 3], [[0, 3]], r"it must be n \+ 1 whole numbers"),
        ([1, 2, 3], 3, "ragged: splits is a single value"),
        ([1, 2, 3], [0, 2**63, 3], "row 1 begins at value 9223372036854775808"),
        (3, [0, 1], "ragged: values is a single value"),
        ([1, None, 3], [0, 0, 2, 3], r"values\[1\], of row 1, is missing"),
        (["a", float("nan")], [0, 1, 2], r"values\[1\], of row 1, is missing"),
        ([[1, 2], [3]], [0, 2], "the shapes of all must agree"),
        (["a", 1], [0, 2], "give one kind"),
        (np.ma.masked_equal([1, -1], -1), [0, 2], r"values\[1\], of row 0, is missing"),
    ],
    ids=str,
)
def test_what_is_not_ragged_is_refused(values: Any, splits: Any, says: str) -> None:
    with pytest.raises(hr.GraphError, match=says):
        hr.ragged(values, splits)


def test_nothing_is_ragged_that_was_not_declared() -> None:
    for column in ([[1, 2], [3]], [np.zeros(2), np.zeros(3)]):
        with pytest.raises(hr.GraphError, match=r"shapes of all must agree.*hr\.ragged\(values, splits\)"):
            hr.Numpy({"x": column})
    lists = np.empty(2, object)
    lists[:] = [[1, 2], [3]]
    with pytest.raises(hr.GraphError, match=r"Python objects \(list\).*hr\.ragged\(values, splits\)"):
        hr.Numpy({"x": lists})
    with pytest.raises(hr.GraphError, match="columns differ in their number of rows: x has 1, y has 2"):
        hr.Numpy({"x": hr.ragged([1, 2], [0, 2]), "y": [1, 2]})


def test_a_ragged_column_is_a_sequence_of_its_rows() -> None:
    column = hr.ragged(BOXES, SPLITS)
    assert len(column) == 4 and [len(row) for row in column] == [2, 0, 1, 3]
    np.testing.assert_array_equal(column[-1], BOXES[3:])
    assert repr(column) == "<headrace.ragged: 4 rows of 6 values>"


SHAPES = st.lists(st.integers(0, 5), max_size=12)
KINDS = st.sampled_from(["int64", "uint8", "float32", "bool", "texts", "bytes"])


@settings(deadline=None, max_examples=60)
@given(lengths=SHAPES, kind=KINDS, axes=st.lists(st.integers(0, 3), max_size=2), data=st.data())
def test_rows_come_back_as_they_were_given(lengths: list[int], kind: str, axes: list[int], data: Any) -> None:
    splits = np.cumsum([0, *lengths])
    count = int(splits[-1])
    if kind in ("texts", "bytes"):
        of = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) if kind == "texts" else st.binary(max_size=4)
        values: Any = data.draw(st.lists(of, min_size=count, max_size=count))
        if not values:
            values = np.empty(0, object)
    else:
        draws = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        values = draws.integers(0, 2 if kind == "bool" else 200, (count, *axes)).astype(kind)
    ds = hr.Numpy({"x": hr.ragged(values, splits), "id": np.arange(len(lengths))})
    rows = list(ds)
    plain = values if isinstance(values, list) else values.tolist()
    assert [row["x"].tolist() for row in rows] == cut(plain, splits)
    batches = list(ds.batch(5, ragged="splits"))
    assert [each for batch in batches for each in np.diff(batch["x_splits"])] == lengths
    joined = [each for batch in batches for each in batch["x"].tolist()]
    assert joined == plain


# ---- values that are missing ----

NAN = float("nan")


def objects(*values: Any) -> Any:
    array = np.empty(len(values), object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    ("column", "row"),
    [
        ([1, 2, None], 2),
        (["a", None], 1),
        (objects("a", NAN, "b"), 1),
        (objects(b"a", None), 1),
        (np.ma.masked_equal([[1, 2], [3, -1]], -1), 1),
    ],
    ids=str,
)
def test_a_value_that_is_missing_is_an_error_of_its_row(column: Any, row: int, tmp_path: pathlib.Path) -> None:
    with pytest.raises(hr.GraphError, match=f'column "x".*row {row}'):
        hr.Numpy({"x": column})
    with pytest.raises(hr.GraphError, match=f'column "x".*row {row}'):
        hr.Manifest({"path": ["a"] * len(column), "x": column}, "path", tmp_path)


@pytest.mark.parametrize("path", [None, NAN])
@pytest.mark.parametrize("kind", [list, lambda each: objects(*each)])
def test_no_row_has_the_path_of_another(path: Any, kind: Any, tmp_path: pathlib.Path) -> None:
    with pytest.raises(hr.GraphError, match='column "path".*row 1'):
        hr.Manifest({"path": kind(["a", path])}, "path", tmp_path)
    (tmp_path / "a").write_text("A")
    (tmp_path / "blank").write_text("B")
    ds = hr.Manifest({"path": kind(["a", path])}, "path", tmp_path, missing={"path": "blank"})
    assert [row["data"] for row in ds] == [b"A", b"B"]


@pytest.mark.parametrize(
    ("column", "value", "filled", "dtype"),
    [
        ([1, None, 3], -1, [1, -1, 3], "int64"),
        ([1.5, NAN, None], 0, [1.5, 0.0, 0.0], "float64"),
        (["a", None], "", ["a", ""], "string"),
        (objects("a", NAN), "b", ["a", "b"], "string"),
        ([b"a", None], b"", [b"a", b""], "bytes"),
        ([True, None], False, [True, False], "bool"),
        (np.array([1, NAN], np.float32), 2, [1.0, 2.0], "float32"),
        (np.ma.masked_equal(np.array([1, 7], np.int16), 7), -1, [1, -1], "int16"),
        (np.array([1, 2], np.uint8), 300, [1, 2], "uint8"),
    ],
    ids=str,
)
def test_a_value_stands_where_the_user_states_one(column: Any, value: Any, filled: list[Any], dtype: str) -> None:
    ds = hr.Numpy({"x": column}, missing={"x": value})
    assert ds.schema["x"] == (dtype, ())
    given = [row["x"] for row in ds]
    assert [each.item() if hasattr(each, "item") else each for each in given] == filled


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        (np.ma.masked_equal([1, -1], -1), 0.5, "missing is 0.5, which a column of int64 does not hold"),
        (np.ma.masked_equal(np.array([1, 9], np.uint8), 9), -1, "missing is -1, which a column of uint8 does not hold"),
        (np.ma.masked_equal([1, -1], -1), True, "missing is True"),
        (np.array([1, NAN]), "x", "missing is 'x', which a column of float64 does not hold"),
        ([1, None], "x", "'x', a text, and .*is a number"),
        (hr.ragged([1], [0, 1]), 0, "is ragged, and missing has a value for it"),
    ],
    ids=str,
)
def test_a_value_that_the_column_does_not_hold_is_refused(column: Any, value: Any, says: str) -> None:
    with pytest.raises(hr.GraphError, match=says):
        hr.Numpy({"x": column}, missing={"x": value})


def test_missing_names_columns() -> None:
    with pytest.raises(hr.GraphError, match='Numpy: missing names "y", and there is no such column'):
        hr.Numpy({"x": [1]}, missing={"y": 0})
    with pytest.raises(hr.GraphError, match="Numpy: missing is 0; give a dict"):
        hr.Numpy({"x": [1]}, missing=0)


def test_a_table_in_a_file_takes_values_for_missing_ones(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_text("A")
    (tmp_path / "t.csv").write_text("path,age,name\na,3,x\na,NA,\na,,y\n")
    rows = list(hr.Manifest(tmp_path / "t.csv", "path", tmp_path, missing={"age": -1, "name": "?"}))
    assert [(int(row["age"]), row["name"]) for row in rows] == [(3, "x"), (-1, "?"), (-1, "y")]
    lines = [{"path": "a", "age": 3}, {"path": "a", "age": None}, {"path": "a"}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = list(hr.Manifest(tmp_path / "t.jsonl", "path", tmp_path, missing={"age": -1}))
    assert [int(row["age"]) for row in rows] == [3, -1, -1]


# ---- tables of other libraries, where they are here ----


def test_lists_of_pyarrow() -> None:
    pa = pytest.importorskip("pyarrow")
    lists = [[1, 2], [], [3]]
    for kind in (pa.list_(pa.int32()), pa.large_list(pa.int32())):
        whole = pa.chunked_array([pa.array(lists, kind), pa.array([[4, 5]], kind)])
        table = pa.table({"x": whole, "id": [0, 1, 2, 3]})
        for each, wanted in [(table, [*lists, [4, 5]]), (table.slice(1, 2), lists[1:]), (table.slice(0, 0), [])]:
            ds = hr.Numpy(each)
            assert ds.schema["x"] == ("int32", (None,)) and rows_of(ds, "x") == wanted
    texts = hr.Numpy(pa.table({"x": [["a", ""], [], ["b"]]}))
    assert texts.schema["x"] == ("string", (None,)) and rows_of(texts, "x") == [["a", ""], [], ["b"]]
    fixed = pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2))
    assert hr.Numpy(pa.table({"x": fixed})).schema["x"] == ("float32", (2,))
    boxes = pa.array([[[1.0, 2.0]], [], [[3.0, 4.0], [5.0, 6.0]]], pa.list_(pa.list_(pa.float32(), 2)))
    assert hr.Numpy(pa.table({"x": boxes})).schema["x"] == ("float32", (None, 2))
    with pytest.raises(hr.GraphError, match="lists of lists of unequal lengths"):
        hr.Numpy(pa.table({"x": [[[1], [2, 3]]]}))


def test_nulls_of_pyarrow() -> None:
    pa = pytest.importorskip("pyarrow")
    lists = pa.table({"x": pa.array([[1], None, [2]])})
    with pytest.raises(hr.GraphError, match='column "x" has no value in row 1'):
        hr.Numpy(lists)
    assert rows_of(hr.Numpy(lists, missing={"x": []}), "x") == [[1], [], [2]]
    with pytest.raises(hr.GraphError, match='column "x" has no value in row 1'):
        hr.Numpy(lists, missing={"x": 0})
    with pytest.raises(hr.GraphError, match=r'column "x" has no value at \[1\] of row 2'):
        hr.Numpy(pa.table({"x": [[1], [], [2, None]]}))
    table = pa.table({"n": pa.array([1, None], pa.int16()), "d": pa.array(["a", None]).dictionary_encode()})
    ds = hr.Numpy(table, missing={"n": -1, "d": "?"})
    assert ds.schema == {"n": ("int16", ()), "d": ("string", ())}
    assert [(int(row["n"]), row["d"]) for row in ds] == [(1, "a"), (-1, "?")]
    floats = pa.table({"f": pa.array([1.0, NAN, None], pa.float32())})
    assert rows_of(hr.Numpy(floats, missing={"f": 0}), "f") == [1.0, 0.0, 0.0]
    for value in (0.5, "x", 1 << 20):
        with pytest.raises(hr.GraphError, match="which the column does not hold"):
            hr.Numpy(pa.table({"n": pa.array([1, None], pa.int16())}), missing={"n": value})


def test_columns_of_pandas() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None], "Int16"),
            "c": pd.Categorical(["a", None]),
            "s": pd.array(["x", None], "string"),
            "f": [1.5, None],
            "o": ["u", None],
        }
    )
    for name in ("n", "c", "s", "o"):
        with pytest.raises(hr.GraphError, match=f'column "{name}".*row 1'):
            hr.Numpy(frame[[name]])
    ds = hr.Numpy(frame, missing={"n": -1, "c": "?", "s": "", "f": 0, "o": "v"})
    assert [ds.schema[name].dtype for name in "ncsfo"] == ["int16", "string", "string", "float64", "string"]
    rows = list(ds)
    assert (int(rows[1]["n"]), rows[1]["c"], rows[1]["s"], float(rows[1]["f"]), rows[1]["o"]) == (-1, "?", "", 0.0, "v")
    with pytest.raises(hr.GraphError, match=r"hr\.ragged\(values, splits\)"):
        hr.Numpy(pd.DataFrame({"x": [[1], [2, 3]]}))


def test_lists_of_polars() -> None:
    pl = pytest.importorskip("polars")
    lists = [[1, 2], [], [3]]
    ds = hr.Numpy(pl.DataFrame({"x": lists, "t": [["a"], ["b", ""], []]}))
    assert ds.schema["x"] == ("int64", (None,)) and rows_of(ds, "x") == lists
    assert rows_of(ds, "t") == [["a"], ["b", ""], []]
    with pytest.raises(hr.GraphError, match='column "x" has no value in row 1'):
        hr.Numpy(pl.DataFrame({"x": [[1], None]}))
    assert rows_of(hr.Numpy(pl.DataFrame({"x": [[1], None]}), missing={"x": []}), "x") == [[1], []]
    with pytest.raises(hr.GraphError, match=r"no value at \[0\] of row 1"):
        hr.Numpy(pl.DataFrame({"x": [[1], [None]]}))
    with pytest.raises(hr.GraphError, match=r"missing is 0\.5"):
        hr.Numpy(pl.DataFrame({"x": [1, None]}), missing={"x": 0.5})


# ---- saved graphs over tables in files ----


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_graph_over_a_table_in_a_file_is_whole(kind: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_text("A")
    file = tmp_path / f"t[1].{kind}"
    text = "path,x\na,1\na,\n" if kind == "csv" else '{"path": "a", "x": 1}\n{"path": "a"}\n'
    file.write_text(text)
    ds = hr.Manifest(file, "path", tmp_path, missing={"x": -1}).project(["data", "x"])
    ds.save(tmp_path / "g.hrg")
    (tmp_path / "g.json").write_text(ds.to_json())
    for name in ("g.hrg", "g.json"):
        loaded = hr.load(tmp_path / name)
        assert [(row["data"], int(row["x"])) for row in loaded] == [(b"A", 1), (b"A", -1)] and len(loaded) == 2
    state = state_after(ds, 1)
    assert [int(row["x"]) for row in hr.load(tmp_path / "g.hrg").iterate(state=state)] == [-1]
    hr.load(tmp_path / "g.hrg").save(tmp_path / "again.hrg")
    assert (tmp_path / "again.hrg").read_bytes() == (tmp_path / "g.hrg").read_bytes()
    given = hr.load(tmp_path / "g.hrg", {"arrays#0": {"path": ["a"], "x": np.array([7])}})
    assert [int(row["x"]) for row in given] == [7]
    file.write_text(text.replace("1", "2"))
    changed = hr.load(tmp_path / "g.hrg")
    with pytest.raises(hr.GraphError, match="has changed since the graph was saved.*arrays#0"):
        list(changed)
    file.unlink()
    with pytest.raises(hr.NotFoundError):
        list(changed)


def test_a_graph_over_arrays_names_them(tmp_path: pathlib.Path) -> None:
    hr.Manifest({"path": ["a"]}, "path", tmp_path).save(tmp_path / "g.hrg")
    with pytest.raises(hr.GraphError, match="arrays that are not in the file: arrays#0"):
        list(hr.load(tmp_path / "g.hrg"))


def test_a_table_from_a_file_makes_the_same_graph_as_its_columns(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_text("A")
    (tmp_path / "t.csv").write_text("path,x\na,1\na,2\n")
    state = state_after(hr.Manifest(tmp_path / "t.csv", "path", tmp_path), 1)
    columns = hr.Manifest({"path": ["a", "a"], "x": [1, 2]}, "path", tmp_path)
    assert [int(row["x"]) for row in columns.iterate(state=state)] == [2]
