"""Transforms of torchvision: those of weights, and Compose of a few, by their attributes. What they do is what they
do to an image of Pillow, the default of torchvision's data sets; torchvision itself is not imported."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headrace import vision
from headrace._arguments.options import shown, whole
from headrace._inference.processors.config_fields import MOST_SIDE, OF, ConfigFields
from headrace._inference.processors.image_steps import ImageSteps
from headrace._inference.processors.interpolations import interpolation_of
from headrace.errors import UnsupportedError

__all__ = ["knows", "steps_of", "transforms_in"]

_MOST_TRANSFORMS = 1000


def knows(config: Any) -> bool:
    """Whether an object is a transform of torchvision, its weights, or what makes their transforms."""
    return _is_torchvisions(config) or _is_torchvisions(getattr(config, "func", None))


def transforms_in(config: Any) -> Any:
    """The transform itself."""
    made = getattr(config, "transforms", None)
    if callable(made):
        return made()
    # A class, or what gives a class its arguments.
    if isinstance(config, type) or callable(getattr(config, "func", None)):
        return config()
    return config


def steps_of(transform: Any) -> ImageSteps:
    chain = _Chain()
    chain.add(transform)
    if not chain.is_tensor:
        raise UnsupportedError(f"{OF}: {shown(transform)} ends in an image of Pillow; add ToTensor() to it")
    return chain.steps


def _is_torchvisions(config: Any) -> bool:
    kind = config if isinstance(config, type) else type(config)
    return any(each.__module__.partition(".")[0] == "torchvision" for each in kind.__mro__)


@dataclass
class _Chain:
    """What the transforms so far do: torchvision's transforms do other things to images than to tensors."""

    steps: ImageSteps = field(default_factory=ImageSteps)
    is_tensor: bool = False
    is_float: bool = False
    is_normalized: bool = False

    def add(self, transform: Any) -> None:
        # Not by recursion: a Compose may hold another one.
        left = [transform]
        for _ in range(_MOST_TRANSFORMS):
            if not left:
                return
            each = left.pop()
            name = type(each).__name__
            if name in ("Compose", "Sequential"):
                inner = getattr(each, "transforms", None)
                left.extend(reversed(list(each if inner is None else inner)))
            elif name in _TRANSFORMS and _is_torchvisions(each):
                _TRANSFORMS[name](self, ConfigFields(vars(each), {}))
            else:
                raise UnsupportedError(
                    f"{OF}: the transform {shown(each)} is not one of {', '.join(sorted(_TRANSFORMS))}"
                )
        raise UnsupportedError(f"{OF}: more than {_MOST_TRANSFORMS:,} transforms; does a Compose hold itself?")

    def check_moves(self, name: str, size: list[int], resizes: bool) -> None:
        if self.is_normalized or (resizes and self.is_tensor):
            raise UnsupportedError(
                f"{OF}: {name} to {shown(size)} comes after the image has become a tensor, where torchvision gives other "
                "pixels than Pillow; put it before ToTensor()"
            )


def _size(fields: ConfigFields, name: str) -> list[int]:
    value = fields.value(name)
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(listed) not in (1, 2):
        raise fields.refuse(name, "it must be one number, or (height, width)")
    return [whole(name, each, 1, OF, MOST_SIDE) for each in listed]


def _resize(chain: _Chain, fields: ConfigFields, name: str = "size") -> None:
    size = _size(fields, name)
    chain.check_moves("Resize", size, resizes=True)
    longest = None if fields.value("max_size") is None else fields.whole("max_size")
    how = interpolation_of("interpolation", fields.value("interpolation"))
    chain.steps.moves.append(vision.Resize(size if len(size) == 2 else size[0], how, max_size=longest))


def _center_crop(chain: _Chain, fields: ConfigFields, name: str = "size") -> None:
    size = _size(fields, name)
    chain.check_moves("CenterCrop", size, resizes=False)
    chain.steps.moves.append(vision.CenterCrop(size if len(size) == 2 else size[0]))


def _to_bytes(chain: _Chain, fields: ConfigFields) -> None:
    chain.is_tensor = True


def _to_float(chain: _Chain, fields: ConfigFields) -> None:
    chain.is_tensor = True
    if not chain.is_float:
        chain.is_float = True
        chain.steps.values = chain.steps.values.rescaled(1 / 255)


def _convert(chain: _Chain, fields: ConfigFields) -> None:
    if "float32" not in str(fields.value("dtype")):
        raise fields.refuse("dtype", "it must be torch.float32")
    # Of ToDtype alone.
    if fields.value("scale") is False:
        raise fields.refuse("scale", "values are divided by 255")
    if not chain.is_tensor:
        raise UnsupportedError(
            f"{OF}: the dtype is converted before the image has become a tensor; put ToImage() before"
        )
    _to_float(chain, fields)


def _normalize(chain: _Chain, fields: ConfigFields) -> None:
    if not chain.is_float:
        raise UnsupportedError(f"{OF}: Normalize comes before the image has become a tensor of floats")
    chain.is_normalized = True
    chain.steps.values = chain.steps.values.normalized(fields.colors("mean"), fields.colors("std", positive=True))


def _leave(chain: _Chain, fields: ConfigFields) -> None:
    pass


def _classify(chain: _Chain, fields: ConfigFields) -> None:
    _resize(chain, fields, "resize_size")
    _center_crop(chain, fields, "crop_size")
    _to_float(chain, fields)
    _normalize(chain, fields)


def _segment(chain: _Chain, fields: ConfigFields) -> None:
    if fields.value("resize_size") is not None:
        _resize(chain, fields, "resize_size")
    _to_float(chain, fields)
    _normalize(chain, fields)


_TRANSFORMS: dict[str, Callable[[_Chain, ConfigFields], None]] = {
    "CenterCrop": _center_crop,
    "ConvertImageDtype": _convert,
    "Identity": _leave,
    "ImageClassification": _classify,
    "Normalize": _normalize,
    "ObjectDetection": _to_float,
    "PILToTensor": _to_bytes,
    "Resize": _resize,
    "SemanticSegmentation": _segment,
    "ToDtype": _convert,
    "ToImage": _to_bytes,
    "ToPureTensor": _leave,
    "ToTensor": _to_float,
}
