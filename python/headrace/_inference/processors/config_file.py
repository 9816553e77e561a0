"""`config_at` reads a config from a file of JSON, or from the file of a folder that holds one."""

import json
import os
from typing import Any

from headrace._arguments.options import own_path
from headrace._files.system_error import saying
from headrace._files.whole_file import read_whole
from headrace._inference.processors.config_fields import OF
from headrace.errors import DataError, NotFoundError

__all__ = ["config_at"]

# In the order in which transformers looks for them; the last one is timm's.
_NAMES = ("preprocessor_config.json", "processor_config.json", "config.json")
# A config has a few kilobytes.
_MOST_BYTES = 1 << 24


def config_at(path: str | os.PathLike[str]) -> dict[str, Any]:
    file = _file_at(own_path("config", path, OF))
    with saying(f"{OF}: cannot read {file}"):
        size = os.stat(file).st_size
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
    if not os.path.isdir(path):
        return path
    for name in _NAMES:
        file = os.path.join(path, name)
        if os.path.isfile(file):
            return file
    raise NotFoundError(f"{OF}: the folder {path} holds none of {', '.join(_NAMES)}")
