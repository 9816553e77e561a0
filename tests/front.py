"""Where users find operators, by their modules as declarations list them."""

import importlib
from typing import Any

import headrace as hr
from headrace._graph.declared import modules

__all__ = ["KERNEL_MODULES", "front_of", "kernel_of"]

KERNEL_MODULES = [each["name"] for each in modules() if each["kernels"]]
_FRONTS: dict[str, Any] = {each["name"]: hr for each in modules()} | {"dataset": hr.Dataset}
_FRONTS |= {name: importlib.import_module(f"headrace.{name}") for name in KERNEL_MODULES}


def front_of(operator: dict[str, Any]) -> Any:
    """What has the operator's class or method as an attribute; None: users do not write it."""
    return _FRONTS.get(operator["python_module"])


def kernel_of(operator: dict[str, Any]) -> Any:
    """The class of a kernel."""
    return getattr(front_of(operator), operator["name"])
