"""Habits of English that CONTRIBUTING.md names and a pattern can find: none is in sources or pages."""

import re
import subprocess

import pytest

from tests.conftest import ROOT

# What explains the habits, or keeps its words from before.
EXPLAINS = {"CONTRIBUTING.md", "CHANGELOG.md", "tests/test_english.py"}
HABITS = {
    "a user function": r"""(?<!instead) of the user's(?: own)?(?:[.,;:"]| was\b)""",
    "is not a dtype": r", which (?:is|are) (?:no|none)\b",
    "end to end, or in succession": r"\bone behind the other\b",
    "out of memory": r"\bwhere memory lacks\b",
}


def sources() -> list[str]:
    command = ["git", "ls-files", "*.h", "*.cc", "*.cu", "*.py", "*.pyi", "*.md"]
    found = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [path for path in found if path not in EXPLAINS and (ROOT / path).is_file()]


@pytest.mark.parametrize("better", HABITS)
def test_no_page_or_source_has_the_habit(better):
    habit = re.compile(HABITS[better])
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in sources()
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1)
        if habit.search(line)
    ]
    assert not found, f"write {better!r}:\n" + "\n".join(found)
