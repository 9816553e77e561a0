"""`hint_at_arrays` says in the error of a user function what to write where it takes an array for something else."""

import re

from headrace.errors import FunctionError

__all__ = ["hint_at_arrays"]

_PICTURE = "; a function gets NumPy arrays: PIL.Image.fromarray(image) makes a picture of PIL"
_TENSOR = "; a function gets NumPy arrays: torch.tensor(image) makes a tensor"
_WRITTEN = "; a function gets arrays that it may not write to: begin with a copy, as in image = image.copy()"
_OF_PICTURES = (
    "convert crop filter getbbox getchannel getpixel height mode paste point putpixel quantize rotate save split thumbnail "
    "width"
).split()
_OF_TENSORS = (
    "abs bool clamp clone contiguous cpu cuda detach device dim div double expand float half int is_floating_point log long "
    "mul new_zeros numel numpy permute pow sqrt sub to type unbind unfold unsqueeze view_as"
).split()
_LACKS = re.compile(r"'numpy\.ndarray' object has no attribute '(\w+)'")


def hint_at_arrays(error: BaseException) -> None:
    """Also where a worker process raised it, of whose exception the text is all that comes back."""
    if not isinstance(error, FunctionError) or "; a function gets " in str(error):
        return
    hint = _hint(error.__cause__)
    if hint:
        first, end, rest = str(error).partition("\n")
        error._reword(f"{first}{hint}{end}{rest}")


def _hint(cause: BaseException | None) -> str:
    try:
        said = str(cause)
    except Exception:
        return ""
    if isinstance(cause, ValueError) and "read-only" in said:
        return _WRITTEN
    if isinstance(cause, TypeError) and "numpy.ndarray" in said:
        return _TENSOR if "Tensor" in said else _PICTURE if "PIL" in said else ""
    if isinstance(cause, ValueError) and said.startswith("cannot resize this array"):
        return _PICTURE
    lacked = _LACKS.match(said) if isinstance(cause, AttributeError) else None
    if lacked is None:
        return ""
    return _PICTURE if lacked[1] in _OF_PICTURES else _TENSOR if lacked[1] in _OF_TENSORS else ""
