"""`ArrowBatches` gives the batches of a run to libraries of columns, as `as_="arrow"` asks for."""

from __future__ import annotations

from typing import Any

from headrace import _engine
from headrace._arguments.import_folder import import_late

__all__ = ["ArrowBatches"]


class ArrowBatches:
    """RecordBatches of pyarrow; without pyarrow the engine's own ArrowBatch, whose __arrow_c_array__ other libraries know."""

    def __init__(self) -> None:
        self._pyarrow = _pyarrow_or_none()
        # pyarrow takes longer for the types of a batch than for its values, so it reads batches of one type as a stream.
        self._streams = hasattr(getattr(self._pyarrow, "RecordBatchReader", None), "from_stream")
        self._series: _engine.ArrowSeries | None = None
        self._reader: Any = None

    def made(self, batch: _engine.ArrowBatch) -> Any:
        if self._pyarrow is None:
            return batch
        if self._series is None and self._streams:
            series = _engine.ArrowSeries(batch)
            self._reader = self._pyarrow.RecordBatchReader.from_stream(series)
            self._series = series
        if self._series is not None and self._series.give(batch):
            return self._reader.read_next_batch()
        return self._pyarrow.record_batch(batch)


def _pyarrow_or_none() -> Any:
    """pyarrow, or None where it is not installed, or too old to take over a batch."""
    try:
        pyarrow = import_late("pyarrow")
    except ImportError:
        return None
    return pyarrow if hasattr(pyarrow.RecordBatch, "_import_from_c_capsule") else None
