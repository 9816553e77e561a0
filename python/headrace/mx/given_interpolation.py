"""Interpolations as scripts for MXNet give them: by OpenCV's numbers, 9 for that which the sizes decide, or 10 for one that
is drawn for each image."""

import random
from collections.abc import Callable
from typing import Any

from headrace import vision
from headrace._kernels.kernel import Kernel
from headrace.pack.interpolation_numbers import INTERPOLATIONS, Interpolation, interpolation_of

__all__ = ["GivenInterpolation"]

_DRAWN = 10
_DRAWN_FROM = (0, 1, 2, 3, 4)


class GivenInterpolation:
    """That of a parameter.

    Args:
        number: What was given.
        name: The parameter.
        of: What has it, for messages.

    Raises:
        UnsupportedError: The number is none of an interpolation.
    """

    def __init__(self, number: Any, name: str, of: str) -> None:
        self.fixed: Interpolation | None = (
            None if number == _DRAWN else interpolation_of(number, name, of, f" or {_DRAWN} (random)")
        )
        """None: it is drawn."""

    def kernel(self, make: Callable[[Interpolation], Kernel], **seed: Any) -> Kernel:
        """What `make` gives of it; where it is drawn, one of those of all that may be, by the seed if there is one."""
        if self.fixed is not None:
            return make(self.fixed)
        return vision.RandomChoice([make(INTERPOLATIONS[number]) for number in _DRAWN_FROM], **seed)

    def now(self) -> Interpolation:
        """That of a single image; Python's `random` draws it."""
        return INTERPOLATIONS[random.choice(_DRAWN_FROM)] if self.fixed is None else self.fixed
