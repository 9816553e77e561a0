"""Classes and methods of operators that the generated modules lack: those of plugins, and those that the engine has had
for less long. They are written as the modules are, from the declarations, and made when they are first asked for."""

import __future__

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from headrace import _engine, sources
from headrace._arguments.dtype import DType
from headrace._arguments.other_libraries import class_advice, source_advice
from headrace._arguments.set_names import set_called
from headrace._arguments.suggestions import did_you_mean
from headrace._datasets.adapters.split_sources import mix
from headrace._datasets.column_types import Columns
from headrace._datasets.dataset import Dataset
from headrace._graph import declared, late_names
from headrace._graph.adapters import adapted
from headrace._graph.expression import Expression
from headrace._graph.parameters import Parameter
from headrace._kernels.chooser import Chooser
from headrace._kernels.kernel import Kernel, of_one_size
from headrace._kernels.mapping import Kernels
from headrace._operators import class_text
from headrace._workers.loaded_plugins import kernel_of

__all__ = ["attribute_of", "class_of_plugin", "method_of", "operators_of", "source_of_plugin"]

# What the written source names.
_NAMES = {
    "Any": Any,
    "Callable": Callable,
    "Chooser": Chooser,
    "Columns": Columns,
    "DType": DType,
    "Dataset": Dataset,
    "Expression": Expression,
    "Iterable": Iterable,
    "Kernel": Kernel,
    "Kernels": Kernels,
    "of_one_size": of_one_size,
    "Literal": Literal,
    "Mapping": Mapping,
    "Parameter": Parameter,
    "PathLike": os.PathLike,
    "Sequence": Sequence,
    "_mix": mix,
    "adapted": adapted,
}


_made: dict[tuple[str, str], Any] = {}


def attribute_of(module: str, name: str) -> Any:
    """The class `name` of `headrace.<module>`; AttributeError if no operator of that name is registered for it."""
    known = _made.get((module, name))
    if known is not None:
        return known
    op = _declaration("" if module == "sources" else module, name)
    if op is None or (module == "sources" and op["role"] != "source"):
        home = "headrace" if module == "sources" else f"headrace.{module}"
        # Its name is given, and not the module: else Python adds a suggestion of its own.
        raise AttributeError(f"module {home!r} has no attribute {name!r}{_advice(module, name)}", name=name)
    written = class_text.source(op) if op["role"] == "source" else class_text.kernel(op)
    return _made.setdefault((module, name), _run(written, f"headrace.{module}", name))


def _advice(module: str, name: str) -> str:
    """What to write in place of a class that a module lacks, after the error that says so."""
    kernels = declared.kernels()
    for other, names in kernels.items():
        if name in names:
            return f"; it is in headrace.{other}"
    if module == "sources":
        advice = source_advice(name) or class_advice(name)
        return f"; {advice}" if advice else _method_or_set(name) or did_you_mean(name, sources.__all__)
    if module not in kernels:
        return ""
    if advice := class_advice(name):
        return f"; {advice}"
    return did_you_mean(name, kernels[module])


def _method_or_set(name: str) -> str:
    """Where a name of the package is found that stands elsewhere in it; empty: nowhere."""
    if hasattr(Dataset, name):
        call = "(…)" if callable(getattr(Dataset, name)) else ""
        return f"; a dataset has it: dataset.{name}{call}"
    found = set_called(name)
    return f"; it is headrace.datasets.{found}" if found else ""


def method_of(name: str) -> Callable[..., Dataset] | None:
    """The method `name` of Dataset; None if no operator is registered for it."""
    known: Callable[..., Dataset] | None = _made.get(("methods", name))
    if known is not None:
        return known
    op = _declaration("dataset", name)
    if op is None:
        return None
    methods = _run(f"class Methods:\n{class_text.method(op)}", "headrace._datasets.methods", "Methods")
    made: Callable[..., Dataset] = _made.setdefault(("methods", name), getattr(methods, name))
    return made


def class_of_plugin(op: dict[str, Any], outputs: int) -> type[Kernel]:
    """The class of a plugin's kernel, which gives so many columns."""
    plugin, name = op["python_module"], op["python_name"]
    text = class_text.kernel(op | {"name": name}, outputs=outputs)
    made: type[Kernel] = _run(text, f"headrace.plugins.{plugin}", name)
    made._operator = op["name"]

    def reduce(self: Kernel) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return kernel_of, (plugin, name, self.__getstate__())

    # The module is there only where the plugin was loaded.
    made.__reduce__ = reduce  # type: ignore[method-assign, assignment]
    return made


def source_of_plugin(op: dict[str, Any]) -> type[Dataset]:
    """The class of a plugin's source or format."""
    made: type[Dataset] = _run(
        class_text.plugin_source(op), f"headrace.plugins.{op['python_module']}", op["python_name"]
    )
    return made


def operators_of(module: str) -> dict[str, dict[str, Any]]:
    """The declarations of a module's or plugin's operators, by their names in Python."""
    declared = json.loads(_engine.declarations())["operators"]
    return {op["python_name"]: op for op in declared if op["python_module"] == module}


def _declaration(module: str, name: str) -> dict[str, Any] | None:
    if name.startswith("_"):
        return None
    return operators_of(module).get(name)


def _run(written: str, module: str, name: str) -> Any:
    names = {**_NAMES, "__name__": module}
    # In this folder, so that errors name the line that calls it.
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"<declaration of {name}>")
    annotations = __future__.annotations.compiler_flag
    exec(compile(written, file, "exec", flags=annotations, dont_inherit=True), names)
    return names[name]


late_names.set_finders(attribute_of, method_of)
