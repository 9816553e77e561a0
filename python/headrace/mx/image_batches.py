"""`ImageBatches` is the base of the iterators over images that records or lists name, `ImageIter` and `ImageDetIter`."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from headrace._arguments import options
from headrace.errors import GraphError
from headrace.mx.io.engine_batches import EngineBatches
from headrace.mx.io.engine_runs import Wording
from headrace.mx.io.image_records import TORN
from headrace.mx.io.pipeline import Ending

__all__ = ["ImageBatches", "chosen_augmenters", "ending_of"]

_SHAPE_ADVICE = "; aug_list must give images of data_shape, and its augmenters take sizes as (width, height)"
# What a batch says of rows of different shapes.
_ALIKE = (
    re.compile(r"; make them alike \(Resize, PadEnd\), or use batch\(pad=True\).*$", re.MULTILINE),
    f"{_SHAPE_ADVICE}, such as ForceResizeAug",
)
_ENDINGS = tuple(each.value for each in (Ending.PAD, Ending.DISCARD, Ending.ROLL_OVER))


class ImageBatches(EngineBatches):
    """Gives batches of images that went through augmenters."""

    WORDING: ClassVar[Sequence[Wording]] = (TORN, _ALIKE)
    SHAPE_ADVICE = _SHAPE_ADVICE

    def hard_reset(self) -> None:
        """Begins the next epoch at row 0, without rows left of the one before."""
        self._start_over_at_row_0()


def ending_of(last_batch_handle: str, of: str) -> Ending:
    return Ending(options.choice("last_batch_handle", last_batch_handle, _ENDINGS, of))


def chosen_augmenters(
    aug_list: Sequence[Any] | None,
    augmentation: Mapping[str, Any],
    created: Callable[..., Sequence[Any]],
    of: str,
) -> Callable[[tuple[int, int, int]], Sequence[Any]]:
    """From data_shape to the augmenters: `aug_list`, or what `created` makes of the parameters of augmentation."""
    if aug_list is None:
        return lambda shape: created(shape, **augmentation)
    if augmentation:
        raise GraphError(f"{of}: {', '.join(augmentation)} has no effect beside aug_list; leave out one of them")
    return lambda shape: aug_list
