"""The photographs that the package carries."""

import pathlib

import headrace as hr
from headrace import vision as V

MOST_BYTES = 150_000


def files() -> list[pathlib.Path]:
    return sorted(pathlib.Path(hr.sample_photos()).glob("*/*.jpg"))


def test_there_are_three_in_each_of_four_classes():
    photos = hr.ImageFolder(hr.sample_photos())
    assert photos.classes == ["animals", "people", "space", "things"]
    assert [int(row["label"]) for row in photos] == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3


def test_they_are_decoded_and_none_is_tiny():
    for row in hr.ImageFolder(hr.sample_photos()).map(V.Decode(), "image"):
        assert row["image"].shape[2] == 3
        assert min(row["image"].shape[:2]) >= 100


def test_they_are_small_and_each_has_its_source_named():
    assert len(files()) == 12
    assert sum(path.stat().st_size for path in files()) <= MOST_BYTES
    sources = pathlib.Path(hr.sample_photos(), "README.md").read_text()
    assert [path.name for path in files() if f"`{path.parent.name}/{path.name}`" not in sources] == []


def test_they_lie_in_the_package():
    assert pathlib.Path(hr.sample_photos()).parent == pathlib.Path(hr.__file__).parent
