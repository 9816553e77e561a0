"""`cache`: where rows are kept, and how many."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from headrace._arguments.doubts import warn_once
from headrace._arguments.options import memory_bytes, own_path, shown, text
from headrace._arguments.source_location import users_location
from headrace._graph.adapters import adapts
from headrace._graph.declared import function_kernel
from headrace.errors import Error, GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


def _warn_of_draws(dataset: Dataset) -> None:
    """What a cache holds is the same in every epoch, augmentations too. That it has one order, over a shuffle, is what
    some want, and a shuffle above it mixes the rows again."""
    try:
        drawing = dataset._build_graph().drawing_steps
    except Error:  # Reported when the dataset is used, with all that is wrong.
        return
    if not drawing:
        return
    first = "a Python function" if drawing[0] == function_kernel() else drawing[0]
    warn_once(
        f"cache: {first} below it draws, and each row keeps what it drew in epoch 0 in every epoch; put the random steps "
        "into a map above the cache",
        users_location(),
    )


@adapts("cache")
def cached(
    dataset: Dataset,
    /,
    memory: int | str | None,
    directory: str | PathLike[str] | None,
    disk: int | str | None,
    transparent: bool,
    version: str | None,
) -> Dataset:
    def size(name: str, given: int | str | None) -> int | None:
        return None if given is None else memory_bytes(given, "cache", name, 0)

    folder = None if directory is None else own_path("directory", directory, "cache")
    if transparent is False:
        _warn_of_draws(dataset)
    if isinstance(memory, str) and "/" in memory:
        raise GraphError(f"cache: memory is {shown(memory)}; write directory={shown(memory)} for a folder")
    attributes = {"memory": size("memory", memory), "directory": folder, "disk": size("disk", disk)}
    if version is not None:
        version = text("version", version, "cache")
    return dataset._append("cache", {**attributes, "transparent": transparent, "version": version})
