"""`json_type` gives the type that values of JSON have in common."""

from typing import Any

__all__ = ["json_type"]

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def json_type(values: list[Any]) -> Any:
    """As `decode` and `columns` have it: a dtype, or (dtype, shape) of lists; None: they have none in common."""
    if values and all(isinstance(each, list) for each in values):
        return _list_type(values)
    return _dtype(values)


def _dtype(values: list[Any]) -> str | None:
    kinds = {type(each) for each in values}
    if kinds == {bool}:
        return "bool"
    if kinds == {str}:
        return "str"
    if kinds == {int} and all(_LEAST <= each <= _MOST for each in values):
        return "int64"
    return "float64" if kinds and kinds <= {int, float} and float in kinds else None


def _list_type(values: list[Any]) -> Any:
    """Inner lists must be of one length."""
    sizes = {len(each) for each in values}
    members = [member for each in values for member in each]
    if not members:
        return None
    inner = json_type(members)
    if inner is None:
        return None
    dtype, rest = inner if isinstance(inner, tuple) else (inner, ())
    if None in rest:
        return None
    return dtype, (sizes.pop() if len(sizes) == 1 else None, *rest)
