"""`inference` cuts what prepares one row out of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace._arguments.options import shown
from headrace._datasets.base import Base
from headrace._inference.inference_graph import InferenceGraph
from headrace._inference.replacements import Replace, Replacements
from headrace._inference.row_graph import row_graph
from headrace._inference.row_part import row_part
from headrace._kernels.mapping import names
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["inference"]


def inference(
    ds: Dataset,
    keep: str | Sequence[str],
    replace: Replace | None = None,
) -> InferenceGraph:
    """The part of a pipeline that prepares one row, as a function: what serving does to the input of a model.

    Goes from the result to the source and takes the steps of maps, and renamings, that the kept columns need. Left out
    are the source, whose columns become the inputs, as those do that `T.ReadFile` reads; batches, buckets and windows;
    shuffles, samplers and other orders; take, skip, repeat, select, split, kfold, unique and caches; and filters on
    columns that nothing kept is made of. Datasets that were joined by concat or mix must prepare the columns alike; of a
    zip, they come from one input.

    A GraphError names, with its line, each step that draws random numbers, calls a Python function or reads a parameter;
    a kernel that gets whole batches; and operators that make kept columns of several rows: flat_map, unbatch,
    group_by_window, scan. What nothing kept depends on may be any of these.

        g = hr.inference(train, "image", replace={"RandomResizedCrop": [V.Resize(256), V.CenterCrop(224)]})

    Args:
        ds: The pipeline, batched or not.
        keep: The columns that the graph gives, a name or a list of them.
        replace: From the name or class of a kernel to the kernels in its place, [] for none. Also from the name of a
            Python function, or the function; and from the name of an operator, such as "filter", to [].
    """
    if not isinstance(ds, Base):
        raise GraphError(f"inference: ds is {shown(ds)}; it must be a Dataset")
    kept = names(keep, "keep", "inference")
    replacements = Replacements(replace, "inference")
    part = row_part(ds, kept, replacements, "inference", gives_files=True)
    replacements.check_all_used()
    return InferenceGraph._of_graph(row_graph(part, kept, "inference", replaces=True))
