"""Headrace: a data engine for training and inference. Pipelines written in Python, run in C++."""

import importlib
import os
import sys
from types import FunctionType as _FunctionType
from typing import TYPE_CHECKING

from headrace._arguments.foreign_symbols import own_symbols_first as _own_symbols_first

# First: where it is not there, other modules may not be read either, as they use what a later Python has.
try:
    with _own_symbols_first():
        from headrace import _engine
except ImportError as _error:
    _built = sorted(
        name for name in os.listdir(os.path.dirname(__file__)) if name.startswith("_engine.") and name[-3:] == ".so"
    )
    _here = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
    if any(f"-{sys.version_info[0]}{sys.version_info[1]}-" in name for name in _built):
        raise
    raise ImportError(
        f"headrace: this is {_here}, and the engine's module is built for another Python: {', '.join(_built)}; run the "
        "program with that one"
        if _built
        else "headrace: the engine's module is not built; run tools/setup/setup in the sources, or install a wheel"
    ) from _error

from headrace import functions, samplers, sources, transforms, vision
from headrace._arguments.import_folder import IMPORT_FOLDER as _IMPORT_FOLDER
from headrace._arguments.other_libraries import advised as _advised
from headrace._arguments.storage import storage
from headrace._datasets.adapters.parts import Subset
from headrace._datasets.base import ColumnType
from headrace._datasets.batches import BatchInfo
from headrace._datasets.dataset import Dataset
from headrace._datasets.fields.declared_ragged import ragged
from headrace._datasets.huggingface import from_huggingface
from headrace._datasets.loading import load
from headrace._datasets.sampler import Sampler
from headrace._files.host_files import register_filesystem
from headrace._files.sample_photos import sample_photos
from headrace._formats.open_function import open
from headrace._graph import late_names
from headrace._graph.expression import Expression, col
from headrace._graph.parameters import Parameter, parameter
from headrace._kernels.kernel import Kernel
from headrace._kernels.targets import boxes, keypoints, mask
from headrace._loops.progress_bar import progress
from headrace._operators.c_library import include_dir, library_dir
from headrace._operators.plugins import load_plugin, plugin_include
from headrace._runs.callback import Callback, Moment
from headrace._runs.iterator import Iterator
from headrace._sets.remaking import make_sets as _make_sets
from headrace.eager import compose
from headrace.errors import (
    ClosedError,
    DataError,
    Error,
    FunctionError,
    GraphError,
    InternalError,
    NotFoundError,
    PipelineWarning,
    ResourceError,
    StateError,
    UnsupportedError,
)
from headrace.functions import *  # noqa: F403
from headrace.samplers import *  # noqa: F403
from headrace.sources import *  # noqa: F403

__version__ = "0.1.0"

__all__ = [
    "BatchInfo",
    "Callback",
    "ClosedError",
    "ColumnType",
    "DataError",
    "Dataset",
    "Error",
    "Expression",
    "FunctionError",
    "GraphError",
    "InferenceGraph",
    "InternalError",
    "Iterator",
    "Kernel",
    "Moment",
    "NotFoundError",
    "Parameter",
    "PipelineWarning",
    "ResourceError",
    "Sampler",
    "SharedDataset",
    "SharedIterator",
    "StateError",
    "Subset",
    "UnsupportedError",
    "boxes",
    "col",
    "compose",
    "connect",
    "from_huggingface",
    "include_dir",
    "inference",
    "inference_of",
    "from_processor",
    "keypoints",
    "library_dir",
    "load",
    "load_plugin",
    "mask",
    "open",
    "parameter",
    "plugin_include",
    "progress",
    "ragged",
    "register_filesystem",
    "sample_photos",
    "share",
    "storage",
    "transforms",
    "vision",
]
__all__ += functions.__all__
__all__ += samplers.__all__
__all__ += sources.__all__

# Of modules that are imported when they are first used.
_LATE = {
    "InferenceGraph": "_inference.inference_graph",
    "SharedDataset": "_share.sharing",
    "SharedIterator": "_share.shared_iterator",
    "connect": "_share.sharing",
    "share": "_share.sharing",
    "from_processor": "_inference.from_processor",
    "inference": "_inference.cutting",
    "inference_of": "_inference.models",
}

# Of private modules, whose names say nothing to users.
for _name in __all__:
    if _name not in _LATE and getattr(globals()[_name], "__module__", "").startswith("headrace._"):
        globals()[_name].__module__ = "headrace"

for _name in __all__:
    # Frames of errors hold arguments, which for `storage` are secrets.
    if _name not in _LATE and _name != "storage" and isinstance(globals()[_name], _FunctionType):
        globals()[_name] = _advised(globals()[_name], _name)

# PyPI's nvJPEG is in one of them.
_engine.set_package_folders(
    [os.fsencode(os.path.join(_IMPORT_FOLDER, folder)) for folder in sys.path if isinstance(folder, str) and folder]
)


def __dir__() -> list[str]:
    return sorted(__all__)


_make_sets()

if TYPE_CHECKING:
    from headrace import datasets as datasets
    from headrace import mindrecord as mindrecord
    from headrace import mx as mx
    from headrace import pack as pack
    from headrace import ray as ray
    from headrace import torch as torch
    from headrace._inference.cutting import inference
    from headrace._inference.from_processor import from_processor
    from headrace._inference.inference_graph import InferenceGraph
    from headrace._inference.models import inference_of
    from headrace._share.shared_iterator import SharedIterator
    from headrace._share.sharing import SharedDataset, connect, share
else:  # Where no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        """For modules that are imported when they are first used, and sources that the generated module
        lacks."""
        if name in ("datasets", "mindrecord", "mx", "pack", "ray", "torch"):
            return importlib.import_module(f"headrace.{name}")
        if name in _LATE:
            found = getattr(importlib.import_module(f"headrace.{_LATE[name]}"), name)
            found.__module__ = "headrace"
            if isinstance(found, _FunctionType):
                found = _advised(found, name)
            globals()[name] = found
            return found
        return late_names.attribute_of("sources", name)
