"""The README is short, in its order, and leads to every page; its first example runs as pasted, where only the package is."""

import os
import pathlib
import re
import sys

import pytest

from tests.conftest import ROOT
from tools.wheel.readme_example import FirstExample

README = ROOT / "README.md"
# The list of all pages, by section.
CONTENTS = ROOT / "docs/README.md"
MOST_WORDS = 800
HEADINGS = [
    "Headrace",
    "Try it",
    "Runs on",
    "Why",
    "Figures",
    "When not",
    "Coming from",
    "Documentation",
    "Help",
    "Cite",
    "Contribute",
]


def test_it_is_short() -> None:
    assert len(README.read_text().split()) <= MOST_WORDS


def test_its_headings_are_in_their_order() -> None:
    prose = re.sub(r"^```.*?^```$", "", README.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^#+ (.+)$", prose, re.MULTILINE) == HEADINGS


def test_the_plot_stands_on_the_first_screen() -> None:
    top = README.read_text().split("\n## ")[0]
    (plot,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", top)
    assert (ROOT / plot).is_file()


def test_it_names_no_release_that_is_not_there() -> None:
    assert not re.search(r"pip install headrace\b", README.read_text())


def test_its_figures_are_in_the_table() -> None:
    table = (ROOT / "docs/figures.md").read_text()
    (section,) = re.findall(r"^## Figures\n(.+?)^## ", README.read_text(), re.DOTALL | re.MULTILINE)
    figures = re.findall(r"\d[\d,]*\.\d+|\d,\d{3}", section)
    assert len(figures) >= 3
    assert [figure for figure in figures if figure not in table] == []


def linked_from(page: pathlib.Path) -> set[pathlib.Path]:
    return {(page.parent / path).resolve() for path in re.findall(r"\]\((?!https?://)([^)#\s]+)", page.read_text())}


def test_every_page_is_linked_from_the_contents() -> None:
    reached = linked_from(README) | linked_from(CONTENTS)
    assert CONTENTS in reached
    assert [page.name for page in sorted((ROOT / "docs").glob("*.md")) if page not in reached] == []


def test_its_first_example_prints_what_is_shown_where_only_the_package_is() -> None:
    environment = {"PATH": os.defpath, "PYTHONPATH": str(ROOT / "python")}
    assert FirstExample.of(README).complaints([sys.executable], environment) == []


def test_its_first_example_needs_numpy_alone() -> None:
    imported = re.findall(r"^(?:import|from) (\w+)", FirstExample.of(README).code, re.MULTILINE)
    assert set(imported) <= {"headrace", "numpy"}


def test_an_example_that_prints_something_else_or_fails_is_seen() -> None:
    assert FirstExample("print(1)\n", "1\n").complaints([sys.executable]) == []
    assert "it prints\n2\n" in FirstExample("print(2)\n", "1\n").complaints([sys.executable])[0]
    assert "status 1" in FirstExample("1 / 0\n", "").complaints([sys.executable])[0]
    (warned,) = FirstExample("import warnings\nwarnings.warn('late')\n", "").complaints([sys.executable])
    assert "late" in warned


def test_an_example_without_its_output_is_seen(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("```python\nprint(1)\n```\n\nText.\n\n```python\nprint(2)\n```\n\n```text\n2\n```\n")
    with pytest.raises(ValueError, match="has no output after it"):
        FirstExample.of(page)
