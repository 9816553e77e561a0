"""Files that are written to stores: the bytes of local files when they are complete, and nothing before or after a failure."""

import pathlib
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import headrace as hr
from headrace.__main__ import main
from tests.far import stores
from tests.far.faults import Fault
from tests.far.s3_server import S3Server
from tests.far.stores import Store

ROWS = hr.Numpy({"data": [bytes([number % 256]) * (number * 40) for number in range(300)], "label": np.arange(300)})
# By the names that records have.
PICTURES = ROWS.rename({"data": "image"})

# What writes a file or several at a path.
WRITERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "records": ("a.rec", lambda path: PICTURES.write_records(path)),
    "tfrecord": ("a.tfrecord", lambda path: ROWS.write_tfrecord(path)),
    "tfrecord in parts": ("a.tfrecord", lambda path: ROWS.write_tfrecord(path, files=3)),
    "tar": ("a.tar", lambda path: ROWS.rename({"data": "bin", "label": "cls"}).write_tar(path)),
    "parquet": ("a.parquet", lambda path: ROWS.write_parquet(path)),
    "graph": ("a.hrg", lambda path: hr.Range(9).batch(2).save(path)),
}


@pytest.fixture(params=["s3", "hdfs"])
def target(request: pytest.FixtureRequest, far_library: None) -> Iterator[Store]:
    with stores.opened(request.param) as store:
        yield store


def written(store: Store) -> dict[str, bytes]:
    """All files in the folder of the store."""
    if store.cluster is not None:
        return {path.removeprefix("/set/"): file.data for path, file in store.cluster.tree.files.items()}
    server = store.giver
    assert isinstance(server, S3Server)
    return {name.removeprefix("set/"): server.data(stores.BUCKET, name) for name in server.names(stores.BUCKET)}


@pytest.mark.parametrize("writer", WRITERS)
def test_files_are_those_of_a_folder(writer: str, target: Store, tmp_path: pathlib.Path) -> None:
    if writer == "parquet":
        pytest.importorskip("pyarrow")
    name, write = WRITERS[writer]
    write(str(tmp_path / name))
    with hr.storage(target.storage):
        write(target.url(name))
    local = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert written(target) == local


def large_rows() -> hr.Dataset:
    draws = np.random.default_rng(5)
    return hr.Numpy({"data": [draws.bytes(1 << 20) for _ in range(40)]})


def test_a_large_file_is_written_in_parts(s3: Store, tmp_path: pathlib.Path) -> None:
    large_rows().write_tfrecord(tmp_path / "a.tfrecord")
    with hr.storage(s3.storage):
        large_rows().write_tfrecord(s3.url("a.tfrecord"))
    assert s3.data("a.tfrecord") == (tmp_path / "a.tfrecord").read_bytes()
    counts = s3.counts()
    assert counts["create"] == counts["complete"] == 1 and counts["part"] >= 2


def uploads(store: Store) -> dict[str, object]:
    server = store.giver
    assert isinstance(server, S3Server)
    return dict(server.uploads)


@pytest.mark.parametrize(
    ("kind", "fault", "times"),
    [
        ("part", Fault(503), 3),
        ("part", Fault(500), 3),
        ("part", Fault(cut=-1), 2),
        ("part", Fault(lost=True), 2),
        ("create", Fault(500), 2),
        ("complete", Fault(500), 2),
        ("complete", Fault(lost=True), 1),
        ("complete", Fault(cut=10), 1),
    ],
)
def test_uploads_go_on_after_faults(s3: Store, tmp_path: pathlib.Path, kind: str, fault: Fault, times: int) -> None:
    large_rows().write_tfrecord(tmp_path / "a.tfrecord")
    rule = s3.giver.faults.add(fault, kind, times=times)
    with hr.storage(s3.storage):
        large_rows().write_tfrecord(s3.url("a.tfrecord"))
    assert rule.met == times
    assert s3.data("a.tfrecord") == (tmp_path / "a.tfrecord").read_bytes()


def test_an_error_inside_a_reply_of_success_is_an_error(s3: Store) -> None:
    server = s3.giver
    assert isinstance(server, S3Server)
    # The completion is not carried out, and says so after its 200.
    server.faults.add(Fault(200, body=b"<Error><Code>InternalError</Code><Message>no</Message></Error>"), "complete")
    with hr.storage(s3.storage), pytest.raises(hr.Error, match=r"s3://data/set/a\.tfrecord"):
        large_rows().write_tfrecord(s3.url("a.tfrecord"))
    assert "set/a.tfrecord" not in server.names(stores.BUCKET) and uploads(s3) == {}


@pytest.mark.parametrize("kind", ["part", "complete"])
def test_a_write_that_fails_leaves_nothing(s3: Store, kind: str) -> None:
    s3.giver.faults.add(Fault(403, body=b"<Error><Code>AccessDenied</Code></Error>"), kind)
    with hr.storage(s3.storage), pytest.raises(hr.Error, match=r"s3://data/set/a\.tfrecord|AccessDenied"):
        large_rows().write_tfrecord(s3.url("a.tfrecord"))
    assert written(s3) == {} and uploads(s3) == {}


def test_rows_that_fail_leave_the_old_file(target: Store) -> None:
    target.put("a.tfrecord", b"old")

    def fail(label: np.ndarray) -> np.ndarray:
        if label == 200:
            raise ValueError("not this one")
        return label

    with hr.storage(target.storage), pytest.raises(hr.Error, match="not this one"):
        ROWS.map(fail, "label").write_tfrecord(target.url("a.tfrecord"))
    assert written(target)["a.tfrecord"] == b"old"
    assert [name for name in written(target) if name != "a.tfrecord"] == []


def test_hdfs_shows_no_part_of_an_upload_that_is_cut(far_library: None) -> None:
    with stores.opened("hdfs", timeout=1.0) as store:
        assert store.cluster is not None
        for node in store.cluster.data_nodes:
            node.faults.add(Fault(500), "create")
        with hr.storage(store.storage), pytest.raises(hr.Error, match=r"a\.tfrecord"):
            ROWS.write_tfrecord(store.url("a.tfrecord"))
        assert "/set/a.tfrecord" not in store.cluster.tree.files


def test_http_is_not_written_to(far_library: None) -> None:
    with stores.opened("http") as store, hr.storage(store.storage):
        with pytest.raises(hr.UnsupportedError, match=re.escape(store.url("a.tfrecord"))):
            ROWS.write_tfrecord(store.url("a.tfrecord"))
        assert store.giver.requests("put", "post") == []


# ---- commands ----


def test_convert_reads_and_writes_far_files(
    target: Store, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    PICTURES.write_tfrecord(tmp_path / "a.tfrecord")
    assert main(["convert", str(tmp_path / "a.tfrecord"), str(tmp_path / "a.rec")]) == 0
    target.put("a.tfrecord", (tmp_path / "a.tfrecord").read_bytes())
    with hr.storage(target.storage):
        assert main(["convert", target.url("a.tfrecord"), target.url("a.rec")]) == 0
    assert written(target)["a.rec"] == (tmp_path / "a.rec").read_bytes()
    assert "300 rows" in capsys.readouterr().out


def test_inspect_and_verify_read_far_files(target: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with hr.storage(target.storage):
        ROWS.write_tfrecord(target.url("a.tfrecord"))
        assert main(["inspect", target.url("a.tfrecord")]) == 0
        assert "300" in capsys.readouterr().out
        assert main(["verify", target.url("a.tfrecord")]) == 0
        whole = target.data("a.tfrecord")
        target.put("a.tfrecord", whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
        assert main(["verify", target.url("a.tfrecord")]) != 0


def test_pack_reads_and_writes_far_files(target: Store, photos: pathlib.Path, tmp_path: pathlib.Path) -> None:
    copied = 0
    for path in sorted(photos.rglob("*.jpg")):
        target.put(f"photos/{path.relative_to(photos)}", path.read_bytes())
        copied += 1
    pack(str(tmp_path / "packed"), str(photos))
    with hr.storage(target.storage):
        pack(target.url("packed"), target.url("photos"))
        assert len(hr.RecordFile(target.url("packed.rec"), index="build")) == copied
    files = written(target)
    for ending in (".lst", ".rec", ".idx"):
        assert files[f"packed{ending}"] == (tmp_path / f"packed{ending}").read_bytes()


def pack(prefix: str, root: str) -> None:
    assert main(["pack", "--list", "--recursive", prefix, root]) == 0
    assert main(["pack", prefix, root]) == 0


def test_open_finds_the_source_of_a_far_path(target: Store) -> None:
    with hr.storage(target.storage):
        ROWS.write_tfrecord(target.url("a.tfrecord"))
        found = hr.open(target.url("a.tfrecord"))
        assert [int(row["label"]) for row in found] == list(range(300))


@pytest.mark.parametrize("path", ["profile", "profile.html"])
def test_a_profile_is_written_by_the_settings_of_its_run(path: str, target: Store) -> None:
    rows = hr.Range(9)
    assert len(list(rows.iterate(profile=target.url(path), storage=target.storage))) == 9
    with hr.storage(target.storage):
        iterator = iter(rows.iterate(profile=target.url(f"other-{path}")))
    assert len(list(iterator)) == 9
    files = written(target)
    assert len(files) == 4
    assert all(data[:1] in (b"{", b"<") for data in files.values())


def test_a_profile_that_cannot_be_written_is_refused_before_the_run(far_library: None) -> None:
    with stores.opened("http") as store, pytest.raises(hr.UnsupportedError, match="profile: cannot write to"):
        hr.Range(9).iterate(profile=store.url("profile"), storage=store.storage)
