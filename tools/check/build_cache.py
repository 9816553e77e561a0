"""Keeps the folder of compiled files (.bazelrc's --disk_cache) from growing without end: Bazel 4.2 never deletes from it.

What a build finds missing there is compiled again, so any file may go at any time, also while a build runs.
"""

import pathlib
import stat

FOLDER = pathlib.Path("~/.cache/headrace-bazel").expanduser()
# What a few clean runs of ./test leave, each of another version.
LARGEST = 16_000_000_000


def trim(folder: pathlib.Path, largest: int) -> int:
    """Deletes the files used longest ago until `folder` holds at most `largest` bytes, and returns the bytes freed.

    The system notes reads about once a day, so "longest ago" is true to a day.
    """
    files = []
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except FileNotFoundError:  # another build is at work
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
