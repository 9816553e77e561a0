"""Bad input, end to end: a clear error that the user can act on, the rows before it, and a process that goes on."""

import pathlib
import resource
import shutil
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest

import headrace as hr
from headrace import transforms as T
from headrace import vision as V
from tests.running import read_all

Case = tuple[Callable[[pathlib.Path], hr.Dataset], type[hr.Error], list[str], int]


def folder_of(tmp_path: pathlib.Path, photos: pathlib.Path) -> pathlib.Path:
    """Two classes of six images, of which the last but one is not written yet."""
    source = photos / "animals/cat-eyes.jpg"
    for name in ("a", "b"):
        (tmp_path / "set" / name).mkdir(parents=True)
        for number in range(6):
            shutil.copy(source, tmp_path / "set" / name / f"{number}.jpg")
    return tmp_path / "set"


def huge_png() -> bytes:
    """A header of 60,000 × 60,000 pixels in a file of 2 KB."""

    def chunk(kind: bytes, contents: bytes) -> bytes:
        return struct.pack(">I", len(contents)) + kind + contents + struct.pack(">I", zlib.crc32(kind + contents))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1_500_000))) + bytes(100)


def huge_jpeg(whole: bytes) -> bytes:
    offset = whole.index(b"\xff\xc0") + 5
    return (whole[:offset] + struct.pack(">HH", 60_000, 60_000) + whole[offset + 4 :])[:2048]


def largest_resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def images(folder: pathlib.Path) -> hr.Dataset:
    return hr.ImageFolder(folder).map([V.Decode(), V.Resize((16, 16))], "image").batch(2)


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], list[str]]] = {
    "truncated": (lambda whole: whole[: len(whole) // 2], ["early|truncated"]),
    "not an image": (lambda whole: b"These are the words of a text file.\n" * 9, ["neither|JPEG"]),
    "empty": (lambda whole: b"", ["empty|no bytes"]),
    "huge PNG": (lambda whole: huge_png(), ["60000 ?(x|×) ?60000", "178,?956,?970"]),
    "huge JPEG": (huge_jpeg, ["60000 ?(x|×) ?60000", "178,?956,?970"]),
}


@pytest.mark.parametrize("executor", ["threads", "pull"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_image(damage, executor, tmp_path, photos):
    spoil, messages = DAMAGE[damage]
    folder = folder_of(tmp_path, photos)
    culprit = folder / "b/3.jpg"
    culprit.write_bytes(spoil(culprit.read_bytes()))
    good = []
    with pytest.raises(hr.DataError) as caught:
        for batch in images(folder).iterate(executor=executor):
            good.append(batch["label"].tolist())
    # The complete batches before it: rows 0 … 7 of 12, the failing row being row 9.
    assert good == [[0, 0], [0, 0], [0, 0], [1, 1]]
    for message in messages:
        assert caught.match(message)
    assert str(culprit) in caught.value.file and str(culprit) in str(caught.value)
    assert caught.value.operator.startswith("map") and "Decode" in str(caught.value)
    assert pathlib.Path(__file__).name in caught.value.location
    assert caught.value.row
    assert len(str(caught.value).splitlines()) < 12
    # The user repairs it, and the same data set runs.
    shutil.copy(folder / "a/0.jpg", culprit)
    assert len(read_all(images(folder)).rows) == 6


def test_a_huge_header_takes_no_memory(tmp_path, photos):
    for contents in (huge_png(), huge_jpeg((photos / "animals/cat-eyes.jpg").read_bytes())):
        assert len(contents) < 2500
        before = largest_resident()
        with pytest.raises(hr.DataError):
            list(hr.Numpy({"image": np.array([contents], object)}).map(V.Decode(), "image"))
        # Less than the 10.8 GB for the size in the header.
        assert largest_resident() - before < 100 << 20


NUMBERS = hr.Range(10)
PAIRS = {"image": np.zeros((4, 8, 8, 3), np.uint8), "label": np.arange(4)}

# Mistakes found before anything runs: the call, the kind of error, and what its message must name.
MISTAKES: dict[str, tuple[Callable[[pathlib.Path], object], type[hr.Error], list[str]]] = {
    "missing folder": (lambda at: hr.ImageFolder(at / "nowhere"), hr.NotFoundError, ["nowhere"]),
    "missing files": (lambda at: hr.Files(str(at / "*.nothing")), hr.NotFoundError, [r"\*\.nothing"]),
    "missing text": (lambda at: hr.Text(str(at / "lost.txt")), hr.NotFoundError, ["lost.txt"]),
    "folder without classes": (lambda at: hr.ImageFolder(at), hr.NotFoundError, ["class"]),
    "misspelt column": (lambda at: hr.Numpy(PAIRS).project("lable"), hr.GraphError, ["lable", "label"]),
    "misspelt column of map": (lambda at: hr.Numpy(PAIRS).map(V.Resize(4), "imagge"), hr.GraphError, ["imagge", "image"]),
    "misspelt column of filter": (lambda at: hr.Numpy(PAIRS).filter(hr.col("labl") > 1), hr.GraphError, ["labl", "label"]),
    "wrong dtype": (lambda at: hr.Numpy(PAIRS).map(T.OneHot(3), "image").map(V.Decode(), "label"), hr.GraphError, ["label", "int64"]),
    "wrong shape": (lambda at: NUMBERS.map(V.Resize(4), "value"), hr.GraphError, ["Resize", "value"]),
    "negative size": (lambda at: hr.Numpy(PAIRS).map(V.Resize(-3), "image"), hr.GraphError, ["size", "-3"]),
    "batch of nothing": (lambda at: NUMBERS.batch(0), hr.GraphError, ["batch", "size", "0"]),
    "negative batch": (lambda at: NUMBERS.batch(-4), hr.GraphError, ["batch", "size", "-4"]),
    "negative take": (lambda at: NUMBERS.take(-1), hr.GraphError, ["take", "count", "-1"]),
    "shuffle of nothing": (lambda at: NUMBERS.shuffle(0), hr.GraphError, ["shuffle", "window", "0"]),
    "repeat of nothing": (lambda at: NUMBERS.repeat(0), hr.GraphError, ["repeat", "count", "0"]),
    "step of nothing": (lambda at: hr.Range(0, 9, 0), hr.GraphError, ["Range", "step"]),
    "columns that clash": (lambda at: NUMBERS.zip(hr.Range(3)), hr.GraphError, ["value"]),
    "columns that differ": (lambda at: NUMBERS.concat(hr.Numpy({"x": np.arange(3)})), hr.GraphError, ["value", "x"]),
    "weights that lack one": (lambda at: hr.mix([NUMBERS, NUMBERS], [1], stop="all"), hr.GraphError, ["mix", "2 inputs", "1 weights"]),
    "weight of nothing": (lambda at: hr.mix([NUMBERS, NUMBERS], [1, 0], stop="all"), hr.GraphError, ["mix", "weights", "above 0"]),
    "types that differ": (lambda at: NUMBERS.concat(hr.Numpy({"value": np.zeros(3)})), hr.GraphError, ["value", "int64", "float64"]),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_before_anything_runs(mistake, tmp_path):
    make, kind, messages = MISTAKES[mistake]
    made = None
    with pytest.raises(kind) as caught:
        made = make(tmp_path)
        made.iterate()
    for message in messages:
        assert caught.match(message)
    # The line of the script is in the message, because several mistakes are reported at once.
    assert made is None or pathlib.Path(__file__).name in str(caught.value)
    assert len(list(NUMBERS.batch(5))) == 2


def test_an_empty_class(tmp_path, photos):
    folder = folder_of(tmp_path, photos)
    (folder / "hollow").mkdir()
    with pytest.raises(hr.NotFoundError, match="hollow.*allow_empty"):
        images(folder).iterate()
    allowed = hr.ImageFolder(folder, allow_empty=True, columns="label")
    assert len(list(allowed)) == 12


@pytest.mark.parametrize("executor", ["threads", "pull"])
def test_more_shards_than_rows(executor):
    lengths = [len(list(NUMBERS.batch(2).iterate(shard=(rank, 12), executor=executor))) for rank in range(12)]
    assert lengths == [1] * 10 + [0, 0]


def test_corrupt_and_newer_graph_files(tmp_path):
    path = tmp_path / "graph.hrg"
    NUMBERS.shuffle(3).batch(2).save(path)
    whole = path.read_bytes()
    path.write_bytes(b"not a graph at all, but some text")
    with pytest.raises(hr.GraphError, match=r"graph\.hrg"):
        hr.load(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(hr.GraphError):
        hr.load(path).iterate()
    newer = NUMBERS.batch(2).to_json()
    for field in (
        '"version": 1',
        '"format": 2',
        '"formatVersion": 1',
        '"version":1',
        '"format":2',
        '"formatVersion":1',
    ):
        if field in newer:
            path.write_text(newer.replace(field, field[:-1] + "99", 1))
            with pytest.raises((hr.GraphError, hr.UnsupportedError), match="newer|99"):
                hr.load(path).iterate()
            break
    else:
        raise AssertionError(newer)
