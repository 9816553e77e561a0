"""Which folders at the top changed since the checks last passed, and what Git says of the last commit."""

import pathlib
import subprocess

from tools.check.marks import Mark, Marks
from tools.check.tree import Tree

PREFIX = "tree."


def changed_folders(marks: Marks, tree: Tree) -> list[str]:
    return [folder for folder in tree.folders() if marks.read(PREFIX + folder, digest(tree, folder)) is None]


def keep_folders(marks: Marks, tree: Tree, commit: str) -> None:
    """Marks all folders as they are: the checks have passed."""
    for folder in tree.folders():
        marks.put(PREFIX + folder, digest(tree, folder), Mark(commit, 0))


def digest(tree: Tree, folder: str) -> str:
    return tree.digest([f"{folder}/**"])


def git(root: pathlib.Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip()


def commit_of(root: pathlib.Path) -> str:
    """The commit, with a + if files differ from it."""
    edited = git(root, "status", "--porcelain")
    return git(root, "rev-parse", "--short", "HEAD") + ("+" if edited else "")


def commits_of(root: pathlib.Path) -> int:
    """The number of commits up to this one."""
    return int(git(root, "rev-list", "--count", "HEAD") or 0)


def touched_by_last(root: pathlib.Path) -> list[str]:
    """The folders that the last commit touched; a merge touches what it brings in."""
    paths = git(root, "diff", "--name-only", "HEAD^1", "HEAD").splitlines()
    return sorted({path.partition("/")[0] for path in paths if "/" in path})
