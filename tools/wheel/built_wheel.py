"""`find_wheel` finds the wheel for a Python among those of earlier versions and other tags, which Bazel keeps."""

import pathlib


def find_wheel(folder: pathlib.Path, tag: str) -> pathlib.Path | None:
    """The newest for a tag such as cp311."""
    found = sorted(folder.glob(f"headrace-*-{tag}-{tag}-manylinux_*.whl"), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None
