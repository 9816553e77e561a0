"""The plugins that this process has loaded, as modules: other processes need the same ones."""

from types import ModuleType
from typing import Any

from headrace.errors import UnsupportedError

__all__ = ["kernel_of", "loaded_paths", "modules"]

modules: dict[str, ModuleType] = {}
"""By the plugins' names, in the order in which they were loaded."""


def loaded_paths() -> list[str]:
    """Of their libraries: other processes load them before they unpickle what uses them."""
    return [str(module.__file__) for module in list(modules.values())]


def kernel_of(plugin: str, name: str, state: Any) -> Any:
    """A kernel of a plugin as it was pickled; UnsupportedError: the plugin is not loaded in this process."""
    if plugin not in modules:
        raise UnsupportedError(
            f"a pickled {plugin}.{name} needs its plugin: the plugin {plugin} is not loaded; call hr.load_plugin() with "
            "the path of its library first"
        )
    made = modules[plugin].__dict__[name].__new__(modules[plugin].__dict__[name])
    for slot, value in state[1].items():
        setattr(made, slot, value)
    return made
