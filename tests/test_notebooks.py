"""The notebooks of the documentation: each runs from its first cell to its last, and its outputs are those that it keeps.

Cells with the tag `varies` print times; of these alone the kinds of outputs are compared. tests/notebooks.py writes the
outputs anew.
"""

import json
import pathlib
import re
from typing import Any

import pytest

from tests import notebooks
from tests.notebooks import Output, code_cells

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATHS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
# Those that need torch are run where it is installed.
NAMES = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.torch] if "import torch" in path.read_text() else [])
    for path in PATHS
]
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)")


def kinds(output: Output) -> list[str]:
    return [output["output_type"], *sorted(output.get("data", {}))]


def texts(output: Output) -> str:
    lines = output.get("text") or output["data"]["text/plain"]
    return "".join(lines)


def check(cell: dict[str, Any], outputs: list[Output]) -> None:
    assert list(map(kinds, outputs)) == list(map(kinds, cell["outputs"]))
    if "varies" not in cell["metadata"].get("tags", []):
        assert list(map(texts, outputs)) == list(map(texts, cell["outputs"]))


@pytest.mark.parametrize("path", NAMES)
def test_runs_and_shows_what_it_keeps(
    path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = None
    if "import torch" in path.read_text():
        torch = pytest.importorskip("torch")
        threads = torch.get_num_threads()
    monkeypatch.chdir(tmp_path)
    notebook = notebooks.read(path)
    try:
        made = notebooks.run(notebook)
    finally:
        if threads is not None:
            torch.set_num_threads(threads)
    for cell, outputs in zip(code_cells(notebook), made, strict=True):
        check(cell, outputs)
    print(f"HEADRACE-COUNT examples={len(made)} outputs={sum(map(len, made))}")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_is_written_as_the_command_writes_it(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    notebook = notebooks.read(path)
    notebooks.write(tmp_path / path.name, notebook)
    assert (tmp_path / path.name).read_text() == path.read_text()
    assert len(path.read_bytes()) < 500_000
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert [cell["execution_count"] for cell in code_cells(notebook)] == [
        number for number, _ in enumerate(code_cells(notebook), 1)
    ]
    assert str(ROOT) not in path.read_text()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_links_lead_somewhere(path: pathlib.Path) -> None:
    prose = ["".join(cell["source"]) for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "markdown"]
    assert [link for text in prose for link in LINK.findall(text) if not (path.parent / link).exists()] == []


def test_a_difference_is_seen() -> None:
    cell = {"metadata": {}, "outputs": notebooks.run_cell("print(1)\n2", {}, 1)}
    check(cell, notebooks.run_cell("print(1)\n2", {}, 1))
    with pytest.raises(AssertionError):
        check(cell, notebooks.run_cell("print(1)\n3", {}, 1))
    with pytest.raises(AssertionError):
        check(cell | {"metadata": {"tags": ["varies"]}}, notebooks.run_cell("2", {}, 1))
    check(cell | {"metadata": {"tags": ["varies"]}}, notebooks.run_cell("print(7)\n3", {}, 1))


def test_a_command_writes_outputs(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "small.ipynb"
    code = {"cell_type": "code", "source": ["x = 1\n", "x + 1"], "outputs": [], "execution_count": None}
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Title"]}, code]}))
    notebooks.main([str(path)])
    (output,) = code_cells(notebooks.read(path))[0]["outputs"]
    assert output["data"] == {"text/plain": ["2"]} and output["execution_count"] == 1
