"""headrace.mx.io.LibSVMIter: its batches, epochs and parameters, and what MXNet 1.9.1 gives."""

import pickle
import re
import sys
import types

import numpy as np
import pytest

import headrace as hr
import headrace.mx as mx
from tests.mx_batches import next_batches, python_calls
from tests.mxnet_reference import needs_mxnet, run_mxnet, run_ours

ROWS = 7
WIDE = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`data.t`: seven lines of up to three features, whose labels are their numbers; `label.t`: likewise, other values."""
    folder = tmp_path_factory.mktemp("lib_svm")
    for name, factor in (("data", 1), ("label", -10)):
        lines = (f"{i}{''.join(f' {k}:{factor * (i + k / 4)}' for k in range(i % 4))}\n" for i in range(ROWS))
        (folder / f"{name}.t").write_text("".join(lines))
    return folder


def matrix(rows, factor=1):
    """What these lines of `data.t` hold."""
    return [[factor * (i + k / 4) if k < i % 4 else 0 for k in range(WIDE)] for i in rows]


def lines(folder, **given):
    return mx.io.LibSVMIter(**{"data_libsvm": folder / "data.t", "data_shape": (WIDE,), "batch_size": 3, **given})


def labelled(folder, **given):
    return lines(folder, **{"label_libsvm": folder / "label.t", "label_shape": (WIDE,), **given})


def tell(batch):
    label = batch.label[0].asnumpy().tolist()
    index = None if batch.index is None else batch.index.tolist()
    return batch.data[0].asnumpy().tolist(), label, batch.pad, index


def epochs_of(iterator, count=3):
    """Row numbers and pad of each batch."""
    given = []
    for _ in range(count):
        given.append([(batch.label[0].tolist(), batch.pad) for batch in iterator])
        iterator.reset()
    return given


# ---- what a script of MXNet gets ----


def test_the_documentations_numbers(tmp_path):
    (tmp_path / "data.t").write_text("1.0 0:0.5 2:1.2\n-2.0\n-3.0 0:0.6 1:2.4 2:1.2\n4 2:-1.2\n")
    iterator = mx.io.LibSVMIter(data_libsvm=str(tmp_path / "data.t"), data_shape=(3,), batch_size=3)
    first, second = iterator
    csr = first.data[0]
    assert csr.data.tolist() == np.float32([0.5, 1.2, 0.6, 2.4, 1.2]).tolist()
    assert csr.indices.tolist() == [0, 2, 0, 1, 2] and csr.indptr.tolist() == [0, 2, 2, 5]
    assert (csr.shape, len(csr), csr.stype, csr.dtype, csr.context) == ((3, 3), 3, "csr", np.float32, mx.cpu())
    assert csr.indices.dtype == csr.indptr.dtype == np.int64 and isinstance(csr.data, mx.nd.NDArray)
    assert np.array_equal(csr.asnumpy(), np.float32([[0.5, 0, 1.2], [0, 0, 0], [0.6, 2.4, 1.2]]))
    assert first.label[0].tolist() == [1, -2, -3] and (first.pad, first.index.tolist()) == (0, [0, 1, 2])
    assert np.array_equal(second.data[0].asnumpy(), np.float32([[0, 0, -1.2], [0.5, 0, 1.2], [0, 0, 0]]))
    assert second.label[0].tolist() == [4, 1, -2] and second.pad == 2


def test_an_array_is_scipys(folder, monkeypatch):
    """Without SciPy, what it is given."""
    given = {}

    def csr_matrix(parts, **more):
        given.update(parts=parts, **more)
        return "made"

    module = types.SimpleNamespace(csr_matrix=csr_matrix)
    monkeypatch.setitem(sys.modules, "scipy", types.SimpleNamespace(sparse=module))
    monkeypatch.setitem(sys.modules, "scipy.sparse", module)
    csr = lines(folder).next().data[0]
    assert csr.asscipy() == "made" and given["shape"] == (3, WIDE)
    for part, own in zip(given["parts"], (csr.data, csr.indices, csr.indptr), strict=True):
        assert type(part) is np.ndarray and np.shares_memory(part, own)


def test_an_array_is_used_as_mxnets(folder):
    csr = lines(folder).next().data[0]
    csr.wait_to_read()
    assert csr.as_in_context(mx.gpu(0)) is csr and repr(csr) == f"<CSRNDArray 3x{WIDE} @cpu(0)>"
    assert isinstance(csr, mx.nd.sparse.CSRNDArray) and csr.ctx == mx.cpu()


@pytest.mark.parametrize("make", [lines, labelled])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize("round_batch", [True, False])
def test_epochs_follow_each_other_or_begin_at_the_first_row(folder, make, on_error, round_batch):
    def expected(*batches):
        told = []
        for rows, pad in batches:
            label = matrix(rows, -10) if make is labelled else [*map(float, rows)]
            told.append((matrix(rows), label, pad, [*rows]))
        return told

    iterator = make(folder, on_error=on_error, round_batch=round_batch)
    assert iterator.provide_data == [("data", (3, WIDE))]
    assert iterator.provide_label == [("softmax_label", (3, WIDE) if make is labelled else (3,))]
    epochs = []
    for _ in range(3):
        epochs.append([tell(batch) for batch in iterator])
        iterator.reset()
    padded = expected(((0, 1, 2), 0), ((3, 4, 5), 0), ((6, 0, 1), 2))
    rounds = [padded, expected(((2, 3, 4), 0), ((5, 6, 0), 1)), expected(((1, 2, 3), 0), ((4, 5, 6), 0))]
    assert epochs == (rounds if round_batch else [padded] * 3)


def test_the_tail_is_filled_with_rows_of_any_width(tmp_path):
    """Rows of the epoch's last batch have more features than those of the first one, or fewer."""
    for name, widths in (("more", (1, 0, 4)), ("fewer", (4, 2, 1))):
        path = tmp_path / f"{name}.t"
        path.write_text("".join(f"{i}{''.join(f' {k}:{i + 1}' for k in range(w))}\n" for i, w in enumerate(widths)))
        *_, tail = mx.io.LibSVMIter(data_libsvm=path, data_shape=4, batch_size=2, round_batch=False)
        dense = [[i + 1 if k < widths[i] else 0 for k in range(4)] for i in (2, 0)]
        assert tail.data[0].asnumpy().tolist() == dense and tail.pad == 1


def test_rows_may_have_no_features(tmp_path):
    (tmp_path / "data.t").write_text("1\n2\n3\n")
    batch = mx.io.LibSVMIter(data_libsvm=tmp_path / "data.t", data_shape=(9,), batch_size=3).next()
    csr = batch.data[0]
    assert len(csr.data) == len(csr.indices) == 0 and csr.indptr.tolist() == [0, 0, 0, 0]
    assert csr.asnumpy().tolist() == [[0] * 9] * 3 and batch.label[0].tolist() == [1, 2, 3]


def test_files_are_a_list_a_folder_or_semicolons(tmp_path):
    (tmp_path / "data[1]").mkdir()
    several = [str(tmp_path / "data[1]" / f"{number}.t") for number in range(2)]
    for number, path in enumerate(several):
        with open(path, "w") as file:
            file.write(f"{number} 0:1\n\n# none\n{number}.5\n")
    for given in (several, ";".join(several), str(tmp_path / "data[1]"), tmp_path / "data[1]"):
        iterator = mx.io.LibSVMIter(data_libsvm=given, data_shape=(1,), batch_size=4)
        assert iterator.next().label[0].tolist() == [0, 0.5, 1, 1.5]


def test_names_are_those_given(folder):
    iterator = lines(folder, data_name="x", label_name="y")
    assert iterator.provide_data[0].name == "x" and iterator.provide_label[0].name == "y"
    assert epochs_of(lines(folder, label_libsvm="NULL")) == epochs_of(lines(folder))


# ---- parts ----


@pytest.mark.parametrize(
    "parts, round_batch", [(1, True), (2, True), (3, True), (1, False), (2, False), (3, False), (8, False)]
)
def test_parts_have_each_row_once(folder, parts, round_batch):
    for make in (lines, labelled):
        seen = []
        for part in range(parts):
            given = {"num_parts": parts, "part_index": part, "round_batch": round_batch, "batch_size": 1}
            batches = [tell(batch) for batch in make(folder, **given)]
            assert [batch[2] for batch in batches] == [0] * len(batches)
            if make is labelled:
                assert [batch[3][0] for batch in batches] == [*range(ROWS)][len(seen) : len(seen) + -(-ROWS // parts)]
            seen += [batch[:2] for batch in batches]
        assert [data for data, _ in seen] == [[row] for row in matrix(range(ROWS))]
        if make is labelled:
            assert [label for _, label in seen] == [[row] for row in matrix(range(ROWS), -10)]


def test_a_part_has_its_own_epochs(folder):
    given = {"num_parts": 2, "part_index": 1, "batch_size": 2}
    (rows,) = epochs_of(lines(folder, **given, round_batch=False), 1)
    numbers = [label for labels, pad in rows for label in labels[: 2 - pad]]
    assert 0 < len(numbers) < ROWS
    through = [label for epoch in epochs_of(lines(folder, **given), 2) for labels, _ in epoch for label in labels]
    assert through == (numbers * len(through))[: len(through)]
    assert lines(folder, **given).next().index is None


def test_rows_left_out_of_a_part_cannot_be_counted(folder):
    with pytest.raises(hr.UnsupportedError, match="give round_batch=False"):
        lines(folder, num_parts=2, on_error="skip")
    assert len([*lines(folder, num_parts=2, on_error="skip", round_batch=False)]) > 0


# ---- states, errors ----


@pytest.mark.parametrize("make", [lines, labelled])
@pytest.mark.parametrize("given", [{}, {"round_batch": False}, {"num_parts": 2, "part_index": 0}])
def test_a_state_goes_on_with_the_next_batch(folder, make, given):
    whole = next_batches(make(folder, **given), 9, tell)
    for before in range(8):
        iterator = make(folder, **given)
        next_batches(iterator, before, tell)
        state = pickle.loads(pickle.dumps(iterator.state()))
        again = make(folder, **given, state=state)
        assert next_batches(again, 9 - before, tell) == whole[before:], before


def test_features_that_count_from_1_are_told_their_shape(tmp_path):
    for last, advised in ((5, True), (6, False)):
        (tmp_path / "data.t").write_text(f"1 1:1 {last}:2\n")
        given = {"data_libsvm": tmp_path / "data.t", "data_shape": (5,), "batch_size": 1}
        with pytest.raises(hr.DataError, match=f"has the index {last}; indices are 0 to 4") as raised:
            mx.io.LibSVMIter(**given).next()
        assert ("if the file counts from 1, 5 features need a shape of (6,)" in str(raised.value)) == advised
    assert mx.io.LibSVMIter(**{**given, "data_shape": (7,)}).next().data[0].shape == (1, 7)


def test_lines_that_fail_are_named_or_left_out_with_their_labels(folder, tmp_path):
    text = (folder / "data.t").read_text().splitlines()
    text[1], text[4] = "1 0:1 9:2", "x"
    (tmp_path / "data.t").write_text("\n".join(text) + "\n")
    given = {"data_libsvm": tmp_path / "data.t", "batch_size": 5}
    for make in (lines, labelled):
        with pytest.raises(
            hr.DataError, match=r"field 3 has the index 9; indices are 0 to 4(.|\n)*data\.t, byte 2"
        ) as raised:
            make(folder, **given).next()
        assert raised.value.file.endswith("data.t, byte 2")
        skipping = make(folder, **given, on_error="skip")
        batch = skipping.next()
        assert batch.index.tolist() == [0, 2, 3, 5, 6] and batch.data[0].asnumpy().tolist() == matrix([0, 2, 3, 5, 6])
        if make is labelled:
            assert batch.label[0].asnumpy().tolist() == matrix([0, 2, 3, 5, 6], -10)
        assert "data.t" in skipping.explain()
        with pytest.raises(hr.DataError, match="max_errors=1"):
            make(folder, **given, on_error="skip", max_errors=1).next()


def test_there_is_a_label_for_each_line(folder, tmp_path):
    for count in (ROWS - 1, ROWS + 2):
        (tmp_path / "label.t").write_text("# none\n" + "1 0:1\n" * count)
        with pytest.raises(hr.DataError, match=f"data_libsvm has 7 lines, and label_libsvm has {count}; they must be"):
            labelled(folder, label_libsvm=tmp_path / "label.t")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data_shape": ()}, r"data_shape is \(\); it must be \(features,\)"),
        ({"data_shape": (3, 4)}, r"data_shape is \(3, 4\); it must be \(features,\)"),
        ({"data_shape": (0,)}, "data_shape is 0"),
        ({"label_shape": (2, 2)}, "label_shape is"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"dtype": "float64"}, "dtype is 'float64'"),
        ({"round_batch": 2}, "round_batch is 2"),
        ({"on_error": "ignore"}, "on_error is 'ignore'"),
        ({"prefetch_buffer": 0}, "prefetch_buffer is 0"),
        ({"num_parts": 0}, "num_parts is 0"),
        ({"num_parts": 2, "part_index": 2}, "part_index is 2"),
        ({"data_libsvm": []}, r"data_libsvm is \[\]; it must be a path"),
        ({"batch_size": 8}, "7 rows, fewer than batch_size=8.*round_batch=False"),
        ({"memory": "1 parsec"}, "memory is '1 parsec'"),
        ({"state": {}}, "state is"),
    ],
)
@pytest.mark.parametrize("make", [lines, labelled])
def test_what_cannot_be_is_refused(folder, make, given, message):
    with pytest.raises(hr.Error, match=message):
        make(folder, **given).next()


def test_a_label_shape_is_for_labels(folder):
    with pytest.raises(hr.GraphError, match=r"label_shape is \(2,\), and has no effect without label_libsvm"):
        lines(folder, label_shape=(2,))
    with pytest.raises(hr.GraphError, match=r"label_shape is \(1,\); with label_libsvm it must be"):
        labelled(folder, label_shape=(1,))


def test_a_file_without_rows_is_named(folder, tmp_path):
    (tmp_path / "none.t").touch()
    with pytest.raises(hr.GraphError, match=r"LibSVMIter: data_libsvm='.*none\.t' gives no rows, and round_batch=True"):
        lines(folder, data_libsvm=str(tmp_path / "none.t")).next()


def test_missing_files_and_unknown_names(folder):
    with pytest.raises(hr.NotFoundError, match=r"none\.t"):
        lines(folder, data_libsvm="none.t")
    with pytest.raises(hr.NotFoundError, match=r"none\.t"):
        labelled(folder, label_libsvm="none.t")
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
    assert tell(iterator.next()) == tell(plain.next())
    assert re.search(shown, iterator.explain()) and not re.search(shown, plain.explain())


def test_no_python_runs_for_a_row(tmp_path):
    rows = "".join(f"{i}{''.join(f' {k}:{i}' for k in range(i % 5))}\n" for i in range(400))
    (tmp_path / "many.t").write_text(rows)

    def calls(batch_size, **given):
        many = tmp_path / "many.t"
        return python_calls(mx.io.LibSVMIter(data_libsvm=many, data_shape=(5,), batch_size=batch_size, **given))

    for given in ({}, {"label_libsvm": tmp_path / "many.t", "label_shape": (5,)}, {"round_batch": False}):
        assert calls(100, **given) < calls(2, **given) + 30


# ---- MXNet's own ----


@needs_mxnet
def test_batches_equal_mxnets(folder, tmp_path):
    random = np.random.default_rng(0)
    many = []
    for _ in range(100):
        features = sorted(random.choice(50, random.integers(0, 9), replace=False))
        many.append(f"{random.normal():.3f}{''.join(f' {k}:{random.normal():.4f}' for k in features)}\n")
    (tmp_path / "many.t").write_text("".join(many))
    (tmp_path / "odd.t").write_text(
        "1:0.5 qid:3 0:0.5 2:1.25 # c\n\n# only\n+2.0\t1:3\n-3.0  0:2.5\t1:1e1 \r\n4 2:-1.5\n"
    )
    base = {"data_libsvm": str(folder / "data.t"), "data_shape": [WIDE], "batch_size": 3}
    large = {"data_libsvm": str(tmp_path / "many.t"), "data_shape": [50]}
    sparse = {"label_libsvm": str(folder / "label.t"), "label_shape": [WIDE]}
    cases = [
        ("LibSVMIter", {**base, **given}, 4)
        for given in (
            {}, {"batch_size": 7}, {"batch_size": 5, "data_name": "x", "label_name": "y"}, sparse,
            {**large, "batch_size": 32}, {**large, "batch_size": 1},
            {"data_libsvm": str(tmp_path / "odd.t"), "batch_size": 2},
            *({**large, "batch_size": 4, "num_parts": 3, "part_index": part} for part in range(3)),
        )
    ]  # fmt: skip
    for theirs, (_, given, _) in zip(run_mxnet(tmp_path, cases), cases, strict=True):
        ours = run_ours(mx.io.LibSVMIter(**given), 4)
        assert ours.described == theirs.described, given
        for number, (mine, other) in enumerate(zip(ours.epochs, theirs.epochs, strict=True)):
            for (data, label, pad), (their_data, their_label, their_pad) in zip(mine, other, strict=True):
                assert number > 0 or pad == their_pad, given
                np.testing.assert_array_almost_equal_nulp(data, their_data, 1)
                np.testing.assert_array_almost_equal_nulp(label, their_label, 1)
