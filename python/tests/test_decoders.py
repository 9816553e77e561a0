"""Decode by the engine's own decoder of JPEGs and by libjpeg-turbo: one cannot be told from the other, except by what
explain() counts."""

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from PIL import Image

import headrace as hr
from headrace import vision as V

OWN = "JPEGs by Headrace's decoder"
TURBO = "JPEGs by libjpeg-turbo"

by_either = V.Decode()
by_turbo = V.Decode(decoder="libjpeg-turbo")


@pytest.fixture(scope="module")
def folder(photos, tmp_path_factory) -> pathlib.Path:
    """Four sequential JPEGs, a progressive one, one with damage, and a PNG."""
    root = tmp_path_factory.mktemp("images") / "a"
    root.mkdir()
    for i, path in enumerate(sorted(photos.glob("*/*.jpg"))[:4]):
        (root / f"{i}.jpg").write_bytes(path.read_bytes())
    image = Image.open(root / "0.jpg")
    image.save(root / "progressive.jpg", progressive=True)
    image.save(root / "other.png")
    (root / "damaged.jpg").write_bytes((root / "1.jpg").read_bytes()[:9000] + b"\xff\xd9")
    return root.parent


def images(folder: pathlib.Path, decode: V.Decode, *steps: Any) -> hr.Dataset:
    return hr.ImageFolder(folder).map([decode, *steps], "image")


def work(rows: hr.Iterator) -> Mapping[str, int]:
    (operator,) = rows.report()["work"]
    assert operator["name"] == "map[1]"
    counts: Mapping[str, int] = operator["counts"]
    return counts


@pytest.mark.parametrize(
    "steps", [[], [V.RandomResizedCrop(64)], [V.Resize(96), V.CenterCrop(80)]], ids=["whole", "crops", "validation"]
)
def test_pixels_are_equal(folder, steps):
    given = [[row["image"] for row in images(folder, decode, *steps).iterate()] for decode in (by_either, by_turbo)]
    assert len(given[0]) == 7
    for one, other in zip(*given, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("scale", [1, 2, 4, 8])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_pixels_of_calls_are_equal(folder, mode, scale):
    turbo = V.Decode(mode=mode, scale=scale, decoder="libjpeg-turbo")
    for path in folder.glob("a/*.jpg"):
        np.testing.assert_array_equal(turbo(path.read_bytes()), V.Decode(mode=mode, scale=scale)(path.read_bytes()))


@pytest.mark.parametrize("optimize", [True, False])
def test_who_decoded_how_many_is_counted(folder, optimize):
    rows = images(folder, by_either, V.RandomResizedCrop(32, scale=(1, 1), ratio=(1.3, 1.4))).iterate(optimize=optimize)
    assert len(list(rows)) == 7
    assert work(rows) == {OWN: 4, TURBO: 2}
    assert f"map[1]: 4 {OWN}, 2 {TURBO}" in rows.explain()
    rows = images(folder, by_turbo).iterate(optimize=optimize)
    assert len(list(rows)) == 7
    assert work(rows) == {TURBO: 6}
    assert f"map[1]: 6 {TURBO}" in rows.explain()


def test_smaller_images_are_counted(folder):
    files = sorted(str(path) for path in folder.glob("a/*.jpg"))
    rows = hr.Files(files, columns="data").map([V.Decode(scale=2), V.CenterCrop(40)], "data").iterate()
    assert {row["data"].shape for row in rows} == {(40, 40, 3)}
    assert sum(work(rows).values()) == 6 and work(rows)[OWN] >= 4


def test_nothing_is_counted_where_nothing_is_decoded(folder):
    rows = hr.ImageFolder(folder, columns=["label"]).iterate()
    assert len(list(rows)) == 7
    assert rows.report()["work"] == [] and "JPEGs" not in rows.explain()


def test_rows_found_in_a_cache_are_not_counted(folder):
    # On one thread no row is asked for again before it is kept.
    rows = images(folder, by_either).cache().repeat(3).iterate(executor="pull")
    assert len(list(rows)) == 21
    assert sum(work(rows).values()) == 6


def test_a_choice_counts_what_it_decodes(folder):
    both = hr.ImageFolder(folder).map(V.RandomChoice([by_turbo, by_turbo]), "image")
    rows = both.iterate()
    assert len(list(rows)) == 7
    assert work(rows) == {TURBO: 6}


def test_states_move_between_the_two(folder):
    for first, second in ((by_either, by_turbo), (by_turbo, by_either)):
        begun = images(folder, first, V.RandomResizedCrop(24)).shuffle(4).iterate()
        for _ in range(3):
            next(begun)
        rest = [
            row["image"]
            for row in images(folder, second, V.RandomResizedCrop(24)).shuffle(4).iterate(state=begun.state())
        ]
        expected = [row["image"] for row in begun]
        assert len(rest) == 4
        assert all(np.array_equal(one, other) for one, other in zip(expected, rest, strict=True))


def test_caches_move_between_the_two(folder, tmp_path):
    kept = [row["image"] for row in images(folder, by_either).cache(directory=tmp_path / "kept").iterate()]
    rows = images(folder, by_turbo).cache(directory=tmp_path / "kept").iterate()
    for one, other in zip(kept, rows, strict=True):
        np.testing.assert_array_equal(one, other["image"])
    assert rows.report()["work"] == []


def test_graphs_have_one_hash(folder):
    hashes = {hr.inference(images(folder, decode), keep="image").hash for decode in (by_either, by_turbo)}
    assert len(hashes) == 1
