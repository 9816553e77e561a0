"""Runs the code cells of a notebook in one namespace, as Jupyter does, and gives what each of them prints and shows.

As a command it writes the outputs of notebooks anew, in the current folder:

    .venv/bin/python -m tests.notebooks docs/notebooks/*.ipynb
"""

import ast
import base64
import contextlib
import gc
import io
import json
import pathlib
import sys
from typing import Any

Output = dict[str, Any]


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def shown(value: Any, count: int) -> Output:
    """The output of a cell's last expression: a picture or a table where the value has one, and its text."""
    data: dict[str, Any] = {"text/plain": lines_of(repr(value))}
    if hasattr(value, "_repr_png_"):
        # A page that shows the notebook may drop the pictures within tables of HTML, so that these are not kept.
        data["image/png"] = base64.encodebytes(value._repr_png_()).decode()
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = lines_of(value._repr_html_())
    return {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}


def run_cell(source: str, namespace: dict[str, Any], count: int) -> list[Output]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), namespace)
    outputs: list[Output] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines_of(printed.getvalue())})
    if value is not None:
        outputs.append(shown(value, count))
    return outputs


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook: dict[str, Any]) -> list[list[Output]]:
    """The outputs of each code cell."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    try:
        return [
            run_cell("".join(cell["source"]), namespace, count) for count, cell in enumerate(code_cells(notebook), 1)
        ]
    finally:  # a failure's traceback keeps the namespace, and with it the iterators
        namespace.clear()
        gc.collect()


def read(path: pathlib.Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text())
    return notebook


def write(path: pathlib.Path, notebook: dict[str, Any]) -> None:
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def main(paths: list[str]) -> None:
    for path in map(pathlib.Path, paths):
        notebook = read(path)
        for count, (cell, outputs) in enumerate(zip(code_cells(notebook), run(notebook), strict=True), 1):
            cell.update(outputs=outputs, execution_count=count)
        write(path, notebook)


if __name__ == "__main__":
    main(sys.argv[1:])
