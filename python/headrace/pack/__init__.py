"""Packing images into RecordIO files, as MXNet's im2rec does: `headrace pack` and `headrace im2rec` as functions.

from headrace import pack

pack.make_lists("data/train", "photos", recursive=True)
print(pack.pack_images("data/train.lst", "photos", "data/train.rec", resize=256))
"""

import os
from typing import Literal

from headrace._arguments import options
from headrace.pack.list_making import MadeLists, make_lists
from headrace.pack.list_packing import Labels, NothingPackedError, Packed, Skipped, pack_list
from headrace.pack.recipe import Recipe

__all__ = ["MadeLists", "NothingPackedError", "Packed", "Skipped", "make_lists", "pack_images"]


def pack_images(
    listing: str | os.PathLike[str],
    root: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    pass_through: bool = False,
    resize: int = 0,
    center_crop: bool = False,
    quality: int = 95,
    color: Literal[1, 0, -1] = 1,
    encoding: Literal[".jpg", ".png"] = ".jpg",
    pack_label: bool = False,
    on_error: Literal["skip", "raise"] = "skip",
    resume: bool = False,
    workers: int | None = None,
    entry_points: bool = False,
) -> Packed:
    """Packs the images of a list into a `.rec` file of image records, and writes its `.idx`, in the list's order.

    The files take their names when they are complete; a run that was killed leaves drafts beside them. Bytes are the same
    whatever the number of workers, and, where OpenCV has the same JPEG library, those of im2rec.py of MXNet 1.9.1.

    Raises NotFoundError without the list, DataError for a line that is none, UnsupportedError while another process
    writes the same file, ResourceError for a full disk, and NothingPackedError, a DataError, where every image was left
    out; then nothing is kept. After the others `resume=True` goes on with what was packed.

    Args:
        listing: The list, `.lst`: lines of a number, a label or several, and a path below `root`.
        root: The folder of the images.
        path: The file to write; None: the list's with the ending `.rec`. The index has its name with `.idx`.
        pass_through: Pack the files as they are; what follows up to `encoding` is then without effect.
        resize: Resize the shorter edge to so many pixels, by OpenCV's bilinear interpolation; 0: keep the size.
        center_crop: Cut the largest square out of the middle first.
        quality: Of JPEG, 1 to 100; of PNG the compression, 0 to 9, and more counts as 9.
        color: 1: three channels; 0: grey; -1: as the file has them, with 16 bits where it has them, which only
            encoding=".png" holds. Images are turned by their EXIF orientation unless it is -1.
        encoding: What is packed: ".jpg" or ".png".
        pack_label: Pack all labels of a line that has several; else the first.
        on_error: "skip": images that cannot be packed are left out, and named in the result; "raise": the first of
            them ends the run.
        resume: Go on with what an earlier run with the same arguments had packed before it ended. Its images are not
            encoded again, and the file is the same in the end.
        workers: The most images at once; None: the engine chooses.
        entry_points: Write a file with the ending `.rec.points`, too: where decoding of each JPEG can begin. Crops of
            them are then decoded faster from the first epoch on.
    """
    listing = options.file_path("listing", listing, "pack_images")
    if path is None:
        path = f"{os.path.splitext(listing)[0]}.rec"
    else:
        path = options.file_path("path", path, "pack_images")
    options.choice("on_error", on_error, ("skip", "raise"), "pack_images")
    recipe = Recipe(pass_through, resize, center_crop, quality, color, encoding).checked("pack_images")
    return pack_list(
        listing,
        options.file_path("root", root, "pack_images"),
        path,
        recipe,
        labels=Labels(packs_all=pack_label),
        on_error=on_error,
        resume=resume,
        workers=workers,
        entry_points=entry_points,
    )
