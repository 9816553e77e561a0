"""`hr.Npy` and `hr.Npz`: arrays of NumPy, read by row."""

import pathlib
import warnings

import numpy as np
import pytest

import headrace as hr

DTYPES = [
    "?",
    "i1",
    "u1",
    "<i2",
    ">i2",
    "<u2",
    "<i4",
    ">i4",
    ">u4",
    "<i8",
    ">i8",
    "<u8",
    "<f2",
    ">f2",
    "<f4",
    ">f4",
    ">f8",
]


def saved(path: pathlib.Path, array: np.ndarray) -> pathlib.Path:
    np.save(path, array)
    return path


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 1, 3)])
def test_rows_are_those_of_the_array(tmp_path, dtype, shape):
    array = np.arange(5 * int(np.prod(shape)), dtype=np.int64).reshape(5, *shape).astype(dtype)
    rows = list(hr.Npy(saved(tmp_path / "a.npy", array)))
    assert len(rows) == 5
    for row, wanted in zip(rows, array, strict=True):
        assert row["data"].dtype == wanted.dtype.newbyteorder("=") and row["data"].shape == shape
        np.testing.assert_array_equal(row["data"], wanted)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_header(tmp_path, version):
    with open(tmp_path / "a.npy", "wb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.lib.format.write_array(file, np.arange(4), version=version)
    assert [int(row["data"]) for row in hr.Npy(tmp_path / "a.npy")] == [0, 1, 2, 3]


def test_fields_of_records_are_columns(tmp_path):
    dtype = np.dtype([("id", "<i4"), ("box", ">f4", (2, 2)), ("word", "U4"), ("tag", "S3"), ("é", "?")], align=True)
    array = np.zeros(3, dtype)
    array["id"], array["word"], array["tag"] = [7, 8, 9], ["", "né", "😀abc"], [b"", b"a\0b", b"abc"]
    array["box"] = np.arange(12).reshape(3, 2, 2)
    path = saved(tmp_path / "a.npy", array)
    dataset = hr.Npy(path)
    assert list(dataset.schema) == ["id", "box", "word", "tag", "é"]
    rows = list(dataset)
    assert [str(row["word"]) for row in rows] == ["", "né", "😀abc"]
    assert [bytes(row["tag"]) for row in rows] == [b"", b"a\0b", b"abc"]
    np.testing.assert_array_equal(rows[2]["box"], array["box"][2])
    assert [list(row) for row in hr.Npy(path, ["word", "id"])][0] == ["word", "id"]


def test_files_follow_each_other(tmp_path):
    for number in range(3):
        saved(tmp_path / f"{number}.npy", np.arange(number * 10, number * 10 + 4))
    expected = [number * 10 + row for number in range(3) for row in range(4)]
    for paths in (tmp_path, tmp_path / "*.npy", [tmp_path / f"{number}.npy" for number in range(3)]):
        dataset = hr.Npy(paths)
        assert len(dataset) == 12
        assert [int(row["data"]) for row in dataset] == expected
    shuffled = [int(row["data"]) for row in hr.Npy(tmp_path, shuffle=True).iterate(seed=3)]
    assert sorted(shuffled) == expected and shuffled != expected
    saved(tmp_path / "3.npy", np.arange(3.0))
    with pytest.raises(hr.DataError, match="one dtype and row shape") as caught:
        list(hr.Npy(tmp_path))
    assert "3.npy" in str(caught.value)


def test_rows_are_chosen_sharded_and_resumed(tmp_path):
    dataset = hr.Npy(saved(tmp_path / "a.npy", np.arange(20)), shuffle=True)
    rows = [int(row["data"]) for row in dataset.iterate(seed=1)]
    halves = [[int(row["data"]) for row in dataset.iterate(seed=1, shard=(rank, 2))] for rank in range(2)]
    assert sorted(halves[0] + halves[1]) == sorted(rows)
    iterator = dataset.iterate(seed=1)
    begun = [int(next(iterator)["data"]) for _ in range(7)]
    state = iterator.state()
    iterator.close()
    assert begun + [int(row["data"]) for row in dataset.iterate(state=state)] == rows


@pytest.mark.parametrize(
    "array, reason",
    [
        (np.array([{}, 1], dtype=object), "pickled objects, which may run any code"),
        (np.asfortranarray(np.zeros((2, 3))), "ascontiguousarray"),
        (np.array(3), "no axis"),
        (np.zeros(2, complex), "convert it"),
        (np.zeros(2, "M8[s]"), "convert it"),
        (np.zeros((2, 0)), "no elements"),
        (np.zeros(2, [("a", [("b", "i4")])]), "itself a record"),
    ],
)
def test_what_has_no_rows_is_refused(tmp_path, array, reason):
    with pytest.raises(hr.DataError, match=reason) as caught:
        hr.Npy(saved(tmp_path / "a.npy", array))
    assert "a.npy" in str(caught.value) and str(caught.value).startswith("Npy: ")


def test_a_file_that_was_cut_off_or_goes_on(tmp_path):
    path = saved(tmp_path / "a.npy", np.arange(10))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(hr.DataError, match="cut off"):
        hr.Npy(path)
    path.write_bytes(whole + whole)
    with pytest.raises(hr.DataError, match="more bytes follow"):
        hr.Npy(path)
    path.write_bytes(whole)
    dataset = hr.Npy(path)
    saved(path, np.arange(10, dtype=np.int16))
    with pytest.raises(hr.DataError, match="make the pipeline again"):
        list(dataset)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_an_archive_are_columns(tmp_path, save):
    image, label = np.arange(24, dtype=np.uint8).reshape(6, 2, 2), np.arange(6, dtype=">i8")
    record = np.zeros(6, [("x", "f4"), ("y", "U2")])
    save(tmp_path / "a.npz", image=image, label=label, record=record, other=np.arange(5))
    with pytest.raises(hr.DataError, match="other.npy has 5 rows"):
        list(hr.Npz(tmp_path / "a.npz"))
    dataset = hr.Npz(tmp_path / "a.npz", ["label", "record.y", "image"])
    rows = list(dataset)
    assert len(dataset) == 6 and list(rows[0]) == ["label", "record.y", "image"]
    np.testing.assert_array_equal([row["image"] for row in rows], image)
    np.testing.assert_array_equal([row["label"] for row in rows], label)
    said = r'Npz: no column "lable"; did you mean "label"\? \(arrays: image, label, record, other\)'
    for columns in (["lable"], ["image", "lable"]):
        with pytest.raises(hr.GraphError, match=said):
            hr.Npz(tmp_path / "a.npz", columns)


def test_a_member_that_is_refused_may_be_left_out(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3), y=np.array([{}, 1, 2], dtype=object))
    with pytest.raises(hr.DataError, match="member y.npy: .*pickled objects"):
        hr.Npz(tmp_path / "a.npz")
    assert [int(row["x"]) for row in hr.Npz(tmp_path / "a.npz", ["x"])] == [0, 1, 2]


def test_a_compressed_member_has_a_checksum(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.random.default_rng(0).integers(0, 255, 300, dtype=np.uint8))
    dataset = hr.Npz(path)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(hr.DataError, match="member x.npy"):
        list(dataset)
