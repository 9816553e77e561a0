"""Where the photographs of the package lie, which the first examples read."""

import os

__all__ = ["sample_photos"]

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_sample_photos")


def sample_photos() -> str:
    """The folder of twelve small photographs that come with the package, three in each of four classes.

    They are free to use; `README.md` in the folder names their sources.

    Example:
        hr.ImageFolder(hr.sample_photos()).show()
    """
    return _FOLDER
