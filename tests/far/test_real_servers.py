"""The pipelines over real stores, which ./test --far installs: Ceph and Swift check signatures, and HDFS is Hadoop's own."""

import os
import pathlib
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
from tests.far.equal_pipelines import check_equal
from tests.far.s3_client import S3Client
from tests.far.servers import ceph, hdfs, kerberos, swift
from tests.far.stores import BUCKET, Store
from tests.pipelines import PIPELINES

pytestmark = [pytest.mark.far, pytest.mark.timeout(600)]


def s3_store(client: S3Client, **settings: Any) -> Store:
    """Its bytes are not counted."""
    own = {"endpoint": f"http://{client.address}", "region": client.region, "access_key": client.access_key}
    return Store(
        "s3",
        f"s3://{BUCKET}/set",
        {"s3": own | {"secret_key": client.secret_key} | settings},
        [],
        lambda name, data: client.put(BUCKET, f"set/{name}", data),
        lambda name: client.remove(BUCKET, f"set/{name}"),
        lambda name: client.data(BUCKET, f"set/{name}"),
        (),
    )


SERVERS = {"ceph": ceph, "swift": swift}


@pytest.fixture(scope="module", params=SERVERS)
def s3_of(
    request: pytest.FixtureRequest, far_library: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    server = SERVERS[request.param]
    if lacking := server.lacking():
        pytest.skip(lacking)
    with server.started(tmp_path_factory.mktemp(request.param)) as client:
        client.make_bucket(BUCKET)
        yield s3_store(client)


@pytest.fixture(scope="module")
def filled(s3_of: Store, data: pathlib.Path) -> Store:
    s3_of.put_folder(data)
    return s3_of


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_over_stores_of_s3(name: str, filled: Store, data: pathlib.Path) -> None:
    check_equal(name, filled, data)


def test_odd_keys(s3_of: Store) -> None:
    names = ["odd/a b.bin", "odd/a+b=c.bin", "odd/ü'()*~.bin", "odd/%41%2F.bin", 'odd/&<>".bin', "odd/#1;2,3@$!.bin"]
    for number, name in enumerate(names):
        s3_of.put(name, b"%d" % number)
    found = {bytes(row["data"]) for row in hr.Files(s3_of.url("odd/*.bin")).iterate(storage=s3_of.storage)}
    assert found == {b"%d" % number for number in range(len(names))}


@pytest.mark.parametrize("number", [1, 999, 1000, 1001])
def test_pages_of_listings(s3_of: Store, number: int) -> None:
    for each in range(number):
        s3_of.put(f"pages {number}/{each:04}.bin", b"")
    with hr.storage(s3_of.storage):
        assert len(hr.Files(s3_of.url(f"pages {number}/*.bin"))) == number


def test_a_large_file_is_written_in_parts_and_read_in_ranges(s3_of: Store, tmp_path: pathlib.Path) -> None:
    draws = np.random.default_rng(4)
    rows = hr.Numpy({"data": [draws.bytes(1 << 20) for _ in range(40)]})
    rows.write_tfrecord(tmp_path / "a.tfrecord")
    with hr.storage(s3_of.storage):
        rows.write_tfrecord(s3_of.url("a.tfrecord"))
        (row,) = hr.Files([s3_of.url("a.tfrecord")])
    assert bytes(row["data"]) == (tmp_path / "a.tfrecord").read_bytes() == s3_of.data("a.tfrecord")


def test_a_changed_object_is_an_error(s3_of: Store) -> None:
    s3_of.put("changed.bin", b"before")
    with hr.storage(s3_of.storage):
        files = hr.Files(s3_of.url("changed*.bin"))
        assert len(files) == 1
        s3_of.put("changed.bin", b"after!")
        with pytest.raises(hr.DataError, match="changed since it was listed"):
            list(files)


def test_a_wrong_key_is_an_error_that_says_so(s3_of: Store) -> None:
    s3_of.put("a.bin", b"a")
    storage = {"s3": s3_of.storage["s3"] | {"secret_key": "wrong"}}
    with pytest.raises(hr.Error, match="SignatureDoesNotMatch") as raised:
        list(hr.Files([s3_of.url("a.bin")]).iterate(storage=storage))
    assert s3_of.storage["s3"]["secret_key"] not in str(raised.value)


# ---- HDFS ----


def hdfs_store(cluster: hdfs.Cluster, folder: str = "set") -> Store:
    """It is filled by the engine itself: what Hadoop keeps is then compared with local files."""
    root = f"webhdfs://{cluster.address}/{folder}"
    storage = {"webhdfs": {"user": "tester"}}
    return Store("webhdfs", root, storage, [], lambda *_: None, lambda _: None, lambda _: b"", ())


@pytest.fixture(scope="module")
def cluster(far_library: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[hdfs.Cluster]:
    if lacking := hdfs.lacking():
        pytest.skip(lacking)
    with hdfs.started(tmp_path_factory.mktemp("hdfs")) as started:
        yield started


def put_by_curl(cluster: hdfs.Cluster, name: str, path: pathlib.Path) -> None:
    place = (
        f"http://{cluster.address}/webhdfs/v1/set/{urllib.parse.quote(name)}?op=CREATE&overwrite=true&user.name=tester"
    )
    done = cluster.processes.call("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-L", "-T", path, place)
    assert done == "201", done


@pytest.fixture(scope="module")
def filled_hdfs(cluster: hdfs.Cluster, data: pathlib.Path) -> Store:
    for path in sorted(each for each in data.rglob("*") if each.is_file()):
        put_by_curl(cluster, str(path.relative_to(data)), path)
    return hdfs_store(cluster)


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_over_hdfs(name: str, filled_hdfs: Store, data: pathlib.Path) -> None:
    check_equal(name, filled_hdfs, data)


def some_rows() -> hr.Dataset:
    return hr.Numpy({"data": [bytes([number % 256]) * 10_000 for number in range(300)]})


def test_files_are_written_to_hdfs_whole(cluster: hdfs.Cluster, tmp_path: pathlib.Path) -> None:
    store = hdfs_store(cluster, "written")
    some_rows().write_tfrecord(tmp_path / "a.tfrecord")
    with hr.storage(store.storage):
        for _ in range(2):  # the second replaces the first
            some_rows().write_tfrecord(store.url("a.tfrecord"))
        (row,) = hr.Files([store.url("a.tfrecord")])
        assert bytes(row["data"]) == (tmp_path / "a.tfrecord").read_bytes()
        assert len(hr.Files(store.url("*"))) == 1


def test_a_data_node_that_restarts_loses_no_byte(cluster: hdfs.Cluster) -> None:
    store = hdfs_store(cluster, "restarted")
    with hr.storage(store.storage):
        some_rows().write_tfrecord(store.url("a.tfrecord"))
        records = hr.TFRecord(store.url("a.tfrecord"), {"data": "bytes"})
        expected = [bytes(row["data"]) for row in records]
        with records.iterate(workers=1, window=1) as rows:
            found = [bytes(next(rows)["data"])]
            cluster.stop_node()
            cluster.start_node()
            found += [bytes(row["data"]) for row in rows]
    assert found == expected and len(found) == 300


# ---- with Kerberos ----


@pytest.fixture(scope="module")
def realm(far_library: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[kerberos.Realm]:
    if lacking := kerberos.lacking() or hdfs.lacking():
        pytest.skip(lacking)
    with kerberos.started(tmp_path_factory.mktemp("realm")) as started:
        yield started


@pytest.fixture(scope="module")
def guarded(realm: kerberos.Realm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[hdfs.Cluster]:
    realm.take_ticket()
    with hdfs.started(tmp_path_factory.mktemp("guarded"), realm) as started:
        yield started


READ = """
import sys, headrace as hr
rows = hr.Numpy({"data": [bytes([number]) * 1000 for number in range(100)]})
path = sys.argv[1] + "/a.tfrecord"
if "write" in sys.argv:
    rows.write_tfrecord(path)
print(sum(len(row["data"]) for row in hr.TFRecord(path, {"data": "bytes"})))
"""


def in_own_process(guarded: hdfs.Cluster, realm: kerberos.Realm, *words: str, **more: str) -> tuple[int, str]:
    """Kerberos takes its variables when it is first used. Returns the exit code, and what was said."""
    root = f"webhdfs://{guarded.address}/set"
    environment = {**os.environ, **realm.environment, **more}
    done = subprocess.run(
        [sys.executable, "-c", READ, root, *words], env=environment, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


def test_a_ticket_opens_a_cluster_with_kerberos(guarded: hdfs.Cluster, realm: kerberos.Realm) -> None:
    realm.take_ticket()
    assert in_own_process(guarded, realm, "write") == (0, "100000\n")
    assert in_own_process(guarded, realm) == (0, "100000\n")


def test_without_a_ticket_the_error_says_what_to_run(guarded: hdfs.Cluster, realm: kerberos.Realm) -> None:
    realm.drop_ticket()
    code, said = in_own_process(guarded, realm)
    realm.take_ticket()
    assert code and "kinit" in said


def test_a_ticket_that_ended_is_an_error_that_says_so(
    guarded: hdfs.Cluster, realm: kerberos.Realm, tmp_path: pathlib.Path
) -> None:
    ended = str(tmp_path / "ended")
    realm.processes.call("kinit", "-c", ended, "-l", "1s", "-k", "-t", realm.keytab, kerberos.USER)
    realm.processes.call("sleep", "2")
    code, said = in_own_process(guarded, realm, KRB5CCNAME=f"FILE:{ended}")
    assert code and "kinit" in said
