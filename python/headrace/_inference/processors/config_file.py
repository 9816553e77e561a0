"""`config_at` reads a config from a file of JSON, or from the file of a folder that holds one."""

import json
import os
from typing import Any

from headrace._arguments.options import file_path
from headrace._files.places import file_size, is_file, is_folder
from headrace._files.system_error import saying
from headrace._files.whole_file import read_whole
from headrace._inference.processors.config_fields import OF
from headrace.errors import DataError, NotFoundError

__all__ = ["config_at"]

# In the order in which transformers looks for them; the last one is timm's.
_NAMES = ("preprocessor_config.json", "processor_config.json", "config.json")
_TYPES = ("image_processor_type", "feature_extractor_type", "model_type")
# A config has a few kilobytes.
_MOST_BYTES = 1 << 24


def config_at(path: str | bytes | os.PathLike[Any]) -> dict[str, Any]:
    """The fields of a file, and the model's type, where a file beside it says what the config itself does not."""
    file = _file_at(file_path("config", path, OF))
    config = _fields_in(file)
    beside = os.path.join(os.path.dirname(file), "config.json")
    if "do_resize" in config and config.keys().isdisjoint(_TYPES) and is_file(beside):
        model = _fields_in(beside).get("model_type")
        return {"model_type": model, **config}
    return config


def _fields_in(file: str) -> dict[str, Any]:
    with saying(f"{OF}: cannot read {file}"):
        size = file_size(file)
        if size > _MOST_BYTES:
            raise DataError(f"it has {size:,} bytes, and a config has at most {_MOST_BYTES:,}")
        data = read_whole(file)
    try:
        config = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{OF}: {file} is not JSON: {error}") from None
    if not isinstance(config, dict):
        raise DataError(f"{OF}: {file} holds a {type(config).__name__}; a config is an object with named fields")
    return config


def _file_at(path: str) -> str:
    if not is_folder(path):
        return path
    for name in _NAMES:
        file = os.path.join(path, name)
        if is_file(file):
            return file
    raise NotFoundError(f"{OF}: the folder {path} holds none of {', '.join(_NAMES)}")
