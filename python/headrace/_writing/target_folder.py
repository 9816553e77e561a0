"""`check_folder` says that the folder of a file that will be written is missing, before files beside it are named in its
place; `make_empty_folder` makes the folder that many files are written to."""

import os

from headrace._files.places import is_far, is_folder, list_folder
from headrace._files.system_error import saying, system_error
from headrace.errors import NotFoundError, UnsupportedError

__all__ = ["check_folder", "make_empty_folder"]


def check_folder(path: str, of: str) -> None:
    """Raises NotFoundError that names the folder, for the call `of`. Far stores need none."""
    if is_far(path):
        return
    folder = os.path.dirname(path) or "."
    with saying(f"{of}: cannot write {path}"):
        try:
            is_folder = os.path.isdir(folder)
            if not is_folder:
                os.lstat(folder)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(f"there is no folder {folder}; make it, or check the path") from None
        if not is_folder:
            raise NotFoundError(f"{folder} is not a folder; check the path")


def make_empty_folder(folder: str) -> None:
    """Takes one that is there and is empty, too; UnsupportedError for another."""
    if is_far(folder):
        if is_folder(folder) and list_folder(folder):
            raise UnsupportedError(f"{folder} is not empty; unpack into a new folder")
        return
    try:
        os.makedirs(folder, exist_ok=True)
        if os.listdir(folder):
            raise UnsupportedError(f"{folder} is not empty; unpack into a new folder")
    except OSError as error:
        raise system_error(f"cannot unpack into {folder}", error) from error
