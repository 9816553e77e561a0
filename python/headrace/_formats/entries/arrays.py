"""NumPy's .npy and .npz."""

from headrace import sources
from headrace._formats.format import Format

__all__ = ["NPY", "NPZ"]

NPY = Format(
    ".npy",
    "hr.Npy",
    lambda paths, **options: sources.Npy(paths, **options),
    kinds=frozenset({"NumPy .npy"}),
    endings=(".npy",),
)
NPZ = Format(
    ".npz",
    "hr.Npz",
    lambda paths, **options: sources.Npz(paths, **options),
    kinds=frozenset({"NumPy .npz"}),
    endings=(".npz",),
    takes_patterns=False,
    takes_several=False,
)
