"""headrace.mx.io.CSVIter: its batches, epochs and parameters, and what MXNet 1.9.1 gives."""

import pathlib
import pickle
import re

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from headrace.mx.io import csv_files
from headrace.mx.io.csv_files import CsvFiles
from tests.mx_batches import next_batches, python_calls
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours

ROWS = 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`data.csv`: seven lines of six numbers; `label.csv`: a number for each; `two.csv`: two numbers for each."""
    folder = tmp_path_factory.mktemp("csv")
    np.savetxt(folder / "data.csv", np.arange(ROWS * 6).reshape(ROWS, 6), delimiter=",", fmt="%d")
    np.savetxt(folder / "label.csv", 10 * np.arange(ROWS), fmt="%d")
    np.savetxt(folder / "two.csv", np.arange(ROWS * 2).reshape(ROWS, 2), delimiter=",", fmt="%d")
    return folder


def lines(folder, **given):
    return mx.io.CSVIter(**{"data_csv": str(folder / "data.csv"), "data_shape": (6,), "batch_size": 3, **given})


def labelled(folder, **given):
    return lines(folder, label_csv=str(folder / "label.csv"), **given)


def epochs_of(iterator, count=3):
    """Rows, labels and pad of each batch."""
    given = []
    for _ in range(count):
        given.append([((b.data[0][:, 0] / 6).tolist(), b.label[0].tolist(), b.pad) for b in iterator])
        iterator.reset()
    return given


# ---- what a script of MXNet gets ----


def test_the_tutorials_numbers(tmp_path):
    (tmp_path / "data.csv").write_text("1,2,3\n2,3,4\n3,4,5\n4,5,6\n")
    given = {"data_csv": str(tmp_path / "data.csv"), "data_shape": (3,)}
    batches = [batch.data[0].tolist() for batch in mx.io.CSVIter(**given, batch_size=2)]
    assert batches == [[[1, 2, 3], [2, 3, 4]], [[3, 4, 5], [4, 5, 6]]]
    iterator = mx.io.CSVIter(**given, batch_size=3)
    first = [batch.data[0][:, 0].tolist() for batch in iterator]
    iterator.reset()
    assert (first, [batch.data[0][:, 0].tolist() for batch in iterator]) == ([[1, 2, 3], [4, 1, 2]], [[3, 4, 1]])


@pytest.mark.parametrize("make", [lines, labelled])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_epochs_follow_each_other_or_begin_at_the_first_row(folder, make, on_error):
    def expected(*batches):
        return [([*rows], [10.0 * row if make is labelled else 0 for row in rows], pad) for rows, pad in batches]

    rounds = make(folder, on_error=on_error)
    assert rounds.provide_data == [("data", (3, 6))] and rounds.provide_label == [("softmax_label", (3,))]
    assert epochs_of(rounds) == [
        expected(((0, 1, 2), 0), ((3, 4, 5), 0), ((6, 0, 1), 2)),
        expected(((2, 3, 4), 0), ((5, 6, 0), 1)),
        expected(((1, 2, 3), 0), ((4, 5, 6), 0)),
    ]
    padded = make(folder, round_batch=False, on_error=on_error)
    assert epochs_of(padded) == [expected(((0, 1, 2), 0), ((3, 4, 5), 0), ((6, 0, 1), 2))] * 3


def test_a_batch_has_the_numbers_of_its_lines(folder):
    assert [batch.index.tolist() for batch in lines(folder)] == [[0, 1, 2], [3, 4, 5], [6, 0, 1]]


def test_shapes_are_filled_in_order(folder):
    iterator = lines(folder, data_shape=(2, 3), label_csv=str(folder / "two.csv"), label_shape=(2,))
    batch = iterator.next()
    assert np.array_equal(batch.data[0], np.arange(18).reshape(3, 2, 3))
    assert np.array_equal(batch.label[0], np.arange(6).reshape(3, 2))
    assert iterator.provide_data == [("data", (3, 2, 3))] and iterator.provide_label == [("softmax_label", (3, 2))]
    square = lines(folder, label_csv=str(folder / "two.csv"), label_shape=(2, 1)).next()
    assert square.label[0].shape == (3, 2, 1)
    whole = lines(folder, data_shape=6, label_csv=str(folder / "two.csv"), label_shape=2)
    assert whole.next().label[0].shape == (3, 2)


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", np.int64])
def test_a_dtype_is_that_of_data_and_labels(folder, dtype):
    for iterator in (labelled(folder, dtype=dtype), lines(folder, dtype=dtype)):
        batch = iterator.next()
        assert batch.data[0].dtype == batch.label[0].dtype == np.dtype(dtype)
        assert iterator.provide_data[0].dtype is iterator.provide_label[0].dtype is np.dtype(dtype).type
    assert labelled(folder).next().label[0].dtype == np.float32


def test_integers_are_exact(tmp_path):
    (tmp_path / "big.csv").write_text(f"{2**53 + 1}\n{-(2**63)}\n")
    given = {"data_csv": tmp_path / "big.csv", "data_shape": (1,), "batch_size": 2}
    assert mx.io.CSVIter(**given, dtype="int64").next().data[0].tolist() == [[2**53 + 1], [-(2**63)]]
    with pytest.raises(hr.DataError, match=r"big\.csv"):
        mx.io.CSVIter(**given, dtype="int32").next()


def test_files_are_a_list_a_folder_or_semicolons(tmp_path):
    (tmp_path / "data[1]").mkdir()
    for number in range(2):
        (tmp_path / "data[1]" / f"{number}.csv").write_text(f"{number}\n{number}.5\n")
    several = [str(tmp_path / "data[1]" / f"{number}.csv") for number in range(2)]
    uris = [f"file://{path}" for path in several]
    for given in (several, ";".join(several), str(tmp_path / "data[1]"), tmp_path / "data[1]", uris):
        iterator = mx.io.CSVIter(data_csv=given, data_shape=(1,), batch_size=4)
        assert iterator.next().data[0].tolist() == [[0], [0.5], [1], [1.5]]


def test_names_are_those_given(folder):
    iterator = lines(folder, data_name="x", label_name="y")
    assert iterator.provide_data[0].name == "x" and iterator.provide_label[0].name == "y"


def test_null_is_no_file(folder):
    assert epochs_of(lines(folder, label_csv="NULL")) == epochs_of(lines(folder))


# ---- states, errors ----


@pytest.mark.parametrize("make", [lines, labelled])
@pytest.mark.parametrize("round_batch", [True, False])
def test_a_state_goes_on_with_the_next_batch(folder, make, round_batch):
    def tell(batch):
        return batch.data[0].tolist(), batch.label[0].tolist(), batch.pad, batch.index.tolist()

    whole = next_batches(make(folder, round_batch=round_batch), 9, tell)
    for before in range(8):
        iterator = make(folder, round_batch=round_batch)
        next_batches(iterator, before, tell)
        state = pickle.loads(pickle.dumps(iterator.state()))
        again = make(folder, round_batch=round_batch, state=state)
        assert next_batches(again, 9 - before, tell) == whole[before:], before


def test_lines_that_fail_are_named_or_left_out_with_their_labels(folder, tmp_path):
    text = (folder / "data.csv").read_text().splitlines()
    text[1], text[4] = "1,2,3", "24,25,x,27,28,29"
    (tmp_path / "data.csv").write_text("\n".join(text) + "\n")
    given = {"data_csv": tmp_path / "data.csv", "label_csv": folder / "label.csv", "batch_size": 5}
    with pytest.raises(hr.DataError, match=r"data\.csv"):
        lines(folder, **given).next()
    skipping = lines(folder, **given, on_error="skip")
    assert epochs_of(skipping, 2) == [[([0, 2, 3, 5, 6], [0, 20, 30, 50, 60], 0)]] * 2
    assert "data.csv" in skipping.explain()
    with pytest.raises(hr.DataError, match="max_errors=1"):
        lines(folder, **given, on_error="skip", max_errors=1).next()


def test_the_tail_is_filled_with_the_epochs_first_rows(folder):
    """MXNet leaves rows of the batch before in it, here 4 and 5."""
    for _ in range(2):
        *_, tail = labelled(folder, round_batch=False)
        assert (tail.data[0][:, 0] / 6).tolist() == [6, 0, 1] and tail.label[0].tolist() == [60, 0, 10]
        assert tail.pad == 2 and tail.index.tolist() == [6, 0, 1]


# ---- empty lines ----


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n\r\n", "\n\r\n\n", "\n\n\n\n\n\n", "\n\r"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_empty_lines_at_the_end_are_no_rows(tmp_path, end, on_error):
    (tmp_path / "data.csv").write_bytes(b"1\n2\n3" + end.encode())
    (tmp_path / "label.csv").write_bytes(b"\xef\xbb\xbf7\n8\n9\n\n")
    given = {"data_csv": tmp_path / "data.csv", "data_shape": (1,), "batch_size": 2, "on_error": on_error}
    for labels, expected in (({}, [0, 0, 0]), ({"label_csv": tmp_path / "label.csv"}, [7, 8, 9])):
        iterator = mx.io.CSVIter(**given, **labels)
        batches = [(batch.data[0][:, 0].tolist(), batch.label[0].tolist(), batch.pad) for batch in iterator]
        assert batches == [([1, 2], expected[:2], 0), ([3, 1], [expected[2], expected[0]], 1)]
        assert "left out" not in iterator.explain()


def test_each_file_may_end_with_empty_lines(tmp_path):
    (tmp_path / "data").mkdir()
    for name, text in (("a", "1\n\n"), ("b", ""), ("c", "\n\n"), ("d;[x]", "2\n3"), ("e", "4\n\n\n"), ("f", "5\n")):
        (tmp_path / "data" / f"{name}.csv").write_text(text)
    (tmp_path / "label.csv").write_text("1\n2\n3\n4\n5\n")
    given = {"data_csv": tmp_path / "data", "data_shape": (1,), "batch_size": 6, "round_batch": False}
    for labels in ({}, {"label_csv": tmp_path / "label.csv"}):
        (batch,) = mx.io.CSVIter(**given, **labels)
        assert batch.data[0][:, 0].tolist() == [1, 2, 3, 4, 5, 1] and batch.index.tolist() == [0, 1, 2, 3, 4, 0]
        assert not labels or batch.label[0].tolist() == [1, 2, 3, 4, 5, 1]


def test_an_empty_line_before_the_end_is_an_error(tmp_path):
    (tmp_path / "data.csv").write_text("1\n\n2\n")
    given = {"data_csv": tmp_path / "data.csv", "data_shape": (1,), "batch_size": 2}
    iterator = mx.io.CSVIter(**given)
    for _ in range(2):
        with pytest.raises(
            hr.DataError, match=r"is empty; fill it in, or remove the line(.|\n)*data\.csv, byte 2"
        ) as raised:
            iterator.next()
        assert "missing" not in str(raised.value) and raised.value.file.endswith("data.csv, byte 2")
    skipping = mx.io.CSVIter(**given, on_error="skip")
    assert skipping.next().data[0].tolist() == [[1], [2]]
    assert "is empty; fill it in, or remove the line" in skipping.explain() and "missing" not in skipping.explain()


def test_a_semicolon_at_the_end_names_nothing(tmp_path):
    (tmp_path / "data.csv").write_text("1,2\n3,4\n")
    iterator = mx.io.CSVIter(data_csv=f"{tmp_path}/data.csv;", data_shape=(2,), batch_size=2)
    assert iterator.next().data[0].tolist() == [[1, 2], [3, 4]]


def test_a_line_of_names_is_told_to_be_none(tmp_path):
    given = {"data_csv": tmp_path / "data.csv", "data_shape": (2,), "batch_size": 1}
    for text, is_header in (("a,b\n1,2\n", True), ("1,2\n3,x\n", False)):
        (tmp_path / "data.csv").write_text(text)
        with pytest.raises(hr.DataError, match="column's type is float32") as raised:
            next_batches(mx.io.CSVIter(**given), 2, lambda batch: batch.pad)
        assert ("; if it is a line of names, remove it" in str(raised.value)) == is_header


def test_empty_lines_between_lines_of_several_fields_are_no_rows(tmp_path):
    (tmp_path / "data.csv").write_bytes(b"\xef\xbb\xbf\r\n1,2\n\n3,4\r\n\r\n\n5,6")
    (tmp_path / "label.csv").write_text("7\n8\n9\n")
    given = {"data_csv": tmp_path / "data.csv", "data_shape": (2,), "batch_size": 2}
    for labels, expected in (({}, [0, 0, 0]), ({"label_csv": tmp_path / "label.csv"}, [7, 8, 9])):
        batches = [(batch.data[0].tolist(), batch.label[0].tolist()) for batch in mx.io.CSVIter(**given, **labels)]
        assert batches == [([[1, 2], [3, 4]], expected[:2]), ([[5, 6], [1, 2]], [expected[2], expected[0]])]


def test_lines_are_counted_as_they_are_read(tmp_path):
    longer = b"1,2\n" * 600_000
    for number, text in enumerate(
        (b"", b"\n", b"1", b"1\n", b"1\r\n", b"1\r2\n", b"\n1", b"\n\n1\n", longer, longer + b"3")
    ):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(text)
        expected = 0 if text == b"\n" else sum(len(batch["line"]) for batch in hr.Text(path).batch(65536))
        assert CsvFiles([str(path)], None, "CSVIter").lines() == expected, text[-10:]


def test_each_file_is_counted_once(tmp_path, monkeypatch):
    counted = []
    monkeypatch.setattr(csv_files, "_count", lambda path, count=csv_files._count: counted.append(path) or count(path))
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for path, text in zip(paths, (b"1\n2\n\n", b"3\n"), strict=True):
        pathlib.Path(path).write_bytes(text)
    files = CsvFiles(paths, None, "CSVIter")
    assert [row["x"].item() for row in files.rows("x", "int64", 1)] == [1, 2, 3]
    assert files.lines() == files.lines() == 3
    assert counted == paths


def test_bytes_that_are_no_text_fail_in_their_line(folder, tmp_path):
    text = (folder / "data.csv").read_bytes().splitlines()
    text[2] = b"1,2,\xff,4,5,6"
    (tmp_path / "data.csv").write_bytes(b"\n".join(text) + b"\n")
    given = {"data_csv": tmp_path / "data.csv", "label_csv": folder / "label.csv", "batch_size": 6}
    with pytest.raises(hr.DataError, match=r"data\.csv"):
        lines(folder, **given).next()
    assert lines(folder, **given, on_error="skip").next().label[0].tolist() == [0, 10, 30, 40, 50, 60]


def test_a_budget_is_checked_before_lines_are_counted(folder, monkeypatch):
    monkeypatch.setattr(CsvFiles, "lines", lambda files: pytest.fail("counted the lines"))
    with pytest.raises(hr.GraphError, match="memory is '1 parsec'"):
        labelled(folder, memory="1 parsec")


def test_there_is_a_label_for_each_line(folder, tmp_path):
    for count in (ROWS - 1, ROWS + 2):
        np.savetxt(tmp_path / "label.csv", np.arange(count), fmt="%d")
        with pytest.raises(hr.DataError, match=f"data_csv has 7 lines, and label_csv has {count}; they must be equal"):
            lines(folder, label_csv=tmp_path / "label.csv")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data_shape": ()}, r"data_shape is \(\); it must be a shape"),
        ({"data_shape": (0,)}, "data_shape is 0"),
        ({"label_shape": "2"}, "label_shape"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"dtype": "float64"}, "dtype is 'float64'"),
        ({"round_batch": 2}, "round_batch is 2"),
        ({"on_error": "ignore"}, "on_error is 'ignore'"),
        ({"prefetch_buffer": 0}, "prefetch_buffer is 0"),
        ({"data_csv": []}, r"data_csv is \[\]; it must be a path"),
        ({"data_csv": [3]}, "data_csv has 3, not a path"),
        ({"batch_size": 8}, "7 rows, fewer than batch_size=8.*round_batch=False"),
    ],
)
@pytest.mark.parametrize("make", [lines, labelled])
def test_what_cannot_be_is_refused(folder, make, given, message):
    with pytest.raises(hr.GraphError, match=message):
        make(folder, **given).next()


def test_a_label_shape_is_for_labels(folder):
    with pytest.raises(hr.GraphError, match=r"label_shape is \(2,\), and has no effect without label_csv"):
        lines(folder, label_shape=(2,))


def test_a_file_without_rows_is_named(folder, tmp_path):
    (tmp_path / "none.csv").touch()
    (tmp_path / "lines.csv").write_text("\n\n")
    for name in ("none", "lines"):
        with pytest.raises(
            hr.GraphError, match=rf"CSVIter: data_csv='.*{name}\.csv' gives no rows, and round_batch=True"
        ):
            lines(folder, data_csv=str(tmp_path / f"{name}.csv")).next()


def test_missing_files_and_unknown_names(folder):
    with pytest.raises(hr.NotFoundError, match=r"none\.csv"):
        lines(folder, data_csv="none.csv")
    with pytest.raises(hr.NotFoundError, match=r"none\.csv"):
        lines(folder, label_csv="none.csv")
    with pytest.raises(TypeError, match="shuffle"):
        lines(folder, shuffle=True)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"ctx": mx.gpu(1)}, r"ctx=gpu\(1\)"),
        ({"device_id": 2}, "device_id=2"),
        ({"prefetch_buffer": 2}, "prefetch_buffer=2: the memory budget"),
        ({"memory": "64MiB"}, "64.0 MiB"),
    ],
)
def test_what_changes_no_value_is_explained(folder, given, shown):
    iterator, plain = lines(folder, **given), lines(folder)
    assert np.array_equal(iterator.next().data[0], plain.next().data[0])
    assert re.search(shown, iterator.explain()) and not re.search(shown, plain.explain())


def test_no_python_runs_for_a_row(tmp_path):
    np.savetxt(tmp_path / "many.csv", np.arange(1200).reshape(400, 3), delimiter=",", fmt="%d")

    def calls(batch_size, **given):
        path = str(tmp_path / "many.csv")
        return python_calls(mx.io.CSVIter(data_csv=path, data_shape=(3,), batch_size=batch_size, **given))

    for given in ({}, {"label_csv": str(tmp_path / "many.csv"), "label_shape": (3,)}, {"round_batch": False}):
        assert calls(100, **given) < calls(2, **given) + 30


# ---- MXNet's own ----


@needs_mxnet
def test_batches_equal_mxnets(folder, tmp_path):
    values = np.random.default_rng(0).normal(0, 100, (ROWS, 6))
    np.savetxt(tmp_path / "values.csv", values, delimiter=",", fmt="%.3f")
    base = {"data_csv": str(folder / "data.csv"), "data_shape": [6], "batch_size": 3}
    one = {"label_csv": str(folder / "label.csv")}
    two = {"label_csv": str(folder / "two.csv"), "label_shape": [2]}
    cases = [
        ("CSVIter", {**base, **given}, 4)
        for given in (
            {}, one, two, {**two, "dtype": "int32"}, {**one, "dtype": "int64"}, {"data_shape": [2, 3], "batch_size": 7},
            {"data_shape": [1, 2, 3], "batch_size": 1}, {"data_csv": str(tmp_path / "values.csv")},
            {"data_name": "x", "label_name": "y"}, {"batch_size": 5, **one},
        )
    ]  # fmt: skip
    for theirs, (_, given, _) in zip(run_mxnet(tmp_path, cases), cases, strict=True):
        ours = run_ours(mx.io.CSVIter(**given), 4)
        assert ours.described == theirs.described, given
        for mine, other in zip(ours.epochs, theirs.epochs, strict=True):
            for (data, label, pad), (their_data, their_label, their_pad) in zip(mine, other, strict=True):
                assert data.dtype == their_data.dtype and pad == their_pad
                assert np.array_equal(label, their_label), given
                np.testing.assert_array_almost_equal_nulp(*(each.astype(np.float32) for each in (data, their_data)), 1)
