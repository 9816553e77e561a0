"""`hr.open` and `headrace convert` over arrays, Parquet, Arrow, MDS, LMDB and images with metadata."""

import json
import shutil

import numpy as np
import pytest
from conftest import ROOT

import headrace as hr
from headrace.__main__ import main
from headrace._formats import found_at
from tests import small_sets


def same(opened: hr.Dataset, wanted: hr.Dataset) -> None:
    assert opened.schema == wanted.schema
    for found, row in zip(opened, wanted, strict=True):
        for name in row:
            np.testing.assert_array_equal(found[name], row[name])


def inspected(capsys: pytest.CaptureFixture[str], path: object) -> str:
    assert main(["inspect", str(path)]) == 0
    return capsys.readouterr().out


# ---- arrays ----


def test_npy_files_and_folders_of_them(tmp_path, capsys):
    for number in range(2):
        np.save(tmp_path / f"{number}.npy", np.arange(6, dtype=np.int16).reshape(3, 2) + number)
    same(hr.open(tmp_path / "0.npy"), hr.Npy(tmp_path / "0.npy"))
    assert [row["data"].tolist() for row in hr.open(tmp_path)] == [[0, 1], [2, 3], [4, 5], [1, 2], [3, 4], [5, 6]]
    (tmp_path / "1.npy").rename(tmp_path / "array")
    assert len(hr.open(tmp_path / "array", shuffle=True)) == 3
    said = inspected(capsys, tmp_path / "array")
    assert "array: .npy, 3 rows, " in said and "data  int16 (2,); 1 to 6" in said


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_files(tmp_path, save):
    save(tmp_path / "a.npz", x=np.arange(3), y=np.ones((3, 2), np.float32))
    opened = hr.open(tmp_path / "a.npz")
    assert opened.schema == {"x": ("int64", ()), "y": ("float32", (2,))}
    assert [int(row["x"]) for row in opened] == [0, 1, 2]
    assert main(["convert", str(tmp_path / "a.npz"), str(tmp_path / "a.tfrecord")]) == 0
    same(hr.open(tmp_path / "a.tfrecord"), opened)
    save(tmp_path / "b.npz", x=np.arange(3))
    with pytest.raises(hr.UnsupportedError, match=r"hr\.Npz reads one"):
        hr.open(tmp_path / "*.npz")


# ---- folders with an index ----


def test_mds_folders(tmp_path, capsys):
    folder = tmp_path / "set"
    shutil.copytree(ROOT / "io/formats/mds/testdata/plain", folder)
    same(hr.open(folder), hr.Mds(folder))
    size = sum(each.stat().st_size for each in folder.iterdir())
    said = inspected(capsys, folder)
    assert "set: MDS, " in said and f" files, {size:,} bytes" in said
    (shard,) = list(folder.glob("*.mds"))[:1]
    with pytest.raises(hr.UnsupportedError, match=r"index\.json"):
        hr.open(shard)


def test_lmdb_folders_and_files(tmp_path, capsys):
    file = tmp_path / "data.mdb"
    shutil.copy(ROOT / "io/formats/lmdb/testdata/plain.mdb", file)
    same(hr.open(tmp_path), hr.Lmdb(tmp_path))
    same(hr.open(file), hr.Lmdb(file))
    assert main(["convert", str(tmp_path), str(tmp_path / "out.tfrecord")]) == 0
    same(hr.open(tmp_path / "out.tfrecord"), hr.Lmdb(tmp_path))
    assert "data.mdb: LMDB, " in inspected(capsys, file)
    (tmp_path / "out.tfrecord").unlink()
    assert inspected(capsys, tmp_path).splitlines()[0].endswith(f" rows, {file.stat().st_size:,} bytes")


# ---- images with metadata ----


def test_images_with_metadata_and_what_unpack_writes(tmp_path):
    rows = small_sets.images()
    rows.write_tfrecord(tmp_path / "a.tfrecord")
    assert main(["unpack", str(tmp_path / "a.tfrecord"), str(tmp_path / "out")]) == 0
    opened = hr.open(tmp_path / "out")
    found = [(bytes(row["data"]), float(row["label"]), int(row["id"])) for row in opened]
    assert found == small_sets.rows_of(rows)


def test_unpacked_rows_of_several_columns_of_bytes_are_opened_by_their_images(tmp_path):
    rows = hr.Numpy({"key": small_sets.column([b"k"] * small_sets.ROWS)}).zip(small_sets.images())
    rows.write_tfrecord(tmp_path / "a.tfrecord")
    assert main(["unpack", str(tmp_path / "a.tfrecord"), str(tmp_path / "out")]) == 0
    found = [(bytes(row["data"]), row["key_file_name"]) for row in hr.open(tmp_path / "out")]
    assert found == [(image, f"{number:08}.key.bin") for number, image in enumerate(small_sets.PICTURES)]


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("metadata.json", '[\n{"file_name": "a.png", "n": 3}\n]', "file_name"),
        ("metadata.csv", "n,mask_file_name,x_file_name\n3,a.bin,a.png\n", "x_file_name"),
        ("metadata.jsonl", '{"n": 3, "x_file_name": "a.bin"}\n', "x_file_name"),
        ("metadata.jsonl", "{", "file_name"),
        ("metadata.jsonl", "[1]", "file_name"),
        ("metadata.csv", "", "file_name"),
    ],
)
def test_the_column_of_images_is_found(tmp_path, name, text, column):
    (tmp_path / "a.png").write_bytes(small_sets.PICTURES[0])
    (tmp_path / name).write_text(text)
    found = found_at(tmp_path)
    assert (found.format.call, found.proposed({})) == ("hr.Manifest", {"path_column": column})
    assert found.proposed({"path_column": "p"}) == {"path_column": "p"}


# ---- Parquet and Arrow ----


def test_parquet_files_and_partitions(tmp_path, capsys):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for year in (2024, 2025):
        (tmp_path / f"year={year}").mkdir()
        parquet.write_table(pa.table({"n": [year, 1], "t": ["a", "b"]}), tmp_path / f"year={year}/a.parquet")
    assert [int(row["year"]) for row in hr.open(tmp_path)] == [2024, 2024, 2025, 2025]
    file = tmp_path / "year=2024/a.parquet"
    size = sum(each.stat().st_size for each in tmp_path.glob("*/*"))
    assert f"{tmp_path}: Parquet, 4 rows in 2 files, {size:,} bytes" in inspected(capsys, tmp_path)
    assert main(["convert", str(tmp_path), str(file), "--overwrite"]) == 1
    assert "a file that is read" in capsys.readouterr().err
    same(hr.open(file), hr.Parquet(file))
    assert f"{file}: Parquet, 2 rows, " in inspected(capsys, file)


@pytest.mark.parametrize("name", list(small_sets.WRITERS))
def test_parquet_is_converted_from_and_to(tmp_path, name):
    pytest.importorskip("pyarrow")
    path = small_sets.write_all(tmp_path)[name]
    made, back = tmp_path / "made.parquet", tmp_path / f"back{small_sets.WRITERS[name][0]}"
    assert main(["convert", str(path), str(made)]) == 0
    assert small_sets.rows_of(hr.open(made)) == small_sets.rows_of(small_sets.images())
    casts = (
        ["--cast", "label=float32"] if name == "tfrecord" and hr.open(made).schema["label"].dtype == "float64" else []
    )
    assert main(["convert", str(made), str(back), *casts]) == 0
    assert small_sets.rows_of(hr.open(back)) == small_sets.rows_of(small_sets.images())


def test_parquet_keeps_the_names_of_classes(tmp_path, photos):
    pytest.importorskip("pyarrow")
    assert main(["convert", str(photos), str(tmp_path / "p.parquet")]) == 0
    assert list(hr.open(tmp_path / "p.parquet").classes) == list(hr.ImageFolder(photos).classes)


@pytest.mark.parametrize("form", ["file", "stream"])
def test_arrow_files_and_streams(tmp_path, form):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"n": [1, 2], "t": ["a", "b"]})
    path = tmp_path / "data"
    make = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with make(str(path), table.schema) as writer:
        writer.write_table(table)
    same(hr.open(path), hr.Arrow(table))
    assert len(hr.open([path, path])) == 4


def test_the_call_for_arrow_files_gives_the_rows(tmp_path, capsys):
    feather = pytest.importorskip("pyarrow.feather")
    pa = pytest.importorskip("pyarrow")
    for name in ("a", "b"):
        feather.write_feather(pa.table({"n": [1, 2]}), tmp_path / f"{name}.feather")
    call = inspected(capsys, tmp_path).splitlines()[1].removeprefix("read it with ")
    assert len(eval(call, {"hr": hr})) == 4


def test_arrow_files_of_several_schemas_are_named(tmp_path):
    feather = pytest.importorskip("pyarrow.feather")
    pa = pytest.importorskip("pyarrow")
    feather.write_feather(pa.table({"n": [1]}), tmp_path / "a.feather")
    feather.write_feather(pa.table({"n": ["x"]}), tmp_path / "b.feather")
    with pytest.raises(hr.GraphError, match=r"b\.feather has another schema .*a\.feather \(n string; n int64\)"):
        hr.open(tmp_path)


def test_a_damaged_arrow_file_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    for damaged in (b"ARROW1\0\0" + bytes(20), b"ARROW1", b"\xff" * 60):
        (tmp_path / "a.arrow").write_bytes(damaged)
        with pytest.raises(hr.DataError, match=r"a\.arrow"):
            hr.open(tmp_path / "a.arrow")


def test_a_library_that_is_missing_says_what_to_install(tmp_path, monkeypatch):
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr("headrace._formats.entries.arrow.import_late", missing)
    (tmp_path / "a.arrow").write_bytes(b"ARROW1\0\0" + bytes(20))
    with pytest.raises(hr.UnsupportedError, match="pip install pyarrow"):
        hr.open(tmp_path / "a.arrow")


def test_an_index_json_of_others_is_no_data_set(tmp_path):
    (tmp_path / "index.json").write_text(json.dumps({"rows": 3}))
    assert len(list(hr.open(tmp_path))) == 1
