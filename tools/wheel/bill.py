"""`Component` is a part of the wheel that others made; `bill_of` lists them in a bill of materials (CycloneDX, JSON)."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

NAME = "headrace.cdx.json"


@dataclasses.dataclass(frozen=True)
class Component:
    name: str
    version: str
    licence: str
    """An SPDX expression."""
    source: str
    """What it is compiled from: a source package of Debian's, or a distribution of PyPI."""
    url: str
    """A package URL; empty for what Headrace makes itself."""
    file: str
    """Its name in the wheel; that of the engine module for what is compiled into it."""
    sha256: str
    """Of a file of its own; empty for what is compiled into another."""
    licence_file: str
    """Where its licence is, below `licenses/`."""
    about: str = ""


def _entry(component: Component) -> dict[str, Any]:
    properties = {
        "headrace:file": component.file,
        "headrace:source": component.source,
        "headrace:licence-file": component.licence_file,
    }
    entry: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"{component.name} in {component.file}",
        "name": component.name,
        "version": component.version,
        "licenses": [{"expression": component.licence}],
        "properties": [{"name": name, "value": value} for name, value in properties.items()],
    }
    if component.about:
        entry["description"] = component.about
    if component.url:
        entry["purl"] = component.url
    if component.sha256:
        entry["hashes"] = [{"alg": "SHA-256", "content": component.sha256}]
    return entry


def bill_of(version: str, licence: str, components: Sequence[Component]) -> bytes:
    """Without a date or a number of its own: the same sources give the same wheel."""
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": "headrace",
                "name": "headrace",
                "version": version,
                "licenses": [{"expression": licence}],
                "purl": f"pkg:pypi/headrace@{version}",
            }
        },
        "components": [_entry(component) for component in components],
        "dependencies": [
            {
                "ref": "headrace",
                "dependsOn": [f"{component.name} in {component.file}" for component in components],
            }
        ],
    }
    return (json.dumps(bill, indent=1, ensure_ascii=False) + "\n").encode()
