"""How many requests and bytes pipelines cost: one listing, no request for single files, ranges and parts of their own."""

import hashlib
import os
import pathlib
from collections.abc import Iterator

import numpy as np
import pytest

import headrace as hr
from tests.far import stores
from tests.far.s3_server import S3Server
from tests.far.stores import Store

LINES = b"".join(b"line %06d of a text that has ranges of its own\n" % number for number in range(100_000))


@pytest.fixture(params=stores.LISTING_KINDS)
def listing(request: pytest.FixtureRequest, far_library: None) -> Iterator[Store]:
    with stores.opened(request.param) as store:
        yield store


def test_files_cost_one_listing_and_a_request_each(listing: Store) -> None:
    for number in range(200):
        listing.put(f"{number:03}.bin", b"%d" % number)
    files = hr.Files(listing.url("*.bin"), shuffle=True)
    for epoch in range(2):
        assert len(list(files.iterate(epoch=epoch, storage=listing.storage))) == 200
    counts = listing.counts()
    # A store of prefixes may look for folders first.
    assert 1 <= sum(counts.get(kind, 0) for kind in listing.lists) <= 2
    assert "head" not in counts
    # HDFS has no conditional reads: a file's version is compared after its read.
    assert counts.get("getfilestatus", 0) <= 400
    # A redirect is a request of the NameNode's. On a busy machine 2 in 100 requests may be sent a second time.
    assert 0 <= sum(counts.get(kind, 0) for kind in listing.reads) - 400 * (2 if listing.cluster else 1) <= 8


def test_class_folders_cost_one_listing(s3: Store) -> None:
    for number in range(60):
        s3.put(f"class {number % 4}/{number:02}.jpg", b"%d" % number)
    images = hr.ImageFolder(s3.root, columns=["image", "label"])
    rows = list(images.iterate(storage=s3.storage))
    assert [int(row["label"]) for row in rows] == sorted(number % 4 for number in range(60))
    counts = s3.counts()
    assert counts["list"] <= 5 and "head" not in counts and counts["get"] == 60


def test_len_and_peeks_need_no_bytes_of_files(s3: Store) -> None:
    for number in range(30):
        s3.put(f"{number}.bin", b"x" * 1000)
    with hr.storage(s3.storage):
        assert len(hr.Files(s3.url("*.bin"))) == 30
    counts = s3.counts()
    assert set(counts) == {"list"} and counts["list"] <= 2


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_a_rank_asks_for_its_own_ranges_alone(s3: Store, ranks: int) -> None:
    s3.put("lines.txt", LINES)
    lines = hr.Text(s3.url("*.txt"), sharding="splits", split_bytes=100_000)
    total = []
    for rank in range(ranks):
        s3.forget()
        total.append([str(row["line"]) for row in lines.iterate(shard=(rank, ranks), storage=s3.storage)])
        # A split begins after the line of the one before it.
        assert s3.sent() <= len(LINES) / ranks * 1.15 + 300_000
    assert sorted(line for each in total for line in each) == sorted(LINES.decode().split("\n")[:-1])


def test_a_rank_asks_for_its_own_records_alone(s3: Store) -> None:
    numbers = hr.Numpy({"data": [bytes([number % 256]) * 20_000 for number in range(400)]})
    s3.put("a.tfrecord", b"")
    with hr.storage(s3.storage):
        numbers.write_tfrecord(s3.url("a.tfrecord"))
        records = hr.TFRecord(s3.url("a.tfrecord"), {"data": "bytes"}, index="build", shuffle=True)
        assert len(records) == 400
        whole = len(s3.data("a.tfrecord"))
        for rank in range(4):
            s3.forget()
            assert len(list(records.iterate(shard=(rank, 4)))) == 100
            assert s3.sent() <= whole / 4 * 1.1 + 300_000


def test_rows_dealt_to_ranks_warn_that_all_are_read(s3: Store) -> None:
    s3.put("lines.txt", LINES[:4700])
    lines = hr.Text(s3.url("*.txt"), sharding="rows")
    with pytest.warns(hr.PipelineWarning, match="ranks reads all"):
        list(lines.iterate(shard=(0, 2), storage=s3.storage))


def test_of_parquet_only_footers_and_wanted_columns_are_fetched(s3: Store, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyarrow")
    draws = np.random.default_rng(1)
    columns = {"small": np.arange(2_000), "large": draws.integers(0, 256, (2_000, 4_000), np.uint8)}
    hr.Numpy(columns).write_parquet(tmp_path / "a.parquet", row_group_rows=500)
    s3.put("a.parquet", (tmp_path / "a.parquet").read_bytes())
    assert len(s3.data("a.parquet")) > 7_000_000
    with hr.storage(s3.storage):
        rows = hr.Parquet(s3.url("a.parquet"), columns=["small"])
        assert [int(row["small"]) for row in rows] == list(range(2_000))
    assert s3.sent() < 1_000_000


def test_near_ranges_are_one_request(s3: Store) -> None:
    """Shuffled records that lie side by side are not fetched one by one."""
    numbers = hr.Numpy({"data": [bytes([number % 256]) * 300 for number in range(5_000)]})
    with hr.storage(s3.storage):
        numbers.write_records(s3.url("a.rec"))
        records = hr.RecordFile(s3.url("a.rec"), index="build")
        assert len(list(records)) == 5_000
    assert s3.counts()["get"] < 100


def test_near_ranges_are_few_requests_also_for_a_slow_user(s3: Store) -> None:
    """Places that become free one by one are not filled one by one."""
    with hr.storage(s3.storage):
        hr.Numpy({"data": [bytes([number % 256]) * 300 for number in range(5_000)]}).write_records(s3.url("a.rec"))
        for _ in hr.RecordFile(s3.url("a.rec"), index="build"):
            hashlib.pbkdf2_hmac("sha256", b"what a step computes", b"", 500)
    assert s3.counts()["get"] < 200


def test_an_object_in_parts_is_asked_for_in_large_ranges(s3: Store) -> None:
    s3.put("large.bin", bytes(40_000_000))
    (row,) = hr.Files(s3.url("large.bin")).iterate(storage=s3.storage)
    assert len(row["data"]) == 40_000_000
    asked = s3.giver.requests("get")
    assert 3 <= len(asked) <= 6 and s3.sent() == 40_000_000


def headrace_threads() -> int:
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            names.append(pathlib.Path("/proc/self/task", task, "comm").read_text().strip())
        except OSError:  # it has just ended
            continue
    return sum(name.startswith("headrace") for name in names)


def test_hundreds_of_objects_outstanding_add_four_threads_at_most(s3: Store, tmp_path: pathlib.Path) -> None:
    for number in range(600):
        s3.put(f"{number:03}.bin", b"%d" % number)
        (tmp_path / f"{number:03}.bin").write_bytes(b"%d" % number)
    with hr.Files(str(tmp_path / "*.bin")).iterate() as rows:
        next(rows)
        of_local_files = headrace_threads()
    server = s3.giver
    assert isinstance(server, S3Server)
    server.delay = 0.3
    with hr.Files(s3.url("*.bin")).iterate(storage=s3.storage) as rows:
        threads = []
        # Each count looks at the threads of the server's connections, too.
        for number, _ in enumerate(rows):
            if number % 30 == 0:
                threads.append(headrace_threads())
    assert len(threads) == 20 and max(threads) <= of_local_files + 4
    assert server.most_open > 64


def test_reads_are_compared_with_the_version_of_the_listing(s3: Store) -> None:
    s3.put("a.bin", b"a")
    listed = list(hr.Files(s3.url("*.bin")).iterate(storage=s3.storage))
    assert [bytes(row["data"]) for row in listed] == [b"a"]
    with hr.storage(s3.storage):
        again = hr.Files(s3.url("*.bin"))
        assert len(again) == 1
        s3.put("a.bin", b"b")
        with pytest.raises(hr.DataError, match=r"a\.bin.*changed since it was listed"):
            list(again)
    # The store refuses the request, or its reply is refused by the ETag in its head.
    assert [each.status for each in s3.giver.requests("get")][-1] in (206, 412)
