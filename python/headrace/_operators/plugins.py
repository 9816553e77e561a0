"""Plugins: operators built outside, in shared libraries that `load_plugin` opens. Nothing else opens one."""

import os
import sys
import threading
import types
from typing import Any

from headrace import _engine
from headrace._arguments import options
from headrace._operators.late_classes import class_of_plugin, operators_of, source_of_plugin
from headrace._workers.loaded_plugins import modules
from headrace.errors import ResourceError, UnsupportedError

__all__ = ["load_plugin", "plugin_include"]

_loading = threading.Lock()


def _make_lock() -> None:
    global _loading
    _loading = threading.Lock()


# Another thread may have held it.
os.register_at_fork(after_in_child=_make_lock)


def load_plugin(path: str | os.PathLike[str]) -> types.ModuleType:
    """Loads a plugin, and returns a module with a class for each of its operators, like those of Headrace's own.

    Kernels go into `map`; sources and formats are datasets: `myops.Frames("corpus/*.frames", shuffle=True)`. In graphs
    its operators are called PLUGIN.Class, with their versions. A graph that needs a plugin names it, and runs where the
    plugin was loaded; loading a graph loads no library. A plugin stays loaded, and loading it again gives the same
    module. It runs in this process with all of its rights: load none that you would not run.

    Args:
        path: The shared library, relative to the current folder; no other folders are searched.

    Errors: NotFoundError for a file that does not exist; UnsupportedError for one that is no plugin, one built for
    another version of the interface, one that declares what cannot be used, one whose name is taken, and one whose file
    has changed since it was loaded: a new process loads the new one.

    Example:
        myops = hr.load_plugin("libmyops.so")
    """
    place = os.path.abspath(options.path("path", path, "load_plugin"))
    with _loading:
        loaded = _engine.load_plugin(os.fsencode(place))
        name = loaded["name"]
        if name not in modules:
            try:
                modules[name] = _module(name, loaded)
            except (ResourceError, MemoryError):
                raise
            except Exception as error:
                raise UnsupportedError(f"the plugin {place} declares what makes no class in Python: {error}") from error
            # Where pickle looks for its classes.
            sys.modules[modules[name].__name__] = modules[name]
        return modules[name]


def _module(name: str, loaded: dict[str, Any]) -> types.ModuleType:
    module = types.ModuleType(f"headrace.plugins.{name}", loaded["doc"] or None)
    module.__file__ = os.fsdecode(loaded["path"])
    module.__dict__["__version__"] = loaded["version"]
    module.__dict__["__all__"] = sorted([*loaded["kernels"], *loaded["sources"]])
    declared = operators_of(name)
    for kernel, outputs in loaded["kernels"].items():
        module.__dict__[kernel] = class_of_plugin(declared[kernel], outputs)
    for source in loaded["sources"]:
        module.__dict__[source] = source_of_plugin(declared[source])
    return module


def plugin_include() -> str:
    """The folder of `headrace_plugin.h`, which plugins are built with: `g++ -I$(python -c "…") …`."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    in_wheel = os.path.join(package, "include")
    return in_wheel if os.path.isdir(in_wheel) else os.path.join(os.path.dirname(os.path.dirname(package)), "plugin")
