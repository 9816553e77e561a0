"""Kernels: what `Dataset.map` applies to columns."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headrace._arguments.dtype import dtype_advice, dtype_of_torch
from headrace._arguments.options import shown
from headrace._arguments.other_libraries import advise_init
from headrace._arguments.source_location import users_location
from headrace.errors import GraphError

if TYPE_CHECKING:
    import numpy as np

    from headrace._datasets.eager import Composed

__all__ = ["Kernel", "of_one_size"]

_making = threading.Lock()


def _make_lock() -> None:
    global _making
    _making = threading.Lock()


# Another thread may have held it.
os.register_at_fork(after_in_child=_make_lock)


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
    # Makes what calls kernels without a pipeline: Composed, which stands above kernels and sets itself here.
    _composed: ClassVar[type[Composed]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        advise_init(cls)

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        if type(self) is Kernel:
            raise TypeError(
                "a Kernel is one of those in headrace.vision and headrace.transforms, such as vision.Decode()"
            )
        self._attributes = _with_own_dtype(type(self).__name__, attributes)
        self._eager: Composed | None = None
        self._location = users_location()

    def __call__(
        self, *values: Any, rng: np.random.Generator | None = None, layout: Literal["HWC", "CHW"] | None = None
    ) -> Any:
        """Applies the kernel to an image, or a clip, without a pipeline, with the same bytes; see `headrace.compose`."""
        if self._eager is None:
            # All threads take numbers from one count. A seed of the kernel's own is among its attributes.
            with _making:
                if self._eager is None:
                    self._eager = self._composed([self], None)
        return self._eager(*values, rng=rng, layout=layout)

    @property
    def _name(self) -> str:
        return self._operator or type(self).__name__

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        return None, {"_attributes": self._attributes, "_eager": None, "_location": self._location}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._attributes.items())
        return f"{type(self).__name__}({given})"


def _with_own_dtype(of: str, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    dtype = attributes.get("dtype")
    advice = dtype_advice(dtype)
    if advice is not None:
        raise GraphError(f"{of}: dtype is {shown(dtype)}; {advice}")
    name = dtype_of_torch(dtype)
    return attributes if name is None else {**attributes, "dtype": name}
