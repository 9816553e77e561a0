"""`write_manifest` names the files of a set that is whole, with their rows and bytes: `train.rec.manifest.json`."""

from __future__ import annotations

import json
import os

from headrace import __version__
from headrace._files.places import file_size
from headrace._files.whole_file import write_whole
from headrace._writing.part_paths import MANIFEST
from headrace._writing.set_writer import WrittenSet

__all__ = ["manifest_path", "write_manifest"]


def manifest_path(path: str) -> str:
    """Of the set at `path`."""
    return path + MANIFEST


def write_manifest(path: str, of: str, epoch: int, written: WrittenSet) -> None:
    """Comes last of all: whoever waits for the set waits for this file."""
    files = [
        {"name": os.path.basename(each), "rows": rows, "bytes": file_size(each)}
        for each, rows in zip(written.paths, written.rows, strict=True)
    ]
    fields = {"headrace": __version__, "writer": of, "epoch": epoch, "rows": sum(written.rows), "files": files}
    write_whole(manifest_path(path), (json.dumps(fields, indent=1) + "\n").encode(), named=False)
