"""`headrace inspect`, `verify`, `unpack` and `index`, over good files and damaged ones."""

import io
import pathlib
import struct

import cv2
import numpy as np
import pytest
from PIL import Image

import headrace as hr
from headrace import pack
from headrace.__main__ import main
from headrace._records.encoded_header import EncodedHeader, encoded_header
from headrace.pack.unpacking import _FreeNames

MAGIC = 0xCED7230A


def frame(payload: bytes) -> bytes:
    return struct.pack("<II", MAGIC, len(payload)) + payload + bytes(-len(payload) % 4)


def image_record(key: int, label: float, image: bytes) -> bytes:
    return struct.pack("<IfQQ", 0, label, key, 0) + image


def encoded(height: int, width: int, kind: str = ".jpg") -> bytes:
    small = np.random.default_rng(height * width).integers(0, 256, (3, 4, 3), np.uint8)
    return cv2.imencode(kind, cv2.resize(small, (width, height)))[1].tobytes()


IMAGES = [encoded(30, 40), encoded(100, 70), encoded(300, 260, ".png"), encoded(30, 30)]


@pytest.fixture
def records(tmp_path) -> pathlib.Path:
    """Four images with the labels 0, 1, 0, 2.5, and their index."""
    path, lines = tmp_path / "set.rec", ""
    data = b""
    for key, (label, image) in enumerate(zip((0, 1, 0, 2.5), IMAGES, strict=True)):
        lines += f"{key}\t{len(data)}\n"
        data += frame(image_record(key, label, image))
    path.write_bytes(data)
    path.with_suffix(".idx").write_text(lines)
    return path


def offsets(path: pathlib.Path) -> list[int]:
    return [int(line.split("\t")[1]) for line in path.with_suffix(".idx").read_text().splitlines()]


def damage(path: pathlib.Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 0xFF
    path.write_bytes(data)


# ---- inspect ----


def test_inspect_shows_records_labels_and_sizes(records, capsys):
    assert main(["inspect", str(records)]) == 0
    said = capsys.readouterr().out
    assert f"4 records, {records.stat().st_size:,} bytes" in said
    assert "images: 3 JPEG, 1 PNG" in said and "labels of a record: 1 in 4" in said
    assert "first label: 3 different, 0 to 2.5; in 1 to 2 records each" in said
    assert "width: 30 to 260, median 70; height: 30 to 300, median 100" in said
    assert "damage: none" in said and "leads to every record" in said
    bars = [line for line in said.splitlines() if "█" in line]
    assert [line.split()[:4] for line in bars] == [
        ["0", "…", "31", "2"],
        ["64", "…", "127", "1"],
        ["256", "…", "319", "1"],
    ]


# A record counts only if another's head follows it, so what stands in front of a damaged head is lost with it.
def test_inspect_goes_on_behind_damage_and_names_it(records, capsys):
    first, second, third, _ = offsets(records)
    damage(records, second)
    assert main(["inspect", str(records)]) == 0
    said = capsys.readouterr().out
    assert "2 records" in said and f"damage: 1 place, {third - first:,} bytes lost" in said
    assert f"byte {first:,}: " in said and "where no record begins" in said


def test_inspect_of_records_that_are_no_images(tmp_path, capsys):
    path = tmp_path / "raw.rec"
    path.write_bytes(frame(b"hello") + frame(b""))
    assert main(["inspect", str(path)]) == 0
    said = capsys.readouterr().out
    assert "2 records" in said and "no images" in said and "headrace index" in said
    path.write_bytes(b"")
    assert main(["inspect", str(path)]) == 0
    assert "0 records" in capsys.readouterr().out


def test_a_contact_sheet_has_the_images_in_their_order(records, tmp_path, capsys):
    sheet = tmp_path / "sheet.png"
    assert main(["inspect", str(records), "--sheet", str(sheet)]) == 0
    assert f"{sheet}: 4 images" in capsys.readouterr().out
    shown = cv2.imread(str(sheet))
    assert shown.shape == (204, 204, 3)
    for number, image in enumerate(IMAGES):
        top, left = 4 + number // 2 * 100, 4 + number % 2 * 100
        square = shown[top : top + 96, left : left + 96].astype(int)
        mean = cv2.imdecode(np.frombuffer(image, np.uint8), 1)
        side = min(mean.shape[:2])
        y, x = (mean.shape[0] - side) // 2, (mean.shape[1] - side) // 2
        expected = mean[y : y + side, x : x + side].reshape(-1, 3).mean(axis=0)
        assert np.abs(square.reshape(-1, 3).mean(axis=0) - expected).max() < 6


def test_a_contact_sheet_is_from_the_whole_file(records, tmp_path, capsys):
    records.write_bytes(b"".join(frame(image_record(i, 0, IMAGES[i % 4])) for i in range(100)))
    sheet = tmp_path / "sheet.png"
    assert main(["inspect", str(records), "--sheet", str(sheet), "--pictures", "9"]) == 0
    assert "9 images" in capsys.readouterr().out and cv2.imread(str(sheet)).shape == (304, 304, 3)
    assert main(["inspect", str(records), "--sheet", str(sheet), "--pictures", "0"]) == 1
    assert "1 to" in capsys.readouterr().err


def test_a_contact_sheet_of_images_that_cannot_be_decoded_is_an_error(records, tmp_path, capsys):
    records.write_bytes(b"".join(frame(image_record(i, 0, IMAGES[i][:-200])) for i in range(4)))
    assert main(["inspect", str(records), "--sheet", str(tmp_path / "sheet.png")]) == 1
    assert "holds no image for a contact sheet" in capsys.readouterr().err


# ---- verify ----


def test_verify_finds_nothing_wrong_with_a_good_file(records, capsys):
    assert main(["verify", str(records)]) == 0
    assert "4 records, 4 images decoded" in capsys.readouterr().out


@pytest.mark.parametrize("raw", [False, True])
def test_verify_names_each_fault(records, capsys, raw):
    first, second, third, _ = offsets(records)
    damage(records, second)
    records.with_suffix(".idx").write_text(f"0\t{first}\n0\t{third}\n5\t7\nx\n")
    data = records.read_bytes() + frame(image_record(9, 0, IMAGES[0][:50]))
    records.write_bytes(data)
    assert main(["verify", str(records), *(["--raw"] if raw else [])]) == 1
    said = capsys.readouterr().out
    assert f"byte {first:,}: {third - first:,} bytes belong to no record" in said
    assert "key 0 stands there twice" in said and "key 5 leads to byte 7" in said and "line 4 is no key" in said
    assert "records are not in it" in said
    assert said.rstrip().endswith(" faults")
    cut = len(data) - len(frame(image_record(9, 0, IMAGES[0][:50])))
    assert (f"byte {cut:,}: " in said) != raw


def test_verify_names_each_image_and_the_index_where_no_image_can_be_decoded(records, capsys):
    bad = [frame(image_record(i, 0, IMAGES[i][:100])) for i in range(3)]
    records.write_bytes(b"".join(bad))
    assert main(["verify", str(records)]) == 1
    said = capsys.readouterr().out
    for offset in (0, len(bad[0]), len(bad[0] + bad[1])):
        assert f"byte {offset:,}: " in said
    assert f"{records.with_suffix('.idx')}: key 1 leads to byte" in said
    assert f"{records}: 3 records, 0 images decoded" in said


def test_verify_names_records_that_are_too_short(records, capsys):
    at = records.stat().st_size
    records.write_bytes(records.read_bytes() + frame(b"short") + frame(struct.pack("<IfQQ", 9, 0, 0, 0) + b"1234"))
    records.with_suffix(".idx").unlink()
    assert main(["verify", str(records)]) == 1
    said = capsys.readouterr().out
    assert f"byte {at:,}: the record is shorter than its header" in said and "2 faults" in said and "no index" in said


def test_one_fault_is_in_the_singular(records, capsys):
    records.write_bytes(records.read_bytes() + frame(b"short"))
    records.with_suffix(".idx").unlink()
    assert main(["verify", str(records)]) == 1
    assert capsys.readouterr().out.rstrip().endswith("no index: 1 fault")


def test_one_record_and_one_image_are_in_the_singular(tmp_path, capsys):
    (tmp_path / "one.rec").write_bytes(frame(image_record(0, 0, IMAGES[0])))
    assert main(["verify", str(tmp_path / "one.rec")]) == 0
    assert "one.rec: 1 record, 1 image decoded, no index: nothing wrong" in capsys.readouterr().out


def test_missing_files_are_named(tmp_path, capsys):
    for command in ("inspect", "verify", "index"):
        assert main([command, str(tmp_path / "none.rec")]) == 1
        assert "none.rec" in capsys.readouterr().err
    assert main(["unpack", str(tmp_path / "none.rec"), str(tmp_path / "out")]) == 1


def test_a_pattern_is_no_file_of_records(tmp_path, capsys):
    hr.Numpy({"image": np.array(IMAGES, object), "label": np.zeros(len(IMAGES), np.float32)}).write_records(
        tmp_path / "a.rec", files=2
    )
    pattern = str(tmp_path / "a-*.rec")
    assert main(["inspect", pattern]) == 0
    assert ", 4 rows in 2 files, " in capsys.readouterr().out
    assert main(["verify", pattern]) == 0
    assert "4 good rows, 4 images decoded: nothing wrong" in capsys.readouterr().out
    assert main(["unpack", pattern, str(tmp_path / "out")]) == 0
    assert main(["inspect", str(tmp_path / "none-*.rec")]) == 1
    assert "nothing matches" in capsys.readouterr().err
    odd = tmp_path / "[a].rec"
    (tmp_path / "a-00000-of-00002.rec").rename(odd)
    assert main(["inspect", str(odd)]) == 0
    assert "[a].rec: 2 records, " in capsys.readouterr().out


def test_commands_take_uris(records, tmp_path, capsys):
    uri = f"file://{records}"
    index = records.with_suffix(".idx").read_text()
    assert main(["inspect", uri, "--sheet", f"file://{tmp_path}/sheet.png"]) == 0 and (tmp_path / "sheet.png").exists()
    assert main(["verify", uri]) == 0
    assert f"index {records.with_suffix('.idx')}: nothing wrong" in capsys.readouterr().out
    assert main(["unpack", uri, f"file://{tmp_path}/out"]) == 0 and (tmp_path / "out/list.lst").exists()
    assert main(["index", uri, f"file://{tmp_path}/new.idx"]) == 0 and (tmp_path / "new.idx").read_text() == index
    records.with_suffix(".idx").unlink()
    assert main(["index", uri]) == 0 and records.with_suffix(".idx").read_text() == index


@pytest.mark.parametrize(
    "given",
    [
        ["inspect", "nosuch://a/b.rec"],
        ["verify", "nosuch://a/b.rec"],
        ["index", "nosuch://a/b.rec"],
        ["index", "b.rec", "nosuch://a/b.idx"],
        ["unpack", "nosuch://a/b.rec", "out"],
        ["unpack", "b.rec", "nosuch://a/out"],
        ["pack", "nosuch://a/b", "root"],
        ["pack", "b", "nosuch://a/root"],
        ["pack", "nosuch://a/b", "root", "--list"],
        ["im2rec", "nosuch://a/b.lst", "root", "b.rec"],
        ["im2rec", "b.lst", "root", "nosuch://a/b.rec"],
    ],
)
def test_commands_refuse_other_file_systems(given, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(given) == 1
    assert "no file system for nosuch://" in capsys.readouterr().err and not list(tmp_path.iterdir())


# ---- unpack and index ----


def test_unpacked_records_pack_to_the_same_file(records, tmp_path, capsys):
    assert main(["unpack", str(records), str(tmp_path / "out")]) == 0
    assert "4 files" in capsys.readouterr().out
    assert (tmp_path / "out/list.lst").read_text() == "0\t0\t0/0.jpg\n1\t1\t1/1.jpg\n2\t0\t0/2.png\n3\t2.5\t2.5/3.jpg\n"
    assert (tmp_path / "out/0/2.png").read_bytes() == IMAGES[2]
    again = pack.pack_images(tmp_path / "out/list.lst", tmp_path / "out", pass_through=True)
    assert pathlib.Path(again.path).read_bytes() == records.read_bytes()
    assert pathlib.Path(again.index).read_bytes() == records.with_suffix(".idx").read_bytes()


def test_several_labels_survive_unpacking(tmp_path):
    labels = (0.1, 16777216.0, -2.5e-7)
    payload = struct.pack("<IfQQ3f", 3, 0, 5, 0, *labels) + IMAGES[0]
    path = tmp_path / "set.rec"
    path.write_bytes(frame(payload))
    assert main(["unpack", str(path), str(tmp_path / "out")]) == 0
    again = pack.pack_images(tmp_path / "out/list.lst", tmp_path / "out", pass_through=True, pack_label=True)
    assert pathlib.Path(again.path).read_bytes() == path.read_bytes()


def test_unpack_keeps_records_of_the_same_id_apart(tmp_path):
    path = tmp_path / "set.rec"
    path.write_bytes(b"".join(frame(image_record(3, 1, image)) for image in (IMAGES[0], IMAGES[1], b"", b"x")))
    assert main(["unpack", str(path), str(tmp_path / "out")]) == 0
    names = sorted(each.name for each in (tmp_path / "out/1").iterdir())
    assert names == ["3-2.jpg", "3.bin", "3.jpg"]


def test_unpack_counts_each_of_many_equal_names_once():
    """From the number of the one before: from 2, 200,000 names would take 2 · 10¹⁰ steps."""
    names = _FreeNames()
    given = ["1/3-2.jpg", "1/3.jpg", "1/3.jpg"]
    assert [names.free(name) for name in given] == ["1/3-2.jpg", "1/3.jpg", "1/3-3.jpg"]
    assert len({names.free("1/4.jpg") for _ in range(200_000)}) == 200_000


def test_verify_reads_an_index_whose_numbers_are_of_any_length(records, capsys):
    """All of these have one hash, so that a set of many would take long, and Python does not read the last one."""
    lines = [b"%d\t0\n" % (k * (2**61 - 1)) for k in range(1 << 60, (1 << 60) + 20)]
    records.with_suffix(".idx").write_bytes(b"".join(lines) + b"1" * 5000 + b"\t0\n")
    assert main(["verify", str(records)]) == 1
    assert "line 21 is no key and offset" in capsys.readouterr().out


def test_unpack_raw_and_into_a_folder_that_is_not_empty(tmp_path, capsys):
    path = tmp_path / "raw.rec"
    path.write_bytes(frame(b"hello") + frame(b""))
    assert main(["unpack", str(path), str(tmp_path / "out")]) == 1
    assert "--raw" in capsys.readouterr().err
    assert main(["unpack", str(path), str(tmp_path / "out2"), "--raw"]) == 0
    assert [each.read_bytes() for each in sorted((tmp_path / "out2").iterdir())] == [b"hello", b""]
    assert main(["unpack", str(path), str(tmp_path / "out2"), "--raw"]) == 1
    assert "not empty" in capsys.readouterr().err


def test_index_numbers_records_or_takes_their_ids(records, tmp_path, capsys):
    expected = records.with_suffix(".idx").read_text()
    out = tmp_path / "other.idx"
    assert main(["index", str(records), str(out)]) == 0 and out.read_text() == expected
    records.write_bytes(frame(image_record(70, 0, b"a")) + frame(image_record(7, 0, b"b")))
    assert main(["index", str(records), "--ids"]) == 0
    assert records.with_suffix(".idx").read_text() == "70\t0\n7\t36\n"
    records.write_bytes(frame(image_record(7, 0, b"a")) * 2)
    assert main(["index", str(records), "--ids"]) == 1
    assert "same id, 7" in capsys.readouterr().err


@pytest.mark.parametrize("linked", [False, True])
def test_what_is_read_is_not_written_over(records, tmp_path, capsys, linked):
    written = records
    if linked:
        written = tmp_path / "linked.png"
        written.symlink_to(records)
    before = records.read_bytes()
    for command in (["index", str(records), str(written)], ["inspect", str(records), "--sheet", str(written)]):
        assert main(command) == 1
        said = capsys.readouterr()
        assert f"is {written}, the file that is read, which it would replace; name another one" in said.err
        assert not said.out and records.read_bytes() == before
    listing = tmp_path / "set.lst"
    listing.write_text("0\t0\tno.jpg\n")
    assert main(["im2rec", str(listing), str(tmp_path), str(listing)]) == 1
    assert "the file that is read" in capsys.readouterr().err and listing.read_text() == "0\t0\tno.jpg\n"


def test_a_sheet_is_a_png(records, capsys):
    assert main(["inspect", str(records), "--sheet", "sheet.jpg"]) == 1
    said = capsys.readouterr()
    assert 'inspect: a sheet is saved as a PNG, and --sheet is "sheet.jpg"; end it with .png' in said.err.replace(
        "'", '"'
    )
    assert not said.out


def test_index_of_a_damaged_file(records, tmp_path, capsys):
    expected = offsets(records)
    damage(records, expected[1])
    records.with_suffix(".idx").unlink()
    assert main(["index", str(records)]) == 1
    assert not records.with_suffix(".idx").exists() and f"byte {expected[0]:,}" in capsys.readouterr().err
    assert main(["index", str(records), "--on-damage", "skip"]) == 0
    assert offsets(records) == expected[2:]


# ---- formats of images ----

ENDINGS = {"JPEG": ".jpg", "PNG": ".png", "WebP": ".webp", "GIF": ".gif", "TIFF": ".tif", "BMP": ".bmp"}


def image_in(kind: str, width: int = 33, height: int = 21, **options) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (width, height), (9, 99, 199)).save(data, kind, **options)
    return data.getvalue()


@pytest.mark.parametrize("kind", ENDINGS)
@pytest.mark.parametrize("options", [{}, {"exif": b"Exif\0\0" + bytes(300)}, {"progressive": True}])
def test_headers_of_images_are_read_without_decoding(kind, options):
    if "progressive" in options and kind != "JPEG":
        pytest.skip("a kind of JPEG")
    if "exif" in options and kind in ("GIF", "TIFF", "BMP"):
        pytest.skip("not by Pillow")
    whole = image_in(kind, **options)
    assert encoded_header(whole) == EncodedHeader(kind, 33, 21)
    for length in range(0, len(whole), 7):
        assert encoded_header(memoryview(whole)[:length]) in (None, EncodedHeader(kind, 33, 21))


def test_records_of_every_format_are_inspected_and_unpacked(tmp_path, capsys):
    path, out, sheet = tmp_path / "set.rec", tmp_path / "out", tmp_path / "sheet.png"
    images = {kind: image_in(kind, 30 + key, 40) for key, kind in enumerate(ENDINGS)}
    records = [image_record(key, 1, image) for key, image in enumerate(images.values())]
    path.write_bytes(b"".join(map(frame, [*records, image_record(9, 1, b"no image")])))
    assert main(["inspect", str(path), "--sheet", str(sheet)]) == 0
    said = capsys.readouterr().out
    assert all(f"1 {kind}" in said for kind in ENDINGS)
    assert (
        "width: 30 to 35, median 33; height: 40 to 40" in said and "; 1 record holds none that can be decoded" in said
    )
    assert f"{sheet}: 6 images" in said
    assert main(["unpack", str(path), str(out)]) == 0
    assert {each.name: each.read_bytes() for each in (out / "1").iterdir()} == {
        **{f"{key}{ENDINGS[kind]}": image for key, (kind, image) in enumerate(images.items())},
        "9.bin": b"no image",
    }
    again = pack.pack_images(out / "list.lst", out, pass_through=True)
    assert pathlib.Path(again.path).read_bytes() == path.read_bytes()


def test_a_file_is_named_by_its_format_where_its_header_is_cut_off(tmp_path, capsys):
    path = tmp_path / "set.rec"
    path.write_bytes(b"".join(frame(image_record(key, 1, image[:20])) for key, image in enumerate(IMAGES)))
    assert main(["unpack", str(path), str(tmp_path / "out")]) == 0
    assert sorted(each.name for each in (tmp_path / "out/1").iterdir()) == ["0.jpg", "1.jpg", "2.png", "3.jpg"]


def test_other_bytes_have_no_header():
    assert encoded_header(b"") is None and encoded_header(b"GIF89a") is None
    assert encoded_header(b"\xff\xd8\xff\xe0\0\0" * 20) is None
