"""What rows that differ in shape are padded with."""

from collections.abc import Mapping
from typing import Any

from headrace._arguments.options import text

__all__ = ["padding"]


def padding(of: str, pad_value: Any) -> dict[str, Any]:
    """What the method `of` pads with: a number, or numbers by column."""
    if not isinstance(pad_value, Mapping):
        return {"pad_value": pad_value}
    columns = [text("a column of pad_value", name, of) for name in pad_value]
    return {"pad_value": 0, "pad_columns": columns, "pad_values": list(pad_value.values())}
