"""Automatic caches: they change no byte, and explain() describes them."""

import re
from collections.abc import Iterator as PythonIterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import vision as V


def crops(photos: str) -> hr.Dataset:
    kernels = [V.Decode(), V.Resize((40, 50)), V.RandomCrop(32), V.RandomHorizontalFlip(), V.HWC2CHW()]
    return hr.ImageFolder(photos, shuffle=True).map(kernels, "image")


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> PythonIterator[Any]:
    """Keeps rows at the given cache point, whatever they cost."""
    bound_graph = hr.Dataset._bound_graph

    def force(point: int) -> None:
        choice = {"choose_cache_point": lambda points: point} if point >= 0 else {}

        def bound(dataset: hr.Dataset, *given: dict[str, Any]) -> tuple[Any, ...]:
            return bound_graph(dataset, *({**options, **choice} for options in given))

        monkeypatch.setattr(hr.Dataset, "_bound_graph", bound)

    yield force


def images(batches: hr.Iterator) -> list[np.ndarray]:
    return [batch["image"] for batch in batches]


@pytest.mark.parametrize("point", [-1, 0, 1, 2])
def test_three_epochs_have_the_bytes_of_the_plain_run(photos, forced, point):
    plain = [images(crops(photos).batch(5).iterate(epoch=epoch, optimize=False)) for epoch in range(3)]
    forced(point)
    dataset = crops(photos).batch(5)
    for epoch in range(3):
        for ours, theirs in zip(images(iter(dataset)), plain[epoch], strict=True):
            assert np.array_equal(ours, theirs)


def test_what_is_kept_is_explained(photos, forced):
    forced(1)
    dataset = crops(photos).batch(5)
    assert (
        "automatic cache in map[1]: if the first rows show that it pays, at the latest after Resize"
        in dataset.explain()
    )
    for _ in range(3):
        images(iter(dataset))
    text = dataset.explain()
    found = re.search(r"cache in map\[1\] after Decode: (\d+) of (\d+) rows \(100%\) kept; memory .* (\d+) found", text)
    assert found, text
    assert found[1] == found[2]
    assert int(found[3]) >= 2 * int(found[1])


def test_rows_that_were_found_are_no_reads(photos, forced):
    forced(1)
    once = crops(photos).iterate()
    counted = len(images(once))
    assert [once.report()["stages"][-1][key] for key in ("found_rows", "found_bytes")] == [0, 0]
    passes = crops(photos).repeat(60).iterate()
    assert len(images(passes)) == 60 * counted
    source = passes.report()["stages"][-1]
    assert source["rows"] == 60 * counted
    # All except the rows that were in flight before the first ones were kept.
    assert 20 * counted < source["found_rows"] < 60 * counted
    assert 0 < source["found_bytes"] < source["bytes"]


@pytest.mark.parametrize("point", [-1, 0, 1, 2])
def test_above_what_passes_rows_are_the_bytes_of_the_plain_run(photos, forced, point):
    kernels = [V.Decode(), V.Resize((40, 50)), V.RandomCrop(32), V.RandomHorizontalFlip()]
    passes = hr.ImageFolder(photos, shuffle=True).repeat(20).shuffle(7).filter(hr.col("label") > 0)
    passes = passes.map(kernels, "image")
    plain = images(passes.iterate(optimize=False))
    forced(point)
    ours = passes.iterate()
    assert all(np.array_equal(mine, other) for mine, other in zip(images(ours), plain, strict=True))
    if point >= 0:
        assert re.search(r"cache in map\[4\] after? ?.*; [1-9]\d* found", ours.explain()), ours.explain()


def test_one_epoch_keeps_nothing_and_says_so(photos, forced):
    forced(1)
    dataset = crops(photos)
    with dataset.iterate() as rows:
        for _ in rows:
            pass
        assert "map[1]: no automatic cache, as only one epoch is run" in rows.explain()


def test_rows_are_the_users_own(photos, forced):
    for point in (0, 1, 2):
        forced(point)
        dataset = hr.ImageFolder(photos).map([V.Decode(), V.CenterCrop(20)], "image")
        for _ in range(3):
            for row in dataset:
                row["image"][:] = 0
                row["label"][...] = 7


def test_a_folder_serves_later_runs(photos, forced, tmp_path):
    forced(1)
    expected = images(crops(photos).iterate(epoch=4, optimize=False))
    images(crops(photos).iterate(cache=tmp_path / "kept"))
    forced(2)
    with crops(photos).iterate(epoch=4, cache=str(tmp_path / "kept")) as rows:
        got = images(rows)
        text = rows.explain()
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(got, expected, strict=True))
    assert f"{len(got)} found, 0 made" in text
    with pytest.raises(hr.GraphError, match="it must be a path"):
        crops(photos).iterate(cache="")


def test_it_can_be_turned_off(photos, forced):
    forced(1)
    dataset = crops(photos)
    with dataset.iterate(disabled_passes=["insert_caches"]) as rows:
        next(rows)
        assert "cache" not in rows.explain()
