"""Batches of byte strings so long that they stay where they were read, in whatever takes such batches."""

import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import transforms as T

ROWS = 50


def contents() -> list[bytes]:
    """Some empty and short ones among those of 5 to 30 KB."""
    draws = np.random.default_rng(7)
    sizes = [0 if row % 13 == 5 else row if row % 7 == 3 else int(draws.integers(5_000, 30_000)) for row in range(ROWS)]
    return [draws.bytes(size) for size in sizes]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("long")
    for number, record in enumerate(contents()):
        (made / f"{number:02}.bin").write_bytes(record)
    hr.Numpy({"data": np.array(contents(), object)}).write_mindrecord(made / "long.mindrecord")
    hr.Numpy({"record": np.array(contents(), object)}).write_records(made / "long.rec")
    return made


SOURCES = {
    "files": lambda folder: hr.Files(str(folder / "*.bin")).project(["data"]),
    "mindrecord": lambda folder: hr.MindRecord(folder / "long.mindrecord", shuffle=False),
    "records": lambda folder: hr.RecordFile(folder / "long.rec").rename({"record": "data"}),
}


@pytest.fixture(params=SOURCES)
def rows(request, folder) -> hr.Dataset:
    return SOURCES[request.param](folder)


def joined(batches) -> list[bytes]:
    return [bytes(each) for batch in batches for each in batch["data"]]


def same(data: np.ndarray) -> np.ndarray:
    return data


WAYS = {
    "as bytes": lambda batches: batches,
    "as views": lambda batches: batches.options(bytes_as="memoryview"),
    "without caches": lambda batches: batches.options(disabled_passes=["insert_caches"]),
    "through a function": lambda batches: batches.map(same, "data"),
    "in two processes": lambda batches: batches.map(same, "data", processes=2),
    "through a kernel": lambda batches: batches.map([T.Concatenate(0)], ["data"], ["data"]),
    "from a cache": lambda batches: batches.cache(),
    "row by row again": lambda batches: batches.unbatch().batch(7),
    "shuffled with a window of one": lambda batches: batches.unbatch().shuffle(1).batch(5),
    "in groups": lambda batches: batches.batch(1).unbatch(),
}


@pytest.mark.parametrize("way", WAYS)
def test_batches_hold_the_strings(rows, way):
    batches = WAYS[way](rows.batch(8))
    for _ in range(2):
        assert joined(batches) == contents()


@given(size=st.integers(1, ROWS + 1), seed=st.integers(0, 3), drop=st.booleans())
@settings(max_examples=30, deadline=None)
def test_shuffled_batches_hold_the_strings_of_their_rows(folder, size, seed, drop):
    rows = hr.MindRecord(folder / "long.mindrecord", shuffle=True)
    alone = [bytes(row["data"]) for row in rows.iterate(seed=seed)]
    batches = rows.batch(size, drop_remainder=drop)
    kept = ROWS - ROWS % size if drop else ROWS
    assert joined(batches.iterate(seed=seed, bytes_as="memoryview")) == alone[:kept]


def test_arrow_gets_the_strings(rows):
    pyarrow = pytest.importorskip("pyarrow")
    tables = [pyarrow.record_batch(batch) for batch in rows.batch(8).options(as_="arrow")]
    assert [each.as_py() for table in tables for each in table["data"]] == contents()


def test_views_outlive_their_batch_and_its_pipeline(rows):
    views = [each for batch in rows.batch(8).options(bytes_as="memoryview") for each in batch["data"]]
    assert [bytes(view) for view in views] == contents()


def test_batches_that_the_user_keeps_take_no_room_of_the_pipeline(folder):
    rows = SOURCES["files"](folder).repeat(200).batch(8).options(bytes_as="memoryview", memory=16 << 20)
    kept = [batch["data"] for batch in rows.iterate(disabled_passes=["insert_caches"])]
    assert sum(len(data) for data in kept) == 200 * ROWS
    assert sum(len(each) for data in kept for each in data) > 100 << 20
