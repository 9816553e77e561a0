"""Bounds the size of the build cache (.bazelrc's --disk_cache): Bazel 4.2 never deletes from it.

A build compiles missing files again, so any file may be deleted at any time, even during a build.
"""

import pathlib
import stat

FOLDER = pathlib.Path("~/.cache/headrace-bazel").expanduser()
# The size after a few clean runs of ./test, each of another version.
LARGEST = 16_000_000_000


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
