"""The C++ tests of a path: a query for their programs, and the filter for those of single files."""

import dataclasses
import pathlib
import re
from collections.abc import Iterable

from tools.check.test_filter import filter_of

ENDS = ("_test.cc", "_fuzz.cc")


@dataclasses.dataclass(frozen=True)
class Selection:
    """Programs, and which of their tests to run. Without a filter: all."""

    query: str
    filter: str = ""


def package_of(root: pathlib.Path, path: pathlib.Path) -> pathlib.Path | None:
    """The nearest folder with a BUILD file, at or above the path; None if that is the top-level one."""
    for folder in (path, *path.parents):
        if folder != pathlib.Path() and (root / folder / "BUILD").is_file():
            return folder
    return None


def stem_of(path: pathlib.Path) -> pathlib.Path:
    """kernels/vision/resize for kernels/vision/geometry/resize.cc and for kernels/vision/geometry/resize_test.cc."""
    return path.with_name(re.sub(r"(_test|_fuzz)?(\.\w+)?$", "", path.name))


def selection_of(root: pathlib.Path, path: pathlib.Path) -> Selection | None:
    """The tests beside a file, given with or without its suffix, or else those of its folder; None if there are none."""
    if (root / path).is_dir():
        return of_folder(root, path)
    stem = stem_of(path)
    files = [stem.with_name(stem.name + end) for end in ENDS if (root / stem).with_name(stem.name + end).is_file()]
    return of_files(root, files) if files else of_folder(root, path.parent)


def of_folder(root: pathlib.Path, folder: pathlib.Path) -> Selection | None:
    files = sorted(path.relative_to(root) for end in ENDS for path in (root / folder).rglob(f"*{end}"))
    if not files:
        return None
    # A folder below a package has no programs of its own.
    if package_of(root, folder) in (folder, None):
        return Selection(f"kind(cc_test, //{folder}/...)")
    return of_files(root, files)


def of_files(root: pathlib.Path, files: Iterable[pathlib.Path]) -> Selection | None:
    """The programs that are made of these files, wherever a rule puts their sources together."""
    by_package: dict[pathlib.Path, list[pathlib.Path]] = {}
    for file in files:
        package = package_of(root, file.parent)
        if package is not None:
            by_package.setdefault(package, []).append(file)
    if not by_package:
        return None
    queries = [
        f"kind(cc_test, rdeps(//{package}:all, set({' '.join(label(package, file) for file in of)})))"
        for package, of in sorted(by_package.items())
    ]
    sources = ((root / file).read_text() for of in by_package.values() for file in of)
    return Selection(" + ".join(queries), filter_of(sources))


def label(package: pathlib.Path, file: pathlib.Path) -> str:
    return f"//{package}:{file.relative_to(package)}"
