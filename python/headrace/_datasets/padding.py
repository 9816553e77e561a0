"""What rows that differ in shape are padded with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace._arguments.options import shown, text
from headrace.errors import GraphError

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["padding"]


def padding(dataset: Dataset, of: str, pad_value: Any) -> dict[str, Any]:
    """What the method `of` pads with: a number, or numbers by column; a bool for columns of bools."""
    if not isinstance(pad_value, Mapping):
        return {"pad_value": _number(dataset, of, None, pad_value)}
    columns = [text("a column of pad_value", name, of) for name in pad_value]
    values = [_number(dataset, of, name, value) for name, value in pad_value.items()]
    return {"pad_value": 0, "pad_columns": columns, "pad_values": values}


def _number(dataset: Dataset, of: str, column: str | None, value: Any) -> Any:
    """`column`: the only one that it is for."""
    plain = value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value
    if not isinstance(plain, bool):
        return value
    for name, (dtype, shape) in dataset.schema.items():
        padded = name == column or (column is None and shape != () and dtype not in ("string", "bytes"))
        if padded and dtype not in ("bool", "unknown"):
            given = "pad_value" if column is None else f'pad_value["{column}"]'
            raise GraphError(f'{of}: {given} is {shown(value)}, and column "{name}" holds {dtype}; give a number')
    return int(plain)
