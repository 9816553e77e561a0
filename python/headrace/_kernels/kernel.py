"""Kernels: what `Dataset.map` applies to columns."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

from headrace._arguments.options import shown
from headrace._arguments.other_libraries import advise_init
from headrace._arguments.source_location import users_location
from headrace.errors import GraphError

if TYPE_CHECKING:
    import numpy as np

    from headrace._datasets.eager import Composed
    from headrace._kernels.targets import Target

__all__ = ["Kernel", "compose", "of_one_size"]

_making = threading.Lock()


def _make_lock() -> None:
    global _making
    _making = threading.Lock()


# Another thread may have held it.
os.register_at_fork(after_in_child=_make_lock)


def compose(
    kernels: Kernel | Sequence[Kernel],
    columns: str | Target | Sequence[str | Target] | None = None,
    *,
    seed: int | None = None,
) -> Composed:
    """Kernels as one function of a picture, fused as in `map`, for what has no pipeline, such as a server.

    Args:
        kernels: One, or several that are applied one after the other.
        columns: What the function takes and gives, as `map` names it, with targets that follow the picture.
            With `["image", hr.mask("mask"), hr.boxes("boxes", labels="labels")]` it is called as
            `f(image, mask, boxes, labels)` and gives these four. Names tell arguments apart, and stand in errors.
            None: every argument is a picture.
        seed: Call k, counted from 0, draws as row k of epoch 0 of a pipeline with this seed, step i with salt i (a
            kernel that applies others counts before those), in each process alike. None: the system gives one at the
            first call, and another one in a process that is forked. Kernels with a `seed` of their own keep it.
    """
    from headrace._datasets.eager import Composed

    listed = [kernels] if isinstance(kernels, Kernel) else list(kernels)
    if not listed:
        raise GraphError("compose: the list of kernels is empty")
    for kernel in listed:
        if not isinstance(kernel, Kernel):
            raise GraphError(f"compose: {shown(kernel)} is not a kernel; call a function on the result instead")
    return Composed(listed, seed, columns)


def of_one_size(init: Callable[..., None]) -> Callable[..., None]:
    """For a kernel whose only parameter is one number or two: says how two are written."""

    @wraps(init)
    def checked(self: Kernel, *given: Any, **named: Any) -> None:
        if len(given) > 1:
            name, pair = type(self).__name__, ", ".join(map(shown, given))
            raise GraphError(f"{name}: takes one size, not {pair} (for a size of two numbers write {name}(({pair})))")
        init(self, *given, **named)

    return checked


class Kernel:
    """A function from tensors of a row to tensors of that row, run by the engine. All kernels are in the modules
    `headrace.vision` and `headrace.transforms`, and in those of plugins, which `headrace.load_plugin` gives."""

    __slots__ = ("_attributes", "_eager", "_location")

    # Whether it takes one column; otherwise it takes all columns.
    _unary = True
    # Columns that it gives; None: the engine counts them.
    _outputs: int | None = 1
    # Its name in graphs; "": the class's.
    _operator = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        advise_init(cls)

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        if type(self) is Kernel:
            raise TypeError(
                "a Kernel is one of those in headrace.vision and headrace.transforms, such as vision.Decode()"
            )
        self._attributes = attributes
        self._eager: Composed | None = None
        self._location = users_location()

    def __call__(
        self, *values: Any, rng: np.random.Generator | None = None, layout: Literal["HWC", "CHW"] | None = None
    ) -> Any:
        """Applies the kernel to a picture without a pipeline, with the same bytes; see `headrace.compose`."""
        if self._eager is None:
            # Imports NumPy, which a pipeline may do without.
            from headrace._datasets.eager import Composed

            # All threads take numbers from one count. A seed of the kernel's own is among its attributes.
            with _making:
                if self._eager is None:
                    self._eager = Composed([self], None)
        return self._eager(*values, rng=rng, layout=layout)

    @property
    def _name(self) -> str:
        return self._operator or type(self).__name__

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        return None, {"_attributes": self._attributes, "_eager": None, "_location": self._location}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._attributes.items())
        return f"{type(self).__name__}({given})"
