"""A slow disk under the sources: the same rows, and a report that names it."""

import concurrent.futures
import multiprocessing
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

import headrace as hr
from tests.faults import preload
from tests.pipelines import PIPELINES
from tests.running import Outcome
from tests.running import read_all as outcome_of


@pytest.fixture(scope="module")
def slow_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[concurrent.futures.Executor]:
    """A process in which each open and each read of the engine takes a millisecond longer."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LD_PRELOAD", str(preload.build("slow_files", tmp_path_factory.mktemp("slow"))))
        environment.setenv("SLOW_FILES_OPEN_US", "1000")
        environment.setenv("SLOW_FILES_READ_US", "1000")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
            yield executor


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("files")
    for number in range(40):
        (folder / f"{number:02}.bin").write_bytes(bytes([number]) * number)
    return folder


def read_all(folder: pathlib.Path) -> list[bytes]:
    return [row["data"] for row in hr.Files(str(folder / "*.bin"), shuffle=True).iterate(epoch=3)]


def report_of(folder: pathlib.Path, rows: int, **options: Any) -> tuple[Any, str]:
    files = hr.Files(str(folder / "*.bin")).repeat()
    with files.iterate(**options) as iterator:
        for _, _ in zip(range(rows), iterator, strict=False):
            pass
        report = iterator.report()
    return report, files.explain()


def test_rows_are_the_same(folder: pathlib.Path, slow_disk: concurrent.futures.Executor) -> None:
    assert slow_disk.submit(read_all, folder).result() == read_all(folder)


# Each format of files, by number and in splits.
FORMATS = [
    "text_splits",
    "numbered_lines",
    "compressed_lines_in_splits",
    "json_lines",
    "numbered_json_lines",
    "tables",
    "numbered_tables",
    "sparse_rows",
    "packed_images",
    "packed_images_in_splits",
    "part_of_records",
    "examples_by_number",
    "examples_in_files",
    "compressed_examples",
    "samples_by_number",
    "samples_in_shards",
    "mind_records",
    "mind_arrays",
]


def outcome_at(name: str, data: pathlib.Path) -> Outcome:
    return outcome_of(PIPELINES[name](data), seed=5, epoch=1)


@pytest.mark.parametrize("name", FORMATS)
def test_rows_of_every_format_are_the_same(
    name: str, data: pathlib.Path, slow_disk: concurrent.futures.Executor
) -> None:
    expected = outcome_at(name, data)
    assert expected.rows
    assert slow_disk.submit(outcome_at, name, data).result() == expected


@pytest.mark.timing
def test_the_report_says_what_a_read_takes(folder: pathlib.Path, slow_disk: concurrent.futures.Executor) -> None:
    report, text = slow_disk.submit(report_of, folder, 3000).result()
    source = report["stages"][-1]
    assert source["caps"][0][1] == 16
    assert source["bytes"] >= 3000 * 19
    assert report["limit"] == "disk", report["advice"]
    assert "reads outstanding on average, at most" in text
    assert "a read took" in text and "The disk is the bottleneck" in text


def test_a_number_of_workers_is_kept(folder: pathlib.Path, slow_disk: concurrent.futures.Executor) -> None:
    report, _ = slow_disk.submit(report_of, folder, 500, workers=3).result()
    source = report["stages"][-1]
    assert source["cap"] == source["widest"] == 3 and source["caps"] == []
