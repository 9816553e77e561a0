"""`headrace inspect`, `verify` and `unpack` over files of every format, good and damaged."""

import gzip
import json
import pathlib
import tracemalloc

import numpy as np
import pytest

import headrace as hr
from headrace.__main__ import main
from headrace._formats import row_files
from tests import small_sets
from tests.tfrecord_bytes import example, frame

OTHERS = [name for name in small_sets.WRITERS if name != "recordio"]


@pytest.fixture
def sets(tmp_path) -> dict[str, pathlib.Path]:
    return small_sets.write_all(tmp_path)


def examples(*numbers: int) -> bytes:
    return b"".join(frame(example({"n": ("int64", [number])})) for number in numbers)


def inspected(capsys: pytest.CaptureFixture[str], path: object) -> list[str]:
    assert main(["inspect", str(path)]) == 0
    return capsys.readouterr().out.splitlines()


# ---- inspect ----


@pytest.mark.parametrize("name", OTHERS)
def test_inspect_shows_rows_columns_and_images(sets, capsys, name):
    first, call, *columns, damage = inspected(capsys, sets[name])
    size = sets[name].stat().st_size
    assert first.startswith(f"{sets[name]}: ") and first.endswith(f", 7 rows, {size:,} bytes")
    assert call.startswith("read it with hr.")
    found = {line.split()[0]: line for line in columns}
    assert list(found) == list(hr.open(sets[name]).schema)
    assert "images: 7 PNG, width 5 to 5, height 4 to 10" in found["image"]
    assert "0 to 3; 7 different" in found["label"] and "3 to 9; 7 different" in found["id"]
    assert damage == "damage: none"


@pytest.mark.parametrize("name", OTHERS)
def test_the_call_that_inspect_shows_gives_the_rows(sets, capsys, name):
    call = inspected(capsys, sets[name])[1].removeprefix("read it with ")
    assert small_sets.rows_of(eval(call, {"hr": hr})) == small_sets.rows_of(small_sets.images())


def test_inspect_shows_texts_arrays_and_bytes(tmp_path, capsys):
    rows = hr.Numpy(
        {"t": ["weir", "mill\x1b"], "x.npy": np.arange(6.0).reshape(2, 3), "b": small_sets.column([b"12\xff", b"a"])}
    )
    rows.zip(hr.Numpy({"n": [-(1 << 62), 5]})).write_tar(tmp_path / "a.tar")
    said = "\n".join(inspected(capsys, tmp_path / "a.tar"))
    assert "x.npy  float64 (3,); 0 to 5" in said and "b      bytes; 1 to 3 bytes" in said
    assert "n      int64; -4,611,686,018,427,387,904 to 5; 2 different" in said
    assert "\x1b" not in said


def test_inspect_leaves_out_what_is_no_number(tmp_path, capsys):
    nan = float("nan")
    hr.Numpy(
        {"x": np.float32([nan, 2, nan, 1]), "y": np.array([[nan, 3], [4, 5], [nan, nan], [6, 7]])}
    ).write_mindrecord(tmp_path / "a.mindrecord")
    said = inspected(capsys, tmp_path / "a.mindrecord")
    assert "  x  float32; 1 to 2; 2 different" in said
    assert "  y  float64 (2,); 3 to 7" in said


def test_inspect_names_classes(tmp_path, capsys):
    for number in range(6):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}/a.png").write_bytes(small_sets.PICTURES[number])
    said = "\n".join(inspected(capsys, tmp_path))
    assert "label  int32; 0 to 5; 6 different; 6 classes: '0', '1', '2', '3', '4', …" in said


def test_inspect_of_several_files_and_of_compressed_ones(tmp_path, capsys):
    for number in range(3):
        (tmp_path / f"{number}.tfrecord").write_bytes(examples(number))
    assert ", 3 rows in 3 files, " in inspected(capsys, tmp_path)[0]
    path = tmp_path / "all.gz"
    path.write_bytes(gzip.compress(examples(1, 2)))
    assert f"{path}: TFRecord, compressed by gzip, 2 rows, {path.stat().st_size} bytes" in inspected(capsys, path)[0]


def test_inspect_names_damage_of_each_file_and_goes_on(tmp_path, capsys):
    good = examples(1, 2, 3)
    changed = bytearray(good)
    changed[len(examples(1)) + 14] ^= 0xFF
    (tmp_path / "a.tfrecord").write_bytes(good[:-1])
    (tmp_path / "b.tfrecord").write_bytes(changed)
    (tmp_path / "c.tfrecord").write_bytes(good)
    lines = inspected(capsys, tmp_path)
    assert ", 7 rows in 3 files, " in lines[0] and "damage: 2 places" in lines
    assert (
        f"  {tmp_path}/a.tfrecord" in lines[-2] and f"  {tmp_path}/b.tfrecord, byte {len(examples(1))}: " in lines[-1]
    )


def test_inspect_draws_a_sheet(sets, tmp_path, capsys):
    sheet = tmp_path / "sheet.png"
    assert main(["inspect", str(sets["tfrecord"]), "--sheet", str(sheet), "--pictures", "4"]) == 0
    assert f"{sheet}: 4 images" in capsys.readouterr().out and sheet.read_bytes()[1:4] == b"PNG"


# ---- verify ----


@pytest.mark.parametrize("name", OTHERS)
def test_verify_decodes_every_image(sets, capsys, name):
    assert main(["verify", str(sets[name])]) == 0
    assert "7 good rows, 7 images decoded: nothing wrong" in capsys.readouterr().out


@pytest.mark.parametrize("name", OTHERS)
def test_verify_names_an_image_that_cannot_be_decoded(tmp_path, capsys, name):
    ending, write = small_sets.WRITERS[name]
    images = [*small_sets.PICTURES[:2], small_sets.PICTURES[2][:-40], b"no image"]
    path = tmp_path / f"set{ending}"
    write(hr.Numpy({"image": small_sets.column(images), "n": np.arange(4)}), path)
    assert main(["verify", str(path)]) == 1
    *faults, last = capsys.readouterr().out.splitlines()
    assert len(faults) == 2 and all(str(path) in each for each in faults)
    assert last.endswith("2 good rows, 2 images decoded: 2 faults")
    assert main(["verify", str(path), "--raw"]) == 0


@pytest.mark.parametrize("name", OTHERS)
def test_verify_says_where_a_file_is_cut(sets, capsys, name):
    cut = {"mindrecord": 20_000, "tfrecord": 20, "tar": 2000}[name]
    sets[name].write_bytes(sets[name].read_bytes()[:-cut])
    assert main(["verify", str(sets[name])]) == 1
    captured = capsys.readouterr()
    assert str(sets[name]) in captured.out + captured.err
    if name != "mindrecord":  # Its pages are checked before a row is given.
        assert captured.out.splitlines()[-1].endswith(" images decoded: 1 fault")


# ---- unpack ----


@pytest.mark.parametrize("name", OTHERS)
def test_unpack_writes_images_and_a_list(sets, tmp_path, capsys, name):
    folder = tmp_path / "out"
    assert main(["unpack", str(sets[name]), str(folder)]) == 0
    assert f"{folder}: 7 files of 7 rows, listed in {folder}/metadata.jsonl" in capsys.readouterr().out
    lines = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    assert [line["file_name"] for line in lines] == [f"{number:08}.png" for number in range(7)]
    assert [(folder / line["file_name"]).read_bytes() for line in lines] == small_sets.PICTURES
    assert [(line["label"], line["id"]) for line in lines] == [(number / 2, number + 3) for number in range(7)]


def test_unpack_of_several_columns_of_bytes(tmp_path, capsys):
    rows = hr.Numpy({"jpg": small_sets.column([b"a"]), "../m": small_sets.column([b"b"]), "x": np.ones((1, 2))})
    rows.rename({"../m": "m.seg"}).rename({"x": "x.npy"}).write_tar(tmp_path / "a.tar")
    assert main(["unpack", str(tmp_path / "a.tar"), str(tmp_path / "out")]) == 0
    assert "out: 2 files of 1 row, listed in " in capsys.readouterr().out
    (line,) = (tmp_path / "out/metadata.jsonl").read_text().splitlines()
    names = {"jpg_file_name": "00000000.jpg.bin", "m.seg_file_name": "00000000.m_seg.bin"}
    assert json.loads(line) == names | {"x.npy": [1.0, 1.0]}
    assert (tmp_path / "out/00000000.m_seg.bin").read_bytes() == b"b"


def test_unpack_keeps_no_lines_in_memory(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"n": n, "text": "x" * 10_000}) + "\n" for n in range(3000)))
    tracemalloc.start()
    try:
        assert main(["unpack", str(tmp_path / "a.jsonl"), str(tmp_path / "out")]) == 0
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()
    assert (tmp_path / "out/metadata.jsonl").read_text() == (tmp_path / "a.jsonl").read_text()


def test_unpack_leaves_no_list_of_some_rows(sets, tmp_path, monkeypatch):
    ending = row_files.file_ending

    def failing(value):
        if bytes(value) == small_sets.PICTURES[3]:
            raise hr.ResourceError("no space")
        return ending(value)

    monkeypatch.setattr(row_files, "file_ending", failing)
    assert main(["unpack", str(sets["tar"]), str(tmp_path / "out")]) == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{n:08}.png" for n in range(3)]


def test_unpack_goes_on_after_damage_and_ends_with_1(tmp_path, capsys):
    (tmp_path / "a.tfrecord").write_bytes(examples(1, 2)[:-1])
    assert main(["unpack", str(tmp_path / "a.tfrecord"), str(tmp_path / "out")]) == 1
    assert str(tmp_path / "a.tfrecord") in capsys.readouterr().err
    assert (tmp_path / "out/metadata.jsonl").read_text() == '{"n": 1}\n'


def test_unpack_refuses_a_folder_with_files_and_raw(sets, tmp_path, capsys):
    assert main(["unpack", str(sets["tar"]), str(tmp_path)]) == 1
    assert "is not empty; unpack into a new folder" in capsys.readouterr().err
    assert main(["unpack", str(sets["tar"]), str(tmp_path / "out"), "--raw"]) == 1
    assert "--raw is for records of RecordIO, and this is tar" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["inspect", "verify", "unpack"])
def test_what_no_source_reads_is_named(tmp_path, capsys, command):
    (tmp_path / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert main([command, str(tmp_path / "a.h5"), *([str(tmp_path / "out")] if command == "unpack" else [])]) == 1
    assert f"{command}: {tmp_path}/a.h5 is HDF5: read it with h5py" in capsys.readouterr().err
