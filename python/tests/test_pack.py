"""`headrace pack` and `headrace im2rec`: the files of MXNet's tools, whatever the workers, the kills and the images."""

import contextlib
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import pack
from headrace.__main__ import main
from headrace._records.record_draft import RecordDraft
from headrace.pack import im2rec_command
from headrace.pack.list_packing import Skipped, reasons_of
from headrace.pack.progress import Progress, time_text
from headrace.pack.recipe import Recipe
from tests.thinning import examples

MAGIC = 0xCED7230A


def image(seed: int, height: int, width: int, channels: int = 3) -> np.ndarray:
    """Soft colours with an edge, so that a JPEG of it is like one of a photograph."""
    draw = np.random.default_rng(seed)
    small = draw.integers(0, 256, (4, 5, channels), np.uint8)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC).reshape(height, width, channels)


def folder_of_images(root: pathlib.Path, count: int = 12) -> pathlib.Path:
    for i in range(count):
        path = root / f"class{i % 3}/{i:03}.{'png' if i % 4 == 3 else 'jpg'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), image(i, 40 + 7 * i, 90 - 3 * i))
    return root


@pytest.fixture
def root(tmp_path):
    return folder_of_images(tmp_path / "root")


@pytest.fixture
def listing(root, tmp_path):
    pack.make_lists(tmp_path / "set", root, recursive=True)
    return tmp_path / "set.lst"


def payloads(path) -> list[tuple[int, bytes]]:
    """(offset, payload) of a file whose payloads hold no magic word."""
    data, at, found = pathlib.Path(path).read_bytes(), 0, []
    while at < len(data):
        magic, length = struct.unpack_from("<II", data, at)
        assert magic == MAGIC and length < 1 << 29
        found.append((at, data[at + 8 : at + 8 + length]))
        at += 8 + -(-length // 4) * 4
    return found


def images(path) -> list[bytes]:
    return [payload[24:] for _, payload in payloads(path)]


def by_im2rec(listing, root, *, resize=0, center_crop=False, quality=95, color=1, encoding=".jpg") -> list[bytes]:
    """im2rec.py's work, written out with OpenCV: the payloads."""
    found = []
    for line in pathlib.Path(listing).read_text().splitlines():
        number, *labels, path = line.split("\t")
        image = cv2.imread(str(root / path), color)
        height, width = image.shape[:2]
        if center_crop:
            margin = abs(height - width) // 2
            side = min(height, width)
            image = image[margin : margin + side, :] if height > width else image[:, margin : margin + side]
            height, width = image.shape[:2]
        if resize:
            size = (resize, height * resize // width) if height > width else (width * resize // height, resize)
            image = cv2.resize(image, size)
        setting = cv2.IMWRITE_JPEG_QUALITY if encoding == ".jpg" else cv2.IMWRITE_PNG_COMPRESSION
        encoded = cv2.imencode(encoding, image, [setting, quality])[1].tobytes()
        found.append(struct.pack("<IfQQ", 0, float(labels[0]), int(number), 0) + encoded)
    return found


def headrace(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headrace", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


# ---- what is packed ----


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"resize": 32},
        {"resize": 32, "center_crop": True, "quality": 80},
        {"center_crop": True},
        {"resize": 200},
    ],
)
def test_records_are_those_of_im2rec(listing, root, options):
    packed = pack.pack_images(listing, root, **options)
    assert [payload for _, payload in payloads(packed.path)] == by_im2rec(listing, root, **options)
    assert packed.records == 12 and packed.bytes == os.path.getsize(packed.path) and not packed.skipped


# PNGs of another build of zlib have other bytes and the same pixels.
@pytest.mark.parametrize("color", [1, 0, -1])
def test_pngs_have_the_pixels_of_im2rec(listing, root, color):
    cv2.imwrite(str(root / "class0/000.jpg"), image(3, 50, 60, 1))
    packed = pack.pack_images(listing, root, encoding=".png", color=color, resize=30)
    expected = by_im2rec(listing, root, encoding=".png", color=color, resize=30)
    for ours, theirs in zip(images(packed.path), expected, strict=True):
        ours, theirs = (cv2.imdecode(np.frombuffer(each, np.uint8), -1) for each in (ours, theirs[24:]))
        assert ours.shape == theirs.shape
        # Grey is Pillow's luma; OpenCV asks libjpeg for it.
        assert np.abs(ours.astype(int) - theirs).max() <= (3 if color == 0 else 0)


# OpenCV's resizing of 16 bits and ours are of different versions.
@pytest.mark.parametrize(("channels", "resize"), [(1, 0), (3, 0), (4, 0), (3, 20)])
def test_pngs_keep_16_bits_if_the_colour_is_as_it_is(root, tmp_path, channels, resize):
    wide = np.random.default_rng(1).integers(0, 65536, (40, 30, channels), np.uint16)
    cv2.imwrite(str(root / "wide.png"), wide)
    listing = tmp_path / "wide.lst"
    listing.write_text("0\t0\twide.png\n1\t0\tclass0/000.jpg\n")
    packed = pack.pack_images(listing, root, encoding=".png", color=-1, resize=resize)
    expected = by_im2rec(listing, root, encoding=".png", color=-1, resize=resize)
    for ours, theirs in zip(images(packed.path), expected, strict=True):
        ours, theirs = (cv2.imdecode(np.frombuffer(each, np.uint8), -1) for each in (ours, theirs[24:]))
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert np.abs(ours.astype(int) - theirs).max() <= (1 if resize else 0)


def test_an_image_of_16_bits_needs_png(root, tmp_path):
    cv2.imwrite(str(root / "wide.png"), np.full((20, 20, 3), 40000, np.uint16))
    listing = tmp_path / "wide.lst"
    listing.write_text("0\t0\twide.png\n")
    assert pack.pack_images(listing, root).records == 1
    with pytest.raises(pack.NothingPackedError, match=r"16 bits need a PNG.*\(first .*wide\.png\)"):
        pack.pack_images(listing, root, color=-1)


def test_pass_through_packs_the_files(listing, root):
    packed = pack.pack_images(listing, root, pass_through=True)
    paths = [line.split("\t")[-1] for line in listing.read_text().splitlines()]
    assert images(packed.path) == [(root / path).read_bytes() for path in paths]


def test_the_index_leads_to_every_record(listing, root):
    packed = pack.pack_images(listing, root, resize=20)
    offsets = [offset for offset, _ in payloads(packed.path)]
    numbers = [int(line.split("\t")[0]) for line in listing.read_text().splitlines()]
    lines = pathlib.Path(packed.index).read_text().splitlines()
    assert lines == [f"{number}\t{offset}" for number, offset in zip(numbers, offsets, strict=True)]


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_bytes_do_not_depend_on_workers(listing, root, tmp_path, workers):
    expected = pathlib.Path(pack.pack_images(listing, root, resize=24).path).read_bytes()
    other = pack.pack_images(listing, root, tmp_path / "other.rec", resize=24, workers=workers)
    assert pathlib.Path(other.path).read_bytes() == expected and other.index == str(tmp_path / "other.idx")


def test_several_labels(root, tmp_path):
    listing = tmp_path / "many.lst"
    listing.write_text("7\t1\t0.5\t-2\tclass0/000.jpg\n3\t4\t5\t6\tclass1/001.jpg\n")
    first = pack.pack_images(listing, root, tmp_path / "first.rec", pass_through=True)
    assert [payload[:24] for _, payload in payloads(first.path)] == [
        struct.pack("<IfQQ", 0, 1, 7, 0),
        struct.pack("<IfQQ", 0, 4, 3, 0),
    ]
    every = pack.pack_images(listing, root, tmp_path / "all.rec", pass_through=True, pack_label=True)
    assert [payload[:36] for _, payload in payloads(every.path)] == [
        struct.pack("<IfQQ3f", 3, 0, 7, 0, 1, 0.5, -2),
        struct.pack("<IfQQ3f", 3, 0, 3, 0, 4, 5, 6),
    ]


# As MXNet 1.9.1 wrote them: `shared` files are not in the repository, so what stands here is their frame and header.
def test_the_command_packs_every_list_of_the_prefix(root, tmp_path, capsys):
    pack.make_lists(tmp_path / "set", root, recursive=True, train_ratio=0.5)
    (tmp_path / "other.lst").write_text("0\t0\tmissing.jpg\n")
    assert main(["pack", str(tmp_path / "set"), str(root), "--resize", "16", "--quality", "90"]) == 0
    assert "set_train.rec: 6 records" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.glob("*.rec")) == ["set_train.rec", "set_val.rec"]
    for name in ("set_train", "set_val"):
        expected = by_im2rec(tmp_path / f"{name}.lst", root, resize=16, quality=90)
        assert [payload for _, payload in payloads(tmp_path / f"{name}.rec")] == expected
        assert (tmp_path / f"{name}.idx").exists()


def test_the_command_makes_lists(root, tmp_path, capsys):
    given = ["pack", str(tmp_path / "set"), str(root), "--list", "--recursive", "--no-shuffle", "--exts", ".png"]
    assert main(given) == 0
    assert capsys.readouterr().out.splitlines()[:3] == ["class0 0", "class1 1", "class2 2"]
    assert (tmp_path / "set.lst").read_text().splitlines()[0] == "0\t0.000000\tclass0/003.png"


def test_missing_lists_and_folders_are_named(tmp_path, capsys):
    assert main(["pack", str(tmp_path / "set"), str(tmp_path)]) == 1
    assert "headrace pack --list" in capsys.readouterr().err
    assert main(["pack", str(tmp_path / "set"), str(tmp_path / "nowhere"), "--list"]) == 1
    assert "nowhere" in capsys.readouterr().err


def test_paths_may_be_uris(root, tmp_path, capsys):
    pack.make_lists(f"file://{tmp_path}/set", f"file://{root}", recursive=True)
    packed = pack.pack_images(f"file://{tmp_path}/set.lst", f"file://{root}", f"file://{tmp_path}/a.rec", resize=16)
    assert packed.path == str(tmp_path / "a.rec") and packed.records == 12
    assert main(["pack", f"file://{tmp_path}/set", f"file://{root}", "--resize", "16"]) == 0
    out = f"file://{tmp_path}/b.rec"
    assert main(["im2rec", f"file://{tmp_path}/set.lst", f"file://{root}", out, "resize=16"]) == 0
    for name in ("set.rec", "b.rec"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "a.rec").read_bytes()
    for places in (
        ["nosuch://a/set.lst", root],
        [tmp_path / "set.lst", "nosuch://a"],
        [tmp_path / "set.lst", root, "nosuch://a/b"],
    ):
        with pytest.raises(hr.UnsupportedError, match="no file system for nosuch://"):
            pack.pack_images(*places)


# ---- im2rec ----


def test_im2rec_has_the_arguments_of_the_tool_in_cpp(listing, root, tmp_path, capsys):
    out = tmp_path / "out.rec"
    assert main(["im2rec", str(listing), f"{root}/", str(out), "resize=20", "quality=70", "center_crop=1"]) == 0
    expected = by_im2rec(listing, root, resize=20, quality=70, center_crop=True)
    assert [payload for _, payload in payloads(out)] == expected
    assert "out.rec: 12 records" in capsys.readouterr().out and (tmp_path / "out.idx").exists()
    assert main(["im2rec", str(listing), str(root), str(out), "unchanged=1", "resize=20"]) == 0
    assert images(out) == images(pack.pack_images(listing, root, pass_through=True).path)


@pytest.mark.parametrize(
    ("method", "resize"), [(0, 24), (2, 24), (2, 200), (3, 24), (4, 24), (4, 200), (9, 24), (9, 200)]
)
def test_im2rec_has_the_interpolations_of_opencv(listing, root, tmp_path, method, resize):
    out = tmp_path / "out.rec"
    given = ["im2rec", str(listing), str(root), str(out), f"inter_method={method}", f"resize={resize}", "encoding=.png"]
    assert main(given) == 0
    chosen = {0: cv2.INTER_NEAREST, 2: cv2.INTER_CUBIC, 3: cv2.INTER_AREA, 4: cv2.INTER_LANCZOS4}.get(method)
    for image, line in zip(images(out), listing.read_text().splitlines(), strict=True):
        ours = cv2.imdecode(np.frombuffer(image, np.uint8), 1)
        source = cv2.imread(str(root / line.split("\t")[-1]), 1)
        larger = ours.shape[0] > source.shape[0]
        interpolation = chosen if chosen is not None else (cv2.INTER_CUBIC if larger else cv2.INTER_AREA)
        theirs = cv2.resize(source, (ours.shape[1], ours.shape[0]), interpolation=interpolation)
        assert np.abs(ours.astype(int) - theirs).max() <= 1


def test_im2rec_keeps_the_first_label_in_the_header(root, tmp_path):
    listing = tmp_path / "many.lst"
    listing.write_text("7\t1\t0.5\tclass0/000.jpg\n")
    out = tmp_path / "out.rec"
    given = ["im2rec", str(listing), str(root), str(out), "label_width=2", "pack_label=1", "unchanged=1"]
    assert main(given) == 0
    assert payloads(out)[0][1][:32] == struct.pack("<IfQQ2f", 2, 1, 7, 0, 1, 0.5)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("colour=1", "no setting"),
        ("resize", "no setting"),
        ("resize=big", "whole number"),
        ("inter_method=10", "at random"),
        ("inter_method=5", "inter_method is 5"),
        ("pack_label=1", "label_width"),
        ("part=1", "nsplit"),
        ("encoding=.bmp", "encoding"),
        ("color=2", "color is 2"),
        ("quality=0", "quality is 0"),
        ("label_width=2", "label_width is 2"),
    ],
)
def test_im2rec_refuses_what_it_cannot_do(listing, root, tmp_path, capsys, setting, message):
    assert main(["im2rec", str(listing), str(root), str(tmp_path / "out.rec"), setting]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("parts", [2, 5, 40])
def test_parts_have_every_record_once_and_in_order(listing, root, tmp_path, parts):
    whole = images(pack.pack_images(listing, root, pass_through=True).path)
    found = []
    for part in range(parts):
        out = tmp_path / "out.rec"
        given = ["im2rec", str(listing), str(root), str(out), "unchanged=1", f"nsplit={parts}", f"part={part}"]
        assert main(given) == 0
        found += images(f"{out}.part{part:03}")
    assert found == whole


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.integers(1, 50))
def test_a_line_on_a_border_belongs_to_the_part_before(tmp_path_factory, lengths, parts):
    listing = tmp_path_factory.mktemp("parts") / "x.lst"
    listing.write_bytes(b"".join(b"x" * (length - 1) + b"\n" if length > 1 else b"y\n" for length in lengths))
    begins = np.cumsum([0] + [max(length, 2) for length in lengths])
    step = -(-int(begins[-1]) // parts)
    found = [im2rec_command._lines_of_part(str(listing), parts, part) for part in range(parts)]
    # dmlc-core's InputSplit: part r has the lines that begin after step·r, up to and with step·(r + 1).
    for part, lines in enumerate(found):
        expected = [
            i
            for i, begin in enumerate(begins[:-1])
            if (begin > step * part or part == 0) and begin <= step * (part + 1)
        ]
        assert list(range(lines.begin, lines.end)) == expected


# ---- bad images ----


@pytest.fixture
def with_bad_images(root, tmp_path):
    (root / "class0/000.jpg").write_bytes(b"no image")
    (root / "class1/004.jpg").write_bytes((root / "class1/004.jpg").read_bytes()[:100])
    (root / "class2/008.jpg").unlink()
    (root / "class2/z.jpg").write_bytes(b"")
    names = [f"class{i % 3}/{i:03}.{'png' if i % 4 == 3 else 'jpg'}" for i in range(12)] + ["class2/z.jpg"]
    listing = tmp_path / "bad.lst"
    listing.write_text("".join(f"{i}\t{i % 3}\t{name}\n" for i, name in enumerate(names)))
    return listing


def test_bad_images_are_named_and_left_out(with_bad_images, root, tmp_path, capfd):
    assert main(["pack", str(tmp_path / "bad"), str(root), "--resize", "20"]) == 0
    said = capfd.readouterr()
    for name in ("class0/000.jpg", "class1/004.jpg", "class2/008.jpg", "class2/z.jpg"):
        assert f"skipped {root / name}: " in said.err
    assert "bad.rec: 9 records" in said.out and "4 images skipped" in said.out
    ids = [struct.unpack_from("<IfQQ", payload)[2] for _, payload in payloads(tmp_path / "bad.rec")]
    assert ids == [1, 2, 3, 5, 6, 7, 9, 10, 11]


def test_the_first_bad_image_ends_the_run_if_asked(with_bad_images, root, tmp_path):
    done = headrace("pack", tmp_path / "bad", root, "--resize", 20, "--on-error", "raise")
    assert done.returncode == 1 and "class0/000.jpg" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "bad.rec").exists() and not (tmp_path / "bad.idx").exists()


def test_all_reasons_are_in_the_result(with_bad_images, root):
    packed = pack.pack_images(with_bad_images, root, resize=20)
    reasons = {pathlib.Path(each.path).name: each.reason for each in packed.skipped}
    assert list(reasons) == ["000.jpg", "004.jpg", "008.jpg", "z.jpg"]
    assert "not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM" in reasons["000.jpg"] and "empty" in reasons["z.jpg"]


@pytest.fixture
def bad_list(tmp_path, root) -> Callable[..., pathlib.Path]:
    def write(name: str, *before: str) -> pathlib.Path:
        (root / "a.jpg").write_bytes(b"no image")
        names = [*before, "a.jpg", "lost.jpg", "a.jpg"]
        listing = tmp_path / name
        listing.write_text("".join(f"{i}\t0\t{name}\n" for i, name in enumerate(names)))
        return listing

    return write


def test_a_run_whose_last_images_are_all_bad_can_be_resumed(bad_list, root, tmp_path, monkeypatch, capfd):
    listing = bad_list("tail.lst", "class0/000.jpg", "class1/001.jpg")
    whole = pack.pack_images(listing, root, tmp_path / "whole.rec")
    checkpoint = RecordDraft.checkpoint

    def interrupted(draft, position, skipped):
        checkpoint(draft, position, skipped)
        if position == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr("headrace.pack.list_packing._CHECKPOINT_S", 0.0)
        patched.setattr(RecordDraft, "checkpoint", interrupted)
        pack.pack_images(listing, root)
    assert (tmp_path / "tail.rec.journal").exists()
    assert main(["pack", str(tmp_path / "tail"), str(root), "--resume"]) == 0
    said = capfd.readouterr()
    assert "2 records were kept" in said.out and "3 images skipped" in said.out and said.err.count("skipped ") == 3
    assert (tmp_path / "tail.rec").read_bytes() == pathlib.Path(whole.path).read_bytes()


def test_a_list_of_bad_images_alone_is_an_error(bad_list, root, tmp_path, capfd):
    listing = bad_list("bad.lst")
    for more in ([], ["--resume"], ["--resume"]):
        assert main(["pack", str(tmp_path / "bad"), str(root), *more]) == 1
        said = capfd.readouterr().err
        assert f"{listing}: none of the 3 images could be packed" in said and "--resume goes on" not in said
        assert "2 × not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM" in said and "1 × …: not found" in said
        assert sorted(path.name for path in tmp_path.glob("bad.*")) == ["bad.lst"]
    with pytest.raises(pack.NothingPackedError, match=r"none of the 3 images") as caught:
        pack.pack_images(listing, root)
    assert isinstance(caught.value, hr.DataError) and type(caught.value).__module__ == "headrace.pack"


def test_the_error_names_the_most_frequent_reasons(bad_list, root):
    for i in range(9):
        (root / f"class0/bad{i}.jpg").write_bytes(b"%d" % i)
    with pytest.raises(hr.DataError, match=r"(?s)none of the 12 images.*\n  2 × .*\(first .*\)\n  6 other reasons$"):
        pack.pack_images(bad_list("bad.lst", *(f"class0/bad{i}.jpg" for i in range(9))), root)


@pytest.mark.parametrize(
    ("bad", "parts", "message"),
    [
        (2, ["nsplit=2", "part=1"], "headrace: lines 3 to 4 of {}: none of the 2 images could be packed"),
        (1, ["nsplit=2", "part=1"], "headrace: line 3 of {}: the only image could not be packed"),
        (1, [], "headrace: {}: the only image could not be packed"),
    ],
)
def test_the_error_says_which_part_of_the_list_was_bad(root, tmp_path, capfd, bad, parts, message):
    listing = tmp_path / "l.lst"
    names = [*(["class0/000.jpg", "class1/001.jpg"] if parts else []), *(f"lost{i}.jpg" for i in range(bad))]
    listing.write_text("".join(f"{i}\t0\t{name}\n" for i, name in enumerate(names)))
    assert main(["im2rec", str(listing), str(root), str(tmp_path / "out.rec"), *parts]) == 1
    assert message.format(listing) in capfd.readouterr().err
    assert not list(tmp_path.glob("out*"))


def test_reasons_are_counted_without_paths():
    reasons = [
        ("/r/folder/", "/r/folder/ is a folder, where a file is expected"),
        ("/r/other/", "/r/other/ is a folder, where a file is expected"),
        ("/r/a", "not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM: starts with 61, 10 bytes in all"),
        ("/r/o", "/r/o: not found; the folder /r is there, but has no 'o'; check the path"),
        ("/r/f", "/r/f: not found; the folder /r is there, but has no 'f'; check the path"),
        ("/r", "/rest cannot be read"),
    ]
    assert reasons_of([Skipped(*each) for each in reasons]) == [
        "2 × … is a folder, where a file is expected",
        "2 × …: not found; the folder /r is there, but has no '…'; check the path",
        "1 × not a JPEG, PNG, WebP, GIF, BMP, TIFF or PNM: starts with 61, 10 bytes in all",
        "1 × /rest cannot be read",
    ]


def test_a_list_of_no_lines_gives_an_empty_file(root, tmp_path):
    (tmp_path / "empty.lst").write_text("")
    assert pack.pack_images(tmp_path / "empty.lst", root).records == 0


def test_lists_beside_a_bad_one_are_packed(bad_list, root, tmp_path, capfd):
    bad_list("some_a.lst")
    bad_list("some_b.lst", "class0/000.jpg")
    assert main(["pack", str(tmp_path / "some"), str(root)]) == 1
    said = capfd.readouterr()
    assert "some_a.lst: none of the 3 images" in said.err and "some_b.rec: 1 records" in said.out
    assert sorted(path.name for path in tmp_path.glob("*.rec")) == ["some_b.rec"]


def test_an_image_with_alpha_needs_png(root, tmp_path):
    cv2.imwrite(str(root / "class0/alpha.png"), image(1, 20, 20, 4))
    listing = tmp_path / "alpha.lst"
    listing.write_text("0\t0\tclass0/alpha.png\n1\t0\tclass0/000.jpg\n")
    assert pack.pack_images(listing, root, color=1).records == 2
    png = pack.pack_images(listing, root, color=-1, encoding=".png")
    assert cv2.imdecode(np.frombuffer(images(png.path)[0], np.uint8), -1).shape == (20, 20, 4)


# ---- kills, disks and neighbours ----


def packer(listing, root, *more: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "headrace", "pack", str(listing.with_suffix("")), str(root), "--resize", "64"]
    return subprocess.Popen([*command, *map(str, more)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def long_list(folder: pathlib.Path, names: list[str], lines: int):
    """A list long enough to be killed at, of few images, and what is packed of it."""
    root = folder_of_images(folder / "root", 3)
    (root / "class0/bad.jpg").write_bytes(b"no image")
    cv2.imwrite(str(root / "class0/large.jpg"), image(5, 1200, 1600))
    listing = folder / "set.lst"
    listing.write_text("".join(f"{i}\t{i % 3}\t{names[i % len(names)]}\n" for i in range(lines)))
    expected = pack.pack_images(listing, root, folder / "expected.rec", resize=64)
    return root, listing, pathlib.Path(expected.path).read_bytes(), pathlib.Path(expected.index).read_bytes()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    names = ["class0/large.jpg", "class1/001.jpg", "class0/bad.jpg", "class2/002.jpg", "class0/large.jpg"]
    return long_list(tmp_path_factory.mktemp("many"), names, 400)


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    return long_list(tmp_path_factory.mktemp("slow"), [*["class0/large.jpg"] * 4, "class0/bad.jpg"], 1500)


def clear(listing) -> None:
    for path in listing.parent.glob("set.*"):
        if path != listing:
            path.unlink()


@pytest.mark.timing
def test_ten_kills_give_the_same_bytes_in_the_end(slow):
    root, listing, expected, index = slow
    draw = random.Random(7)
    draft = listing.with_suffix(".rec.draft")
    kept = 0
    for kill in range(10):
        process = packer(listing, root, "--resume")
        # Until it has packed more than the run before, and then at a random moment.
        wanted = kept + draw.randrange(1, len(expected) // 25)
        while process.poll() is None and not (draft.exists() and draft.stat().st_size >= wanted):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not listing.with_suffix(".rec").exists() and not listing.with_suffix(".idx").exists(), kill
        kept = draft.stat().st_size
    done = headrace("pack", listing.with_suffix(""), root, "--resize", 64, "--resume")
    assert done.returncode == 0, done.stderr
    assert listing.with_suffix(".rec").read_bytes() == expected and listing.with_suffix(".idx").read_bytes() == index
    assert "kept from the run before" in done.stdout and "300 images skipped" in done.stdout
    assert sorted(path.name for path in listing.parent.glob("set*")) == ["set.idx", "set.lst", "set.rec"]


def signalled(many, number: int, ready: Callable[[pathlib.Path], bool]) -> subprocess.Popen[str]:
    """A packer that got the signal when it was ready, and was not done by then, as one may be on a loaded machine."""
    root, listing, _, _ = many
    for _ in range(100):
        clear(listing)
        process = packer(listing, root)
        while process.poll() is None and not ready(listing):
            time.sleep(0.001)
        if process.returncode is None:
            process.send_signal(number)
            end = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if end is not None and (end.si_code, end.si_status) != (os.CLD_EXITED, 0):
                return process
        process.communicate()
    raise AssertionError("the packer is always done before it can be sent a signal")


def draft_size(listing: pathlib.Path) -> int:
    draft = listing.with_suffix(".rec.draft")
    return draft.stat().st_size if draft.exists() else 0


def killed_run(many, at_bytes: int) -> None:
    signalled(many, signal.SIGKILL, lambda listing: draft_size(listing) > at_bytes).communicate()


def test_finished_images_are_not_encoded_again(many):
    root, listing, expected, _ = many
    killed_run(many, len(expected) // 3)
    last = listing.with_suffix(".rec.journal").read_bytes().split(b"\n")[-2]
    checkpointed = json.loads(last.partition(b" ")[2])["records"]
    packed = pack.pack_images(listing, root, resize=64, resume=True)
    # As many as the last checkpoint says.
    assert packed.kept == checkpointed > 0 and packed.records == 320 and len(packed.skipped) == 80
    assert listing.with_suffix(".rec").read_bytes() == expected


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_resume_trusts_no_byte_that_it_did_not_check(many, kept_run, data):
    root, listing, expected, index = many
    clear(listing)
    for name, content in kept_run.items():
        damaged = bytearray(content)
        kind = data.draw(st.sampled_from(["whole", "cut", "flip", "longer", "missing"]), label=name)
        if kind == "missing":
            continue
        if kind == "cut":
            del damaged[data.draw(st.integers(0, len(damaged)), label="length") :]
        if kind == "flip" and damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1), label="byte")] ^= 1 << data.draw(st.integers(0, 7))
        if kind == "longer":
            damaged += data.draw(st.binary(max_size=40), label="more")
        (listing.parent / name).write_bytes(damaged)
    try:
        packed = pack.pack_images(listing, root, resize=64, resume=True)
    except hr.StateError:
        return  # the damage is in the job's name
    assert packed.records == 320 and len(packed.skipped) == 80
    assert listing.with_suffix(".rec").read_bytes() == expected and listing.with_suffix(".idx").read_bytes() == index


@pytest.fixture(scope="module")
def kept_run(many):
    killed_run(many, len(many[2]) // 2)
    kept = {path.name: path.read_bytes() for path in many[1].parent.glob("set.*") if path != many[1]}
    assert sorted(kept) == ["set.idx.draft", "set.rec.draft", "set.rec.journal"]
    return kept


def test_a_kill_between_the_names_loses_nothing(many, monkeypatch):
    root, listing, expected, index = many
    clear(listing)
    with monkeypatch.context() as patched, pytest.raises(RuntimeError):
        patched.setattr("headrace._records.record_draft._rename_index", _kill)
        pack.pack_images(listing, root, resize=64)
    assert listing.with_suffix(".rec").exists() and not listing.with_suffix(".idx").exists()
    packed = pack.pack_images(listing, root, resize=64, resume=True)
    assert packed.kept == packed.records == 320 and len(packed.skipped) == 80
    assert listing.with_suffix(".rec").read_bytes() == expected and listing.with_suffix(".idx").read_bytes() == index
    assert not list(listing.parent.glob("set.*.*"))


def _kill(_path: str) -> None:
    raise RuntimeError("killed")


def test_resume_refuses_another_job(many):
    root, listing, _, _ = many
    killed_run(many, 1)
    with pytest.raises(hr.StateError, match="other options"):
        pack.pack_images(listing, root, resize=32, resume=True)
    # Without it the run begins anew.
    assert pack.pack_images(listing, root, pass_through=True).kept == 0


def test_resume_without_a_draft_packs_from_the_start(listing, root):
    assert pack.pack_images(listing, root, resume=True, resize=20).kept == 0


def test_the_second_packer_of_a_file_is_refused(many):
    root, listing, expected, _ = many
    process = signalled(many, signal.SIGSTOP, lambda listing: draft_size(listing) > 0)
    try:
        for more in ((), ("--resume",)):
            second = headrace("pack", listing.with_suffix(""), root, "--resize", 64, *more)
            assert second.returncode == 1 and "another process" in second.stderr, second.stderr
            assert "Traceback" not in second.stderr
    finally:
        process.send_signal(signal.SIGCONT)
    process.communicate()
    assert process.returncode == 0 and listing.with_suffix(".rec").read_bytes() == expected


def test_a_full_disk_is_an_error_and_can_be_gone_on_from(many):
    root, listing, expected, _ = many
    clear(listing)
    script = f"""
set -e
mount -t tmpfs -o size={len(expected) // 2 // 4096 * 4096} none "$1"
cp "$2" "$1/set.lst"
set +e
{sys.executable} -m headrace pack "$1/set" "$3" --resize 64
echo "code $?"
ls "$1"
mount -o remount,size=100M "$1"
{sys.executable} -m headrace pack "$1/set" "$3" --resize 64 --resume
cat "$1/set.rec" > "$4"
"""
    target, out = listing.parent / "disk", listing.parent / "set.out"
    target.mkdir(exist_ok=True)
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", script, "x", target, listing, root, out],
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "code" not in done.stdout:
        pytest.skip(f"no disk of its own can be mounted here: {done.stderr}")
    assert "code 1" in done.stdout and "No space left on device" in done.stderr and "Traceback" not in done.stderr
    assert "set.rec\n" not in done.stdout and "--resume goes on" in done.stderr
    assert "kept from the run before" in done.stdout, done.stderr
    assert out.read_bytes() == expected


def has_checkpoints(listing: pathlib.Path) -> bool:
    journal = listing.with_suffix(".rec.journal")
    return journal.exists() and journal.read_bytes().count(b"\n") > 1


@pytest.mark.timing
def test_ctrl_c_keeps_what_was_packed(many):
    root, listing, expected, _ = many
    process = signalled(many, signal.SIGINT, has_checkpoints)
    _, said = process.communicate()
    assert process.returncode == 130 and "--resume goes on" in said and "Traceback" not in said
    packed = pack.pack_images(listing, root, resize=64, resume=True)
    assert packed.kept > 0 and packed.records == 320
    assert listing.with_suffix(".rec").read_bytes() == expected


# Ctrl-C raises between any two calls: here in each of those that write, one after the other.
@pytest.mark.parametrize("call", range(1, 14))
def test_an_interrupt_within_a_checkpoint_loses_no_record(listing, root, monkeypatch, call):
    expected = pack.pack_images(listing, root, listing.parent / "whole.rec", resize=16)
    calls = 0
    write = RecordDraft._write

    def interrupted(draft, descriptor, data):
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        write(draft, descriptor, data)
        if calls + 1 == call:
            calls += 1
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr("headrace.pack.list_packing._CHECKPOINT_S", 0.0)
        patched.setattr(RecordDraft, "_write", interrupted)
        pack.pack_images(listing, root, resize=16)
    packed = pack.pack_images(listing, root, resize=16, resume=True)
    assert pathlib.Path(packed.path).read_bytes() == pathlib.Path(expected.path).read_bytes()
    assert pathlib.Path(packed.index).read_bytes() == pathlib.Path(expected.index).read_bytes()


# ---- arguments and progress ----


@pytest.mark.parametrize(
    "given", [{"resize": -1}, {"quality": 0}, {"quality": 101}, {"color": 2}, {"encoding": ".bmp"}, {"on_error": "x"}]
)
def test_impossible_arguments_are_refused(listing, root, given):
    with pytest.raises(hr.GraphError, match="pack_images"):
        pack.pack_images(listing, root, **given)


def test_a_recipe_that_passes_through_has_no_kernels():
    assert Recipe(pass_through=True).kernels() == []
    assert [type(kernel).__name__ for kernel in Recipe(resize=8, center_crop=True).kernels()] == [
        "Decode",
        "CenterSquare",
        "Resize",
        "EncodeJpeg",
    ]


class Terminal:
    def __init__(self, is_terminal: bool) -> None:
        self.text = ""
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_progress_is_for_terminals_alone(monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    shown, silent = Terminal(True), Terminal(False)
    with Progress("set.rec", 1000, stream=shown) as progress, Progress("set.rec", 1000, stream=silent) as quiet:
        progress.at(500)
        quiet.at(500)
        assert "set.rec: 500 of 1,000 (50%), " in shown.text and "a second" in shown.text and "left" in shown.text
    assert shown.text.endswith("\r") and silent.text == ""


def test_times_are_short():
    assert [time_text(seconds) for seconds in (0.2, 7, 750, 7500, -1)] == ["0:00", "0:07", "12:30", "2:05:00", "0:00"]
