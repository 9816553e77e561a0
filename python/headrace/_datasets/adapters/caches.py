"""`cache`: where rows are kept, and how many."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from headrace._arguments.doubts import warn_once
from headrace._arguments.options import memory_bytes, own_path
from headrace._arguments.source_location import users_location
from headrace._datasets.base import ordered
from headrace._graph.adapters import adapts
from headrace._graph.declared import function_kernel, operator

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__: list[str] = []


def _draws(step: str) -> bool:
    """Of a step's text, such as "RandomCrop(size=(4, 4))"."""
    found = operator(step.partition("(")[0])
    if found is None:
        return False
    return bool(found["traits"]["random"]) if not found["traits"]["python"] else "random=True" in step


def _warn_of_draws(dataset: Dataset) -> None:
    """What a cache holds is the same in every epoch, augmentations and orders too."""
    below = [each._node for each in ordered(dataset)[1]]
    drawn = next((step for node in below for step in node.steps if _draws(step)), None)
    shuffled = next((node for node in below if node.shuffles), None)
    if drawn is not None:
        warn_once(
            f"cache: {drawn.partition('(')[0].replace(function_kernel(), 'a Python function')} below it draws, and each row keeps what it drew in epoch 0 in every epoch; "
            "put the random steps into a map above the cache",
            users_location(),
        )
    elif shuffled is not None:
        warn_once(
            f"cache: {shuffled.op} below it shuffles, and every epoch has the order of epoch 0; write cache(transparent=True), "
            "or shuffle above the cache",
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
) -> Dataset:
    def size(name: str, given: int | str | None) -> int | None:
        return None if given is None else memory_bytes(given, "cache", name, 0)

    folder = None if directory is None else own_path("directory", directory, "cache")
    # As a text, which any value has.
    if str(transparent) == "False":
        _warn_of_draws(dataset)
    attributes = {"memory": size("memory", memory), "directory": folder, "disk": size("disk", disk)}
    return dataset._append("cache", {**attributes, "transparent": transparent})
