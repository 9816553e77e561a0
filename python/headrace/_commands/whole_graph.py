"""Saved graphs that commands run: they name nothing that is not in the file."""

import argparse

from headrace._datasets.dataset import Dataset
from headrace._datasets.loading import load
from headrace.errors import UnsupportedError

__all__ = ["add_no_writes", "load_whole"]


def add_no_writes(command: argparse.ArgumentParser) -> None:
    """Sets `writes`."""
    command.add_argument(
        "--no-writes",
        dest="writes",
        action="store_false",
        help="refuse a graph that writes caches, listings or indices",
    )


def load_whole(path: str, of: str, instead: str, writes: bool = True) -> Dataset:
    """The dataset of the graph saved at `path`. UnsupportedError, which says what to do instead, if it names Python
    functions or arrays. `writes`: as for `load`."""
    dataset = load(path, writes=writes)
    unbound = dataset._unbound()
    if unbound:
        listed = ", ".join(dict.fromkeys(unbound))
        raise UnsupportedError(
            f"{of}: {path} names Python functions or arrays, which are not in the file: {listed}; {instead}"
        )
    return dataset
