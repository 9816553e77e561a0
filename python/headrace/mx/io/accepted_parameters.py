"""Parameters of MXNet's iterators that change no value, and what `explain()` says of them."""

from typing import Any

from headrace._arguments import options

__all__ = ["explained", "page_locked_of"]

# Far beyond the GPUs of any machine.
_MOST_DEVICES = 1 << 16


def page_locked_of(device_id: Any) -> int | None:
    """The number of the GPU that a `device_id` names; None: it names none, as -1 does. Any value is taken, as in MXNet."""
    return device_id if isinstance(device_id, int) and 0 <= device_id < _MOST_DEVICES else None


def explained(of: str, ctx: Any, device_id: Any, threads: int | None, prefetch_buffer: Any) -> list[str]:
    """Lines for `explain()`. Any context is taken. Raises GraphError if prefetch_buffer is no number from 1 on."""
    device = page_locked_of(device_id)
    where = "" if device is None else f", page-locked if this process uses cuda:{device} already"
    lines = [f"{of}: ctx={ctx}, device_id={device_id}: batches lie in host memory{where}"]
    if threads is not None:
        lines.append(f"  preprocess_threads={threads}: at most {threads} tasks of a stage at once")
    if prefetch_buffer is not None:
        buffer = options.whole("prefetch_buffer", prefetch_buffer, 1, of)
        lines.append(
            f"  prefetch_buffer={buffer}: the memory budget bounds what is made ahead, not a number of batches"
        )
    return lines
