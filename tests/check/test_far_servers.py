"""What ./test --far installs: stores of Debian's packages, Hadoop's jars, and the names of what cannot be."""

import io
import pathlib
import tarfile

import pytest

from tests.check.test_plan import plan_of
from tools.check import far_servers, installs
from tools.check.deadline import Deadline
from tools.check.marks import Marks
from tools.check.modes import Mode
from tools.check.python_tests import PythonTests
from tools.check.result import Result


@pytest.mark.parametrize(
    ("jar", "name", "found"),
    [
        ("avro-1.8.2.jar", "avro-1", True),
        ("avro-ipc-1.8.2.jar", "avro-1", False),
        ("commons-lang3-3.5.jar", "commons-lang-2", False),
        ("jetty-6.1.26.jar", "jetty-6", True),
        ("jetty-util-6.1.26.jar", "jetty-6", False),
        ("guava-14.0.1.jar", "guava", True),
        ("hadoop-hdfs-2.7.3.jar", "hadoop-hdfs", True),
        ("other.jar", "guava", False),
    ],
)
def test_jars_are_found_by_their_names(jar, name, found):
    assert far_servers.begins(jar, name) == found


@pytest.fixture
def jars_of_debian(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "java"
    folder.mkdir()
    for name in far_servers.FROM_DEBIAN:
        (folder / f"{name}.jar").write_bytes(b"jar")
    monkeypatch.setattr(far_servers, "DEBIANS_JARS", folder)
    monkeypatch.setattr(far_servers, "HADOOP", tmp_path / "hadoop")


def test_only_the_jars_that_are_needed_are_kept(tmp_path, jars_of_debian):
    needed = [f"{name}-1.0.jar" if not name[-1].isdigit() else f"{name}.0.jar" for name in far_servers.FROM_PYSPARK]
    with tarfile.open(tmp_path / "package.tar.gz", "w:gz") as archive:
        for name in [*needed, "spark-core-2.4.jar", "readme.txt"]:
            member = tarfile.TarInfo(f"package/deps/jars/{name}")
            member.size = 3
            archive.addfile(member, io.BytesIO(b"jar"))
    assert not far_servers.hadoop_is_whole()
    far_servers.HADOOP.mkdir()
    far_servers.take_jars(tmp_path / "package.tar.gz", far_servers.HADOOP)
    kept = {path.name for path in far_servers.HADOOP.iterdir()}
    assert kept == {*needed, *(f"{name}.jar" for name in far_servers.FROM_DEBIAN)}
    assert far_servers.hadoop_is_whole()


def test_what_cannot_be_installed_is_named(monkeypatch, jars_of_debian):
    monkeypatch.setattr(Deadline, "run", lambda _, command, *rest, **options: int("radosgw" in command))
    monkeypatch.setattr(far_servers, "keep_jars", lambda _: False)
    assert far_servers.install(Deadline()) == ["Ceph", "HDFS"]


def test_nothing_is_installed_from_old_lists(monkeypatch):
    monkeypatch.setattr(Deadline, "run", lambda *_, **options: 100)
    with pytest.raises(RuntimeError, match="lists could not be updated"):
        far_servers.install(Deadline())


def test_the_summary_says_what_was_left_out(tmp_path: pathlib.Path, monkeypatch):
    monkeypatch.setitem(installs.INSTALLS, "far", lambda _: ["Swift"])
    monkeypatch.setattr(PythonTests, "needing", lambda *_: lambda parts: Result(3, note="2 skipped").about(parts))
    _, stage = plan_of(Marks(tmp_path), Mode.FAR).stages()
    result = stage.check(stage.parts)
    assert result.note == "2 skipped, not installed: Swift" and result.green == {} and result.passed == 3
