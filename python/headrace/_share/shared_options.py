"""`Defaults`: what a consumer asks for where it says nothing. `makers_options` are those that all who share a dataset give
alike, and `refuse_without_effect` refuses those that have no effect here."""

from __future__ import annotations

from typing import NamedTuple

from headrace._datasets.dataset import Dataset
from headrace.errors import GraphError, UnsupportedError

__all__ = ["Defaults", "check_same_options", "defaults_of", "makers_options", "refuse_without_effect"]

# Of the process that makes the batches, for all of its consumers. The time of a warning changes no batch and no cost.
_OF_MAKER = ("optimize", "executor", "workers", "window", "group", "memory", "cache", "disabled_passes")
# What is done in one process only, and what to do instead.
_WITHOUT_EFFECT = {
    "device": "consumers get batches in host memory: copy them to the device in the loop",
    "callbacks": "the loops are in other processes: call what is to be called in them",
    "profile": "the loops are in other processes: see explain() and report() of their iterators, or profile the dataset in "
    "one process",
    "bytes_as": "consumers get byte strings of their own, as bytes",
}


class Defaults(NamedTuple):
    """As the options of `Dataset.iterate`."""

    shard: tuple[int, int] | None
    seed: int
    even: str | None
    as_: str
    as_tuple: bool | tuple[str, ...]
    epoch: int


def defaults_of(dataset: Dataset) -> Defaults:
    chosen = dataset._options
    seed = dataset._seed if chosen["seed"] is None else chosen["seed"]
    # 0, and not none: the dataset that is run may have another seed.
    return Defaults(chosen["shard"], seed or 0, chosen["even"], chosen["as_"], chosen["as_tuple"], dataset.epoch)


def makers_options(dataset: Dataset) -> dict[str, str]:
    """By name: the value, as it is shown."""
    return {name: repr(dataset._options[name]) for name in _OF_MAKER}


def check_same_options(dataset: Dataset, there: dict[str, str], where: str) -> None:
    """GraphError if a dataset has other options than those that its batches are made with. `where`: the process and the
    socket."""
    for name, here in makers_options(dataset).items():
        if there[name] != here:
            raise GraphError(
                f"share: the dataset has {name}={here}, and {where} makes its batches with {name}={there[name]}: give the "
                "same options in all processes, or another socket"
            )


def refuse_without_effect(dataset: Dataset) -> None:
    chosen = dataset._options
    for name, instead in _WITHOUT_EFFECT.items():
        if name not in chosen or (name == "bytes_as" and chosen[name] == "bytes") or chosen[name] == ():
            continue
        raise UnsupportedError(
            f"share: the dataset has {name}=, which has no effect on shared batches, as {instead}; leave it out: "
            f"share(ds.options({name}=None), …)"
        )
