"""`headrace version`: the version, and with `--all` what the package holds of others, from its bill of materials."""

import argparse
import json
import pathlib
import platform
from typing import Any

import numpy

from headrace import _engine
from headrace._files.opened_file import open_to_read
from headrace.errors import UnsupportedError

HELP = "print the version, and what the package holds of others"
# Where packages are installed, this one among them.
_SITE = pathlib.Path(__file__).parents[2]
_FAR_LIBRARY = "libheadrace_far.so"
_COLUMNS = ("name", "version", "licence", "source", "sha256")


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--all",
        action="store_true",
        help="also Python, NumPy, and every library of others: its version, licence, source package and SHA-256",
    )


def bill_of_materials(version: str, site: pathlib.Path = _SITE) -> pathlib.Path:
    """Where a wheel of this version has it: beside the package, whatever else `sys.path` has."""
    return site / f"headrace-{version}.dist-info" / "sboms" / "headrace.cdx.json"


def _place(file: str) -> str:
    """Where the wheel has what is in no file of its own."""
    return f"in {_FAR_LIBRARY}" if file.endswith(_FAR_LIBRARY) else "in the engine module"


def _row(component: dict[str, Any]) -> dict[str, str]:
    properties = {each["name"]: each["value"] for each in component["properties"]}
    return {
        "name": component["name"],
        "version": component["version"],
        "licence": component["licenses"][0]["expression"],
        "source": properties["headrace:source"],
        "sha256": component["hashes"][0]["content"] if "hashes" in component else _place(properties["headrace:file"]),
    }


def _components(bill: pathlib.Path) -> list[dict[str, Any]]:
    with open_to_read(bill) as file:
        found: list[dict[str, Any]] = json.load(file)["components"]
    return found


def versions_of_parts(bill: pathlib.Path) -> dict[str, str]:
    """Of what the bill lists, by its name."""
    return {component["name"]: component["version"] for component in _components(bill)}


def describe_parts(bill: pathlib.Path) -> list[str]:
    """The lines of a table of what the bill lists."""
    rows = [dict(zip(_COLUMNS, _COLUMNS, strict=True))]
    rows += [_row(component) for component in _components(bill)]
    widths = {column: max(len(row[column]) for row in rows) for column in _COLUMNS}
    return ["  ".join(row[column].ljust(widths[column]) for column in _COLUMNS).rstrip() for row in rows]


def _describe_far() -> str:
    try:
        return f"Files behind a network: {_engine.far_versions()}"
    except UnsupportedError as error:
        return f"Files behind a network: {error}"


def describe_all(version: str, site: pathlib.Path = _SITE) -> list[str]:
    python = f"Python {platform.python_version()}, NumPy {numpy.__version__}, {platform.platform()}"
    lines = [python, _describe_far(), ""]
    bill = bill_of_materials(version, site)
    if not bill.is_file():
        return [*lines, "Built from sources: its libraries are those of this machine. A wheel lists its own here."]
    return [
        *lines,
        *describe_parts(bill),
        "",
        f"Bill of materials (CycloneDX): {bill}",
        f"Licences: {bill.parents[1] / 'licenses'}",
    ]
