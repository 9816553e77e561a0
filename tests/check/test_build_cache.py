"""tools/check/build_cache.py: which build results are kept and which are deleted."""

import os
import pathlib
import shutil

import pytest

from tests.conftest import ROOT
from tools.check import build_cache


def small_files(folder: pathlib.Path, written: dict[str, int], read: dict[str, int]) -> None:
    for name, when in written.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(100))
        os.utime(path, (read.get(name, when), when))


def names(folder: pathlib.Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_was_used_longest_ago_goes_first(tmp_path):
    small_files(tmp_path, {"ac/a": 10, "cas/b": 20, "cas/c": 30, "cas/d": 40}, read={"ac/a": 35})
    each = build_cache.size_of(tmp_path) // 4
    assert each >= 100 and build_cache.trim(tmp_path, 2 * each + each // 2) == 2 * each
    assert build_cache.size_of(tmp_path) == 2 * each
    assert names(tmp_path) == {"ac/a", "cas/d"}


def test_a_folder_that_is_small_enough_stays_as_it_is(tmp_path):
    small_files(tmp_path, {"cas/a": 10, "cas/b": 20}, read={})
    assert build_cache.trim(tmp_path, build_cache.size_of(tmp_path)) == 0
    assert names(tmp_path) == {"cas/a", "cas/b"}


def test_no_folder_is_no_error(tmp_path):
    assert build_cache.trim(tmp_path / "absent", 0) == 0


def test_the_folder_is_the_one_that_bazel_fills():
    assert (
        f"build --disk_cache=~/{build_cache.FOLDER.relative_to(pathlib.Path.home())}\n"
        in (ROOT / ".bazelrc").read_text()
    )


def test_linked_programs_are_not_kept():
    assert "build --modify_execution_info=CppLink=+no-cache\n" in (ROOT / ".bazelrc").read_text()


def test_what_is_written_twice_counts_once(tmp_path):
    small_files(tmp_path, {"outputs/a": 10}, read={})
    one = build_cache.size_of(tmp_path)
    os.link(tmp_path / "outputs/a", tmp_path / "outputs/b")
    (tmp_path / "link").symlink_to(tmp_path / "outputs")
    assert build_cache.size_of(tmp_path / "outputs") == one > 0


@pytest.mark.parametrize(("outputs", "kept"), [(0, 12e9), (5e9, 7e9), (11e9, 3e9), (20e9, 3e9)])
def test_the_cache_gets_what_the_outputs_leave(monkeypatch, outputs, kept):
    bounds = []
    monkeypatch.setattr(build_cache, "trim", lambda _, largest: bounds.append(largest))
    build_cache.bound(int(outputs))
    assert bounds == [kept]


def test_a_disk_that_is_nearly_full_is_said_with_what_fills_it():
    assert build_cache.warning_of(build_cache.LEAST_FREE, 0) == ""
    assert build_cache.warning_of(build_cache.LEAST_FREE - 5, 5) == ""
    warning = build_cache.warning_of(build_cache.LEAST_FREE - 5_100_000_000, 5_000_000_000)
    assert "8.9 GB free" in warning and "needs 14 GB: the outputs of four configurations" in warning


def test_free_bytes_are_those_of_the_disk_even_before_the_folder_is_made(tmp_path):
    assert 0 < build_cache.free_bytes(tmp_path / "not" / "made") <= shutil.disk_usage(tmp_path).total
