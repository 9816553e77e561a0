"""`check_folder` says that the folder of a file that will be written is missing, before files beside it are named in its place."""

import os

from headrace._files.system_error import saying
from headrace.errors import NotFoundError

__all__ = ["check_folder"]


def check_folder(path: str, of: str) -> None:
    """Raises NotFoundError that names the folder, for the call `of`."""
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
