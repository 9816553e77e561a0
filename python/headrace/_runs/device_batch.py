"""`DeviceBatch` and `DeviceTuple`: batches on a device, which know the streams that use their memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace import _engine
from headrace.errors import UnsupportedError

__all__ = ["CUDA", "DeviceBatch", "DeviceTuple"]

Batch = dict[str, Any]

# As DLPack numbers kinds of devices.
CUDA = 2


class DeviceBatch(dict[str, Any]):
    """A batch on a device: a dict from column to tensor or array.

    Loops of other libraries make dicts of the same class of it, from all that `dict` takes.
    """

    def __init__(self, columns: Batch | Iterable[tuple[str, Any]] = (), row: Batch | None = None) -> None:
        super().__init__(columns)
        self._made_here = row is not None
        lent = [each for each in (self if row is None else row).values() if isinstance(each, _engine.LentTensor)]
        # The columns of a row lie in one batch; what others put together may be of several.
        asked = lent if row is None else lent[:1]
        # Of a device in host memory there are no streams.
        there = [each for each in asked if each.__dlpack_device__()[0] == CUDA]
        self._streams = [each.streams for each in there]
        self._number = there[0].__dlpack_device__()[1] if there else None

    def record_stream(self, stream: Any) -> None:
        """Says that work on a further stream uses the batch: its memory is not reused before that work is done.

        The stream on which a tensor is taken over is known: it is the one given to `from_dlpack`, with as_="torch" the
        current one. `torch.Tensor.record_stream` has no effect on these tensors, whose memory is not torch's. A stream
        must outlive the tensors that are used on it, and belong to the batch's device. In host memory ("cpu:0") this does
        nothing, so that one loop fits both.

        Args:
            stream: A `torch.cuda.Stream`, or the number of a stream, as DLPack has them.
        """
        if not self._made_here and any(getattr(value, "is_cuda", False) for value in self.values()):
            raise UnsupportedError(
                "record_stream: another library made this batch of the tensors of one: call it on the batch that the "
                "iterator gave"
            )
        other = getattr(getattr(stream, "device", None), "index", None)
        if None not in (self._number, other) and other != self._number:
            raise UnsupportedError(
                f"record_stream: the stream is on cuda:{other}, and the batch on cuda:{self._number}: make a stream of "
                f"cuda:{self._number} wait for it, and give that one"
            )
        number = getattr(stream, "cuda_stream", stream)
        for streams in self._streams:
            streams.record(number or 1)


class DeviceTuple(tuple[Any, ...]):
    """A batch on a device as a tuple. Loops of other libraries make tuples of the same class of it."""

    _batch: DeviceBatch | None

    def __new__(cls, values: Iterable[Any] = (), batch: DeviceBatch | None = None) -> DeviceTuple:
        made = super().__new__(cls, values)
        made._batch = batch
        return made

    def record_stream(self, stream: Any) -> None:
        """As the method of a batch that is a dict: says that work on a further stream uses the batch."""
        batch = DeviceBatch(_numbered(self)) if self._batch is None else self._batch
        batch.record_stream(stream)


def _numbered(values: Iterable[Any]) -> Batch:
    return {str(number): value for number, value in enumerate(values)}
