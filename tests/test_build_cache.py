"""tools/check/build_cache.py: which build results are kept and which are deleted."""

import importlib.util
import os
import pathlib
import shutil

from tests.conftest import ROOT

spec = importlib.util.spec_from_file_location("build_cache", ROOT / "tools/check/build_cache.py")
build_cache = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build_cache)


def files_of_100_bytes(folder: pathlib.Path, written: dict[str, int], read: dict[str, int]) -> None:
    for name, when in written.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(100))
        os.utime(path, (read.get(name, when), when))


def names(folder: pathlib.Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_was_used_longest_ago_goes_first(tmp_path):
    files_of_100_bytes(tmp_path, {"ac/a": 10, "cas/b": 20, "cas/c": 30, "cas/d": 40}, read={"ac/a": 35})
    assert build_cache.trim(tmp_path, 250) == 200
    assert names(tmp_path) == {"ac/a", "cas/d"}


def test_a_folder_that_is_small_enough_stays_as_it_is(tmp_path):
    files_of_100_bytes(tmp_path, {"cas/a": 10, "cas/b": 20}, read={})
    assert build_cache.trim(tmp_path, 200) == 0
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


def test_a_disk_that_is_nearly_full_is_said_with_what_fills_it():
    assert build_cache.warning_of(build_cache.LEAST_FREE) == ""
    warning = build_cache.warning_of(build_cache.LEAST_FREE - 100_000_000)
    assert "27.9 GB free" in warning and "needs 28 GB: the outputs of four configurations" in warning


def test_free_bytes_are_those_of_the_disk_even_before_the_folder_is_made(tmp_path):
    assert 0 < build_cache.free_bytes(tmp_path / "not" / "made") <= shutil.disk_usage(tmp_path).total
