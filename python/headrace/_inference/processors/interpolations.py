"""Names of interpolation in other libraries, and Headrace's: all are Pillow's filters."""

from typing import Any

from headrace._inference.processors.config_fields import refused

__all__ = ["interpolation_of"]

_NAMES = {
    "nearest": "nearest",
    "nearest-exact": "nearest",
    "lanczos": "lanczos",
    "bilinear": "bilinear",
    "bicubic": "bicubic",
    "box": "area",
}
# Pillow's numbers.
_NUMBERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")


def interpolation_of(field: str, value: Any) -> Any:
    """Of Pillow's number, a name, or an enumeration's member of either."""
    named = getattr(value, "value", value)
    if isinstance(named, int) and not isinstance(named, bool) and 0 <= named < len(_NUMBERS):
        named = _NUMBERS[named]
    if isinstance(named, str) and named in _NAMES:
        return _NAMES[named]
    raise refused(field, value, f"images are resized by {', '.join(_NAMES)}")
