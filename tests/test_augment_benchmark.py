"""benchmarks/augment.py: its work and its tables, without the peers, which are not installed here."""

import argparse
import importlib
import itertools
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture
def augment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for folder in ("benchmarks/compare", "benchmarks"):
        monkeypatch.syspath_prepend(str(ROOT / folder))
    path = list(sys.path)
    yield importlib.import_module("augment")
    for name in ("augment", "augment_kernels", "augment_recipes", "machine", "process_tree"):
        sys.modules.pop(name, None)
    sys.path[:] = path


def test_each_recipe_makes_batches(augment: Any, photos: pathlib.Path) -> None:
    for recipe in augment.augment_recipes.RECIPES:
        views = ["first", "second"] if recipe == "simclr" else ["image"]
        for batch in itertools.islice(augment.augment_recipes.headrace_batches(recipe, str(photos)), 1):
            assert sorted(batch) == sorted([*views, "label"])
            for view in views:
                assert batch[view].shape == (32, 3, 224, 224) and batch[view].dtype == np.float32
            assert len(views) == 1 or not np.array_equal(batch["first"], batch["second"])


def test_each_kernel_of_the_table_is_called(augment: Any) -> None:
    kernels = augment.augment_kernels
    calls = kernels.headrace_calls(str(augment.PICTURE))
    assert set(calls) == set(kernels.LIBRARIES)
    found = kernels.nanoseconds(calls, 0)
    assert set(found) == set(calls) and all(value > 0 for value in found.values())


def test_the_table_has_the_slowest_first(augment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(augment.augment_kernels, "LIBRARIES", {"Invert": "Pillow", "Pad": "Pillow"})
    ours, peers = [{"Invert": 1000.0, "Pad": 4000.0}, {"Invert": 2000.0, "Pad": 4000.0}], [
        {"Invert": 3000.0, "Pad": 2000.0}, {"Invert": 2000.0, "Pad": 2000.0}
    ]  # fmt: skip
    lines = augment.kernel_table({"headrace": ours, "peer": peers}).splitlines()
    assert lines[2:] == [
        "| Pad | Pillow | 4.0 | 2.0 | 0.50 (0.50–0.50) |",
        "| Invert | Pillow | 1.5 | 2.5 | 2.00 (1.00–3.00) |",
    ]


def test_the_page_says_how_it_was_measured(augment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(augment, "versions", lambda python: "torch 1")
    options = argparse.Namespace(rounds=2, pictures=64, seconds=0.1)
    runs = {side: [{"a second": 10.0 * i, "a CPU second": 5.0} for i in (1, 2)] for side in augment.SIDES}
    table = augment.pipeline_table({"jitter": runs})
    assert "| jitter, a second | 15 (10–20) | 15 (10–20) | 15 (10–20) | 1.00 (1.00–1.00) |" in table
    noisy, quiet = (augment.page(table, "KERNELS", "python", load, options) for load in (6.0, 0.1))
    assert table in noisy and "KERNELS" in noisy and "torch 1" in noisy
    assert "augment.py DIR --rounds=2 --pictures=64 --seconds=0.1 --out docs/benchmarks" in noisy
    assert "other processes used the cores meanwhile" in noisy and "other processes" not in quiet
