"""The package's rooms: imports go one way, and all of them stand at the top of their modules."""

import ast
import itertools
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from headrace._graph import declared
from tests.conftest import ROOT

PACKAGE = ROOT / "python/headrace"
# From below: a room's modules import those of rooms before it, and of their own. Names without an underscore are the
# package's faces.
ROOMS = [
    "_engine",
    "errors",
    "_files",
    "_arguments",
    "_workers",
    "_graph",
    "_kernels",
    "_runs",
    *(each["name"] for each in declared.modules() if each["kernels"]),
    "sheet",
    "_writing",
    "_records",
    "_mindrecord",
    "_parquet",
    "_statistics",
    "_datasets",
    "eager",
    "sources",
    "samplers",
    "functions",
    "_inference",
    "_sets",
    "datasets",
    "_share",
    "_commands",
    "torch",
    "_loops",
    "_formats",
    "_operators",
    "worker",
    "headrace",
    "pack",
    "mindrecord",
    "ray",
    "mx",
    "__main__",
]
MOST_FLAT = 25


def modules() -> dict[str, pathlib.Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def is_checking(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and "not " not in ast.unparse(node.test)
    )


def imports_below(node: ast.AST, within: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Imports that run, and whether they stand in a function. Types may name what is above."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, within
        elif not is_checking(child):
            yield from imports_below(child, within or isinstance(child, (ast.FunctionDef, ast.Lambda)))


def imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Modules of the package, and the engine."""
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    else:
        assert node.level == 0, "imports are written in full"
        names = set()
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            names.add(full if full in MODULES or full == "headrace._engine" else node.module or "")
    return {name for name in names if name.partition(".")[0] == "headrace"}


IMPORTS = {
    module: set().union(*(imported(node) for node, _ in imports_below(ast.parse(path.read_text()))))
    for module, path in MODULES.items()
}


def test_every_module_is_in_a_room():
    assert {room_of(module) for module in MODULES} == set(ROOMS) - {"_engine"}


@pytest.mark.parametrize("room", ROOMS[1:])
def test_rooms_import_what_is_below_them(room):
    known = {room, *itertools.takewhile(lambda each: each != room, ROOMS)}
    above = {
        f"{module} imports {each}"
        for module, imports in IMPORTS.items()
        for each in imports
        if room_of(module) == room and room_of(each) not in known
    }
    assert above == set(), above


def test_no_module_imports_itself_by_way_of_others():
    left = {module: imports - {module} for module, imports in IMPORTS.items()}
    while ready := {module for module, imports in left.items() if not imports & left.keys()}:
        left = {module: imports for module, imports in left.items() if module not in ready}
    assert left == {}


def test_functions_import_nothing_of_the_package_or_of_python():
    """Only libraries that are large, or may be missing, are imported when they are first needed."""
    libraries = {"IPython", "PIL", "cloudpickle", "ml_dtypes", "numpy", "pyarrow", "scipy", "torch", "tqdm"}
    found = set()
    for module, path in MODULES.items():
        for node, within in imports_below(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found |= {
                f"{module} imports {name}" for name in names if within and name.partition(".")[0] not in libraries
            }
    assert found == set(), found


def test_modules_that_the_engine_imports_are_there():
    sources = "".join(path.read_text() for path in sorted((ROOT / "python/binding").rglob("*.cc")))
    named = set(re.findall(r'module_::import\("(headrace[\w.]*)"', sources))
    assert {"headrace.errors"} <= named <= set(MODULES)


def test_few_modules_stand_outside_of_rooms():
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_FLAT


def test_importing_headrace_leaves_rooms_that_few_programs_need():
    listed = subprocess.run(
        [sys.executable, "-c", "import sys, headrace; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    loaded = listed.stdout.split()
    rooms = (
        "_commands",
        "_formats.entries",
        "_formats.opening",
        "_inference",
        "_mindrecord",
        "_operators.conformance",
        "_records",
        "_share",
        "_statistics",
        "_writing",
        "datasets",
        "mindrecord",
        "mx",
        "ray",
        "sheet",
    )
    late = tuple(f"headrace.{room}." for room in rooms)
    assert [each for each in loaded if each.startswith(late)] == []
    assert {"html", "numpy", "tempfile"}.isdisjoint(loaded)


def test_importing_headrace_loads_no_library_that_few_programs_need():
    """Nor one whose initialiser takes milliseconds."""
    maps = "import headrace, pathlib; print(pathlib.Path('/proc/self/maps').read_text())"
    listed = subprocess.run([sys.executable, "-c", maps], capture_output=True, text=True, check=True)
    loaded = set(re.findall(r"/lib([A-Za-z]+)[^/]*\.so", listed.stdout))
    assert "jpeg" in loaded
    assert loaded.isdisjoint({"Lerc", "deflate", "hwy", "jbig", "tiff", "unsupported"})
