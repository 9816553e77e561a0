"""What two inference graphs make of one picture, as a table and as pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from headrace._arguments.late_numpy import np
from headrace._files.system_error import system_error
from headrace._inference.step_difference import Made, StepDifference
from headrace.sheet.contact_sheet import Cell, ContactSheet
from headrace.sheet.display import displayed, fitted

__all__ = ["table", "write"]

_SIDE = 320
_NONE = "–"
_HEAD = ("step", "A", "B", "mean", "max")


def table(found: Sequence[StepDifference]) -> list[str]:
    """Columns of equal width: the kernel, what it makes in both graphs, and how far apart that is."""
    rows = [_HEAD, *map(_row, found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(each: StepDifference) -> tuple[str, ...]:
    name = next(made.kernel for made in each if made is not None)
    numbers = each.numbers
    apart = (_NONE, _NONE) if numbers is None else tuple(f"{number:.4g}" for number in numbers)
    return (name, _type_of(each.first), _type_of(each.second), *apart)


def _type_of(made: Made | None) -> str:
    if made is None:
        return _NONE
    if isinstance(made.value, (bytes, str)):
        return f"{len(made.value):,} {'bytes' if isinstance(made.value, bytes) else 'letters'}"
    value = np.asarray(made.value)
    return f"{value.dtype} {value.shape}"


def write(found: Sequence[StepDifference], folder: str) -> Iterator[str]:
    """A PNG for each step that makes a picture; gives their paths."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise system_error(f"cannot make {folder}", error) from None
    for number, each in enumerate(found):
        cells = list(_cells(each))
        if not cells:
            continue
        kernel = next(made.kernel for made in each if made is not None)
        path = os.path.join(folder, f"{number:02d}-{re.sub('[^A-Za-z0-9]', '-', kernel)}.png")
        ContactSheet(cells, _SIDE).save(path)
        yield path


def _cells(each: StepDifference) -> Iterator[Cell]:
    images = {
        name: image
        for name, made in zip("AB", each, strict=True)
        if made is not None and (image := _image(made.value)) is not None
    }
    for name, image in images.items():
        shown = displayed(image)
        yield Cell(fitted(shown.pixels, _SIDE), [name, *([shown.note] if shown.note else [])])
    if len(images) == 2 and images["A"].shape == images["B"].shape:
        apart = np.abs(images["A"].astype(np.float64) - images["B"].astype(np.float64))
        most = float(apart.max()) if apart.size else 0.0
        scaled = (apart * (255 / most) if most > 0 else apart).astype(np.uint8)
        yield Cell(fitted(displayed(scaled).pixels, _SIDE), [f"difference, white is {most:.4g}"])


def _image(value: Any) -> np.ndarray | None:
    """(H, W, C); None: it is not a picture."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "uf" or value.dtype.itemsize > 8:
        return None
    if value.ndim == 2:
        value = value[..., None]
    if value.ndim != 3 or 0 in value.shape:
        return None
    if value.shape[0] in (1, 3, 4) and value.shape[2] not in (1, 3, 4):
        value = np.moveaxis(value, 0, -1)
    if value.shape[2] not in (1, 3, 4):
        return None
    return value if value.dtype in (np.uint8, np.uint16) or value.dtype.kind == "f" else None
