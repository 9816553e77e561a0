"""Operators as their declarations say, and the modules in which users find them.

Read when first asked for, as importing the package needs none of them; of what is registered later, plugins and their
modules are not in them."""

import json
from functools import cache
from typing import Any

from headrace import _engine

__all__ = ["kernels", "modules", "prefixes"]


@cache
def _declared() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_engine.declarations())
    return found


@cache
def _operators() -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in _declared()["operators"]}


def modules() -> list[dict[str, Any]]:
    """In the order of lists; those of kernels say so."""
    found: list[dict[str, Any]] = _declared()["modules"]
    return found


def prefixes() -> dict[str, str]:
    """What the names of a module's operators begin with: `{"vision": "V."}`."""
    return {each["name"]: each["prefix"] for each in modules()}


def kernels() -> dict[str, list[str]]:
    """The names of kernels, by their modules."""
    return {
        each["name"]: [op["python_name"] for op in _operators().values() if op["python_module"] == each["name"]]
        for each in modules()
        if each["kernels"]
    }
