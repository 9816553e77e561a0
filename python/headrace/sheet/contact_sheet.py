"""A contact sheet: images with their captions, for notebooks and as a file."""

from __future__ import annotations

import base64
import html
import os
from dataclasses import dataclass, field

from headrace import _engine
from headrace._arguments import options
from headrace._arguments.late_numpy import np
from headrace._files.whole_file import write_whole
from headrace.errors import GraphError
from headrace.sheet.grid import GAP, grid, png
from headrace.sheet.lettering import lettered

__all__ = ["Cell", "ContactSheet", "check_png"]

_OTHER_FORMATS = {".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".svg", ".pdf", ".html"}


def check_png(name: str, path: str, of: str) -> None:
    """Raises GraphError if a path to which a sheet is to be written ends as another format does."""
    if os.path.splitext(path)[1].lower() in _OTHER_FORMATS:
        raise GraphError(f"{of}: a sheet is saved as a PNG, and {name} is {options.shown(path)}; end it with .png")


@dataclass
class Cell:
    """An image as it is shown."""

    pixels: np.ndarray
    """uint8 of shape (H, W, 3)."""
    captions: list[str] = field(default_factory=list)
    decoded: bool = True
    """False: the row's image cannot be decoded, and a grey square is in its place."""

    def __post_init__(self) -> None:
        self.captions = [_engine.printable(each) for each in self.captions]


class ContactSheet:
    """Images of a dataset, as `Dataset.show` makes them. A notebook shows it."""

    def __init__(self, cells: list[Cell], side: int) -> None:
        self._cells = cells
        self._side = side

    def __len__(self) -> int:
        """The number of images."""
        return len(self._cells)

    def __repr__(self) -> str:
        return f"<headrace contact sheet of {len(self)} image{'s' if len(self) != 1 else ''}>"

    @property
    def damaged(self) -> int:
        """How many of them cannot be decoded."""
        return sum(not cell.decoded for cell in self._cells)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as a PNG, in place of an older file once it is complete.

        Captions are in ASCII there, of two lines at most; the form for notebooks has them whole.
        Raises an Error that names the path if it cannot be written, or ends as an image of another format does.
        """
        path = options.file_path("path", path, "show")
        check_png("path", path, "show")
        write_whole(path, self._repr_png_())

    def _repr_png_(self) -> bytes:
        return png(grid([self._tile(cell) for cell in self._cells]))

    def _repr_html_(self) -> str:
        figures = "\n".join(map(self._figure, self._cells))
        return f'<div style="display:flex;flex-wrap:wrap;gap:{2 * GAP}px">\n{figures}\n</div>'

    def _tile(self, cell: Cell) -> np.ndarray:
        """The image with its captions under it."""
        if not cell.captions:
            return cell.pixels
        text = lettered(cell.captions, self._side)
        height, width = cell.pixels.shape[:2]
        tile = np.full((height + text.shape[0], self._side, 3), 255, np.uint8)
        tile[:height, :width] = cell.pixels
        tile[height:] = text
        return tile

    def _figure(self, cell: Cell) -> str:
        height, width = cell.pixels.shape[:2]
        data = base64.b64encode(png(cell.pixels)).decode()
        lines = "<br>".join(map(html.escape, cell.captions))
        return (
            f'<figure style="margin:0;width:{self._side}px">'
            f'<img width="{width}" height="{height}" alt="" src="data:image/png;base64,{data}">'
            f'<figcaption style="font-size:smaller;overflow-wrap:anywhere">{lines}</figcaption></figure>'
        )
