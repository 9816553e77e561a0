"""Kernels called on values, without a pipeline: `V.Resize(256)(image)`, `hr.compose([…])(data)`."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Literal

from headrace import _engine
from headrace._arguments.doubts import location_of, warn_once
from headrace._arguments.late_numpy import np
from headrace._arguments.options import shown, whole
from headrace._datasets.fields.array_columns import array_source
from headrace._graph.declared import doubts
from headrace._graph.parameter_lists import holds_parameter
from headrace._graph.parameters import Parameter
from headrace._kernels.chooser import Chooser, flattened
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import check_needs_no_target
from headrace._kernels.target_chain import TargetChain
from headrace._kernels.targets import Target
from headrace.errors import GraphError

__all__ = ["Composed", "compose"]

# The kind of a value that is probably no image: boxes or keypoints.
_TARGETS = "targets"
# What a pipeline says of them.
_TARGETS_MOVED = re.compile(r'column "([^"]*)" is (.*), as (boxes|keypoints) are; .*')


def compose(
    kernels: Kernel | Sequence[Kernel],
    columns: str | Target | Sequence[str | Target] | None = None,
    *,
    seed: int | None = None,
) -> Composed:
    """Kernels as one function of an image, fused as in `map`, for what has no pipeline, such as a server.

    Args:
        kernels: One, or several that are applied one after the other.
        columns: What the function takes and gives, as `map` names it, with targets that follow the image.
            With `["image", hr.mask("mask"), hr.boxes("boxes", labels="labels")]` it is called as
            `f(image, mask, boxes, labels)` and gives these four. Names tell arguments apart, and stand in errors.
            None: every argument is an image.
        seed: Call k, counted from 0, draws as row k of epoch 0 of a pipeline with this seed, step i with salt i (a
            kernel that applies others counts before those), in each process alike. None: the system gives one at the
            first call, and another one in a process that is forked. Kernels with a `seed` of their own keep it.
    """
    listed = [kernels] if isinstance(kernels, Kernel) else list(kernels)
    if not listed:
        raise GraphError("compose: the list of kernels is empty")
    for kernel in listed:
        if not isinstance(kernel, Kernel):
            raise GraphError(f"compose: {shown(kernel)} is not a kernel; call a function on the result instead")
    return Composed(listed, seed, columns)


class Composed:
    """Kernels that are called one after the other, as `hr.compose` makes them.

    Calls may come from several threads: each takes a number of its own. Without a seed, processes draw differently:
    after a fork as well, and a copy, which pickle or copy makes, too. With one, a copy counts from 0 again."""

    __module__ = "headrace.eager"  # graphs and pickles hold it
    __slots__ = ("_chain", "_columns", "_doubted", "_doubting", "_kernels", "_numbers", "_seed", "_system_seeds")

    def __init__(self, kernels: Sequence[Kernel], seed: int | None, columns: Any = None) -> None:
        self._seed = None if seed is None else whole("seed", seed, of="compose")
        self._kernels = tuple(kernels)
        self._columns = columns
        steps = _steps(flattened(kernels))
        _refuse_parameters(steps)
        self._chain: _engine.EagerChain | TargetChain
        if columns is None:
            check_needs_no_target(kernels)
            self._chain = _engine.EagerChain(steps)
        else:
            self._chain = TargetChain(self._kernels, columns)
        self._numbers = count()
        self._doubting = any(map(doubts, _names(steps)))
        # The kinds of values for which it has warned, or had no reason to.
        self._doubted: set[tuple[object, ...]] = set()
        # By process. Kernels with seeds of their own do not use them.
        self._system_seeds: dict[int, int] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Composed, (self._kernels, self._seed, self._columns)

    def __repr__(self) -> str:
        columns = "" if self._columns is None else f", columns={self._columns!r}"
        return f"compose({list(self._kernels)!r}{columns})"

    def __call__(
        self, *values: Any, rng: np.random.Generator | None = None, layout: Literal["HWC", "CHW"] | None = None
    ) -> Any:
        """Applies the kernels to an image, or to several columns with the same draws.

        Args:
            values: Arrays, bytes, PIL images or torch tensors. What comes out is of the same kind, as far as it can be.
                An array of four axes is a clip, (T, H, W, C): its frames have the same draws. Where `compose` got
                columns, one value for each, what belongs to boxes and keypoints after them.
            rng: Takes one 64-bit number from it, which determines this call's draws.
            layout: "CHW" for images whose channels come first, and clips (T, C, H, W); results are so too. None: "HWC",
                and an array that seems to have its channels first is refused.
        """
        if not values:
            raise GraphError("give at least one image")
        if rng is None:
            seed = self._system_seed() if self._seed is None else self._seed
            key = next(self._numbers)
        elif isinstance(rng, np.random.Generator):
            seed, key = 0, int(rng.integers(0, 2**64, dtype=np.uint64))
        else:
            raise GraphError(f"rng is {shown(rng)}; it must be a NumPy generator, such as np.random.default_rng(5)")
        if layout is None and all(type(value) in (np.ndarray, bytes) for value in values):
            results = self._apply(values, seed, key, False)
        else:
            results = self._of_kinds(values, seed, key, layout)
        return results[0] if len(results) == 1 else results

    def _apply(self, arrays: tuple[Any, ...], seed: int, key: int, layout_given: bool) -> tuple[Any, ...]:
        results = self._chain(arrays, seed, key, layout_given)
        # Not before the call, which refuses what is wrong with the arrays.
        kinds = tuple(map(_kind_of, arrays))
        if kinds not in self._doubted:
            self._warn(arrays, kinds)
            self._doubted.add(kinds)
        return results

    def _warn(self, arrays: tuple[Any, ...], kinds: tuple[object, ...]) -> None:
        """Warns as a pipeline over such values does."""
        targets = {name for name, kind in zip(self._names(arrays), kinds, strict=True) if kind is _TARGETS}
        if not targets and not self._doubting:
            return
        for location, message in self._doubts(arrays):
            moved = _TARGETS_MOVED.search(message)
            # An image may be 2 or 4 pixels wide.
            if moved is None or moved[1] in targets:
                advice = r'give it images alone, or say what it is: hr.compose(kernels, ["image", hr.\3("…")])'
                said = _TARGETS_MOVED.sub(rf"\1 is \2, as \3 are; {advice}", message)
                warn_once(said.removeprefix("map "), location_of(location))

    def _doubts(self, arrays: tuple[Any, ...]) -> list[tuple[str, str]]:
        """Of a pipeline over the arrays: where, and what."""
        columns = dict(zip(self._names(arrays), map(_column_of, arrays), strict=True))
        mapped = list(columns) if self._columns is None else self._columns
        # A call may take what a pipeline does not.
        with contextlib.suppress(GraphError):
            return array_source(columns).map(self._kernels, mapped)._build_graph().doubts()
        return []

    def _names(self, arrays: tuple[Any, ...]) -> Sequence[str]:
        if isinstance(self._chain, TargetChain):
            return self._chain.names
        return [f"argument {number}" for number in range(1, len(arrays) + 1)]

    def _system_seed(self) -> int:
        process = os.getpid()
        seed = self._system_seeds.get(process)
        if seed is None:
            # The first thread's; no lock, which a fork could leave held.
            seed = self._system_seeds.setdefault(process, int.from_bytes(os.urandom(8), "little"))
        return seed

    def _of_kinds(self, values: tuple[Any, ...], seed: int, key: int, layout: str | None) -> tuple[Any, ...]:
        if layout not in (None, "HWC", "CHW"):
            raise GraphError(f'layout is "HWC" or "CHW", not {shown(layout)}')
        planes = layout == "CHW"
        if not planes and self._chain.takes_channels_first:
            self._refuse_channels_last(values, layout)
        arrays = self._arrays(values)
        if planes and not self._chain.takes_channels_first:
            arrays = self._turned(_channels_last, arrays)
        results = self._apply(arrays, seed, key, layout is not None)
        if planes and not self._chain.gives_channels_first:
            results = self._turned(_channels_first, results)
        return tuple(map(_like, _kinds(values, len(results)), results))

    def _refuse_channels_last(self, values: tuple[Any, ...], layout: str | None) -> None:
        if layout != "HWC" and not any(_is_of(value, "PIL") for value in values):
            return
        got = 'layout="HWC"' if layout == "HWC" else "a PIL image, whose channels come last"
        raise GraphError(
            f"takes images of shape (channels, height, width), as one of its kernels says, and got {got}; "
            "write layout='HWC' in the kernel, or V.HWC2CHW() before it"
        )

    def _arrays(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if not isinstance(self._chain, TargetChain):
            return tuple(map(_array_of, values))
        masks = self._chain.masks
        return tuple(_array_of(value, i in masks) for i, value in enumerate(values))

    def _turned(self, turn: Callable[[Any], Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Labels have no axes of an image, and masks of a clip's frames have no channels."""
        if not isinstance(self._chain, TargetChain):
            return tuple(map(turn, values))
        turned = self._chain.images - self._chain.masks_of_frames(values)
        return tuple(turn(value) if i in turned else value for i, value in enumerate(values))


def _kinds(values: tuple[Any, ...], results: int) -> tuple[Any, ...]:
    """For each result the value that it is like: the results of each value stand together."""
    of_each, rest = divmod(results, len(values))
    return values[:1] * results if rest else tuple(value for value in values for _ in range(of_each))


def _is_of(value: Any, module: str) -> bool:
    return type(value).__module__.partition(".")[0] == module


def _steps(kernels: Iterable[Kernel]) -> list[Any]:
    """Name, attributes and branches of each."""
    return [
        (
            each._name,
            dict(each._attributes),
            [_steps(branch) for branch in each._branches] if isinstance(each, Chooser) else [],
        )
        for each in kernels
    ]


def _refuse_parameters(steps: Iterable[Any]) -> None:
    for name, attributes, branches in steps:
        for attribute, value in attributes.items():
            if isinstance(value, Parameter) or holds_parameter(value):
                raise GraphError(f"{name}: {attribute} is {value!r}, whose value depends on an epoch; give a number")
        for branch in branches:
            _refuse_parameters(branch)


def _names(steps: Iterable[Any]) -> Iterator[str]:
    """Of the kernels, and of those in their branches."""
    for name, _, branches in steps:
        yield name
        for branch in branches:
            yield from _names(branch)


def _array_of(value: Any, is_mask: bool = False) -> Any:
    if value is None:
        raise GraphError("got None; give an image: an array, bytes, a PIL image or a torch tensor")
    if _is_of(value, "torch"):
        return value.detach().numpy()
    if not _is_of(value, "PIL"):
        return value
    # What a mask holds are classes, and no colours.
    if value.mode not in ("L", "RGB", "RGBA") and not (is_mask and value.mode == "P"):
        # Conversion would cut numbers of more than 8 bits off at 255.
        advice = "np.asarray(image)" if value.mode[0] in "IF" else 'image.convert("RGB")'
        raise GraphError(f"a PIL image of mode {value.mode} is not read; convert it first: {advice}")
    return np.asarray(value)


def _kind_of(value: Any) -> object:
    """What doubts depend on."""
    if not isinstance(value, np.ndarray):
        return type(value)
    dtype = value.dtype.char
    floats = dtype in "fd"
    if value.ndim == 2 and ((value.shape[1] == 4 and (floats or dtype in "lq")) or (value.shape[1] == 2 and floats)):
        return _TARGETS
    return dtype


def _column_of(value: Any) -> Any:
    column = np.empty(1, object)
    column[0] = value
    return value[None] if isinstance(value, np.ndarray) else column


def _has_channels(value: Any) -> bool:
    """An image, or a clip: the images are its last three axes."""
    return isinstance(value, np.ndarray) and value.ndim in (3, 4)


def _channels_last(value: Any) -> Any:
    return np.moveaxis(value, -3, -1) if _has_channels(value) else value


def _channels_first(value: Any) -> Any:
    return np.ascontiguousarray(np.moveaxis(value, -1, -3)) if _has_channels(value) else value


def _like(value: Any, result: Any) -> Any:
    """The result as what the value is, if that can hold it."""
    if not isinstance(result, np.ndarray):
        return result
    if _is_of(value, "torch"):
        import torch

        return torch.from_numpy(result)
    is_image = result.dtype == np.uint8 and (result.ndim == 2 or (result.ndim == 3 and result.shape[2] in (1, 3, 4)))
    if not _is_of(value, "PIL") or not is_image:
        return result
    from PIL import Image

    image = Image.fromarray(result[..., 0] if result.ndim == 3 and result.shape[2] == 1 else result)
    if value.mode == "P":
        image.putpalette(value.getpalette())
    return image


Kernel._composed = Composed
