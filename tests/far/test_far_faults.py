"""Each fault of a network, a store or an object, injected in turn: equal bytes or a clear error, and nothing that stays."""

import dataclasses
import gc
import itertools
import os
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr
from tests.conftest import eventually
from tests.far import stores
from tests.far.certificates import Certificates
from tests.far.faults import Fault, throttled
from tests.far.http_server import HttpServer
from tests.far.s3_server import S3Server
from tests.far.small_server import Reply
from tests.far.stores import Store
from tests.running import Outcome, assert_same, read_all
from tests.thinning import LONG, in_turn

OBJECTS = 60
RUN = {"seed": 3, "epoch": 1}
ERRORS = (hr.DataError, hr.ResourceError, hr.NotFoundError)


def contents(number: int) -> bytes:
    return np.random.default_rng(number).integers(0, 256, number * number * 20 + 1, np.uint8).tobytes()


def put_objects(store: Store) -> None:
    for number in range(OBJECTS):
        store.put(f"objects/{number:02}.bin", contents(number))
    store.put("lines.txt", b"".join(b"line %d of a text in ranges\n" % number for number in range(40_000)))


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What the pipelines give over local files."""
    folder = tmp_path_factory.mktemp("local")
    (folder / "objects").mkdir()

    def put(name: str, data: bytes) -> None:
        (folder / name).write_bytes(data)

    put_objects(dataclasses.replace(NOWHERE, put=put))
    return {name: read_all(build(lambda name: str(folder / name)), **RUN) for name, build in PIPELINES.items()}


NOWHERE = Store("", "", {}, [], lambda *_: None, lambda _: None, lambda _: b"", ())
PIPELINES: dict[str, Callable[[Callable[[str], str]], hr.Dataset]] = {
    "objects": lambda at: hr.Files([at(f"objects/{number:02}.bin") for number in range(OBJECTS)], shuffle=True).project(
        ["data"]
    ),
    "ranges": lambda at: hr.Text([at("lines.txt")], shuffle=True, split_bytes=50_000).batch(500),
}


@dataclasses.dataclass(frozen=True)
class Met:
    """A fault, and which reads meet it."""

    fault: Fault
    share: float = 1.0
    times: int | None = 3
    after: int = 2


# All of these pass: what was lost is asked for again.
PASSING = {
    "a tenth 503": Met(throttled(), 0.1, None),
    "a tenth 500": Met(Fault(500), 0.1, None),
    "502": Met(Fault(502)),
    "504": Met(Fault(504)),
    "408": Met(Fault(408)),
    "429": Met(Fault(429)),
    "429 with Retry-After": Met(Fault(429, retry_after=1), times=2),
    "503 with Retry-After": Met(throttled(1), times=2),
    "503 with Retry-After that is no number": Met(throttled("soon"), times=2),
    "cut at byte 0": Met(Fault(cut=0)),
    "cut at byte 1": Met(Fault(cut=1)),
    "a fifth cut at byte 1000": Met(Fault(cut=1000), 0.2, None),
    "reset at byte 0": Met(Fault(reset=0)),
    "reset at byte 1000": Met(Fault(reset=1000), 0.2, 20),
    "reset before the reply": Met(Fault(reset=-1)),
    "closed before the reply": Met(Fault(cut=-1)),
    "stalled before the reply": Met(Fault(stalled=-1), times=2),
    "stalled after the head": Met(Fault(stalled=0), times=2),
    "stalled in the body": Met(Fault(stalled=10), times=2),
    "a byte in two seconds": Met(Fault(trickle=0.5), times=2),
}


BROKEN = ("s3", "hdfs", "http")


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, far_library: None) -> Iterator[Store]:
    """A store with the objects, from which a second without a byte is a fault."""
    with stores.opened(request.param, timeout=1.0) as store:
        put_objects(store)
        yield store


def run(store: Store, pipeline: str, **options: Any) -> Outcome:
    with hr.storage(store.storage):
        dataset = PIPELINES[pipeline](store.url)
    return read_all(dataset, storage=store.storage, **RUN, **options)


@pytest.mark.parametrize(
    ("name", "broken", "pipeline"),
    [
        (name, store, pipeline)
        for number, name in enumerate(PASSING)
        for store, pipeline in in_turn(itertools.product(BROKEN, PIPELINES), number)
    ],
    indirect=["broken"],
)
def test_bytes_are_equal_under_a_fault(name: str, pipeline: str, broken: Store, local: dict[str, Outcome]) -> None:
    met = PASSING[name]
    rule = broken.giver.faults.add(met.fault, broken.reads, after=met.after, share=met.share, times=met.times)
    if broken.cluster is not None:
        rule.times = met.times or 20  # one of two DataNodes
    assert_same(local[pipeline], run(broken, pipeline))
    assert rule.met > 0
    print("HEADRACE-COUNT far-faults=1")


# What a reply promises and does not keep. Asking again may help; a wrong byte may not pass.
BROKEN_PROMISES = {
    "a Content-Range of other bytes": Fault(shifted=1),
    "the whole in place of a range": Fault(whole=True),
    "a body that is longer": Fault(change=lambda reply: lengthen(reply)),
    "a body that is shorter": Fault(change=lambda reply: shorten(reply)),
}


def lengthen(reply: Reply) -> None:
    reply.body += b"more"


def shorten(reply: Reply) -> None:
    reply.body = reply.body[:-1]


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", BROKEN_PROMISES)
@pytest.mark.parametrize("times", [1, None])
def test_a_reply_that_breaks_its_promise_gives_no_wrong_byte(
    name: str, pipeline: str, times: int | None, s3: Store, local: dict[str, Outcome]
) -> None:
    put_objects(s3)
    s3.giver.faults.add(BROKEN_PROMISES[name], s3.reads, after=2, times=times)
    found = run(s3, pipeline)
    if found.failure is None:
        assert_same(local[pipeline], found)
    else:
        assert found.failure.kind in {error.__name__ for error in ERRORS}
        assert "s3://data/set/" in found.failure.message
        assert found.rows == local[pipeline].rows[: len(found.rows)]


def failing(store: Store, pipeline: str = "objects", **options: Any) -> hr.Error:
    with hr.storage(store.storage):
        dataset = PIPELINES[pipeline](store.url)
    with pytest.raises(hr.Error) as raised:
        list(dataset.iterate(storage=store.storage, **RUN, **options))
    return raised.value


def test_a_store_that_is_gone_is_an_error_that_names_it(far_library: None) -> None:
    with stores.opened("s3", timeout=0.5) as store:
        put_objects(store)
    # Of one file: the attempts at all of them share the tokens of their host.
    error = failing(store, "ranges")
    assert isinstance(error, ERRORS) and "s3://data/set/" in str(error)


@pytest.mark.skipif(not LONG, reason="takes as long as the engine's patience with a host, in ./test --all")
def test_a_store_that_never_answers_is_an_error_that_names_it(far_library: None) -> None:
    with stores.opened("s3", timeout=0.5) as store:
        put_objects(store)
        store.giver.faults.add(Fault(stalled=-1))
        error = failing(store)
        assert isinstance(error, ERRORS) and "s3://data/set/" in str(error)


def test_a_name_without_an_address_is_an_error_that_names_it(s3: Store) -> None:
    storage = {"s3": s3.storage["s3"] | {"endpoint": "http://no-such-host.invalid"}}
    with pytest.raises(hr.Error, match="no-such-host.invalid|s3://data/"):
        next(iter(hr.Files([s3.url("a")]).iterate(storage=storage)))


def test_an_object_that_is_missing_is_named(broken: Store) -> None:
    with hr.storage(broken.storage):
        dataset = hr.Files([broken.url("objects/01.bin"), broken.url("objects/none.bin")])
    with pytest.raises(hr.NotFoundError, match=r"objects/none\.bin"):
        list(dataset.iterate(storage=broken.storage))


def test_an_object_that_goes_in_the_middle_is_named(s3: Store) -> None:
    put_objects(s3)
    files = hr.Files(s3.url("objects/*.bin"))
    s3.giver.faults.add(Fault(before=lambda: s3.remove("objects/59.bin")), s3.reads, key="*/58.bin", times=1)
    with files.iterate(storage=s3.storage, workers=1, window=1) as rows, pytest.raises(hr.Error, match=r"59\.bin"):
        list(rows)


def test_an_object_that_changes_after_the_listing_gives_none_of_its_bytes(s3: Store) -> None:
    put_objects(s3)
    files = hr.Files(s3.url("objects/*.bin"))
    changed = contents(40)[::-1]
    s3.giver.faults.add(Fault(before=lambda: s3.put("objects/40.bin", changed)), s3.reads, times=1)
    seen = []
    with (
        files.iterate(storage=s3.storage) as rows,
        pytest.raises(hr.DataError, match=r"40\.bin.*changed since it was listed"),
    ):
        for row in rows:
            seen.append(bytes(row["data"]))
    assert seen == [contents(number) for number in range(len(seen))] and len(seen) <= 40


def test_an_object_that_changes_between_two_ranges_is_an_error(s3: Store) -> None:
    # More than one request asks for.
    lines = b"a line of a long text\n" * 1_500_000
    s3.put("lines.txt", lines)
    s3.giver.faults.add(Fault(before=lambda: s3.put("lines.txt", lines[::-1])), s3.reads, after=1, times=1)
    lines_of = hr.Text(s3.url("*.txt")).batch(10_000)
    with pytest.raises(hr.DataError, match=r"lines\.txt.*changed"):
        list(lines_of.iterate(storage=s3.storage, window=1))


def test_a_file_of_hdfs_that_changes_is_an_error_by_the_end_of_the_epoch(far_library: None) -> None:
    with stores.opened("hdfs") as store:
        put_objects(store)
        files = hr.Files(store.url("objects/*.bin"))
        changed = contents(40)[::-1]
        store.giver.faults.add(Fault(before=lambda: store.put("objects/40.bin", changed)), store.reads, times=1)
        with pytest.raises(hr.DataError, match=r"40\.bin"):
            list(files.iterate(storage=store.storage))


# ---- what S3 says ----


def xml(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>as told</Message></Error>".encode()


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (403, "AccessDenied", "AccessDenied"),
        (403, "InvalidAccessKeyId", "InvalidAccessKeyId"),
        (400, "InvalidRequest", "InvalidRequest"),
    ],
)
def test_what_cannot_be_repeated_says_the_code_of_the_store(s3: Store, status: int, code: str, said: str) -> None:
    put_objects(s3)
    s3.giver.faults.add(Fault(status, body=xml(code)), s3.reads)
    error = failing(s3)
    assert said in str(error) and "s3://data/set/objects/" in str(error)
    assert len(s3.giver.requests("get")) <= 2 * OBJECTS


def test_a_request_timeout_of_the_store_is_repeated(s3: Store, local: dict[str, Outcome]) -> None:
    put_objects(s3)
    s3.giver.faults.add(Fault(400, body=xml("RequestTimeout")), s3.reads, times=3)
    assert_same(local["objects"], run(s3, "objects"))


@pytest.mark.parametrize("minutes", [-20, 20])
def test_a_clock_that_is_off_follows_the_store(far_library: None, local: dict[str, Outcome], minutes: int) -> None:
    with stores.opened("s3") as store:
        store.giver.clock = 60.0 * minutes  # type: ignore[attr-defined]
        put_objects(store)
        assert_same(local["objects"], run(store, "objects"))


def test_a_wrong_region_is_put_right_by_the_store(far_library: None, local: dict[str, Outcome]) -> None:
    with stores.opened("s3", region="elsewhere-1") as store:
        store.giver.region = "far-1"  # type: ignore[attr-defined]
        put_objects(store)
        assert_same(local["objects"], run(store, "objects"))


def test_a_listing_that_repeats_its_token_ends_with_an_error(s3: Store) -> None:
    put_objects(s3)
    server = s3.giver
    assert isinstance(server, S3Server)
    server.page = 10
    first: list[bytes] = []

    def repeat(reply: object) -> None:
        assert isinstance(reply, Reply)
        found = re.search(rb"<NextContinuationToken>.*?</NextContinuationToken>", reply.body)
        if not first and found:
            first.append(found.group(0))
        if first and found:
            reply.body = reply.body.replace(found.group(0), first[0])

    server.faults.add(Fault(change=repeat), "list")
    with pytest.raises(hr.DataError, match="s3://data/set"):
        list(hr.Files(s3.url("objects/*.bin")).iterate(storage=s3.storage))
    assert len(server.requests("list")) < 10


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<",
        b"<ListBucketResult><Contents><Key>a",
        b"\x00" * 100,
        b"<a>" * 100_000,
        b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    ],
    ids=["empty", "cut", "cut in a key", "zeros", "deep", "entities"],
)
def test_a_listing_that_is_not_one_is_an_error(s3: Store, body: bytes) -> None:
    def spoil(reply: object) -> None:
        assert isinstance(reply, Reply)
        reply.body = body

    s3.giver.faults.add(Fault(change=spoil), "list")
    with pytest.raises(ERRORS, match="s3://data/set"):
        list(hr.Files(s3.url("objects/*.bin")).iterate(storage=s3.storage))


# ---- DataNodes ----


@pytest.fixture
def cluster(far_library: None) -> Iterator[Store]:
    with stores.opened("hdfs", timeout=1.0) as store:
        put_objects(store)
        yield store


def test_a_data_node_that_died_before_is_left_out(cluster: Store, local: dict[str, Outcome]) -> None:
    cluster.giver.close()
    assert_same(local["ranges"], run(cluster, "ranges"))


def test_a_data_node_that_dies_in_the_middle_is_left_out(cluster: Store, local: dict[str, Outcome]) -> None:
    cluster.giver.faults.add(Fault(cut=100), after=1)
    assert_same(local["ranges"], run(cluster, "ranges"))


def test_all_data_nodes_dead_are_an_error_that_names_the_file(cluster: Store) -> None:
    for node in cluster.servers[1:]:
        node.close()
    assert re.search(r"webhdfs://.*/set/", str(failing(cluster)))


def test_a_cluster_without_batches_is_listed_at_once(cluster: Store) -> None:
    assert cluster.cluster is not None
    cluster.cluster.batches = False
    found = list(hr.Files(cluster.url("objects/*.bin")).iterate(storage=cluster.storage))
    assert [bytes(row["data"]) for row in found] == [contents(number) for number in range(OBJECTS)]


def test_a_gateway_answers_itself(cluster: Store, local: dict[str, Outcome]) -> None:
    assert cluster.cluster is not None
    cluster.cluster.httpfs = True
    assert_same(local["ranges"], run(cluster, "ranges"))


@pytest.mark.skipif(not LONG, reason="takes as long as the engine's patience with a cluster, in ./test --all")
def test_a_standby_node_is_an_error_that_says_so(cluster: Store) -> None:
    assert cluster.cluster is not None
    cluster.cluster.standby = True
    assert "standby" in str(failing(cluster)).lower()


# ---- certificates ----


@pytest.mark.parametrize("bad", ["another authority", "another name", "ended", "none"])
def test_a_bad_certificate_is_an_error_always(
    bad: str, far_library: None, certificates: Certificates, tmp_path: pathlib.Path
) -> None:
    context = {
        "another name": lambda: certificates.server("DNS:elsewhere.test"),
        "ended": lambda: certificates.server(days=-1),
    }.get(bad, certificates.server)()
    ca = {"another authority": lambda: Certificates.make(tmp_path, "other").ca}.get(bad, lambda: certificates.ca)()
    with HttpServer(context) as server:
        server.put("/a", b"secret")
        storage = {} if bad == "none" else {"https": {"ca_file": str(ca)}}
        with pytest.raises(hr.Error, match=re.escape(server.url)):
            list(hr.Files([f"{server.url}/a"]).iterate(storage=storage))
        assert server.requests() == []


def test_a_file_of_authorities_that_is_missing_is_an_error_that_says_which_setting_it_is(
    far_library: None, tmp_path: pathlib.Path
) -> None:
    storage = {"https": {"ca_file": str(tmp_path / "none.pem")}}
    with pytest.raises(hr.Error, match="ca_file= of storage= names does not exist") as raised:
        list(hr.Files(["https://127.0.0.1:9/a"]).iterate(storage=storage))
    # As of all settings, its value is not shown.
    assert "none.pem" not in str(raised.value)


# ---- redirects ----


def test_redirects_are_followed_and_end(far_library: None) -> None:
    with HttpServer() as server, HttpServer(host="127.0.0.2") as other:
        other.put("/there", b"found")
        server.moved |= {"/1": f"{server.url}/2", "/2": f"{other.url}/there", "/round": f"{server.url}/round"}
        (row,) = hr.Files([f"{server.url}/1"])
        assert bytes(row["data"]) == b"found"
        with pytest.raises(hr.Error, match="redirect"):
            list(hr.Files([f"{server.url}/round"]))
        server.moved["/file"] = "file:///etc/passwd"
        with pytest.raises(hr.Error):
            list(hr.Files([f"{server.url}/file"]))


@pytest.mark.parametrize("etags", ["strong", "weak", "none"])
@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("heads", [True, False])
def test_servers_of_every_kind(
    etags: str, ranges: bool, heads: bool, far_library: None, local: dict[str, Outcome]
) -> None:
    with stores.opened("http") as store:
        server = store.giver
        assert isinstance(server, HttpServer)
        server.etags, server.ranges, server.heads = etags, ranges, heads
        put_objects(store)
        for pipeline in PIPELINES:
            assert_same(local[pipeline], run(store, pipeline))


def test_a_weak_etag_does_not_guard_a_body_that_goes_on(far_library: None) -> None:
    """What was cut begins anew where nothing strong says that the rest is of the same contents."""
    with stores.opened("http") as store:
        server = store.giver
        assert isinstance(server, HttpServer)
        server.etags = "weak"
        store.put("a", b"old" * 10_000)
        replaced = b"new" * 10_000
        server.faults.add(Fault(cut=9_000), "get", times=1)
        server.faults.add(Fault(before=lambda: store.put("a", replaced)), "get", after=0, times=1)
        try:
            (row,) = hr.Files([store.url("a")])
        except hr.DataError:
            return
        assert bytes(row["data"]) in (b"old" * 10_000, replaced)


# ---- what stays ----


def resident() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_no_connection_and_no_memory_stays_of_runs_that_fail_and_end_early(broken: Store) -> None:
    giver = broken.giver
    giver.faults.add(Fault(cut=500), broken.reads, share=0.1, seed=2)
    giver.faults.add(Fault(500), broken.reads, share=0.1, seed=3)
    storage = {scheme: settings | {"connections": 8} for scheme, settings in broken.storage.items()}

    def some() -> None:
        with hr.storage(storage):
            dataset = PIPELINES["objects"](broken.url)
        with dataset.iterate(storage=storage) as rows:
            for _, _ in zip(range(7), rows, strict=False):
                pass

    for _ in range(3):
        some()
    gc.collect()
    before = resident()
    for _ in range(20):
        some()
    gc.collect()
    # Of each host, those that later runs use.
    assert eventually(lambda: broken.open() <= 8 * len(broken.servers)), broken.open()
    assert resident() - before < 64 << 20


def test_connections_are_as_many_as_are_allowed(far_library: None, local: dict[str, Outcome]) -> None:
    with stores.opened("s3", connections=3) as store:
        put_objects(store)
        store.giver.delay = 0.005
        assert_same(local["objects"], run(store, "objects"))
        assert 2 <= store.giver.most_open <= 3


def test_an_iterator_that_is_closed_waits_for_no_reply(broken: Store) -> None:
    broken.giver.faults.add(Fault(stalled=0), broken.reads, key="*/[345]?.bin")
    patient = {scheme: settings | {"timeout": 1000.0} for scheme, settings in broken.storage.items()}
    files = hr.Files([broken.url(f"objects/{number:02}.bin") for number in range(OBJECTS)])
    with files.iterate(storage=patient) as rows:
        assert bytes(next(rows)["data"]) == contents(0)


def test_reads_that_nobody_waits_for_end_at_the_store(broken: Store) -> None:
    # Bytes come all the time, so that no limit of time ends the request.
    broken.giver.faults.add(Fault(trickle=50), broken.reads, key="*/[345]?.bin")
    files = hr.Files([broken.url(f"objects/{number:02}.bin") for number in range(OBJECTS)])
    with files.iterate(storage=broken.storage) as rows:
        next(rows)
        assert eventually(lambda: broken.giver.answering > 0)
    assert eventually(lambda: broken.giver.answering == 0), broken.giver.answering


# In HDFS the parts of a whole file are read as ranges are, and it is left open which DataNode has which.
@pytest.mark.parametrize("broken", ["s3", "http"], indirect=True)
def test_ranges_that_nobody_waits_for_end_at_the_store(broken: Store, tmp_path: pathlib.Path) -> None:
    hr.Numpy({"data": [bytes([number]) * 50_000 for number in range(200)]}).write_records(tmp_path / "a.rec")
    for name in ("a.rec", "a.idx"):
        broken.put(name, (tmp_path / name).read_bytes())
    # Those that look at the file, and the first record, are spared.
    broken.giver.faults.add(Fault(trickle=50), broken.reads, key="*a.rec", after=6)
    records = hr.RecordFile(broken.url("a.rec"), index=broken.url("a.idx"))
    with records.iterate(storage=broken.storage) as rows:
        next(rows)
        assert eventually(lambda: broken.giver.answering > 0)
    assert eventually(lambda: broken.giver.answering == 0), broken.giver.answering
