"""The working tree: a hash of the contents of each file that Git does not ignore, committed or not, by its path."""

import functools
import hashlib
import os
import pathlib
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence

WILD = re.compile(r"[*?]")


@functools.cache
def pattern_of(glob: str) -> re.Pattern[str]:
    """`*` and `?` match within a folder, `**` matches across folders, and `**/` also matches nothing."""
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meanings.get(piece, re.escape(piece)) for piece in pieces))


def matches(path: str, globs: Sequence[str]) -> bool:
    """Whether the last of the globs that matches the path stands without a `!` in front."""
    for glob in reversed(globs):
        if pattern_of(glob.removeprefix("!")).fullmatch(path):
            return not glob.startswith("!")
    return False


def paths_in(root: pathlib.Path) -> list[str]:
    """Tracked files and new ones; those that were deleted are left out."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    found = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted(path for path in set(found.split("\0")) if path and os.path.lexists(root / path))


def content_hash(path: pathlib.Path) -> str:
    if path.is_symlink():
        return "link:" + os.readlink(path)
    executable = "x" if os.access(path, os.X_OK) else "-"
    return executable + hashlib.sha256(path.read_bytes()).hexdigest()


class Tree:
    """The files of a clone as they were when this was made. The clone's own folder does not count."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self.hashes = dict(hashes)
        self.found: dict[str, set[str]] = {}

    @classmethod
    def of(cls, root: pathlib.Path) -> "Tree":
        return cls({path: content_hash(root / path) for path in paths_in(root) if not (root / path).is_dir()})

    def matching(self, globs: Sequence[str]) -> list[str]:
        """The paths of which the last glob that matches stands without a `!`, sorted."""
        chosen: set[str] = set()
        for glob in globs:
            if glob.startswith("!"):
                chosen -= self.of_glob(glob[1:])
            else:
                chosen |= self.of_glob(glob)
        return sorted(chosen)

    def of_glob(self, glob: str) -> set[str]:
        if glob not in self.found:
            self.found[glob] = set(self.search(glob))
        return self.found[glob]

    def search(self, glob: str) -> Iterable[str]:
        start = glob.removesuffix("**")
        if WILD.search(start):
            return filter(pattern_of(glob).fullmatch, self.hashes)
        # A whole folder or one file, as most globs are, needs no regular expression.
        if start == glob:
            return self.hashes.keys() & {glob}
        return (path for path in self.hashes if path.startswith(start))

    def digest(self, globs: Sequence[str]) -> str:
        """A hash of the paths that match, and of their contents."""
        return digest_of(f"{path} {self.hashes[path]}" for path in self.matching(globs))

    def folders(self) -> list[str]:
        """The folders at the top."""
        return sorted({path.partition("/")[0] for path in self.hashes if "/" in path})


def digest_of(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
