"""The examples that train on texts, tables, time series, boxes and masks: they learn, and their batches are what they say."""

import csv
import importlib.util
import itertools
import pathlib
import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import headrace as hr

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
NAMES = ["text", "tabular", "time_series", "detection", "segmentation"]

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"train_{name}", EXAMPLES / f"train_{name}.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture
def train(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[float]]:
    """Runs the example; returns the last number of each epoch's line."""

    def run(name: str, *arguments: str) -> list[float]:
        example(name).main(list(arguments))
        lines = re.findall(r"^epoch \d+: (.*)$", capsys.readouterr().out, re.MULTILINE)
        return [float(re.findall(r"\d+(?:\.\d+)?", line)[0]) for line in lines]

    return run


@pytest.mark.parametrize("name", NAMES)
def test_is_short_and_says_how_to_run_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (EXAMPLES / f"train_{name}.py").read_text()
    assert len(text.splitlines()) <= 120
    assert f"\nUsage: train_{name}.py [" in text
    with pytest.raises(SystemExit, match="0"):
        example(name).main(["--help"])
    assert "--epochs" in capsys.readouterr().out


def test_most_texts_are_told_apart(train: Callable[..., list[float]]) -> None:
    right = train("text", "--epochs=2")
    assert len(right) == 2 and right[-1] > 80


def test_a_table_tells_more_than_chance(train: Callable[..., list[float]]) -> None:
    assert train("tabular", "--epochs=3")[-1] > 65


def test_waves_are_forecast(train: Callable[..., list[float]]) -> None:
    first, last = train("time_series", "--epochs=2")
    assert last <= first < 0.1


def test_the_loss_of_a_detector_falls(train: Callable[..., list[float]]) -> None:
    losses = train("detection", "--epochs=6")
    assert losses[-1] < losses[0]


def test_discs_are_found_in_pictures(train: Callable[..., list[float]], tmp_path: pathlib.Path) -> None:
    losses = train("segmentation", "--epochs=2")
    assert losses[-1] < losses[0]


def test_texts_of_a_batch_have_similar_lengths(tmp_path: pathlib.Path) -> None:
    script = example("text")
    script.write_notes(tmp_path / "notes.csv")
    rows = hr.Csv(tmp_path / "notes.csv", {"text": str, "label": str}, classes="label", label_type="int64")
    vocabulary = script.vocabulary_of(str(row["text"]) for row in rows)
    edges = [0, 12, 24, 48, 1000]
    texts = 0
    for batch in script.batches(rows, vocabulary):
        assert batch["tokens"].dtype == batch["label"].dtype == np.int64
        lengths = (batch["tokens"] != script.PADDING).sum(1)
        assert any(low <= lengths.min() and lengths.max() < high for low, high in itertools.pairwise(edges))
        texts += len(lengths)
    assert texts == 400


def test_columns_of_a_table_are_standardised(tmp_path: pathlib.Path) -> None:
    script = example("tabular")
    file = tmp_path / "passengers.csv"
    script.write_passengers(file)
    with file.open() as lines:
        table = list(csv.DictReader(lines))
    rows = hr.Csv(file, script.TYPES, missing=script.MISSING, classes=dict.fromkeys(script.CATEGORIES))
    features = np.concatenate(
        [batch["features"] for batch in script.batches(rows, script.scale_of(rows), {"deck": 3, "port": 2})]
    )
    assert features.shape == (600, 9) and features.dtype == np.float32
    assert features[:, 2].tolist() == [row["age"] == "NA" for row in table]
    np.testing.assert_allclose(features[:, 1].mean(), 0, atol=1e-5)
    ages = np.array([float(row["age"]) for row in table if row["age"] != "NA"])
    expected = [0 if row["age"] == "NA" else (float(row["age"]) - ages.mean()) / ages.std() for row in table]
    np.testing.assert_allclose(features[:, 0], expected, atol=1e-5)
    assert [rows.classes_of("deck")[number] for number in features[:, 4:7].argmax(1)] == [row["deck"] for row in table]


def test_windows_cover_the_series_and_copy_one_batch_of_it() -> None:
    script = example("time_series")
    series = np.arange(40_000, dtype=np.float32).reshape(20_000, 2)
    rows = script.batches(series, 32)
    starts = []
    tracemalloc.start()
    for batch in rows:
        whole = np.concatenate([batch["past"], batch["future"]], 1)
        first = (whole[:, 0, 0] / 2).astype(int)
        assert np.array_equal(whole, np.stack([series[start : start + 120] for start in first]))
        starts += first.tolist()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sorted(starts) == list(range(20_000 - 120 + 1))
    assert peak < len(starts) * 120 * 2 * 4 / 2


def test_cells_of_a_detector_hold_the_objects(tmp_path: pathlib.Path) -> None:
    script = example("detection")
    script.write_pictures(tmp_path)
    rows = hr.Manifest(tmp_path, output="image")
    for batch in script.batches(rows, augment=True).options(as_="torch"):
        assert batch["boxes_splits"].tolist() == batch["kinds_splits"].tolist()
        kinds, sides = script.targets(batch)
        assert kinds.shape == (len(batch["image"]), 8, 8)
        named = [
            sorted(batch["kinds"][start:stop].tolist())
            for start, stop in itertools.pairwise(batch["boxes_splits"].tolist())
        ]
        # Two middles may lie in one cell, which then holds one of both.
        for cells, expected in zip(kinds, named, strict=True):
            assert set(cells[cells < script.KINDS].tolist()) <= set(expected)
        assert bool((sides[kinds < script.KINDS][:, :2] < sides[kinds < script.KINDS][:, 2:]).all())


def test_a_picture_without_a_mask_is_named(tmp_path: pathlib.Path) -> None:
    script = example("segmentation")
    script.write_pictures(tmp_path)
    rows = hr.Manifest(tmp_path, output="image")
    values = {
        int(value) for batch in script.batches(rows, tmp_path, augment=True) for value in np.unique(batch["mask"])
    }
    assert values <= {0, 1, script.IGNORED} and {0, 1} <= values
    (tmp_path / "masks/7.png").unlink()
    with pytest.raises(hr.NotFoundError, match=r"masks/7\.png"):
        list(script.batches(rows, tmp_path, augment=False))
