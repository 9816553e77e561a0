"""Parameters of MXNet's iterators that change no value, and what `explain()` says of them."""

from typing import Any

from headrace import options

__all__ = ["explained"]


def explained(of: str, ctx: Any, device_id: Any, threads: int | None, prefetch_buffer: Any) -> list[str]:
    """Lines for `explain()`. Any context is taken. Raises GraphError if prefetch_buffer is no number from 1 on."""
    lines = [f"{of}: ctx={ctx}, device_id={device_id}: batches lie in host memory"]
    if threads is not None:
        lines.append(f"  preprocess_threads={threads}: at most {threads} tasks of a stage at once")
    if prefetch_buffer is not None:
        buffer = options.whole("prefetch_buffer", prefetch_buffer, 1, of)
        lines.append(
            f"  prefetch_buffer={buffer}: the memory budget bounds what is made ahead, not a number of batches"
        )
    return lines
