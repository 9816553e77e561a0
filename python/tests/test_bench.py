"""`headrace bench`: what it measures, prints and refuses. Tests check that figures exist, not their values."""

import json

import pytest

import headrace as hr
from headrace import vision as V
from headrace.__main__ import main
from headrace._commands import bench


@pytest.fixture
def saved(photos, tmp_path):
    path = tmp_path / "train.hrg"
    hr.ImageFolder(str(photos), shuffle=True).map([V.Decode(), V.RandomResizedCrop(32)], "image").batch(4).save(path)
    return str(path)


def figures(capsys, *arguments):
    assert main(["bench", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_epochs_are_counted_in_items_and_batches(capsys, saved):
    found = figures(capsys, saved, "--epochs", "2")
    assert (found["items"], found["batches"], found["unit"]) == (24, 6, "images")
    assert 0 < found["first_batch_seconds"] <= found["seconds"]
    assert found["items_per_second"] > 0 and found["cpu_seconds_per_1000_items"] > 0
    assert found["peak_resident_bytes"] > found["engine_peak_bytes"] > 0
    assert found["limit"] and found["advice"][0]


def test_batches_end_the_run_across_epochs(capsys, saved):
    assert figures(capsys, saved, "--batches", "4")["items"] == 16


def test_seconds_end_the_run_of_an_endless_pipeline(capsys, tmp_path):
    hr.Range(10).repeat().save(tmp_path / "g.hrg")
    found = figures(capsys, str(tmp_path / "g.hrg"), "--seconds", "0.1")
    assert found["items"] == found["batches"] > 0 and found["seconds"] >= 0.1
    assert found["unit"] == "rows"


def test_each_part_is_measured_alone(capsys, saved):
    parts = figures(capsys, saved, "--batches", "2")["parts"]
    assert [part["name"] for part in parts] == ["ImageFolder", "map (Decode, RandomResizedCrop)", "batch"]
    assert all(part["items_per_second"] > 0 for part in parts)
    assert sum(part["adds_us"] for part in parts) == pytest.approx(1e6 / parts[-1]["items_per_second"])


def test_what_joins_several_is_one_part(capsys, tmp_path):
    joined = hr.Range(4).zip(hr.Range(4).rename({"value": "other"})).batch(2)
    joined.save(tmp_path / "g.hrg")
    parts = figures(capsys, str(tmp_path / "g.hrg"), "--batches", "2")["parts"]
    assert [part["name"] for part in parts] == ["zip", "batch"]


def test_rows_of_a_batch_that_is_taken_apart_count_once(capsys, tmp_path):
    hr.Range(6).batch(3).unbatch().save(tmp_path / "g.hrg")
    found = figures(capsys, str(tmp_path / "g.hrg"), "--epochs", "1")
    assert (found["items"], found["batches"]) == (6, 6)


def test_a_slow_loop_is_the_limit(capsys, tmp_path):
    hr.Range(1000).batch(2).save(tmp_path / "g.hrg")
    found = figures(capsys, str(tmp_path / "g.hrg"), "--batches", "5", "--step", "200")
    assert found["limit"] == "consumer" and "training loop" in found["advice"][0]


def test_the_text_names_every_part_and_stage(capsys, saved):
    assert main(["bench", saved, "--batches", "2"]) == 0
    shown = capsys.readouterr().out
    for text in ("images a second", "first batch after", "memory:", "map (Decode", "ImageFolder[0]", "batch[2]"):
        assert text in shown


def test_python_functions_are_refused_with_their_names(capsys, tmp_path):
    hr.Range(10).map(lambda x: x, "value").save(tmp_path / "g.hrg")
    assert main(["bench", str(tmp_path / "g.hrg")]) == 1
    refusal = capsys.readouterr().err
    assert "<lambda>" in refusal and "ds.profile(path)" in refusal


def test_a_pipeline_without_rows_is_refused(capsys, tmp_path):
    hr.Range(10).take(0).save(tmp_path / "g.hrg")
    assert main(["bench", str(tmp_path / "g.hrg"), "--batches", "1"]) == 1
    assert "gives no rows" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--seconds", "0"], ["--batches", "-1"], ["--epochs", "0"], ["--step", "-2"]])
def test_limits_must_be_above_nothing(capsys, saved, arguments):
    with pytest.raises(SystemExit):
        main(["bench", saved, *arguments])
    assert "is not above 0" in capsys.readouterr().err


def test_no_engine_is_left_open(saved):
    dataset = hr.load(saved)
    bench.measure(dataset, bench.Limits(epochs=1))
    assert dataset._parked == []
