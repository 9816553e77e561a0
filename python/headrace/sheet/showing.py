"""`Dataset.show`: the first rows of a dataset as a contact sheet."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace._arguments import options
from headrace._arguments.late_numpy import np
from headrace.errors import DataError, GraphError
from headrace.sheet.caption import caption
from headrace.sheet.contact_sheet import Cell, ContactSheet
from headrace.sheet.display import displayed, fitted
from headrace.sheet.image_column import ImageColumn, image_column, type_text
from headrace.sheet.overlay import BOX_FORMATS, draw_boxes, draw_keypoints, with_mask

if TYPE_CHECKING:
    from headrace._datasets.dataset import Dataset

__all__ = ["MOST_IMAGES", "show"]

MOST_IMAGES = 4096
_SIDES = (16, 1024)
_MOST_PIXELS = 1 << 28
_GREY = 208


def show(
    dataset: Dataset,
    n: int,
    columns: str | Sequence[str] | None,
    image: str | None,
    mask: str | None,
    boxes: str | None,
    box_format: str,
    keypoints: str | None,
    side: int,
) -> ContactSheet:
    """As Dataset.show, which describes it."""
    n = options.whole("n", n, 1, "show", MOST_IMAGES)
    side = options.whole("side", side, _SIDES[0], "show", _SIDES[1])
    if n * side * side > _MOST_PIXELS:
        raise GraphError(
            f"show: {n:,} images of {side:,} × {side:,} pixels are more than one sheet holds, {_MOST_PIXELS:,} pixels; "
            "give fewer, or a smaller side"
        )
    options.choice("box_format", box_format, BOX_FORMATS, "show")
    listed = None if columns is None else options.texts("columns", columns, "show")
    named = {"image": image, "mask": mask, "boxes": boxes, "keypoints": keypoints}
    _check_names(dataset, {f"columns[{i}]": name for i, name in enumerate(listed or [])} | named)
    _check_roles(named)
    # What is kept with the dataset for its loops is not for looking at it.
    plain = dataset.options(as_=None, as_tuple=None, bytes_as=None, device=None, profile=None, callbacks=None)
    wanted = _Wanted(listed, image, mask, boxes, box_format, keypoints, side)
    with plain.iterate(epoch=0) as given:
        cells = list(islice(_cells(given, dataset, wanted), n))
    if not cells:
        raise DataError("show: the dataset gives no rows")
    return ContactSheet(cells, side)


class _Wanted(NamedTuple):
    columns: list[str] | None
    image: str | None
    mask: str | None
    boxes: str | None
    box_format: str
    keypoints: str | None
    side: int

    def has(self, name: str) -> bool:
        return self.columns is None or name in (*self.columns, self.image, self.mask, *self.drawn())

    def drawn(self) -> tuple[str | None, ...]:
        """What is drawn over the images by its numbers."""
        return self.boxes, self.keypoints


def _check_names(dataset: Dataset, named: Mapping[str, str | None]) -> None:
    schema = dataset.schema
    for argument, name in named.items():
        if name is None or options.text(argument, name, "show") in schema:
            continue
        near = difflib.get_close_matches(name, schema, 1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        raise GraphError(
            f'show: {argument} is "{name}", and there is no such column{hint} (columns: {", ".join(schema)})'
        )


def _check_roles(named: Mapping[str, str | None]) -> None:
    given = [(argument, name) for argument, name in named.items() if name is not None]
    for (one, name), (other, second) in combinations(given, 2):
        if name == second:
            raise GraphError(f"show: {one} and {other} both name column {name}; name one column for each")


def _cells(given: Iterator[Mapping[str, Any]], dataset: Dataset, wanted: _Wanted) -> Iterator[Cell]:
    drawing: _Drawing | None = None
    number = 0
    for columns in given:
        shown = {name: value for name, value in columns.items() if wanted.has(name)}
        if drawing is None:
            candidates = {name: value for name, value in shown.items() if name not in (wanted.mask, *wanted.drawn())}
            drawing = _Drawing(wanted, image_column(candidates, wanted.image, dataset))
        for row in _rows(shown, drawing.images):
            yield drawing.cell(row, number)
            number += 1


def _rows(columns: dict[str, Any], images: ImageColumn) -> Iterator[dict[str, Any]]:
    """Those of a batch. What has no value for each of them is the same for all."""
    if not images.batched:
        yield columns
        return
    count = len(columns[images.name])
    of_each = {name for name, value in columns.items() if np.ndim(value) and len(value) == count}
    for position in range(count):
        yield {name: value[position] if name in of_each else value for name, value in columns.items()}


class _Drawing:
    """Makes the cells of rows. The first one settles which column is a mask."""

    def __init__(self, wanted: _Wanted, images: ImageColumn) -> None:
        self.images = images
        self._wanted = wanted
        self._mask = wanted.mask
        self._begun = False

    def cell(self, row: dict[str, Any], number: int) -> Cell:
        try:
            image = self.images.image(row[self.images.name], number)
        except DataError as error:
            if self.images.axes:
                raise
            return self._damaged(row, error)
        shown = displayed(image)
        pixels = shown.pixels
        if not self._begun:
            self._mask = self._mask or self._found_mask(row, pixels.shape[:2])
            self._begun = True
        if self._mask is not None:
            pixels = with_mask(pixels, _mask_of(row[self._mask], self._mask, pixels.shape[:2], number))
        fit = fitted(pixels, self._wanted.side)
        notes = [] if shown.note is None else [shown.note]
        if self._wanted.boxes is not None:
            notes += self._draw_boxes(fit, row[self._wanted.boxes], pixels.shape[:2], number)
        if self._wanted.keypoints is not None:
            notes += self._draw_keypoints(fit, row[self._wanted.keypoints], pixels.shape[:2], number)
        return Cell(fit, self._captions(row) + notes)

    def _damaged(self, row: dict[str, Any], error: DataError) -> Cell:
        side = self._wanted.side
        reason = str(error).splitlines()[0]
        return Cell(np.full((side, side, 3), _GREY, np.uint8), [*self._captions(row), f"damaged: {reason}"], False)

    def _found_mask(self, row: dict[str, Any], size: tuple[int, ...]) -> str | None:
        others = (name for name in row if name not in (self.images.name, *self._wanted.drawn()))
        return next((name for name in others if _is_mask(row[name]) and row[name].shape == size), None)

    def _draw_boxes(self, pixels: np.ndarray, boxes: Any, size: tuple[int, ...], number: int) -> list[str]:
        name = self._wanted.boxes
        if not _of_numbers(boxes) or boxes.ndim != 2 or boxes.shape[1] != 4:
            raise GraphError(
                f"show: row {number}: boxes names column {name}, which is {type_text(boxes)}; boxes are floats or "
                "integers of shape (n, 4), in pixels"
            )
        left_out = draw_boxes(pixels, boxes, self._wanted.box_format, _scale(pixels, size))
        return [f"{name}: {left_out} of {len(boxes)} without area"] if left_out else []

    def _draw_keypoints(self, pixels: np.ndarray, points: Any, size: tuple[int, ...], number: int) -> list[str]:
        name = self._wanted.keypoints
        if not _of_numbers(points) or points.ndim not in (2, 3) or points.shape[-1] != 2:
            raise GraphError(
                f"show: row {number}: keypoints names column {name}, which is {type_text(points)}; keypoints are floats "
                "or integers of shape (n, 2) or (n, k, 2), in pixels"
            )
        left_out = draw_keypoints(pixels, points, _scale(pixels, size))
        return [f"{name}: {left_out} of {points.size // 2} outside"] if left_out else []

    def _captions(self, row: dict[str, Any]) -> list[str]:
        drawn = (self.images.name, self._mask, *self._wanted.drawn())
        listed = self._wanted.columns
        written = (caption(name, row[name], named=listed is not None) for name in listed or row if name not in drawn)
        return [line for line in written if line is not None]


def _of_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiu"


def _scale(pixels: np.ndarray, size: tuple[int, ...]) -> tuple[float, float]:
    """Along x and y, of what is drawn over an image of this height and width."""
    return pixels.shape[1] / size[1], pixels.shape[0] / size[0]


def _is_mask(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iub" and value.ndim == 2


def _mask_of(value: Any, name: str, size: tuple[int, ...], number: int) -> np.ndarray:
    """Of shape (H, W)."""
    plane = value[..., 0] if isinstance(value, np.ndarray) and value.ndim == 3 and value.shape[2] == 1 else value
    if not _is_mask(plane):
        raise GraphError(
            f"show: row {number}: mask names column {name}, which is {type_text(value)}; a mask is integers of shape "
            "(H, W) or (H, W, 1)"
        )
    if plane.shape != size:
        raise DataError(
            f"show: row {number}: the mask, column {name}, is {type_text(value)}, and the image has {size[0]} × "
            f"{size[1]} pixels; name other columns with columns= to leave it out"
        )
    found: np.ndarray = plane
    return found
