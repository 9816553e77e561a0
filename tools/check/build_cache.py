"""Bounds the size of the build cache (.bazelrc's --disk_cache): Bazel 4.2 never deletes from it.

A build compiles missing files again, so any file may be deleted at any time, even during a build.
"""

import pathlib
import shutil
import stat

FOLDER = pathlib.Path("~/.cache/headrace-bazel").expanduser()
# Twice what a clean run of ./test writes, so that making it smaller leaves what the next run needs.
LARGEST = 10_000_000_000
# What a clean run needs, most of it programs under AddressSanitizer.
LEAST_FREE = 28_000_000_000


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
            files.append((max(status.st_atime, status.st_mtime), status.st_size, path))
    too_much = sum(size for _, size, _ in files) - largest
    freed = 0
    for _, size, path in sorted(files):
        if freed >= too_much:
            break
        path.unlink(missing_ok=True)
        freed += size
    return freed


def free_bytes(folder: pathlib.Path) -> int:
    """The free bytes of the disk that `folder` is on, or will be once it is made."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(existing).free


def warning_of(free: int) -> str:
    """What to print before a run if so few bytes are free that the run may fill the disk, or an empty text."""
    if free >= LEAST_FREE:
        return ""
    return (
        f"warning: the disk of {FOLDER} has {free / 1e9:.1f} GB free, but a clean run of ./test needs "
        f"{LEAST_FREE / 1e9:.0f} GB: the outputs of four configurations (plain, tsan, asan, fuzz)"
    )
