"""Sparse rows of LibSVM text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

quick = settings(max_examples=60, deadline=None, derandomize=True, database=None)
floats = st.floats(width=32, allow_nan=False)
features = st.dictionaries(st.integers(0, 2**62), floats, max_size=6)


@quick
@given(rows=st.lists(st.tuples(floats, features), max_size=8), zero_based=st.booleans())
def test_rows_are_those_written(tmp_path_factory, rows, zero_based):
    path = tmp_path_factory.mktemp("rows") / "a.libsvm"
    first = 0 if zero_based else 1
    with open(path, "w") as file:
        for label, named in rows:
            file.write(f"{label!r}{''.join(f' {index + first}:{named[index]!r}' for index in sorted(named))}\n")
    read = list(hr.LibSvm(path, zero_based=zero_based))
    assert [(row["label"], row["index"].tolist()) for row in read] == [
        (np.float32(label), sorted(named)) for label, named in rows
    ]
    for row, (_, named) in zip(read, rows, strict=True):
        assert row["value"].tobytes() == np.array([named[index] for index in sorted(named)], np.float32).tobytes()


def test_columns_have_their_types_and_order(tmp_path):
    path = tmp_path / "a.libsvm"
    path.write_text("".join(f"{i} {i}:1\n" for i in range(50)))
    rows = hr.LibSvm(path, features=50)
    assert rows.schema == {"label": ("float32", ()), "index": ("int64", (None,)), "value": ("float32", (None,))}
    shuffled = hr.LibSvm(path, shuffle=True, window=20, split_bytes=64, seed=1)
    labels = [float(row["label"]) for row in shuffled]
    assert labels != sorted(labels) and sorted(labels) == [*range(50)]
    batch = next(iter(rows.batch(2, pad=True, pad_value=-1)))
    assert batch["index"].tolist() == [[0], [1]] and batch["index"].dtype == np.int64


def test_a_line_that_is_no_row_is_named_or_left_out(tmp_path):
    path = tmp_path / "a.libsvm"
    path.write_text("1 0:1\n2 5:1\n3\n")
    with pytest.raises(hr.DataError, match=r"field 2 has the index 5; indices are 0 to 4") as raised:
        list(hr.LibSvm(path, features=5))
    assert raised.value.file.endswith("a.libsvm, byte 6")
    kept = hr.LibSvm(path, features=5).on_error("skip")
    assert [float(row["label"]) for row in kept] == [1, 3]
    for wrong in (0, "many"):
        with pytest.raises(hr.GraphError, match="features"):
            list(hr.LibSvm(path, features=wrong))


def test_rows_by_number_are_those_in_order(tmp_path):
    path = tmp_path / "a.libsvm"
    path.write_text("# all\n1 0:0.5\n\n-1 # none\n   \n1 1:2 2:3\n")
    table = hr.LibSvm(path, 3, index="build")
    assert len(table) == 3
    assert [row["index"].tolist() for row in table] == [[0], [], [1, 2]]
    assert [float(row["label"]) for row in table.select([2, 1, 0])] == [1, -1, 1]
