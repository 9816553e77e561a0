"""Notes of rows: crops of JPEGs begin at entry points that were found before, and no byte changes."""

import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V

MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


def training(folder: pathlib.Path | str) -> hr.Dataset:
    """The README's pipeline."""
    return (
        hr.ImageFolder(folder, shuffle=True)
        .map(
            [V.Decode(), V.RandomResizedCrop(224), V.RandomHorizontalFlip(), V.Normalize(MEAN, STD), V.HWC2CHW()],
            "image",
        )
        .batch(4, drop_remainder=True)
    )


def keep_bytes(patch: pytest.MonkeyPatch) -> None:
    """Keeps the bytes of files, whatever they cost, so that each epoch decodes each image."""
    bound_graph: Callable[..., Any] = hr.Dataset._bound_graph

    def bound(dataset: hr.Dataset, *given: dict[str, Any]) -> Any:
        return bound_graph(dataset, *({**options, "choose_cache_point": lambda points: 0} for options in given))

    patch.setattr(hr.Dataset, "_bound_graph", bound)


@pytest.fixture
def from_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_bytes(monkeypatch)


def images(batches: hr.Iterator) -> list[np.ndarray]:
    return [batch["image"] for batch in batches]


def expect_plain(dataset: hr.Dataset, epoch: int, given: list[np.ndarray]) -> None:
    plain = images(dataset.iterate(epoch=epoch, optimize=False))
    assert len(plain) == len(given)
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(given, plain, strict=True))


UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def expect_within(text: str, limit: int) -> None:
    """Rows and notes together take no more than the memory of the cache, as far as the report's digits say."""
    rows = re.search(r"memory ([\d.]+) (\w+) of", text)
    notes = re.search(r"notes of rows, ([\d.]+) (\w+) in memory", text)
    held = sum(float(found[1]) * UNITS[found[2]] for found in (rows, notes) if found)
    assert held <= 1.02 * limit, text


def many_photos(folder: pathlib.Path, count: int, others: int = 0) -> pathlib.Path:
    """Photographs over and over, and pictures that leave no note: JPEGs too small for one."""
    photos = sorted(pathlib.Path(hr.sample_photos()).glob("*/*.jpg"))
    small = V.EncodeJpeg()(np.zeros((32, 32, 3), np.uint8))
    for number in range(count + others):
        of_class = folder / str(number % 4)
        of_class.mkdir(parents=True, exist_ok=True)
        data = photos[number % len(photos)].read_bytes() if number < count else bytes(small)
        (of_class / f"{number}.jpg").write_bytes(data)
    return folder


def noted(text: str) -> tuple[int, int]:
    """How many notes there are, and for how many rows one saved work."""
    found = re.search(r"(\d+) notes of rows, .* in memory.*; (\d+) rows were made faster by theirs", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@pytest.mark.usefixtures("from_bytes")
def test_crops_of_the_second_epoch_begin_at_entry_points():
    dataset = training(hr.sample_photos())
    expect_plain(training(hr.sample_photos()), 0, images(iter(dataset)))
    first = noted(dataset.explain())
    # The next epoch may have begun, and used some of them.
    assert first[0] >= 6
    expect_plain(training(hr.sample_photos()), 1, images(iter(dataset)))
    # An image that was drawn nearly whole has no note.
    assert noted(dataset.explain())[1] >= first[0] - 3


@pytest.mark.parametrize("others", [0, 100])
def test_in_a_memory_for_some_pixels_the_other_crops_begin_at_entry_points(tmp_path, others):
    folder = many_photos(tmp_path, 200, others)
    with training(folder).repeat(2).iterate(memory="16MB") as run:
        given = images(run)
        text = run.explain()
    notes, uses = noted(text)
    assert notes >= 20
    assert uses >= 5
    expect_within(text, 8_000_000)
    plain = images(training(folder).repeat(2).iterate(optimize=False))
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(given, plain, strict=True))


@pytest.mark.parametrize("forced", [False, True])
def test_a_second_run_over_a_folder_stays_within_its_memory(tmp_path, forced):
    """Where rows of the first run settle the cache point, and no row is measured."""
    folder = many_photos(tmp_path / "photos", 100, 50)
    kept = tmp_path / "kept"
    with pytest.MonkeyPatch.context() as patch:
        if forced:
            keep_bytes(patch)
        images(training(folder).iterate(cache=kept, memory="8MB"))
    with training(folder).iterate(epoch=3, cache=kept, memory="8MB") as run:
        expect_plain(training(folder), 3, images(run))
        text = run.explain()
    expect_within(text, 4_000_000)
    if forced:
        assert noted(text)[1] >= 50


@pytest.mark.usefixtures("from_bytes")
def test_a_folder_keeps_them_for_later_runs(tmp_path):
    kept = tmp_path / "kept"
    images(training(hr.sample_photos()).iterate(cache=kept))
    with training(hr.sample_photos()).iterate(epoch=3, cache=kept) as run:
        expect_plain(training(hr.sample_photos()), 3, images(run))
        text = run.explain()
    assert noted(text)[1] >= 6
    assert "in the folder" in text


@pytest.mark.usefixtures("from_bytes")
def test_they_can_be_turned_off():
    dataset = training(hr.sample_photos())
    with dataset.iterate(disabled_passes=["insert_caches"]) as run:
        images(run)
        assert "notes" not in run.explain()


def cached_bytes(folder: pathlib.Path | str, kept: pathlib.Path | None) -> hr.Dataset:
    """The user's cache keeps the encoded bytes, and each epoch decodes other crops of them."""
    return (
        hr.ImageFolder(folder)
        .cache(directory=kept)
        .map([V.Decode(), V.RandomResizedCrop(224, seed=3)], "image")
        .batch(4, drop_remainder=True)
    )


@pytest.mark.parametrize("named", [False, True])
def test_they_are_kept_beside_the_users_cache(tmp_path, named):
    kept = tmp_path / "kept" if named else None
    dataset = cached_bytes(hr.sample_photos(), kept)
    assert "no automatic cache, as cache[1] keeps its rows; notes of its rows in memory" in dataset.explain()
    with dataset.repeat(3).iterate() as run:
        given = images(run)
        notes, uses = noted(run.explain())
    plain = images(dataset.repeat(3).iterate(optimize=False))
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(given, plain, strict=True))
    assert notes >= 6
    assert uses >= 6


def test_the_folder_of_the_users_cache_keeps_them_for_later_runs(tmp_path):
    dataset = cached_bytes(hr.sample_photos(), tmp_path)
    images(dataset.iterate())
    with dataset.iterate(epoch=1) as run:
        given = images(run)
        text = run.explain()
    plain = images(dataset.iterate(epoch=1, optimize=False))
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(given, plain, strict=True))
    assert noted(text)[1] >= 2
    assert "in the folder" in text


def test_rows_that_the_users_cache_has_no_room_for_keep_them():
    """Rows are kept after the crop, in a memory for none of them."""
    dataset = (
        hr.ImageFolder(hr.sample_photos())
        .map([V.Decode(), V.CenterCrop(100)], "image")
        .cache(memory=0)
        .batch(4, drop_remainder=True)
    )
    with dataset.repeat(3).iterate() as run:
        given = images(run)
        _, uses = noted(run.explain())
    plain = images(dataset.repeat(3).iterate(optimize=False))
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(given, plain, strict=True))
    assert uses >= 12


def test_below_a_cache_of_batches_notes_alone_are_kept(tmp_path):
    """An epoch of batches does not fit in a memory of none, and each epoch decodes anew."""
    dataset = (
        hr.ImageFolder(hr.sample_photos())
        .map([V.Decode(), V.CenterCrop(100)], "image")
        .batch(4, drop_remainder=True)
        .cache(memory=0)
    )
    with dataset.repeat(3).iterate(cache=str(tmp_path)) as run:
        given = images(run)
        text = run.explain()
    plain = images(dataset.repeat(3).iterate(optimize=False))
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(given, plain, strict=True))
    assert "map[1]: no automatic cache, as cache[3] keeps its rows" in text
    assert noted(text)[1] >= 12


def test_beside_the_users_cache_they_can_be_turned_off(tmp_path):
    with cached_bytes(hr.sample_photos(), tmp_path).repeat(2).iterate(disabled_passes=["insert_caches"]) as run:
        images(run)
        assert "notes" not in run.explain()
