"""`checked_resources` checks what a task or an actor of Ray is asked for."""

import math
from collections.abc import Mapping
from typing import Any

from headrace._arguments.options import shown
from headrace._arguments.suggestions import did_you_mean
from headrace.errors import GraphError

__all__ = ["checked_resources", "cpus_of"]

_NAMES = (
    "accelerator_type",
    "label_selector",
    "memory",
    "num_cpus",
    "num_gpus",
    "resources",
    "runtime_env",
    "scheduling_strategy",
)


def checked_resources(given: Mapping[str, Any] | None, of: str) -> dict[str, Any]:
    """With one CPU, if nothing else was said. What is None was not said."""
    if given is not None and not isinstance(given, Mapping):
        raise GraphError(f'{of}: resources is {shown(given)}; give a dict such as {{"num_cpus": 2}}')
    for name in given or {}:
        if name not in _NAMES:
            raise GraphError(
                f"{of}: resources has {shown(name)}{did_you_mean(str(name), list(_NAMES))}; it takes {', '.join(_NAMES)}, "
                'and resources of your own under "resources": {"name": 1}'
            )
    said = {name: value for name, value in (given or {}).items() if value is not None}
    cpus = said.setdefault("num_cpus", 1)
    if isinstance(cpus, bool) or not isinstance(cpus, (int, float)) or not 0 <= cpus < math.inf:
        raise GraphError(f"{of}: num_cpus of resources is {shown(cpus)}; it must be a number, 0 or more")
    return said


def cpus_of(resources: Mapping[str, Any]) -> int:
    """Those that a pipeline has there, at least one."""
    return max(1, int(resources["num_cpus"]))
