"""A slow disk, as benchmarks put it under the sources: the same rows, and a report that names it."""

import pathlib
from collections.abc import Iterator

import pytest

import headrace as hr
from headrace import _engine


@pytest.fixture
def slow_files() -> Iterator[None]:
    _engine.delay_files(0.001, 0.001)
    yield
    _engine.delay_files(0, 0)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    for number in range(40):
        (tmp_path / f"{number:02}.bin").write_bytes(bytes([number]) * number)
    return tmp_path


def test_rows_are_the_same(folder: pathlib.Path, request: pytest.FixtureRequest) -> None:
    files = hr.Files(str(folder / "*.bin"), shuffle=True)
    fast = [row["data"] for row in files.iterate(epoch=3)]
    request.getfixturevalue("slow_files")
    assert [row["data"] for row in files.iterate(epoch=3)] == fast


def test_the_report_says_what_a_read_takes(folder: pathlib.Path, slow_files: None) -> None:
    files = hr.Files(str(folder / "*.bin")).repeat()
    with files.iterate() as rows:
        for _, _ in zip(range(3000), rows, strict=False):
            pass
        report = rows.report()
    text = files.explain()
    source = report["stages"][-1]
    assert source["caps"][0][1] == 16
    assert source["bytes"] >= 3000 * 19
    assert report["limit"] == "disk", report["advice"]
    assert "reads outstanding on average, at most" in text
    assert "a read took" in text and "The disk is the bottleneck" in text


def test_a_number_of_workers_is_kept(folder: pathlib.Path, slow_files: None) -> None:
    with hr.Files(str(folder / "*.bin")).repeat().iterate(workers=3) as rows:
        for _, _ in zip(range(500), rows, strict=False):
            pass
        source = rows.report()["stages"][-1]
    assert source["cap"] == source["widest"] == 3 and source["caps"] == []


def test_a_delay_is_not_negative() -> None:
    with pytest.raises(hr.GraphError, match="negative"):
        _engine.delay_files(-1, 0)
