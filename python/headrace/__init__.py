"""Headrace: a data engine for training and inference. Pipelines written in Python, run in C++."""

import os
import sys
from typing import TYPE_CHECKING

from headrace import _engine, functions, samplers, sources, transforms, vision
from headrace._datasets.adapters.parts import Subset
from headrace._datasets.base import ColumnType
from headrace._datasets.batches import BatchInfo
from headrace._datasets.dataset import Dataset
from headrace._datasets.loading import load
from headrace._datasets.sampler import Sampler
from headrace._graph import late_names
from headrace._graph.expression import Expression, col
from headrace._graph.parameters import Parameter, parameter
from headrace._kernels.kernel import Kernel
from headrace._kernels.targets import boxes, keypoints, mask
from headrace._loops.progress_bar import progress
from headrace._operators.plugins import load_plugin, plugin_include
from headrace._runs.callback import Callback, Moment
from headrace._runs.iterator import Iterator
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
    "InternalError",
    "Iterator",
    "Kernel",
    "Moment",
    "NotFoundError",
    "Parameter",
    "PipelineWarning",
    "ResourceError",
    "Sampler",
    "StateError",
    "Subset",
    "UnsupportedError",
    "boxes",
    "col",
    "compose",
    "keypoints",
    "load",
    "load_plugin",
    "mask",
    "parameter",
    "plugin_include",
    "progress",
    "transforms",
    "vision",
]
__all__ += functions.__all__
__all__ += samplers.__all__
__all__ += sources.__all__

# Of private modules, whose names say nothing to users.
for _name in __all__:
    if getattr(globals()[_name], "__module__", "").startswith("headrace._"):
        globals()[_name].__module__ = "headrace"

# PyPI's nvJPEG is in one of them.
_engine.set_package_folders([os.fsencode(folder) for folder in sys.path if isinstance(folder, str) and folder])


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # Else no unknown name would be an error to a type checker.

    def __getattr__(name: str) -> object:
        """For sources that were registered while the process runs."""
        return late_names.attribute_of("sources", name)
