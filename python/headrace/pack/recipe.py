"""`Recipe` turns im2rec's options, which say how images are changed before they are packed, into kernels."""

from dataclasses import dataclass
from typing import Any

from headrace import vision as V
from headrace._arguments import options
from headrace.errors import GraphError
from headrace.pack.interpolation_numbers import Interpolation

__all__ = ["ENCODINGS", "Recipe"]

ENCODINGS = (".jpg", ".png")
_BEST_PNG = 9


@dataclass(frozen=True)
class Recipe:
    """The work on each image: decode, cut the middle square, resize the shorter edge, encode.

    The pixels are those of im2rec.py of MXNet 1.9.1 with OpenCV 4, and so are the bytes where its libjpeg-turbo is the
    same. As there, an image is turned by its EXIF orientation, unless `color` is -1.
    """

    pass_through: bool = False
    """Pack the files as they are; everything below is then without effect."""
    resize: int = 0
    """The shorter edge in pixels; 0 keeps the size."""
    center_crop: bool = False
    """Cut the largest square out of the middle, before resizing."""
    quality: int = 95
    """Of JPEG, 1 to 100; of PNG the compression, 0 to 9, and more counts as 9."""
    color: int = 1
    """1: three channels; 0: grey; -1: as the file has them, with 16 bits where it has them, which need ".png"."""
    encoding: str = ".jpg"
    """What is packed: ".jpg" or ".png"."""
    interpolation: Interpolation = "bilinear"
    """Of Resize, whose `antialias` is False."""

    def checked(self, of: str) -> "Recipe":
        """The recipe itself. GraphError, with a sentence, if a value is out of range."""
        options.whole("resize", self.resize, of=of, most=65535)
        options.whole("quality", self.quality, of=of, most=100)
        options.choice("encoding", self.encoding, ENCODINGS, of)
        if self.color not in (-1, 0, 1):
            raise GraphError(
                f"{of}: color is {options.shown(self.color)}; it must be 1 (colour), 0 (grey) or -1 (as is)"
            )
        if self.encoding == ".jpg" and self.quality < 1:
            raise GraphError(f"{of}: quality is {self.quality}; of a JPEG it is 1 to 100")
        return self

    def kernels(self) -> list[Any]:
        """From the bytes of a file to the bytes that are packed; empty: they are the same."""
        if self.pass_through:
            return []
        steps: list[Any] = [V.Decode(**_DECODE[self.color])]
        if self.center_crop:
            steps.append(V.CenterSquare())
        if self.resize:
            steps.append(V.Resize(self.resize, self.interpolation, antialias=False))
        return [*steps, self._encoder()]

    def _encoder(self) -> Any:
        if self.encoding == ".jpg":
            return V.EncodeJpeg(self.quality)
        return V.EncodePng(min(self.quality, _BEST_PNG))


_DECODE: dict[int, dict[str, Any]] = {
    1: {"orientation": True},
    0: {"mode": "L", "orientation": True},
    -1: {"mode": "anydepth"},
}
