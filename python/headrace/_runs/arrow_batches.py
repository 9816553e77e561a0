"""`arrow_batch` gives a batch to libraries of columns, as `as_="arrow"` asks for."""

from __future__ import annotations

from typing import Any

from headrace._arguments.import_folder import import_late

__all__ = ["arrow_batch", "pyarrow_or_none"]


def pyarrow_or_none() -> Any:
    """pyarrow, or None where it is not installed, or too old to take over a batch."""
    try:
        pyarrow = import_late("pyarrow")
    except ImportError:
        return None
    return pyarrow if hasattr(pyarrow.RecordBatch, "_import_from_c_capsule") else None


def arrow_batch(batch: Any, pyarrow: Any) -> Any:
    """A RecordBatch of pyarrow; without pyarrow the engine's own ArrowBatch, whose __arrow_c_array__ other libraries know."""
    return batch if pyarrow is None else pyarrow.record_batch(batch)
