"""`Packages` are the folders with a BUILD file, and what the libraries of each can see: the packages that it names, and
transitively those that they name.

It reads labels as text, so it finds what a target depends on and perhaps more.
"""

import functools
import pathlib
import re
from collections.abc import Iterable

from tools.check.tree import Tree, matches

LABEL = re.compile(r'"//([\w/.-]+)(?::[^"]*)?"')
# What no library and no fuzz test of a room depends on.
OF_TESTS = re.compile(r"\btest_deps = \[[^]]*\]")
# What the macros add to each target.
MACROS = "tools/build/headrace.bzl"


class Packages:
    """`without`: globs with a `!` of files that no other package sees, such as tests."""

    def __init__(self, root: pathlib.Path, tree: Tree, without: Iterable[str] = ()) -> None:
        self.root = root
        self.tree = tree
        self.without = list(without)
        self.names = {path.rpartition("/")[0] for path in tree.matching(["**/BUILD"])}

    def of(self, path: str) -> str:
        """The nearest package at or above the folder of the file; an empty text for the top-level one."""
        folder = path.rpartition("/")[0]
        while folder and folder not in self.names:
            folder = folder.rpartition("/")[0]
        return folder

    @functools.cached_property
    def files(self) -> dict[str, list[str]]:
        """Those of each package that others can see."""
        found: dict[str, list[str]] = {}
        for path in self.tree.hashes:
            if matches(path, ["**", *self.without]):
                found.setdefault(self.of(path), []).append(path)
        return found

    @functools.cached_property
    def of_macros(self) -> set[str]:
        return self.named_in(MACROS) if MACROS in self.tree.hashes else set()

    def named_in(self, path: str) -> set[str]:
        text = OF_TESTS.sub("", (self.root / path).read_text())
        return set(LABEL.findall(text)) & self.names

    @functools.cached_property
    def named_by(self) -> dict[str, set[str]]:
        return {name: self.named_in(f"{name}/BUILD") | self.of_macros for name in self.names if name}

    def seen_from(self, package: str) -> list[str]:
        """The files of the package, and transitively of those that it depends on."""
        seen: set[str] = set()
        left = [package]
        while left:
            each = left.pop()
            if each not in seen:
                seen.add(each)
                left += self.named_by.get(each, ())
        return sorted(path for each in seen for path in self.files.get(each, []))
