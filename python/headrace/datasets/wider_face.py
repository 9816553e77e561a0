"""`WIDERFace`: faces in crowds."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

from headrace._arguments.options import choice
from headrace._sets.box_doubts import box_doubts
from headrace._sets.named_set import NamedSet
from headrace._sets.object_columns import BOXES, box_columns, ragged_column
from headrace._sets.picture_names import MISSING, path_column, present
from headrace._sets.set_file import SetFile
from headrace._sets.set_folder import SetFolder
from headrace._sets.set_lines import text_of, whole_numbers
from headrace._sets.set_table import SetTable

__all__ = ["WIDERFace"]

_SPLITS = ("train", "val", "test")
_FIELDS = ("blur", "expression", "illumination", "invalid", "occlusion", "pose")


class WIDERFace(NamedSet):
    """Gives the photographs of WIDER FACE with the boxes of faces.

    Columns: `image` (the bytes of the file), and for each face `boxes` (float32: (n, 4)) and int64 (n,) `blur`,
    `expression`, `illumination`, `invalid`, `occlusion` and `pose`; n is 0 where there is no face. `event` (string) is
    the folder of the photograph. Rows are in the order of the list; those of "test", which has no boxes, have `image`
    and `event` alone.

    Args:
        root: The folder that holds `wider_face_split` and `WIDER_train` and the like, or `widerface` in it.
        split: The rows to give.
        boxes: The form of boxes: left, top, right and bottom, or left, top, width and height.
        missing: What to do about pictures that the lists name and that are not there: "error", or "skip" to leave them
            out.
        shuffle: Shuffle the rows: each epoch has a new order, and all orders are equally likely.
        seed: This source's own seed; None: the pipeline's.
        name: Names this source's random numbers.

    Example:
        hr.datasets.WIDERFace("data", "val")
    """

    publisher = "http://shuoyang1213.me/WIDERFACE"

    def __init__(
        self,
        root: str | PathLike[str],
        split: Literal["train", "val", "test"] = "train",
        boxes: Literal["xyxy", "xywh"] = "xyxy",
        missing: Literal["error", "skip"] = "error",
        shuffle: bool = False,
        *,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        self._open(
            root,
            {
                "split": choice("split", split, _SPLITS, "WIDERFace"),
                "boxes": choice("boxes", boxes, BOXES, "WIDERFace"),
                "missing": choice("missing", missing, MISSING, "WIDERFace"),
            },
            shuffle,
            seed,
            name,
        )

    @staticmethod
    def _table(folder: SetFolder, split: str, boxes: str, missing: str) -> SetTable:
        listed = "wider_face_test_filelist.txt" if split == "test" else f"wider_face_{split}_bbx_gt.txt"
        (file,) = folder.files([listed], ("wider_face_split", "", "widerface/wider_face_split"))
        entries = [(text.strip(), []) for _, text in file.lines()] if split == "test" else _entries(file)
        base = folder.folder(*(f"{place}WIDER_{split}/images" for place in ("", "widerface/")))
        kept, left_out = present(folder, base, [name for name, _ in entries], file.path, missing)
        names = [entries[number][0] for number in kept]
        columns: dict[str, Any] = {"image": path_column(names)}
        if split != "test":
            faces = [entries[number][1] for number in kept]
            corners = [[(x, y, x + w, y + h) for x, y, w, h, *_ in row] for row in faces]
            columns["boxes"] = box_columns(corners, boxes)
            for place, field in enumerate(_FIELDS, 4):
                columns[field] = ragged_column([[face[place] for face in row] for row in faces], "int64")
        columns["event"] = [name.partition("/")[0] for name in names]
        doubts = box_doubts(columns["image"], columns["boxes"], boxes) if split != "test" else {}
        return SetTable(columns, {}, "image", base, left_out, doubts=doubts)


def _entries(file: SetFile) -> list[tuple[str, list[list[int]]]]:
    """The name of each photograph, and the numbers of its faces."""
    found: list[tuple[str, list[list[int]]]] = []
    lines = file.lines()
    for line, name in lines:
        line, count = next(lines, (line, ""))
        (faces,) = whole_numbers(file, line, [count.strip()], f"the number of faces of {name}")
        rows = []
        # A photograph without a face has one line of zeros.
        for _ in range(max(faces, 1)):
            line, text = next(lines, (line, ""))
            row = whole_numbers(file, line, text.split(), "a face")
            if len(row) != 4 + len(_FIELDS):
                file.fail(f"a face of {name} must have {4 + len(_FIELDS)} numbers, and has {len(row)}", line)
            rows.append(row)
        found.append((text_of(file, line, name.strip()), rows[:faces]))
    return found
