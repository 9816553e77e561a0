"""`ray_or_error` imports Ray, which is another package; `started_ray` connects to its cluster, too."""

from typing import Any

from headrace._arguments.import_folder import import_late
from headrace.errors import UnsupportedError

__all__ = ["ray_data_or_error", "ray_or_error", "started_ray"]


def ray_or_error(of: str) -> Any:
    try:
        return import_late("ray")
    except ImportError:
        raise UnsupportedError(f"{of} needs Ray, which is not installed here: pip install ray") from None


def ray_data_or_error(of: str) -> Any:
    """Ray Data needs packages besides."""
    ray_or_error(of)
    try:
        return import_late("ray.data")
    except ImportError:
        raise UnsupportedError(f"{of} needs Ray Data, which is not installed here: pip install 'ray[data]'") from None


def started_ray(of: str) -> Any:
    """Calls `ray.init()` where nobody has."""
    ray = ray_or_error(of)
    if not ray.is_initialized():
        ray.init()
    return ray
