"""`tensor_of` makes PyTorch's tensors of NumPy's arrays."""

from typing import Any

__all__ = ["tensor_of"]


def tensor_of(torch: Any, value: Any) -> Any:
    """Over the memory of an array, and of each in a list. Bytes and texts stay as they are."""
    if isinstance(value, list):
        return [tensor_of(torch, each) for each in value]
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.kind == "O":
        return value
    if dtype.name == "bfloat16":
        return torch.from_numpy(value.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(value)
