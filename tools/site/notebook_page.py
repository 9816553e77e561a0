"""Makes pages of the site of notebooks: cells and the outputs that they keep. Nothing is run."""

import base64
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

TICKS = re.compile(r"`+")


class NotebookPage:
    """The title of a notebook, the Markdown below it, and the pictures of its outputs by their names beside the page."""

    def __init__(self, path: pathlib.Path) -> None:
        self.pictures: dict[str, bytes] = {}
        self._stem = path.stem
        cells = json.loads(path.read_text())["cells"]
        text = "\n\n".join(part for cell in cells for part in self._of_cell(cell))
        self.title, _, self.text = text.removeprefix("# ").partition("\n")

    def _of_cell(self, cell: dict[str, Any]) -> Iterator[str]:
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        elif cell["cell_type"] == "code":
            yield fenced(source, "python")
            for output in cell["outputs"]:
                yield self._of_output(output)

    def _of_output(self, output: dict[str, Any]) -> str:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if "image/png" not in data:
            return fenced(joined(data["text/plain"]).rstrip("\n"), "text")
        name = f"{self._stem}-{len(self.pictures) + 1}.png"
        self.pictures[name] = base64.b64decode(joined(data["image/png"]))
        return f"![What the cell shows]({name})"


def joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def fenced(text: str, language: str) -> str:
    longest = max((len(found) for found in TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
