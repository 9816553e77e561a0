"""Entry points that are written with records: crops begin at them from the first epoch on, and no byte changes."""

import pathlib
import re
import shutil
import struct

import numpy as np
import pytest

import headrace as hr
from headrace import pack
from headrace import vision as V
from headrace.__main__ import main
from headrace._records.entry_point_file import EntryPointFile
from headrace.pack.record_scan import RecordScan

PHOTOS = 12


@pytest.fixture(scope="session")
def packed(tmp_path_factory) -> pathlib.Path:
    """The sample photographs as they are, without entry points."""
    folder = tmp_path_factory.mktemp("packed")
    assert main(["pack", str(folder / "photos"), hr.sample_photos(), "--list", "--recursive"]) == 0
    assert main(["pack", str(folder / "photos"), hr.sample_photos(), "--pass-through"]) == 0
    return folder / "photos.rec"


@pytest.fixture
def records(packed, tmp_path) -> pathlib.Path:
    for ending in (".rec", ".idx", ".lst"):
        shutil.copy(packed.with_suffix(ending), tmp_path)
    return tmp_path / packed.name


def points_of(path: pathlib.Path) -> pathlib.Path:
    return path.with_name(f"{path.name}.points")


def crops(path: pathlib.Path) -> hr.Dataset:
    source = hr.ImageRecord(path, index=path.with_suffix(".idx"), shuffle=True)
    return source.map([V.Decode(), V.CenterCrop(64)], "image").batch(4)


def run(dataset: hr.Dataset) -> tuple[list[np.ndarray], int, str]:
    """One epoch: images, for how many rows a note saved work, and the report."""
    with dataset.repeat(1).iterate() as batches:
        images = [batch["image"] for batch in batches]
        text = batches.explain()
    found = re.search(r"(\d+) rows were made faster", text)
    return images, int(found[1]) if found else 0, text


def expect_equal(ours: list[np.ndarray], theirs: list[np.ndarray]) -> None:
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_index_writes_them_and_the_first_epoch_begins_at_them(records, capsys):
    before, uses, text = run(crops(records))
    assert uses == 0
    assert "notes" not in text
    assert main(["index", str(records), "--entry-points"]) == 0
    assert f"{points_of(records)}: entry points of {PHOTOS} images" in capsys.readouterr().out
    after, uses, text = run(crops(records))
    expect_equal(after, before)
    assert uses >= PHOTOS - 1
    assert f"{PHOTOS} beside the files" in text


def test_pack_writes_them(tmp_path, capsys):
    prefix = tmp_path / "photos"
    assert main(["pack", str(prefix), hr.sample_photos(), "--list", "--recursive"]) == 0
    assert main(["pack", str(prefix), hr.sample_photos(), "--resize", "256", "--entry-points"]) == 0
    assert f"{prefix}.rec.points: entry points of {PHOTOS} images" in capsys.readouterr().out
    _, uses, _ = run(crops(tmp_path / "photos.rec"))
    assert uses >= PHOTOS - 1


def test_so_does_the_function(records):
    made = pack.pack_images(records.with_suffix(".lst"), hr.sample_photos(), pass_through=True, entry_points=True)
    assert made.entry_points == PHOTOS
    assert run(crops(records))[1] >= PHOTOS - 1


def test_packing_without_them_removes_the_old_ones(records):
    def pack_again(**given) -> pack.Packed:
        return pack.pack_images(records.with_suffix(".lst"), hr.sample_photos(), pass_through=True, **given)

    pack_again(entry_points=True)
    assert points_of(records).exists()
    pack_again()
    assert not points_of(records).exists()
    points_of(records).write_text("of something else")
    pack_again()
    assert points_of(records).read_text() == "of something else"


@pytest.mark.parametrize("entry_points", [False, True])
def test_the_list_is_not_replaced(records, entry_points):
    listing = points_of(records)
    shutil.copy(records.with_suffix(".lst"), listing)
    before = listing.read_bytes()
    with pytest.raises(hr.GraphError, match="the file that is read, which it would replace"):
        pack.pack_images(listing, hr.sample_photos(), records, pass_through=True, entry_points=entry_points)
    assert listing.read_bytes() == before


def test_later_epochs_use_them_too(records):
    main(["index", str(records), "--entry-points"])
    with crops(records).repeat(3).iterate() as batches:
        ours = [batch["image"] for batch in batches]
    expect_equal(ours, [batch["image"] for batch in crops(records).repeat(3).iterate(optimize=False)])


def test_orders_parts_and_mixtures_of_records_use_them(records):
    main(["index", str(records), "--entry-points"])
    source = hr.ImageRecord(records, index=records.with_suffix(".idx"))
    other = source.skip(1).take(8).shuffle(4)
    steps = [V.Decode(), V.CenterCrop(64)]
    assert run(other.map(steps, "image").batch(4))[1] >= 7
    assert run(source.concat(source).map(steps, "image").batch(4))[1] >= 2 * (PHOTOS - 1)


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_file_changes_no_pixel(records, seed):
    before, _, _ = run(crops(records))
    main(["index", str(records), "--entry-points"])
    file = points_of(records)
    data = bytearray(file.read_bytes())
    random = np.random.default_rng(seed)
    if seed == 0:
        data = data[: len(data) // 2]
    elif seed == 1:
        data = bytearray(len(data))
    else:
        for place in random.integers(0, len(data) - 24, len(data) // 20):
            data[place] ^= 1 << random.integers(8)
    file.write_bytes(bytes(data))
    expect_equal(run(crops(records))[0], before)


def test_one_epoch_beside_a_cache_uses_them_and_keeps_no_others(records):
    main(["index", str(records), "--entry-points"])
    source = hr.ImageRecord(records, index=records.with_suffix(".idx"))
    dataset = source.cache().map([V.Decode(), V.CenterCrop(64)], "image").batch(4)
    _, uses, text = run(dataset)
    assert uses >= PHOTOS - 1
    assert "0 notes of rows, 0 B in memory" in text
    assert f"{PHOTOS} beside the files" in text


def test_a_file_that_is_cut_off_is_named_in_the_report(records):
    main(["index", str(records), "--entry-points"])
    file = points_of(records)
    file.write_bytes(file.read_bytes()[:-1])
    with crops(records).repeat(1).iterate() as batches:
        for _ in batches:
            pass
        warnings = batches.report()["warnings"]
        text = batches.explain()
    assert [warning["rows"] for warning in warnings] == [1]
    assert str(file) in warnings[0]["first"][0]
    assert "is not a whole file of entry points" in warnings[0]["first"][0]
    assert "1 note file with a warning" in text


def test_each_of_several_files_has_its_own(records, tmp_path):
    files = []
    for number in range(3):
        copy = tmp_path / f"{number}.rec"
        shutil.copy(records, copy)
        shutil.copy(records.with_suffix(".idx"), copy.with_suffix(".idx"))
        files.append(copy)
    assert main(["index", str(files[1]), "--entry-points"]) == 0
    assert main(["index", str(files[2]), "--entry-points"]) == 0
    source = hr.ImageRecord(files, index=[file.with_suffix(".idx") for file in files])
    _, uses, text = run(source.map([V.Decode(), V.CenterCrop(64)], "image").batch(4))
    assert uses >= 3 * (PHOTOS - 1)
    assert f"{2 * PHOTOS} beside the files" in text


def test_points_of_other_records_are_not_used(records):
    before, _, _ = run(crops(records))
    main(["index", str(records), "--entry-points"])
    # The same picture sizes, other bytes.
    data = records.read_bytes()
    flipped = bytearray(data)
    for record in RecordScan(str(records)):
        flipped[record.offset + 8 + 24 + len(record.payload) - 40] ^= 1
    records.write_bytes(bytes(flipped))
    _, uses, _ = run(crops(records).on_error("skip"))
    assert uses == 0
    records.write_bytes(data)
    after, uses, _ = run(crops(records))
    assert uses >= PHOTOS - 1
    expect_equal(after, before)


def test_what_is_no_jpeg_and_small_ones_have_none(tmp_path):
    small = bytes(V.EncodeJpeg()(np.zeros((32, 32, 3), np.uint8)))
    with EntryPointFile(str(tmp_path / "a.rec")) as points:
        for content in (b"", b"text", struct.pack("<IfQQ", 0, 1, 2, 0) + small, small):
            points.add(memoryview(content))
        assert points.finish() == 0
    assert (tmp_path / "a.rec.points").stat().st_size == 24


def test_the_same_image_twice_has_one_note(tmp_path, packed):
    payloads = [bytes(record.payload) for record in RecordScan(str(packed))]
    with EntryPointFile(str(tmp_path / "a.rec")) as points:
        for payload in payloads + payloads:
            points.add(memoryview(payload))
        assert points.finish() == PHOTOS


def test_damaged_records_leave_no_file(records, capsys):
    data = bytearray(records.read_bytes())
    data[0] ^= 255
    records.write_bytes(bytes(data))
    assert main(["index", str(records), "--entry-points"]) != 0
    assert "is damaged" in capsys.readouterr().err
    assert not points_of(records).exists()
    assert [each for each in records.parent.iterdir() if "points" in each.name] == []


def test_far_records_are_refused(capsys):
    assert main(["index", "s3://bucket/a.rec", "--entry-points"]) != 0
    assert "leave --entry-points out" in capsys.readouterr().err
