"""Bounds what the build keeps on the disk: Bazel's outputs, and its cache (.bazelrc's --disk_cache), from which Bazel 4.2
never deletes.

A build compiles missing files of the cache again, so any of them may be deleted at any time, even during a build.
"""

import os
import pathlib
import shutil
import stat

from tools.check.limits import LARGEST_GB

FOLDER = pathlib.Path("~/.cache/headrace-bazel").expanduser()
# Of the outputs and the cache together.
LARGEST = LARGEST_GB * 1_000_000_000
# What the cache may have however large the outputs are, so that the next clone need not compile everything.
LEAST_CACHE = 3_000_000_000
# What a clean run of `./test --all` needs: all that it may keep, and what it writes besides.
LEAST_FREE = LARGEST + 2_000_000_000


def bytes_on_disk(status: os.stat_result) -> int:
    """What a file takes there: whole blocks, which for a cache of many small files is more than their lengths."""
    return status.st_blocks * 512


def trim(folder: pathlib.Path, largest: int) -> int:
    """Deletes the least recently used files until `folder` holds at most `largest` bytes, and returns the bytes freed.

    The system records reads about once a day, so the order is accurate to a day.
    """
    files = []
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except FileNotFoundError:  # another build is running
            continue
        if stat.S_ISREG(status.st_mode):
            files.append((max(status.st_atime, status.st_mtime), bytes_on_disk(status), path))
    too_much = sum(size for _, size, _ in files) - largest
    freed = 0
    for _, size, path in sorted(files):
        if freed >= too_much:
            break
        path.unlink(missing_ok=True)
        freed += size
    return freed


def size_of(folder: pathlib.Path) -> int:
    """The bytes on the disk of all files in the folder, each once; links lead nowhere."""
    seen: dict[tuple[int, int], int] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(parent, name))
            except FileNotFoundError:  # another build is running
                continue
            seen[status.st_dev, status.st_ino] = bytes_on_disk(status)
    return sum(seen.values())


def bound(outputs: int, folder: pathlib.Path = FOLDER) -> None:
    """Makes the cache small enough beside outputs of so many bytes."""
    trim(folder, max(LARGEST - outputs, LEAST_CACHE))


def free_bytes(folder: pathlib.Path) -> int:
    """The free bytes of the disk that `folder` is on, or will be once it is made."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(existing).free


def warning_of(free: int, kept: int) -> str:
    """What to print before a run if so few bytes are free, beside those that earlier runs have kept, that it may fill
    the disk; or an empty text.
    """
    if free + kept >= LEAST_FREE:
        return ""
    return (
        f"warning: the disk of {FOLDER} has {free / 1e9:.1f} GB free, but a clean run of ./test --all needs "
        f"{LEAST_FREE / 1e9:.0f} GB: the outputs of four configurations (plain, asan, tsan, alone), and the cache"
    )
