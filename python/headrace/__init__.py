"""Headrace: a data engine for training and inference. Pipelines written in Python, run in C++."""

from headrace import sources, transforms, vision
from headrace.dataset import ColumnType, Dataset, load
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
from headrace.expression import Expression, col
from headrace.iterator import Iterator
from headrace.kernel import Kernel
from headrace.parts import Subset
from headrace.sources import *  # noqa: F403

__version__ = "0.1.0"

__all__ = [
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
    "NotFoundError",
    "PipelineWarning",
    "ResourceError",
    "StateError",
    "Subset",
    "UnsupportedError",
    "col",
    "load",
    "transforms",
    "vision",
]
__all__ += sources.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
