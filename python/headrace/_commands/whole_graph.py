"""Saved graphs that commands run: they name nothing that is not in the file."""

from headrace._datasets.dataset import Dataset
from headrace._datasets.loading import load
from headrace.errors import UnsupportedError

__all__ = ["load_whole"]


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
