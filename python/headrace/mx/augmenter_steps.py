"""`steps` turns a list of augmenters into steps of a pipeline: kernels, and Python functions for user augmenters."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from headrace import transforms as T
from headrace import vision
from headrace._arguments import options
from headrace._arguments.function_adapter import FunctionAdapter
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError
from headrace.mx.augmenters import KernelAugmenter, RandomOrderAug, SequentialAug
from headrace.mx.nd import NDArray
from headrace.mx.pixel_values import Steps, Values, as_reals

__all__ = ["in_order", "steps"]

Step = Kernel | Callable[..., Any]


def steps(augmenters: Any, of: str) -> list[Step]:
    """From images of uint8 and shape (height, width, 3) to float32 of shape (3, height, width).

    Args:
        augmenters: Augmenters, functions of an image, or kernels.
        of: The iterator, for messages.

    Raises:
        GraphError: Something else is among them, or one cannot be where it is.
    """
    if not isinstance(augmenters, (list, tuple)):
        raise GraphError(f"{of}: aug_list is {options.shown(augmenters)}; it must be a list of augmenters")
    listed, values = in_order(augmenters, Values.BYTES)
    if values is not Values.NORMALIZED:
        listed.append(T.TypeCast("float32"))
    return [*listed, vision.HWC2CHW()]


class _OfImages(FunctionAdapter):
    """Calls a function with arrays that it may change, and that have MXNet's methods."""

    def __call__(self, src: np.ndarray, **drawing: Any) -> Any:
        image = src if src.flags.writeable else src.copy()
        given = self._function(image.view(NDArray), **drawing)
        if given is None:
            raise TypeError("None is no image (does the function lack its return?)")
        return np.asarray(given)


def in_order(augmenters: Sequence[Any], values: Values) -> tuple[list[Step], Values]:
    listed: list[Step] = []
    for each in augmenters:
        added, values = _of_one(each, values)
        listed += added
    return listed, values


def _of_one(augmenter: Any, values: Values) -> tuple[list[Step], Values]:
    if isinstance(augmenter, Kernel):
        return [*as_reals(values), augmenter], Values.REALS
    if _runs_as(augmenter, SequentialAug):
        return in_order(augmenter.ts, values)
    if _is_of_kernels(augmenter):
        kernels, values = _kernels(augmenter, values)
        return [*kernels], values
    if isinstance(augmenter, type) or not callable(augmenter):
        raise GraphError(f"aug_list: {options.shown(augmenter)} is no augmenter; give an augmenter or a function")
    return [*as_reals(values), _OfImages(augmenter)], Values.REALS


def _runs_as(augmenter: Any, kind: type) -> bool:
    """Whether it is one whose `__call__` the user has not replaced."""
    return isinstance(augmenter, kind) and type(augmenter).__call__ is kind.__call__


def _is_of_kernels(augmenter: Any) -> bool:
    if _runs_as(augmenter, RandomOrderAug) or _runs_as(augmenter, SequentialAug):
        return all(map(_is_of_kernels, augmenter.ts))
    return isinstance(augmenter, Kernel) or _runs_as(augmenter, KernelAugmenter)


def _kernels(augmenter: Any, values: Values) -> Steps:
    if isinstance(augmenter, RandomOrderAug):
        return _in_random_order(augmenter, values)
    made: Steps = augmenter.kernels(values)
    return made


def _in_random_order(augmenter: RandomOrderAug, values: Values) -> Steps:
    branches = [(in_order([each], values)) for each in augmenter.ts]
    if values is Values.CAST and any(behind is not values for _, behind in branches):
        kernels, behind = _in_random_order(augmenter, Values.REALS)
        return [*as_reals(values), *kernels], behind
    for each, (_, behind) in zip(augmenter.ts, branches, strict=True):
        if behind is not values:
            raise GraphError(
                f"{type(augmenter).__name__}: {type(each).__name__} changes the type or the range of values; place it "
                "before or after the augmenters in random order"
            )
    # Of kernels alone, as the caller has seen.
    ordered: list[Any] = [kernels for kernels, _ in branches if kernels]
    return (
        [vision.RandomOrder(ordered)] if len(ordered) > 1 else [kernel for each in ordered for kernel in each]
    ), values
