"""`kernels_of` finds out whose config an object is, and gives the kernels that do what it says."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from headrace._arguments.options import shown
from headrace._inference.processors import hugging_face, timm, torchvision
from headrace._inference.processors.config_fields import OF
from headrace._inference.processors.config_file import config_at
from headrace._inference.processors.image_steps import ImageSteps
from headrace._kernels.kernel import Kernel
from headrace.errors import GraphError, UnsupportedError

__all__ = ["kernels_of"]

# Objects hold objects: a processor its image processor, a model its config.
_MOST_HOLDERS = 4


def kernels_of(config: Any, **changes: Any) -> list[Kernel]:
    """What a config says, from the bytes of a picture to a tensor; see `from_processor`."""
    found = _config_in(config)
    if isinstance(found, Mapping):
        return _steps_of({**found, **changes}).kernels()
    if changes:
        raise GraphError(
            f"{OF}: {', '.join(changes)} given beside {shown(found)}, which has no fields to change; make the transforms "
            "as they should be"
        )
    return torchvision.steps_of(found).kernels()


def _config_in(config: Any) -> Any:
    """The fields of a config, or an object of torchvision."""
    if isinstance(config, (str, bytes, os.PathLike)):
        config = config_at(config)
    for _ in range(_MOST_HOLDERS):
        if isinstance(config, Mapping):
            inner = next((config[name] for name in ("image_processor", "pretrained_cfg") if config.get(name)), None)
            if inner is None:
                return config
            config = inner
        elif torchvision.knows(config):
            return torchvision.transforms_in(config)
        else:
            config = _held_by(config)
    return config


def _held_by(config: Any) -> Any:
    for name in ("image_processor", "pretrained_cfg"):
        if getattr(config, name, None) is not None:
            return getattr(config, name)
    to_dict = getattr(config, "to_dict", None)
    if callable(to_dict):
        return to_dict()
    raise GraphError(
        f"{OF}: {shown(config)} is not a config: give the path of a preprocessor_config.json, its contents, an image "
        "processor, timm's pretrained_cfg, or transforms of torchvision"
    )


def _steps_of(config: Mapping[str, Any]) -> ImageSteps:
    for knows, steps in _LIBRARIES:
        if knows(config):
            return steps(config)
    listed = ", ".join(map(shown, list(config)[:10])) or "none"
    raise UnsupportedError(
        f"{OF}: the config has neither image_processor_type, as Hugging Face's have, nor input_size, as timm's; its fields "
        f"are {listed}"
    )


_LIBRARIES: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], ImageSteps]], ...] = (
    (timm.knows, timm.steps_of),
    (hugging_face.knows, hugging_face.steps_of),
)
