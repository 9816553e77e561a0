"""`TargetStepWriter` writes the steps of a map over images and their targets: the steps that each kernel becomes for
each kind of target.

All columns of one kernel's steps are of one group, so they make the same draws. The graph holds the steps as they run:
those of a mask take the nearest pixel, and those of boxes, their masks and keypoints are kernels of their own, such as
RandomCropOfBoxes."""

from collections.abc import Container, Iterable, Sequence
from typing import Any

from headrace._arguments.options import shown
from headrace._graph.declared import companion, kernel_that
from headrace._kernels.chooser import Chooser, flattened
from headrace._kernels.kernel import Kernel
from headrace._kernels.mapping import Kernels, Step, StepWriter, kernel_list, names
from headrace._kernels.target_rules import (
    changes_boxes,
    changes_keypoints,
    converts_boxes,
    decodes,
    joins_rows,
    leaves_targets,
    looks_at_boxes,
    moves_boxes,
    moves_keypoints,
)
from headrace._kernels.targets import Boxes, Keypoints, Mask, Target, target_columns
from headrace.errors import GraphError

__all__ = ["TargetStepWriter"]


class TargetStepWriter(StepWriter):
    """`write_targets` makes the steps of one map, or of one call, of which errors speak."""

    _of = "map"
    _apart = "write a map of its own for it"

    def write_targets(
        self,
        kernels: Kernels,
        image_columns: Sequence[Any],
        targets: Sequence[Target],
        images: Container[str],
        of_frames: Container[str],
    ) -> None:
        """`images`: columns that are known to hold images, which need no decoding. `of_frames`: masks with a plane for
        each frame of a clip."""
        self._images = images
        self._of_frames = of_frames
        self._image_columns = names(image_columns, "columns", self._of)
        self._masks = [each for each in targets if isinstance(each, Mask)]
        self._boxes = [each for each in targets if isinstance(each, Boxes)]
        # As they leave; None: as they came.
        self._converted: dict[str, Any] | None = None
        # Columns of one mask a box.
        self._object_masks = [name for each in self._boxes for name in each.masks]
        self._keypoints = [each for each in targets if isinstance(each, Keypoints)]
        names(
            [*self._image_columns, *(name for target in targets for name in target_columns(target))],
            "columns",
            self._of,
        )
        listed = list(flattened(kernel_list(kernels)))
        self._begin(listed)
        for kernel in listed:
            self.steps += self._of_kernel(kernel, None)
        for each in self._boxes:
            self._write("takes_boxes", self._converted or _format(each), [each.column], each.column)
        for points in self._keypoints:
            self._write("takes_keypoints", {}, [points.column], points.column)

    def _begin(self, listed: list[Any]) -> None:
        """Checks sizes and places boxes and keypoints before anything is decoded, so that decoding joins what follows."""
        decode = next((each for each in listed if isinstance(each, Kernel) and decodes(each._name)), None)
        given = {} if decode is None else decode._attributes
        if decode is not None and given.get("scale", 1) != 1:
            raise GraphError(
                f"{self._of}: {decode._name}(scale={given['scale']}) makes the image smaller, and not what follows it; leave scale "
                "out, and use Resize"
            )
        reads = {name: given[name] for name in ("orientation", "max_pixels") if name in given}
        image = self._image_columns[0]
        for mask in self._masks:
            matches = "matches_frame_masks" if mask.column in self._of_frames else "matches_mask"
            self._write(matches, reads, [image, mask.column], mask.column)
        for column in self._object_masks:
            self._write("matches_object_masks", reads | {"column": column}, [image, column], column)
        for each in self._boxes:
            self._place("places_boxes", _format(each) | reads, each)
        for points in self._keypoints:
            self._place("places_keypoints", reads, points)

    def _place(self, work: str, attributes: dict[str, Any], target: Boxes | Keypoints) -> None:
        columns = target_columns(target)
        self._write(work, attributes | {"columns": columns}, [self._image_columns[0], *columns], target.column)

    def _write(self, work: str, attributes: dict[str, Any], inputs: list[str], output: str) -> None:
        """The step that does it, with the kernel that is declared for it."""
        self.steps.append((kernel_that(work), attributes, inputs, [output], 0, self._location, []))

    def _of_kernel(self, kernel: Any, chooser: Kernel | None) -> list[Step]:
        if not isinstance(kernel, Kernel):
            raise GraphError(
                f"map: {shown(kernel)} is a Python function, and masks, boxes and keypoints follow kernels alone; call it in a "
                "map of its own"
            )
        self._groups += 1
        if isinstance(kernel, Chooser):
            return [self._of_chooser(kernel)]
        if converts_boxes(kernel._name):
            self._convert(kernel, chooser)
        if changes_boxes(kernel._name):
            return self._changing(kernel, self._boxes, "boxes")
        if changes_keypoints(kernel._name):
            return self._changing(kernel, self._keypoints, "keypoints")
        if decodes(kernel._name) and chooser is None:
            return self._decoding(kernel)
        if leaves_targets(kernel._name):
            return self._of_images(kernel)
        if looks_at_boxes(kernel._name):
            return self._among_boxes(kernel)
        self._check_rules(kernel)
        return [
            *self._of_images(kernel),
            *self._of_masks(kernel),
            *self._of_object_masks(kernel),
            *self._on_canvas(kernel, self._boxes, "boxes"),
            *self._on_canvas(kernel, self._keypoints, "keypoints"),
        ]

    def _among_boxes(self, kernel: Kernel) -> list[Step]:
        """The boxes last, as they are read for what is drawn."""
        if len(self._boxes) != 1:
            raise GraphError(
                f"{self._of}: {kernel._name} looks at the boxes of one column, and there are {len(self._boxes)}; name one as "
                'hr.boxes("…")'
            )
        boxes = self._boxes[0]
        followers = [(name, kernel._name) for name in self._image_columns]
        followers += [(mask.column, self._of_mask(kernel, mask)) for mask in self._masks]
        inputs = [([name, boxes.column], [name], of_column) for name, of_column in followers]
        inputs += [([name, boxes.column], [name], _companion(kernel, "object_masks")) for name in boxes.masks]
        inputs += [
            ([each.column, boxes.column], [each.column], _companion(kernel, "keypoints")) for each in self._keypoints
        ]
        inputs.append((target_columns(boxes), target_columns(boxes), _companion(kernel, "boxes")))
        return [
            (name, dict(kernel._attributes), reads, writes, self._groups, kernel._location, [])
            for reads, writes, name in inputs
        ]

    def _of_chooser(self, chooser: Chooser) -> Step:
        group = self._groups
        branches = [
            [step for kernel in branch for step in self._of_kernel(kernel, chooser)] for branch in chooser._branches
        ]
        read = {name for branch in branches for step in branch for name in step[2]}
        columns = [name for name in self._all_columns() if name in read]
        return (chooser._name, dict(chooser._attributes), columns, columns, group, chooser._location, list(branches))

    def _all_columns(self) -> Iterable[str]:
        yield from self._image_columns
        targets: list[Target] = [*self._masks, *self._boxes, *self._keypoints]
        for each in targets:
            yield from target_columns(each)

    def _of_images(self, kernel: Kernel) -> list[Step]:
        if not kernel._unary:
            raise GraphError(
                f"{self._of}: {kernel._name} takes or makes several columns, and has no rule for what follows an image; "
                f"{self._apart}"
            )
        return [self._of_column(kernel, kernel._name, dict(kernel._attributes), name) for name in self._image_columns]

    def _of_masks(self, kernel: Kernel) -> list[Step]:
        return [
            self._of_column(kernel, self._of_mask(kernel, mask), _of_nearest(kernel, mask.fill), mask.column)
            for mask in self._masks
        ]

    def _of_mask(self, kernel: Kernel, mask: Mask) -> str:
        """The kernel that moves a mask, or each plane of it."""
        return _companion(kernel, "object_masks") if mask.column in self._of_frames else kernel._name

    def _of_object_masks(self, kernel: Kernel) -> list[Step]:
        attributes = _of_nearest(kernel, 0)
        return [
            self._of_column(kernel, _companion(kernel, "object_masks"), attributes, name) for name in self._object_masks
        ]

    def _on_canvas(self, kernel: Kernel, targets: Iterable[Boxes | Keypoints], role: str) -> list[Step]:
        return [
            self._of_column(kernel, _companion(kernel, role), dict(kernel._attributes), each.column) for each in targets
        ]

    def _decoding(self, kernel: Kernel) -> list[Step]:
        attributes = dict(kernel._attributes) | {"mode": "unchanged"}
        encoded = [mask.column for mask in self._masks if mask.column not in self._images]
        masks = [self._of_column(kernel, kernel._name, attributes, column) for column in encoded]
        return self._of_images(kernel) + masks

    def _convert(self, kernel: Kernel, chooser: Kernel | None) -> None:
        if chooser is not None:
            raise GraphError(
                f"{self._of}: {kernel._name} in {chooser._name}: the format of boxes cannot differ from row to row; write it "
                "after the kernel that chooses"
            )
        self._converted = dict(kernel._attributes)

    def _changing(self, kernel: Kernel, targets: Sequence[Boxes | Keypoints], kind: str) -> list[Step]:
        """With what belongs to them, if it takes that."""
        if not targets:
            raise GraphError(
                f'{self._of}: {kernel._name} changes {kind}, and there are none; name their column as hr.{kind}("…")'
            )
        columns = [[each.column] if kernel._unary else target_columns(each) for each in targets]
        return [
            (kernel._name, dict(kernel._attributes), each, each, self._groups, kernel._location, []) for each in columns
        ]

    def _of_column(self, kernel: Kernel, name: str, attributes: dict[str, Any], column: str) -> Step:
        return (name, attributes, [column], [column], self._groups, kernel._location, [])

    def _check_rules(self, kernel: Kernel) -> None:
        if self._masks and not moves_boxes(kernel._name):
            raise self._without_rule(kernel, "masks", self._masks[0].column)
        if self._boxes and not moves_boxes(kernel._name):
            raise self._without_rule(kernel, "boxes", self._boxes[0].column)
        if self._keypoints and not moves_keypoints(kernel._name):
            raise self._without_rule(kernel, "keypoints", self._keypoints[0].column)

    def _without_rule(self, kernel: Kernel, kind: str, column: str) -> GraphError:
        if joins_rows(kernel._name):
            return GraphError(
                f'{self._of}: {kernel._name} joins the rows of a batch, where "{column}" is a column with splits or none: '
                f"name columns themselves, without hr.{kind}(…); {kernel._name} says in its documentation which"
            )
        return GraphError(
            f'{self._of}: {kernel._name} has no rule for {kind}, such as those of column "{column}"; leave it or them '
            f"out, or {self._apart} if it moves nothing"
        )


def _companion(kernel: Kernel, role: str) -> str:
    """Of a kernel that moves such targets, as is checked before."""
    name = companion(kernel._name, role)
    assert name is not None
    return name


def _of_nearest(kernel: Kernel, fill: Any) -> dict[str, Any]:
    """Of a kernel that moves a mask."""
    attributes = dict(kernel._attributes)
    nearest = {"interpolation": "nearest", "antialias": True, "fill": fill}
    return attributes | {name: value for name, value in nearest.items() if name in attributes}


def _format(target: Boxes) -> dict[str, Any]:
    return {"format": target.format, "relative": target.relative}
