"""`map`: kernels and functions over columns, and over what follows an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import flag, shown
from headrace._datasets.clip_masks import masks_of_frames, refuse_planes_beside_clips
from headrace._datasets.column_types import Columns, column_types
from headrace._datasets.mask_doubts import warn_of_masks
from headrace._graph.adapters import adapts
from headrace._graph.declared import takes_clips
from headrace._graph.parameter_uses import bound_steps, note_uses
from headrace._kernels.chooser import flattened
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import Kernels, StepWriter, kernel_list, names
from headrace._kernels.target_steps import TargetStepWriter
from headrace._kernels.targets import Target, images_and_targets
from headrace._runs.stage_limits import StageLimits, given_limits
from headrace._workers.process_options import ProcessOptions
from headrace.errors import Error, GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["mapped"]


@adapts("map")
def mapped(
    dataset: Dataset,
    /,
    kernels: Kernels,
    columns: str | Target | Sequence[str | Target],
    output: str | Sequence[str] | None,
    ordered: bool | None,
    types: Columns | None,
    processes: int,
    worker_init: Callable[[int], Any] | None,
    seed_globals: bool | None,
    workers: int | None,
    window: int | None,
    device: str | None,
) -> Dataset:
    if isinstance(kernels, str) or (isinstance(columns, Kernel) or callable(columns)):
        raise GraphError(
            f'map: the kernels come first, and then the columns: map([Decode()], "image"); '
            f"here kernels is {shown(kernels)} and columns is {shown(columns)}"
        )
    followed = images_and_targets(columns)
    if followed is not None:
        limits = given_limits("map", workers, window, device)
        made = _mapped_with_targets(dataset, kernels, *followed, output, types, processes, limits)
        made._mapping = (kernels, columns, None)
        return made
    read = names(columns, "columns", "map")  # type: ignore[arg-type]
    ordered = None if ordered is None else flag("ordered", ordered, "map")
    in_processes = ProcessOptions("map", processes, worker_init, seed_globals)
    writer = StepWriter(ordered, None if types is None else column_types(types, "map"), in_processes)
    written = read if output is None else names(output, "output", "map")
    writer.write(kernels, read, written)
    if len(read) > 1 and dataset._joins_rows() is False and any(map(takes_clips, _kernels_of(writer.steps))):
        refuse_planes_beside_clips(read, _schema_of(dataset))
    if any("interpolation" in step[1] or step[6] for step in writer.steps):
        warn_of_masks(flattened(kernel_list(kernels)), read, _schema_of(dataset))
    limits = given_limits("map", workers, window, device)
    if limits.on_device and writer.bound:
        raise GraphError("map: Python functions run on the host; put them into a map without device=")
    if limits.workers > 0 and writer.bound:
        _check_callers(limits.workers, processes, ordered)
    made = _of_steps(dataset, writer.steps, [bound.binding for bound in writer.bound], limits)
    made._mapping = (kernels, read, written)
    if not writer.spare:
        return made
    kept = dict.fromkeys([*dataset.schema, *written])
    for name in writer.spare:
        if name in kept:
            raise GraphError(f'map: there is a column "{name}", which these kernels need for what is between them')
    return made.project(list(kept))


def _mapped_with_targets(
    dataset: Dataset,
    kernels: Kernels,
    images: list[Any],
    targets: list[Target],
    output: str | Sequence[str] | None,
    types: Columns | None,
    processes: int,
    limits: StageLimits,
) -> Dataset:
    if output is not None:
        raise GraphError("map: masks, boxes and keypoints take the place of what they were made of; leave output out")
    if types is not None or processes != 0:
        raise GraphError("map: types and processes are of Python functions, and targets follow kernels alone")
    if limits.on_device:
        raise GraphError("map: masks, boxes and keypoints are moved on the host; leave device= out")
    writer = TargetStepWriter(None, None, ProcessOptions("map", 0, None, None))
    schema = _schema_of(dataset)
    writer.write_targets(kernels, images, targets, _images_of(schema), masks_of_frames(schema, images, targets))
    return _of_steps(dataset, writer.steps, [], limits)


def _of_steps(dataset: Dataset, steps: Sequence[Any], functions: Sequence[Any], limits: StageLimits) -> Dataset:
    steps, bindings, uses = bound_steps(steps, functions)
    made = dataset._append("map", {}, steps=steps, step_bindings=bindings, limits=limits)
    note_uses(uses)
    return made


def _kernels_of(steps: Sequence[Any]) -> Iterator[str]:
    """By name, with those in branches."""
    for step in steps:
        yield step[0]
        for branch in step[6]:
            yield from _kernels_of(branch)


def _images_of(schema: dict[str, Any]) -> set[str]:
    """The columns that are known to hold images, which are not encoded."""
    return {name for name, (_, shape) in schema.items() if shape is not None and len(shape) > 1}


def _schema_of(dataset: Dataset) -> dict[str, Any]:
    try:
        return {name: (dtype, shape) for name, dtype, shape in dataset._build_graph().schema()}
    except Error:  # Reported when the dataset is used, with all that is wrong.
        return {}


def _check_callers(workers: int, processes: int, ordered: bool | None) -> None:
    """`workers` of a map that calls Python functions."""
    if processes > 0:
        raise GraphError(
            f"map: processes={processes} says how many calls of the function run at once; leave workers out, or write "
            "kernels in a map of their own"
        )
    if workers > 1 and ordered is not False:
        raise GraphError(
            f"map: the function is called in row order, one row at a time, and workers is {workers}; give ordered=False, "
            f"so that {workers} threads call it, or processes={workers}, or write kernels in a map of their own"
        )
