"""`cache`: where rows are kept, and how many."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from headrace._arguments.options import memory_bytes, own_path
from headrace._graph.adapters import adapts

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


@adapts("cache")
def cached(
    dataset: Dataset,
    /,
    memory: int | str | None,
    directory: str | PathLike[str] | None,
    disk: int | str | None,
    transparent: bool,
) -> Dataset:
    def size(name: str, given: int | str | None) -> int | None:
        return None if given is None else memory_bytes(given, "cache", name, 0)

    folder = None if directory is None else own_path("directory", directory, "cache")
    attributes = {"memory": size("memory", memory), "directory": folder, "disk": size("disk", disk)}
    return dataset._append("cache", {**attributes, "transparent": transparent})
