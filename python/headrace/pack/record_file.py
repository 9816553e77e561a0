"""`is_record_file` says which files the commands read as RecordIO, record by record."""

import glob
import os

from headrace._files.places import exists
from headrace._runs.foreign_files import kind_of

__all__ = ["is_record_file"]


def is_record_file(path: str) -> bool:
    """By its first bytes; by its name where these are damaged, and where there is nothing. A pattern is no file."""
    if glob.has_magic(path) and not exists(path):
        return False
    kind = kind_of(path)
    if kind is not None:
        return kind[0] == "RecordIO"
    return os.path.splitext(path)[1].lower() == ".rec"
