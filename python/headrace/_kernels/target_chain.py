"""`TargetChain` calls kernels on an image and its targets, with the draws and rules of a map over such columns.

A chain of the engine applies its steps to every value that it gets. So each column has a chain of its own, and in it a
mark, which does nothing, stands for each kernel that leaves the column alone: step i has salt i in all of them, and they
draw alike. Kernels that read several columns, such as RandomIoUCrop, run between those chains."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any, NamedTuple, TypeAlias

from headrace import _engine
from headrace._arguments.late_numpy import np
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import Step
from headrace._kernels.target_steps import TargetStepWriter
from headrace._kernels.targets import Mask, Target, images_and_targets, target_columns
from headrace._workers.process_options import ProcessOptions
from headrace.errors import GraphError

__all__ = ["TargetChain"]

# Name, attributes and branches, as the engine's chains take them; or a mark.
_EagerStep: TypeAlias = tuple[str, dict[str, Any], list[Any]] | int

# The mark of a kernel that leaves a column alone; groups begin at 1.
_NOTHING = 0
# Gives copies of its values.
_copies = _engine.EagerChain([])


class TargetChain:
    """Kernels that are called on columns as a map names them, with their targets.

    Takes a value for each of `names`, the columns with those of labels and masks after their boxes or keypoints, and gives
    as many.

    Calls may come from several threads."""

    def __init__(self, kernels: Sequence[Kernel], columns: Any) -> None:
        self._kernels = kernels
        listed = list(columns) if isinstance(columns, (list, tuple)) else [columns]
        self._image_columns, self._targets = images_and_targets(listed, "compose") or (listed, [])
        self._plans: dict[tuple[frozenset[str], frozenset[str]], list[_Part]] = {}
        writer = self._written((), ())
        self.names: tuple[str, ...] = tuple(_names(listed))
        # By position among the values: masks, and all that have height and width.
        self.masks = {self.names.index(each.column) for each in self._targets if isinstance(each, Mask)}
        self.images = self.masks | {self.names.index(name) for name in self._image_columns}
        image = self._image_columns[0]
        moves = _moves(writer.steps)
        of_image = {leaf[4]: _eager(leaf) for leaf in _leaves(moves) if image in leaf[3]}
        self._of_image = _engine.EagerChain(_steps(moves, of_image))
        self.takes_channels_first: bool = self._of_image.takes_channels_first
        if self._targets and self.takes_channels_first:
            raise GraphError(
                "compose: kernels take images of shape (C, H, W), and what follows an image needs (H, W, C): write "
                "layout='HWC' in them, or compose them apart, after V.HWC2CHW()"
            )
        self.gives_channels_first: bool = self._of_image.gives_channels_first

    def __call__(self, values: Sequence[Any], seed: int, key: int, layout_given: bool) -> tuple[Any, ...]:
        if len(values) != len(self.names):
            raise GraphError(f"takes {len(self.names)} values ({', '.join(self.names)}), and got {len(values)}")
        given = dict(zip(self.names, values, strict=True))
        if not layout_given:
            # At once, as the step that says the axes may be of a later part.
            given_images = (given[name] for name in self._image_columns)
            self._of_image.check_axes(tuple(each for each in given_images if isinstance(each, np.ndarray)))
        call = _Call(given, dict(given), seed, key, layout_given)
        for part in self._plan(given):
            part(call)
        untouched = [name for name in self.names if call.now[name] is given[name]]
        call.now.update(zip(untouched, _copies(tuple(given[name] for name in untouched), 0, 0, True), strict=True))
        return tuple(call.now[name] for name in self.names)

    def masks_of_frames(self, values: Sequence[Any]) -> set[int]:
        """The positions of masks of three axes beside a clip."""
        first = values[self.names.index(self._image_columns[0])] if len(values) == len(self.names) else None
        if not isinstance(first, np.ndarray) or first.ndim != 4:
            return set()
        return {at for at in self.masks if isinstance(values[at], np.ndarray) and values[at].ndim == 3}

    def _plan(self, given: dict[str, Any]) -> list[_Part]:
        """For these values: masks may be arrays, or encoded, and those of a clip's frames."""
        masks = (each.column for each in self._targets if isinstance(each, Mask))
        images = frozenset(name for name in masks if isinstance(given[name], np.ndarray))
        of_frames = frozenset(self.names[at] for at in self.masks_of_frames([given[name] for name in self.names]))
        plan = self._plans.get((images, of_frames))
        if plan is None:
            plan = _plan_of(self._written(images, of_frames).steps, self._image_columns)
            self._plans[images, of_frames] = plan
        return plan

    def _written(self, images: Container[str], of_frames: Container[str]) -> TargetStepWriter:
        writer = _CallWriter(None, None, ProcessOptions("compose", 0, None, None))
        writer.write_targets(self._kernels, self._image_columns, self._targets, images, of_frames)
        return writer


class _CallWriter(TargetStepWriter):
    _of = "compose"
    _apart = "call it by itself"


class _Call(NamedTuple):
    given: dict[str, Any]
    now: dict[str, Any]
    seed: int
    key: int
    layout_given: bool


class _Placing(NamedTuple):
    """Reads the image as it was given, and is not one of the user's steps."""

    chain: _engine.EagerChain
    reads: Sequence[str]
    write: str

    def __call__(self, call: _Call) -> None:
        image, *others = self.reads
        values = (call.given[image], *(call.now[name] for name in others))
        (call.now[self.write],) = self.chain(values, 0, 0, call.layout_given)


class _Move(NamedTuple):
    """Applies a chain to columns. The first steps alone see the layout of what was given."""

    chain: _engine.EagerChain
    reads: Sequence[str]
    writes: Sequence[str]
    first: bool

    def __call__(self, call: _Call) -> None:
        values = tuple(call.now[name] for name in self.reads)
        results = self.chain(values, call.seed, call.key, call.layout_given or not self.first)
        call.now.update(zip(self.writes, results, strict=True))


class _DrawnMoves(NamedTuple):
    """Those of a chooser that are drawn, kernel by kernel."""

    # Marks each kernel with the number of its group.
    marks: _engine.EagerChain
    moves: dict[int, list[_Move]]

    def __call__(self, call: _Call) -> None:
        drawn = self.marks.marks(call.seed, call.key)
        for group in filter(self.moves.__contains__, drawn):
            for move in self.moves[group]:
                move(call)


def _names(columns: Iterable[str | Target]) -> Iterator[str]:
    for each in columns:
        yield from target_columns(each) if isinstance(each, Target) else (each,)


def _moves(steps: Iterable[Step]) -> list[Step]:
    """The steps of kernels: those of no group place boxes and keypoints, or take them from there."""
    return [step for step in steps if step[4] > 0]


def _leaves(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps that are no choosers."""
    for step in steps:
        if not step[6]:
            yield step
        for branch in step[6]:
            yield from _leaves(branch)


def _by_group(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """The steps of each kernel."""
    for _, kernel in groupby(steps, lambda step: step[4]):
        yield list(kernel)


def _eager(step: Step) -> _EagerStep:
    return step[0], step[1], []


def _steps(steps: Iterable[Step], of_groups: Mapping[int, _EagerStep]) -> list[_EagerStep]:
    """One for each kernel: the choosers, what is given for the group of another, or a mark."""
    return [
        (first[0], first[1], [_steps(branch, of_groups) for branch in first[6]])
        if first[6]
        else of_groups.get(first[4], _NOTHING)
        for first, *_ in _by_group(steps)
    ]


# A part of a call, which changes the values that it has now.
_Part: TypeAlias = _Placing | _Move | _DrawnMoves


def _plan_of(steps: Sequence[Step], images: Sequence[str]) -> list[_Part]:
    moves = _moves(steps)
    begin = steps.index(moves[0])
    plan: list[_Part] = []
    for joins, kernels in groupby(_by_group(moves), _joins_columns):
        first = not plan
        if joins:
            plan += [part for kernel in kernels for part in _joining(moves, kernel, first)]
        else:
            plan += _apart(moves, [step for kernel in kernels for step in kernel], first)
    # An image that is refused is refused before it is measured.
    before = len(list(takewhile(lambda part: _reads_alone(part, images), plan)))
    plan[before:before] = [_Placing(_engine.EagerChain([_eager(step)]), step[2], step[3][0]) for step in steps[:begin]]
    ends = [step for step in steps[begin:] if step[4] == 0]
    return plan + [_Move(_engine.EagerChain([_eager(step)]), step[2], step[3], False) for step in ends]


def _reads_alone(part: _Part, images: Container[str]) -> bool:
    return isinstance(part, _Move) and len(part.reads) == 1 and part.reads[0] in images


def _joins_columns(kernel: Iterable[Step]) -> bool:
    """Whether it, or one that it chooses, reads several columns."""
    return any(len(leaf[2]) > 1 for leaf in _leaves(kernel))


def _apart(moves: Sequence[Step], run: Iterable[Step], first: bool) -> list[_Part]:
    """Kernels that read one column each: column by column."""
    leaves = list(_leaves(run))
    columns = dict.fromkeys(leaf[2][0] for leaf in leaves)
    return [_move(moves, [leaf for leaf in leaves if leaf[2] == [name]], first) for name in columns]


def _joining(moves: Sequence[Step], kernel: Sequence[Step], first: bool) -> list[_Part]:
    """A kernel that reads several columns, or a chooser of such."""
    of_groups = {group[0][4]: [_move(moves, [step], first) for step in group] for group in _by_group(_leaves(kernel))}
    if not kernel[0][6]:
        return list(of_groups[kernel[0][4]])
    return [_DrawnMoves(_engine.EagerChain(_steps(moves, {group: group for group in of_groups})), of_groups)]


def _move(moves: Sequence[Step], leaves: Sequence[Step], first: bool) -> _Move:
    """Steps of the same columns."""
    chain = _engine.EagerChain(_steps(moves, {leaf[4]: _eager(leaf) for leaf in leaves}))
    return _Move(chain, leaves[0][2], leaves[0][3], first)
