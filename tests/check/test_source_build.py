"""The source distribution: what is in it, and what pip says where it cannot be built."""

import email
import os
import pathlib
import subprocess
import sys
import tarfile

import pytest

import headrace as hr
from tests.conftest import ROOT
from tools.wheel import source_build

NAME = f"headrace-{hr.__version__}"


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("sdist")
    made = folder / source_build.build_sdist(str(folder))
    assert made.name == f"{NAME}.tar.gz"
    return made


def test_it_holds_what_git_tracks(archive):
    with tarfile.open(archive) as tar:
        members = {member.name.partition("/")[2]: member for member in tar}
        assert all(member.name.startswith(f"{NAME}/") and member.isfile() for member in members.values())
        metadata = email.message_from_string(tar.extractfile(f"{NAME}/PKG-INFO").read().decode())
    assert members.keys() >= {
        "WORKSPACE",
        "LICENSE",
        "quickstart",
        "tools/setup/packages.txt",
        "core/condition_wait.cc",
    }
    assert not [name for name in members if name.endswith((".so", ".pyc"))]
    assert members["quickstart"].mode & 0o111 and not members["LICENSE"].mode & 0o111
    assert (metadata["Name"], metadata["Version"]) == ("headrace", hr.__version__)
    assert metadata["License-Expression"] == "Apache-2.0" and metadata["Requires-Python"] == ">=3.10"
    assert set(metadata.get_all("Provides-Extra")) >= {"torch", "arrow", "ray", "docs"}


def test_it_is_the_same_each_time(archive, tmp_path):
    source_build.build_sdist(str(tmp_path))
    assert (tmp_path / archive.name).read_bytes() == archive.read_bytes()


def test_pip_says_what_is_missing(archive, tmp_path):
    """With a package manager that knows of no package."""
    query = tmp_path / "bin/dpkg-query"
    query.parent.mkdir()
    query.write_text("#!/bin/sh\nexit 1\n")
    query.chmod(0o755)
    environment = {**os.environ, "PATH": f"{query.parent}:{os.environ['PATH']}", "PYTHONPATH": ""}
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, "-w", tmp_path / "wheels", archive], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "pip found no wheel for this Python and system" in said
    assert "Debian's packages bazel-bootstrap " in said and "libabsl-dev" in said
    assert "run ./quickstart" in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("attribute", "value", "lacks"),
    [
        ("_system", "ubuntu 22.04", "Debian 12, whose packages it is built from (this is ubuntu 22.04)"),
        ("_missing_packages", ["g++"], "Debian's packages g++"),
    ],
)
def test_each_thing_that_is_missing_is_named(monkeypatch, attribute, value, lacks):
    monkeypatch.setattr(source_build, "_system", lambda: "debian 12")
    monkeypatch.setattr(source_build, "_missing_packages", list)
    assert source_build.missing() == []
    monkeypatch.setattr(source_build, attribute, lambda: value)
    assert source_build.missing() == [lacks]
    assert f"  - {lacks}\n" in source_build.advice([lacks])


def test_another_system_is_named(monkeypatch):
    monkeypatch.setattr(source_build.sys, "platform", "darwin")
    monkeypatch.setattr(source_build.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(source_build.platform, "machine", lambda: "arm64")
    assert source_build.missing()[0] == "Linux on x86-64 (this is Darwin on arm64)"


def test_where_everything_is_there_bazel_builds_for_the_python_that_asks(monkeypatch, tmp_path):
    calls = []
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    built = tmp_path / f"bazel-bin/python/{NAME}-{tag}-{tag}-manylinux_2_34_x86_64.whl"
    (tmp_path / "python/headrace").mkdir(parents=True)
    (tmp_path / "python/headrace/__init__.py").write_text(f'__version__ = "{hr.__version__}"\n')
    built.parent.mkdir(parents=True)
    built.write_bytes(b"wheel")

    def run(command, **options):
        calls.append(command)
        assert not [name for name in options["env"] if name.startswith("PIP_")]
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(source_build, "ROOT", tmp_path)
    monkeypatch.setattr(source_build, "missing", list)
    monkeypatch.setattr(source_build.subprocess, "run", run)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    out = tmp_path / "out"
    out.mkdir()
    assert source_build.build_wheel(str(out)) == built.name and (out / built.name).read_bytes() == b"wheel"
    assert calls[0] == ["tools/setup/setup", "--test"]
    assert f"--repo_env=HEADRACE_PYTHON={sys.executable}" in calls[1] and calls[1][-1] == "//python:wheel"


def test_the_version_is_that_of_the_package():
    assert source_build.version() == hr.__version__
    assert (ROOT / source_build.PACKAGES).is_file()
