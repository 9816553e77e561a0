"""Operators as their declarations say, and the modules in which users find them.

Read when first asked for, as importing the package needs none of them; of what is registered later, plugins and their
modules are not in them."""

import json
from functools import cache
from typing import Any

from headrace import _engine

__all__ = [
    "companion",
    "doubts",
    "followed_by",
    "function_kernel",
    "kernel_that",
    "kernels",
    "modules",
    "operator",
    "prefixes",
    "reads_files",
    "takes_clips",
]


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


def operator(name: str) -> dict[str, Any] | None:
    return _operators().get(name)


def companion(kernel: str, role: str) -> str | None:
    """The kernel that does for a role, such as "boxes", what `kernel` does for images."""
    found = operator(kernel)
    return None if found is None else found["companions"].get(role)


def followed_by(companion: str) -> set[str]:
    """The kernels that it does for boxes and the like, what they do for images; empty: it is a companion of none."""
    return {each["name"] for each in _operators().values() if companion in each["companions"].values()}


def doubts(kernel: str) -> bool:
    """Whether its declaration doubts some of the values that it may get."""
    found = operator(kernel)
    return found is not None and found["doubts"]


def reads_files(kernel: str) -> bool:
    found = operator(kernel)
    return found is not None and bool(found["traits"]["file_io"])


def takes_clips(kernel: str) -> bool:
    """Whether it takes a clip frame by frame."""
    found = operator(kernel)
    return found is not None and found["clips"] == "by_frame"


@cache
def function_kernel() -> str:
    """The one kernel that calls functions of Python."""
    (name,) = (each["name"] for each in _operators().values() if each["role"] == "kernel" and each["traits"]["python"])
    return str(name)


@cache
def kernel_that(work: str) -> str:
    """The one kernel that does this to targets, such as "places_boxes"."""
    (name,) = (each["name"] for each in _operators().values() if each["target_work"] == work)
    return str(name)
